"""What a manager changes after responses are there stays in sight: in manifest, card and page of a release."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.access import audit_log
from annotation.models import Membership, Project, Release, Source
from annotation.releases import creation, history, study_history, verification
from annotation.releases.manifest import Manifest
from annotation.releases.restoration import restore
from annotation.study_file import apply, current_state, preregistration, project_export
from annotation.workflow import automatic_decisions, batch_settings, batches, projects
from tableqa.core.canonical_json import canonical
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World
from tests.annotation.test_live_agreement import labelled, text

LATER = NOON + timedelta(hours=1)
MAJORITY = {"rule": "majority", "more_than": 0.6}


def released(world: World, folder: Path, name: str = "v1", now: Any = LATER) -> Release:
    return creation.make_release(
        project=world.project, name=name, format="hf", by=world.rea, now=now, out=folder / name
    )


def page_of(world: World, release: Release) -> str:
    client = Client()
    client.force_login(world.mara)
    return text(client.get(reverse("release", args=[release.public_id])))


def test_a_rule_that_was_changed_after_responses_is_named_with_its_effect(
    world: World, tmp_path: Path
) -> None:
    batch = labelled(world, name="Types", resolve={"rule": "unanimous"})
    batch_settings.change(batch=batch, changes={"resolve": MAJORITY}, by=world.mara, now=NOON)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_due(now=LATER)

    release = released(world, tmp_path)

    manifest = Manifest.of(release.manifest)
    (change,) = manifest.deviations
    decided = manifest.counts["accepted"]
    assert change == {
        "at": NOON.isoformat(),
        "what": "resolve",
        "from": {"rule": "unanimous"},
        "to": MAJORITY,
        "role": "manager",
        "batch": batch.public_id,
        "name": "Types",
        "responses": 18,
        "differ": change["differ"],
    }
    assert 0 < change["differ"] < decided
    verification.verify(tmp_path / "v1")
    for name in ("DATA_STATEMENT.md", "README.md"):
        written = (tmp_path / "v1" / name).read_text("utf-8")
        assert f"the earlier rule decides {change['differ']} items in another way" in written
    assert "Changes after the first response" in page_of(world, release)


def test_another_effect_of_a_rule_does_not_verify(world: World, tmp_path: Path) -> None:
    batch = labelled(world, name="Types", resolve={"rule": "unanimous"})
    batch_settings.change(batch=batch, changes={"resolve": MAJORITY}, by=world.mara, now=NOON)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_due(now=LATER)
    released(world, tmp_path)
    path = tmp_path / "v1" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    manifest["deviations"][0]["differ"] = 0
    manifest["files"] = describe(tmp_path / "v1")
    path.write_text(canonical(manifest) + "\n", "utf-8")
    with pytest.raises(Difference, match="the effect of the decision rule"):
        verification.verify(tmp_path / "v1")


def test_a_batch_that_is_added_after_responses_is_named(world: World, tmp_path: Path) -> None:
    batch = world.batch(name="Types")
    preregistration.freeze(project=world.project, by=world.mara, now=NOON)
    world.label(batch, "ada", "extraction")
    second = world.batch(name="Second", open=False)
    manifest = released(world, tmp_path).manifest
    (change,) = manifest["deviations"]
    assert (change["what"], change["batch"], change["responses"]) == ("batch added", second.public_id, 0)


def test_a_person_who_was_removed_is_named_with_responses_and_role(world: World, tmp_path: Path) -> None:
    labelled(world, name="Types")
    member = Membership.objects.get(project=world.project, person=world.cy)
    projects.remove_member(membership=member, by=world.mara, now=LATER)
    release = released(world, tmp_path)
    assert release.manifest["removed_people"] == [
        {
            "annotator": member.pseudonym,
            "responses": 6,
            "date": LATER.date().isoformat(),
            "role": "manager",
        }
    ]
    assert "People who left the project" in page_of(world, release)
    assert "6 responses stay in the release" in (tmp_path / "v1" / "README.md").read_text("utf-8")


def test_the_frozen_study_is_in_releases_and_its_digest_follows_from_the_file(
    world: World, tmp_path: Path
) -> None:
    batch = world.batch(name="Types")
    digest = preregistration.freeze(project=world.project, by=world.mara, now=NOON)
    state = current_state.of_project(world.project, now=NOON, derived=False, with_remaining=False)
    (tmp_path / "study.yaml").write_text(project_export.export_study(state), "utf-8")
    out = io.StringIO()
    call_command("study", "digest", str(tmp_path / "study.yaml"), stdout=out)
    assert out.getvalue().strip() == digest

    world.label(batch, "ada", "extraction")
    assert preregistration.freeze_started(now=LATER) == 0
    client = Client()
    client.force_login(world.mara)
    address = reverse("study", args=["films"])
    assert "Freeze study" not in text(client.get(address))
    release = released(world, tmp_path)
    assert release.manifest["preregistration"] == {
        "digest": digest,
        "at": NOON.isoformat(),
        "before_first_response": True,
    }
    assert "before the first response" in page_of(world, release)


def test_a_manager_freezes_a_study_on_its_page(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    address = reverse("study", args=["films"])
    assert "Freeze study" in text(client.get(address))
    client.post(address, {"act": "freeze"})
    assert preregistration.frozen(world.project) is not None
    assert "with this digest" in text(client.get(address))


def test_the_worker_freezes_a_study_that_has_responses(world: World, tmp_path: Path) -> None:
    batch = world.batch(name="Types")
    world.label(batch, "ada", "extraction")
    assert preregistration.freeze_started(now=LATER) == 1
    assert preregistration.freeze_started(now=LATER) == 0
    frozen = released(world, tmp_path).manifest["preregistration"]
    assert (frozen["at"], frozen["before_first_response"]) == (LATER.isoformat(), False)


def test_copied_and_restored_projects_name_their_origin(world: World, tmp_path: Path) -> None:
    batch = world.batch(name="Types")
    preregistration.freeze(project=world.project, by=world.mara, now=NOON)
    world.label(batch, "ada", "extraction")
    copy = apply.copy_setup(world.project, slug="copy", name="Copy", time_zone="UTC", by=world.mara, now=NOON)
    assert study_history.origin(Release(project=copy, watermark=10**9)) == {
        "kind": "copied",
        "project": "films",
    }
    released(world, tmp_path)
    back = projects.create_project(slug="back", name="Back", manager=world.mara, now=LATER)
    restore(project=back, folder=tmp_path / "v1", by=world.mara, now=LATER)
    origin = study_history.origin(Release(project=back, watermark=10**9))
    assert origin is not None
    first = Release.objects.get(project=world.project)
    assert (origin["kind"], origin["release"], origin["digest"]) == ("restored", "v1", first.digest)


def test_other_projects_with_the_same_study_and_source_are_counted(world: World, tmp_path: Path) -> None:
    batch = world.batch(name="Types")
    digest = preregistration.freeze(project=world.project, by=world.mara, now=NOON)
    world.label(batch, "ada", "extraction")
    released(world, tmp_path)
    back = projects.create_project(slug="back", name="Back", manager=world.mara, now=LATER)
    restore(project=back, folder=tmp_path / "v1", by=world.mara, now=LATER)
    Source.objects.filter(project=back).update(checksum=world.source.checksum)
    audit_log.log(
        Project.objects.get(slug="back"), "", "preregistered", by=None, now=LATER, detail={"to": digest}
    )
    second = released(world, tmp_path, "v2")
    assert "same_study" not in second.manifest  # it has no event up to the watermark of this project
    world.label(batch, "bo", "extraction")
    third = released(world, tmp_path, "v3")
    assert third.manifest["same_study"] == [{"responses": 1}]


def test_the_predecessor_is_verified_and_the_page_shows_the_figures_that_moved(
    world: World, tmp_path: Path
) -> None:
    labelled(world, name="Types")
    first = released(world, tmp_path)
    labelled(world, name="More")
    second = released(world, tmp_path, "v2")
    out = io.StringIO()
    call_command("verify_release", str(tmp_path / "v2"), "--predecessor", str(tmp_path / "v1"), stdout=out)
    assert "The predecessor is" in out.getvalue()
    assert "Agreement that changed since the predecessor" in page_of(world, second)
    assert "Agreement that changed since the predecessor" not in page_of(world, first)
    with pytest.raises(Difference, match="the predecessor is None"):
        history.check_predecessor(tmp_path / "v1", tmp_path / "v2")
    with pytest.raises(Difference, match="the predecessor is"):
        history.check_predecessor(tmp_path / "v2", tmp_path / "v2")
