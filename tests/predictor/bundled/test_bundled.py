"""The bundled model without its weights: what the network is shown, and what becomes of its scores."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from predictor import load_bundled
from predictor.architectures import ModelError
from predictor.bundled.cell_text import read
from predictor.bundled.decode import (
    OPERATIONS,
    Balance,
    Candidate,
    candidates,
    combine_candidates,
    count_probabilities,
    in_digits,
    options,
)
from predictor.bundled.features import (
    CELL_FEATURES,
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_ROWS,
    SEQUENCE,
    TOKEN_FEATURES,
    collate,
)
from predictor.bundled.question_features import encode_question
from predictor.bundled.table_features import read_table
from tableqa.data.tables import Table
from tests.predictor.bundled.by_hand import MEDALS, scores, tokenizer

TOKENIZER = tokenizer()
PLAIN = Balance()


def shown(question, table=MEDALS):
    reading = read_table(table, TOKENIZER)
    return reading, encode_question(question, reading, TOKENIZER)


def feature(given, name):
    return given.cell_features[..., CELL_FEATURES.index(name)]


def best(question, table=MEDALS, **sure):
    reading, given = shown(question, table)
    return combine_candidates(candidates(scores(given, **sure), given, reading, question), PLAIN)[0]


# --- what is read in a cell --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number", "kind"),
    [
        ("1,234", 1234, 1),
        ("(9.9)", -9.9, 1),
        ("three", 3, 1),
        ("5:04", 304, 3),
        ("1:05:04", 3904, 3),
        ("2008–09", 2008, 4),
        ("W 24–13", 24, 4),
        ("1 January 1991", 1991, 2),
    ],
)
def test_a_cell_is_worth_a_number_of_its_kind(text, number, kind):
    found = read(text)
    assert (found.number, found.kind) == (number, kind)


@pytest.mark.parametrize("text", ["", "-", "n/a", "Spain"])
def test_a_cell_without_a_number_has_none(text):
    assert np.isnan(read(text).number)


# --- what is known of a question ---------------------------------------------------------------------------


def test_a_named_cell_is_marked_and_tied_to_its_word():
    _, given = shown("how many gold has France?")
    assert feature(given, "named").nonzero()[0].tolist() == [1]
    assert given.tokens[given.links[1, 0]] == TOKENIZER.token_to_id("france")
    assert feature(given, "row_named")[1].all()
    assert given.links[0].max() == 0


def test_the_largest_number_of_a_column_is_marked_and_a_row_of_totals_passed_over():
    _, given = shown("who won most medals?")
    assert feature(given, "largest")[:, 2].tolist() == [0, 1, 0, 0, 0]
    assert feature(given, "total_row")[:, 0].tolist() == [0, 0, 0, 0, 1]


def test_the_largest_is_also_looked_for_among_the_rows_that_are_spoken_of():
    _, given = shown("which nation has most gold in 2004?")
    assert feature(given, "in_subset")[:, 0].tolist() == [1, 0, 1, 0, 0]
    assert feature(given, "largest_in_subset")[:, 2].tolist() == [0, 0, 1, 0, 0]


def test_numbers_are_compared_with_those_of_the_question():
    _, given = shown("how many nations has more than 4 gold?")
    assert feature(given, "above_first")[:4, 2].tolist() == [0, 1, 1, 0]
    assert feature(given, "below_first")[:4, 2].tolist() == [1, 0, 0, 1]


def test_words_of_the_question_say_whether_the_table_knows_them():
    _, given = shown("is Spain less?")
    named = given.token_features[:, TOKEN_FEATURES.index("cell_named")]
    assert [TOKENIZER.id_to_token(int(given.tokens[place])) for place in named.nonzero()[0]] == ["spain"]


texts = st.text(max_size=12) | st.sampled_from(
    ["Spain", "3", "1,000", "7 May 2004", "5:04", "-", "", "total", "W 2–1"]
)
tables = st.tuples(st.integers(0, 6), st.integers(0, 5)).flatmap(
    lambda shape: st.tuples(
        st.lists(texts, min_size=shape[1], max_size=shape[1]),
        st.lists(st.lists(texts, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]),
    )
)


def storable(text):
    return "".join(letter for letter in text if letter != "\x00" and not "\ud800" <= letter <= "\udfff")


@drawn(tables, texts)
def test_any_question_about_any_table_becomes_finite_numbers_and_an_answer(parts, question):
    table = Table(
        [storable(name) for name in parts[0]], [[storable(cell) for cell in row] for row in parts[1]]
    )
    reading, given = shown(storable(question), table)
    assert np.isfinite(given.cell_features).all()
    assert np.isfinite(given.token_features).all()
    assert given.links.max(initial=0) < given.question
    batch = collate([given])
    assert batch["cells"].sum() == given.links.size
    rng = np.random.default_rng(0)
    height, width = batch["cells"].shape[1:]
    outputs: dict[str, Any] = {
        "operations": rng.normal(size=len(OPERATIONS)),
        "cells": rng.normal(size=(height, width, 3)),
        "rows": rng.normal(size=height),
        "columns": rng.normal(size=(width, 4)),
    }
    answers = combine_candidates(candidates(outputs, given, reading, question), PLAIN)
    assert 0 < sum(one.score for one in answers) <= 1 + 1e-9
    rows, columns = table.shape
    assert all(0 <= row < rows and 0 <= column < columns for one in answers for row, column in one.cells)


def test_of_a_large_table_the_rows_near_the_question_are_shown():
    rows = [[f"City {place}", str(place * 7)] for place in range(5_000)]
    rows[4_321] = ["Spain", "7"]
    _, given = shown("which city is Spain?", Table(["City", "Size"], rows))
    assert 4_321 in given.rows
    assert 4_999 in given.rows  # the last row
    assert len(given.rows) <= MOST_ROWS
    assert sorted(given.rows) == given.rows.tolist()


def test_a_table_of_two_hundred_columns_is_cut():
    table = Table([f"City {place}" for place in range(200)], [["1"] * 200] * 50)
    _, given = shown("which city?", table)
    assert given.links.shape[1] == MOST_COLUMNS
    assert given.links.size <= MOST_CELLS
    assert len(given.tokens) <= SEQUENCE
    assert given.token_columns.max() == MOST_COLUMNS


def test_a_very_long_question_is_cut():
    _, given = shown("gold " * 5_000)
    assert len(given.tokens) <= SEQUENCE


# --- what becomes of the scores ----------------------------------------------------------------------------


@drawn(st.lists(st.floats(0, 1), max_size=9))
def test_how_many_rows_are_chosen_is_exact(chances):
    expected = np.zeros(len(chances) + 1)
    for chosen in product([False, True], repeat=len(chances)):
        parts = [chance if yes else 1 - chance for chance, yes in zip(chances, chosen, strict=True)]
        expected[sum(chosen)] += np.prod(parts)
    assert count_probabilities(np.array(chances)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sure", "answers", "cells"),
    [
        ({"operation": "select", "cells": ((1, 0),)}, ("France",), {(1, 0)}),
        ({"operation": "list", "rows": (0, 2), "column": 0}, ("Spain", "Japan"), {(0, 0), (2, 0)}),
        ({"operation": "count", "rows": (0, 1, 3)}, ("3",), {(0, 0), (1, 0), (3, 0)}),
        (
            {"operation": "different", "rows": (0, 1, 2, 3), "column": 2},
            ("3",),
            {(0, 2), (1, 2), (2, 2), (3, 2)},
        ),
        ({"operation": "sum", "rows": (0, 1), "column": 2}, ("12",), {(0, 2), (1, 2)}),
        ({"operation": "average", "rows": (0, 1, 2), "column": 2}, ("5.67",), {(0, 2), (1, 2), (2, 2)}),
        ({"operation": "difference", "cells": ((1, 2), (0, 2))}, ("6",), {(1, 2), (0, 2)}),
        ({"operation": "difference", "cells": ((0, 3), (1, 3))}, ("4",), {(0, 3), (1, 3)}),
        ({"operation": "year", "cells": ((2, 3),)}, ("2004",), {(2, 3)}),
        ({"operation": "yes"}, ("yes",), set()),
        ({"operation": "header", "column": 1}, ("Year",), set()),
        ({"operation": "second_option"}, ("less",), set()),
    ],
)
def test_a_sure_network_is_taken_at_its_word(sure, answers, cells):
    found = best("has Spain more or less?", **sure)
    assert found.operation == sure["operation"]
    assert found.answers == answers
    assert set(found.cells) == cells


def test_cells_that_say_the_same_are_added_up():
    reading, given = shown("how many?")
    outputs = scores(given, "select")
    outputs["cells"][0, 2, 0], outputs["cells"][3, 2, 0] = 0.0, 0.0  # twice 3
    outputs["cells"][1, 2, 0] = 0.5  # 9, likelier than each of them
    assert combine_candidates(candidates(outputs, given, reading, "how many?"), PLAIN)[0].answers == ("3",)


def test_two_ways_to_one_answer_beat_a_single_likelier_one():
    ways = [
        Candidate("select", ("3",), (), -1.0, 0.0),
        Candidate("count", ("3",), (), -1.1, 0.0),
        Candidate("select", ("Spain",), (), -0.6, 0.0),
    ]
    found = combine_candidates(ways, PLAIN)
    assert [(one.operation, one.answers) for one in found] == [("select", ("3",)), ("select", ("Spain",))]
    assert sum(one.score for one in found) == pytest.approx(1)


def test_the_balance_of_operations_decides_between_them():
    ways = [Candidate("select", ("Spain",), (), -1.0, -1.0), Candidate("sum", ("12",), (), -0.5, -9.0)]
    assert combine_candidates(ways, PLAIN)[0].operation == "select"
    assert combine_candidates(ways, Balance({"sum": 0.1}))[0].operation == "sum"
    assert combine_candidates(ways, Balance({"sum": 0.1}, {"sum": -5}))[0].operation == "select"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("did they win more or less games?", ("more", "less")),
        ("was it January, or the June?", ("january", "june")),
        ("which city?", None),
        ("a or b, 12 or 13, or 14?", None),
    ],
)
def test_a_question_with_one_or_offers_two_words(question, words):
    assert options(question) == words


@pytest.mark.parametrize(
    ("value", "text"),
    [("6.000", "6"), ("0.1", "0.1"), ("-0", "0"), ("1E+3", "1000"), ("2.3333333333", "2.333333")],
)
def test_numbers_are_written_plainly(value, text):
    from decimal import Decimal

    assert in_digits(Decimal(value)) == text


@drawn(st.integers(-(10**8), 10**8), st.integers(-(10**8), 10**8))
def test_sums_are_exact(one, other):
    table = Table(["Gold"], [[f"{one / 100:.2f}"], [f"{other / 100:.2f}"]])
    found = best("total?", table, operation="sum", rows=(0, 1), column=0)
    assert float(found.answers[0]) == (one + other) / 100


# --- without weights ---------------------------------------------------------------------------------------


def test_without_weights_the_error_says_how_to_train(tmp_path: Path):
    with pytest.raises(ModelError, match=r"model\.onnx.*\./run train --data DIR"):
        load_bundled(tmp_path)
