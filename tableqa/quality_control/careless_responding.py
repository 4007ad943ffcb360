"""Ways of working that a manager should look at: too fast, always the same, copied texts. They are no accusation.

    too_fast(seconds_of_the_person, seconds_of_the_others, floor)
    sped_up(seconds_in_order)
    always_the_same(labels_in_order, Counter(labels_of_the_others))
    copy_paste({item: text}, texts_of_the_others)

Each takes plain data and returns a Habit: whether it stands out, the figures, and a sentence with both. Nothing here
changes a place, a label or a payment, and nothing should: a quick expert, a batch in which one answer is right nearly
everywhere, and a stock sentence that the guidelines give all look like this from afar. So each is judged against the
person's own work and against what others did in the same batch, and stays silent where there is too little of either.

The figures: medians and the median absolute deviation of logarithms of times (times are skewed; Hampel 1974 for the
deviation), the exact binomial tail, and the expected number of long runs in independent draws (Feller 1968, chapter XIII).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, lgamma, log, log1p
from statistics import median
from typing import Literal, TypeVar

from tableqa.core import translation
from tableqa.core.translation import message
from tableqa.statistics.proportions import proportion

Key = TypeVar("Key", bound=Hashable)
Kind = Literal["too_fast", "sped_up", "always_the_same", "copy_paste"]

FEWEST = 10
"""Items of a person, and of the others together, below which no result is given."""
RARE = 0.001
"""How unlikely a run or a share has to be, were the person like the others."""
THIRD = 1 / 3
ROBUST = 1.4826
"""From the median absolute deviation to a standard deviation, were the logarithms normal."""
RUN = 5
"""Items in a row that count as a change of pace."""
TOO_FEW = message("habits.too_few", "Not enough data yet: {items} items, {needed} are needed.")
TOO_FEW_OF_OTHERS = message(
    "habits.too_few_of_others",
    "Not enough data yet: other annotators did {items} items, {needed} are needed.",
)
FAST = message(
    "habits.fast",
    "{fast} of {items} items took less than {bound} s ({share}); for other annotators it is {of_others}. The annotator's "
    "median is {median} s, that of other annotators {median_of_others} s.",
)
ALONE = message(
    "habits.alone",
    "{fast} of {items} items took less than {bound} s ({share}). The annotator's median is {median} s. Other annotators "
    "did {others} items, too few for a comparison.",
)
SPED_UP = message(
    "habits.sped_up",
    "At most {longest} items in a row took less than a third of the annotator's median of {median} s.",
)
NOT_SPED_UP = message(
    "habits.not_sped_up", "No item took less than a third of the annotator's median of {median} s."
)
THE_SAME = {
    True: message(
        "habits.the_same.share",
        "{label} was chosen for {times} of {items} items ({share}, 95 % CI {low} to {high}). Other annotators chose it for "
        "{of_others} of theirs.",
    ),
    False: message(
        "habits.the_same.share_and_run",
        "{label} was chosen for {times} of {items} items ({share}, 95 % CI {low} to {high}). Other annotators chose it for "
        "{of_others} of theirs. The least likely run is {run}, {length} times in a row.",
    ),
}
"""By whether the run is of one item, which says nothing."""
REPEATED = message("habits.repeated", "The same text is in {times} of {items} items: “{text}”")
NOT_REPEATED = message("habits.not_repeated", "No text is repeated in the {items} items with text.")
SHORT = 12
"""Texts of fewer characters repeat by themselves: "yes", "row 3"."""


@dataclass(frozen=True, slots=True)
class Habit:
    """One way of working of one person in one batch.

    raised    whether it stands out; False also where there is too little to say so
    sentence  what was found, for a manager, in both cases
    figures   the numbers behind it, by name
    items     positions (or names, for texts) of the items that it rests on, in order
    label     the commonest label and how many items have it, `times`; None for what is not about labels
    """

    kind: Kind
    raised: bool
    sentence: str
    figures: Mapping[str, float] = field(default_factory=dict)
    items: tuple[Hashable, ...] = ()
    label: Hashable = None
    times: int = 0


def too_fast(seconds: Sequence[float], of_others: Sequence[float], floor: float = 0.0) -> Habit:
    """Items done in less than a third of the others' median time, and far outside their spread; or below a floor.

    seconds: active time of each of the person's items; of_others: of the batch's other items; floor: the time in which
    such an item cannot be done, 0 where that is not known. The bound is the lower of a third of the others' median and
    what lies 2.5 robust standard deviations (of logarithms) below it, but never below the floor. Raised where at least
    three items are below the bound and their share is above the others' beyond what its interval allows, or where at
    least three items and a tenth of them are below the floor: that also tells of a batch in which all are too fast,
    or one person alone. Raises ValueError for a time or a floor below 0.
    """
    _check_times(seconds, of_others, [floor])
    if few := _too_few("too_fast", len(seconds), None if floor else len(of_others)):
        return few
    compared = len(of_others) >= FEWEST
    bound = max(floor, _bound(of_others)) if compared else floor
    fast = tuple(index for index, time in enumerate(seconds) if time < bound)
    own = proportion(len(fast), len(seconds))
    others = proportion(sum(time < bound for time in of_others), len(of_others))
    impossible = sum(time < floor for time in seconds)
    stands_out = compared and len(fast) >= 3 and (own.low or 0.0) > (others.high or 0.0)
    values = {
        "fast": len(fast),
        "items": len(seconds),
        "bound": translation.number(f"{bound:.1f}"),
        "share": translation.number(own.percent),
        "median": translation.number(f"{median(seconds):.1f}"),
    }
    figures = {
        "items": len(seconds),
        "fast": len(fast),
        "bound_seconds": bound,
        "floor_seconds": floor,
        "below_floor": impossible,
        "share": own.value or 0.0,
        "share_of_others": others.value or 0.0,
        "median_seconds": median(seconds),
    }
    if compared:
        figures["median_seconds_of_others"] = median(of_others)
        sentence = FAST.format(
            **values,
            of_others=translation.number(others.percent),
            median_of_others=translation.number(f"{median(of_others):.1f}"),
        )
    else:
        sentence = ALONE.format(**values, others=len(of_others))
    raised = stands_out or (impossible >= 3 and impossible >= 0.1 * len(seconds))
    return Habit("too_fast", raised, sentence, figures, fast)


def sped_up(seconds: Sequence[float]) -> Habit:
    """A run of items each done in less than a third of the person's own median time, by the times in the order of work.

    Raised from five in a row on. Compared only with the person: a change of pace, such as at the end of a long day.
    """
    _check_times(seconds)
    if few := _too_few("sped_up", len(seconds)):
        return few
    usual = median(seconds)
    start, length = _longest([time < usual * THIRD for time in seconds])
    return Habit(
        "sped_up",
        length >= RUN,
        (SPED_UP if length else NOT_SPED_UP).format(
            longest=length, median=translation.number(f"{usual:.1f}")
        ),
        {"items": len(seconds), "longest_run": length, "median_seconds": usual},
        tuple(range(start, start + length)),
    )


def always_the_same(labels: Sequence[Key], of_others: Mapping[Key, int]) -> Habit:
    """One label far oftener, or in a longer run, than others gave it in the same batch.

    labels: the person's, in the order of work; of_others: how often the others gave each label. Raised where the share of
    the person's commonest label, or their longest run of one label, would have a chance below one in a thousand (together)
    if they gave labels as the others do, item by item on its own. What the others never gave counts as given once.
    """
    total = sum(of_others.values())
    if any(count < 0 for count in of_others.values()):
        raise ValueError("A label of the others has a count below 0.")
    if few := _too_few("always_the_same", len(labels), total):
        return few
    n = len(labels)
    counted = Counter(labels)
    top = max(counted, key=lambda label: (counted[label], str(label)))
    usual = max(of_others.get(top, 0), 1) / max(total, 1)
    by_share = _tail(n, counted[top], usual)
    start, length, by_run = 0, 0, 1.0
    for label in counted:
        here, run = _longest([own_label == label for own_label in labels])
        chance = _run_chance(n, run, max(of_others.get(label, 0), 1) / total)
        if chance < by_run or (chance == by_run and run > length):
            start, length, by_run = here, run, chance
    raised = min(by_share, by_run) * 2 < RARE
    share = proportion(counted[top], n)
    return Habit(
        "always_the_same",
        raised,
        THE_SAME[length == 1].format(
            label=translation.word(str(top)),
            times=counted[top],
            items=n,
            share=translation.number(share.percent),
            low=translation.number(f"{100 * (share.low or 0.0):.1f}"),
            high=translation.number(f"{100 * (share.high or 0.0):.1f} %"),
            of_others=translation.number(f"{100 * usual:.1f} %"),
            run=translation.word(str(labels[start])),
            length=length,
        ),
        {
            "items": n,
            "share": share.value or 0.0,
            "share_of_others": usual,
            "chance_of_the_share": by_share,
            "longest_run": length,
            "chance_of_the_run": by_run,
        },
        tuple(range(start, start + length)),
        top,
        counted[top],
    )


def copy_paste(texts: Mapping[Key, str], of_others: Iterable[Iterable[str]] = ()) -> Habit:
    """The same free text on several items, where others do not write it.

    texts: the person's free text of each item; of_others: what each of the others wrote in the batch. Texts are the same
    where they differ in case and blanks only. Those of fewer than 12 characters are left out, and so are those that at
    least two others use, and on at least a twentieth of what the others wrote (a phrase of the guidelines; one other who
    writes the same may be the same person). Raised where one text is on at least three items and on at least a tenth
    of those with a text.
    """
    plain_texts = {item: _plain(text) for item, text in texts.items() if text.strip()}
    each = [Counter(map(_plain, theirs)) for theirs in of_others]
    usual = sum(each, Counter[str]())
    users = Counter(text for theirs in each for text in theirs)
    written = sum(count for text, count in usual.items() if text)
    counted = Counter(
        text
        for text in plain_texts.values()
        if len(text) >= SHORT and not (users[text] >= 2 and usual[text] >= 0.05 * written)
    )
    if not counted:
        return Habit(
            "copy_paste",
            False,
            NOT_REPEATED.format(items=len(plain_texts)),
            {"items": len(plain_texts)},
        )
    top = max(counted, key=lambda text: (counted[text], text))
    times = counted[top]
    raised = times >= 3 and times >= 0.1 * len(plain_texts)
    excerpt = top if len(top) <= 60 else top[:59] + "…"
    return Habit(
        "copy_paste",
        raised,
        (REPEATED if times > 1 else NOT_REPEATED).format(times=times, items=len(plain_texts), text=excerpt),
        {
            "items": len(plain_texts),
            "repeated": times,
            "different_texts": len(set(plain_texts.values())),
            "times_of_others": usual[top],
        },
        tuple(item for item, text in plain_texts.items() if text == top) if times > 1 else (),
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _check_times(*lists: Sequence[float]) -> None:
    if any(not time >= 0 for times in lists for time in times):
        raise ValueError("A time is below 0 or no number.")


def _too_few(kind: Kind, own: int, others: int | None = None) -> Habit | None:
    figures = {"items": own} if others is None else {"items": own, "items_of_others": others}
    if own < FEWEST:
        return Habit(kind, False, TOO_FEW.format(items=own, needed=FEWEST), figures)
    if others is not None and others < FEWEST:
        return Habit(kind, False, TOO_FEW_OF_OTHERS.format(items=others, needed=FEWEST), figures)
    return None


def _bound(times: Sequence[float]) -> float:
    """The time below which an item is far from what is usual, in seconds."""
    usual = median(times)
    logs = [log(max(time, 0.1)) for time in times]
    middle = median(logs)
    spread = ROBUST * median(abs(value - middle) for value in logs)
    return min(usual * THIRD, exp(middle - 2.5 * spread))


def _longest(marks: Sequence[bool]) -> tuple[int, int]:
    """Where the longest run of True begins and how long it is; the first of equals."""
    best, start, length = (0, 0), 0, 0
    for index, mark in enumerate(marks):
        start, length = (start if length else index, length + 1) if mark else (index, 0)
        if length > best[1]:
            best = (start, length)
    return best


def _tail(n: int, at_least: int, share: float) -> float:
    """How likely a binomial count is at least so large."""
    if share == 1:
        return 1.0
    logs = (
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log1p(-share)
        for k in range(at_least, n + 1)
    )
    return min(1.0, fsum(map(exp, logs)))


def _run_chance(n: int, length: int, share: float) -> float:
    """An upper bound on the chance of a run this long: the expected number of places where one could begin."""
    if not length:
        return 1.0
    return min(1.0, float(share**length * (1 + (n - length) * (1 - share))))
