"""The wire between the platform and models that answer questions about tables, as frozen dataclasses.

    POST /v1/predict   PredictRequest -> Prediction, or {"error": {"code", "message"}} with one of `STATUSES`
    GET  /v1/models    {"protocol": 1, "models": [ModelInfo]}

`from_dict` is strict: an unknown field, a wrong type or a value beyond `LIMITS` raises ProtocolError, in a request
as in an answer, because neither end trusts the other. `to_dict` is what `from_dict` reads. Standard library and
`tableqa` only: the web process imports this, the predictor's process too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from predictor.configuration import MAX_PARALLEL
from predictor.usage import MAX_TOKENS, Call, call_from_dict
from tableqa import Context, Example, Table, Turn
from tableqa.core.canonical_json import digest
from tableqa.core.foreign_values import unstorable
from tableqa.data.answer_scales import scale_of, with_scale
from tableqa.data.examples import ExampleError
from tableqa.data.tables import TableError

PROTOCOL = 1

STATUSES = {
    "superseded": 409,  # a newer request of the same slot has come
    "too_large": 413,
    "bad_request": 422,
    "unreadable": 422,  # the reply has no end that can be read; asking again does not help
    "no_such_model": 404,
    "too_fast": 429,  # one slot asks more often than any person types
    "cannot_answer": 500,
    "bad_answer": 502,  # what came back is not a prediction about this table
    "busy": 503,
    "not_ready": 503,
    "too_late": 504,
}
"""Every code that an error may carry, with its HTTP status. `busy`, `not_ready` and `too_fast` say when to come back."""


class ProtocolError(Exception):
    """A request or an answer that is refused: `status` is HTTP's, `code` one of `STATUSES`, `message` for a person.

    `retry_after` is in seconds, None where trying again does not help. `usage` is what a language model used in vain (None
    for other models), `state` how its request ended (`predictor.chat.Kind`; "" for other models).
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        retry_after: float | None = None,
        usage: Iterable[Call] | None = None,
        state: str = "",
    ) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.usage = None if usage is None else tuple(usage)
        self.state = state

    def __str__(self) -> str:
        return self.message

    def to_dict(self) -> dict[str, Any]:
        """The body of the response."""
        usage = {} if self.usage is None else {"usage": [call.to_dict() for call in self.usage]}
        state = {"state": self.state} if self.state else {}
        return {"error": {"code": self.code, "message": self.message, **usage, **state}}

    def without_usage(self) -> ProtocolError:
        """The same error for another person who waited for it: what was used is counted once."""
        usage = None if self.usage is None else ()
        return ProtocolError(self.status, self.code, self.message, self.retry_after, usage, self.state)


def refused(
    code: str,
    message: str,
    retry_after: float | None = None,
    usage: Iterable[Call] | None = None,
    state: str = "",
) -> ProtocolError:
    """The error of that code."""
    return ProtocolError(STATUSES[code], code, message, retry_after, usage, state)


def usage_from_list(data: object) -> tuple[Call, ...]:
    """Read the requests of a language model. Raises ProtocolError(502, "bad_answer")."""
    if not isinstance(data, list) or len(data) > LIMITS.calls:
        raise refused("bad_answer", f"usage must be a list of at most {LIMITS.calls}")
    try:
        return tuple(call_from_dict(entry) for entry in data)
    except ValueError as error:
        raise refused("bad_answer", str(error)) from None


def state_from(data: object) -> str:
    """Read the state of a reply of a language model. Raises ProtocolError(502, "bad_answer")."""
    if not isinstance(data, str) or not _OPERATION.fullmatch(data):
        raise refused("bad_answer", "state must be a word of small letters")
    return data


@dataclass(frozen=True)
class Limits:
    """What a request and an answer may measure; a request beyond one is answered 413, naming it."""

    body_bytes: int = 4_000_000
    rows: int = 2_000
    columns: int = 128
    cells: int = 40_000
    cell_characters: int = 10_000
    question_characters: int = 2_000
    context_characters: int = 50_000
    turns: int = 20
    beams: int = 8
    new_tokens: int = 256
    topk: int = 10
    deadline_ms: int = 120_000
    answer_bytes: int = 1_000_000
    answers: int = 2_000
    answer_characters: int = 4_000
    answer_cells: int = 40_000
    calls: int = 100


LIMITS = Limits()

