"""Files of every reader, and archives, with something changed at random: read exactly, or refused in the one way there is.

The files are the small good ones of tests/annotation/test_malformed_files.py and beginnings of the published datasets.
`ASKEW_FUZZ=20000 ./run test tests/attacks/test_mutated_files.py -s` for more, ASKEW_FUZZ_SEED for others.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import shutil
import stat
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tableqa.core.foreign_values import unstorable
from tableqa.readers import READERS, FilteringReader, ReaderError, archive, credit
from tests.annotation.test_malformed_files import FORMS, laid_out, reader_of, sealed
from tests.attacks import LONG_RUN
from tests.attacks.changed import mutated, with_other_values

SEED = int(os.environ.get("ASKEW_FUZZ_SEED", "20261122"))
TIMES = max(1, LONG_RUN // 20) if LONG_RUN else 60
"""Mutations of each form."""


def read(name: str, path: Path, tables: Path | None = None) -> int:
    """Everything that an import asks of a reader."""
    reader = READERS[name]
    list(reader.files(path, tables))
    credit(reader, path, tables)
    if isinstance(reader, FilteringReader):
        reader.left_out(path, tables)
    number = 0
    for example in reader(path, tables):
        number += 1
        # What was read can be kept: as text in UTF-8, under a digest.
        kept = json.dumps(example.to_dict(), ensure_ascii=False)
        kept.encode()
        assert not unstorable(example.to_dict()), example.id
        example.table.digest()
    return number


def attacked(
    name: str, folder: Path, main: str, times: int, rng: random.Random
) -> tuple[Counter[str], list[str]]:
    """Change one file of a folder at a time; how many were read and refused, and what came out instead."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(times):
        path = rng.choice(files)
        good = path.read_bytes()
        bad = (mutated if rng.random() < 0.6 else with_other_values)(good, rng)
        path.write_bytes(bad)
        if name == "askew" and path.name != "manifest.json" and rng.random() < 0.8:
            sealed(folder)
        try:
            read(name, folder / main)
            counted["read"] += 1
        except ReaderError as error:
            assert error.mend  # noqa: PT017  what is read or refused, not which, is asked
            counted["refused"] += 1
        except Exception:
            wrong.append(
                f"{name}, {path.name}, number {number}: {traceback.format_exc(limit=-4)}\n{bad[:2000]!r}"
            )
        finally:
            path.write_bytes(good)
            if name == "askew":
                sealed(folder)
    return counted, wrong


@pytest.mark.parametrize("form", FORMS)
def test_a_file_with_something_changed_is_read_or_refused(form: str, tmp_path: Path) -> None:
    rng = random.Random(f"{SEED}:{form}")
    laid_out(tmp_path, FORMS[form])
    counted, wrong = attacked(reader_of(form), tmp_path, FORMS[form].path, TIMES, rng)
    print(f"\n{form}: {dict(counted)} (seed {SEED})")
    assert not wrong, wrong[0]
    assert counted["refused"] > TIMES // 10


def beginning(lines: int) -> Callable[[Path, Path], None]:
    def copy(source: Path, target: Path) -> None:
        with source.open("rb") as whole:
            target.write_bytes(b"".join(itertools.islice(whole, lines)))

    return copy


def beginning_with_tables(folder: str) -> Callable[[Path, Path], None]:
    """The first questions, and the folder of tables with those that they name."""

    def copy(source: Path, target: Path) -> None:
        beginning(5)(source, target)
        words = target.read_text("utf-8").split("\t")
        for name in {word for word in words if word.startswith(folder) and word.endswith(".csv")}:
            (target.parent / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source.parent / name, target.parent / name)

    return copy


def first_of_an_array(source: Path, target: Path) -> None:
    target.write_text(json.dumps(json.loads(source.read_text("utf-8"))[:2], indent=1), "utf-8")


