"""Templates of questions whose answer is worked out: counts, lists, sums, averages, differences, yes or no."""

from __future__ import annotations

import operator

import numpy as np

from predictor.training.question_builder import (
    ImpossibleQuestion,
    QuestionBuilder,
    SyntheticQuestion,
    Templates,
)


def _count(builder: QuestionBuilder) -> SyntheticQuestion:
    words, rows = builder.condition(1.0)
    thing = builder.row_noun()
    return builder.question(
        "count",
        f"how many {thing} {words}",
        f"how many {thing} are there {words}",
        f"what is the number of {thing} {words}",
        f"how many {thing} were {words}",
        f"what is the total number of {thing} {words}",
        f"how many were {words}",
        f"how many times is {words}",
        f"how many had {words.removeprefix('with ').removeprefix('that had ')}",
        rows=rows,
    )


def _count_all(builder: QuestionBuilder) -> SyntheticQuestion:
    name = builder.name(builder.key)
    return builder.question(
        "count",
        f"how many {name} are there",
        f"how many {name} are listed",
        f"how many {name} are in the table",
        f"what is the total number of {name}",
        f"total number of {name} listed",
        f"how many {name} in all",
        f"how many total {name} are there",
        rows=builder.live,
    )


def _count_beside(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    before = builder.rng.random() < 0.5
    rows = [other_row for other_row in builder.live if (other_row < row if before else other_row > row)]
    if not rows:
        raise ImpossibleQuestion
    preposition = (
        builder.choose("before", "above", "ahead of", "prior to")
        if before
        else builder.choose("after", "below", "following")
    )
    name = builder.name(builder.key)
    return builder.question(
        "count",
        f"how many {name} are listed {preposition} {subject}",
        f"how many {name} come {preposition} {subject}",
        f"how many were {preposition} {subject}",
        rows=rows,
    )


def _count_against(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    column = builder.pick(builder.numeric)
    value = builder.number(row, column)
    more = builder.rng.random() < 0.55
    compare = operator.gt if more else operator.lt
    rows = [
        other for other in builder.rows_with_number(column) if compare(builder.number(other, column), value)
    ]
    if np.isnan(value) or not rows:
        raise ImpossibleQuestion
    comparative = (
        builder.choose("more", "a higher", "greater") if more else builder.choose("less", "a lower", "fewer")
    )
    return builder.question(
        "count",
        f"how many {builder.name(builder.key)} had {comparative} {builder.name(column)} than {subject}",
        f"how many have {comparative} {builder.name(column)} than {subject}",
        rows=rows,
    )


def _different(builder: QuestionBuilder) -> SyntheticQuestion:
    column = builder.pick(builder.kinds)
    rows, words = [row for row in builder.live if builder.has_text(row, column)], ""
    if builder.rng.random() < 0.3:
        words, chosen = builder.condition()
        rows = [row for row in rows if row in set(chosen)]
    if len(rows) < 2:
        raise ImpossibleQuestion
    name = builder.name(column)
    return builder.question(
        "different",
        f"how many different {name} are there {words}",
        f"how many unique {name} are listed {words}",
        f"how many distinct {name} {words}",
        f"how many {name} are represented {words}",
        f"how many different {name} {words}",
        rows=rows,
        column=column,
    )


def _listing(builder: QuestionBuilder) -> SyntheticQuestion:
    words, rows = builder.condition()
    rows = [row for row in rows if builder.has_text(row, builder.key)]
    if not 2 <= len(rows) <= 6:
        raise ImpossibleQuestion
    name = builder.name(builder.key)
    return builder.question(
        "list",
        f"which {name} are {words}",
        f"what are the {name} {words}",
        f"name all {name} {words}",
        f"list the {name} {words}",
        f"which {name} {words}",
        f"name the {name} {words}",
        rows=rows,
        column=builder.key,
    )


def _total(builder: QuestionBuilder) -> SyntheticQuestion:
    column = builder.pick([column for column in builder.numeric if column != builder.key])
    name, key = builder.name(column), builder.name(builder.key)
    average = builder.rng.random() < 0.4
    operation = "average" if average else "sum"
    kind = builder.rng.random()
    if kind < 0.3:
        first_row, second_row = builder.two_subjects()
        if len(rows := builder.rows_with_number(column, [first_row, second_row])) != 2:
            raise ImpossibleQuestion
        a, b = builder.text(first_row, builder.key), builder.text(second_row, builder.key)
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
        return builder.question(operation, *templates, rows=sorted(rows), column=column)
    words, rows = "", builder.rows_with_number(column)
    if kind < 0.65:
        words, chosen = builder.condition()
        rows = [row for row in rows if row in set(chosen)]
    if len(rows) < 2:
        raise ImpossibleQuestion
    templates = (
        (
            f"what is the average {name} {words}",
            f"what was the mean {name} of all {key} {words}",
            f"average {name} {words}",
            f"what is the average number of {name} {words}",
        )
        if average
        else (
            f"what is the total {name} {words}",
            f"what is the sum of {name} {words}",
            f"how many {name} in total {words}",
            f"what is the combined {name} of all {key} {words}",
            f"what is the total number of {name} {words}",
            f"how many total {name} {words}",
            f"how many {name} were there altogether {words}",
        )
    )
    return builder.question(operation, *templates, rows=rows, column=column)


def _difference_of_rows(builder: QuestionBuilder) -> SyntheticQuestion:
    column = builder.measured_column()
    name = builder.name(column)
    if builder.rng.random() < 0.2:
        rows = builder.rows_with_number(column)
        high, low = (choose(rows, key=lambda row: builder.number(row, column)) for choose in (max, min))
        most, least = (
            builder.choose("highest", "most", "largest"),
            builder.choose("lowest", "least", "smallest"),
        )
        words = f"between the {most} and {least} {name}"
        question = builder.choose(f"what is the difference {words}", f"how much is {words}")
        return _difference_question(builder, builder.punctuate(question), (high, column), (low, column))
    first_row, second_row = builder.two_subjects()
    if np.isnan([builder.number(row, column) for row in (first_row, second_row)]).any():
        raise ImpossibleQuestion
    low, high = sorted((second_row, first_row), key=lambda row: builder.number(row, column))
    a, b = builder.text(high, builder.key), builder.text(low, builder.key)
    if column in builder.dated:
        question = builder.choose(
            f"how many years are between {a} and {b}",
            f"how many years after {b} was {a}",
            f"how long between {b} and {a}",
            f"how many years passed between {b} and {a}",
            f"how many years before {a} was {b}",
        )
    else:
        question = builder.choose(
            f"what is the difference in {name} between {a} and {b}",
            f"how many more {name} did {a} have than {b}",
            f"what is the difference between {a}'s and {b}'s {name}",
            f"how much more {name} does {a} have compared to {b}",
            f"how many fewer {name} did {b} have than {a}",
            f"what is the difference of {name} for {b} and {a}",
        )
    return _difference_question(builder, builder.punctuate(question), (high, column), (low, column))


def _difference_in_row(builder: QuestionBuilder) -> SyntheticQuestion:
    row, subject = builder.subject()
    columns = [column for column in builder.numeric if column != builder.key]
    first_column, second_column = builder.pick(columns), builder.pick(columns)
    a, b = builder.name(first_column), builder.name(second_column)
    question = builder.choose(
        f"how many more {a} than {b} did {subject} have",
        f"what is the difference between {a} and {b} for {subject}",
        f"for {subject}, how many more {a} than {b}",
    )
    if not builder.number(row, first_column) > builder.number(row, second_column):
        raise ImpossibleQuestion
    return _difference_question(
        builder, builder.punctuate(question), (row, first_column), (row, second_column)
    )


def _difference_question(
    builder: QuestionBuilder, question: str, first_cell: tuple[int, int], second_cell: tuple[int, int]
) -> SyntheticQuestion:
    if first_cell == second_cell or builder.number(*first_cell) == builder.number(*second_cell):
        raise ImpossibleQuestion
    return SyntheticQuestion(question, "difference", (first_cell, second_cell))


def _yes_no_question(builder: QuestionBuilder) -> SyntheticQuestion:
    column = builder.measured_column()
    first_row, second_row = builder.two_subjects()
    values = [builder.number(row, column) for row in (first_row, second_row)]
    if np.isnan(values).any():
        raise ImpossibleQuestion
    a, b, name = (
        builder.text(first_row, builder.key),
        builder.text(second_row, builder.key),
        builder.name(column),
    )
    more = builder.rng.random() < 0.55
    if column in builder.dated:
        comparative = "after" if more else "before"
        templates = (
            f"was {a} {comparative} {b}",
            f"did {a} come {comparative} {b}",
            f"is {a} {comparative} {b}",
        )
    elif builder.rng.random() < 0.5:
        comparative = "more" if more else builder.choose("less", "fewer")
        templates = (
            f"did {a} have {comparative} {name} than {b}",
            f"does {a} have {comparative} {name} than {b}",
        )
    else:
        comparative = builder.choose("more than", "over") if more else builder.choose("less than", "under")
        templates = (
            f"did {a} have {comparative} {values[1]:g} {name}",
            f"is the {name} of {a} {comparative} {values[1]:g}",
        )
    holds = values[0] > values[1] if more else values[0] < values[1]
    return builder.question("yes" if holds else "no", *templates)


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