_SLOT = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""What a model may be called."""
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}(@[0-9a-f]{8,64})?")
_OPERATION = re.compile(r"[a-z_]{0,32}")


@dataclass(frozen=True)
class Options:
    """How a model is to answer. beams=1 is greedy, for the page; beams=5 is what the papers report."""

    beams: int = 1
    max_new_tokens: int = 128
    topk: int = 1

    def to_dict(self) -> dict[str, Any]:
        return {"beams": self.beams, "max_new_tokens": self.max_new_tokens, "topk": self.topk}

    @classmethod
    def from_dict(cls, data: object) -> Options:
        """Fields that are absent have their defaults. Raises ProtocolError."""
        payload = _object(data, "options", optional=("beams", "max_new_tokens", "topk"))
        return cls(
            beams=_whole(payload.get("beams", 1), "options.beams", 1, LIMITS.beams),
            max_new_tokens=_whole(
                payload.get("max_new_tokens", 128), "options.max_new_tokens", 1, LIMITS.new_tokens
            ),
            topk=_whole(payload.get("topk", 1), "options.topk", 1, LIMITS.topk),
        )


@dataclass(frozen=True)
class PredictRequest:
    """A question about a table, for one model.

    model        its name, or name@sha to have no other weights answer; "" for the only one a process serves
    table        header, rows, title and caption travel; ids, spans and further header rows do not
    history      earlier turns of a dialogue, oldest first
    context      paragraphs, unit and scale beside the table, or None
    slot, seq    who is typing (a random string per lease) and the how-manieth request of theirs this is: a higher
                 seq supersedes a lower one of the same slot. Without a slot nothing supersedes.
    deadline_ms  after which no client waits any more
    """

    question: str
    table: Table
    model: str = ""
    history: tuple[Turn, ...] = ()
    context: Context | None = None
    options: Options = field(default_factory=Options)
    slot: str = ""
    seq: int = 0
    deadline_ms: int = 2_000

    @classmethod
    def about(cls, example: Example, **others: Any) -> PredictRequest:
        """The request that asks an example's question, with its titles, history, context and scale."""
        return cls(
            question=example.question,
            table=example.table,
            history=example.history,
            context=with_scale(example.context, scale_of(example)),
            **others,
        )

    @cached_property
    def table_sha(self) -> str:
        """The sha256 of the table as it travels."""
        return digest(_table_to_dict(self.table))

    @cached_property
    def key(self) -> str:
        """What two requests share that have the same answer: all but slot, seq, model and deadline."""
        return digest(
            {
                "question": self.question,
                "table": self.table_sha,
                "history": [turn.to_dict() for turn in self.history],
                "context": None if self.context is None else self.context.to_dict(),
                "options": self.options.to_dict(),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """The body of POST /v1/predict. Fields that say nothing are left out."""
        data: dict[str, Any] = {
            "protocol": PROTOCOL,
            "model": self.model,
            "question": self.question,
            "table": _table_to_dict(self.table),
            "table_sha": self.table_sha,
            "options": self.options.to_dict(),
            "deadline_ms": self.deadline_ms,
        }
        if self.history:
            data["history"] = [turn.to_dict() for turn in self.history]
        if self.context is not None:
            data["context"] = self.context.to_dict()
        if self.slot:
            data |= {"slot": self.slot, "seq": self.seq}
        return data

    @classmethod
    def from_dict(cls, data: object) -> PredictRequest:
        """Read and check a request. Raises ProtocolError: 422 for what is wrong, 413 for what is too large."""
        payload = _object(
            data,
            "the request",
            required=("protocol", "question", "table"),
            optional=("model", "table_sha", "options", "history", "context", "slot", "seq", "deadline_ms"),
        )
        if payload["protocol"] != PROTOCOL or isinstance(payload["protocol"], bool):
            raise refused(
                "bad_request", f"protocol must be {PROTOCOL}, not {str(payload['protocol'])[:40]!r}"
            )
        question = _text(payload["question"], "question", LIMITS.question_characters, "too_large")
        if not question.strip():
            raise refused("bad_request", "question is empty")
        slot, model = payload.get("slot", ""), payload.get("model", "")
        if not isinstance(slot, str) or (slot and not _SLOT.fullmatch(slot)):
            raise refused("bad_request", "slot must be a string of 1 to 64 letters, digits and _.:-")
        if not isinstance(model, str) or (model and not _MODEL.fullmatch(model)):
            raise refused("bad_request", "model must be a name, or a name, @ and the hash of its weights")
        request = cls(
            question=question,
            table=_table_from_dict(payload["table"]),
            model=model,
            history=_history(payload.get("history", [])),
            context=_context(payload.get("context")),
            options=Options.from_dict(payload.get("options", {})),
            slot=slot,
            seq=_whole(payload.get("seq", 0), "seq", 0, 2**53),
            deadline_ms=_whole(payload.get("deadline_ms", 2_000), "deadline_ms", 1, LIMITS.deadline_ms),
        )
        if payload.get("table_sha", request.table_sha) != request.table_sha:
            raise refused("bad_request", "table_sha is not the digest of this table")
        return request


@dataclass(frozen=True)
class Alternative:
    """One more answer that a model thought of, and how sure it was of it (0 to 1)."""

    answers: tuple[str, ...]
    score: float

    def to_dict(self) -> dict[str, Any]:
        return {"answers": list(self.answers), "score": self.score}

    @classmethod
    def from_dict(cls, data: object) -> Alternative:
        """Raises ProtocolError."""
        payload = _object(data, "topk", required=("answers", "score"), code="bad_answer")
        return cls(_answers(payload["answers"], "topk.answers"), _share(payload["score"], "topk.score"))


@dataclass(frozen=True)
class Prediction:
    """What a model answered.

    answers      a list, for any text of the model; () where it gives none
    text         its raw output, so that every verdict can be recomputed; never markup, to be shown as text
    op           its operation (select, count, sum, ...; "generate" for a model that writes), or ""
    cells        (row, column) places, from 0, of the table that was asked about; () where it is unknown
    score        how sure it is, 0 to 1, or None where it is unknown
    topk         its other answers, the likeliest first
    rows_seen    this number of rows from the top were in its input, of rows_total
    truncated    whether anything of question, table or context was left out or cut short
    model        name@sha
    ms           "queue" and "compute", in milliseconds
    usage        the requests to a language model behind it, retries included; () for other models and what is cached
    state        "no_list" where the reply of a language model holds no list of answers, else ""
    """

    answers: tuple[str, ...]
    text: str
    rows_seen: int
    rows_total: int
    op: str = ""
    cells: tuple[tuple[int, int], ...] = ()
    score: float | None = None
    topk: tuple[Alternative, ...] = ()
    truncated: bool = False
    model: str = ""
    seq: int = 0
    cached: bool = False
    ms: Mapping[str, float] = field(default_factory=lambda: {"queue": 0.0, "compute": 0.0})
    usage: tuple[Call, ...] = ()
    state: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "answers": list(self.answers),
            "text": self.text,
            "op": self.op,
            "cells": [list(cell) for cell in self.cells],
            "score": self.score,
            "topk": [alternative.to_dict() for alternative in self.topk],
            "rows_seen": self.rows_seen,
            "rows_total": self.rows_total,
            "truncated": self.truncated,
            "model": self.model,
            "seq": self.seq,
            "cached": self.cached,
            "ms": {name: round(value, 3) for name, value in self.ms.items()},
            **({"usage": [call.to_dict() for call in self.usage]} if self.usage else {}),
            **({"state": self.state} if self.state else {}),
        }

    @classmethod
    def from_dict(cls, data: object, shape: tuple[int, int] | None = None) -> Prediction:
        """Read an answer; with the `shape` of the table that was asked about, its places are checked against it.

        Raises ProtocolError(502, "bad_answer") for anything that is not a prediction.
        """
        optional = ("usage", "state")
        names = tuple(entry.name for entry in fields(cls) if entry.name not in optional)
        payload = _object(data, "the answer", required=names, optional=optional, code="bad_answer")
        if not isinstance(payload["topk"], list) or len(payload["topk"]) > LIMITS.topk:
            raise refused("bad_answer", f"topk must be a list of at most {LIMITS.topk}")
        for name in ("truncated", "cached"):
            if not isinstance(payload[name], bool):
                raise refused("bad_answer", f"{name} must be true or false")
        if not isinstance(payload["op"], str) or not _OPERATION.fullmatch(payload["op"]):
            raise refused("bad_answer", "op must be a word of small letters")
        if not isinstance(payload["model"], str) or not _MODEL.fullmatch(payload["model"]):
            raise refused("bad_answer", "model must be a name, @ and the hash of its weights")
        rows_total = _whole(payload["rows_total"], "rows_total", 0, LIMITS.rows, "bad_answer")
        if shape is not None and rows_total != shape[0]:
            raise refused("bad_answer", f"rows_total is {rows_total}, but the table has {shape[0]} rows")
        return cls(
            answers=_answers(payload["answers"], "answers"),
            text=_text(payload["text"], "text", LIMITS.answer_bytes, "bad_answer"),
            op=payload["op"],
            cells=_cells(payload["cells"], shape),
            score=None if payload["score"] is None else _share(payload["score"], "score"),
            topk=tuple(Alternative.from_dict(entry) for entry in payload["topk"]),
            rows_seen=_whole(payload["rows_seen"], "rows_seen", 0, rows_total, "bad_answer"),
            rows_total=rows_total,
            truncated=payload["truncated"],
            model=payload["model"],
            seq=_whole(payload["seq"], "seq", 0, 2**53, "bad_answer"),
            cached=payload["cached"],
            ms=_timings(payload["ms"]),
            usage=usage_from_list(payload.get("usage", [])),
            state=state_from(payload.get("state", "")),
        )

    def for_request(
        self, seq: int, model: str, queue_ms: float, compute_ms: float, cached: bool
    ) -> Prediction:
        """The same answer under the number and timings of one request."""
        return replace(
            self, seq=seq, model=model, cached=cached, ms={"queue": queue_ms, "compute": compute_ms}
        )


@dataclass(frozen=True)
class ModelInfo:
    """One model that a process serves. `id`, name@sha, is what a batch freezes; `licence` is of its weights.

    `max_tokens`: of a reply of a language model, whose tokens cost; `parallel`: requests that its endpoint gets at a time.
    Both are 0 for other models.
    """

    name: str
    sha: str
    architecture: str
    licence: str
    max_tokens: int = 0
    parallel: int = 0

    @property
    def id(self) -> str:
        return f"{self.name}@{self.sha}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "sha": self.sha,
            "architecture": self.architecture,
            "licence": self.licence,
            **({"max_tokens": self.max_tokens} if self.max_tokens else {}),
            **({"parallel": self.parallel} if self.parallel else {}),
        }

    @classmethod
    def from_dict(cls, data: object) -> ModelInfo:
        """Raises ProtocolError(502, "bad_answer")."""
        payload = _object(
            data,
            "a model",
            required=("id", "name", "sha", "architecture", "licence"),
            optional=("max_tokens", "parallel"),
            code="bad_answer",
        )
        most = _whole(payload.pop("max_tokens", 0), "max_tokens", 0, MAX_TOKENS, "bad_answer")
        parallel = _whole(payload.pop("parallel", 0), "parallel", 0, MAX_PARALLEL, "bad_answer")
        texts = {name: _text(payload[name], name, 2_000, "bad_answer") for name in payload}
        info = cls(texts["name"], texts["sha"], texts["architecture"], texts["licence"], most, parallel)
        if texts["id"] != info.id or not NAME.fullmatch(info.name) or not _MODEL.fullmatch(info.id):
            raise refused("bad_answer", "the id of a model must be its name, @ and the hash of its weights")
        return info


