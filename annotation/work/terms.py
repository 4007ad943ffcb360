"""The terms of a batch: what a study asks of it, checked before it is planned or changed.

    terms.check(task, project, purpose="work", strategy="", feeds_from=None, feeds_when={}, resolve={}, caps={}, ...)
    terms.check_change(batch, {"overlap": 3, "caps": {"items_per_day": 60}})

What comes back is in the shape in which `Batch` keeps it. Everything that does not hold is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from annotation.models import Batch, Project
from annotation.refusals import Refused, refuse
from annotation.work import limits, strategies
from tasks import resolving
from tasks.contract import TaskType

MOST_OVERLAP: Final = 50
MOST_GOLD: Final = 50


def check(
    task: TaskType, project: Project, *, overlap: int, feeds_from: Batch | None, **said: Any
) -> dict[str, Any]:
    """The fields of `Batch` from `purpose` on, by name; all of them are given. Raises Refused(invalid_request).

    A batch that is no work gives every item to everyone.
    """
    purpose = said["purpose"]
    if purpose not in Batch.Purpose.values:
        refuse(
            "invalid_request",
            "The purpose must be one of {values}, not {purpose!r}.",
            values=", ".join(Batch.Purpose.values),
            purpose=purpose,
        )
    work = purpose == Batch.Purpose.WORK
    strategy = said["strategy"] or ("open" if work else "everyone")
    if strategy not in strategies.STRATEGIES:
        known = ", ".join(strategies.STRATEGIES)
        refuse(
            "invalid_request",
            "There is no allocation strategy {strategy!r}. Available: {known}.",
            strategy=strategy,
            known=known,
        )
    if not work and strategy != "everyone":
        refuse(
            "invalid_request",
            "In a {purpose} batch everyone gets every item. Leave the strategy out.",
            purpose=purpose,
        )
    if not work and said["gold_percent"]:
        refuse(
            "invalid_request",
            "Gold is mixed into work batches only. Leave gold_percent out of a {purpose} batch.",
            purpose=purpose,
        )
    asked = _percent("pass_percent", said["pass_percent"], 100)
    if (purpose == Batch.Purpose.QUALIFICATION) != (asked > 0):
        refuse(
            "invalid_request",
            "A qualification batch needs pass_percent (1 to 100); other batches must not have it.",
        )
    if purpose == Batch.Purpose.QUALIFICATION and feeds_from is not None:
        refuse(
            "invalid_request",
            "A qualification cannot take items from another batch, because each item needs a gold "
            "answer before it opens.",
        )
    resolve = _resolve(task, said["resolve"], overlap)
    at_close = said.get("decide_at_close")
    if at_close is None:
        at_close = work and strategy == "everyone"
    if at_close and not work:
        refuse(
            "invalid_request",
            "A {purpose} batch decides no items. Leave decide_at_close out.",
            purpose=purpose,
        )
    return {
        "purpose": purpose,
        "decide_at_close": bool(at_close),
        "strategy": strategy,
        "feeds_when": _feeds_when(said["feeds_when"], feeds_from),
        "pass_percent": asked,
        "requires": _requires(said["requires"], project, purpose),
        "resolve": resolve,
        "caps": limits.caps(said["caps"]),
        "pay": limits.pay(said["pay"]),
        "gold_percent": _percent("gold_percent", said["gold_percent"], MOST_GOLD),
        "gold_feedback": bool(said["gold_feedback"]),
        "must_practise": bool(said["must_practise"]),
    }


def check_change(batch: Batch, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The same for those fields that may change after a batch has opened, and `overlap`."""
    found: dict[str, Any] = {}
    for name, value in wanted.items():
        if name == "overlap":
            found[name] = check_overlap(value)
            if "resolve" not in wanted:
                _resolve(batch.task(), batch.resolve, found[name])
            if batch.strategy == "everyone" and value != batch.overlap:
                refuse(
                    "invalid_request",
                    "Everyone gets every item of this batch, so the number of people per item is fixed.",
                )
        elif name == "resolve":
            found[name] = _resolve(batch.task(), value, wanted.get("overlap", batch.overlap))
        elif name in ("caps", "pay"):
            found[name] = limits.caps(value) if name == "caps" else limits.pay(value)
        elif name == "gold_percent":
            found[name] = _percent(name, value, MOST_GOLD)
            if value and batch.purpose != Batch.Purpose.WORK:
                refuse("invalid_request", "Gold is mixed into work batches only.")
        elif name == "requires":
            found[name] = _requires(value, batch.project, batch.purpose)
        else:
            found[name] = bool(value)
    if found.get("decide_at_close") and batch.purpose != Batch.Purpose.WORK:
        refuse("invalid_request", "This batch decides no items.")
    return found


def check_overlap(value: object) -> int:
    """How many people get each item. Raises Refused(invalid_request)."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_OVERLAP:
        refuse(
            "invalid_request",
            "The number of people per item must be 1 to {most_overlap}.",
            most_overlap=MOST_OVERLAP,
        )
    return value


def _requires(required: object, project: Project, purpose: str) -> Batch | None:
    """The qualification batch that is asked for, if one is."""
    if required is None:
        return None
    if not isinstance(required, Batch):
        refuse("invalid_request", "requires must be the id of a qualification batch, or null.")
    if required.project_id != project.pk or required.purpose != Batch.Purpose.QUALIFICATION:
        refuse("invalid_request", "{name} is not a qualification batch of this project.", name=required.name)
    if purpose == Batch.Purpose.QUALIFICATION:
        refuse("invalid_request", "A qualification batch cannot require another one.")
    return required


def _feeds_when(given: Mapping[str, Any], feeds_from: Batch | None) -> dict[str, list[Any]]:
    """{"label": ["extraction"]}: the fields of an outcome with the values that make items here."""
    if feeds_from is not None and feeds_from.purpose != Batch.Purpose.WORK:
        refuse(
            "invalid_request",
            "{name} is a {purpose} batch and decides no items, so it cannot pass any on.",
            name=feeds_from.name,
            purpose=feeds_from.purpose,
        )
    if given and feeds_from is None:
        refuse(
            "invalid_request",
            "feeds_when filters the outcomes of another batch. Name that batch in feeds_from.",
        )
    found = {}
    for name, values in given.items():
        plain = isinstance(values, list | tuple) and all(isinstance(v, str | int | bool) for v in values)
        if not plain or not values:
            refuse(
                "invalid_request",
                'feeds_when.{name} must be a list of values, for example ["extraction"].',
                name=name,
            )
        found[str(name)] = list(values)
    return found


def _resolve(task: TaskType, given: object, overlap: int) -> dict[str, Any]:
    """The rule in place of the kind's own, {} for that one."""
    try:
        return resolving.check(task, given, overlap=overlap)
    except resolving.BadRule as error:
        raise Refused("invalid_request", str(error)) from None


def _percent(name: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        refuse("invalid_request", "{name} must be a whole number from 0 to {most}.", name=name, most=most)
    return value
