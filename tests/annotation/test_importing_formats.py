"""Every format comes in through the command's function and through an upload, equal to what its reader gives."""

from __future__ import annotations

import html
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.imports import example_import
from annotation.management import doctor
from annotation.models import Example, Job, Source
from annotation.platform.refusals import ActionRefused
from tableqa.readers import READERS
from tests.annotation.cast import NOON, World
from tests.annotation.test_malformed_files import FORMS, laid_out
from tests.plugin import ROOT

RECORD: dict[str, Any] = {
    "id": "1",
    "question": "who won?",
    "answers": ["Ann"],
    "table": {"header": ["Name", "Wins"], "rows": [["Ann", "3"]], "title": "Cup"},
    "context": {"text": "A cup.", "scale": "million"},
    "history": [{"question": "who played?", "answers": ["Ann"]}],
    "program": {"op": "select", "column": "c0", "rows": {"op": "all_rows"}},
    "highlighted_cells": [["h", "c0"]],
    "rated_answer": {"text": "Ann won.", "system": "A"},
    "metrics": {"rouge": 0.25},
}
SUMMED = {
    "example_id": "s1",
    "query": "who won?",
    "summary": "Ann won.",
    "row_ids": [0],
    "table": {"title": "Cup", "table_id": "t1", "header": ["Name"], "rows": [["Ann"]]},
}
RATED = [{"example_id": "qtsumm_0", "model": "A", "model_output": "Ann won.", "metadata": SUMMED}]
SCORES = [{"example_id": "qtsumm_0", "model": "A", "score": 4.5}]
QUESTIONS = "id,question,table,answers\n1,who won?,cup.csv,Ann\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A file of each form of which there is no excerpt."""
    folder = tmp_path / "small"
    (folder / "scores" / "qtsumm" / "human_scores").mkdir(parents=True)
    (folder / "mine-dev.jsonl").write_text(json.dumps(RECORD) + "\n")
    (folder / "qtsumm-dev.json").write_text(json.dumps([SUMMED]))
    (folder / "model_outputs.json").write_text(json.dumps(RATED))
    human = folder / "scores" / "qtsumm" / "human_scores" / "human_faithfulness_scores.json"
    human.write_text(json.dumps(SCORES))
    item = {name: RECORD[name] for name in ("id", "question", "answers", "table")}
    (folder / "freb-dev.json").write_text(json.dumps({**item, "rel_cell": [[0, 0]]}) + "\n")
    (folder / "sheet-dev.csv").write_text(QUESTIONS)
    (folder / "cup.csv").write_text("Name,Wins\nAnn,3\n")
    (folder / "own-dev.csv").write_text(
        "Nr;Frage;Tabelle;Gold\n1;Wer gewann für Köln?;cup.csv;Ann\n", "cp1252"
    )
    (folder / "robut_wtq_qa.json").write_text(
        json.dumps([{**item, "table_id": "t", "perturbation_type": "row"}])
    )
    asked = json.loads((folder / "robut_wtq_qa.json").read_text())
    asked[0].pop("table")
    (folder / "robut_wtq_qa.json").write_text(json.dumps(asked))
    (folder / "robut_wtq_table.json").write_text(json.dumps({"t": item["table"]}))
    (folder / "facts-dev.json").write_text(json.dumps({"t.csv": [["Ann won."], [1], "Cup"]}))
    (folder / "all_csv").mkdir()
    (folder / "all_csv" / "t.csv").write_text("name#wins\nann#3\n")
    table = {**item["table"], "caption": "Cup"}
    table.pop("title", None)
    (folder / "suc-dev.jsonl").write_text(
        json.dumps({"title": "", "context": "", "table": table, "query": "who?", "label": "Ann"}) + "\n"
    )
    (folder / "labelled-dev.json").write_text(json.dumps([{"id": 1, "data": item, "annotations": []}]))
    laid_out(folder / "release", FORMS["askew"])
    import pyarrow
    from pyarrow import parquet

    rows = pyarrow.Table.from_pylist([item])
    parquet.write_table(rows, folder / "rows-dev.parquet")
    (folder / "saved").mkdir()
    with pyarrow.ipc.new_stream(folder / "saved" / "data-00000-of-00001.arrow", rows.schema) as out:
        out.write_table(rows)
    (folder / "saved" / "dataset_info.json").write_text("{}")
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (folder / "saved" / "state.json").write_text(json.dumps(state))
    return folder


