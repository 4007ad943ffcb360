"""The verdict of the model in the loop on pages as the server makes them: without scripts, and before they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from django.test import Client

from annotation.assistance import judgements, verdict_line, visible_verdicts
from annotation.models import Annotation, Assignment, Batch, Try
from predictor import client as predictors
from tableqa import Example, Table
from tests.annotation.cast import World
from tests.annotation.elements import Element, parsed
from tests.annotation.test_predicting import a_batch, knows_the_word_come, look
from tests.predictor.scripted import ScriptedServer, answer, scripted

MARKED = Example(
    "m-1",
    "when did Alien come out?",
    Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]]),
    ["1979"],
    meta={"highlighted_cells": [["r0", "c1"]]},
)


@pytest.fixture
def server(settings: Any, patient: None) -> Iterator[ScriptedServer]:
    with scripted(knows_the_word_come) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        predictors.connect(script.entry).close()
        predictors._cached_model.cache_clear()


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.ada)
    return client


def marked(world: World) -> Batch:
    return a_batch(world, "cell_relevance", sources=[world.import_written(MARKED)], overlap=1)


def opened(ada: Client, batch: Batch) -> Element:
    return parsed(ada.get(f"/batches/{batch.public_id}/annotate/").content.decode())


def checked(ada: Client, batch: Batch, **fields: str) -> Element:
    """The page after its Check button was pressed."""
    opened(ada, batch)
    form = {"assignment": Assignment.objects.get(batch=batch).public_id, "action": "check", **fields}
    reply = ada.post(f"/batches/{batch.public_id}/annotate/", form)
    assert reply.status_code == 200
    return parsed(reply.content.decode())


def answers(page: Element) -> list[str]:
    return [
        line.text
        for name in ("original", "perturbed")
        for part in page.all("div", data_part=name)
        for line in part.all("li")
    ]


def test_the_line_is_empty_before_anybody_has_asked(
    world: World, server: ScriptedServer, ada: Client
) -> None:
    prediction = opened(ada, a_batch(world, overlap=1)).find("askew-prediction")

    assert "hidden" not in prediction.attributes
    assert prediction.attributes["data-when"] == "live"
    assert prediction.find("p", data_part="line").text == ""
    assert "hidden" in prediction.find("dl", data_part="looks").attributes
    assert prediction.find("span", data_part="name").text == "small · MIT"
    assert server.asked == [], "nothing is asked before the page is there"


def test_without_a_model_the_page_has_no_line_and_no_button(world: World, ada: Client) -> None:
    page = opened(ada, world.batch("question_paraphrase", variant="sentence", overlap=1))

    assert "hidden" in page.find("askew-prediction").attributes
    assert page.all("button", value="check") == []
    assert "hidden" in page.find("button", name_="check").attributes


def test_without_scripts_a_button_asks_the_model(world: World, server: ScriptedServer, ada: Client) -> None:
    page = checked(ada, a_batch(world, overlap=1), question="which year saw it in cinemas?")

    prediction = page.find("askew-prediction")
    shown = [part.text for part in prediction.find("p", data_part="line").all("span")]
    assert shown == ["Still right", "1995", "fairly sure", "unverified"]
    assert prediction.attributes["data-verdict"] == "not_fooled"
    assert answers(prediction) == ["1995", "1995"]
    states = [state.text for state in prediction.all("span", class_="state")]
    assert states == ["right", "right"]
    assert "which year saw it in cinemas?" in [area.text for area in page.all("textarea")]
    assert prediction.find("p", data_part="tries").text == "1 check"
    assert Try.objects.get().kind == "person"


@pytest.mark.parametrize("none", [(), ("",)])
def test_without_scripts_a_model_that_gives_no_answer_is_said_to_give_none(
    world: World, server: ScriptedServer, ada: Client, none: tuple[str, ...]
) -> None:
    server.says = lambda request: answer(*([request.table.rows[0][1]] if request.table.rows[0][1] else none))(
        request
    )

    page = checked(ada, marked(world)).find("askew-prediction")

    assert page.find("p", data_part="line").text.startswith("Wrong without the cells no answer")
    assert answers(page) == ["1979", "no answer"]
    assert page.find("div", data_part="perturbed").find("span", class_="state").text == "wrong"


def test_without_scripts_an_item_that_the_model_gets_wrong_has_one_line_and_the_expected_answer(
    world: World, server: ScriptedServer, ada: Client
) -> None:
    server.says = answer("1666")

    page = checked(ada, a_batch(world, overlap=1), question="which year saw it?").find("askew-prediction")

    assert page.find("p", data_part="line").text == "Model already wrong; change it anyway."
    assert "A correct change of the question or table is enough." in page.find("p", data_part="words").text
    assert page.find("div", data_part="expected").find("li").text == "1995"


def test_without_scripts_answers_are_text_whatever_they_say(
    world: World, server: ScriptedServer, ada: Client
) -> None:
    server.says = answer("<img src=x onerror=alert(1)>", "<b>1979</b>")

    page = checked(ada, a_batch(world, overlap=1), question="which year?").find("askew-prediction")

    assert answers(page) == ["<img src=x onerror=alert(1)>", "<b>1979</b>"] * 2
    assert page.all("img") == page.all("b") == []


@pytest.mark.parametrize(("rows", "columns", "words"), [(5_000, 2, "5,000 rows"), (3, 200, "200 columns")])
def test_a_table_that_no_model_reads_names_the_limit_it_passes_and_can_be_submitted(
    world: World, server: ScriptedServer, ada: Client, rows: int, columns: int, words: str
) -> None:
    header = [f"column {number}" for number in range(columns)]
    body = [[f"{row}.{number}" for number in range(columns)] for row in range(rows)]
    large = Example("large-1", "what comes first in the first column?", Table(header, body), ["0.0"])
    batch = a_batch(world, sources=[world.import_written(large)], overlap=1)
    fields = {"question": "what is at the top on the left?", "category": "reasoning_synonym"}

    page = checked(ada, batch, **fields)

    prediction = page.find("askew-prediction")
    assert prediction.attributes["data-verdict"] == "model_error"
    assert words in prediction.find("p", data_part="words").text
    assert server.asked == [], "what no model takes is not sent"
    form = {"assignment": Assignment.objects.get().public_id, "action": "submit", **fields}
    assert ada.post(f"/batches/{batch.public_id}/annotate/", form).status_code == 302
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize("mood", ["failing", "busy"])
def test_without_scripts_a_model_that_is_away_leaves_what_was_typed_and_a_way_on(
    world: World, server: ScriptedServer, ada: Client, mood: str
) -> None:
    server.mood = mood
    batch = a_batch(world, overlap=1)

    page = checked(ada, batch, question="which year saw it in cinemas?")

    assert "You can continue and submit." in page.find("askew-prediction").find("p", data_part="words").text
    assert "which year saw it in cinemas?" in [area.text for area in page.all("textarea")]
    assert not Try.objects.exists()


class TestTheCountOfToday:
    """Of checks with an answer that the program confirms; anything else is no record."""

    FILMS = Table(["Film", "Year"], [["Psycho", "1960"], ["Alien", "1979"], ["Heat", "1995"]])
    PROGRAM: ClassVar[dict[str, Any]] = {
        "op": "select",
        "column": "c1",
        "rows": {"op": "where", "column": "c0", "relation": "equals", "rows": {"op": "all_rows"}},
    }

    @pytest.fixture
    def checks(self, world: World, server: ScriptedServer) -> Callable[..., visible_verdicts.VisibleVerdict]:
        """Checks of a year that was changed to 2001, for one film after the other."""
        years = {"Alien": "1979", "Heat": "1995"}
        films = [
            Example(f"m-{film}", f"when did {film} come out?", self.FILMS, [year])
            for film, year in years.items()
        ]
        server.says = lambda request: answer(next(years[film] for film in years if film in request.question))(
            request
        )
        batch = a_batch(
            world,
            "value_change",
            variant="answer_changes",
            overlap=1,
            sources=[world.import_written(*films)],
        )

        taken: dict[str, Assignment] = {}
        while assignment := world.take(batch, "ada", holding=[each.public_id for each in taken.values()]):
            taken[assignment.item.example.external_id] = assignment

        def check(
            film: str, answers: str, kind: str = "try", changes: int = 1
        ) -> visible_verdicts.VisibleVerdict:
            assignment = world.reload(taken[f"m-{film}"])
            rows = sorted(range(3), key=lambda row: self.FILMS.rows[row][0] != film)[:changes]
            operations = [
                {
                    "op": "set_cell",
                    "row": f"r{row}",
                    "column": "c1",
                    "at": [row, 1],
                    "old": self.FILMS.rows[row][1],
                    "new": "2001",
                }
                for row in rows
            ]
            program = {**self.PROGRAM, "rows": {**self.PROGRAM["rows"], "value": film}}
            data = {"operations": operations, "answers": [answers], "program": program}
            return look(assignment, data, kind)

        return check

    def test_has_each_item_once_and_no_preview(
        self, checks: Callable[..., visible_verdicts.VisibleVerdict]
    ) -> None:
        preview = checks("Alien", "2001", "preview")
        assert (preview.verdict, preview.fooled_today) == ("fooled", None)
        assert checks("Alien", "2001").fooled_today == 1
        assert checks("Alien", "2001").fooled_today == 1, "the same check again"
        assert checks("Heat", "2001").fooled_today == 2

    def test_has_nothing_that_no_program_confirms(
        self, checks: Callable[..., visible_verdicts.VisibleVerdict]
    ) -> None:
        nonsense = checks("Alien", "in the year of the cat")
        assert nonsense.fooled_today is None
        assert (nonsense.line[0], nonsense.line[-1]) == (
            ("verdict", "Does not count"),
            ("contradicted", "contradicted"),
        )
        assert "another answer" in nonsense.meaning
        verified = checks("Alien", "2001")
        assert (verified.fooled_today, verified.line[-1]) == (1, ("verified", "verified"))
        assert checks("Heat", "in the year of the dog").fooled_today is None
        refused = checks("Heat", "2001", changes=3)
        assert (refused.verdict, refused.fooled_today) == ("pending", None)
        assert checks("Heat", "2001").fooled_today == 2


@pytest.mark.parametrize("changed", [False, True])
def test_without_a_gold_answer_nothing_is_called_right(changed: bool) -> None:
    bare = Example("x", "when did Heat come out?", Table(["Film", "Year"], [["Heat", "1995"]]), [])
    asked = judgements.ExamplePair(bare, bare if changed else None)
    said = {"answers": ["1995"], "text": "1995"}
    held = judgements.judge_pair(asked, said, said if changed else None)
    line = verdict_line.parts(
        held,
        original=["1995"],
        perturbed=["1995"] if changed else None,
        score=0.95,
        of_meaning="",
        own={},
    )
    assert line == [("verdict", "No gold answer"), ("answer", "1995"), ("confidence", "very sure")]
    assert held.words == "This example has no gold answer. The model cannot be judged."
