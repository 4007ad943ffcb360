"""A plan in lines of text, for the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotation.studying.planning import Change, Cost, Plan

SIGNS = {"add": "+", "change": "~", "open": ">", "invite": "@", "leave": "=", "wait": "…", "cannot": "!"}

NOTHING_YET = "Nothing to do now. Entries marked (…) are applied when you apply the file again."


def lines(plan: Plan, effects: Mapping[str, Sequence[str]] | None = None) -> Iterator[str]:
    """Every change on a line with its sign, what it does to finished items below it, then what the work costs."""
    for change in plan.changes:
        yield line(change)
        if change.section == "batch" and change.verb == "change":
            for words in (effects or {}).get(change.name, ()):
                yield f"      {words}"
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


def cost_lines(plan: Plan) -> Iterator[str]:
    """What is left to annotate in each batch, in hours at the measured pace, and money."""
    width = max(8, *(len(cost.batch) for cost in plan.costs))
    yield f"{'batch':<{width}}  {'annotations':>11}  {'seconds each':>12}  {'hours':>8}  pay"
    for cost in plan.costs:
        number = "unknown" if cost.annotations is None else f"{'≤ ' if cost.most else ''}{cost.annotations:,}"
        hours = "" if cost.hours is None else f"{cost.hours:,.2f}"
        money = "" if cost.money is None else f"{cost.money:,.2f} {cost.currency}"
        yield f"{cost.batch:<{width}}  {number:>11}  {pace(cost):>12}  {hours:>8}  {money}".rstrip()
    total = "; ".join(f"{amount:,.2f} {currency}" for currency, amount in plan.money.items())
    yield f"{'total':<{width}}  {'':>11}  {'':>12}  {plan.hours:>8,.2f}  {total}".rstrip()
    if plan.expected_hours < plan.hours:
        expected = "; ".join(f"{amount:,.2f} {currency}" for currency, amount in plan.expected_money.items())
        yield f"{'expected':<{width}}  {'':>11}  {'':>12}  {plan.expected_hours:>8,.2f}  {expected}".rstrip()
    if any(not cost.measured for cost in plan.costs):
        yield "(*) no annotations of this task type yet; typical value for such forms."


def pace(cost: Cost) -> str:
    """Seconds for an annotation, marked where they were not measured."""
    return f"{cost.seconds:,.0f}" + ("" if cost.measured else " (*)")