FIXTURES = ROOT / "fixtures"
FILES = {
    "wtq": FIXTURES / "wtq" / "excerpt-dev.tsv",
    "sqa": FIXTURES / "sqa" / "excerpt-dev.tsv",
    "wikisql": FIXTURES / "wikisql" / "excerpt-dev.jsonl",
    "tat_qa": FIXTURES / "tat_qa" / "excerpt-dev.json",
    "fetaqa": FIXTURES / "fetaqa" / "excerpt-dev.jsonl",
    "qtsumm": Path("qtsumm-dev.json"),
    "freb_tqa": Path("freb-dev.json"),
    "lftqa": Path("model_outputs.json"),
    "jsonl": Path("mine-dev.jsonl"),
    "csv": Path("sheet-dev.csv"),
    "own": Path("own-dev.csv"),
    "robut": Path("robut_wtq_qa.json"),
    "tabfact": Path("facts-dev.json"),
    "suc": Path("suc-dev.jsonl"),
    "label_studio": Path("labelled-dev.json"),
    "askew": Path("release/manifest.json"),
    "parquet": Path("rows-dev.parquet"),
    "hf": Path("saved/dataset_info.json"),
}
"""A file of questions for each reader; a name alone lies in the folder of the small ones."""

BESIDE = {
    "wtq": ("csv/**/*.csv",),
    "sqa": ("table_csv/*.csv",),
    "wikisql": ("*.tables.jsonl",),
    "lftqa": ("scores/**/*.json",),
    "csv": ("cup.csv",),
    "own": ("cup.csv",),
    "robut": ("robut_wtq_table.json",),
    "tabfact": ("all_csv/*.csv",),
    "askew": ("*.jsonl",),
    "hf": ("*.arrow", "state.json", "dataset_info.json"),
}
"""What lies beside the questions of a reader."""


def test_no_reader_is_left_out() -> None:
    assert set(FILES) == set(READERS)


@pytest.mark.django_db
@pytest.mark.parametrize("name", FILES)
def test_a_format_comes_in_equal_to_its_reader(world: World, small: Path, name: str) -> None:
    path = small / FILES[name]
    done = example_import.import_examples(
        project=world.project, reader=name, path=path, name=f"from {name}", now=NOON
    )
    rows = Example.objects.filter(source=done.source).select_related("stored_table").order_by("position")
    expected = list(READERS[name](path))
    assert [row.example() for row in rows] == expected
    assert (done.examples, done.new) == (len(expected), True)
    assert list(doctor.findings()) == []
    again = example_import.import_examples(
        project=world.project, reader=name, path=path, name=f"from {name}", now=NOON
    )
    assert not again.new


def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def packed(folder: Path, patterns: tuple[str, ...], top: str = "") -> io.BytesIO:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as inside:
        for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
            inside.write(path, top + path.relative_to(folder).as_posix())
    archive.seek(0)
    archive.name = "beside.zip"
    return archive


@pytest.mark.django_db
@pytest.mark.parametrize("name", FILES)
def test_a_format_can_be_chosen_on_the_page_with_what_it_needs_and_no_more(
    world: World, small: Path, name: str, django_capture_on_commit_callbacks: Any
) -> None:
    path = small / FILES[name]
    questions = SimpleUploadedFile(f"{name}-up-{path.name}", path.read_bytes())
    sent: dict[str, Any] = {"reader": name, "questions": questions}
    if name in BESIDE:
        # As it is in the release, and as an archive of it unpacks: below a folder of its own.
        sent["tables"] = packed(
            path.parent, BESIDE[name], top="release/" if name in ("wikisql", "lftqa") else ""
        )
    assert bool(READERS[name].beside) == (name in BESIDE)
    with django_capture_on_commit_callbacks(execute=True):
        mara(world).post(reverse("import_new", args=[world.project.slug]), sent)
    job = Job.objects.latest("pk")
    assert (job.state, job.error) == ("done", "")
    source = Source.objects.get(public_id=job.result["source"])
    rows = Example.objects.filter(source=source).select_related("stored_table").order_by("position")
    assert [row.example() for row in rows] == list(READERS[name](path))