def models_from_dict(data: object) -> tuple[ModelInfo, ...]:
    """Read the answer of GET /v1/models. Raises ProtocolError(502, "bad_answer")."""
    payload = _object(data, "the list of models", required=("protocol", "models"), code="bad_answer")
    if (
        payload["protocol"] != PROTOCOL
        or not isinstance(payload["models"], list)
        or len(payload["models"]) > 100
    ):
        raise refused("bad_answer", f"the list of models must be {{protocol: {PROTOCOL}, models: [...]}}")
    return tuple(ModelInfo.from_dict(entry) for entry in payload["models"])


# --- reading -----------------------------------------------------------------------------------------------


def _table_to_dict(table: Table) -> dict[str, Any]:
    data: dict[str, Any] = {"header": list(table.header), "rows": [list(row) for row in table.rows]}
    if table.title:
        data["title"] = table.title
    if table.caption:
        data["caption"] = table.caption
    return data


def _table_from_dict(data: object) -> Table:
    payload = _object(data, "table", required=("header", "rows"), optional=("title", "caption"))
    if not isinstance(payload["rows"], list) or not isinstance(payload["header"], list):
        raise refused(
            "bad_request", "table.header must be a list of texts, table.rows a list of lists of texts"
        )
    rows, columns = len(payload["rows"]), len(payload["header"])
    for count, most, what in (
        (rows, LIMITS.rows, "rows"),
        (columns, LIMITS.columns, "columns"),
        (rows * columns, LIMITS.cells, "cells"),
    ):
        if count > most:
            raise refused("too_large", f"the table has {count:,} {what}; the maximum is {most:,}")
    if not columns:
        raise refused("bad_request", "the table has no columns")
    try:
        table = Table(**payload)
    except TableError as error:
        raise refused("bad_request", f"table: {error}") from None
    if any(len(cell) > LIMITS.cell_characters for line in (table.header, *table.rows) for cell in line):
        raise refused(
            "too_large", f"a cell of the table is longer than {LIMITS.cell_characters:,} characters"
        )
    if len(table.title) + len(table.caption) > LIMITS.context_characters:
        raise refused(
            "too_large", f"title and caption are longer than {LIMITS.context_characters:,} characters"
        )
    return table


