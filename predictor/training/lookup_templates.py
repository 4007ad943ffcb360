"""Templates of questions that cells of the table answer: looked up, extreme, beside another, most frequent."""

import numpy as np

from predictor.bundled.decode import year_in
from predictor.training.question_table import Impossible, QuestionTable, SyntheticQuestion, Templates


def _look_up(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    filled = [c for c in range(table.reading.columns) if table.names[c] and table.has_text(row, c)]
    column = table.pick([column for column in filled if column != table.key])
    name = table.name(column)
    return table.question(
        "select",
        f"what is the {name} of {subject}",
        f"what {name} did {subject} have",
        f"which {name} is listed for {subject}",
        f"{subject} has what {name}",
        f"what was {subject}'s {name}",
        f"name the {name} for {subject}",
        f"when {table.name(table.key)} is {subject}, what is the {name}",
        f"how many {name} does {subject} have",
        f"what {name} was {subject}",
        cells=((row, column),),
    )


def _who(table: QuestionTable) -> SyntheticQuestion:
    phrase, rows = table.condition()
    if len(rows) != 1:
        raise Impossible
    name = table.name(table.key)
    return table.question(
        "select",
        f"which {name} {phrase}",
        f"what is the only {name} {phrase}",
        f"who is the {name} {phrase}",
        f"what {name} is listed {phrase}",
        f"name the {name} {phrase}",
        cells=((rows[0], table.key),),
    )


def _best(table: QuestionTable) -> tuple[str, int, int, str]:
    """(superlative, row, column, condition) of an extreme, maybe among some rows only."""
    column = table.measured_column()
    phrase, rows = "", table.rows
    if table.rng.random() < 0.35:
        phrase, rows = table.condition()
    rows = [row for row in table.rows_with_number(column, rows) if table.has_text(row, table.key)]
    if len(rows) < 2 or (not phrase and len(rows) < 3):
        raise Impossible
    high = table.rng.random() < 0.55
    values = sorted({table.number(row, column) for row in rows}, reverse=high)
    second = table.rng.random() < 0.08 and len(values) > 2
    best = [row for row in rows if table.number(row, column) == values[int(second)]]
    if len(best) > 1:
        raise Impossible
    if column in table.dated:
        superlative = table.word(high, "latest, most recent, last, newest", "earliest, first, oldest")
    elif high:
        superlative = table.choose(
            "highest", "most", "largest", "greatest", "top", "biggest", "best", "longest"
        )
    else:
        superlative = table.choose("lowest", "least", "smallest", "fewest", "shortest", "worst")
    return f"{'second ' if second else ''}{superlative}", best[0], column, phrase


def _superlative(table: QuestionTable) -> SyntheticQuestion:
    superlative, row, column, phrase = _best(table)
    key, name = table.name(table.key), table.name(column)
    return table.question(
        "select",
        f"which {key} {phrase} has the {superlative} {name}",
        f"who had the {superlative} {name} {phrase}",
        f"what {key} received the {superlative} {name} {phrase}",
        f"the {superlative} {name} belongs to which {key} {phrase}",
        f"which {key} {phrase} is {superlative} in {name}",
        f"who was the {superlative} {phrase}"
        if column in table.dated
        else f"what {key} {phrase} had the {superlative} number of {name}",
        f"which {key} {phrase} had the {superlative} {name}",
        cells=((row, table.key),),
    )


def _extreme_value(table: QuestionTable) -> SyntheticQuestion:
    superlative, row, column, phrase = _best(table)
    name = table.name(column)
    return table.question(
        "select",
        f"what is the {superlative} {name} {phrase}",
        f"what was the {superlative} {name} {phrase}",
        f"{superlative} {name} {phrase}",
        f"what is the {superlative} number of {name} {phrase}",
        cells=((row, column),),
    )


def _neighbour(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    after = table.rng.random() < 0.5
    other = row + (1 if after else -1)
    if other not in table.rows:
        raise Impossible
    key = table.name(table.key)
    which = table.choose("which", "what", "the")
    verb = table.word(
        after,
        "is listed after, comes next after, came immediately after, follows, is next after, is below, was after",
        "is listed before, comes right before, came immediately before, precedes, is previous to, is above, was before",
    )
    question = table.punctuate(f"{which} {key} {verb} {subject}")
    return SyntheticQuestion(question, "select", ((other, table.key),))


def _listed_position(table: QuestionTable) -> SyntheticQuestion:
    phrase, rows = "", table.rows
    if table.rng.random() < 0.4:
        phrase, rows = table.condition()
    rows = [row for row in rows if table.has_text(row, table.key)]
    if len(rows) < 2:
        raise Impossible
    key = table.name(table.key)
    if not phrase and table.rng.random() < 0.15 and len(rows) > 4 and rows[:5] == list(range(5)):
        index = table.rng.randrange(1, 5)
        ordinal = ("first", "second", "third", "fourth", "fifth")[index]
        templates = f"what is the {ordinal} {key} listed", f"who is the {ordinal} {key} on the list"
        return table.question("select", *templates, cells=((rows[index], table.key),))
    first = table.rng.random() < 0.55
    row = rows[0] if first else rows[-1]
    ordinal = table.word(first, "first, top", "last, final, bottom")
    return table.question(
        "select",
        f"what is the {ordinal} {key} {phrase} listed",
        f"who was the {ordinal} {key} {phrase} on the list",
        f"which {key} {phrase} is at the {'top' if first else 'bottom'} of the table",
        f"what is the {ordinal} {key} {phrase}",
        f"what was the {ordinal} {key} {phrase} on this chart",
        cells=((row, table.key),),
    )


def _compare_two(table: QuestionTable) -> SyntheticQuestion:
    first_row, second_row = table.two_subjects()
    column = table.measured_column()
    values = [table.number(row, column) for row in (first_row, second_row)]
    if np.isnan(values).any() or values[0] == values[1]:
        raise Impossible
    high, low = (first_row, second_row) if values[0] > values[1] else (second_row, first_row)
    a, b = table.text(first_row, table.key), table.text(second_row, table.key)
    key, name = table.name(table.key), table.name(column)
    if column in table.dated:
        late = table.rng.random() < 0.5
        comparative = table.word(late, "later, more recent, last", "first, earlier, before")
        return table.question(
            "select",
            f"which came {comparative}, {a} or {b}",
            f"who was {comparative}, {a} or {b}",
            f"was {a} or {b} {comparative}",
            cells=((high if late else low, table.key),),
        )
    up = table.rng.random() < 0.6
    comparative = table.word(up, "more, a higher, a greater, the most", "less, a lower, fewer, the least")
    return table.question(
        "select",
        f"who had {comparative} {name}, {a} or {b}",
        f"which {key} has {comparative} {name}, {a} or {b}",
        f"did {a} or {b} have {comparative} {name}",
        f"{a} or {b}, which has {comparative} {name}",
        cells=((high if up else low, table.key),),
    )


def _most_common(table: QuestionTable) -> SyntheticQuestion:
    column = table.pick(table.kinds)
    counts: dict[int, list[int]] = {}
    for row in table.live:
        if table.has_text(row, column):
            counts.setdefault(int(table.reading.codes[row, column]), []).append(row)
    most = table.rng.random() < 0.8
    best = (max if most else min)(len(rows) for rows in counts.values())
    groups = [rows for rows in counts.values() if len(rows) == best]
    if len(groups) != 1 or len(counts) < 2:
        raise Impossible
    name, key = table.name(column), table.name(table.key)
    frequency = table.word(most, "the most, most often, most frequently", "the least, least often")
    return table.question(
        "select",
        f"which {name} appears {frequency}",
        f"which {name} is listed {frequency}",
        f"what {name} occurs {frequency}",
        f"which {name} has {frequency.replace(' often', '')} {key}",
        f"what {name} shows up {frequency}",
        cells=tuple((row, column) for row in groups[0]),
    )


def _same_as(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    column = table.pick([c for c in (*table.kinds, *table.numeric) if c != table.key])
    rows = [
        other for other in table.rows_like(column, row) if other != row and table.has_text(other, table.key)
    ]
    if not table.has_text(row, column) or not rows or len(rows) > 4:
        raise Impossible
    key, name = table.name(table.key), table.name(column)
    templates = (
        f"which other {key} has the same {name} as {subject}",
        f"who has the same {name} as {subject}",
        f"besides {subject}, which {key} has the same {name}",
        f"what {key} shares its {name} with {subject}",
    )
    if len(rows) == 1:
        return table.question("select", *templates, cells=((rows[0], table.key),))
    return table.question("list", *templates, rows=rows, column=table.key)


def _which_year(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    column = table.pick([column for column in table.dated if column != table.key])
    if not year_in(table.reading.table.rows[row][column]):
        raise Impossible
    return table.question(
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