PUBLISHED: dict[str, tuple[str, str, Callable[[Path, Path], None]]] = {
    "wtq": ("wtq", "wtq/random-split-1-dev.tsv", beginning_with_tables("csv/")),
    "sqa": ("sqa", "sqa/random-split-1-dev.tsv", beginning_with_tables("table_csv/")),
    "tat_qa": ("tat_qa", "tatqa/tatqa_dataset_dev.json", first_of_an_array),
    "fetaqa": ("fetaqa", "fetaqa/fetaQA-v1_dev.jsonl", beginning(3)),
    "suc feverous": ("suc", "suc/feverous.first200.jsonl", beginning(3)),
    "suc hybridqa": ("suc", "suc/hybridqa.first200.jsonl", beginning(3)),
    "freb_tqa": ("freb_tqa", "freb_tqa/01_str/wtq_factoid_dev.json", beginning(3)),
}


@pytest.mark.parametrize("form", PUBLISHED)
def test_a_published_file_with_something_changed_is_read_or_refused(
    form: str, tmp_path: Path, test_data: Path
) -> None:
    name, path, copy = PUBLISHED[form]
    rng = random.Random(f"{SEED}:{form}")
    given = tmp_path / Path(path).name
    copy(test_data / path, given)
    assert read(name, given) > 0
    counted, wrong = attacked(name, tmp_path, given.name, TIMES, rng)
    print(f"\n{form}: {dict(counted)} (seed {SEED})")
    assert not wrong, wrong[0]


def as_parquet(folder: Path, rows: list[dict[str, object]]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = folder / "questions-dev.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=20)
    return path


def as_dataset(folder: Path, rows: list[dict[str, object]]) -> Path:
    """As `datasets.Dataset.save_to_disk` leaves it."""
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(rows)
    name = "data-00000-of-00001.arrow"
    with pyarrow.OSFile(str(folder / name), "wb") as out, pyarrow.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table, max_chunksize=20)
    (folder / "dataset_info.json").write_text("{}")
    state = {"_data_files": [{"filename": name}], "_fingerprint": "x", "_split": "dev"}
    (folder / "state.json").write_text(json.dumps(state))
    return folder


@pytest.mark.parametrize(("name", "written"), [("parquet", as_parquet), ("hf", as_dataset)])
def test_a_file_of_columns_with_bytes_changed_is_read_or_refused(
    name: str, written: Callable[[Path, list[dict[str, object]]], Path], tmp_path: Path
) -> None:
    """A length or a place that is a lie would otherwise be a crash of the process, not an exception."""
    table = {"header": ["Name", "N"], "rows": [["Ann", "1"], ["Bo", "2"]]}
    rows: list[dict[str, object]] = [
        {
            "id": str(number),
            "question": f"who is number {number}?",
            "answers": ["Ann", str(number)],
            "table": table,
            "when": datetime(2020, 1, 1 + number % 28, tzinfo=UTC),
            "share": number * 1.5,
        }
        for number in range(60)
    ]
    path = written(tmp_path, rows)
    assert read(name, path) == 60
    file = path if path.is_file() else next(path.glob("*.arrow"))
    good, rng = file.read_bytes(), random.Random(f"{SEED}:{name}")
    counted: Counter[str] = Counter()
    for _ in range(TIMES * 5):
        file.unlink()  # another file, not this one: who still holds it reads on
        file.write_bytes(mutated(good, rng))
        try:
            read(name, path)
            counted["read"] += 1
        except ReaderError as error:
            assert error.mend  # noqa: PT017  what is read or refused, not which, is asked
            counted["refused"] += 1
    print(f"\n{name}: {dict(counted)} (seed {SEED})")
    assert min(counted["read"], counted["refused"]) > 0


# -- archives ---------------------------------------------------------------------------------------


def zipped(*members: tuple[str, bytes], mode: int | None = None, packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = packed
            if mode is not None:
                info.create_system, info.external_attr = 3, mode << 16
            archive.writestr(info, data)
    return out.getvalue()


def written(folder: Path, archive: bytes) -> Path:
    """An archive beside a folder, in which a test looks for what was unpacked."""
    path = folder.with_suffix(".zip")
    path.write_bytes(archive)
    return path


def everything_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())


