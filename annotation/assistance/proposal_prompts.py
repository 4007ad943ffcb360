"""Prompts for proposals, and how replies are read.

A reply that does not have the form, or whose response does not meet the contract of the task type, is refused as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tasks.contract
from annotation.assistance import demonstrations, impressions
from annotation.models import Reply
from tableqa.core.canonical_json import canonical
from tasks.contract import GenerationRequest, InvalidResponse, ProposedResponse, ProposingTask

SYSTEM = (
    "You help people who make test questions for models that answer questions about tables. {what}\n"
    "Reply with one JSON object and nothing else: {form}\n"
    '"why" is one sentence that explains the change. Where nothing of the sort can be done well, reply with '
    '{{"why": "the reason", "applies": false}}.'
)
MAX_REPLY = 20_000


def create_conversation(
    generation_request: GenerationRequest,
    shown_demonstrations: Sequence[demonstrations.Demonstration],
    rendered: str,
) -> list[dict[str, str]]:
    """What a language model is sent: the request, each demonstration with its explanation, and the item."""
    form = complete_form(generation_request.form)
    messages = [{"role": "system", "content": SYSTEM.format(what=generation_request.what, form=form)}]
    for demonstration in shown_demonstrations:
        reply = {"why": demonstration.why, "applies": True, **demonstration.reply}
        messages.append({"role": "user", "content": demonstration.rendered})
        messages.append({"role": "assistant", "content": json.dumps(reply, ensure_ascii=False)})
    return [*messages, {"role": "user", "content": rendered}]


def complete_form(form: str) -> str:
    """The form of a reply with what every reply has."""
    return '{"why": "one sentence", "applies": true, ' + form.strip()[1:]


def create_schema(form: str) -> dict[str, Any] | None:
    """The JSON Schema of replies of a form; None for a form that is no JSON."""
    try:
        example = json.loads(complete_form(form))
    except ValueError:
        return None
    return _shape(example)


def _shape(example: object) -> dict[str, Any]:
    if isinstance(example, dict):
        return {
            "type": "object",
            "properties": {name: _shape(value) for name, value in example.items()},
            "required": list(example),
            "additionalProperties": False,
        }
    if isinstance(example, list):
        return {"type": "array", "items": _shape(example[0])} if example else {"type": "array"}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": kinds[type(example)]}


@dataclass(frozen=True)
class ParsedReply:
    """What a reply comes to: a proposal that holds, that nothing applies, or why it is refused."""

    outcome: str
    reason: str = ""
    valid_proposal: impressions.ValidProposal | None = None


def read_reply(
    text: str, task: ProposingTask, generation_request: GenerationRequest, item: tasks.contract.Item
) -> ParsedReply:
    """Take a reply as a whole or not at all. A fence around the JSON object is forgiven, anything else beside it is not."""
    payload = _object(text)
    if payload is None:
        return ParsedReply(Reply.Outcome.INVALID, "The reply is not a single JSON object.")
    why, applies = payload.pop("why", ""), payload.pop("applies", None)
    if type(applies) is not bool or not isinstance(why, str):
        return ParsedReply(Reply.Outcome.INVALID, "The reply does not contain `applies` and `why`.")
    if not applies:
        return ParsedReply(Reply.Outcome.DOES_NOT_APPLY, why)
    try:
        data = task.parse_reply(payload, generation_request, item)
        task.parse(data, item)
    except InvalidResponse as invalid:
        return ParsedReply(Reply.Outcome.INVALID, str(invalid))
    valid_proposal = impressions.validate_proposal(
        task, item, ProposedResponse(data, generation_request.key, "model", why[:600])
    )
    if valid_proposal is None:
        return ParsedReply(Reply.Outcome.INVALID, "The reply changes nothing.")
    return ParsedReply(Reply.Outcome.PROPOSED, valid_proposal=valid_proposal)


def _object(text: str) -> dict[str, Any] | None:
    if len(text) > MAX_REPLY:
        return None
    fenced = re.fullmatch(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", text, re.DOTALL)
    try:
        payload = json.loads(fenced.group(1) if fenced else text)
        canonical(payload)  # what no canonical form exists for (NaN, say) is no JSON
    except (ValueError, RecursionError, TypeError):
        return None
    return payload if isinstance(payload, dict) else None
