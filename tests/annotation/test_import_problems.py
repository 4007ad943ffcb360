"""Problems of an import: all are listed before anything is written, and good records can be imported without others."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotation.background import uploads
from annotation.imports import example_import
from annotation.models import Example, Job, Source, Upload
from annotation.platform.refusals import ActionRefused
from annotation.study_file import current_state
from annotation.study_file.parser import parse
from tableqa.readers.interface import Credit
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.cast import NOON, World

TABLE = '"Name,Wins\nAnn,3"'
ROWS = [
    "id,question,answers,table",
    f"1,who won?,Ann,{TABLE}",
    "2,who lost?,Bob,missing.csv",
    f",who came?,Ann,{TABLE}",
    f"4,who left?,Ann,{TABLE}",
]


def questions(folder: Path, *rows: str) -> Path:
    path = folder / "own.csv"
    path.write_text("".join(f"{row}\n" for row in rows or ROWS))
    return path


def imported(world: World, path: Path, **more: Any) -> example_import.ImportResult:
    return example_import.import_examples(project=world.project, reader="own", path=path, now=NOON, **more)


@pytest.mark.django_db
class TestJourney:
    def test_every_problem_is_told_and_nothing_is_written(self, world: World, tmp_path: Path) -> None:
        with pytest.raises(ActionRefused) as refused:
            imported(world, questions(tmp_path))

        more = refused.value.more
        assert [(problem["line"], problem["column"]) for problem in more["problems"]] == [
            (4, "table"),
            (5, "id"),
        ]
        assert (more["rejected"], more["good"]) == (2, 2)
        assert all(problem["fix"] for problem in more["problems"])
        assert "1 more record has a problem" in refused.value.detail
        assert not Source.objects.filter(name="own").exists()

    def test_the_good_records_are_imported_and_the_rest_is_a_file(self, world: World, tmp_path: Path) -> None:
        rest = tmp_path / "rest.csv"

        done = imported(world, questions(tmp_path), good_only=True, rest=rest)

        assert (done.examples, done.report.rejected) == (2, 2)
        assert list(Example.objects.filter(source=done.source).values_list("external_id", flat=True)) == [
            "1",
            "4",
        ]
        with rest.open(encoding="utf-8-sig", newline="") as file:
            assert [row["question"] for row in csv.DictReader(file)] == ["who lost?", "who came?"]

    def test_the_corrected_rest_is_added_to_the_same_source(self, world: World, tmp_path: Path) -> None:
        rest = tmp_path / "rest.csv"
        imported(world, questions(tmp_path), good_only=True, rest=rest)
        (tmp_path / "missing.csv").write_text("Name,Wins\nBob,0\n")
        rest.write_text(rest.read_text("utf-8-sig").replace("\n,who came", "\n3,who came"), "utf-8-sig")

        imported(world, rest, name="own")

        ids = Example.objects.filter(source__name="own").values_list("external_id", flat=True)
        assert sorted(ids) == ["1", "2", "3", "4"]

    def test_a_file_that_cannot_be_read_to_its_end_is_refused_whole(
        self, world: World, tmp_path: Path
    ) -> None:
        path = questions(tmp_path, *ROWS, '5,"never closed,Ann,x')

        with pytest.raises(ActionRefused) as refused:
            imported(world, path, good_only=True)

        assert refused.value.more["good"] == 0
        assert not Source.objects.filter(name="own").exists()

    def test_a_file_without_good_records_is_refused(self, world: World, tmp_path: Path) -> None:
        with pytest.raises(ActionRefused, match=r"missing\.csv"):
            imported(world, questions(tmp_path, ROWS[0], ROWS[2]), good_only=True)

    def test_licence_citation_and_url_are_those_that_were_entered(self, world: World, tmp_path: Path) -> None:
        credit = Credit("CC-BY-4.0", "Ann (2026): Wins.", "https://wins.example/")

        source = imported(world, questions(tmp_path, *ROWS[:2]), credit=credit).source

        assert (source.licence, source.citation, source.url) == (credit.licence, credit.citation, credit.url)


@pytest.mark.django_db
class TestCommand:
    def run(self, world: World, path: Path, *more: str) -> None:
        call_command("import_examples", str(path), "--project", world.project.slug, "--reader", "own", *more)

    def test_all_problems_and_the_choice_are_printed(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(CommandError, match="line 4"):
            self.run(world, questions(tmp_path))

        printed = capsys.readouterr().err
        assert "line 5: id is empty" in printed
        assert "--good-only imports the 2 records without a problem" in printed

    def test_the_good_are_imported_and_the_rest_is_written(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rest = tmp_path / "rest.jsonl"

        self.run(world, questions(tmp_path), "--good-only", "--rest", str(rest), "--licence", "CC0-1.0")

        assert "own: 2 examples, 1 tables, CC0-1.0." in capsys.readouterr().out
        assert [json.loads(line)["line"] for line in rest.read_text().splitlines()] == [4, 5]


COMMANDS = re.compile(r"--\w|\w+=|\./run")


@pytest.mark.django_db
class TestRemedies:
    """A page names what can be done on the page, the command its options."""

    @pytest.mark.parametrize(
        ("name", "content", "option"),
        [
            ("own.csv", "id,question,table\n1,who?,missing.csv\n", "--tables DIR"),
            ("own.csv", "id,what,table\n1,who?,a\n", "--field question=COLUMN"),
            ("own.csv", "a;b,c;d,e\n1;2,3;4,5\n", ""),
        ],
    )
    def test_a_problem_of_a_file(
        self,
        world: World,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        name: str,
        content: str,
        option: str,
    ) -> None:
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(ActionRefused) as refused:
            imported(world, path)
        with pytest.raises(CommandError) as failed:
            call_command("import_examples", str(path), "--project", world.project.slug, "--reader", "own")

        fixes = [problem["fix"] for problem in refused.value.more["problems"]]
        assert [fix for fix in fixes if COMMANDS.search(fix)] == []
        assert COMMANDS.search(refused.value.detail.replace(str(tmp_path), "")) is None
        assert option in str(failed.value) + capsys.readouterr().err

    def test_the_tables_of_a_published_format(self, world: World, tmp_path: Path) -> None:
        (tmp_path / "dev.jsonl").write_text('{"table_id": "a", "question": "q", "sql": {}, "phase": 1}\n')

        with pytest.raises(ActionRefused, match=r"Upload the file of the tables, dev\.tables\.jsonl, too"):
            example_import.import_examples(
                project=world.project, reader="wikisql", path=tmp_path / "dev.jsonl", now=NOON
            )

    def test_a_published_format_imports_the_good_records(self, world: World, tmp_path: Path) -> None:
        path, rest = tmp_path / "dev.jsonl", tmp_path / "rest.jsonl"
        good = {"id": "1", "question": "who?", "answers": [], "table": {"header": ["A"], "rows": [["1"]]}}
        path.write_text(json.dumps(good) + "\n" + json.dumps({**good, "id": "2", "answers": 7}) + "\n")

        done = example_import.import_examples(
            project=world.project, reader="jsonl", path=path, now=NOON, good_only=True, rest=rest
        )
        rest.write_text(rest.read_text().replace('"answers": 7', '"answers": ["x"]'))
        again = example_import.import_examples(
            project=world.project, reader="jsonl", path=rest, name="dev", now=NOON
        )

        assert (done.examples, done.report.rejected, again.examples) == (1, 1, 1)
        ids = Example.objects.filter(source__name="dev").values_list("external_id", flat=True)
        assert sorted(ids) == ["1", "2"]


@pytest.mark.django_db(transaction=True)
class TestJob:
    def started(self, world: World, path: Path) -> Job:
        file = SimpleUploadedFile(path.name, path.read_bytes())
        upload = uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
        job = example_import.start_import(
            project=world.project, reader="own", questions=upload, tables=None, by=world.mara, now=NOON
        )
        job.refresh_from_db()
        return job

    def test_a_refused_import_keeps_its_problems_and_the_rest_for_the_choice(
        self, world: World, tmp_path: Path
    ) -> None:
        job = self.started(world, questions(tmp_path))

        assert job.state == "failed"
        assert job.result["problems"][0]["file"] == "own.csv"
        rest = Upload.objects.get(public_id=job.result["rest"])
        assert rest.name == "own-rejected.csv"
        assert b"who lost?" in rest.file.read()

    def test_the_good_records_are_imported_without_another_upload(self, world: World, tmp_path: Path) -> None:
        refused = self.started(world, questions(tmp_path))

        job = example_import.start_good_only(job=refused, by=world.mara, now=NOON)

        job.refresh_from_db()
        assert (job.state, job.result["examples"], job.result["rejected"]) == ("done", 2, 2)
        assert Source.objects.get(name="own").how["good_only"] is True

    def test_files_of_an_import_that_nobody_finished_go_after_a_week(
        self, world: World, tmp_path: Path
    ) -> None:
        job = self.started(world, questions(tmp_path))
        upload = Upload.objects.get(pk=job.ids["questions"])
        file = SimpleUploadedFile("later.csv", b"x")

        uploads.keep(project=world.project, file=file, by=world.mara, now=NOON + 2 * uploads.KEPT)

        assert upload.file.name
        assert not upload.file.storage.exists(upload.file.name)


@pytest.mark.django_db
def test_a_study_file_imports_a_source_with_the_same_choices(world: World, tmp_path: Path) -> None:
    path = questions(tmp_path)
    imported(
        world,
        path,
        fields={"title": "", "context": "answers", "answers": ""},
        credit=Credit("CC-BY-4.0", "Ann (2026)", "https://wins.example/"),
        good_only=True,
        declared_paths={"path": "own.csv"},
    )
    (entry,) = [
        one for one in current_state.of_project(world.project, now=NOON).study.sources if one.name == "own"
    ]
    said = {key: value for key, value in dataclasses.asdict(entry).items() if value and key != "checksum"}
    text = f"study: 1\nproject: {{slug: again, name: Again}}\nsources: {json.dumps([said])}\n"

    applied = apply_with_files(
        parse(text, folder=tmp_path), project=None, by=world.mara, now=NOON, folder=tmp_path
    )

    source = applied.project.sources.get()
    assert (source.licence, source.citation, source.url) == (
        "CC-BY-4.0",
        "Ann (2026)",
        "https://wins.example/",
    )
    assert source.examples.count() == 2
    context = source.examples.all()[0].example().context
    assert context is not None
    assert context.text == "Ann"


@pytest.mark.django_db
class TestCheck:
    """`import_examples --check` looks at all records and writes nothing into the database."""

    def check(self, world: World, path: Path, *more: str) -> None:
        arguments = ["--project", world.project.slug, "--reader", "own", "--check", *more]
        call_command("import_examples", str(path), *arguments)

    def test_a_file_without_problems_is_counted_and_not_imported(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = Source.objects.count(), Example.objects.count()

        self.check(world, questions(tmp_path, ROWS[0], ROWS[1], ROWS[4]))

        assert "No problems in 2 records. Nothing was imported." in capsys.readouterr().out
        assert (Source.objects.count(), Example.objects.count()) == before

    def test_problems_are_listed_and_their_records_written_to_a_file(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before, rest = Source.objects.count(), tmp_path / "rest.csv"

        with pytest.raises(CommandError, match=r"own\.csv, line 4"):
            self.check(world, questions(tmp_path), "--rest", str(rest))

        assert "line 5" in capsys.readouterr().err
        assert Source.objects.count() == before
        with rest.open(newline="", encoding="utf-8-sig") as file:
            assert [row["id"] for row in csv.DictReader(file)] == ["2", ""]

    def test_chosen_columns_count(self, world: World, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="the field frage is missing"):
            self.check(world, questions(tmp_path), "--field", "question=frage")


CREDIT = ("--licence", "CC-BY-4.0", "--citation", "Ann (2026)", "--url", "https://wins.example/")
MAPPED = [
    "nr,was,gold,tab",
    f"a,who won?,Ann,{TABLE}",
    "b,who lost?,Bob,missing.csv",
]


def credit_of(source: Source) -> tuple[str, str, str]:
    return source.licence, source.citation, source.url


@pytest.mark.django_db
class TestContinuation:
    """A corrected file of rejected records has the credit and the columns of the source that it completes."""

    def run(self, world: World, path: Path, *more: str) -> None:
        call_command("import_examples", str(path), "--project", world.project.slug, "--reader", "own", *more)

    def corrected(self, world: World, folder: Path, *more: str, name: str = "rest.csv") -> Path:
        rest = folder / name
        fields = ("--field", "question=was", "--field", "table=tab")
        self.run(
            world, questions(folder, *MAPPED), "--good-only", "--rest", str(rest), *CREDIT, *fields, *more
        )
        (folder / "missing.csv").write_text("Name,Wins\nBob,0\n")
        return rest

    @pytest.mark.parametrize("name", [("--name", "own"), ()])
    @pytest.mark.parametrize("rest", ["rest.csv", "rest.jsonl"])
    def test_the_rest_keeps_credit_and_columns_under_the_same_name_and_another(
        self,
        world: World,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        name: tuple[str, ...],
        rest: str,
    ) -> None:
        path = self.corrected(world, tmp_path, name=rest)

        self.run(world, path, *name)

        source = Source.objects.latest("pk")
        assert source.examples_count == 1
        assert credit_of(source) == ("CC-BY-4.0", "Ann (2026)", "https://wins.example/")
        assert "Licence, citation and URL are those of own, unless given." in capsys.readouterr().out

    def test_a_licence_that_is_given_wins(self, world: World, tmp_path: Path) -> None:
        self.run(world, self.corrected(world, tmp_path), "--name", "own", "--licence", "MIT")

        assert credit_of(Source.objects.latest("pk")) == ("MIT", "Ann (2026)", "https://wins.example/")

    def test_a_rest_of_one_of_several_sources_of_other_credit_is_not_guessed(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rest = self.corrected(world, tmp_path)
        self.run(world, questions(tmp_path, *MAPPED[:2]), "--good-only", "--name", "b", "--field", "question=was",
                 "--field", "table=tab")  # fmt: skip

        self.run(world, rest, "--field", "question=was", "--field", "table=tab")

        assert Source.objects.latest("pk").licence == "NOASSERTION"
        assert "import the file with --name SOURCE" in capsys.readouterr().out

    def test_another_file_has_the_credit_of_no_source(self, world: World, tmp_path: Path) -> None:
        self.corrected(world, tmp_path)

        source = imported(world, questions(tmp_path, *ROWS[:2]), name="other").source

        assert source.licence == "NOASSERTION"

    def test_a_folder_without_a_licence_is_no_rest(self, world: World, tmp_path: Path) -> None:
        """Whether a licence is missing because the files are left-out records is asked of files alone."""
        folder = tmp_path / "splits"
        folder.mkdir()
        for split in ("train", "test"):
            text = f"id,question,answers,table\n{split},who won?,Ann,{TABLE}\n"
            (folder / f"{split}.csv").write_text(text)

        self.run(world, folder)

        assert Source.objects.latest("pk").licence == "NOASSERTION"
