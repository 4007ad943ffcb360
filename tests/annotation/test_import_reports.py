"""The report of an import: on the pages, in the interface, in the output of the command, and in releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from annotation.access.roles import Role
from annotation.background import uploads
from annotation.imports import example_import
from annotation.models import Job, Source
from annotation.platform import immutable_rows
from annotation.releases import creation, verification
from annotation.workflow import projects
from tableqa.releases import release_records
from tableqa.releases.record_files import Difference
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.test_import_wizard import CUP, media, sent, text, uploaded
from tests.annotation.test_releasing import LATER, rewrite
from tests.annotation.test_restoring import restore
from tests.undone import undone

pytestmark = pytest.mark.django_db
__all__ = ["media"]

DOUBTFUL = 'question,answers,table\n"who\nwon?",Ann; Bob,cup.csv\nwho?,NULL,cup.csv\nwhere?,NULL,cup.csv\n'
FINDINGS = [
    {"kind": "separators", "number": 1, "line": 2, "record": "1", "text": "Ann; Bob"},
    {"kind": "line_breaks", "number": 1, "line": 2, "record": "1", "text": "who↵won?"},
    {"kind": "placeholders", "number": 2, "line": 4, "record": "2", "text": "NULL"},
]
RELEASED = [
    {**each, "record": "", "text": each["text"] if each["text"] == "NULL" else ""} for each in FINDINGS
]
"""A release has no ids and texts of records, which it may leave out."""


@pytest.fixture
def mara(world: World) -> Client:
    return importer(world.mara)


def doubtful(world: World, folder: Path) -> Source:
    (folder / "cup.csv").write_text(CUP.replace(";", ","))
    path = folder / "doubtful.csv"
    path.write_text(DOUBTFUL)
    return example_import.import_examples(project=world.project, reader="own", path=path, now=NOON).source


def labelled(world: World, folder: Path) -> Path:
    """A release of the doubtful examples, each with a label."""
    batch = world.batch("question_type", sources=[doubtful(world, folder)], size=3)
    for _ in range(3):
        world.label(batch, "ada", "extraction")
    return released(world, folder / "release")


def released(world: Any, out: Path) -> Path:
    creation.make_release(
        project=world.project, name="v1", format="askew", by=None, now=LATER, out=out, allow_simulated=True
    )
    return out


def test_the_preview_counts_records_and_names_what_is_doubtful(mara: Client) -> None:
    words = text(mara.get(uploaded(mara, DOUBTFUL, "q.csv")))

    assert "3 records." in words
    assert "Texts that programs write for missing values and errors, read as text 2 4 2 NULL" in words
    assert "Answers with “;” or “|”, read as one answer" in words
    assert "If the sign separates several answers, choose it as their separator." in words


def test_a_check_of_all_records_and_an_import_show_the_report(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    url = uploaded(mara, DOUBTFUL, "q.csv")
    for act in ("check", "import"):
        with django_capture_on_commit_callbacks(execute=True):
            answer = mara.post(url, sent(mara.get(url), act=act))

        words = text(mara.get(answer["Location"]))
        assert "3 records." in words
        assert "read as text 2 4 2 NULL" in words
        result = mara.get(f"/api/jobs/{Job.objects.latest('pk').public_id}/").json()["result"]
        assert result["report"]["findings"] == FINDINGS


def test_the_report_is_kept_with_the_source(world: World, mara: Client, tmp_path: Path) -> None:
    source = doubtful(world, tmp_path)

    words = text(mara.get(f"/sources/{source.public_id}/"))

    assert "Report of the import doubtful.csv was read as comma-separated, UTF-8." in words
    assert "3 records." in words
    assert "Fields with line breaks 1 2 1 who↵won?" in words
    newest, *_ = mara.get("/api/projects/films/sources/").json()
    (report,) = newest["reports"]
    assert newest["id"] == source.public_id
    assert (report["records"], report["findings"]) == (3, FINDINGS)
    assert report["columns"] == {"question": "question", "answers": "answers", "table": "table"}
    assert report["read_as"].startswith("doubtful.csv was read as comma-separated, UTF-8.")


def test_who_is_asked_for_answers_sees_no_texts_of_the_report(
    world: World, mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    zoe = world.people["zoe"]
    roles = [Role.MANAGER, Role.ANNOTATOR]
    projects.add_member(project=world.project, person=zoe, roles=roles, by=world.mara, now=NOON)
    url = uploaded(mara, DOUBTFUL, "doubtful.csv")
    with django_capture_on_commit_callbacks(execute=True):
        job = mara.post(url, sent(mara.get(url), act="import"))["Location"]
    source = Source.objects.get(name="doubtful")
    world.batch("answer_check", feeds_from=world.batch(), sources=[], open=False)

    for address in (f"/sources/{source.public_id}/", "/api/projects/films/sources/", job, f"/api{job}"):
        assert "Ann; Bob" in mara.get(address).content.decode()
        assert "Ann; Bob" not in importer(zoe).get(address).content.decode()


def test_the_command_prints_the_report(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cup.csv").write_text("Name,Wins\nAnn,3\n")
    (tmp_path / "q.csv").write_text(DOUBTFUL)

    for more in (["--check"], []):
        call_command(
            "import_examples", str(tmp_path / "q.csv"), "--project", "films", "--reader", "own", *more
        )

        assert (
            "Texts that programs write for missing values and errors, read as text: 2 (the first: line 4, record 2, NULL)."
            in capsys.readouterr().out
        )


def test_a_release_has_the_report_in_its_sources(world: World, tmp_path: Path) -> None:
    folder = labelled(world, tmp_path)

    (record,) = release_records.read_manifest(folder)["sources"]
    assert [report["findings"] for report in record["reports"]] == [RELEASED]
    assert record["reports"][0]["read_as"].startswith("doubtful.csv was read as")
    assert verification.verify(folder)["annotations"] == 3
    again = released(world, tmp_path / "again")
    assert (again / "sources.jsonl").read_bytes() == (folder / "sources.jsonl").read_bytes()


def test_a_source_without_a_report_has_none_in_a_release(world: World, tmp_path: Path) -> None:
    source = doubtful(world, tmp_path)
    with immutable_rows.writable():
        Source.objects.filter(pk=source.pk).update(how={})
    world.label(world.batch("question_type", sources=[source], size=3), "ada", "extraction")

    (record,) = release_records.read_manifest(released(world, tmp_path / "release"))["sources"]

    assert "reports" not in record


def test_a_restored_source_has_the_report_and_releases_it(world: World, tmp_path: Path) -> None:
    with undone():
        folder = labelled(world, tmp_path)

    project = restore(folder).project

    (source,) = project.sources.all()
    assert source.how["reports"][0]["findings"] == RELEASED
    again = tmp_path / "again"
    creation.make_release(
        project=project, name="v1", format="askew", by=None, now=LATER, out=again, allow_simulated=True
    )
    assert (again / "sources.jsonl").read_bytes() == (folder / "sources.jsonl").read_bytes()


@pytest.mark.parametrize(
    "report",
    [
        7,
        {},
        {"records": 3},
        {"records": "3"},
        {"findings": [{"kind": "x", "number": "many"}]},
        {"columns": 3},
    ],
)
def test_a_release_with_a_malformed_report_is_refused(world: World, tmp_path: Path, report: Any) -> None:
    folder = labelled(world, tmp_path)
    whole = release_records.read_manifest(folder)["sources"][0]["reports"][0]
    forged = {**whole, **report} if isinstance(report, dict) and report else report

    def forge(lines: list[dict]) -> None:
        lines[0]["reports"] = [forged]

    rewrite(folder, "sources.jsonl", forge)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sources"][0]["reports"] = [forged]
    (folder / "manifest.json").write_text(json.dumps(manifest))

    if report == {"records": 3}:
        verification.verify(folder)
    else:
        with pytest.raises(
            Difference, match=r"sources\.jsonl: source 'doubtful': it is no report of an import"
        ):
            verification.verify(folder)


def test_the_page_offers_another_header_where_it_is_doubtful(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    url = uploaded(mara, 'question,answers,table\nwho?,Ann,"Results,\nName,Wins\nAnn,3"\n', "q.csv")
    page = mara.get(url)
    assert page.context["form"]["header_row"].value() == "1"

    page = mara.post(url, sent(page, header_row="2"), follow=True)

    assert page.context["form"]["header_row"].value() == "2"
    assert page.context["examples"][0]["example"].table.header == ("Name", "Wins")
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="import"))
    source = Source.objects.get(name="q")
    assert source.how["fields"] == {"header_row": "2"}
    table = source.examples.get().stored_table.table()
    assert (table.header, table.rows, table.caption) == (("Name", "Wins"), (("Ann", "3"),), "Results")


def test_the_page_offers_no_other_header_where_none_is_doubtful(mara: Client) -> None:
    page = mara.get(uploaded(mara, DOUBTFUL, "q.csv"))

    assert "header_row" not in page.context["form"].fields


def test_the_command_and_the_interface_take_the_row_of_the_header(
    world: World, mara: Client, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    path = tmp_path / "q.csv"
    path.write_text('question,answers,table\nwho?,Ann,"1,2\n3,4"\n')

    call_command(
        "import_examples", str(path), "--project", "films", "--reader", "own", "--field", "header_row=none"
    )

    upload = SimpleUploadedFile("api.csv", path.read_bytes())
    questions = uploads.keep(project=world.project, file=upload, by=world.mara, now=NOON).public_id
    body = {"questions": questions, "reader": "own", "fields_of": {"header_row": "none"}}
    with django_capture_on_commit_callbacks(execute=True):
        mara.post("/api/projects/films/imports/", body, content_type="application/json")
    for name in ("q", "api"):
        table = Source.objects.get(name=name).examples.get().stored_table.table()
        assert (table.header, table.rows) == (("column 1", "column 2"), (("1", "2"), ("3", "4")))


SHARED = [
    {"id": at, "text": f"Which {at}?", "table": [["Town"], ["NULL"]], "label": ["a"], "Comments": []}
    for at in (1, 2, 3)
]


def test_responses_of_a_name_that_several_people_share_are_counted(
    world: World, mara: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in SHARED))
    shared = {"kind": "shared", "number": 3, "line": 1, "record": "1", "text": "all"}
    file = SimpleUploadedFile("all.jsonl", path.read_bytes())

    address = mara.post("/projects/films/responses/import/", {"tool": "doccano", "file": file})["Location"]
    words = text(mara.get(address))

    assert "Responses under a name that several people may share" in words
    assert "Agreement with such a name is not agreement of people. 3 1 1 all" in words
    job = Job.objects.latest("pk")
    findings = mara.get(f"/api/jobs/{job.public_id}/").json()["result"]["report"]["findings"]
    assert shared in findings
    call_command("import_responses", str(path), "--project", "films", "--tool", "doccano")
    assert "several people may share: 3 (the first: line 1, record 1, all)." in capsys.readouterr().out
    (report,) = Source.objects.get(name="all").how["reports"]
    assert report["records"] == 3
    assert [shared, {**shared, "kind": "placeholders", "number": 1, "text": "NULL"}] == sorted(
        report["findings"], key=lambda each: each["kind"], reverse=True
    )
