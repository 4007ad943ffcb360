"""A plan in words: in lines of text for the command line, and its amounts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.utils.translation import gettext

from annotation.platform import display_text
from annotation.study_file.comparison import Change
from annotation.study_file.costs import BOUNDS, Cost, interval
from annotation.study_file.plan import Plan

SIGNS = {"add": "+", "change": "~", "open": ">", "invite": "@", "leave": "=", "wait": "…", "cannot": "!"}

AMOUNTS = ("hours", "money", "expected_hours", "expected_money")
NOTHING_YET = "Nothing to do now. Entries marked (…) are applied when you apply the file again."


def lines(plan: Plan, effects: Mapping[str, Sequence[str]] | None = None) -> Iterator[str]:
    """Every change on a line with its sign, what it does to finished items below it, then what the work costs."""
    for change in plan.changes:
        yield line(change)
        if change.section == "batch" and change.verb == "change":
            for effect in (effects or {}).get(change.name, ()):
                yield f"      {effect}"
    if not plan.does and not plan.cannot:
        yield NOTHING_YET if plan.waits else "Nothing to do: the project matches the file."
    if plan.costs:
        yield ""
        yield from cost_lines(plan)
    for note in plan.notes:
        yield f"Note: {note}"


def line(change: Change) -> str:
    """A change on one line."""
    where = f" (line {change.line})" if change.line and change.verb == "cannot" else ""
    name = f" {change.name}" if change.name else ""
    return f"{SIGNS[change.verb]} {change.section}{name}{where}: {change.words}"


def cost_rows(plan: Plan) -> Iterator[tuple[Cost | None, str, str, str, str]]:
    """What is left to annotate in each batch, then in all: the cost, a name, annotations, hours and pay in words."""
    for cost in plan.costs:
        annotations = amounts([cost], "annotations") or gettext("unknown")
        yield cost, cost.batch, annotations, amounts([cost], "hours"), amounts([cost], "money")
    hours, pay, *expected = (amounts(plan.costs, name) for name in AMOUNTS)
    yield None, gettext("Total"), "", hours, pay
    if plan.expected_hours < plan.hours:
        yield None, gettext("Expected"), "", expected[0], expected[1]


def amounts(costs: Iterable[Cost], name: str) -> str:
    """Annotations, hours or pay (a property) of batches together, pay by currency: "about 3.20 EUR (2.90 to 3.60)"."""
    units: dict[str, list[Cost]] = {}
    for cost in costs:
        if getattr(cost, name) is not None:
            units.setdefault(cost.currency if "money" in name else "", []).append(cost)
    return "; ".join(_amount(some, name, unit) for unit, some in units.items())


def _amount(costs: Sequence[Cost], name: str, unit: str) -> str:
    bounds = ("about" if "expected" in name or cost.follows_time(name) else cost.bound for cost in costs)
    bound = max(bounds, key=BOUNDS.index)
    values = (sum(getattr(cost, name) for cost in costs), *(interval(costs, name) or ()))
    value, *ends = (display_text.number(f"{x:,.{0 if name == 'annotations' else 2}f}") for x in values)
    written = " ".join(filter(None, (bound and gettext(bound), value, unit)))
    if not ends or ends[0] == ends[1]:
        return written
    return f"{written} ({gettext('{low} to {high}').format(low=ends[0], high=ends[1])})"


def cost_lines(plan: Plan) -> Iterator[str]:
    """`cost_rows` in columns, with the pace."""
    columns = f"{{:<{max(8, *(len(cost.batch) for cost in plan.costs))}}}  {{:>14}}  {{:>12}}  {{:>28}}  {{}}"
    yield columns.format("batch", "annotations", "seconds each", "hours", "pay")
    for cost, name, annotations, hours, pay in cost_rows(plan):
        yield columns.format(name, annotations, pace(cost) if cost else "", hours, pay).rstrip()
    if any(not cost.measured for cost in plan.costs):
        yield "(*) no annotations of this task type yet; typical value for such forms."
    low, high = interval(plan.costs, "hours") or (0, 0)
    if plan.hours and low == high:
        yield "No interval: it needs at least two people of different pace for each task type."


def pace(cost: Cost) -> str:
    """Seconds for an annotation, marked where they were not measured."""
    return f"{cost.seconds:,.0f}" + ("" if cost.measured else " (*)")
