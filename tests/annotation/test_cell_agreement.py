"""Agreement over marked cells: sets within their own table."""

from __future__ import annotations

from annotation.quality import rating_tallies
from tasks.relevant_cells.task import Response, task


def cells(*names: str) -> Response:
    return Response(tuple((name[:2], name[2:]) for name in names), False)


def test_agreement_is_taken_over_sets_within_the_table() -> None:
    rows = [
        ("one", "ada", cells("r1c0", "r1c2")),
        ("one", "bo", cells("r1c0", "r1c2")),
        ("two", "ada", cells("r0c0")),
        ("two", "bo", cells("r1c2")),
    ]
    figures = {
        one.statistic: one
        for one in rating_tallies.figures_of(
            rating_tallies.tallies(task, rows, {"one": (3, 3), "two": (3, 3)})
        )
    }
    jaccard = figures["cell_sets_jaccard"].value
    assert jaccard is not None
    assert 0 < jaccard < 1
    assert "random" in figures["cell_sets_masi"].note
    assert "krippendorff_alpha_nominal" in figures, "whether people find an answer at all is measured, too"
