"""A study of simulated people who skip, disconnect, come back, undo and retry ends with everything at its place.

The study in full is `./run bench annotators`: 40 people, 2,000 items.
"""

from __future__ import annotations

import pytest

from benchmarks import annotators


@pytest.mark.django_db
def test_a_study_ends_with_every_item_decided_the_accounts_exact_and_the_skills_in_order() -> None:
    found = annotators.study(people=8, items=160, overlap=3, seed=0)
    assert found.wrong == []
    assert found.added > 0, "the gap rule asked for more people"
    for happened in (
        "skipped",
        "given back",
        "disconnected",
        "submitted late",
        "came too late",
        "undone",
        "retried",
    ):
        assert found.turns[happened] > 0, f"nobody {happened}: the study would prove less than it says"
