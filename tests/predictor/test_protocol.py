"""The wire: what goes out comes in again, and what is wrong or too large is refused by name, at both ends."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.protocol import (
    LIMITS,
    Alternative,
    ModelInfo,
    Options,
    Prediction,
    PredictRequest,
    ProtocolError,
    models_from_dict,
)
from tableqa import Context, Example, Table, Turn

TABLE = Table(header=["City", "People"], rows=[["Oslo", "700"], ["Bergen", "290"]], title="Norway")
ASKED = PredictRequest(question="which city is larger?", table=TABLE, model="tapex", slot="s1", seq=4)
ANSWER = Prediction(
    answers=("Oslo",), text="oslo", op="select", cells=((0, 0),), score=0.8, rows_seen=2, rows_total=2, model="m@" + "a" * 12
)  # fmt: skip

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def over_the_wire(data: dict[str, Any]) -> Any:
    return json.loads(json.dumps(data))


def refusal(data: object) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        PredictRequest.from_dict(data)
    return caught.value


@st.composite
def requests(draw: st.DrawFn) -> PredictRequest:
    width = draw(st.integers(1, 4))
    row = st.lists(texts, min_size=width, max_size=width)
    return PredictRequest(
        question=draw(texts.filter(str.strip)),
        table=Table(header=draw(row), rows=draw(st.lists(row, max_size=4)), title=draw(texts), caption=draw(texts)),
        history=tuple(draw(st.lists(st.builds(Turn, texts, st.lists(texts, max_size=2)), max_size=2))),
        context=draw(st.none() | st.builds(Context, texts, texts, texts)),
        options=Options(draw(st.integers(1, 8)), draw(st.integers(1, 256)), draw(st.integers(1, 10))),
        deadline_ms=draw(st.integers(1, 120_000)),
    )  # fmt: skip


@given(requests())
def test_a_request_survives_the_wire(request: PredictRequest) -> None:
    again = PredictRequest.from_dict(over_the_wire(request.to_dict()))
    assert again == request
    assert again.key == request.key


def test_an_answer_survives_the_wire() -> None:
    answer = Prediction(
        answers=("Salt Lake City, Utah",),
        text="<b>x</b>",
        rows_seen=1,
        rows_total=2,
        topk=(Alternative(("x", "y"), 0.25),),
        truncated=True,
        model="m@0123abcd",
        seq=7,
        cached=True,
        ms={"queue": 1.5, "compute": 20.0},
    )
    assert Prediction.from_dict(over_the_wire(answer.to_dict()), TABLE.shape) == answer


def test_requests_that_differ_in_slot_number_and_deadline_alone_share_their_answer() -> None:
    other = PredictRequest(question=ASKED.question, table=TABLE, slot="s2", seq=9, deadline_ms=5)
    assert other.key == ASKED.key
    assert PredictRequest(question=ASKED.question, table=TABLE, options=Options(beams=5)).key != ASKED.key


def test_titles_history_and_context_of_an_example_travel_and_ids_do_not() -> None:
    example = Example(
        id="secret-id",
        question="and the other?",
        table=Table(
            header=["City"], rows=[["Oslo"]], title="Norway", caption="in 2020", row_ids=["n7"], column_ids=["c0"]
        ),
        answers=["secret-gold"],
        meta={"note": "secret-meta"},
        context=Context(text="The fjords.", unit="EUR"),
        history=[Turn("which is larger?", ["Oslo"])],
    )  # fmt: skip
    sent = json.dumps(PredictRequest.about(example, model="tapex").to_dict())
    for said in ("Norway", "in 2020", "The fjords.", "EUR", "which is larger?"):
        assert said in sent
    for kept in ("secret-id", "secret-gold", "secret-meta", "n7"):
        assert kept not in sent


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"protocol": 2}, 422, "protocol must be 1"),
        ({"question": "  "}, 422, "question is empty"),
        ({"question": 3}, 422, "question is not text"),
        ({"question": "x" * (LIMITS.question_characters + 1)}, 413, "question is longer"),
        ({"question": "half \ud800"}, 422, "surrogate"),
        ({"gold": "Oslo"}, 422, "no field gold"),
        ({"model": "../../etc"}, 422, "model must be a name"),
        ({"slot": "a b"}, 422, "slot must be a string"),
        ({"seq": -1}, 422, "seq must be a whole number"),
        ({"seq": True}, 422, "seq must be a whole number"),
        ({"deadline_ms": 0}, 422, "deadline_ms"),
        ({"options": {"beams": 99}}, 422, "options.beams"),
        ({"options": {"temperature": 1}}, 422, "no field temperature"),
        ({"table_sha": "0" * 64}, 422, "not the digest of this table"),
        ({"table": {"header": ["a"], "rows": [["1", "2"]]}}, 422, "row 1 has 2 cells"),
        ({"table": {"header": ["a"], "rows": [[1]]}}, 422, "a cell must be a string"),
        ({"table": {"header": [], "rows": []}}, 422, "no columns"),
        ({"table": {"header": ["a"]}}, 422, "lacks rows"),
        ({"table": {"header": ["a"], "rows": [["1"]] * 5_000}}, 413, "5,000 rows"),
        ({"table": {"header": ["a"] * 200, "rows": []}}, 413, "200 columns"),
        ({"table": {"header": ["a"] * 100, "rows": [["1"] * 100] * 500}}, 413, "50,000 cells"),
        ({"table": {"header": ["a"], "rows": [["x" * 10_001]]}}, 413, "a cell of the table"),
        ({"history": [{"question": "q", "answers": []}] * 21}, 413, "21 turns"),
        ({"history": [{"question": "q"}]}, 422, "lacks answers"),
        ({"context": {"text": "x" * 50_001}}, 413, "context is longer"),
    ],
)
def test_what_is_wrong_or_too_large_is_refused_by_name(
    change: dict[str, Any], status: int, words: str
) -> None:
    data = ASKED.to_dict()
    if "table" in change:
        del data["table_sha"]
    error = refusal(data | change)
    assert error.status == status
    assert words in error.message
    assert error.to_dict()["error"]["code"] == error.code


@pytest.mark.parametrize("data", [None, [], "text", {}, {"protocol": 1}])
def test_what_is_no_request_is_refused(data: object) -> None:
    assert refusal(data).status == 422


@pytest.mark.parametrize(
    "change",
    [
        {"answers": "Oslo"},
        {"answers": [1]},
        {"answers": ["x" * (LIMITS.answer_characters + 1)]},
        {"answers": ["x"] * (LIMITS.answers + 1)},
        {"text": None},
        {"op": "<script>"},
        {"cells": [[2, 0]]},
        {"cells": [[0, 2]]},
        {"cells": [[0]]},
        {"cells": [[-1, 0]]},
        {"score": 7},
        {"score": float("nan")},
        {"topk": [{"answers": ["x"]}]},
        {"rows_total": 3},
        {"rows_seen": 3},
        {"truncated": 1},
        {"model": "m"[:0]},
        {"model": "<img>"},
        {"seq": "1"},
        {"ms": {"queue": 1}},
        {"ms": {"queue": float("inf"), "compute": 1}},
        {"extra": 1},
    ],
)
def test_a_lying_server_is_not_believed(change: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        Prediction.from_dict(ANSWER.to_dict() | change, TABLE.shape)
    assert (caught.value.status, caught.value.code) == (502, "bad_answer")


def test_a_list_of_models_is_read_strictly() -> None:
    info = ModelInfo("tapex", "0123456789ab", "tapex", "MIT")
    metered = replace(info, max_tokens=50, parallel=16)
    models = [info.to_dict(), metered.to_dict()]
    assert models_from_dict({"protocol": 1, "models": models}) == (info, metered)
    for wrong in (
        {},
        {"protocol": 1, "models": 3},
        {"protocol": 1, "models": [info.to_dict() | {"id": "tapex"}]},
        {"protocol": 1, "models": [info.to_dict() | {"parallel": -1}]},
    ):
        with pytest.raises(ProtocolError):
            models_from_dict(wrong)


def test_reading_the_wire_loads_no_model_library() -> None:
    heavy = "{'torch', 'transformers', 'onnxruntime', 'httpx', 'starlette', 'numpy'}"
    code = f"import predictor.protocol, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_that_the_web_process_imports_loads_a_model_library() -> None:
    heavy = "{'torch', 'transformers', 'onnxruntime', 'tokenizers', 'ray'}"
    code = (
        "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup()\n"
        "import config.urls, config.wsgi, annotation, tasks.contract, tableqa, predictor.client, sys\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
