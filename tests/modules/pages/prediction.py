"""Pages with a model in the loop, and what the interface replies about a scripted model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from django.test import Client, override_settings

from annotation.assistance import draft_checks
from annotation.models import Assignment, Batch
from predictor import client as predictors
from predictor import listing
from predictor.protocol import Alternative, Prediction, PredictRequest
from tableqa import Example, Table
from tests.annotation.cast import FILMS, NOON, World, envelope
from tests.annotation.filling import fill
from tests.predictor.scripted import Says, ScriptedServer, answer, chat_stub, scripted

Reply = dict[str, Any]
Ask = Callable[..., Reply]

RIGHT, FOOLING = "which year saw it in cinemas?", "in which year was it released?"
OTHERS = (Alternative(("1979",), 0.15), Alternative(("Stalker", "Alien"), 0.05))
HEAT = Example("f", "when did Heat come out?", Table(["Film", "Year", "Minutes"], FILMS), ["1995"])
TWO_FILMS = Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]])
MARKED = Example(
    "m", "when did Alien come out?", TWO_FILMS, ["1979"], meta={"highlighted_cells": [["r0", "c1"]]}
)


# -- pages ------------------------------------------------------------------------------------------------


def paraphrase(world: World, client: Client) -> str:
    """Ada's first of two questions to reword, with a model that answers while she types."""
    with model(film_years):
        return _page(client, world, reworded(world))


def paraphrase_with_gateway(world: World, client: Client) -> str:
    with model(film_years), override_settings(MODEL_GATEWAY=True):
        return _page(client, world, reworded(world))


def paraphrase_with_panel(world: World, client: Client) -> str:
    with model(film_years) as server:
        panel = {name: {**server.entry, "panel": True} for name in ("other", "third")}
        with override_settings(PREDICTORS={"small": server.entry, **panel}):
            return _page(client, world, reworded(world))


def paraphrase_with_panel_and_gateway(world: World, client: Client) -> str:
    with override_settings(MODEL_GATEWAY=True):
        return paraphrase_with_panel(world, client)


def paraphrase_without_model(world: World, client: Client) -> str:
    return _page(client, world, world.batch("question_paraphrase", variant="sentence", overlap=1))


def practice(world: World, client: Client) -> str:
    with model(film_years):
        client.force_login(world.ada)
        html = client.get("/projects/films/practice/question_paraphrase/?variant=word").content.decode()
        return re.sub(r'<script src="/static/django_htmx/.*?</script>', "", html)


def value_change(world: World, client: Client) -> str:
    with model(film_years):
        return _page(client, world, edited(world))


def cell_relevance(world: World, client: Client) -> str:
    with model(film_years):
        return _page(client, world, marked(world))


# -- replies ----------------------------------------------------------------------------------------------


def paraphrase_replies(world: World, client: Client) -> dict[str, Reply]:
    """By name: what the interface replies about the question as it is, or reworded."""
    with model(film_years) as server:
        ask = asker(client, world, reworded(world))
        replies = {
            "original": ask("preview"),
            "right": ask("preview", question=RIGHT),
            "fooled": ask("preview", question=FOOLING),
        }
        for name, mood in (("busy", "busy"), ("unavailable", "failing"), ("too_large", "too_large")):
            server.mood = mood
            predictors._cached_model.cache_clear()
            replies[name] = ask("preview", question=f"is it {mood}?")
        server.mood = "well"
        replies |= {
            "checked": ask("try", question=RIGHT),
            "checked_fooled": ask("try", question=FOOLING),
            "answered_by_other_weights": ask("preview", question=RIGHT),
        }
        server.sha = "f" * 16
        replies["changed"] = ask("preview", question="what of the new weights?")
    with model(answer("1666")):
        ask = asker(client, world, reworded(world))
        replies |= {"wrong_already": ask("preview"), "still_wrong": ask("preview", question=RIGHT)}
    with model(answer("<img src=x onerror=alert(1)>", "<b>1979</b>")):
        replies["markup"] = asker(client, world, reworded(world))("preview")
    return replies