@pytest.mark.parametrize("packed", ["DEFLATED", "BZIP2", "LZMA", "STORED"])
def test_an_archive_with_bytes_changed_is_unpacked_inside_its_folder_or_refused(
    packed: str, tmp_path: Path
) -> None:
    rng = random.Random(f"{SEED}:zip")
    good = zipped(
        ("csv/1.csv", b'"Name"\n"Ann"\n' * 50),
        ("csv/2.csv", b"x" * 3000),
        ("readme", b"of tables"),
        packed=getattr(zipfile, f"ZIP_{packed}"),
    )
    counted: Counter[str] = Counter()
    for number in range(TIMES * 5):
        folder = tmp_path / str(number) / "inside"
        folder.mkdir(parents=True)
        try:
            archive.unpack(written(tmp_path, mutated(good, rng)), folder)
            counted["unpacked"] += 1
        except ReaderError:
            counted["refused"] += 1
        assert [path for path in folder.parent.iterdir() if path != folder] == []
        assert not any(path.is_symlink() for path in everything_below(folder))
        shutil.rmtree(folder.parent)
    assert min(counted["unpacked"], counted["refused"]) > 0


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "csv/../../outside.csv",
        "/tmp/askew-outside.csv",
        "csv/" + "../" * 30 + "tmp/askew-outside.csv",
        "./.././outside.csv",
    ],
)
def test_a_name_that_leads_out_of_an_archive_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    with pytest.raises(ReaderError, match="leads out of the archive"):
        archive.unpack(written(tmp_path, zipped(("fine.csv", b"1"), (name, b"2"))), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert not Path("/tmp/askew-outside.csv").exists()


def test_names_of_other_systems_stay_inside(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    for name in ("..\\..\\outside.csv", "C:\\x.csv"):
        with pytest.raises(ReaderError, match="leads out of the archive"):
            archive.unpack(written(tmp_path, zipped((name, b"1"))), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


def test_a_member_that_has_no_name_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped(("a", b"1")))
    at = data.index(b"PK\x01\x02")
    data[at + 28 : at + 30] = (0).to_bytes(2, "little")  # the length of the name, in the list of members
    data[at + 32 : at + 34] = (1).to_bytes(2, "little")  # and the name, as a comment of the member
    with pytest.raises(ReaderError, match="zip archive cannot be read"):
        archive.unpack(written(tmp_path, bytes(data)), tmp_path)


def test_a_symbolic_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK, stat.S_IFCHR):
        link = zipped(("link.csv", b"/etc/passwd"), mode=kind | 0o777)
        if kind == stat.S_IFLNK:
            with pytest.raises(ReaderError, match="is a link"):
                archive.unpack(written(tmp_path, link), folder)
        else:  # unpacked as the plain file that it is here
            archive.unpack(written(tmp_path, link), folder)
    assert all(path.is_file() and not path.is_symlink() for path in everything_below(folder))


def test_a_table_that_is_a_symbolic_link_out_of_its_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text('"Name"\n"secret"\n')
    given = tmp_path / "given"
    laid_out(given, FORMS["wtq"])
    (given / "csv" / "t.csv").unlink()
    (given / "csv" / "t.csv").symlink_to(secret)
    with pytest.raises(ReaderError):
        read("wtq", given / "dev.tsv", given)


def test_an_archive_that_says_it_unpacks_to_too_much_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED", 3 * 2**20)
    bomb = zipped(*((f"{n}.csv", b"0" * 2**20) for n in range(20)))
    assert len(bomb) < 64 * 1024
    with pytest.raises(ReaderError, match="it unpacks to more than"):
        archive.unpack(written(tmp_path, bomb), tmp_path)
    assert not any(everything_below(tmp_path))


def test_a_member_that_says_it_is_smaller_than_it_is_gains_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED", 2**20)
    data = bytearray(zipped(("a.csv", b"0" * 2**22)))
    for at in range(len(data) - 4):
        if data[at : at + 4] == (2**22).to_bytes(4, "little"):
            data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(ReaderError):
        archive.unpack(written(tmp_path, bytes(data)), tmp_path)
    assert sum(path.stat().st_size for path in everything_below(tmp_path)) <= 2**20


def test_too_many_members_are_refused_before_one_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 50)
    many = zipped(*((f"{n}.csv", b"") for n in range(51)))
    with pytest.raises(ReaderError, match="more than"):
        archive.unpack(written(tmp_path, many), tmp_path)
    assert list(tmp_path.iterdir()) == []
