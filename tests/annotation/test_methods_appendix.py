"""The methods appendix says what a release knows of how it was made, and names what nobody recorded."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client

from annotation.models import Person, Release
from annotation.payments import data_statement
from annotation.releases import creation, methods_appendix
from annotation.web.views.pages import kind_instruction
from annotation.workflow import adjudication, automatic_decisions, batches
from tableqa import Example, Table
from tableqa.writers.documents import Heading, Items, Paragraph, Picture, Quotation, as_latex
from tests.annotation.cast import NOON, World, make_world
from tests.latex_structure import check

TABLE = Table(["Film", "Minutes"], [["Heat", "170"]])
LATER = NOON + timedelta(seconds=61)
PROJECT = "/projects/films/methods/"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def studied(tmp_path: Path) -> World:
    """Labels by three people, one of them decided by Ivo, one excluded by him, and an accepted edit."""
    world = make_world(tmp_path)
    labels = world.batch("question_type", size=3, name="Types & more")
    for who, said in {"ada": "extraction", "bo": "extraction", "cy": "reasoning"}.items():
        for _ in range(2):
            world.label(labels, who, said)
    split = world.batch("question_type", size=1, overlap=2, seed=5, name="Split_1")
    for who, said in {"ada": "extraction", "bo": "reasoning"}.items():
        world.label(split, who, said)
    for batch in (labels, split):
        batches.close_batch(batch=batch, by=world.mara, now=NOON)
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
    adjudication.decide(
        item=split.items.get(), by=world.people["ivo"], exclude="Not 100 % clear", note="", now=LATER
    )
    return world


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def made(world: World) -> Release:
    return creation.make_release(
        project=world.project, name="1.0", format=["askew", "hf"], by=world.rea, now=LATER
    )


def unzipped(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_project_says_what_its_release_says(studied: World) -> None:
    pictures = {"question_type"}

    now = methods_appendix.blocks(creation.study_now(project=studied.project, pictures=pictures, now=LATER))
    later = methods_appendix.blocks(creation.study_of(made(studied), pictures=pictures))

    assert [one for one in now if not isinstance(one, Heading)] == [
        one for one in later if not isinstance(one, Heading)
    ]
    headings = [one.text for one in later if isinstance(one, Heading) and one.level == 1]
    assert headings == [
        "Annotation of Films, release 1.0",
        "Data statement",
        "Instructions and pages",
        "Agreement",
        "Adjudication and exclusions",
        "Reproduction",
    ]


def test_batches_and_sources_without_annotations_are_not_in_it(studied: World) -> None:
    unused = studied.import_written(Example("nu-1", "how long is Heat?", TABLE, ["170"]))
    studied.batch("question_type", sources=[unused], size=1, name="Not begun")

    now = creation.study_now(project=studied.project, pictures=set(), now=LATER)
    later = creation.study_of(made(studied), pictures=set())

    for study in (now, later):
        assert [batch["name"] for batch in study.manifest.batches] == ["Types & more", "Split_1"]
        assert [source["name"] for source in study.manifest.sources] == [studied.source.name]
        assert "Not begun" not in as_latex(methods_appendix.blocks(study))


def test_shares_have_their_n_and_an_interval(studied: World) -> None:
    blocks = methods_appendix.blocks(creation.study_of(made(studied), pictures=()))

    lines = [line for block in blocks if isinstance(block, Items) for line in block.texts]
    share = "1 (33.3 %; 95 % CI 6.1 to 79.2 %, n = 3)"
    assert [line for line in lines if line.startswith(share)] == [
        f"{share} of 3 decided items decided by an adjudicator; the decision rule of the batch decided the others.",
        f"{share} of 3 decided items excluded.",
    ]
    assert "Not 100 % clear: 1" in lines


def test_agreement_is_said_to_leave_out_what_was_written_after_a_response_was_sent_back(
    studied: World,
) -> None:
    now = creation.study_now(project=studied.project, pictures=(), now=LATER)
    later = creation.study_of(made(studied), pictures=())
    old = replace(later, manifest=replace(later.manifest, rules=2))

    assert [basis_of(study) for study in (now, later, old)] == [
        "Of a response that an adjudicator sent back, the version before that is used.",
        "Of a response that an adjudicator sent back, the version before that is used.",
        "Responses that an adjudicator sent back are left out.",
    ]
    page = client_of(studied.mara).get("/projects/films/agreement/").content.decode()
    assert "A response that was sent back counts as it was before." in page


def basis_of(study: methods_appendix.Study) -> str:
    """Which version of a response that was sent back enters agreement, as the appendix says."""
    before = (
        "Figures are computed from each person's newest response on a planned slot, before adjudication. "
    )
    (paragraph,) = [
        one.text
        for one in methods_appendix.blocks(study)
        if isinstance(one, Paragraph) and before in one.text
    ]
    return paragraph.partition(before)[2]


def test_guidelines_and_pictures_of_the_task_types_that_were_used_are_in_it(studied: World) -> None:
    blocks = methods_appendix.blocks(
        creation.study_of(made(studied), pictures=["question_type", "short_table"])
    )

    assert [one.path for one in blocks if isinstance(one, Picture)] == ["pictures/question_type.jpg"]
    [guidelines] = [one for one in blocks if isinstance(one, Quotation)]
    assert guidelines.markdown.startswith("# ")
    assert Heading("Guidelines, version 1", 3) in blocks


def test_what_nobody_recorded_is_named_with_the_page_to_enter_it(studied: World) -> None:
    studied.source.licence = "NOASSERTION"
    studied.source.save()
    study = creation.study_now(project=studied.project, pictures=(), now=LATER)

    gaps = methods_appendix.gaps(study)

    assert [gap.title for gap in gaps] == [
        "Licence of films-dev",
        "Recruitment (D2)",
        "Pay (D2)",
        "Training (D1)",
        "Risks and disclaimers (D1)",
        "Consent (D3)",
        "Ethics review (D4)",
        "Annotators (D5)",
    ]
    missing = [
        one.text for one in methods_appendix.blocks(study) if isinstance(one, Paragraph) and one.missing
    ]
    assert missing.count("Not recorded. Enter it in Askew on the page “Data statement” of the project.") == 7
    page = client_of(studied.mara).get(PROJECT).content.decode()
    assert "8 facts are not recorded" in page
    assert '<a href="/projects/films/statement/" lang="en">Recruitment (D2)</a>' in page
    assert '<a href="/projects/films/sources/" lang="en">Licence of films-dev</a>' in page


def test_a_project_that_recorded_everything_lacks_nothing(studied: World) -> None:
    studied.project.statement = {one.name: f"Said: {one.name} & 5_%" for one in data_statement.ASKED}
    studied.project.save()

    assert methods_appendix.gaps(creation.study_now(project=studied.project, pictures=(), now=LATER)) == []
    page = client_of(studied.mara).get(PROJECT).content.decode()
    assert "All facts are recorded" in page
    assert "Said: recruitment &amp; 5_%" in page
    assert " style=" not in page, "the policy of pages refuses inline styles"


def test_the_archive_of_a_release_holds_a_document_that_tex_can_read(studied: World) -> None:
    release = made(studied)

    sent = client_of(studied.rea).get(f"/releases/{release.public_id}/methods/zip/")

    assert sent["Content-Disposition"] == 'attachment; filename="films-1.0-methods.zip"'
    files = unzipped(sent.content)
    assert set(files) == {"methods.md", "methods.tex", "standalone.tex", "pictures/question_type.jpg"}
    source = files["methods.tex"].decode()
    check(source)
    assert "Types \\& more" in source
    for path in re.findall(r"\\includegraphics\[.*?\]\{(.*?)\}", source):
        assert files[path].startswith(b"\xff\xd8"), f"{path} is a JPEG"
    assert b"\\input{methods}" in files["standalone.tex"]
    assert source == as_latex(methods_appendix.blocks(creation.study_of(release, pictures=["question_type"])))


def test_a_reader_of_german_gets_the_files_in_english(studied: World) -> None:
    mara = client_of(studied.mara)

    sent = mara.get(f"{PROJECT}md/", headers={"Accept-Language": "de"})

    assert sent["Content-Type"] == "text/markdown; charset=utf-8"
    assert "# Adjudication and exclusions" in sent.content.decode()
    assert "Methodenanhang" in mara.get(PROJECT, headers={"Accept-Language": "de"}).content.decode()
    assert mara.get(f"{PROJECT}docx/").status_code == 404


def test_who_annotates_in_an_open_batch_reads_no_appendix(studied: World) -> None:
    studied.batch()
    for address in (PROJECT, f"{PROJECT}zip/"):
        assert client_of(studied.ada).get(address).status_code == 404
    studied.project.memberships.filter(person=studied.ada).update(roles=["annotator", "viewer"])

    for address in (PROJECT, f"{PROJECT}zip/", f"/releases/{made(studied).public_id}/methods/zip/"):
        assert client_of(studied.ada).get(address)["Location"] == "/projects/films/releases/"


def test_a_project_without_work_has_an_appendix_that_says_so(tmp_path: Path) -> None:
    world = make_world(tmp_path)

    text = as_latex(methods_appendix.blocks(creation.study_now(project=world.project, pictures=(), now=NOON)))

    check(text)
    assert "No item is decided" in text


def test_rules_statistics_and_instructions_are_in_the_words_of_the_pages(studied: World) -> None:
    edits = studied.batch("value_change", variant="answer_stays", only=["nu-0"], overlap=1, name="Edits")
    assignment = studied.take(edits, "ada")
    assert assignment is not None
    studied.answer(assignment, {"unanswerable": True, "operations": [], "answers": [], "reason": "No year."})
    Person.objects.filter(pk=studied.people["cy"].pk).update(is_simulated=True)

    text = as_latex(
        methods_appendix.blocks(creation.study_now(project=studied.project, pictures=(), now=LATER))
    )

    assert "majority (" in text
    assert "default" not in text
    assert "krippendorff" not in text
    assert "s alpha (nominal)" in text
    assert f"Instruction above every item: {kind_instruction(edits)}" in text
    assert "Counts in this section leave out simulated people." in text
