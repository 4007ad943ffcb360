"""Gold answers from a file: read in a process of its own, previewed on a page, and written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.background import jobs, uploads
from annotation.management import doctor
from annotation.models import Batch, Example, Gold, Job, Upload
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold, gold_files
from annotation.queue import lineage
from tableqa.readers.gold_answers import read_gold
from tableqa.readers.ingestion import Rows
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer, read_previews
from tests.annotation.test_defining import batch_of, define


def examples(world: World) -> list[Example]:
    return list(world.source.examples.select_related("stored_table").order_by("position"))


def small(world: World) -> Batch:
    """A batch over the first examples of the source, so that the others may be gold."""
    return world.batch(only=[one.external_id for one in examples(world)[:2]])


def jsonl(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def answers(world: World, **more: Any) -> str:
    """A file of two gold answers."""
    return jsonl(
        *(
            {"example": one.external_id, "response": {"label": "reasoning"}, **more}
            for one in examples(world)[2:4]
        )
    )


def written(batch: Batch, folder: Path, text: str, name: str = "gold.jsonl") -> dict[str, Any]:
    """What the file comes to, read in this process."""
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    with uploads.local_input(path, read_gold) as file:
        return gold_files.write(batch=batch, file=file, by=None, now=NOON)


def problems(refused: pytest.ExceptionInfo[ActionRefused]) -> list[tuple[int, str]]:
    return [(one["line"], f"{one['what']}. {one['fix']}") for one in refused.value.more["problems"]]


# -- what a file says -------------------------------------------------------------------------------


def test_a_file_of_lines_marks_every_example_it_names(world: World, tmp_path: Path) -> None:
    batch = small(world)
    ids = {one.external_id for one in examples(world)[2:4]}

    assert written(batch, tmp_path, answers(world, why="It counts."))["gold"] == 2
    assert {one.item.example.external_id for one in Gold.objects.all()} == ids
    assert {one.why for one in Gold.objects.all()} == {"It counts."}


@pytest.mark.parametrize(
    ("first", "index"),
    [("\ufeffexample,label,why", ""), (",example,label,why", "0,")],
    ids=["excel", "pandas"],
)
def test_a_table_of_gold_may_have_the_fields_of_the_task_type_as_columns(
    world: World, tmp_path: Path, first: str, index: str
) -> None:
    batch, id = small(world), examples(world)[3].external_id

    written(batch, tmp_path, f'{first}\r\n{index}{id},reasoning,"It counts, twice."\r\n', "gold.CSV")

    made = Gold.objects.get()
    assert (made.expected["data"]["label"], made.why) == ("reasoning", "It counts, twice.")


def test_columns_hold_several_choices_lines_and_flags(world: World, tmp_path: Path) -> None:
    assert gold_files._value("lines", " a\r\nb \n\n") == ["a", "b"]
    assert [gold_files._value("flag", text) for text in ("Yes", "true", "1", "", "no")] == [True] * 3 + [
        False
    ] * 2

    other, id = (one.external_id for one in examples(world)[1:3])
    response = json.dumps({"cells": [["r0", "c0"]]}).replace('"', '""')
    written(
        world.batch("relevant_cells", only=[other]),
        tmp_path,
        f'example,response\n{id},"{response}"\n',
        "gold.csv",
    )

    assert Gold.objects.get().expected["data"]["cells"] == [["r0", "c0"]]


def test_a_response_fills_the_fields_whose_cells_are_empty(world: World, tmp_path: Path) -> None:
    ids = [one.external_id for one in examples(world)[2:4]]
    text = f'example,label,response\n{ids[0]},,"{{""label"": ""extraction""}}"\n{ids[1]},reasoning,\n'

    written(small(world), tmp_path, text, "gold.csv")

    assert [one.expected["data"]["label"] for one in Gold.objects.order_by("item__position")] == [
        "extraction",
        "reasoning",
    ]


@pytest.mark.parametrize("is_csv", [True, False])
def test_an_option_spells_an_accent_in_either_way(world: World, tmp_path: Path, is_csv: bool) -> None:
    fields = [{"name": "kind", "type": "choice", "label": "Kind", "options": ["caf\u00e9", "bar"]}]
    id = examples(world)[2].external_id
    batch = batch_of(world, define(world, fields=fields, agreement={}), open=False)
    rows = jsonl({"example": id, "response": {"kind": "cafe\u0301"}})
    text, name = (f"example,kind\n{id},cafe\u0301\n", "gold.csv") if is_csv else (rows, "gold.jsonl")

    written(batch, tmp_path, text, name)

    assert Gold.objects.get().expected["data"] == {"kind": "caf\u00e9"}


@pytest.mark.parametrize("open", [True, False])
def test_gold_becomes_visible_in_one_transaction_with_few_statements(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open: bool
) -> None:
    """Before, each page of lines is checked in a transaction that is undone."""
    monkeypatch.setattr(gold_files, "AT_ONCE", 1)
    batch = world.batch(only=[examples(world)[0].external_id], open=open)
    mark_all, seen, numbers = gold.mark_all, [], []

    def counted(**of: Any) -> None:
        seen.append(Gold.objects.count() + batch.items.count())
        with CaptureQueriesContext(connection) as queries:
            mark_all(**of)
        numbers.append(len(queries))

    monkeypatch.setattr(gold, "mark_all", counted)
    for some in (examples(world)[1:2], examples(world)[2:4]):
        rows = [{"example": one.external_id, "response": {"label": "reasoning"}} for one in some]
        written(batch, tmp_path, jsonl(*rows))

    assert seen == [1, 3]
    assert numbers[1] - numbers[0] <= 1, "a line more is one statement more, its event"
    assert (Gold.objects.count(), batch.items.filter(is_gold=True).count()) == (3, 3)
    assert list(doctor.findings()) == []


def test_an_example_that_is_taken_meanwhile_stops_the_import(world: World, tmp_path: Path) -> None:
    batch, example = small(world), examples(world)[2]
    mark_all = gold.mark_all

    def late(**of: Any) -> None:
        lineage.make_items(batch=batch, examples=[example.pk])
        mark_all(**of)

    with (
        patch.object(gold, "mark_all", late),
        pytest.raises(ActionRefused, match="is a normal item of this open"),
    ):
        written(batch, tmp_path, answers(world))

    assert not Gold.objects.exists()


def test_an_example_has_one_line_by_whichever_id(world: World, tmp_path: Path) -> None:
    example = examples(world)[2]
    ids, labels = (example.external_id, example.public_id), ("reasoning", "extraction")
    rows = [{"example": id, "response": {"label": label}} for id, label in zip(ids, labels, strict=True)]

    with pytest.raises(ActionRefused) as refused:
        written(small(world), tmp_path, jsonl(*rows))

    assert problems(refused) == [(2, "Line 1 has a gold answer to this example.. ")]
    assert not Gold.objects.exists()


@pytest.mark.parametrize("word", ["maybe", "wahr", "2", "-"])
def test_a_flag_of_another_word_than_yes_or_no_is_refused(world: World, tmp_path: Path, word: str) -> None:
    id, other = (one.external_id for one in examples(world)[2:4])
    text = f"example,answers,unanswerable\n{id},,{word}\n{other},,YES\n"

    with pytest.raises(ActionRefused) as refused:
        written(
            world.batch("answer_check", only=[examples(world)[0].external_id]), tmp_path, text, "gold.csv"
        )

    assert problems(refused) == [(2, f"{word!r} is not yes or no. Correct it.. ")]


def test_a_file_is_taken_as_a_whole_or_not_at_all_and_every_line_is_named(
    world: World, tmp_path: Path
) -> None:
    batch = small(world)
    good, other = (one.external_id for one in examples(world)[2:4])
    lines = [
        {"example": good, "response": {"label": "reasoning"}},
        {"example": other, "response": {"label": "perhaps"}},
        {"example": "nobody", "response": {"label": "reasoning"}},
        {"example": good, "response": {"label": "extraction"}},
    ]

    with pytest.raises(ActionRefused) as refused:
        written(batch, tmp_path, jsonl(*lines))

    assert [line for line, _ in problems(refused)] == [2, 3, 4]
    assert "no source of the project contains the example 'nobody'" in problems(refused)[1][1]
    assert f"the id {good} is already in line 1" in problems(refused)[2][1]
    assert not Gold.objects.exists()
    assert list(doctor.findings()) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", "", "contains no gold answers"),
        ("a.csv", "example,label\n", "contains no gold answers"),
        ("a.csv", "", "the file is empty"),
        ("a.jsonl", "{", "line 1: this is not JSON"),
        ("a.jsonl", '{"example": 1}\nx', "line 1: the field response is missing"),
        ("a.jsonl", '{"example": 3, "response": {}}', "example is a number, not a text"),
        ("a.jsonl", '{"example": "x", "response": [1]}', "response: there is a list, not an object"),
        ("a.jsonl", '{"example": "x", "response": {}, "because": "y"}', "there is no field because"),
        (
            "a.jsonl",
            '{"example": "x", "response": {"label": "\\u0000"}}',
            "the line contains a NUL character",
        ),
        ("a.jsonl", '{"example": "x", "response": {"label": "\\ud800"}}', "an unpaired surrogate"),
        ("a.jsonl", '{"example": "x", "response": {"label": NaN}}', "this is not JSON"),
        ("a.jsonl", "[" * 100_000, "is not JSON"),
        ("a.csv", "id,label\n1,extraction\n", "the first line lacks example"),
        ("a.csv", "example,label,because\n1,extraction,y\n", "there is no field because"),
        ("a.csv", "example,label,label\n1,extraction,y\n", "two columns have the name 'label'"),
        ("a.csv", "example,label\nx,y\nx\n", "the row has 1 fields"),
        ("a.csv", "example,response\nx,{\n", "line 2: response: this is not JSON"),
        (
            "a.csv",
            'example,label,response\nx,reasoning,"{""label"": ""extraction""}"\n',
            "label is both a column and in the response",
        ),
        ("a.csv", "example,response\nx," + "[" * 100_000 + "\n", "line 2: response: this is not JSON"),
        ("a.csv", 'example,label\n"x,extraction\n', "the file ends within a quoted field"),
        ("a.csv", "example,label\nx,\0\n", "NUL"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(
    world: World, tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(ActionRefused) as refused:
        written(small(world), tmp_path, text, name)

    told = [refused.value.detail, *(words for _, words in problems(refused))] if refused.value.more else []
    assert words in " ".join(told or [refused.value.detail])
    assert not Gold.objects.exists()


def test_edits_and_cells_are_written_as_a_response_only(world: World, tmp_path: Path) -> None:
    with pytest.raises(ActionRefused, match=r"no field cells\. The fields are example, response, why"):
        written(world.batch("relevant_cells"), tmp_path, "example,cells\nx,y\n", "a.csv")


def test_a_file_has_at_most_a_thousand_lines(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gold, "MOST_ROWS", 1)
    monkeypatch.delattr(Rows, "read")  # they may not fit into the memory of the worker

    with pytest.raises(ActionRefused, match="at most 1 lines; this one has 2"):
        written(small(world), tmp_path, answers(world))


def test_an_id_that_two_sources_use_names_no_example(world: World, tmp_path: Path) -> None:
    batch, one = small(world), examples(world)[3]
    world.import_written(one.example())

    with pytest.raises(ActionRefused, match="several sources"):
        written(batch, tmp_path, jsonl({"example": one.external_id, "response": {"label": "reasoning"}}))

    row = {"example": one.public_id, "response": {"label": "reasoning"}}
    assert written(batch, tmp_path, jsonl(row))["gold"] == 1


# -- on the page ------------------------------------------------------------------------------------


def sent(client: Client, batch: Batch, text: str, name: str = "gold.jsonl") -> Any:
    body = {"action": "file", "file": SimpleUploadedFile(name, text.encode())}
    return client.post(reverse("gold", args=[batch.public_id]), body)


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def test_the_page_waits_previews_and_imports(
    world: World, mara: Client, django_capture_on_commit_callbacks: Any
) -> None:
    batch = small(world)

    preview = sent(mara, batch, answers(world))["Location"]
    waiting = mara.get(preview).content.decode()
    assert "Reading the file" in waiting
    assert '<noscript><meta http-equiv="refresh" content="1">' in waiting
    Job.objects.update(heartbeat=NOON)
    assert "No worker is running" in mara.get(preview).content.decode()

    read_previews()
    shown = mara.get(preview).content.decode()
    assert "<dt>Gold answers</dt><dd>2</dd>" in shown
    assert not Gold.objects.exists()

    address = mara.post(preview)["Location"]
    assert "Importing gold answers" in mara.get(address).content.decode()
    job = Job.objects.get(kind="import_gold")
    assert jobs.run(job.pk) == "done"
    assert "2 items now have a gold answer." in mara.get(address).content.decode()
    assert Gold.objects.filter(made_by=world.mara).count() == 2
    assert not Path(Upload.objects.get().file.path if Upload.objects.get().file else "/nowhere").exists()
    assert list(doctor.findings()) == []


def test_a_preview_lists_the_problems_and_imports_nothing(world: World) -> None:
    batch = small(world)

    page = sent(importer(world.mara), batch, answers(world) + '{"example": "nobody", "response": {}}\n{')

    text = page.content.decode()
    assert "no source of the project contains the example &#x27;nobody&#x27;" in text
    assert "this is not JSON" in text
    assert "<dt>invalid lines</dt><dd>2</dd>" in text
    assert "Start import" not in text
    assert not Gold.objects.exists()


def test_a_file_that_no_reader_can_read_says_so_on_its_page(world: World) -> None:
    page = sent(importer(world.mara), small(world), "id,label\n1,extraction\n", "gold.csv")

    assert "the first line lacks example" in page.content.decode()


def test_a_closed_batch_takes_no_file(world: World, mara: Client) -> None:
    batch = small(world)
    preview = sent(mara, batch, answers(world))["Location"]
    read_previews()
    Batch.objects.update(closed_at=NOON)

    assert "its gold answers cannot be changed" in sent(mara, batch, answers(world)).content.decode()
    assert Upload.objects.count() == 1
    assert "so gold items cannot be added" in mara.post(preview).content.decode()
    assert not Job.objects.filter(kind="import_gold").exists()


def test_the_preview_of_another_batch_is_not_here(world: World, mara: Client) -> None:
    preview = sent(mara, small(world), answers(world))["Location"]
    other = world.batch(name="other", only=[examples(world)[3].external_id])

    address = preview.replace(preview.split("/")[2], other.public_id)

    assert mara.get(address).status_code == 404


def test_who_annotates_in_the_batch_learns_nothing_from_the_job(world: World, mara: Client) -> None:
    batch = small(world)
    preview = sent(mara, batch, answers(world) + '{"example": "nobody", "response": {}}\n')["Location"]
    read_previews()
    mara.post(preview)
    failed = Job.objects.get(kind="import_gold")
    assert jobs.run(failed.pk) == "failed"
    pages = [reverse(name, args=[failed.public_id]) for name in ("job", "api_job")]
    assert all("nobody" in mara.get(page).content.decode() for page in pages)
    membership = world.project.memberships.get(person=world.mara)
    membership.roles = [*membership.roles, "annotator"]
    membership.save()

    for page in pages:
        assert "nobody" not in mara.get(page).content.decode()
    assert mara.get(preview)["Location"] == reverse("batch", args=[batch.public_id])


def test_a_worker_that_is_lost_after_the_import_does_it_once(world: World, mara: Client) -> None:
    preview = sent(mara, small(world), answers(world))["Location"]
    read_previews()
    mara.post(preview)
    job = Job.objects.get(kind="import_gold")
    jobs.run(job.pk)
    times = set(Gold.objects.values_list("made_at", flat=True))
    Job.objects.filter(pk=job.pk).update(state="queued")

    assert jobs.run(job.pk) == "done"
    assert set(Gold.objects.values_list("made_at", flat=True)) == times
