"""Agreement and decisions, computed from the responses."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from records import Record, Release, canonical, require

Units = Sequence[Sequence[Any]]
"""The ratings of each item."""
DIGITS = 6
MAJORITY = ("cell_relevance", "question_screening", "question_type")
"""The task types with labels whose default decision rule is the majority."""


def percent_agreement(units: Units) -> float | None:
    """The share of agreeing pairs of an item, averaged over items with two ratings."""
    shares = [_agreeing(ratings) for ratings in units if len(ratings) > 1]
    return sum(shares) / len(shares) if shares else None


def fleiss_kappa(units: Units) -> float | None:
    """Fleiss 1971 in the generalised form for unequal numbers of ratings (Gwet 2014, chapter 2)."""
    observed = percent_agreement(units)
    rated = [ratings for ratings in units if ratings]
    shares: dict[Any, float] = defaultdict(float)
    for ratings in rated:
        for rating, count in Counter(ratings).items():
            shares[rating] += count / len(ratings) / len(rated)
    if observed is None or len(shares) < 2:
        return None
    expected = sum(share * share for share in shares.values())
    return (observed - expected) / (1 - expected)


def alpha(units: Units, distance: Callable[[Any, Any, Mapping[Any, int]], float]) -> float | None:
    """Krippendorff's alpha (Krippendorff 2011). Items with a single rating are left out."""
    paired = [ratings for ratings in units if len(ratings) > 1]
    counts = Counter(rating for ratings in paired for rating in ratings)
    total = sum(counts.values())
    if len(counts) < 2:
        return None
    observed = sum(
        distance(first, second, counts) / (len(ratings) - 1)
        for ratings in paired
        for first in ratings
        for second in ratings
    )
    expected = sum(
        counts[first] * counts[second] * distance(first, second, counts)
        for first in counts
        for second in counts
    )
    return 1 - (total - 1) * observed / expected if expected else None


def _agreeing(ratings: Sequence[Any]) -> float:
    count = len(ratings)
    return sum(same * (same - 1) for same in Counter(ratings).values()) / (count * (count - 1))


def _nominal(first: Any, second: Any, counts: Mapping[Any, int]) -> float:
    return float(first != second)


def _interval(first: Any, second: Any, counts: Mapping[Any, int]) -> float:
    return float(first - second) ** 2


def _ordinal(first: Any, second: Any, counts: Mapping[Any, int]) -> float:
    low, high = sorted((first, second))
    between = sum(count for rating, count in counts.items() if low <= rating <= high)
    return float(between - (counts[first] + counts[second]) / 2) ** 2 if first != second else 0.0


STATISTICS: Mapping[str, Callable[[Units], float | None]] = {
    "percent_agreement": percent_agreement,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha_nominal": lambda units: alpha(units, _nominal),
    "krippendorff_alpha_ordinal": lambda units: alpha(units, _ordinal),
    "krippendorff_alpha_interval": lambda units: alpha(units, _interval),
}
OF_NUMBERS = ("krippendorff_alpha_ordinal", "krippendorff_alpha_interval")


def check_agreement(release: Release) -> None:
    """The values of agreement on labels and scales."""
    blind = _blind(release)
    for figure in release.manifest["agreement"]:
        name, statistic = figure["measure"], figure["statistic"]
        responses = blind[figure["batch"]]
        ratings = [
            record["response"]["data"].get(name) for of_item in responses.values() for record in of_item
        ]
        is_number = all(type(rating) in (int, float) for rating in ratings)
        is_label = all(isinstance(rating, str) and rating for rating in ratings)
        is_computed = is_number or (is_label and statistic not in OF_NUMBERS)
        if not ratings or statistic not in STATISTICS or not is_computed:
            release.not_checked[f"agreement: {statistic} of {name}"] += 1
            continue
        units = [[record["response"]["data"][name] for record in of_item] for of_item in responses.values()]
        value = STATISTICS[statistic](units)
        claimed = figure["value"]
        is_same = claimed == value if None in (claimed, value) else abs(claimed - value) <= 0.51 * 10**-DIGITS
        require(is_same, f"manifest.json: {statistic} of {name} is {claimed}, the responses give {value}")
        exact = figure.get("exact", {}).get("value", value)
        is_exact = exact == value if None in (exact, value) else abs(exact - value) <= 1e-9
        require(is_exact, f"manifest.json: {statistic} of {name} is exactly {value}, not {exact}")
        release.checked["agreement figures"] += 1
        release.not_checked["intervals of agreement figures"] += 1


def _blind(release: Release) -> Mapping[str, Mapping[str, list[Record]]]:
    """By batch and item: the newest responses on planned slots, of people whose last revision is not withdrawn; where an
    adjudicator had sent a response back, that one."""
    blind: dict[str, dict[str, dict[str, Record]]] = defaultdict(lambda: defaultdict(dict))
    standing = set()
    for record in release.annotations:
        key = record["item"], record["annotator"]
        is_response = record["response"] is not None
        if is_response and not record["place"]["added"] and not record.get("sent_back"):
            blind[record["batch"]][record["item"]][record["annotator"]] = record
        if record["newest"] and is_response:
            standing.add(key)
    return defaultdict(
        dict,
        {
            batch: {
                item: [record for who, record in people.items() if (item, who) in standing]
                for item, people in items.items()
            }
            for batch, items in blind.items()
        },
    )


def check_decisions(release: Release) -> None:
    """Decisions have outcomes that are responses of people, and those by a majority have its label."""
    current: dict[str, list[Record]] = defaultdict(list)
    for record in release.annotations:
        if record["newest"] and record["response"] is not None:
            current[record["item"]].append(record)
    for decision in release.decisions:
        where = f"decisions.jsonl: item {decision['item']}"
        batch = release.batch_of(decision)
        require(bool(decision["outcomes"]) == (decision["kind"] == "accepted"), f"{where}: kind and outcomes")
        responses = current[decision["item"]]
        _check_outcomes(release, decision, where)
        rule = decision.get("rule", {})
        is_majority = rule.get("rule", "majority" if batch["type"] in MAJORITY else "") == "majority"
        if decision["by"] != "resolve" or not is_majority or "label" not in _fields(responses):
            release.not_checked["decisions by other rules or by adjudicators"] += 1
            continue
        labels = Counter(record["response"]["data"]["label"] for record in responses)
        label, count = labels.most_common(1)[0]
        require(count > rule.get("more_than", 0.5) * len(responses), f"{where}: no label has the majority")
        for outcome in decision["outcomes"]:
            require(outcome["response"]["data"]["label"] == label, f"{where}: the majority says {label!r}")
        release.checked["decisions by majority"] += 1


def _fields(responses: Sequence[Record]) -> set[str]:
    data = [set(record["response"]["data"]) for record in responses]
    return set.intersection(*data) if data else set()


def _check_outcomes(release: Release, decision: Record, where: str) -> None:
    for outcome in decision["outcomes"]:
        responses = [release.by_id[id]["response"] for id in outcome["annotations"]]
        require(responses or decision["by"] != "resolve", f"{where}: an outcome rests on no response")
        if len(responses) == 1:
            is_same = canonical(responses[0]) == canonical(outcome["response"])
            require(is_same, f"{where}: the outcome {outcome['id']} differs from its response")