def slow_replies(world: World, client: Client) -> dict[str, Reply]:
    """About a language model, which is asked in the background: it gives a list, and later none."""
    listed, talk = '{"answers": ["1995"]}', "I would say <b>1979</b>."
    with chat_stub(listed, listed, talk) as (url, _):
        entry = {"protocol": "chat", "url": url, "model": "qwen"}
        with override_settings(PREDICTORS={"small": entry}):
            listing._resting.clear()
            batch = reworded(world)
            ask = asker(client, world, batch)
            replies = {"slow": ask("preview"), "waiting": ask("try", question=RIGHT)}
            fill(batch=batch, now=NOON)
            replies["answered"] = ask("try", question=RIGHT)
            ask("try", question=FOOLING)
            fill(batch=batch, now=NOON)
            replies["unread"] = ask("try", question=FOOLING)
            listing._resting.clear()
    return replies


def panel_replies(world: World, client: Client) -> dict[str, Reply]:
    """What one model of the panel says of the original and of a reworded question, right and wrong."""
    with model(film_years) as server, scripted(answer("42")) as other:
        entries = {"small": server.entry, "other": {**other.entry, "panel": True}}
        with override_settings(PREDICTORS=entries):
            ask = asker(client, world, reworded(world))
            replies = {
                "original": ask("preview", "other"),
                "reworded": ask("preview", "other", question=RIGHT),
            }
            other.mood = "busy"
            replies["busy"] = ask("preview", "other", question=FOOLING)
            predictors.connect(entries["other"]).close()
    return replies


def practice_reply(world: World, client: Client) -> Reply:
    with model(film_years):
        client.force_login(world.ada)
        page = client.get("/projects/films/practice/question_paraphrase/?variant=word")
        item = page.context["assignment"]
        response = {name: item[name] for name in ("type", "variant", "version", "base")}
        response["data"] = {"question": "something quite different?", "category": ""}
        body = {"response": response, "kind": "try", "seq": 1, "variant": "word", "number": 1}
        url = "/api/projects/films/practice/question_paraphrase/predictions/"
        return _json(client, url, body)


def value_change_replies(world: World, client: Client) -> dict[str, Any]:
    """About a changed year: without an answer, with one, and as a check that verifiably fools the model."""
    change = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "2001"}
    with model(film_years) as server:
        batch = edited(world)
        ask = asker(client, world, batch)
        assignment = Assignment.objects.get(batch=batch, person=world.ada)
        suggested = client.get(f"/api/assignments/{assignment.public_id}/suggestions/").json()
        program = suggested["suggestions"]["programs"][0]["program"]
        data = {"operations": [change], "program": program}
        replies = {
            "original": ask("preview"),
            "nothing": ask("try"),
            "pending": ask("preview", operations=[change]),
            "unverified": ask("preview", operations=[change], answers=["in the year of the cat"]),
            "verified": ask("preview", answers=["2001"], **data),
            "fooled": ask("try", answers=["2001"], **data),
        }
        server.says = lambda request: answer(request.table.rows[0][1], cells=((0, 1),))(request)
        predictors._cached_model.cache_clear()
        changed = {**change, "new": "2002"}
        replies["right"] = ask("preview", operations=[changed], answers=["2002"])
        replies["checked"] = ask("try", operations=[changed], answers=["2002"])
    return {**replies, "suggestions": suggested}


def cell_relevance_replies(world: World, client: Client) -> dict[str, Reply]:
    """About the marked cells: the model does well without them, finds another answer, or gives none."""
    replies: dict[str, Reply] = {}
    for name, without in (("other", ("1995",)), ("none", ()), ("blank", ("",))):
        with model(partial(reads_first_year, without=without)) as server:
            ask = asker(client, world, marked(world))
            if name == "other":
                server.mood = "failing"
                replies["unavailable"] = ask("try")
                server.mood = "well"
                predictors._cached_model.cache_clear()
            replies[name] = ask("try")
    return replies


