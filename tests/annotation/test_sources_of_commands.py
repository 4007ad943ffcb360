"""`--source` of commands tells sources of one name apart, for example one and the corrected rest of it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.imports import example_import
from annotation.management.commands._sources import files_of_study
from annotation.models import Source
from annotation.study_file.parser import parse
from annotation.study_file.schema import Study
from tableqa.readers.ingestion import checksum_of
from tests.annotation.cast import NOON, World, make_world

STUDY = """\
study: 1
project: {{slug: more-films, name: Films}}
sources:
  - {{name: films, reader: own, checksum: {first}}}
  - {{name: films, reader: own, checksum: {second}}}
  - {{name: cups, reader: own, path: cups.csv}}
"""
"""An export names the files of sources by their checksums."""


def study() -> Study:
    return parse(STUDY.format(first="a" * 64, second="b" * 64))


@pytest.fixture
def world(tmp_path: Path, db: None) -> World:
    return make_world(tmp_path)


@pytest.fixture
def rest(world: World, tmp_path: Path) -> Source:
    """A second source of the name films-dev, with one question."""
    lines = (tmp_path / "films-dev.tsv").read_text().splitlines()
    path = tmp_path / "films-dev-rejected.tsv"
    path.write_text("\n".join([lines[0], lines[1].replace("nu-0", "nu-9")]) + "\n")
    done = example_import.import_examples(
        project=world.project, reader="wtq", path=path, name="films-dev", now=NOON
    )
    return done.source


def run(*arguments: str) -> tuple[str, str]:
    """What a command prints, and its notes."""
    printed, notes = StringIO(), StringIO()
    call_command(*arguments, stdout=printed, stderr=notes)
    return printed.getvalue(), notes.getvalue()


def prompts(out: Path, *sources: str) -> tuple[str, str]:
    named = [word for source in sources for word in ("--source", source)]
    return run("prompts", "suc", "--project", "films", *named, "--out", str(out))


def perturb(*sources: str) -> tuple[str, str]:
    named = [word for source in sources for word in ("--source", source)]
    return run(
        "perturb", "--project", "films", "--kinds", "row_shuffle", "--seeds", "33", "--dry-run", *named
    )


def test_an_id_takes_one_of_the_sources_of_a_name(world: World, rest: Source, tmp_path: Path) -> None:
    printed, notes = prompts(tmp_path / "rest", rest.public_id)

    assert "(1 examples of films-dev)" in printed
    assert notes == ""


def test_a_name_takes_all_its_sources_and_names_their_ids(world: World, rest: Source, tmp_path: Path) -> None:
    first = Source.objects.exclude(pk=rest.pk).get(name="films-dev")

    printed, notes = prompts(tmp_path / "all", "films-dev")

    assert "(5 examples of films-dev)" in printed
    assert notes == (
        f"films-dev is the name of 2 sources, and all are used: {first.public_id} (4 examples), "
        f"{rest.public_id} (1 example). To use one, give its id as --source.\n"
    )


def test_perturbing_counts_the_examples_of_the_chosen_source_alone(world: World, rest: Source) -> None:
    of_rest, notes = perturb(rest.public_id)
    of_both, _ = perturb(rest.public_id, "films-dev")

    assert (of_rest.splitlines()[0].split()[1], of_both.splitlines()[0].split()[1]) == ("1", "5")
    assert notes == ""


@pytest.mark.parametrize("command", [prompts, lambda out, name: perturb(name)])
def test_an_unknown_source_lists_the_names_with_their_ids(
    world: World, rest: Source, tmp_path: Path, command: Any
) -> None:
    with pytest.raises(
        CommandError, match=r"films has no source 'nothing'\. Available: films-dev \("
    ) as error:
        command(tmp_path / "none", "nothing")

    assert f"films-dev ({rest.public_id}, 1 example)" in str(error.value)
    assert error.value.returncode == 2


class TestAStudyFile:
    def test_names_a_source_by_its_name_or_its_number(self) -> None:
        named = [("2", Path("rest.csv")), ("cups", Path("cups.tsv"))]

        assert files_of_study(study(), named) == {1: Path("rest.csv"), 2: Path("cups.tsv")}

    def test_refuses_a_name_of_several_sources_with_their_numbers(self) -> None:
        with pytest.raises(CommandError, match=r"films is the name of 2 sources of the file, numbers 1, 2\."):
            files_of_study(study(), [("films", Path("x.csv"))])

    @pytest.mark.parametrize("name", ["film", "0", "4"])
    def test_refuses_a_source_that_it_does_not_have(self, name: str) -> None:
        with pytest.raises(CommandError, match=r"Its sources: 1 \(films\), 2 \(films\), 3 \(cups\)\."):
            files_of_study(study(), [(name, Path("x.csv"))])

    @pytest.fixture
    def exported(self, world: World, tmp_path: Path) -> Path:
        """A study file of two sources of one name, whose files are first.csv and second.csv."""
        checksums = {}
        for name in ("first", "second", "cups"):
            path = tmp_path / f"{name}.csv"
            path.write_text(f'id,question,table\n{name},who?,"[[""A""],[""b""]]"\n')
            checksums[name] = checksum_of([path], None, {})
        written = tmp_path / "study.yaml"
        written.write_text(STUDY.format(**{name: checksums[name] for name in ("first", "second")}))
        return written

    def test_reads_each_of_two_sources_of_a_name_from_its_own_file(self, exported: Path) -> None:
        folder = exported.parent

        run(
            *("study", "apply", str(exported), "--manager", "mara@example.org"),
            *("--source", f"1={folder}/first.csv", "--source", f"2={folder}/second.csv"),
        )

        imported = Source.objects.filter(name="films", project__slug="more-films").order_by("pk")
        assert [source.examples.get().external_id for source in imported] == ["first", "second"]

    def test_asks_for_the_files_of_sources_of_one_name_by_their_numbers(self, exported: Path) -> None:
        printed = StringIO()

        with pytest.raises(CommandError):
            call_command("study", "plan", str(exported), "--project", "films", stdout=printed)

        assert "--source '1=PATH'" in printed.getvalue()
        assert "--source '2=PATH'" in printed.getvalue()
