"""Templates of questions whose answer is worked out: counts, lists, sums, averages, differences, yes or no."""

import operator

import numpy as np

from predictor.training.question_table import Impossible, QuestionTable, SyntheticQuestion, Templates


def _count(table: QuestionTable) -> SyntheticQuestion:
    phrase, rows = table.condition(1.0)
    thing = table.row_noun()
    return table.question(
        "count",
        f"how many {thing} {phrase}",
        f"how many {thing} are there {phrase}",
        f"what is the number of {thing} {phrase}",
        f"how many {thing} were {phrase}",
        f"what is the total number of {thing} {phrase}",
        f"how many were {phrase}",
        f"how many times is {phrase}",
        f"how many had {phrase.removeprefix('with ').removeprefix('that had ')}",
        rows=rows,
    )


def _count_all(table: QuestionTable) -> SyntheticQuestion:
    name = table.name(table.key)
    return table.question(
        "count",
        f"how many {name} are there",
        f"how many {name} are listed",
        f"how many {name} are in the table",
        f"what is the total number of {name}",
        f"total number of {name} listed",
        f"how many {name} in all",
        f"how many total {name} are there",
        rows=table.live,
    )


def _count_beside(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    before = table.rng.random() < 0.5
    rows = [other_row for other_row in table.live if (other_row < row if before else other_row > row)]
    if not rows:
        raise Impossible
    preposition = table.word(before, "before, above, ahead of, prior to", "after, below, following")
    name = table.name(table.key)
    return table.question(
        "count",
        f"how many {name} are listed {preposition} {subject}",
        f"how many {name} come {preposition} {subject}",
        f"how many were {preposition} {subject}",
        rows=rows,
    )


def _count_against(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    column = table.pick(table.numeric)
    value = table.number(row, column)
    more = table.rng.random() < 0.55
    compare = operator.gt if more else operator.lt
    rows = [other for other in table.rows_with_number(column) if compare(table.number(other, column), value)]
    if np.isnan(value) or not rows:
        raise Impossible
    comparative = table.word(more, "more, a higher, greater", "less, a lower, fewer")
    return table.question(
        "count",
        f"how many {table.name(table.key)} had {comparative} {table.name(column)} than {subject}",
        f"how many have {comparative} {table.name(column)} than {subject}",
        rows=rows,
    )


def _different(table: QuestionTable) -> SyntheticQuestion:
    column = table.pick(table.kinds)
    rows, phrase = [row for row in table.live if table.has_text(row, column)], ""
    if table.rng.random() < 0.3:
        phrase, chosen = table.condition()
        rows = [row for row in rows if row in set(chosen)]
    if len(rows) < 2:
        raise Impossible
    name = table.name(column)
    return table.question(
        "different",
        f"how many different {name} are there {phrase}",
        f"how many unique {name} are listed {phrase}",
        f"how many distinct {name} {phrase}",
        f"how many {name} are represented {phrase}",
        f"how many different {name} {phrase}",
        rows=rows,
        column=column,
    )


def _listing(table: QuestionTable) -> SyntheticQuestion:
    phrase, rows = table.condition()
    rows = [row for row in rows if table.has_text(row, table.key)]
    if not 2 <= len(rows) <= 6:
        raise Impossible
    name = table.name(table.key)
    return table.question(
        "list",
        f"which {name} are {phrase}",
        f"what are the {name} {phrase}",
        f"name all {name} {phrase}",
        f"list the {name} {phrase}",
        f"which {name} {phrase}",
        f"name the {name} {phrase}",
        rows=rows,
        column=table.key,
    )


def _total(table: QuestionTable) -> SyntheticQuestion:
    column = table.pick([column for column in table.numeric if column != table.key])
    name, key = table.name(column), table.name(table.key)
    average = table.rng.random() < 0.4
    operation = "average" if average else "sum"
    kind = table.rng.random()
    templates: tuple[str, ...]
    if kind < 0.3:
        first_row, second_row = table.two_subjects()
        if len(rows := table.rows_with_number(column, [first_row, second_row])) != 2:
            raise Impossible
        a, b = table.text(first_row, table.key), table.text(second_row, table.key)
        templates = (
            (f"what is the average {name} of {a} and {b}", f"average {name} for {a} and {b}")
            if average
            else (
                f"how many {name} did {a} and {b} have combined",
                f"what is the total {name} of {a} and {b}",
                f"what is the combined {name} of {a} and {b}",
                f"how many {name} do {a} and {b} have together",
            )
        )
        return table.question(operation, *templates, rows=sorted(rows), column=column)
    phrase, rows = "", table.rows_with_number(column)
    if kind < 0.65:
        phrase, chosen = table.condition()
        rows = [row for row in rows if row in set(chosen)]
    if len(rows) < 2:
        raise Impossible
    templates = (
        (
            f"what is the average {name} {phrase}",
            f"what was the mean {name} of all {key} {phrase}",
            f"average {name} {phrase}",
            f"what is the average number of {name} {phrase}",
        )
        if average
        else (
            f"what is the total {name} {phrase}",
            f"what is the sum of {name} {phrase}",
            f"how many {name} in total {phrase}",
            f"what is the combined {name} of all {key} {phrase}",
            f"what is the total number of {name} {phrase}",
            f"how many total {name} {phrase}",
            f"how many {name} were there altogether {phrase}",
        )
    )
    return table.question(operation, *templates, rows=rows, column=column)


def _difference_of_rows(table: QuestionTable) -> SyntheticQuestion:
    column = table.measured_column()
    name = table.name(column)
    if table.rng.random() < 0.2:
        rows = table.rows_with_number(column)
        high, low = (choose(rows, key=lambda row: table.number(row, column)) for choose in (max, min))
        most, least = (
            table.choose("highest", "most", "largest"),
            table.choose("lowest", "least", "smallest"),
        )
        phrase = f"between the {most} and {least} {name}"
        question = table.choose(f"what is the difference {phrase}", f"how much is {phrase}")
        return _difference_question(table, table.punctuate(question), (high, column), (low, column))
    first_row, second_row = table.two_subjects()
    if np.isnan([table.number(row, column) for row in (first_row, second_row)]).any():
        raise Impossible
    low, high = sorted((second_row, first_row), key=lambda row: table.number(row, column))
    a, b = table.text(high, table.key), table.text(low, table.key)
    if column in table.dated:
        question = table.choose(
            f"how many years are between {a} and {b}",
            f"how many years after {b} was {a}",
            f"how long between {b} and {a}",
            f"how many years passed between {b} and {a}",
            f"how many years before {a} was {b}",
        )
    else:
        question = table.choose(
            f"what is the difference in {name} between {a} and {b}",
            f"how many more {name} did {a} have than {b}",
            f"what is the difference between {a}'s and {b}'s {name}",
            f"how much more {name} does {a} have compared to {b}",
            f"how many fewer {name} did {b} have than {a}",
            f"what is the difference of {name} for {b} and {a}",
        )
    return _difference_question(table, table.punctuate(question), (high, column), (low, column))


def _difference_in_row(table: QuestionTable) -> SyntheticQuestion:
    row, subject = table.subject()
    columns = [column for column in table.numeric if column != table.key]
    first_column, second_column = table.pick(columns), table.pick(columns)
    a, b = table.name(first_column), table.name(second_column)
    question = table.choose(
        f"how many more {a} than {b} did {subject} have",
        f"what is the difference between {a} and {b} for {subject}",
        f"for {subject}, how many more {a} than {b}",
    )
    if not table.number(row, first_column) > table.number(row, second_column):
        raise Impossible
    return _difference_question(table, table.punctuate(question), (row, first_column), (row, second_column))


def _difference_question(
    table: QuestionTable, question: str, first_cell: tuple[int, int], second_cell: tuple[int, int]
) -> SyntheticQuestion:
    if first_cell == second_cell or table.number(*first_cell) == table.number(*second_cell):
        raise Impossible
    return SyntheticQuestion(question, "difference", (first_cell, second_cell))


def _yes_no_question(table: QuestionTable) -> SyntheticQuestion:
    column = table.measured_column()
    first_row, second_row = table.two_subjects()
    values = [table.number(row, column) for row in (first_row, second_row)]
    if np.isnan(values).any():
        raise Impossible
    a, b, name = (table.text(first_row, table.key), table.text(second_row, table.key), table.name(column))
    more = table.rng.random() < 0.55
    templates: tuple[str, ...]
    if column in table.dated:
        comparative = "after" if more else "before"
        templates = (
            f"was {a} {comparative} {b}",
            f"did {a} come {comparative} {b}",
            f"is {a} {comparative} {b}",
        )
    elif table.rng.random() < 0.5:
        comparative = "more" if more else table.choose("less", "fewer")
        templates = (
            f"did {a} have {comparative} {name} than {b}",
            f"does {a} have {comparative} {name} than {b}",
        )
    else:
        comparative = table.word(more, "more than, over", "less than, under")
        templates = (
            f"did {a} have {comparative} {values[1]:g} {name}",
            f"is the {name} of {a} {comparative} {values[1]:g}",
        )
    holds = values[0] > values[1] if more else values[0] < values[1]
    return table.question("yes" if holds else "no", *templates)


AGGREGATIONS: Templates = {
    _count: 18,
    _count_all: 3,
    _count_beside: 3,
    _count_against: 3,
    _different: 4,
    _listing: 7,
    _total: 8,
    _difference_of_rows: 8,
    _difference_in_row: 2,
    _yes_no_question: 3,
}
