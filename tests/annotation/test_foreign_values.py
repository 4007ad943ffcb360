"""Values that other programs wrote, beside question, cells and answers: stored as they are, or refused with their place.

The same on both databases. The rules are tested in tests/tableqa/test_foreign_values.py, mutated files in
tests/attacks/test_mutated_imports.py.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.background import jobs
from annotation.imports import example_import, mapping_file, response_import
from annotation.imports.response_preview import Preview
from annotation.management.commands._escaping import BaseCommand
from annotation.models import Annotation, Assignment, Batch, Event, Example, Job, Person, Source
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, restoration
from annotation.study_file import parser
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import projects, task_types
from tableqa.readers import READERS
from tableqa.readers.interface import Credit, ReaderError
from tableqa.readers.responses import TOOLS
from tests.annotation import labels
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.test_defining import DEFINITION, batch_of, define
from tests.annotation.test_transfer import annotation, choice, label_studio, task
from tests.undone import undone

pytestmark = pytest.mark.both

TABLE = {"header": ["a"], "rows": [["x"]]}
RECORD: dict[str, Any] = {"id": "1", "question": "q?", "answers": ["x"], "table": TABLE}


def records(folder: Path, *lines: dict[str, Any], name: str = "dev.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def examples_in(world: World, path: Path, reader: str = "own", **options: Any) -> example_import.ImportResult:
    return example_import.import_examples(
        project=world.project, reader=reader, path=path, now=NOON, **options
    )


def said(command: str, *arguments: Any) -> str:
    """What a command prints, as bytes of a terminal in UTF-8."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    try:
        call_command(command, *map(str, arguments), stdout=out, stderr=out)
    except CommandError as error:
        BaseCommand(stdout=out).stdout.write(str(error))
    return out.buffer.getvalue().decode()


# -- labels -----------------------------------------------------------------------------------------


@pytest.fixture
def batch(world: World) -> Batch:
    return world.batch(overlap=3)


@pytest.mark.parametrize(
    "lines",
    [
        ",example,annotator,label\n0,nu-2,Xenia,extraction\n",
        ",example,annotator,label\n20200101,nu-2,Xenia,extraction\n20200102,nu-2,Yuri,reasoning\n",
        "example,annotator,label,\nnu-2,Xenia,extraction,2020-01-01T00:00:00+00:00\n",
        'example,annotator,label,\nnu-2,Xenia,extraction,"{""tool"": ""x""}"\n',
    ],
    ids=["labels_index", "labels_eight_digits", "a time behind the last column", "an origin there"],
)
def test_a_column_without_a_name_is_no_time_origin_or_seconds(batch: Batch, lines: str) -> None:
    done = labels.write(batch=batch, text=lines, by=None, now=NOON)

    assert done.left_out == "The column without a name is left out."
    rows = Annotation.objects.filter(assignment__batch=batch)
    assert {(row.made_at, row.active_seconds) for row in rows} == {(NOON, 0)}
    events = Event.objects.filter(thing="assignment", thing_id__in=rows.values("assignment"))
    assert [event.detail for event in events] == [None] * done.new


def test_page_and_command_say_that_a_column_without_a_name_is_left_out(
    world: World, batch: Batch, tmp_path: Path
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(",example,annotator,label\n0,nu-2,Xenia,extraction\n")
    client = Client()
    client.force_login(world.mara)

    with path.open("rb") as file:
        address = client.post(reverse("labels_elsewhere", args=[batch.public_id]), {"file": file})["Location"]
    jobs.run(Job.objects.get().pk)
    page = client.get(address)
    printed = said("import_labels", path, "--project", "films", "--batch", batch.name, "--look")

    assert "The column without a name is left out." in page.content.decode()
    assert "The column without a name is left out." in printed


@pytest.mark.parametrize("column", ["made_at", "origin", "seconds", "active_seconds"])
def test_a_column_that_nobody_expects_is_a_field_of_the_response(batch: Batch, column: str) -> None:
    lines = f"example,annotator,label,{column}\nnu-2,Xenia,extraction,20200101\n"

    found = labels.look(batch=batch, text=lines)

    assert [trouble.line for trouble in found.problems] == [2]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nu-\0,Xenia,extraction,", "a NUL character"),
        ("nu-\ud800,Xenia,extraction,", "UTF-8 but for some bytes"),
        ("nu-2,Xenia,extraction,\0", "a NUL character"),
    ],
)
def test_a_file_of_labels_that_is_no_text_is_refused_with_the_line(
    batch: Batch, line: str, reason: str
) -> None:
    with pytest.raises(ActionRefused, match=rf"labels.csv, line 3: .*{reason}"):
        labels.look(batch=batch, text=f"example,annotator,label,\nnu-1,Yuri,extraction,\n{line}\n")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nu-2,Xen\x1bia,extraction,", "a control character"),
        ('nu-2,Xenia,,"{""label"": ""\\u0000""}"', "a NUL character"),
        ('nu-2,Xenia,"""\\ud800""",', "an unpaired surrogate"),
        ('nu-2,Xenia,,"{""label"": NaN}"', "NaN"),
    ],
)
def test_a_line_of_labels_that_cannot_be_stored_is_named(batch: Batch, line: str, reason: str) -> None:
    text = f"example,annotator,label,response\nnu-1,Yuri,extraction,\n{line}\n"

    found = labels.look(batch=batch, text=text)

    assert [trouble.line for trouble in found.problems] == [3]
    assert reason in found.problems[0].what


