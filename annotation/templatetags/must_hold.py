"""The lines of a contract as the server writes them. With scripts checklist.js continues from there."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.workflow.assignments import Validation

register = template.Library()

STATES = {
    "yes": gettext_noop("OK"),
    "no": gettext_noop("not yet"),
    "look": gettext_noop("please check"),
    "open": gettext_noop("waiting"),
    "waived": gettext_noop("not required"),
}
"""As checklist.js calls them."""
NAMED = 3
"""Problems of one line that are named; of more, their number is."""


@register.inclusion_tag("annotating/_must_hold.html", takes_context=True)
def must_hold(
    context: Any,
    text: str,
    codes: str,
    *,
    server: bool = False,
    needs: str = "",
    goal: bool = False,
) -> dict[str, Any]:
    """One thing that must hold, in `text`, and whether it does: as far as none of the problems with `codes` was found.

    Reads from the context `waived` and `found` (`annotation.workflow.assignments.Validation`; None before anything was
    kept). `server`: the browser cannot tell by itself; `needs`: "protected", "evidence" or "program", without any of which
    there is nothing to check against. `goal`: something to do; it is listed
    until it is done. Any other line is a condition that is listed only while it is broken.
    """
    validation: Validation | None = context.get("found")
    broken = (
        []
        if validation is None
        else [violation for violation in validation.problems if violation.code in codes.split()]
    )
    available = _available_inputs(context, validation)
    if context.get("waived"):
        state, broken = "waived", []
    elif any(problem.level == "error" for problem in broken):
        state = "no"
    elif broken:
        state = "look"
    elif validation is None or (needs and available.isdisjoint(needs.split())):
        state = "open"
    else:
        state = "yes"
    return {
        "words": text,
        "codes": codes,
        "server": server,
        "needs": needs,
        "state": state,
        "goal": goal,
        "missing": state in ("no", "look") or (state == "open" and goal),
        "said": STATES[state],
        "why": named([problem.message for problem in broken]),
    }


@register.simple_tag
def at_most(contract: Mapping[str, Any] | None) -> str:
    """How many changes a contract allows, in words; "" for any number."""
    most = (contract or {}).get("at_most")
    if contract is None or most is None:
        return ""
    if contract.get("more_with_reason"):
        return ngettext(
            "At most {most} change, or a reason", "At most {most} changes, or a reason", most
        ).format(most=most)
    return ngettext("At most {most} change", "At most {most} changes", most).format(most=most)


def _available_inputs(context: Any, validation: Validation | None) -> set[str]:
    assignment = context.get("assignment", {})
    contract, shows = assignment.get("contract") or {}, assignment.get("shows") or {}
    available = {
        "protected": contract.get("protected"),
        "evidence": shows.get("evidence"),
        "program": validation is not None and (validation.answer or {}).get("program"),
    }
    return {name for name, value in available.items() if value}


def named(messages: list[str]) -> str:
    """The first few, and how many more there are."""
    more = [gettext("And {value} more.").format(value=len(messages) - NAMED)] if len(messages) > NAMED else []
    return " ".join([*messages[:NAMED], *more])
