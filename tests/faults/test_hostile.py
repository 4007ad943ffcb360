"""Hostile files through the pages and the interface of a whole site: imported with their values, or refused by name.

`./run bench hostile` sends 200 of them while people annotate.
"""

from __future__ import annotations

import pytest
from django.conf import settings

from tests.attacks.hostile_files import each_kind
from tests.faults.hostile import Attack
from tests.faults.site import Site

pytestmark = [pytest.mark.django_db, pytest.mark.slow]  # 20 core seconds; the parts are tested by themselves


def test_hostile_files_are_imported_with_their_values_or_refused_by_name() -> None:
    on_postgres = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
    site = Site(database="postgresql" if on_postgres else "sqlite")
    try:
        site.start(1, still=2)
        attack = Attack(site)
        attack.send(list(each_kind(12, seed=1)), at_once=4)
        attack.compare()

        assert attack.faults() == []
        assert attack.counts()["failed"] >= 4
        assert sum(attack.counts().values()) == 12
        assert attack.waits
        assert attack.waited_for() <= 1
    finally:
        site.end()
