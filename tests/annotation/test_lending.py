"""What is lent to kinds: indexes of a project's own tables, made in the background, and nothing of another project."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from annotation.background import jobs
from annotation.models import Job, Project
from annotation.platform import immutable_rows
from annotation.queue import resources
from annotation.workflow import projects
from tableqa import Example, Table
from tableqa.perturbations.headers import HeaderNames, Thesaurus, Unavailable
from tasks.contract import Context
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    """A data folder of the test's own, and a process that has read nothing yet."""
    settings.MEDIA_ROOT = tmp_path / "media"
    resources._indexes.clear()
    return tmp_path / "media"


def lent(project: Project, *needs: str) -> Context:
    """Ask twice, and let a worker do in between what the first question has ordered."""
    resources.context(project, needs)
    work()
    return resources.context(project, needs)


def work() -> None:
    for job in Job.objects.filter(kind="index", state=Job.State.QUEUED):
        jobs.run(job.pk)


def medals(number: int) -> Example:
    table = Table(["Nation", "Gold", f"Extra {'abcdef'[number]}"], [["Cuba", "4", "x"], ["Peru", "2", "y"]])
    return Example(id=f"m-{number}", question="who won?", table=table, answers=["Cuba"])


def test_nobody_waits_for_an_index(world: World) -> None:
    first = resources.context(world.project, ["header_names"])
    assert isinstance(first.header_names, Unavailable)
    assert "still loading" in first.header_names.reason
    assert first.preparing == ("header_names",)
    second = lent(world.project, "header_names")
    assert isinstance(second.header_names, HeaderNames)
    assert second.preparing == ()
    assert second.header_names.columns("Film") == 1
    assert second.corpus is None, "nothing is lent that a kind does not name"


def test_an_index_is_ordered_once_and_read_once(world: World, folder: Path) -> None:
    for _ in range(3):
        resources.context(world.project, ["header_names"])
    assert Job.objects.filter(kind="index").count() == 1
    index = lent(world.project, "header_names").header_names
    assert resources.context(world.project, ["header_names"]).header_names is index
    resources._indexes.clear()
    again = resources.context(world.project, ["header_names"]).header_names
    assert again is not index
    assert again.to_dict() == index.to_dict()


def test_a_further_source_makes_another_index_and_the_old_file_goes(world: World, folder: Path) -> None:
    lent(world.project, "header_names")
    world.import_written(medals(0), medals(1))
    index = lent(world.project, "header_names").header_names
    assert index.columns("Nation") == 2
    assert index.columns("Film") == 1
    assert len(list(folder.rglob("header_names-*.json"))) == 1
    assert not list(folder.rglob("*.part"))


def test_a_source_that_is_still_being_imported_is_not_read(world: World) -> None:
    source = world.import_written(medals(0))
    with immutable_rows.writable():
        type(source).objects.filter(pk=source.pk).update(ready_at=None)
    assert lent(world.project, "header_names").header_names.columns("Nation") == 0


def test_a_project_is_lent_nothing_of_another(world: World) -> None:
    other = projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)
    source = world.import_written(medals(0))
    [stored] = {example.stored_table for example in source.examples.all()}
    context = lent(other, "header_names", "table")
    assert context.header_names.tables == 0
    assert context.table is not None
    assert context.table(stored.digest) is None
    mine = resources.context(world.project, ["table"]).table
    assert mine is not None
    assert mine(stored.digest) == stored.table()
    assert mine("0" * 64) is None


def test_a_table_that_two_sources_share_counts_once(world: World) -> None:
    world.import_written(medals(0), dataclasses.replace(medals(0), id="m-9"))
    assert lent(world.project, "header_names").header_names.columns("Nation") == 1


def test_an_index_that_cannot_be_made_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(tables: Any) -> Any:
        raise MemoryError

    monkeypatch.setitem(
        resources.INDEXES, "header_names", resources.IndexType(fails, json.loads, "column names")
    )
    context = lent(world.project, "header_names")
    assert isinstance(context.header_names, Unavailable)
    assert "cannot be read" in context.header_names.reason
    assert context.preparing == ()
    resources.context(world.project, ["header_names"])
    assert Job.objects.filter(kind="index").count() == 1, "and is not tried again and again"


def test_why_an_index_cannot_be_made_is_shown_in_the_readers_language(world: World) -> None:
    resources.context(world.project, ["header_names"])
    Job.objects.update(state=Job.State.FAILED, error=jobs.LOST.format(attempts=3))

    with translation.override("de"):
        names = resources.context(world.project, ["header_names"]).header_names

    assert isinstance(names, Unavailable)
    assert "was lost" not in names.reason


def test_a_damaged_file_is_made_anew(world: World, folder: Path) -> None:
    lent(world.project, "header_names")
    [file] = folder.rglob("header_names-*.json")
    file.write_text("{", encoding="utf-8")
    resources._indexes.clear()
    assert isinstance(lent(world.project, "header_names").header_names, HeaderNames)


def test_what_a_kind_needs_can_be_made_before_anybody_asks(world: World) -> None:
    resources.prepare(world.project, ["header_names", "thesaurus"])
    work()
    assert isinstance(resources.context(world.project, ["header_names"]).header_names, HeaderNames)


def test_the_thesaurus_is_the_one_that_comes_with_the_project(world: World) -> None:
    assert isinstance(resources.context(world.project, ["thesaurus"]).thesaurus, Thesaurus)


def test_work_that_cannot_do_without_an_index_has_it_made_at_once(world: World, folder: Path) -> None:
    context = resources.context_without_waiting(world.project, ["corpus", "table"])
    assert context.preparing == ()
    assert len(context.corpus) == 1
    assert not Job.objects.filter(kind="index").exists()
    [file] = folder.rglob("corpus-*.json")
    made = file.stat().st_mtime_ns
    assert resources.context_without_waiting(world.project, ["corpus"]).corpus is context.corpus
    assert file.stat().st_mtime_ns == made, "and once"
    file.write_text("{", encoding="utf-8")
    resources._indexes.clear()
    assert len(resources.context_without_waiting(world.project, ["corpus"]).corpus) == 1, (
        "a damaged file is made anew"
    )