def test_an_accent_has_one_spelling_in_names_and_options_and_stays_in_texts(world: World) -> None:
    fields = [
        {"name": "kind", "type": "choice", "label": "Kind", "options": ["caf\u00e9", "bar"]},
        {"name": "why", "type": "text", "label": "Why"},
    ]
    batch = batch_of(world, define(world, fields=fields, agreement={}))
    lines = "example,annotator,kind,why\nnu-2,Jose\u0301,cafe\u0301,x\nnu-1,Jos\u00e9,bar,cafe\u0301\n"

    labels.write(batch=batch, text=lines, by=None, now=NOON)

    rows = Annotation.objects.filter(assignment__batch=batch)
    assert {row.assignment.person.name for row in rows} == {"Jos\u00e9"}
    assert sorted((data["kind"], data["why"]) for row in rows if (data := (row.response or {})["data"])) == [
        ("bar", "cafe\u0301"),
        ("caf\u00e9", "x"),
    ]


# -- examples ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "where", "reason"),
    [
        ({"note": "a\0b"}, "note", "a NUL character"),
        ({"a\0": 1}, "a\\u0000", "a NUL character"),
        ({"note": {"deep": ["\ud83d"]}}, "note.deep[0]", "an unpaired surrogate"),
        ({"\ud83d": 1}, "\\ud83d", "an unpaired surrogate"),
        ({"split": "\ud83d"}, "split", "an unpaired surrogate"),
        ({"note": 1e400}, "note", "a number that is infinite"),
    ],
)
def test_another_column_that_cannot_be_stored_is_a_problem_of_its_record(
    world: World, tmp_path: Path, more: dict[str, Any], where: str, reason: str
) -> None:
    path = records(tmp_path, {**RECORD, **more}, {**RECORD, "id": "2"})
    path.write_text(path.read_text().replace("Infinity", "1e400"))
    rest = tmp_path / "rest.jsonl"

    with pytest.raises(ActionRefused) as refused:
        examples_in(world, path, only_check=True, rest=rest)
    done = examples_in(world, path, good_only=True, name="good")

    (problem,) = refused.value.more["problems"]
    assert problem["line"] == 1
    assert f"{where} contains {reason}" in problem["what"]
    assert (done.examples, done.report.rejected) == (1, 1)
    again = json.loads(rest.read_bytes())
    assert {name: again[name] for name in more} == more


