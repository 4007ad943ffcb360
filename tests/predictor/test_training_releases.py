"""What training reads in a release of the platform: what people decided, what programs made, and proposals to train on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from predictor.training.augment import augmentation, read_release
from tests.annotation.cast import World, make_world
from tests.annotation.test_help_in_releases import crafted, released

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Any, transactional_db: None) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path)


@pytest.mark.parametrize("format", ["askew", "robut"])
def test_a_release_for_training_gives_what_people_made_and_what_was_proposed(
    world: World, tmp_path: Path, format: str
) -> None:
    crafted(world)
    files = released(world, tmp_path, "training", format)
    found = read_release(tmp_path / f"training-{format}", proposals=True)
    made = [one for one in found if one.kind]
    makers = Counter(one.maker for one in made)
    assert makers["people"] == 3
    added = [record for name, records in files.items() if name.startswith("training/") for record in records]
    proposed = {one["question"] for one in added if one["perturbation_type"] == "sentence"}
    assert {one.example.question for one in made} >= proposed
    assert makers["rules"] > 0
    assert len({(one.example.question, one.example.table.digest()) for one in made}) == len(made)
    originals = {one.example.id: one.example for one in found if not one.kind}
    assert all(one.base == originals[one.parent].table.digest() for one in made)
    learnt = augmentation("+RTA", tmp_path / f"training-{format}", [])
    assert learnt.makers == dict(makers)
    assert learnt.kinds == {"sentence": len(made)}