@pytest.mark.django_db
def test_the_import_says_in_which_form_a_file_of_ones_own_was_read(
    world: World, small: Path, capsys: pytest.CaptureFixture[str], django_capture_on_commit_callbacks: Any
) -> None:
    path = small / FILES["own"]
    sentence = (
        "own-dev.csv was read as semicolon-separated, Windows-1252 (für, Köln). "
        "Columns: id = Nr, question = Frage, answers = Gold, table = Tabelle."
    )
    sent = {
        "reader": "own",
        "name": "from the page",
        "questions": SimpleUploadedFile(path.name, path.read_bytes()),
        "tables": packed(small, ("cup.csv",)),
    }
    with django_capture_on_commit_callbacks(execute=True):
        mara(world).post(reverse("import_new", args=[world.project.slug]), sent)
    page = mara(world).get(reverse("job", args=[Job.objects.latest("pk").public_id]))
    assert sentence in html.unescape(page.content.decode())

    call_command("import_examples", str(path), "--project", world.project.slug, "--reader", "own")
    assert sentence in capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["sqa", "wikisql", "csv", "own"])
def test_an_upload_without_the_tables_says_what_to_send(
    world: World, small: Path, name: str, django_capture_on_commit_callbacks: Any
) -> None:
    path = small / FILES[name]
    sent = {"reader": name, "questions": SimpleUploadedFile(path.name, path.read_bytes())}
    with django_capture_on_commit_callbacks(execute=True):
        mara(world).post(reverse("import_new", args=[world.project.slug]), sent)
    job = Job.objects.latest("pk")
    assert job.state == "failed"
    assert "zip archive" in job.error
    assert "/tmp" not in job.error


@pytest.mark.django_db
def test_the_page_says_of_every_format_what_lies_beside_it(world: World) -> None:
    response = mara(world).get(reverse("import_new", args=[world.project.slug]))
    page = html.unescape(response.content.decode())
    for reader in READERS.values():
        assert reader.title in page
        assert reader.beside in page
    assert "not stated" in page
    assert "NOASSERTION" not in page


@pytest.mark.django_db
def test_one_name_is_one_collection(world: World, small: Path) -> None:
    """WikiTableQuestions and SQA call their files alike; a release gives the licence and credit of a name once."""
    questions = FILES["sqa"]
    with pytest.raises(ActionRefused, match=r"'films-dev' already exists, from WikiTableQuestions.*--name"):
        example_import.import_examples(
            project=world.project, reader="sqa", path=questions, name=world.source.name, now=NOON
        )
    assert Source.objects.count() == 1


@pytest.mark.django_db
def test_a_project_says_under_which_names_its_records_hold_what(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export.json"
    data = {"frage": "wer?", "tabelle": [["Name"], ["Ann"]], "gold": ["Ann"]}
    path.write_text(json.dumps([{"id": 1, "data": data}, {"id": 1, "data": data}]))
    command = ["import_examples", str(path), "--project", world.project.slug, "--reader", "label_studio"]
    told = ["--field", "question=frage", "--field", "table=tabelle", "--field", "answers=gold"]
    call_command(*command, *told)
    said = capsys.readouterr().out
    assert "1 repeated ids got a number as suffix: 1#2." in said
    rows = Example.objects.filter(source__name="export").select_related("stored_table").order_by("position")
    assert [(row.external_id, row.question, row.answers) for row in rows] == [
        ("1", "wer?", ["Ann"]),
        ("1#2", "wer?", ["Ann"]),
    ]
    with pytest.raises(ActionRefused, match="no part 'frage'"):
        example_import.import_examples(
            project=world.project, reader="label_studio", path=path, fields={"frage": "x"}, now=NOON
        )
    with pytest.raises(
        ActionRefused,
        match=r"has fixed field names. Readers with custom fields: hf, label_studio, own, parquet",
    ):
        example_import.import_examples(
            project=world.project, reader="wtq", path=path, fields={"question": "x"}, now=NOON
        )


@pytest.mark.django_db
def test_each_split_of_an_archive_is_imported_alone_by_its_name(world: World, tmp_path: Path) -> None:
    path = tmp_path / "wins.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.md", "---\nlicense: cc-by-4.0\n---\n")
        for split in ("train", "test"):
            record = {"id": 1, "question": f"in {split}?", "table": [["A"], ["1"]]}
            archive.writestr(f"data/{split}.jsonl", json.dumps(record))

    for split in ("test", "train"):
        arguments = ("--project", world.project.slug, "--reader", "own", "--split", split, "--name", split)
        call_command("import_examples", str(path), *arguments)

    for split in ("test", "train"):
        source = Source.objects.get(name=split)
        assert (source.split, source.licence) == (split, "CC-BY-4.0")
        assert [example.question for example in source.examples.all()] == [f"in {split}?"]
