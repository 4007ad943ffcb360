"""A refused import names the record and an option; page, command and API take the option."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Example, Source
from annotation.web.forms.example_import import _OPTIONS
from tableqa.readers.reading_options import READING
from tests.annotation.cast import World
from tests.annotation.previews import importer

RECORD = {"id": "q7", "question": "Who?", "answers": ["x"], "table": [["a", "b"], ["1", None]]}
CONTENT = (json.dumps(RECORD) + "\n").encode()
TASKS = json.dumps([{"id": 7, "data": RECORD, "annotations": []}]).encode()


@pytest.fixture
def mara(world: World) -> Client:
    return importer(world.mara)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def uploaded(mara: Client, content: bytes, name: str) -> str:
    sent = {"questions": SimpleUploadedFile(name, content)}
    return str(mara.post("/projects/films/sources/import/", sent)["Location"])


def sent(page: Any, **changed: str) -> dict[str, str]:
    form = page.context["form"]
    return {name: str(form[name].value() or "") for name in form.fields} | changed


def cells(source: str) -> list[list[str]]:
    return [list(row) for row in Example.objects.get(source__name=source).table().rows]


@pytest.mark.parametrize(("content", "name"), [(CONTENT, "own.jsonl"), (TASKS, "tasks.json")])
def test_the_page_names_the_record_and_offers_the_option(
    mara: Client, django_capture_on_commit_callbacks: Any, content: bytes, name: str
) -> None:
    url = uploaded(mara, content, name)
    page = mara.get(url)
    (problem,) = page.context["preview"].problems
    assert problem.record == "q7"
    assert "or choose “Null and missing cells are empty”" in problem.fix
    assert 'name="missing"' in page.content.decode()

    page = mara.post(url, sent(page, missing="empty"))
    assert not page.context["preview"].problems
    with django_capture_on_commit_callbacks(execute=True):
        mara.post(url, sent(page, act="import"))

    assert cells(Path(name).stem) == [["1", ""]]
    assert Source.objects.get(name=Path(name).stem).how["fields"]["missing"] == "empty"


def workbook(merged: str = "", **sheets: list[list[str]]) -> bytes:
    """A workbook with these sheets; in the first one a range of cells is merged."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
        if merged:
            book.worksheets()[0].merge_range(merged, "7")
    return file.getvalue()


def archive(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in files.items():
            packed.writestr(name.replace("_", "."), content)
    return file.getvalue()


AB = [["a", "b"], ["1", "2"]]
MERGED = workbook(
    "B2:B3", Q=[["id", "question", "table"], ["q7", "", "T"], ["q8", "", "T"], ["q9", "Who?", "T"]], T=AB
)
SEVERAL = archive(
    q_csv=b"id,question,table\nq7,Who?,t.xlsx\nq8,Who?,t.xlsx\nq9,Who?,t.xlsx\n",
    t_xlsx=workbook(T=AB, U=[["a"], ["3"]]),
)


@pytest.mark.parametrize(
    ("content", "name", "option"),
    [(MERGED, "q.xlsx", {"merged": "filled"}), (SEVERAL, "q.zip", {"sheets": "largest"})],
    ids=["merged", "sheets"],
)
def test_the_page_offers_the_options_of_workbooks(
    mara: Client, content: bytes, name: str, option: dict[str, str]
) -> None:
    url = uploaded(mara, content, name)
    page = mara.get(url)
    assert [set(problem.ways) for problem in page.context["preview"].problems][:1] == [set(option)]

    page = mara.post(url, sent(page, **option))

    assert not page.context["preview"].problems
    assert [shown["example"].id for shown in page.context["examples"]] == ["q7", "q8", "q9"]


def test_the_page_has_a_name_for_every_option() -> None:
    assert _OPTIONS.keys() == READING.keys()


def test_the_page_shows_no_option_that_a_file_does_not_need(mara: Client) -> None:
    page = mara.get(uploaded(mara, CONTENT.replace(b"null", b'"2"'), "own.jsonl"))

    assert not READING.keys() & page.context["form"].fields.keys()


def test_columns_are_detected_after_an_option_without_which_nothing_is_read(mara: Client) -> None:
    content = b'id,question,answers,answers,table\nq7,Who?,x,y,"a,b\n1,2"\n'
    url = uploaded(mara, content, "own.csv")
    page = mara.get(url)
    assert not page.context["preview"].examples

    page = mara.post(url, sent(page, names="numbered"))

    (shown,) = page.context["examples"]
    assert (shown["example"].id, shown["example"].answers) == ("q7", ("x",))


def test_the_separator_is_chosen_where_it_cannot_be_known(mara: Client) -> None:
    page = mara.get(uploaded(mara, b"a;b,c;d\n1;2,3;4\n", "own.csv"))

    assert "separator" in page.context["form"].fields


@pytest.mark.django_db
def test_the_command_names_the_record_and_takes_the_option(world: World, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(CONTENT)
    command = ("import_examples", str(path), "--project", "films", "--reader", "own")

    with pytest.raises(CommandError) as refused:
        call_command(*command)
    assert "own.jsonl, line 1, id q7: table: row 1, column 2 is null" in str(refused.value)
    assert "or add --field missing=empty" in str(refused.value)
    call_command(*command, "--field", "missing=empty")

    assert cells("own") == [["1", ""]]


@pytest.mark.django_db
def test_a_value_that_an_option_does_not_have_is_refused(world: World, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(CONTENT)

    with pytest.raises(CommandError, match="missing may be empty, or is left out"):
        call_command(
            "import_examples", str(path), "--project", "films", "--reader", "own", "--field", "missing=null"
        )


def test_the_api_names_the_record_and_takes_the_option(
    mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    def post(address: str, **values: Any) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return mara.post(f"/api/{address}", values, content_type="application/json").json()

    upload = post("projects/films/uploads/", name="own.jsonl", size=len(CONTENT))["id"]
    mara.put(f"/api/uploads/{upload}/?offset=0", CONTENT, content_type="application/octet-stream")

    job = post("projects/films/imports/", questions=upload, reader="own")
    (problem,) = mara.get(f"/api/jobs/{job['id']}/").json()["result"]["problems"]
    assert (problem["record"], problem["ways"]) == ("q7", {"missing": ["empty"]})
    post("projects/films/imports/", questions=upload, reader="own", fields_of={"missing": "empty"})

    assert cells("own") == [["1", ""]]
