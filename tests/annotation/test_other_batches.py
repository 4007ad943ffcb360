"""Batches that a release leaves out stay in sight: in its manifest, statement, card, appendix and on its page."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.test import Client
from django.urls import reverse

from annotation.quality import calibration
from annotation.releases import creation, verification
from annotation.releases.manifest import Manifest
from annotation.releases.methods_appendix import Study, blocks
from annotation.workflow import batches
from tableqa.writers.documents import Items
from tests.annotation.cast import NOON, World
from tests.annotation.test_live_agreement import labelled, text

LATER = NOON + timedelta(hours=1)


def test_a_batch_that_was_set_aside_is_named_with_its_agreement_reason_and_role(
    world: World, tmp_path: Path
) -> None:
    labelled(world, name="Types")
    pilot = labelled(world, name="Pilot")
    batches.close_batch(batch=pilot, by=world.mara, now=NOON)
    calibration.set_aside(batch=pilot, because="The instruction was unclear.", by=world.mara, now=LATER)
    round_one = labelled(world, name="Round 1", purpose="calibration")

    release = creation.make_release(
        project=world.project, name="v1", format="hf", by=world.rea, now=LATER, out=tmp_path / "out"
    )

    manifest = Manifest.of(release.manifest)
    assert [batch["name"] for batch in manifest.batches] == ["Types"]
    first, second = manifest.other_batches
    assert (first["id"], first["name"], first["purpose"]) == (pilot.public_id, "Pilot", "work")
    assert (first["responses"], first["people"]) == (18, 3)
    assert first["set_aside"] == {
        "reason": "The instruction was unclear.",
        "role": "manager",
        "date": LATER.date().isoformat(),
    }
    assert {figure["statistic"] for figure in first["agreement"]} >= {"fleiss_kappa", "percent_agreement"}
    assert (second["id"], second["purpose"], "set_aside" in second) == (
        round_one.public_id,
        "calibration",
        False,
    )
    verification.verify(tmp_path / "out")

    line = (
        f"Pilot (question_type), set aside on {LATER:%Y-%m-%d} (manager): "
        "The instruction was unclear; 18 responses by 3 people; "
    )
    (listed,) = [
        block
        for block in blocks(Study("films", manifest))
        if isinstance(block, Items) and any(line in entry for entry in block.texts)
    ]
    assert any(entry.startswith("Round 1 (question_type), calibration batch; ") for entry in listed.texts)
    for name in ("DATA_STATEMENT.md", "README.md"):
        written = (tmp_path / "out" / name).read_text("utf-8")
        assert "Batches that are not part of the release" in written
        assert "The instruction was unclear; 18 responses by 3 people; " in written
    client = Client()
    client.force_login(world.mara)
    page = text(client.get(reverse("release", args=[release.public_id])))
    assert "Batches that are not part of the release" in page
    assert "The instruction was unclear." in page
