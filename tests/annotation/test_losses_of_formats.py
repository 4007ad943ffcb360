"""Before and after an import, people and programs learn what of a format it does not keep."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from annotation.imports import example_import
from annotation.models import Example, Job
from tableqa.readers import READERS
from tableqa.readers.omissions import LOSSES, columns_of, losses
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.test_importing_formats import BESIDE, FILES, packed, small  # noqa: F401

NAMED = {
    "freb_tqa": ("Splits:", "Lineage:"),
    "robut": ("Splits:", "Lineage:"),
    "lftqa": ("Splits:", "Responses:", "Empty answers"),
    "suc": ("Splits:", "Lineage:"),
    "wtq": ("Splits:", "Other files"),
    "tat_qa": ("Splits:", "Documents"),
    "askew": ("Batches, responses", "Lineage:"),
    "own": ("Splits:", "Responses"),
}
HAPPENS = {
    "robut": ("Lineage:",),
    "wtq": ("Splits:", "Other files"),
    "own": (),
    "label_studio": (),
}
"""What is lost of the small files: the one of RobuT names no split, and those of one's own have no people."""


def test_every_format_says_what_an_import_does_not_keep() -> None:
    assert LOSSES.keys() == READERS.keys()
    assert all(LOSSES.values())


@pytest.mark.parametrize("name", NAMED)
def test_the_sentences_of_a_format_name_what_is_lost(name: str) -> None:
    for word in NAMED[name]:
        assert any(sentence.startswith(word) for sentence in LOSSES[name])


@pytest.mark.parametrize(
    ("reader", "split", "meta", "lost"),
    [
        ("wtq", "", {"context": "csv/1.csv"}, ["Other"]),
        ("wtq", "dev", {"context": "csv/1.csv"}, ["Splits:", "Other"]),
        ("wikisql", "", {"split": "dev", "phase": 1}, ["Splits:", "Fields"]),
        ("own", "", {"level": "easy"}, []),
        ("own", "", {"split": "dev"}, ["Splits:"]),
        ("own", "", {"split": ""}, []),
        ("own", "", {"annotator_id": 3}, ["Responses"]),
        ("own", "", {"WorkerId": "A1"}, ["Responses"]),
        ("own", "", {"annotations": []}, []),
        ("hf", "", {"votes": {"annotator": "ann", "at": "noon"}}, ["Responses"]),
        ("label_studio", "", {"label_studio": {"annotations": [], "predictions": [{"score": 1}]}}, []),
        ("label_studio", "", {"label_studio": {"annotations": [{"id": 1}]}}, ["Responses"]),
        ("lftqa", "", {"rated_answer": {"text": "a"}}, ["Fields", "Empty"]),
        ("lftqa", "", {"human": {"faithfulness": 4.5}}, ["Fields", "Responses:", "Empty"]),
    ],
)
def test_a_loss_is_listed_only_where_it_happens(
    reader: str, split: str, meta: dict[str, Any], lost: list[str]
) -> None:
    listed = losses(reader, split, columns_of([meta, {}]))

    assert [sentence.split()[0].rstrip(".") for sentence in listed] == lost


@pytest.mark.django_db
@pytest.mark.parametrize("name", HAPPENS)
def test_preview_job_and_source_say_what_is_not_imported(
    world: World,
    small: Path,  # noqa: F811
    name: str,
    django_capture_on_commit_callbacks: Any,
) -> None:
    path, client = small / FILES[name], importer(world.mara)
    files = {
        "questions": SimpleUploadedFile(path.name, path.read_bytes()),
        "tables": packed(path.parent, BESIDE.get(name, ())),
    }

    address = client.post(reverse("import_new", args=["films"]), files)["Location"]
    preview = client.get(address)
    form = preview.context["form"]
    sent = {field: str(form[field].value() or "") for field in form.fields}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, sent | {"act": "import"})

    job = Job.objects.latest("pk")
    assert (job.state, job.error) == ("done", "")
    after = client.get(f"/jobs/{job.public_id}/")
    source = client.get(f"/sources/{job.result['source']}/")
    assert preview.context["preview"].reader == name
    found = client.get(f"/api/jobs/{job.public_id}/").json()["result"]["losses"]
    assert len(found) == len(HAPPENS[name])
    assert all(map(str.startswith, found, HAPPENS[name]))
    for page in (preview, after, source):
        text = html.unescape(page.content.decode())
        assert ("Not imported:" in text) == bool(found)
        assert [loss for loss in LOSSES[name] if loss in text] == found


@pytest.mark.django_db
def test_people_and_splits_in_the_columns_of_a_file_are_said_to_be_lost(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text('id,question,table,split,annotator\n1,who?,"[[""A""],[""b""]]",dev,Ann\n')
    sentences = [loss for loss in LOSSES["own"] if loss.startswith(("Splits:", "Responses"))]

    client = importer(world.mara)
    started = client.post(
        reverse("import_new", args=["films"]),
        {"questions": SimpleUploadedFile(path.name, path.read_bytes())},
    )
    preview = html.unescape(client.get(started["Location"]).content.decode())
    call_command("import_examples", str(path), "--project", "films", "--reader", "own")
    printed = capsys.readouterr().out

    assert len(sentences) == 2
    for sentence in sentences:
        assert sentence in preview
        assert sentence in printed


@pytest.mark.django_db
def test_the_command_says_it(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_examples", str(FILES["wtq"]), "--project", "films", "--reader", "wtq")

    printed = capsys.readouterr().out
    assert "Not imported:" in printed
    for loss in LOSSES["wtq"]:
        assert loss in printed


@pytest.mark.django_db
def test_the_command_is_silent_where_nothing_is_lost(
    world: World,
    small: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("import_examples", str(small / FILES["own"]), "--project", "films", "--reader", "own")

    assert "Not imported:" not in capsys.readouterr().out


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["freb_tqa", "robut"])
def test_perturbed_examples_of_publications_are_originals(
    world: World,
    small: Path,  # noqa: F811
    name: str,
) -> None:
    done = example_import.import_examples(
        project=world.project, reader=name, path=small / FILES[name], now=NOON
    )

    examples = Example.objects.filter(source=done.source)
    assert examples.exists()
    assert not examples.exclude(parent=None).exists()
    if name == "robut":
        assert all("perturbation_type" in example.more["meta"] for example in examples)
