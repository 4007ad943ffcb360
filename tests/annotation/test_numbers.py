"""Numbers as a field of a task type: typed on the page, decided by their mean, measured as intervals, and released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from annotation.models import Annotation, Decision, Gold
from annotation.quality import agreement_report
from annotation.releases import creation, verification
from annotation.workflow import automatic_decisions
from tests.annotation.cast import World
from tests.annotation.test_defined_answers import released
from tests.annotation.test_defining import LATER, batch_of, define, manager, say

FIELDS = [{"name": "share", "type": "number", "min": -5, "max": 100}]
OTHERS: dict[str, Any] = {"agreement": {}, "practice": [], "decide": {"field": "share"}}


def test_numbers_are_decided_measured_and_released(world: World, tmp_path: Path) -> None:
    batch = batch_of(world, define(world, fields=FIELDS, **{**OTHERS, "agreement": {"share": ["alpha_interval"]}}),
                     size=1, overlap=2)  # fmt: skip
    say(world, batch, "ada", {"share": "0.5"})
    say(world, batch, "bo", {"share": "-3"})

    automatic_decisions.resolve_due(now=LATER)

    stored = Annotation.objects.order_by("assignment__person__name").values_list("response__data", flat=True)
    assert list(stored) == [{"share": 0.5}, {"share": -3}]
    assert Decision.objects.get().outcomes.get().response["data"] == {"share": -1.25}
    assert ("share", "krippendorff_alpha_interval") in {
        (one.measure, one.statistic) for one in agreement_report.batch_figures(batch)
    }
    page = manager(world).get(f"/items/{batch.items.get().public_id}/story/").content.decode()
    assert "-1.25" in page
    assert released(world, tmp_path / "release")
    hub = tmp_path / "hub"
    creation.make_release(project=world.project, name="v2", format="hf", by=world.rea, now=LATER, out=hub)
    assert verification.verify(hub)


def test_a_number_is_typed_and_has_a_point_in_every_language(world: World) -> None:
    batch = batch_of(world, define(world, fields=FIELDS, **OTHERS), open=False, size=None)
    manages = manager(world)
    item = batch.items.select_related("example").first()
    assert item is not None
    address = f"/batches/{batch.public_id}/gold/new/?example={item.example.public_id}"

    manages.post(address, {"share": "0.5", "why": "Half."})

    gold = Gold.objects.get()
    assert gold.expected["data"] == {"share": 0.5}
    page = manages.get(address, headers={"accept-language": "de"}).content.decode()
    assert '<input type="text" inputmode="decimal" autocomplete="off" name="share"' in page
