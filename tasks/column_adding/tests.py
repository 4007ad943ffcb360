"""Column adding: every new column says where it comes from, and is where it was drawn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.perturbations.related_tables import Index
from tasks.column_adding.task import draw_position, task
from tasks.contract import Context, InvalidResponse, Item, Surroundings

MEDALS = Table(["Nation", "Gold"], [["Cuba", "4"], ["Peru", "2"], ["Chile", "1"], ["Mexico", "1"]])
STATES = Table(
    ["Country", "Capital", "Seats"],
    [["Chile", "Santiago", "155"], ["Cuba", "Havana", "474"], ["Peru (PER)", "Lima", "130"]],
    title="Countries of America",
)
FILMS = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
EXAMPLE = Example(id="nu-1", question="who won?", table=MEDALS, answers=["Cuba"])
ITEM = Item(EXAMPLE)


def lent(*tables: Table) -> Context:
    by_digest = {table.digest(): table for table in tables}
    return Context(corpus=Index.build(tables), table=by_digest.get)


def suggested(context: Context) -> list[dict[str, Any]]:
    prepared = task.prepare(ITEM.example, Surroundings(lent=context))
    return [] if prepared is None else prepared.inputs["suggestions"]["tables"]


def candidates(context: Context) -> list[dict[str, Any]]:
    return [json.loads(column["sent"]) for table in suggested(context) for column in table["columns"]]


def data(candidate: dict[str, Any], origin: list[str] | None = None) -> dict[str, Any]:
    operation = {
        "op": "insert_column",
        "column": "n1",
        **{key: candidate[key] for key in ("after", "header", "cells")},
    }
    origin = origin or ["n1", candidate["digest"], candidate["column"], candidate["title"]]
    return {"does_not_apply": False, "operations": [operation], "provenance": [origin]}


def test_columns_of_related_tables_are_offered_row_by_row() -> None:
    [related] = suggested(lent(MEDALS, STATES, FILMS))
    assert related["title"] == "Countries of America"
    assert (related["rows"], related["of"]) == (3, 4)
    assert related["by"] == ["Nation", "Country"]
    assert ["Peru", "Peru (PER)"] in related["aligned"]
    assert related["score"] > 0
    assert "values of the key columns match" in related["why"]
    untitled = Table(STATES.header, STATES.rows)
    [related] = suggested(lent(MEDALS, untitled, FILMS))
    assert related["title"] == "Country: Chile, Cuba, Peru (PER)"
    capital = next(one for one in candidates(lent(MEDALS, STATES)) if one["header"] == "Capital")
    assert capital["cells"] == ["Havana", "Lima", "Santiago", ""]


def test_the_place_is_drawn_and_always_the_same() -> None:
    drawn = {draw_position(EXAMPLE, STATES.digest(), f"c{number}") for number in range(30)}
    assert drawn == {None, "c0", "c1"}, "every place is possible"
    assert draw_position(EXAMPLE, STATES.digest(), "c1") == draw_position(EXAMPLE, STATES.digest(), "c1")


def offering(*tables: Table) -> Item:
    """The item as it is made where these are the tables of the project."""
    prepared = task.prepare(EXAMPLE, Surroundings(lent=lent(MEDALS, *tables)))
    assert prepared is not None
    return Item(EXAMPLE, inputs=prepared.inputs)


OFFER = offering(STATES)
CAPITAL = next(one for one in candidates(lent(MEDALS, STATES)) if one["header"] == "Capital")


def codes(raw: dict[str, Any], item: Item = OFFER) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, item)
    return [problem.code for problem in invalid.value.problems]


def test_what_is_offered_can_be_submitted_and_says_where_it_comes_from() -> None:
    for candidate in candidates(lent(MEDALS, STATES)):
        response = task.parse(data(candidate), OFFER)
        assert response.provenance == (("n1", STATES.digest(), candidate["column"], "Countries of America"),)
        assert response.own == ()
    response = task.parse(data(CAPITAL), OFFER)
    [own] = task.export("askew", OFFER, response, task.perturb(OFFER, response))
    assert own.record["provenance"] == [
        {
            "column": "n1",
            "table": STATES.digest(),
            "source_column": CAPITAL["column"],
            "title": "Countries of America",
        }
    ]
    assert own.record["own"] == []
    assert own.record["perturbation_type"] == "add"
    assert task.describe(response, OFFER)[0].endswith(
        f"From the table Countries of America ({STATES.digest()[:12]})"
    )


def test_cells_that_somebody_wrote_are_told_from_those_of_the_other_table() -> None:
    cells = [*CAPITAL["cells"][:3], "Mexico City"]
    raw = {**data({**CAPITAL, "cells": cells, "header": "Seat"}), "own": []}
    response = task.parse(raw, OFFER)
    assert response.own == (("r3", "n1"),), "whatever was sent"
    [exported] = task.export("askew", OFFER, response, task.perturb(OFFER, response))
    assert exported.record["own"] == [["r3", "n1"]]
    assert task.describe(response, OFFER)[0].endswith(". The annotator's own text: row 4")


def test_a_made_up_origin_is_refused() -> None:
    assert codes(data(CAPITAL, ["n1", FILMS.digest(), "c1", "Films"])) == ["not_offered"]
    assert codes(data(CAPITAL, ["n1", STATES.digest(), "c7", "Countries"])) == ["not_offered"]
    made_up = {**CAPITAL, "cells": ["Bern", "Oslo", "Rome", "Paris"]}
    assert codes(data(made_up)) == ["not_from_there"]


def test_a_title_is_that_of_the_offered_table_whatever_was_sent() -> None:
    response = task.parse(data(CAPITAL, ["n1", STATES.digest(), CAPITAL["column"], "My table"]), OFFER)
    assert response.provenance[0][3] == "Countries of America"


def test_of_an_item_that_froze_no_offer_every_cell_is_somebodys_own() -> None:
    response = task.parse(data(CAPITAL), ITEM)
    assert [row for row, _ in response.own] == ["r0", "r1", "r2"], "an empty cell is nobody's text"
    stored = {"does_not_apply": False, "operations": [], "provenance": []}
    assert task.upgrade(stored, 1)["own"] == []


def test_a_column_from_nowhere_is_refused() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    with pytest.raises(InvalidResponse) as invalid:
        task.parse({**data(candidate), "provenance": []}, ITEM)
    assert [problem.code for problem in invalid.value.problems] == ["no_provenance"]
    with pytest.raises(InvalidResponse):
        task.parse(data(candidate, ["n1", "not a digest", "c1", ""]), ITEM)


def test_where_a_column_that_went_again_came_from_is_not_kept() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    raw = data(candidate)
    raw["provenance"].append(["n2", STATES.digest(), "c2", "Countries of America"])
    assert len(task.parse(raw, ITEM).provenance) == 1


def test_an_example_to_which_nothing_is_related_makes_no_item() -> None:
    assert task.prepare(EXAMPLE, Surroundings(lent=lent(MEDALS, FILMS))) is None
    assert task.prepare(EXAMPLE, Surroundings()) is None
    few = Table(["Country", "Capital"], [["Cuba", "Havana"], ["Peru", "Lima"]])
    assert task.prepare(EXAMPLE, Surroundings(lent=lent(MEDALS, few))) is None, "two rows are too few"
    whole = Table(
        ["Nation", "Gold"],
        [*([name, "1"] for name in ("Cuba", "Peru", "Chile")), *([f"Land {n}", "0"] for n in "abcd")],
    )
    example = Example(id="x", question="?", table=whole, answers=["1"])
    assert task.prepare(example, Surroundings(lent=lent(whole, STATES))) is None, "3 rows of 7 are too few"


def test_rows_that_agree_in_a_year_alone_are_about_nothing_in_common() -> None:
    years = Table(["Year", "Winner"], [[str(year), f"w{year}"] for year in range(1990, 1999)])
    others = Table(["Year", "Rain"], [[str(year), f"{year} mm"] for year in range(1990, 1999)])
    example = Example(id="x", question="?", table=years, answers=["w1990"])
    assert task.prepare(example, Surroundings(lent=lent(years, others))) is None


def test_a_form_without_scripts_adds_what_was_chosen() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    post = {"action": "add", "candidate": json.dumps(candidate)}
    draft = task.form_data(post, {})
    operations = task.form_edits()["add"](post, ITEM, [])
    raw = {**draft, "operations": [operation.to_dict() for operation in operations]}
    assert task.parse(raw, ITEM).provenance[0][:2] == ("n1", STATES.digest())
    again = task.form_data(post, raw)
    assert [origin[0] for origin in again["provenance"]] == ["n1", "n2"]


@pytest.mark.parametrize("sent", ["", "{", "[]", '{"digest": 1}', "null"])
def test_rubbish_in_a_form_adds_nothing(sent: str) -> None:
    assert task.form_data({"action": "add", "candidate": sent}, {})["provenance"] is None


def test_a_second_answer_is_pointed_out() -> None:
    capital = next(one for one in candidates(lent(MEDALS, STATES)) if one["header"] == "Capital")
    assert task.warnings(task.parse(data(capital), ITEM), ITEM) == ()
    again = {**capital, "header": "Winner", "cells": ["Cuba", "", "", ""]}
    [problem] = task.warnings(task.parse(data(again), ITEM), ITEM)
    assert (problem.code, problem.level) == ("answer_again", "warning")


def test_a_language_model_is_shown_the_same_rows_of_the_table_and_of_each_offer() -> None:
    nations = [f"Land {number}" for number in range(200)]
    large = Table(["Nation", "Gold"], [[nation, str(number)] for number, nation in enumerate(nations)])
    capitals = Table(
        ["Country", "Capital"], [[nation, f"City of {nation}"] for nation in nations], title="All"
    )
    example = Example(id="nu-2", question="how many has land 150?", table=large, answers=["150"])
    prepared = task.prepare(example, Surroundings(lent=lent(large, capitals)))
    assert prepared is not None
    lines = task.render(Item(example, inputs=prepared.inputs)).splitlines()
    shown = [line.split(" | ")[0] for line in lines if line.startswith("Land ")]
    assert "Land 150" in shown
    assert len(shown) >= 8
    assert f"  Capital: {' | '.join(f'City of {nation}' for nation in shown)}" in lines
