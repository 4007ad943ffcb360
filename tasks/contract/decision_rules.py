"""From the responses of one item to a decision: rules as data, each a pure function.

    resolve(task, batch.resolve, responses, item)    # {}: the task type's own rule

A rule is an object with its name and its options. Every task type names its own (`TaskType.rule`) and what its responses are
(`TaskType.compares`): `RULES` has the rules that fit these. A task type that decides in its own way names no rule and
overrides `resolve`; a batch of it takes none.

What rules have in common: the order of the responses plays no part, and equal responses are accepted (the rule
`given` also compares them with the given answer). If people do not agree, one more is asked while there are fewer than
`most`, if the rule has it; then the item goes to adjudication.

The rules are those of the studies that Askew follows: majorities (FREB-TQA 3.2), means and a third person where two
scores are far apart (LFTQA-Eval 2.3), blind answers held against the given one (FREB-TQA 3.5).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from tableqa.core import translation
from tableqa.core.translation import gettext, gettext_noop, joined, message
from tasks.contract.decisions import DecisionMethods
from tasks.contract.items import Item
from tasks.contract.resolutions import (
    Acceptance,
    Nature,
    NeedsAdjudication,
    NeedsResponse,
    Outcome,
    Resolution,
    Undecidable,
)
from tasks.contract.scores import HIGHEST, LOWEST, mean

MOST = 50
"""The most people who are asked about one item."""


Decide = Callable[[DecisionMethods, Sequence[Any], Item, Mapping[str, Any]], Resolution]


@dataclass(frozen=True)
class Rule:
    """A rule: what it does in a sentence, what it fits, its options as JSON Schema properties, and the function.

    `name` is the rule in files and in the API, `title` on pages. Only a rule with the option `most` can ask for more
    people: `max_responses` reads it. A scale can have any ends, and a number decimals.
    """

    name: str
    title: str
    says: str
    fits: tuple[Nature, ...]
    decide: Decide
    options: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def schema(self) -> dict[str, Any]:
        """What an object that names this rule may hold."""
        return {
            "type": "object",
            "description": self.says,
            "properties": {"rule": {"const": self.name}, **self.options},
            "required": ["rule"],
            "additionalProperties": False,
        }

    @property
    def defaults(self) -> dict[str, Any]:
        """The options that have a value where none is given."""
        return {name: option["default"] for name, option in self.options.items() if "default" in option}


# -- what others call -------------------------------------------------------------------------------


def max_responses(task: DecisionMethods, rule: Mapping[str, Any], settings: Mapping[str, Any]) -> int:
    """The most people that a rule asks; 0 where it requests no further responses."""
    options = {**RULES[rule["rule"]].defaults, **rule} if rule else own_rule(task, settings)
    return int(options.get("most") or 0)


def resolve(
    task: DecisionMethods, rule: Mapping[str, Any], responses: Sequence[Any], item: Item
) -> Resolution:
    """What the responses of an item come to by a rule that `check_rule` has let through; {} is the task type's own."""
    if not rule:
        return task.resolve(responses, item)
    decision_rule = RULES[rule["rule"]]
    try:
        return decision_rule.decide(task, responses, item, {**decision_rule.defaults, **rule})
    except Undecidable as undecidable:
        return NeedsAdjudication(undecidable.args[0])


def count_differing(
    task: DecisionMethods,
    earlier: Mapping[str, Any],
    later: Mapping[str, Any],
    decided: Iterable[tuple[Item, Sequence[Any]]],
) -> int:
    """How many items, each with its responses, one rule decides in another way than the other: {} is the own rule."""

    def outcomes(rule: Mapping[str, Any], item: Item, responses: Sequence[Any]) -> list[Any] | None:
        resolution = resolve(task, rule, responses, item)
        if not isinstance(resolution, Acceptance):
            return None
        return [outcome.response for outcome in resolution.outcomes]

    return sum(outcomes(earlier, *of_item) != outcomes(later, *of_item) for of_item in decided)