@pytest.mark.parametrize("part", ["question", "table", "key", "split", "id"])
def test_a_lone_surrogate_is_listed_by_check_page_job_and_file(
    world: World, tmp_path: Path, part: str, settings: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    changes: dict[str, dict[str, Any]] = {
        "question": {"question": "who \ud800?"},
        "table": {"table": {"header": ["a\ud800"], "rows": [["x"]]}},
        "key": {"k\ud800": "x"},
        "split": {"split": "d\ud800"},
        "id": {"id": "i\ud800"},
    }
    path = records(tmp_path, {**RECORD, **changes[part]})
    client = importer(world.mara)

    file = SimpleUploadedFile("dev.jsonl", path.read_bytes())
    sent = client.post(reverse("import_new", args=["films"]), {"questions": file})
    page = client.get(sent["Location"])
    client.post(sent["Location"], {"act": "check", "reader": "own", "name": "s"})
    printed = said("import_examples", path, "--project", "films", "--reader", "own", "--check")
    for form in ("rest.csv", "rest.jsonl"):
        with pytest.raises(ActionRefused):
            examples_in(world, path, rest=tmp_path / form)
        assert "\\ud800" in (tmp_path / form).read_bytes().decode()

    assert page.status_code == 200
    assert "unpaired surrogate" in page.content.decode()
    assert "unpaired surrogate" in printed


def test_numbers_and_null_of_other_columns_are_kept_as_they_are(world: World, tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    numbers = '"n": [9007199254740993, 12345678901234567890.10, 0.1000, null, 1e3], "t": "\\u001b\\u2028"'
    path.write_text(json.dumps(RECORD)[:-1] + f", {numbers}}}\n")

    done = examples_in(world, path)

    meta = Example.objects.get(source=done.source).example().meta
    assert list(meta["n"]) == [9007199254740993, "12345678901234567890.10", 0.1, None, 1000]
    assert meta["t"] == "\x1b\u2028"


@pytest.mark.parametrize("reader", ["own", "parquet"])
def test_a_column_without_a_name_is_no_context(world: World, tmp_path: Path, reader: str) -> None:
    rows = [{"": "20200101", "id": "1", "question": "q?", "table": "a,b\nx,y", "answers": "x"}]
    if reader == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        path = tmp_path / "dev.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path = tmp_path / "dev.csv"
        path.write_text(',id,question,table,answers\n20200101,1,q?,"a,b\nx,y",x\n')

    (example,) = READERS[reader](path)

    assert example.context is None
    assert dict(example.meta) == {"": "20200101"}


def test_not_a_number_of_parquet_is_null_and_no_word(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, nan = tmp_path / "dev.parquet", float("nan")
    row = {"id": "1", "question": "q?", "table": "a,b\nx,y", "answers": "x", "n": nan}
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    (example,) = READERS["parquet"](path)
    assert dict(example.meta) == {"n": None}

    for part, held in (("n", float("inf")), ("answers", nan), ("table", {"header": ["a"], "rows": [[nan]]})):
        parquet.write_table(pyarrow.Table.from_pylist([{**row, part: held}]), path)
        if part == "answers":
            assert next(READERS["parquet"](path)).answers == ()
        else:
            with pytest.raises(ReaderError):
                list(READERS["parquet"](path))


@pytest.mark.parametrize("value", ["s\0", "s\ud800"])
def test_names_of_an_import_that_cannot_be_stored_are_refused(
    world: World, tmp_path: Path, value: str
) -> None:
    path = records(tmp_path, RECORD)

    for options in (
        {"name": value},
        {"credit": Credit("", value, "")},
        {"fields": {"question": value}},
    ):
        with pytest.raises(ActionRefused, match="which cannot be saved"):
            examples_in(world, path, **options)
    with pytest.raises(ActionRefused, match="which cannot be saved"):
        mapping_file.parse({"values": {"label": {value: "x"}}})
    assert not Source.objects.filter(name__startswith="s").exists()


# -- responses of other tools -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda given: choice("why", "ok \ud83d"), "an unpaired surrogate"),
        (lambda given: choice("why\0", "ok"), "a NUL character"),
    ],
)
def test_a_response_that_cannot_be_stored_is_shown_escaped_and_listed(
    world: World, tmp_path: Path, change: Any, reason: str, settings: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    path = label_studio(tmp_path, task(1, annotation(1, change(None)), annotation(2, choice("why", "fine"))))
    client = Client()
    client.force_login(world.mara)

    printed = said("import_responses", path, "--project", "films", "--tool", "label_studio", "--look")
    file = SimpleUploadedFile("export.json", path.read_bytes())
    sent = client.post(reverse("import_responses", args=["films"]), {"tool": "label_studio", "file": file})
    sent = client.get(sent["Location"])
    jobs.run(Job.objects.get().pk)
    page = client.get(sent["Location"]).content.decode()

    for shown in (printed, page):
        assert f"the response contains {reason}" in shown
        assert "\\ud83d" in shown or "\\u0000" in shown
    with pytest.raises(ActionRefused, match=reason):
        _responses(world, path, response_import.write)
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("name", ["id", "completed_by"])
def test_ids_and_people_of_a_tool_that_cannot_be_stored_are_refused(
    world: World, tmp_path: Path, name: str
) -> None:
    label = choice("label", "extraction")
    path = label_studio(tmp_path, task(1, {**annotation("x@y.z", label), name: "a\0"}))

    with pytest.raises(ActionRefused, match="the response contains a NUL character"):
        _responses(world, path, response_import.write)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", -1e11, 1e11, 1.7e12]
)
def test_a_time_that_no_response_has_is_that_of_the_import(world: World, tmp_path: Path, at: Any) -> None:
    label = choice("label", "extraction")
    path = label_studio(tmp_path, task(1, {**annotation(1, label), "created_at": at}))

    done = _responses(world, path, response_import.write)

    assert done.summary.without_time == 1
    assert Annotation.objects.get().made_at == NOON


@pytest.mark.parametrize("text", ["\u00b2", "--5", "9" * 5000, "\u0663"])
def test_a_text_of_digits_that_is_no_number_is_no_number_of_potato(tmp_path: Path, text: str) -> None:
    state = {"user_id": "a", "instance_id_to_label_to_value": {"1": [[{"schema": "s", "name": text}, text]]}}
    (tmp_path / "user_state.json").write_text(json.dumps(state))

    ((response,),) = [task.responses for task in TOOLS["potato"].tasks(tmp_path)]

    assert response.values == {"s": text}


def test_options_of_a_tool_that_differ_in_the_encoding_of_an_accent_are_one(
    world: World, tmp_path: Path
) -> None:
    given = [annotation(1, choice("kind", "caf\u00e9")), annotation(2, choice("kind", "cafe\u0301"))]
    path = label_studio(tmp_path, task(1, *given))

    done = _responses(world, path, response_import.write)

    assert done.summary.columns["kind"].values == {"caf\u00e9": 2}
    assert [(row.response or {})["data"] for row in Annotation.objects.all()] == [{"kind": "caf\u00e9"}] * 2


# -- releases, definitions, study files -------------------------------------------------------------


def test_a_release_with_a_text_that_cannot_be_stored_is_not_restored(world: World, tmp_path: Path) -> None:
    batch = world.batch(overlap=1)
    labels.write(batch=batch, text="example,annotator,label\nnu-2,Xi,extraction\n", by=None, now=NOON)
    folder = tmp_path / "v1"
    creation.make_release(
        project=world.project, now=NOON, out=folder, name="v1", format="askew", by=None, allow_simulated=True
    )
    _change(folder, "sources.jsonl", '"question":"', '"question":"\\u0000')
    with undone():
        manager = Person.objects.create_person("Mia", "mia@example.org")
        project = projects.create_project(slug="again", name="Again", manager=manager, now=NOON)

        with pytest.raises(ActionRefused, match=r"does not verify.*contains a NUL character"):
            restoration.restore(project=project, folder=folder, by=None, now=NOON)

        assert not project.sources.exists()


@pytest.mark.parametrize("value", ["a\0", "\ud800", float("inf")])
def test_a_definition_or_study_with_a_value_that_cannot_be_stored_is_refused(
    world: World, value: Any
) -> None:
    with pytest.raises(ActionRefused, match="which cannot be saved"):
        task_types.define(
            project=world.project,
            name="x",
            data={**DEFINITION, "extra": {"a": [value]}},
            by=world.mara,
            now=NOON,
        )
    spelled = "1.0e999" if isinstance(value, float) else json.dumps(value)
    with pytest.raises(StudyError) as wrong:
        parser.parse(f"askew: 1\nproject: {{name: {spelled}}}\nx{spelled}: {spelled}\n")
    str(wrong.value).encode()


# -- what commands print ----------------------------------------------------------------------------


def test_commands_escape_what_a_terminal_obeys_or_cannot_write() -> None:
    for encoding, shown in (
        ("utf-8", "é\\u001b[2J\\ud83d\\u000d\n"),
        ("ascii", "\\xe9\\u001b[2J\\ud83d\\u000d\n"),
    ):
        out = io.TextIOWrapper(io.BytesIO(), encoding, write_through=True, newline="")
        command = BaseCommand(stdout=out, stderr=out)
        command.stdout.write("é\x1b[2J\ud83d\r")
        command.stderr.write("\r1 of 2", ending="")
        assert out.buffer.getvalue().decode() == shown + "\r1 of 2"


def test_every_command_prints_through_the_escaping_writer() -> None:
    from django.core.management import get_commands, load_command_class

    own = [name for name, app in get_commands().items() if app == "annotation" and name != "migrate"]
    assert len(own) > 20
    assert [name for name in own if not isinstance(load_command_class("annotation", name), BaseCommand)] == []


def _responses(world: World, path: Path, function: Any) -> Preview:
    mapping = mapping_file.parse({})
    return function(
        project=world.project, path=path, tool="label_studio", mapping=mapping, by=world.mara, now=NOON
    )


def _change(folder: Path, name: str, old: str, new: str) -> None:
    """Change a file of a release, and what its manifest says of it."""
    path, manifest = folder / name, folder / "manifest.json"
    before = path.read_bytes()
    after = before.replace(old.encode(), new.encode(), 1)
    assert after != before
    path.write_bytes(after)
    said = json.loads(manifest.read_text())
    said["files"][name] |= {"sha256": hashlib.sha256(after).hexdigest(), "bytes": len(after)}
    manifest.write_text(json.dumps(said))