def _history(data: object) -> tuple[Turn, ...]:
    if not isinstance(data, list):
        raise refused("bad_request", "history must be a list of turns")
    if len(data) > LIMITS.turns:
        raise refused("too_large", f"the history has {len(data):,} turns; the maximum is {LIMITS.turns}")
    try:
        turns = tuple(Turn.from_dict(turn) for turn in data)
    except ExampleError as error:
        raise refused("bad_request", str(error)) from None
    if sum(len(turn.question) + sum(map(len, turn.answers)) for turn in turns) > LIMITS.context_characters:
        raise refused("too_large", f"the history is longer than {LIMITS.context_characters:,} characters")
    return turns


def _context(data: object) -> Context | None:
    if data is None:
        return None
    try:
        context = Context.from_dict(data)
    except ExampleError as error:
        raise refused("bad_request", str(error)) from None
    if len(context.text) + len(context.unit) + len(context.scale) > LIMITS.context_characters:
        raise refused("too_large", f"the context is longer than {LIMITS.context_characters:,} characters")
    return context


def _cells(data: object, shape: tuple[int, int] | None) -> tuple[tuple[int, int], ...]:
    if not isinstance(data, list) or len(data) > LIMITS.answer_cells:
        raise refused("bad_answer", f"cells must be a list of at most {LIMITS.answer_cells:,} positions")
    cells = []
    rows, columns = shape or (LIMITS.rows, LIMITS.columns)
    for position in data:
        if not isinstance(position, list) or len(position) != 2:
            raise refused("bad_answer", "a position in cells must be [row, column]")
        cells.append(
            (
                _whole(position[0], "a row in cells", 0, rows - 1, "bad_answer"),
                _whole(position[1], "a column in cells", 0, columns - 1, "bad_answer"),
            )
        )
    return tuple(cells)


