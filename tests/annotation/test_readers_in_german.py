"""What readers say of a fault is in the reader's language: on the page of a preview, of a job, and in the API's refusal."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.background import uploads
from annotation.imports import example_import
from annotation.models import Job
from annotation.platform.refusals import ActionRefused
from tableqa.core.translation import translate_stored
from tests.annotation.cast import NOON, World
from tests.annotation.previews import importer
from tests.annotation.test_badly_formed_inputs import CASES, bring_in
from tests.annotation.test_german_is_whole import english_in

GERMAN: Any = {"HTTP_ACCEPT_LANGUAGE": "de"}
READERS = sorted((settings.BASE_DIR / "tableqa" / "readers").glob("*.py"))
SENTENCE = re.compile(r"[a-z]{2,} [a-z]{2,}")
MARKED = {"phrase", "gettext_noop", "ValueError"}
"""What marks a sentence for translators; ValueErrors are faults of callers, or hold such a sentence."""


def bare_sentences(path: Path) -> list[str]:
    """f-strings with words in them that no catalogue can have."""
    tree = ast.parse(path.read_text("utf-8"))
    return [
        ast.unparse(node)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in FAULTS
        for argument in call.args
        for node in ast.walk(argument)
        if isinstance(node, ast.JoinedStr)
        and SENTENCE.search(
            "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        )
    ]


FAULTS = {"ReaderError", "error", "_fault", "only_file"}


@pytest.mark.parametrize("path", READERS, ids=lambda path: path.stem)
def test_no_fault_is_an_f_string(path: Path) -> None:
    assert bare_sentences(path) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.refused and name != "no such file"]
)
def test_a_refusal_of_an_import_is_german(world: World, tmp_path: Path, name: str) -> None:
    with pytest.raises(ActionRefused) as refused, translation.override("de"):
        bring_in(world, tmp_path, CASES[name])
    with translation.override("de"):
        problems = refused.value.more.get("problems", [])
        sentences = [
            refused.value.detail,
            *(translate_stored(one[part]) for one in problems for part in ("what", "fix")),
        ]

    ours = [text.replace(str(tmp_path), "") for text in sentences]
    assert [one for text in ours for one in english_in(f"<p>{text}</p>")] == []


@pytest.mark.django_db
def test_a_refusal_stays_english_where_the_reader_is(world: World, tmp_path: Path) -> None:
    with pytest.raises(ActionRefused) as refused:
        bring_in(world, tmp_path, CASES["a duplicate id"])

    assert refused.value.detail.endswith(
        "q.csv, line 3, id 1: the id 1 is already in line 2. Give each question its own id, or choose (none) for the id "
        "to number the records."
    )


@pytest.fixture
def mara(world: World) -> Client:
    return importer(world.mara)


FAULTY = b"id,question,table\n1,Wer?,nirgends.csv\n1,,\n,Wo?\n"


@pytest.mark.django_db(transaction=True)
def test_the_pages_of_a_refused_import_show_no_english_sentence(world: World, mara: Client) -> None:
    file = SimpleUploadedFile("fragen.csv", FAULTY)
    upload = uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
    preview = reverse("import_preview", args=[world.project.slug, upload.public_id])
    page = mara.get(preview, **GERMAN).content.decode()
    job = example_import.start_import(
        project=world.project, reader="own", questions=upload, tables=None, by=world.mara, now=NOON
    )
    refused = mara.get(reverse("job", args=[job.public_id]), **GERMAN).content.decode()
    job.refresh_from_db()

    assert job.state == Job.State.FAILED
    assert "die Datei der Tabelle" in page
    assert "die Datei der Tabelle" in refused
    assert english_in(page.replace('dir="auto"', "")) == []
    assert english_in(refused.replace('dir="auto"', "")) == []
    assert "the file of the table nirgends.csv is missing" in mara.get(preview).content.decode()


@pytest.mark.django_db(transaction=True)
def test_how_a_file_was_read_is_german(world: World, mara: Client) -> None:
    file = SimpleUploadedFile("fragen.csv", b"question;table\nWer?;a,b|1,2\n".replace(b"|", b" "))
    upload = uploads.keep(project=world.project, file=file, by=world.mara, now=NOON)
    preview = reverse("import_preview", args=[world.project.slug, upload.public_id])

    assert "mit dem Trennzeichen Semikolon gelesen" in mara.get(preview, **GERMAN).content.decode()
