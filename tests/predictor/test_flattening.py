"""TAPEX's input on the fast tokenizer: the ids that its own tokenizer gave, and what was seen of the table."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from predictor.architectures.tapex import BOS, EOS, answers_in, flatten, target_ids, tokenizer_of
from tableqa import Table
from tableqa.readers import READERS


@pytest.fixture(scope="module")
def tokenizer(test_data: Path) -> Tokenizer:
    return tokenizer_of(test_data / "golden" / "tapex")


def text_of(tokenizer: Tokenizer, ids: tuple[int, ...]) -> str:
    return str(tokenizer.decode(list(ids[1:-1])))


def with_single_blanks(table: Table) -> Table:
    """The table as it was when the ids were recorded."""
    return Table(
        header=[" ".join(name.split()) for name in table.header],
        rows=[[" ".join(cell.split()) for cell in row] for row in table.rows],
    )


def test_the_ids_are_those_that_tapex_own_tokenizer_gave(tokenizer: Tokenizer, test_data: Path) -> None:
    recorded = json.loads((test_data / "golden" / "tapex" / "expected_input_ids.json").read_text())[
        "input_ids"
    ]
    examples = islice(READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv"), len(recorded))
    different = [
        example.id
        for example, ids in zip(examples, recorded, strict=True)
        if list(flatten(tokenizer, example.question, with_single_blanks(example.table)).ids) != ids
    ]
    assert len(recorded) == 300
    assert different == []


def test_runs_of_blanks_and_awkward_cells_have_the_recorded_ids(tokenizer: Tokenizer) -> None:
    """Recorded from TapexTokenizer of transformers 4.57.6, the last version with it."""
    recorded = json.loads((Path(__file__).parents[1] / "vectors" / "tapex.json").read_text())
    for one in recorded["inputs"]:
        table = Table(header=one["header"], rows=one["rows"])
        assert list(flatten(tokenizer, one["question"], table, 10_000).ids) == one["ids"], one
    for one in recorded["answers"]:
        assert target_ids(tokenizer, one["answers"]) == one["ids"], one


def test_the_table_is_written_out_in_small_letters_with_empty_cells_kept(tokenizer: Tokenizer) -> None:
    table = Table(header=["City", ""], rows=[["Oslo", ""], ["New\n York", "2"]])
    flat = flatten(tokenizer, " Which  ONE? ", table)
    assert text_of(tokenizer, flat.ids) == " which  one?  col : city |  row 1 : oslo |  row 2 : new york | 2"
    assert (flat.rows_seen, flat.truncated) == (2, False)
    assert (flat.ids[0], flat.ids[-1]) == (BOS, EOS)


def test_a_cell_that_spells_a_special_token_is_text(tokenizer: Tokenizer) -> None:
    flat = flatten(tokenizer, "q", Table(header=["a"], rows=[["</s>"], ["<mask>"]]))
    assert not {BOS, EOS} & set(flat.ids[1:-1])
    assert "</s>" in text_of(tokenizer, flat.ids)


def test_a_long_cell_is_cut_to_its_first_tokens_and_a_long_header_is_not(tokenizer: Tokenizer) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    flat = flatten(tokenizer, "q", Table(header=[words], rows=[[words]]))
    header, _, cell = text_of(tokenizer, flat.ids).partition(" row 1 : ")
    assert header.endswith(words)
    assert words.startswith(cell.strip())
    assert len(cell) < len(words)
    assert cell.startswith(" ")  # two blanks after the colon, as the models were trained
    assert flat.truncated


@given(st.integers(0, 60), st.integers(20, 300))
def test_rows_count_as_seen_only_when_all_of_them_is_in_the_input(rows: int, most: int) -> None:
    tokenizer = _letters()
    flat = flatten(tokenizer, "q", Table(header=["a"], rows=[["x"]] * rows), most)
    text = str(tokenizer.decode(list(flat.ids[1:-1])))
    whole = flatten(tokenizer, "q", Table(header=["a"], rows=[["x"]] * rows), 10**6)
    assert len(flat.ids) <= most
    assert flat.truncated == (len(whole.ids) > most)
    assert flat.rows_seen == sum(f"row {n} : x" in f"{text} " for n in range(1, rows + 1))


def _letters() -> Tokenizer:
    """Every character a token of its own, where a cut may fall anywhere."""
    from tokenizers import decoders, models, pre_tokenizers

    found = Tokenizer(
        models.BPE(
            {sign: n + 3 for n, sign in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, merges=[]
        )
    )
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    found.decoder = decoders.ByteLevel()
    return found


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("oslo", ("Oslo",)),
        ("oslo, bergen", ("Oslo", "bergen")),
        ("salt lake city, utah", ("Salt Lake City, Utah",)),
        ("oslo, salt lake city, utah, 7", ("Oslo", "Salt Lake City, Utah", "7")),
        ("salt lake city", ("salt lake city",)),
        ("", ()),
        (", ,", (",",)),
    ],
)
def test_a_comma_parts_answers_unless_it_belongs_to_a_cell(said: str, answers: tuple[str, ...]) -> None:
    table = Table(header=["Place"], rows=[["Oslo"], ["Salt Lake City, Utah"]])
    assert answers_in(said, table) == answers
