"""Cell relevance: where the marked cells come from is frozen, majorities decide, FREB-TQA's codes come out."""

from __future__ import annotations

from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.writers.freb_tqa import freb_example
from tasks.cell_relevance.task import task
from tasks.contract import Acceptance, Item, NeedsAdjudication, ReportedResponse, Surroundings
from tasks.shared.declared_types import Label as Response

TABLE = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
EVIDENCE = {"cells": [["h", "c1"], ["r1", "c1"]], "from": "cells marked by people in this project"}


def example(**meta: Any) -> Example:
    return Example("nu-1", "how long is Alien?", TABLE, ["117"], meta=meta)


ITEM = Item(example(), inputs={"evidence": EVIDENCE})


def said(*labels: str) -> list[Response]:
    return [Response(label) for label in labels]


def test_what_people_decided_is_judged_before_what_the_source_says() -> None:
    around = Surroundings(decided={"relevant_cells": ({"cells": [["r1", "c1"]], "unanswerable": False},)})
    prepared = task.prepare(example(highlighted_cells=[["r0", "c0"]]), around)
    assert prepared is not None
    assert prepared.inputs["evidence"] == {
        "cells": [["r1", "c1"]],
        "from": "cells marked by people in this project",
    }
    prepared = task.prepare(example(highlighted_cells=[["r0", "c0"]]), Surroundings())
    assert prepared is not None
    assert "FeTaQA" in prepared.inputs["evidence"]["from"]


def test_an_example_without_marked_cells_makes_no_item() -> None:
    assert task.prepare(example(), Surroundings()) is None
    model = Surroundings(model_answers={"cells": ({"model": "m@1", "cells": [["r0", "c0"]]},)})
    prepared = task.prepare(example(), model)
    assert prepared is not None
    assert "m@1" in prepared.inputs["evidence"]["from"]


def test_the_page_gets_the_cells_and_their_source() -> None:
    assert task.payload(ITEM)["evidence"] == EVIDENCE


def test_two_of_three_decide_and_three_labels_do_not() -> None:
    resolution = task.resolve(said("yes", "no", "yes"), ITEM)
    assert isinstance(resolution, Acceptance)
    assert [(o.response.label, o.by) for o in resolution.outcomes] == [("yes", (0, 2))]
    assert isinstance(task.resolve(said("yes", "no", "unanswerable"), ITEM), NeedsAdjudication)
    assert task.resolve(said("unanswerable", "unanswerable", "no"), ITEM) == Acceptance((), "unanswerable")


@pytest.mark.parametrize(("label", "code"), [("yes", 1), ("no", 0), ("unanswerable", -1)])
def test_labels_come_out_under_the_codes_of_the_paper(label: str, code: int) -> None:
    (published,) = task.export("freb_tqa", ITEM, Response(label), None)
    assert published.record == {**freb_example(ITEM.example), "label": code, "rel_cell": [[1, 1]]}
    (own,) = task.export("askew", ITEM, Response(label), None)
    assert (own.record["label"], own.record["evidence"]) == (code, EVIDENCE)


def test_how_often_cells_hold_is_reported_by_where_they_come_from() -> None:
    model = Item(example(), inputs={"evidence": {"cells": [["r0", "c0"]], "from": "a model"}})
    rows = [
        ReportedResponse(ITEM, "wtq", "ada", Response("yes"), None),
        ReportedResponse(ITEM, "wtq", "bo", Response("no"), None),
        ReportedResponse(model, "wtq", "ada", Response("no"), None),
    ]
    (report,) = task.report(rows)
    assert report.rows == (("a model", 0, 1, 0, 0.0), (EVIDENCE["from"], 1, 1, 0, 0.5))
    assert task.report([]) == []


def test_a_model_may_be_tried_on_the_table_without_the_marked_cells() -> None:
    tried = task.tried({"label": "whatever"}, ITEM)
    assert tried is not None
    assert tried.table.rows == (("Heat", "170"), ("Alien", ""))
    assert tried.table.header == ("Film", "Minutes"), "a name of a column stays"
    assert tried.answers == ITEM.example.answers
    only_header = Item(example(), inputs={"evidence": {"cells": [["h", "c1"]], "from": "people"}})
    assert task.tried({}, only_header) is None
