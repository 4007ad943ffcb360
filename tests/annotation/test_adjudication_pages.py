"""An adjudicator's pages: what people did in one table, an own answer, a response that goes back; a batch's rule."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Annotation, Batch, Decision, Item, Person, RevisionRequest
from annotation.platform.refusals import ActionRefused
from annotation.queue import candidates, resolutions
from annotation.web.views.table_comparison import NEAR, PART, WHOLE, TableVariant, contrast_table
from annotation.workflow import adjudication, assignments, automatic_decisions
from tableqa import Example, Table
from tableqa.operations import (
    InsertColumn,
    InsertRow,
    MoveRow,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    Transpose,
)
from tests.annotation.cast import NOON, World

LATER = NOON + timedelta(hours=1)
FILMS = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"], ["Ran", "1985"]])


def contrast(*said: TableVariant, table: Table = FILMS, **more: Any) -> dict[str, Any]:
    found = contrast_table(table, said, **more)
    assert found is not None
    return found


def cell(found: dict[str, Any], row: int, column: int) -> dict[str, Any]:
    return found["rows"][row]["cells"][column]


def put(row: str, new: str) -> SetCell:
    return SetCell(row=row, column="c1", old=FILMS.cell(row, "c1"), new=new)


# -- one table for all --------------------------------------------------------------------------------


def test_a_row_and_a_column_that_somebody_removed_are_struck_and_counted() -> None:
    row = RemoveRow(row="r1", old=FILMS.rows[1])
    column = RemoveColumn(column="c0", old=("Film", "Heat", "Ran"))
    found = contrast(TableVariant("A", [row]), TableVariant("B", [row, column]))

    assert [row["removed"] for row in found["rows"]][:3] == [False, True, False]
    assert [column["removed"] for column in found["columns"]][:2] == [True, False]
    assert [(one["letters"], one["lines"]) for one in found["summary"]] == [("A B", 1), ("B", 1)]


def test_without_scripts_all_cells_of_a_removed_column_are_struck() -> None:
    column = RemoveColumn(column="c0", old=("Film", "Heat", "Alien", "Ran"))
    found = contrast(
        TableVariant("A", [column], marked=[("r1", "c0")]), TableVariant("B", [put("r0", "1996")])
    )

    page = render_to_string("comparing/_merged.html", {"merged": found})

    rows = re.findall(r"<tr><th.*?</tr>", page)[1:]
    assert [[" removed" in part for part in re.findall(r"<td[^>]*>", row)] for row in rows] == [
        [True, False]
    ] * 3


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ([["r0", "n1"]], "1 of the new cells is the annotator's own text."),
        ([["r0", "n1"], ["r1", "n1"]], "2 of the new cells are the annotator's own text."),
    ],
)
def test_cells_of_an_annotators_own_are_counted(own: list[list[str]], words: str) -> None:
    page = render_to_string(
        "column_adding/response.html", {"data": {"own": own, "does_not_apply": True}, "table": None}
    )

    assert words in page


def test_a_cell_says_who_marked_it() -> None:
    found = contrast(
        TableVariant("A", marked=[("r0", "c1")]), TableVariant("B", marked=[("r0", "c1"), ("r1", "c1")])
    )

    assert (cell(found, 0, 1)["marks"], cell(found, 0, 1)["all"]) == ("A B", True)
    assert (cell(found, 1, 1)["marks"], cell(found, 1, 1)["all"]) == ("B", False)
    assert "marks" not in cell(found, 2, 1)
    assert [(one["letters"], one["all"], one["marked"]) for one in found["summary"]] == [
        ("A B", True, 1),
        ("B", False, 1),
    ]


def test_a_cell_says_who_changed_it_to_what_and_equal_changes_stand_together() -> None:
    found = contrast(
        TableVariant("A", [put("r0", "1996")]),
        TableVariant("B", [put("r0", "1997")]),
        TableVariant("C", [put("r0", "1996")]),
    )

    changes = cell(found, 0, 1)["changes"]
    assert [(one["text"], one["letters"], one["all"]) for one in changes] == [
        ("1996", "A C", False),
        ("1997", "B", False),
    ]
    assert cell(found, 0, 1)["text"] == "1995"


def test_rows_and_columns_say_who_removed_inserted_moved_or_renamed_them() -> None:
    found = contrast(
        TableVariant(
            "A",
            [
                RemoveRow(row="r1", old=("Alien", "1979")),
                RenameHeader(column="c1", old="Year", new="Released"),
                InsertRow(row="n1", after="r0", cells=("Jaws", "1975")),
            ],
        ),
        TableVariant(
            "B",
            [MoveRow(row="r2", after=None), RemoveColumn(column="c0", old=("Film", "Ran", "Heat", "Alien"))],
        ),
        TableVariant(
            "C", [InsertColumn(column="n2", after="c0", header="Minutes", cells=("170", "117", "162"))]
        ),
    )

    assert [column["name"] for column in found["columns"]] == ["Film", "Minutes", "Year"]
    assert found["columns"][0]["notes"] == [{"what": "removed by", "letters": "B", "all": False}]
    assert found["columns"][1]["inserted"] == ["C"]
    assert found["columns"][2]["renamed"] == [{"text": "Released", "letters": "A", "all": False}]
    assert [row.get("number") for row in found["rows"]] == [1, None, 2, 3]
    assert [one["text"] for one in found["rows"][1]["cells"]] == ["Jaws", "", "1975"]
    assert found["rows"][1]["inserted"] == ["A"]
    assert found["rows"][2]["notes"] == [{"what": "removed by", "letters": "A", "all": False}]
    assert found["rows"][3]["notes"] == [{"what": "moved by", "letters": "B", "all": False}]
    assert cell(found, 0, 1)["text"] == "170"


def test_where_rows_and_columns_were_exchanged_every_response_has_a_table_of_its_own() -> None:
    assert contrast_table(FILMS, [TableVariant("A", [Transpose()]), TableVariant("B")]) is None


def test_of_a_long_table_the_rows_stand_there_in_which_something_was_done() -> None:
    table = Table(["n"], [[str(number)] for number in range(1_300)])
    found = contrast(
        TableVariant("A", marked=[("r7", "c0")]), TableVariant("B", marked=[("r1000", "c0")]), table=table
    )

    assert [row.get("number") or -row["left"] for row in found["rows"]] == [
        *(-6, 7, 8, 9),
        *(-990, 1000, 1001, 1002, -298),
    ]
    assert list(found["parts"]) == [1, 2, 3]
    second = contrast(TableVariant("A"), table=table, part=2)
    assert [row["number"] for row in second["rows"]] == list(range(PART + 1, 2 * PART + 1))
    assert len(contrast(TableVariant("A"), table=table)["rows"]) == WHOLE + 1
    assert len(contrast(TableVariant("A"), table=table, part=9)["rows"]) == WHOLE + 1


@given(
    st.lists(st.sets(st.tuples(st.integers(0, 79), st.integers(0, 1)), max_size=6), min_size=1, max_size=4),
    st.integers(0, 1),
)
def test_whatever_is_marked_is_drawn_with_its_letters_and_nothing_else_is(marked: Any, part: int) -> None:
    table = Table(["a", "b"], [[f"{row}", f"{row}"] for row in range(80)])
    said = [
        TableVariant("ABCD"[place], marked=[(f"r{row}", f"c{column}") for row, column in cells])
        for place, cells in enumerate(marked)
    ]
    found = contrast(*said, table=table, part=part)

    drawn = {
        (row["number"] - 1, place): one["marks"]
        for row in found["rows"]
        if "cells" in row
        for place, one in enumerate(row["cells"])
        if one.get("marks")
    }
    wanted: dict[tuple[int, int], list[str]] = {}
    for one, cells in zip(said, marked, strict=True):
        for place in cells:
            wanted.setdefault(place, []).append(one.letter)
    assert drawn == {place: " ".join(who) for place, who in wanted.items()}
    shown = sum("cells" in row for row in found["rows"]) + sum(row.get("left", 0) for row in found["rows"])
    assert shown == 80
    assert NEAR == 1


# -- the pages --------------------------------------------------------------------------------------


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


@pytest.fixture
def edits(world: World) -> Item:
    """A waiting item: two people edited the table, one calls the question unanswerable."""
    world.import_written(Example(id="w-1", question="When was Heat?", table=FILMS, answers=("1995",)))
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        overlap=3,
        sources=[world.project.sources.get(name="written")],
    )
    for who, new in (("ada", "1996"), ("bo", "1997"), ("cy", "")):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(
            assignment,
            {"unanswerable": False, "operations": [put("r0", new).to_dict()], "answers": [new]}
            if new
            else {"unanswerable": True},
        )
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return resolutions.waiting(batch).get()


def test_what_each_response_did_stands_in_the_table_itself(world: World, edits: Item) -> None:
    page = browser(world.ivo).get(reverse("adjudicate", args=[edits.public_id]))

    (line,) = re.findall(r'<td[^>]*class="[^"]*changed[^"]*".*?</td>', page.content.decode())
    assert "1995" in line
    for letter, new in re.findall(r'<span class="sr">by </span>([A-C])</b> (\d+)</ins>', line):
        found = {one.letter: one.response for one in candidates.of_item(edits)}
        assert found[letter].answers == (new,)
    assert line.count('<ins class="of">') == 2
    for name in ("Ada", "Bo", "Cy"):
        assert not re.search(rf"\b{name}\b", text(page))


def test_a_response_is_sent_back_from_the_page(world: World, edits: Item) -> None:
    answer = browser(world.ivo).post(
        reverse("adjudicate", args=[edits.public_id]),
        {"action": "send_back", "back": "A", "back_note": "Look again."},
        follow=True,
    )

    back = RevisionRequest.objects.get()
    assert back.note == "Look again."
    assert "Response A was sent back to its author. All caught up." in text(answer)
    author = browser(back.assignment.person)
    page = author.get(reverse("annotate", args=[edits.batch.public_id]))
    assert "Sent back to you: Look again." in text(page)
    assert "Ivo" not in text(page)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"back_note": "Look again."}, "Choose the response to send back."),
        ({"back": "A"}, "Write what is wrong"),
        ({"back": "Z", "back_note": "x"}, "Select a valid choice"),
    ],
)
def test_what_is_missing_to_send_it_back_is_said_and_the_panel_stays_open(
    world: World, edits: Item, sent: dict[str, str], said: str
) -> None:
    page = browser(world.ivo).post(
        reverse("adjudicate", args=[edits.public_id]), {"action": "send_back", "note": "kept", **sent}
    )

    assert said in text(page)
    assert 'data-panel="send_back" open' in page.content.decode()
    assert "kept" in text(page)
    assert not RevisionRequest.objects.exists()


def test_an_exclusion_without_a_reason_keeps_the_choice_and_asks_for_the_reason_in_its_panel(
    world: World, edits: Item
) -> None:
    page = browser(world.ivo).post(
        reverse("adjudicate", args=[edits.public_id]),
        {"action": "exclude", "choose": "A", "exclude": " ", "note": "kept"},
    )

    html = page.content.decode()
    panel = html.partition('data-panel="exclude" open')[2].partition("</details>")[0]
    assert "Write why you exclude the item." in panel
    assert "Choose at least one response" not in html
    assert re.search(r'name="choose" value="A"[^>]* checked', html)
    assert "kept" in html
    assert not Decision.objects.exists()


def test_an_item_is_excluded_with_a_reason_that_may_stand_for_the_note(world: World, edits: Item) -> None:
    browser(world.ivo).post(
        reverse("adjudicate", args=[edits.public_id]),
        {"action": "exclude", "choose": "A", "exclude": "The table has no such film."},
    )

    decision = Decision.objects.get(item=edits)
    assert (decision.kind, decision.reason, decision.note) == (
        "excluded",
        "The table has no such film.",
        "The table has no such film.",
    )


class TestAnOwnResponse:
    def address(self, item: Item, **query: str) -> str:
        more = "&".join(f"{name}={value}" for name, value in query.items())
        return reverse("own_response", args=[item.public_id]) + (f"?{more}" if more else "")

    def test_it_begins_with_a_response_that_was_given(self, world: World, edits: Item) -> None:
        letter, given = next(
            (one.letter, one.response) for one in candidates.of_item(edits) if one.response.operations
        )
        page = browser(world.ivo).get(self.address(edits, **{"from": letter}))

        (source,) = re.findall(
            r'<script id="assignment" type="application/json">(.*?)</script>', page.content.decode()
        )
        assert json.loads(source)["draft"]["response"]["data"]["answers"] == list(given.answers)

    def test_with_scripts_it_comes_whole_and_decides(self, world: World, edits: Item) -> None:
        before = Annotation.objects.count()
        data = {"unanswerable": False, "operations": [put("r0", "1999").to_dict()], "answers": ["1999"]}

        answer = browser(world.ivo).post(
            self.address(edits),
            {
                "action": "submit",
                "note": "Neither is believable.",
                "base": edits.plain().base,
                "response": json.dumps({"data": data}),
            },
        )

        assert answer.status_code == 302
        decision = Decision.objects.get(item=edits)
        assert (decision.made_by, decision.note) == (world.ivo, "Neither is believable.")
        assert decision.outcomes.get().response["data"]["answers"] == ["1999"]
        assert Annotation.objects.count() == before

    def test_without_scripts_edits_are_made_one_by_one_and_carried_along(
        self, world: World, edits: Item
    ) -> None:
        ivo = browser(world.ivo)
        page = ivo.post(
            self.address(edits, plain="1"),
            {"action": "apply", "row": "r0", "column": "c1", "value": "1999", "answers": "1999"},
        )
        (carried,) = re.findall(r'name="carried" value="([^"]*)"', page.content.decode())
        assert "1999" in carried

        sent = {"action": "submit", "carried": carried.replace("&quot;", '"'), "answers": "1999"}
        Batch.objects.filter(pk=edits.batch_id).update(note_required=True)
        refused = ivo.post(self.address(edits, plain="1"), sent)
        assert refused.status_code == 422
        assert "This batch requires a note. Write why you decide this way." in text(refused)
        assert ivo.post(self.address(edits, plain="1"), {**sent, "note": "So."}).status_code == 302
        assert Decision.objects.get(item=edits).outcomes.get().response["data"]["answers"] == ["1999"]

    def test_what_does_not_hold_is_said_and_kept(self, world: World, edits: Item) -> None:
        page = browser(world.ivo).post(
            self.address(edits),
            {"action": "submit", "note": "So.", "response": json.dumps({"data": {"answers": ["1999"]}})},
        )
        assert page.status_code == 422
        assert "1999" in page.content.decode()
        assert not Decision.objects.exists()

    @pytest.mark.parametrize("rubbish", ["", "{", "[]", '{"data": 3}', '{"data": null}'])
    def test_rubbish_is_refused(self, world: World, edits: Item, rubbish: str) -> None:
        answer = browser(world.ivo).post(
            self.address(edits), {"action": "submit", "note": "So.", "response": rubbish, "carried": rubbish}
        )
        assert answer.status_code == 422


class TestTheRuleOfABatch:
    def test_it_can_be_looked_at_before_it_is_changed(
        self, world: World, django_capture_on_commit_callbacks: Any
    ) -> None:
        batch = world.batch("relevant_cells", size=1, overlap=2)
        for who, cells in (("ada", [["r0", "c1"], ["r0", "c0"], ["r1", "c1"]]), ("bo", [["r0", "c1"]])):
            assignment = world.take(batch, who)
            assert assignment is not None
            world.answer(assignment, {"cells": cells, "unanswerable": False})
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
        mara = browser(world.mara)
        address = reverse("batch_settings", args=[batch.public_id])

        page = mara.get(address)
        assert "set overlap" in text(page)
        sent = {"section": "rule", "rule": "set_overlap", "options": "least = 0.1"}
        looked = text(mara.post(address, {**sent, "action": "look"}))
        assert "1 accepted, 0 need one more annotator, 0 need adjudication" in looked
        assert Batch.objects.get(pk=batch.pk).resolve == {}
        with django_capture_on_commit_callbacks(execute=True):
            changed = mara.post(address, {**sent, "action": "change"})
        assert "/jobs/" in changed["Location"]
        assert Batch.objects.get(pk=batch.pk).resolve == {"rule": "set_overlap", "least": 0.1}
        assert Decision.objects.filter(item__batch=batch).count() == 1

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            ({"rule": "gap"}, "Select a valid choice"),
            ({"rule": "set_overlap", "options": "least 0.1"}, "Write a name, = and a value on each line"),
            ({"rule": "set_overlap", "options": "lest = 0.1"}, "did you mean least?"),
            ({"rule": "", "options": "least = 0.1"}, "Choose a rule by name."),
        ],
    )
    def test_what_is_no_rule_is_refused_in_words(self, world: World, sent: dict[str, str], said: str) -> None:
        batch = world.batch("relevant_cells", size=1)
        page = browser(world.mara).post(
            reverse("batch_settings", args=[batch.public_id]), {**sent, "section": "rule", "action": "change"}
        )
        assert said in text(page)
        assert Batch.objects.get(pk=batch.pk).resolve == {}


def test_a_long_table_costs_as_many_queries_as_a_short_one(
    world: World, edits: Item, django_assert_max_num_queries: Any
) -> None:
    ivo = browser(world.ivo)
    ivo.get(reverse("adjudicate", args=[edits.public_id]))
    with django_assert_max_num_queries(20):
        ivo.get(reverse("adjudicate", args=[edits.public_id]))
    assert assignments.UNDO_WINDOW


def test_only_a_response_that_excludes_the_item_says_so(world: World, edits: Item) -> None:
    page = browser(world.ivo).get(reverse("adjudicate", args=[edits.public_id])).content.decode()

    parts = page.split('<div class="candidate"')[1:]
    assert ["excludes the item" in part for part in parts] == [
        one.response.unanswerable for one in candidates.of_item(edits)
    ]
    assert page.count("excludes the item") == 1


class TestTwoAtOneItem:
    """Whoever is second keeps what they wrote, and reads what the first one did."""

    def first(self, world: World, item: Item, **how: Any) -> None:
        one = next(one for one in candidates.of_item(item) if one.response.operations)
        adjudication.decide(
            item=item, by=world.rea, now=LATER, **({"choose": [one.letter], "note": "By the row."} | how)
        )

    def test_on_the_page_of_responses(self, world: World, edits: Item) -> None:
        self.first(world, edits)
        answer = browser(world.ivo).post(
            reverse("adjudicate", args=[edits.public_id]), {"choose": "B", "note": "Mine is better."}
        )

        assert answer.status_code == 409
        assert "was decided in the meantime" in text(answer)
        assert "By the row." in text(answer)
        assert "Mine is better." in text(answer)
        assert re.search(r'value="B"[^>]* checked', answer.content.decode())

    def test_while_sending_back_and_the_first_excluded_the_item(self, world: World, edits: Item) -> None:
        self.first(world, edits, choose=(), note="", exclude="No such film.")
        answer = browser(world.ivo).post(
            reverse("adjudicate", args=[edits.public_id]),
            {"action": "send_back", "back": "A", "back_note": "Is it so?"},
        )

        assert "was excluded in the meantime: No such film." in text(answer)
        assert "Is it so?" in text(answer)
        assert not RevisionRequest.objects.exists()

    def test_a_reason_without_a_full_stop_ends_the_sentence(self, world: World, edits: Item) -> None:
        unanswerable = next(one for one in candidates.of_item(edits) if one.response.unanswerable)
        self.first(world, edits, choose=[unanswerable.letter], note="It asks for a film")
        answer = browser(world.ivo).post(
            reverse("adjudicate", args=[edits.public_id]), {"choose": "B", "note": "Mine is better."}
        )

        said = "was excluded in the meantime: unanswerable. Note: It asks for a film. Your choice and text"
        assert said in text(answer)

    def test_with_a_response_of_ones_own(self, world: World, edits: Item) -> None:
        self.first(world, edits)
        data = {"unanswerable": False, "operations": [put("r0", "1999").to_dict()], "answers": ["1999"]}
        answer = browser(world.ivo).post(
            reverse("own_response", args=[edits.public_id]),
            {"action": "submit", "note": "Neither is believable.", "response": json.dumps({"data": data})},
        )

        page = answer.content.decode()
        assert answer.status_code == 409
        assert "was decided in the meantime" in page
        assert 'value="Neither is believable."' in page
        (source,) = re.findall(r'<script id="assignment" type="application/json">(.*?)</script>', page)
        assert json.loads(source)["draft"]["response"]["data"] == data
        assert Decision.objects.get(item=edits).made_by == world.rea

    def test_whoever_has_written_nothing_is_led_back_to_the_queue(self, world: World, edits: Item) -> None:
        self.first(world, edits)
        for name in ("adjudicate", "own_response"):
            answer = browser(world.ivo).get(reverse(name, args=[edits.public_id]))
            assert answer.status_code == 302


def test_a_note_is_brought_along_to_an_own_response_and_back(world: World, edits: Item) -> None:
    ivo, note = browser(world.ivo), {"note": "By the row."}
    there = ivo.post(reverse("own_response", args=[edits.public_id]) + "?from=A", {"action": "begin", **note})
    assert there.status_code == 200
    assert 'name="note" value="By the row."' in there.content.decode()
    assert "notice problem" not in there.content.decode()

    back = ivo.post(reverse("adjudicate", args=[edits.public_id]), {"action": "back", **note})

    assert "By the row." in text(back)
    assert "notice problem" not in back.content.decode()
    assert not Decision.objects.exists()


def replaced_response(world: World, item: Item) -> tuple[str, str]:
    """The letter of a response that was sent back and submitted with another answer, and the responses shown before."""
    shown = candidates.of_item(item)
    (edited,) = [candidate for candidate in shown if candidate.response.answers == ("1996",)]
    adjudication.send_back(item=item, by=world.rea, choose=edited.letter, note="Look again.", now=LATER)
    again = world.take(item.batch, "ada")
    assert again is not None
    data = {"unanswerable": False, "operations": [put("r0", "1998").to_dict()], "answers": ["1998"]}
    world.answer(again, data, now=LATER)
    automatic_decisions.resolve_batch(batch=item.batch, now=LATER)
    assert resolutions.waiting(item.batch).get() == item
    return edited.letter, candidates.in_one_text(candidate.annotation for candidate in shown)


@pytest.mark.parametrize(
    "sent",
    [
        {"choose": "LETTER", "note": "As I saw it."},
        {"action": "send_back", "back": "LETTER", "back_note": "Is it so?"},
        {"action": "exclude", "exclude": "Nobody can know."},
    ],
)
def test_nothing_rests_on_a_response_that_changed_after_the_page_was_loaded(
    world: World, edits: Item, sent: dict[str, str]
) -> None:
    letter, seen = replaced_response(world, edits)
    before = RevisionRequest.objects.count()
    answer = browser(world.ivo).post(
        reverse("adjudicate", args=[edits.public_id]),
        {name: value.replace("LETTER", letter) for name, value in sent.items()} | {"responses": seen},
    )

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "The responses changed after this page was loaded." in text(answer)
    assert not Decision.objects.exists()
    assert RevisionRequest.objects.count() == before
    assert all(words in page for words in sent.values() if " " in words)
    assert not re.search(r'name="(choose|back)"[^>]* checked', page)
    (now,) = re.findall(r'name="responses" value="([^"]*)"', page)
    assert now != seen


def test_an_own_response_is_not_decided_over_responses_that_changed(world: World, edits: Item) -> None:
    _, seen = replaced_response(world, edits)
    data = {"unanswerable": False, "operations": [put("r0", "1999").to_dict()], "answers": ["1999"]}
    sent = {"action": "submit", "response": json.dumps({"data": data}), "responses": seen}
    ivo, address = browser(world.ivo), reverse("own_response", args=[edits.public_id])
    answer = ivo.post(address, sent)

    assert "The responses changed after this page was loaded." in text(answer)
    (again,) = re.findall(r'name="responses" value="([^"]*)"', answer.content.decode())
    assert "changed after this page" in text(ivo.post(address, {**sent, "responses": again}))
    assert not Decision.objects.exists()


def test_a_letter_is_not_shown_as_chosen_while_another_response_has_it(world: World, edits: Item) -> None:
    letter, seen = replaced_response(world, edits)
    adjudication.send_back(item=edits, by=world.rea, choose=letter, note="Once more.", now=LATER)

    sent = {"choose": letter, "note": "As I saw it.", "responses": seen}
    answer = browser(world.ivo).post(reverse("adjudicate", args=[edits.public_id]), sent)

    assert answer.status_code == 409
    assert "A response was sent back to its author or changed." in text(answer)
    assert "As I saw it." in text(answer)
    assert not re.search(r'name="choose"[^>]* checked', answer.content.decode())


def test_a_decision_that_meets_the_change_in_between_is_refused(world: World, edits: Item) -> None:
    letter, seen = replaced_response(world, edits)
    with pytest.raises(ActionRefused) as refused:
        adjudication.decide(item=edits, by=world.ivo, choose=[letter], seen=seen, now=LATER)

    assert refused.value.code == "responses_changed"


def test_an_undo_whose_answer_was_lost_shows_the_item_again_when_it_is_repeated(
    world: World, edits: Item
) -> None:
    (unanswerable,) = [one for one in candidates.of_item(edits) if one.response.unanswerable]
    adjudication.decide(
        item=edits, by=world.ivo, choose=[unanswerable.letter], note="No such film.", now=LATER
    )
    ivo, address = browser(world.ivo), reverse("adjudication", args=[edits.batch.public_id])

    pages = [ivo.post(address, {"undo": edits.public_id}, headers={"X-Lane": "1"}) for _ in range(2)]

    assert [page.status_code for page in pages] == [200, 200]
    for page in pages:
        assert 'data-announced="Decision undone."' in page.content.decode()
        assert "No such film." in text(page)
        assert re.findall(r'value="([A-Z])"[^>]* checked', page.content.decode()) == [unanswerable.letter]


def test_sending_back_whose_undo_was_answered_in_vain_is_not_undone_twice(world: World, edits: Item) -> None:
    adjudication.send_back(item=edits, by=world.ivo, choose="A", note="Look again.", now=LATER)
    ivo, address = browser(world.ivo), reverse("adjudication", args=[edits.batch.public_id])

    pages = [ivo.post(address, {"undo": edits.public_id}, headers={"X-Lane": "1"}) for _ in range(2)]

    assert [page.status_code for page in pages] == [200, 200]
    assert all('data-announced="Sending back undone."' in page.content.decode() for page in pages)