def submitted(world: World, client: Client) -> Reply:
    """What the server replies when Ada submits her first item: the annotation and the next item."""
    with model(film_years):
        batch = reworded(world)
        _page(client, world, batch)
        assignment = Assignment.objects.get(batch=batch, person=world.ada)
        data = {"question": RIGHT, "category": "reasoning_synonym"}
        url = f"/api/assignments/{assignment.public_id}/submit/"
        return _json(client, url, {"response": envelope(assignment, data), "next": True})


def ticket(world: World, client: Client) -> Reply:
    with model(film_years), override_settings(MODEL_GATEWAY=True):
        batch = reworded(world)
        _page(client, world, batch)
        assignment = Assignment.objects.get(batch=batch, person=world.ada)
        return _json(client, f"/api/assignments/{assignment.public_id}/ticket/", {})


# -- batches and models -----------------------------------------------------------------------------------


def film_years(request: PredictRequest) -> Prediction:
    """Right about Heat, except where the question says "released"."""
    if "released" in request.question:
        return answer("1900", cells=((0, 1),), topk=OTHERS)(request)
    return answer("1995", cells=((0, 1),))(request)


def reads_first_year(request: PredictRequest, without: tuple[str, ...]) -> Prediction:
    """The year in the first row, and `without` where that cell is empty."""
    year = request.table.rows[0][1]
    return answer(*([year] if year else without))(request)


def reworded(world: World) -> Batch:
    sources = [world.import_written(HEAT, second_film(), name=f"films {Batch.objects.count()}")]
    return world.batch(
        "question_paraphrase",
        variant="word",
        overlap=1,
        loop_model="small",
        sources=sources,
        only=["f", "second"],
    )


def second_film() -> Example:
    return Example("second", "when did Alien come out?", HEAT.table, ["1979"])


def edited(world: World) -> Batch:
    sources = [world.import_written(HEAT, name=f"films {Batch.objects.count()}")]
    return world.batch(
        "value_change", variant="answer_changes", overlap=1, loop_model="small", sources=sources
    )


def marked(world: World) -> Batch:
    sources = [world.import_written(MARKED, name=f"marked {Batch.objects.count()}")]
    return world.batch("cell_relevance", overlap=1, loop_model="small", sources=sources)


@contextmanager
def model(says: Says) -> Iterator[ScriptedServer]:
    """A scripted model as "small", for which pages wait as long as a busy machine needs."""
    with (
        scripted(says) as server,
        override_settings(PREDICTORS={"small": server.entry}),
        patch.object(predictors, "CONNECT", 60.0),
        patch.object(draft_checks, "live_seconds", lambda entry: 60.0),
    ):
        yield server
        predictors.connect(server.entry).close()
        predictors._cached_model.cache_clear()


def asker(client: Client, world: World, batch: Batch) -> Ask:
    """Asks about responses to Ada's first item of this batch, as the page does."""
    _page(client, world, batch)
    assignment = Assignment.objects.get(batch=batch, person=world.ada)

    def ask(kind: str, model: str = "", **data: Any) -> Reply:
        body = {"response": envelope(assignment, data), "kind": kind, "seq": 1}
        url = f"/api/assignments/{assignment.public_id}/predictions/"
        return _json(client, url, {**body, "model": model} if model else body)

    return ask


def _page(client: Client, world: World, batch: Batch) -> str:
    client.force_login(world.ada)
    return client.get(f"/batches/{batch.public_id}/annotate/").content.decode()


def _json(client: Client, url: str, body: Reply) -> Reply:
    reply = client.post(url, body, content_type="application/json")
    assert reply.status_code in (200, 202), reply.content
    content: Reply = reply.json()
    return content
