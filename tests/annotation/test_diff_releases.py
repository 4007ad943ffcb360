"""Two releases beside each other: what came, what went, what changed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.releases import creation, release_diff
from annotation.workflow import automatic_decisions, batches
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.older_rules import made_by_rules
from tests.annotation.test_restoring import restore


def release(world: World, out: Path, format: str = "freb_tqa") -> Path:
    creation.make_release(project=world.project, name=out.name, format=format, by=None, now=NOON, out=out)
    return out


def labelled(world: World, labels: list[str]) -> None:
    """Three people label a batch of one question, which is decided then."""
    batch = world.batch(size=1, seed=len(labels[0]))
    for who, label in zip(("ada", "bo", "cy"), labels, strict=True):
        world.label(batch, who, label)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)


@pytest.mark.django_db(transaction=True)
def test_equal_releases_differ_in_nothing_and_a_new_decision_is_named(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    labelled(world, ["reasoning", "reasoning", "reasoning"])
    one, same = release(world, tmp_path / "one"), release(world, tmp_path / "same")
    assert release_diff.diff_releases(one, same).empty
    labelled(world, ["extraction", "extraction", "reasoning"])
    other = release(world, tmp_path / "other")
    found = release_diff.diff_releases(one, other)
    assert "annotations: 3 -> 6" in found.manifest
    files = {file.name: file for file in found.files}
    assert len(files["annotations.jsonl"].added) == 3
    assert files["annotations.jsonl"].removed == files["annotations.jsonl"].changed == ()
    assert len(files["01_str/wtq_factoid_dev.json"].added) == 1
    back = {file.name: file for file in release_diff.diff_releases(other, one).files}
    assert back["annotations.jsonl"].removed == files["annotations.jsonl"].added


@pytest.mark.django_db(transaction=True)
def test_a_record_that_changed_is_named_by_its_id(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    labelled(world, ["extraction", "extraction", "reasoning"])
    one, other = release(world, tmp_path / "one"), release(world, tmp_path / "other")
    path = other / "question_type.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "label": 0}) + "\n", encoding="utf-8")
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["question_type.json"]["sha256"] = "0" * 64
    (other / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (changed,) = release_diff.diff_releases(one, other).files
    assert changed.changed == (record["id"],)


@pytest.mark.django_db(transaction=True)
def test_the_command_fails_where_something_differs(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    labelled(world, ["reasoning", "reasoning", "reasoning"])
    one, same = release(world, tmp_path / "one"), release(world, tmp_path / "same")
    out = StringIO()
    call_command("diff_releases", str(one), str(same), stdout=out)
    assert out.getvalue() == "The releases are identical.\n"
    labelled(world, ["extraction", "extraction", "extraction"])
    other, out = release(world, tmp_path / "other"), StringIO()
    with pytest.raises(SystemExit):
        call_command("diff_releases", str(one), str(other), stdout=out)
    assert "3 added" in out.getvalue()
    with pytest.raises(CommandError, match="is not a release"):
        call_command("diff_releases", str(one), str(tmp_path), stdout=out)


@pytest.mark.django_db(transaction=True)
def test_files_that_hold_no_records_differ_as_a_whole(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    labelled(world, ["reasoning", "reasoning", "reasoning"])
    one = release(world, tmp_path / "one", "hf")
    labelled(world, ["extraction", "extraction", "reasoning"])
    files = {
        file.name: file
        for file in release_diff.diff_releases(one, release(world, tmp_path / "b", "hf")).files
    }
    assert files["DATA_STATEMENT.md"].changed == ("the whole file",)
    assert not files.keys() & {"README.md", "CITATION.cff", "croissant.json"}, "they name the release"
    assert files["data/original/dev.jsonl"].added == ("films-dev nu-3",)


OLD = Path(__file__).parent / "release_of_november"


@pytest.mark.django_db(transaction=True)
def test_a_file_that_only_has_a_new_ending_does_not_differ(tmp_path: Path) -> None:
    project = restore(OLD).project
    renamed = creation.make_release(
        project=project, name="v2", format="askew", by=None, now=NOON, out=tmp_path / "new", mix=7
    )
    assert {name for name in renamed.manifest["files"] if name.endswith(".json")} == set()
    made_by_rules(tmp_path / "new", 8)
    differing = {file.name for file in release_diff.diff_releases(OLD, tmp_path / "new").files}
    assert differing == {"DATA_STATEMENT.md", "perturbations.jsonl"}
