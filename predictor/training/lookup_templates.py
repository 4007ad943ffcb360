"""Templates of questions that cells of the table answer: looked up, extreme, beside another, most frequent."""

from __future__ import annotations

import numpy as np

from predictor.bundled.decode import year_in
from predictor.training.question_builder import (
    ImpossibleQuestion,
    QuestionBuilder,
    Rows,
    SyntheticQuestion,
    Templates,
)


def _look_up(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    column = builder.pick(
        [
            c
            for c in range(builder.table.columns)
            if c != builder.key and builder.names[c] and builder.has_text(row, c)
        ]
    )
    name = builder.name(column)
    return builder.question(
        "select",
        f"what is the {name} of {subject}",
        f"what {name} did {subject} have",
        f"which {name} is listed for {subject}",
        f"{subject} has what {name}",
        f"what was {subject}'s {name}",
        f"name the {name} for {subject}",
        f"when {builder.name(builder.key)} is {subject}, what is the {name}",
        f"how many {name} does {subject} have",
        f"what {name} was {subject}",
        cells=((row, column),),
    )


def _who(builder: QuestionBuilder) -> SyntheticQuestion:
    words, rows = builder.condition()
    if len(rows) != 1:
        raise ImpossibleQuestion
    name = builder.name(builder.key)
    return builder.question(
        "select",
        f"which {name} {words}",
        f"what is the only {name} {words}",
        f"who is the {name} {words}",
        f"what {name} is listed {words}",
        f"name the {name} {words}",
        cells=((rows[0], builder.key),),
    )


def _best(builder: QuestionBuilder) -> tuple[str, int, int, str]:
    """(superlative, row, column, condition) of an extreme, maybe among some rows only."""
    column = builder.measured_column()
    words, rows = "", builder.rows
    if builder.rng.random() < 0.35:
        words, rows = builder.condition()
    rows = [row for row in builder.rows_with_number(column, rows) if builder.has_text(row, builder.key)]
    if len(rows) < 2 or (not words and len(rows) < 3):
        raise ImpossibleQuestion
    high = builder.rng.random() < 0.55
    values = sorted({builder.number(row, column) for row in rows}, reverse=high)
    second = builder.rng.random() < 0.08 and len(values) > 2
    best = [row for row in rows if builder.number(row, column) == values[int(second)]]
    if len(best) > 1:
        raise ImpossibleQuestion
    if column in builder.dated:
        superlative = (
            builder.choose("latest", "most recent", "last", "newest")
            if high
            else builder.choose("earliest", "first", "oldest")
        )
    elif high:
        superlative = builder.choose(
            "highest", "most", "largest", "greatest", "top", "biggest", "best", "longest"
        )
    else:
        superlative = builder.choose("lowest", "least", "smallest", "fewest", "shortest", "worst")
    return f"{'second ' if second else ''}{superlative}", best[0], column, words


def _superlative(builder: QuestionBuilder) -> SyntheticQuestion:
    superlative, row, column, words = _best(builder)
    key, name = builder.name(builder.key), builder.name(column)
    return builder.question(
        "select",
        f"which {key} {words} has the {superlative} {name}",
        f"who had the {superlative} {name} {words}",
        f"what {key} received the {superlative} {name} {words}",
        f"the {superlative} {name} belongs to which {key} {words}",
        f"which {key} {words} is {superlative} in {name}",
        f"who was the {superlative} {words}"
        if column in builder.dated
        else f"what {key} {words} had the {superlative} number of {name}",
        f"which {key} {words} had the {superlative} {name}",
        cells=((row, builder.key),),
    )


def _extreme_value(builder: QuestionBuilder) -> SyntheticQuestion:
    superlative, row, column, words = _best(builder)
    name = builder.name(column)
    return builder.question(
        "select",
        f"what is the {superlative} {name} {words}",
        f"what was the {superlative} {name} {words}",
        f"{superlative} {name} {words}",
        f"what is the {superlative} number of {name} {words}",
        cells=((row, column),),
    )


def _neighbour(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    after = builder.rng.random() < 0.5
    other = row + (1 if after else -1)
    if other not in builder.rows:
        raise ImpossibleQuestion
    key = builder.name(builder.key)
    words = (
        (
            "is listed after",
            "comes next after",
            "came immediately after",
            "follows",
            "is next after",
            "is below",
            "was after",
        )
        if after
        else (
            "is listed before",
            "comes right before",
            "came immediately before",
            "precedes",
            "is previous to",
            "is above",
            "was before",
        )
    )
    question = f"{builder.choose('which', 'what', 'the')} {key} {builder.choose(*words)} {subject}"
    return SyntheticQuestion(builder.punctuate(question), "select", ((other, builder.key),))


def _listed_position(builder: QuestionBuilder) -> SyntheticQuestion:
    words, rows = "", builder.rows
    if builder.rng.random() < 0.4:
        words, rows = builder.condition()
    rows = [row for row in rows if builder.has_text(row, builder.key)]
    if len(rows) < 2:
        raise ImpossibleQuestion
    key = builder.name(builder.key)
    if not words and builder.rng.random() < 0.15 and len(rows) > 4 and rows[:5] == list(range(5)):
        index = builder.rng.randrange(1, 5)
        ordinal = ("first", "second", "third", "fourth", "fifth")[index]
        templates = f"what is the {ordinal} {key} listed", f"who is the {ordinal} {key} on the list"
        return builder.question("select", *templates, cells=((rows[index], builder.key),))
    first = builder.rng.random() < 0.55
    row = rows[0] if first else rows[-1]
    ordinal = builder.choose("first", "top") if first else builder.choose("last", "final", "bottom")
    return builder.question(
        "select",
        f"what is the {ordinal} {key} {words} listed",
        f"who was the {ordinal} {key} {words} on the list",
        f"which {key} {words} is at the {'top' if first else 'bottom'} of the table",
        f"what is the {ordinal} {key} {words}",
        f"what was the {ordinal} {key} {words} on this chart",
        cells=((row, builder.key),),
    )


def _compare_two(builder: QuestionBuilder) -> SyntheticQuestion:
    first_row, second_row = builder.two_subjects()
    column = builder.measured_column()
    values = [builder.number(row, column) for row in (first_row, second_row)]
    if np.isnan(values).any() or values[0] == values[1]:
        raise ImpossibleQuestion
    high, low = (first_row, second_row) if values[0] > values[1] else (second_row, first_row)
    a, b, key, name = (
        builder.text(first_row, builder.key),
        builder.text(second_row, builder.key),
        builder.name(builder.key),
        builder.name(column),
    )
    if column in builder.dated:
        late = builder.rng.random() < 0.5
        comparative = (
            builder.choose("later", "more recent", "last")
            if late
            else builder.choose("first", "earlier", "before")
        )
        return builder.question(
            "select",
            f"which came {comparative}, {a} or {b}",
            f"who was {comparative}, {a} or {b}",
            f"was {a} or {b} {comparative}",
            cells=((high if late else low, builder.key),),
        )
    up = builder.rng.random() < 0.6
    comparative = (
        builder.choose("more", "a higher", "a greater", "the most")
        if up
        else builder.choose("less", "a lower", "fewer", "the least")
    )
    return builder.question(
        "select",
        f"who had {comparative} {name}, {a} or {b}",
        f"which {key} has {comparative} {name}, {a} or {b}",
        f"did {a} or {b} have {comparative} {name}",
        f"{a} or {b}, which has {comparative} {name}",
        cells=((high if up else low, builder.key),),
    )


def _most_common(builder: QuestionBuilder) -> SyntheticQuestion:
    column = builder.pick(builder.kinds)
    counts: dict[int, Rows] = {}
    for row in builder.live:
        if builder.has_text(row, column):
            counts.setdefault(int(builder.table.codes[row, column]), []).append(row)
    most = builder.rng.random() < 0.8
    best = (max if most else min)(len(rows) for rows in counts.values())
    groups = [rows for rows in counts.values() if len(rows) == best]
    if len(groups) != 1 or len(counts) < 2:
        raise ImpossibleQuestion
    name, key = builder.name(column), builder.name(builder.key)
    frequency = (
        builder.choose("the most", "most often", "most frequently")
        if most
        else builder.choose("the least", "least often")
    )
    return builder.question(
        "select",
        f"which {name} appears {frequency}",
        f"which {name} is listed {frequency}",
        f"what {name} occurs {frequency}",
        f"which {name} has {frequency.replace(' often', '')} {key}",
        f"what {name} shows up {frequency}",
        cells=tuple((row, column) for row in groups[0]),
    )


def _same_as(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    column = builder.pick([c for c in (*builder.kinds, *builder.numeric) if c != builder.key])
    rows = [
        other
        for other in builder.rows_like(column, row)
        if other != row and builder.has_text(other, builder.key)
    ]
    if not builder.has_text(row, column) or not rows or len(rows) > 4:
        raise ImpossibleQuestion
    key, name = builder.name(builder.key), builder.name(column)
    templates = (
        f"which other {key} has the same {name} as {subject}",
        f"who has the same {name} as {subject}",
        f"besides {subject}, which {key} has the same {name}",
        f"what {key} shares its {name} with {subject}",
    )
    if len(rows) == 1:
        return builder.question("select", *templates, cells=((rows[0], builder.key),))
    return builder.question("list", *templates, rows=rows, column=builder.key)


def _which_year(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    column = builder.pick([column for column in builder.dated if column != builder.key])
    if not year_in(builder.table.table.rows[row][column]):
        raise ImpossibleQuestion
    return builder.question(
        "year",
        f"in what year was {subject}",
        f"what year did {subject} take place",
        f"which year was {subject}",
        f"what is the year of {subject}",
        cells=((row, column),),
    )


LOOKUPS: Templates = {
    _look_up: 8,
    _who: 8,
    _superlative: 14,
    _extreme_value: 5,
    _neighbour: 7,
    _listed_position: 6,
    _compare_two: 7,
    _most_common: 4,
    _same_as: 4,
    _which_year: 1,
}
