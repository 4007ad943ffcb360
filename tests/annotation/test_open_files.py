"""Releases with more benchmark files than a process may have open."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.releases import benchmark_files, file_pool, raw_records, verification
from annotation.releases.file_pool import OpenFiles
from annotation.releases.manifest import Manifest
from tableqa.releases import record_files
from tests.annotation.test_exporting import changed_release

SOURCES = 40


@pytest.fixture
def few_descriptors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Thirty more files than are open now."""
    monkeypatch.setattr(file_pool, "MOST_OPEN", 10)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 30, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_descriptors")
@pytest.mark.parametrize("format", ["suc", "torr"])
def test_a_release_of_many_sources_is_written_and_verified(tmp_path: Path, format: str) -> None:
    def of_many_sources(record: dict[str, Any]) -> list[dict[str, Any]]:
        if record["kind"] not in ("source", "example"):
            return [record]
        name = "name" if record["kind"] == "source" else "source"
        return [record, *({**record, name: f"source {number}"} for number in range(SOURCES))]

    folder = changed_release(tmp_path / "release", sources=of_many_sources)
    raw, manifest = raw_records.load(folder), Manifest(format=format)

    benchmark_files.write_derived(raw, [format])

    names = verification._check_derived(folder, raw, manifest, None)
    assert len(names) >= SOURCES
    longest = max(names, key=lambda name: (folder / name).stat().st_size)
    with (folder / longest).open("a") as file:
        file.write("{}\n")
    with pytest.raises(record_files.Difference, match="the file has others or more"):
        verification._check_derived(folder, raw, manifest, None)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.text(st.characters(exclude_characters="\n")))), st.integers(1, 3)
)
def test_files_hold_what_was_written_in_turns_however_few_are_open(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[int, str]], most: int
) -> None:
    folder = tmp_path_factory.mktemp("turns")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_pool, "MOST_OPEN", most)
        with closing(OpenFiles()) as files:
            for number, text in turns:
                files.write(folder / str(number), f"{text}\n")
        with closing(OpenFiles()) as files:
            for number, text in turns:
                assert files.line(folder / str(number)) == f"{text}\n"
            assert not any(files.line(folder / str(number)) for number, _ in turns)