def _timings(data: object) -> dict[str, float]:
    payload = _object(data, "ms", required=("queue", "compute"), code="bad_answer")
    for name, value in payload.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            raise refused("bad_answer", f"ms.{name} must be a number of milliseconds")
    return {name: float(value) for name, value in payload.items()}


def _answers(data: object, where: str) -> tuple[str, ...]:
    if not isinstance(data, list) or len(data) > LIMITS.answers:
        raise refused("bad_answer", f"{where} must be a list of at most {LIMITS.answers:,} texts")
    return tuple(_text(answer, where, LIMITS.answer_characters, "bad_answer") for answer in data)


def _object(
    data: object,
    what: str,
    required: Iterable[str] = (),
    optional: Iterable[str] = (),
    code: str = "bad_request",
) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise refused(code, f"{what} is not an object")
    required = tuple(required)
    if missing := [name for name in required if name not in data]:
        raise refused(code, f"{what} lacks {', '.join(missing)}")
    if unknown := sorted(str(name)[:40] for name in set(data) - set(required) - set(optional)):
        raise refused(code, f"{what} has no field {', '.join(unknown[:5])}")
    return dict(data)


def _text(value: object, where: str, most: int, code: str) -> str:
    wrong = "bad_request" if code == "too_large" else code
    if not isinstance(value, str):
        raise refused(wrong, f"{where} is not text")
    if len(value) > most:
        raise refused(code, f"{where} is longer than {most:,} characters")
    if reason := unstorable(value):
        raise refused(wrong, f"{where} contains {reason}")
    return value


def _whole(value: object, where: str, least: int, most: int, code: str = "bad_request") -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise refused(code, f"{where} must be a whole number from {least} to {most:,}")
    return value


def _share(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise refused("bad_answer", f"{where} must be a number")
    if not -1e-6 <= value <= 1 + 1e-6:
        raise refused("bad_answer", f"{where} must be a number from 0 to 1")
    return min(max(float(value), 0.0), 1.0)
