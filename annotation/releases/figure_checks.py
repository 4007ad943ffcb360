"""Checks of the figures of a release: agreement and hours, computed again from its records."""

import math
from collections.abc import Mapping
from typing import Any

from annotation.payments.data_statement import DIGITS
from annotation.quality import rating_tallies
from annotation.releases.manifest import Manifest, figures, tallies
from annotation.releases.raw_records import Raw
from annotation.releases.task_records import task_of_record
from tableqa.releases.former_wordings import is_wording
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import MANIFEST

_RULES_OF_EXACT = 4
_RULES_OF_EVERY_STATISTIC = 12
CLOSE = 0.0001
"""Hours that a rounded sum may be off."""
CLOSE_EXACT = 1e-9
"""What a value in full precision may be off: the last digits of a sum differ between machines."""


def check_hours(manifest: Manifest, of_records: float) -> None:
    """The hours of the statement are those of the records, and add up to those that were paid."""
    hours = manifest.statement.get("hours", {})
    if "beside" not in hours:
        return  # the first form of statements: its hours held gold items, which no record tells of
    if abs(hours["all"] - of_records) > CLOSE:
        raise Difference(
            f"{MANIFEST}: statement.hours.all is {hours['all']}, the records give {of_records:.4f}"
        )
    summed = hours["all"] + sum(hours["beside"].values())
    if abs(hours["paid"] - summed) > CLOSE * (1 + len(hours["beside"])):
        raise Difference(f"{MANIFEST}: statement.hours.paid is {hours['paid']}, its parts give {summed:.4f}")
    if manifest.rules >= _RULES_OF_EXACT:
        _check_exact_hours(hours, of_records)


def _check_exact_hours(hours: Mapping[str, Any], of_records: float) -> None:
    """The hours in full precision are those of the records, add up, and round to the others."""
    exact = hours.get("exact", {})
    rounded = {name: value for name, value in hours.items() if name != "exact"}
    if not _same_numbers(_rounded_like(exact, DIGITS), rounded):
        raise Difference(f"{MANIFEST}: statement.hours.exact does not round to the hours beside it")
    summed = math.fsum([exact["all"], *exact["beside"].values()])
    for name, value in (("all", of_records), ("paid", summed)):
        if not _is_close(exact[name], value):
            raise Difference(f"{MANIFEST}: statement.hours.exact.{name} is {exact[name]!r}, not {value!r}")


def _rounded_like(value: Any, digits: int) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded_like(member, digits) for name, member in value.items()}
    return round(value, digits)


def _same_numbers(claimed: Any, computed: Mapping[str, Any]) -> bool:
    """Whether two records of numbers, None among them, are equal but for the last digits."""
    if not isinstance(claimed, Mapping) or claimed.keys() != computed.keys():
        return False
    return all(
        _same_numbers(claimed[name], value) if isinstance(value, Mapping) else _is_close(claimed[name], value)
        for name, value in computed.items()
    )


def _is_close(first: Any, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return isinstance(first, int | float) and math.isclose(
        first, second, rel_tol=CLOSE_EXACT, abs_tol=CLOSE_EXACT
    )


def check_figures(raw: Raw, manifest: Manifest) -> int:
    """Every agreement figure computed again. Returns how many had no second opinion because its package is missing."""
    claims = (
        None  # every statistic of the rules
        if manifest.rules >= _RULES_OF_EVERY_STATISTIC
        else {(entry["batch"], entry["measure"], entry["statistic"]) for entry in manifest.agreement}
    )
    again = figures(raw, claims, exact=manifest.rules >= _RULES_OF_EXACT)
    # By the rules before, kinds had fewer measures than they have here.
    measured = {
        key for key, batch in raw.batches.items() if manifest.rules >= 3 and task_of_record(batch).measures
    }
    if len(again) != len(manifest.agreement) or not measured <= {entry["batch"] for entry in again}:
        raise Difference(
            f"{MANIFEST}: {len(manifest.agreement)} agreement figures, the responses give {len(again)}"
        )
    for claimed, figure in zip(manifest.agreement, again, strict=True):
        for key, value in figure.items():
            same = _same_numbers if key == "exact" else is_wording
            if claimed.get(key) != value and not same(claimed.get(key), value):
                name = f"{figure['statistic']} of {figure['measure']} in batch {figure['batch']}"
                raise Difference(
                    f"{MANIFEST}: {name}: {key} is {claimed.get(key)!r}, the responses give {value!r}"
                )
    return _second_opinion(raw, again)


def _second_opinion(raw: Raw, again: list[dict[str, Any]]) -> int:
    """The same values from the packages krippendorff, statsmodels and scipy, where they have the measure.

    Returns how many values of alpha were not compared because krippendorff is not installed.
    """
    from tableqa.agreement import rankings
    from tableqa.agreement.reference_implementations import second_opinion

    claimed = {(figure["batch"], figure["measure"], figure["statistic"]): figure["value"] for figure in again}
    not_compared = 0
    for batch in raw.batches:
        for tally in tallies(raw, batch):
            if tally.measure.level in ("cells", "edits"):
                continue  # no other package takes the expected disagreement within each table
            ratings = tally.ratings()
            for statistic in rating_tallies.statistics_of(tally.measure):
                if (batch, tally.measure.name, statistic) not in claimed:
                    continue
                value = claimed[batch, tally.measure.name, statistic]
                try:
                    other = (
                        rankings.second_opinion(ratings, statistic)
                        if statistic in rankings.RANK_MEASURES
                        else second_opinion(ratings, statistic, order=tally.order(statistic))
                    )
                except ModuleNotFoundError as error:
                    if error.name != "krippendorff":
                        raise
                    not_compared += 1
                    continue
                if other is not None and (value is None or abs(other - value) > 2e-6):
                    name = f"{statistic} in batch {batch}"
                    raise Difference(
                        f"{MANIFEST}: {name} is {value!r}; an independent package says {other!r}"
                    )
    return not_compared