def own_rule(task: DecisionMethods, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The task type's own rule under a batch's settings, every option named; {} for one that decides in its own way."""
    if not task.rule:
        return {}
    batch_options = {
        option: settings[name] for option, name in task.rule_settings.items() if name in settings
    }
    return {**RULES[task.rule["rule"]].defaults, **task.rule, **batch_options}


def fitting_rules(task: DecisionMethods) -> list[Rule]:
    """The rules that a batch of this task type may choose among, its own first."""
    rules = [rule for rule in RULES.values() if task.compares in rule.fits]
    return sorted(rules, key=lambda rule: rule.name != task.rule.get("rule"))


def schema() -> dict[str, Any]:
    """JSON Schema of every rule, for files that name one."""
    return {
        "description": "The decision rule; {} is the default rule of the task type.",
        "anyOf": [
            {"type": "object", "maxProperties": 0},
            *(rule.schema for rule in RULES.values()),
        ],
    }


def in_words(rule: Mapping[str, Any]) -> str:
    """A rule as pages name it: "majority (share of votes: 0.5)"; options that are off are left out."""
    if not rule:
        return gettext("the default rule of the task type")
    options = ", ".join(
        _option_in_words(RULES[rule["rule"]].options[name], value)
        for name, value in rule.items()
        if name != "rule" and value is not False
    )
    title = gettext(RULES[rule["rule"]].title)
    return f"{title} ({options})" if options else title


def _option_in_words(spec: Mapping[str, Any], value: Any) -> str:
    title = gettext(spec["title"])
    if value is True:
        return title
    value_text = gettext(THEN[value]) if value in THEN else translation.number(str(value)).shown()
    return f"{title}: {value_text}"


# -- the rules --------------------------------------------------------------------------------------

# Reasons are stored with decisions, and published in English.
NOT_ALL: Final = message("resolving.not_all", "The responses are not unanimous ({tally}).")
NO_LABEL: Final = message("resolving.no_label", "No label has a majority ({tally}).")
NO_EDIT: Final = message("resolving.no_edit", "No edit has a majority ({tally}).")
APART: Final = message("resolving.apart", "The scores for {names} differ by {gap} or more.")
NOT_THE_SAME: Final = message("resolving.not_the_same", "The responses differ: {tally}.")
OVERLAP: Final = message(
    "resolving.overlap",
    "The overlap of the responses is {overlap} (mean Jaccard index); the minimum is {least}.",
)
NOTHING: Final = message("resolving.nothing", "No element was marked by a majority of annotators.")
NOTHING_TOLD: Final = message(
    "resolving.nothing_told", "No element was marked by a majority of annotators ({tally})."
)
DIFFER: Final = message("resolving.differ", "{number} of {of} answers differ from the given answer: {names}.")
NOBODY: Final = message("resolving.nobody", "No response matches the given answer: {names}.")
SAME_VALUE: Final = message(
    "resolving.same_value", "“{name}” must differ from “{other}”, but the decided values are the same."
)
WRONG_NUMBER: Final = message("resolving.wrong_number", "“{name}” would have too few or too many options.")
ALL_DIFFERENT: Final = message(
    "resolving.all_different", "{number} different responses from {people} annotators"
)
DIFFERENT: Final = message(
    "resolving.different", "{number} different responses, from {first} and {last} of {people} annotators"
)

COUNTED: Final = message("resolving.counted", "{label} {number}")
ONE_RESPONSE: Final = message("resolving.one_response", "1 response")
RESPONSES: Final = message("resolving.responses", "{number} responses")
QUOTED: Final = message("resolving.quoted", "{number} “{label}”")
MARKED: Final = message("resolving.marked", "{label} ({number})")
TIMES: Final = message("resolving.times", "{number} x {label}")


def unanimous(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """All responses are equal; else adjudication: one more person could not change that."""
    groups = _group_equal(task, responses, item)
    if len(groups) == 1:
        return _accept_equal(task, responses, next(iter(groups.values())), item)
    return NeedsAdjudication(NOT_ALL.format(tally=_tally(task, responses, groups)))


def majority(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """What more than a share of the people say; for edits, those that leave the same table and the same answer are one."""
    groups = _group_equal(task, responses, item)
    for by in groups.values():
        if len(by) > Fraction(str(options["more_than"])) * len(responses):
            return _accept_equal(task, responses, by, item)
    return _unresolved(
        (NO_LABEL if task.compares == "labels" else NO_EDIT).format(tally=_tally(task, responses, groups)),
        responses,
        options,
    )


def mean_of_all(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """The mean on every dimension."""
    return _accept_merged(
        task, responses, item, {name: mean(values) for name, values in _scores(task, responses).items()}
    )


def mean_unless_apart(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """The mean on every dimension, unless two people are `gap` or more apart on one: then one more is asked.

    Where they still are and no other person may be asked, `then` says what follows: the mean of all; the mean without the
    score that is furthest from the others; or that mean where the others are near each other, and else an adjudicator.
    """
    scores = _scores(task, responses)
    apart = [name for name, values in scores.items() if max(values) - min(values) >= options["gap"]]
    then = options["then"]
    remaining_scores = {
        name: without_outlier(values) if name in apart and then != "mean" else values
        for name, values in scores.items()
    }
    still = [
        name for name in apart if max(remaining_scores[name]) - min(remaining_scores[name]) >= options["gap"]
    ]
    reason = APART.format(
        names=joined(map(task.reason_text, apart), " and "), gap=translation.number(f"{options['gap']:g}")
    )
    if apart and len(responses) < options["most"]:
        settled = then == "adjudicate" and not still
        if not settled:
            return NeedsResponse(reason)
    if still and then == "adjudicate":
        return NeedsAdjudication(reason)
    return _accept_merged(
        task, responses, item, {name: mean(values) for name, values in remaining_scores.items()}
    )


def set_overlap(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """What more than half of the people who marked something marked, where their sets overlap by `least` (mean Jaccard).

    Cells are not mixed with those of a person who marked something else altogether. More than half must say the
    same about whether there is anything to mark.
    """
    votes = Counter(task.word(response) for response in responses)
    word, most = max(votes.items(), key=lambda pair: pair[1])
    if 2 * most <= len(responses):
        return _unresolved(NOT_THE_SAME.format(tally=_tally_with_exclusions(task, votes)), responses, options)
    by = tuple(index for index, response in enumerate(responses) if task.word(response) == word)
    if word:
        return _accept_equal(task, responses, by, item)
    sets = [task.members(responses[index]) for index in by]
    overlap = mean_overlap(sets)
    if overlap < options["least"]:
        return _unresolved(
            OVERLAP.format(
                overlap=translation.number(f"{overlap:.2f}"),
                least=translation.number(f"{options['least']:.2f}"),
            ),
            responses,
            options,
        )
    counts = Counter(member for members in sets for member in members)
    majority_members = frozenset(member for member, count in counts.items() if 2 * count > len(sets))
    if not majority_members:
        titles = sorted(
            (title, count) for element, count in counts.items() if (title := task.member_title(element))
        )
        tally = joined(
            (MARKED.format(label=translation.word(title), number=count) for title, count in titles), ", "
        )
        return _unresolved((NOTHING_TOLD if titles else NOTHING).format(tally=tally), responses, options)
    return Acceptance((Outcome(task.merged([responses[index] for index in by], item, majority_members), by),))


def accept_each(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """Every response that holds is on its own; where some people say that there is nothing to do, one looks at it."""
    votes = Counter(task.word(response) for response in responses)
    if len(votes) > 1:
        return NeedsAdjudication(NOT_THE_SAME.format(tally=_tally_with_exclusions(task, votes)))
    if next(iter(votes)):
        first = min(responses, key=_sort_key)
        return _accept_equal(
            task, responses, [index for index, candidate in enumerate(responses) if candidate == first], item
        )
    if not options["merge"]:
        return Acceptance(tuple(Outcome(response, (index,)) for index, response in enumerate(responses)))
    distinct: dict[Hashable, Any] = {}
    for response in sorted(responses, key=_sort_key):
        distinct.setdefault(task.alike(response, item), response)
    return Acceptance(
        tuple(
            Outcome(
                candidate, tuple(index for index, response in enumerate(responses) if response == candidate)
            )
            for candidate in distinct.values()
        )
    )


def accept_given_answer(
    task: DecisionMethods, responses: Sequence[Any], item: Item, options: Mapping[str, Any]
) -> Resolution:
    """Decided where a person gives the given answer, and none one that differs by more than a slip.

    A slip (a lost sign, another scale) beside a right answer is known for what it is, and becomes the reason. Where
    no person gives the given answer an adjudicator decides, even if all make the same slip: they worked apart, so it is as
    likely that the maker of the example made it, and a decision here would put their answer in place of the given one
    unseen. Everything else is always looked at.
    """
    departures = [task.compare_to_gold(response, item) for response in responses]
    if other := [name for how, name in departures if how == "other"]:
        return NeedsAdjudication(
            DIFFER.format(number=len(other), of=len(responses), names=_count_differences(other))
        )
    slips = [name for how, name in departures if how == "slip"]
    equal = tuple(index for index, (how, _) in enumerate(departures) if how == "equal")
    if not equal:
        return NeedsAdjudication(NOBODY.format(names=_count_differences(slips)))
    outcome = Outcome(task.merged([responses[index] for index in equal], item, None), equal)
    return Acceptance((outcome,), joined(map(translation.word, sorted(set(slips))), ", "))


# -- the table of rules -----------------------------------------------------------------------------

_MOST: Mapping[str, Any] = {
    "type": "integer",
    "minimum": 2,
    "maximum": MOST,
    "title": gettext_noop("Maximum annotators"),
    "description": gettext_noop(
        "Without agreement, annotators are added up to this number. Then the item goes to "
        "adjudication. Empty: adjudication at once."
    ),
}
_MORE_THAN: Mapping[str, Any] = {
    "type": "number",
    "minimum": 0.5,
    "exclusiveMaximum": 1,
    "default": 0.5,
    "title": gettext_noop("Required share"),
    "description": gettext_noop("0.5 means more than half of the annotators."),
}

THEN: Final[Mapping[Any, str]] = {
    "mean": gettext_noop("mean of all"),
    "replace": gettext_noop("mean without the most distant score"),
    "adjudicate": gettext_noop("adjudication unless the others are close"),
}
"""What the rule `gap` does where scores still differ, in words."""

RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            "majority",
            gettext_noop("majority"),
            gettext_noop("The label of more than half of the annotators."),
            ("labels",),
            majority,
            {"more_than": _MORE_THAN, "most": _MOST},
        ),
        Rule(
            "mean",
            gettext_noop("mean of all scores"),
            gettext_noop("The mean of all scores, on every dimension."),
            ("scales",),
            mean_of_all,
        ),
        Rule(
            "gap",
            gettext_noop("mean, unless scores are far apart"),
            gettext_noop("The mean of all scores. If scores are far apart, one more annotator is asked."),
            ("scales",),
            mean_unless_apart,
            {
                "gap": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "default": 3,
                    "title": gettext_noop("Gap"),
                    "description": gettext_noop(
                        "If two scores on a dimension differ by this much, one more annotator is asked."
                    ),
                },
                "most": {
                    **_MOST,
                    "default": 3,
                    "description": gettext_noop("The maximum number of annotators per item."),
                },
                "then": {
                    "enum": ["mean", "replace", "adjudicate"],
                    "default": "mean",
                    "title": gettext_noop("If scores still differ"),
                    "description": gettext_noop(
                        "mean: the mean of all. replace: the mean without the most distant score. "
                        "adjudicate: like replace if the others are close, otherwise adjudication."
                    ),
                },
            },
        ),
        Rule(
            "set_overlap",
            gettext_noop("set overlap"),
            gettext_noop("The cells that more than half marked, if the overlap is large enough."),
            ("sets",),
            set_overlap,
            {
                "least": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 1,
                    "default": 0.5,
                    "title": gettext_noop("Minimum overlap"),
                    "description": gettext_noop("Mean Jaccard index over pairs of annotators."),
                },
                "most": _MOST,
            },
        ),
        Rule(
            "edit_equivalence",
            gettext_noop("majority of equivalent edits"),
            gettext_noop(
                "The edit of more than half of the annotators. Edits with the same table and answer "
                "count as one."
            ),
            ("edits",),
            majority,
            {"more_than": _MORE_THAN, "most": _MOST},
        ),
        Rule(
            "each",
            gettext_noop("all valid responses"),
            gettext_noop("Every valid response is accepted."),
            ("edits", "texts"),
            accept_each,
            {
                "merge": {
                    "type": "boolean",
                    "default": False,
                    "title": gettext_noop("Count identical responses once"),
                    "description": gettext_noop("Identical responses give one outcome."),
                }
            },
        ),
        Rule(
            "given",
            gettext_noop("agreement with the given answer"),
            gettext_noop("At least one response gives the given answer, and no response differs."),
            ("answers",),
            accept_given_answer,
        ),
        Rule(
            "unanimous",
            gettext_noop("unanimous"),
            gettext_noop("All responses agree; otherwise the item goes to adjudication."),
            ("labels", "scales", "sets", "edits"),
            unanimous,
        ),
    )
}
"""Every rule by its name; for each form of responses the usual one first, which a project's task type has by default.

After a change, `./run manage reference` writes the tables and the schema that follow, `messages` the catalogues.
"""


def mean_distance(task: DecisionMethods, responses: Sequence[Any], item: Item) -> float:
    """How far people are apart, from 0 (all say the same) to 1: the mean over pairs of them.

    Scores by their distance on the scale, sets by what they do not share (Jaccard), all else by whether it is the same.
    """
    pairs = [_distance(task, response, other, item) for response, other in combinations(responses, 2)]
    return float(sum(pairs) / len(pairs)) if pairs else 0.0


# -- parts ------------------------------------------------------------------------------------------


def mean_overlap(sets: Sequence[frozenset[Any]]) -> float:
    """The mean Jaccard index of all pairs, summed as fractions: the order of people plays no part. 1 for one alone."""
    overlaps = [
        Fraction(len(members & other), len(members | other) or 1) for members, other in combinations(sets, 2)
    ]
    return float(sum(overlaps) / len(overlaps)) if overlaps else 1.0


def without_outlier(scores: Sequence[float]) -> list[float]:
    """Of three or more scores those left, in order, when the one furthest from the others goes; a tie leaves all."""
    ordered = sorted(scores)
    if len(ordered) < 3:
        return ordered
    below, above = ordered[1] - ordered[0], ordered[-1] - ordered[-2]
    if below == above:
        return ordered
    return ordered[1:] if below > above else ordered[:-1]


def _distance(task: DecisionMethods, response: Any, other: Any, item: Item) -> Fraction:
    if task.word(response) != task.word(other):
        return Fraction(1)
    if task.compares == "scales":
        scores, against = task.scores(response), task.scores(other)
        steps = [
            abs(a - b) for name, a in scores.items() if a is not None and (b := against.get(name)) is not None
        ]
        return Fraction(sum(steps)) / (len(steps) * (HIGHEST - LOWEST)) if steps else Fraction(0)
    if task.compares == "sets":
        return 1 - Fraction(str(mean_overlap([task.members(response), task.members(other)])))
    return Fraction(task.alike(response, item) != task.alike(other, item))


def _group_equal(task: DecisionMethods, responses: Sequence[Any], item: Item) -> dict[Hashable, list[int]]:
    """Who says the same, by what they say."""
    groups: dict[Hashable, list[int]] = {}
    for index, response in enumerate(responses):
        groups.setdefault((task.word(response), task.alike(response, item)), []).append(index)
    return groups


def _accept_equal(
    task: DecisionMethods, responses: Sequence[Any], by: Sequence[int], item: Item
) -> Acceptance:
    """Accepted what these people say, who say the same: as the first of them in an order of texts wrote it."""
    first = min((responses[index] for index in by), key=_sort_key)
    reason = task.excludes.get(task.word(first))
    if reason is not None:
        return Acceptance((), reason)
    return Acceptance(
        (Outcome(task.merge_equal([responses[index] for index in by], first, item), tuple(by)),)
    )


def _accept_merged(
    task: DecisionMethods, responses: Sequence[Any], item: Item, means: Mapping[str, int | float]
) -> Acceptance:
    return Acceptance((Outcome(task.merged(responses, item, means), tuple(range(len(responses)))),))


def _scores(task: DecisionMethods, responses: Sequence[Any]) -> dict[str, list[int | float]]:
    """What people said on every dimension, by dimension, without people who say nothing on it."""
    scores_by_name: dict[str, list[int | float]] = {}
    for response in responses:
        for name, score in task.scores(response).items():
            if score is not None:
                scores_by_name.setdefault(name, []).append(score)
    return scores_by_name


def _unresolved(
    reason: str, responses: Sequence[Any], options: Mapping[str, Any]
) -> NeedsResponse | NeedsAdjudication:
    return NeedsResponse(reason) if len(responses) < options.get("most", 0) else NeedsAdjudication(reason)


def _tally(task: DecisionMethods, responses: Sequence[Any], groups: Mapping[Hashable, Sequence[int]]) -> str:
    """ "yes 2, no 1" where people say words; how many say each thing where what they say is longer."""
    votes = Counter(task.word(response) for response in responses)
    if task.compares == "labels":
        return _tally_words(task, votes)
    sizes = sorted(map(len, groups.values()), reverse=True)
    if sizes[0] == 1:
        return ALL_DIFFERENT.format(number=len(groups), people=sum(sizes))
    *first, last = map(str, sizes)
    return DIFFERENT.format(number=len(groups), first=", ".join(first), last=last, people=sum(sizes))


def _tally_words(task: DecisionMethods, votes: Mapping[str, int]) -> str:
    return joined(
        (
            COUNTED.format(
                label=task.reason_text(label) if label else translation.word("a response"), number=count
            )
            for label, count in sorted(votes.items())
        ),
        ", ",
    )


def _tally_with_exclusions(task: DecisionMethods, votes: Mapping[str, int]) -> str:
    """ "2 responses, 1 “unanswerable”": those that do what is asked, and what the others say instead."""
    return joined(
        (
            QUOTED.format(label=task.reason_text(word), number=count)
            if word
            else (ONE_RESPONSE if count == 1 else RESPONSES).format(number=count)
            for word, count in sorted(votes.items())
        ),
        ", ",
    )


def _count_differences(names: Sequence[str]) -> str:
    counts = sorted(Counter(names).items())
    return joined((TIMES.format(number=count, label=translation.word(name)) for name, count in counts), ", ")


def _sort_key(response: Any) -> tuple[str, ...]:
    """The sort key of responses, independent of their authors."""
    values = (getattr(response, field.name) for field in dataclasses.fields(response))
    return tuple(value if isinstance(value, str) else repr(value) for value in values)
