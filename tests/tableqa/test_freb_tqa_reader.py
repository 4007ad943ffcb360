"""The reader of FREB-TQA's files: every form of the release, exactly, and the record back again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Context, Example, Table
from tableqa.readers import READERS, ReaderError
from tableqa.writers.freb_tqa import freb_example, published_record
from tests.tableqa.strategies import tables, texts

freb = READERS["freb_tqa"]

ITEM = {
    "id": "nt-1",
    "question": "who won?",
    "answers": ["Ann"],
    "table": {"header": ["Name", "Wins"], "rows": [["Ann", "3"], ["Bob", "4"]]},
}

RELEASED = {
    "01_str/sqa_factoid_dev.json": 157,
    "01_str/tat_factoid_dev.json": 114,
    "01_str/wikisql_factoid_dev.partial.json": 1_153,
    "01_str/wtq_factoid_dev.json": 205,
    "03_agg_com/tat_nonfactoid_dev_no_shuffle_ori_table.json": 537,
    "03_agg_com/tat_nonfactoid_dev_no_shuffle_short_table.json": 537,
    "03_agg_com/tat_nonfactoid_dev_no_shuffle_ans_change.json": 537,
    "03_agg_com/tat_nonfactoid_dev_no_shuffle_ans_no_change.json": 537,
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write items, or lines as they are, to a file of items."""

    def written(*items: dict[str, Any] | str) -> Path:
        lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
        path = tmp_path / "items.json"
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return path

    return written


def records(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# On the real data -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "number"), RELEASED.items())
def test_every_released_item_is_read_and_written_as_it_was(test_data: Path, name: str, number: int) -> None:
    path = test_data / "freb_tqa" / name
    examples = list(freb(path))
    assert len(examples) == number
    assert len({example.id for example in examples}) == number
    for example, record in zip(examples, records(path), strict=True):
        assert published_record(example) == record
        assert [list(example.table.header), *map(list, example.table.rows)] == [
            record["table"]["header"],
            *record["table"]["rows"],
        ]


@pytest.mark.parametrize("source", ["wtq", "sqa"])
def test_items_in_the_shared_form_are_what_a_release_of_ours_writes(test_data: Path, source: str) -> None:
    path = test_data / "freb_tqa" / "01_str" / f"{source}_factoid_dev.json"
    for example, record in zip(freb(path), records(path), strict=True):
        assert freb_example(example) == record | {"id": example.id}


def test_an_id_that_repeats_is_numbered_and_the_published_one_is_kept(test_data: Path) -> None:
    examples = list(freb(test_data / "freb_tqa" / "01_str" / "sqa_factoid_dev.json"))
    repeated = [example for example in examples if "id" in example.meta]
    assert len(repeated) == 157 - 128
    for example in repeated:
        published, _, number = example.id.partition("#")
        assert example.meta["id"] == published
        assert int(number) >= 2


def test_relevant_cells_are_named_where_their_places_are_those_of_the_table(test_data: Path) -> None:
    folder = test_data / "freb_tqa" / "03_agg_com"
    for example in freb(folder / "tat_nonfactoid_dev_no_shuffle_ori_table.json"):
        named = [example.table.cell(row, column) for row, column in example.meta["relevant_cells"]]
        assert named == [example.table.rows[row][column] for row, column in example.meta["rel_cell"]]
    first = next(freb(folder / "tat_nonfactoid_dev_no_shuffle_short_table.json"))
    assert first.meta["rel_cell"] == ((9, 1), (9, 2))
    assert "relevant_cells" not in first.meta  # row 9 is one of the original; this table has three


def test_the_fields_of_tat_qa_are_found_in_one_place(test_data: Path) -> None:
    """01_str has them in an object of their own, 03_agg_com beside the others."""
    for part in ("01_str/tat_factoid_dev.json", "03_agg_com/tat_nonfactoid_dev_no_shuffle_ori_table.json"):
        example = next(freb(test_data / "freb_tqa" / part))
        assert isinstance(example.meta["derivation"], str)
        assert example.meta["answer_from"] == "table"
        assert example.context == Context(
            text="\n\n".join(paragraph["text"] for paragraph in example.meta["paragraphs"]),
            scale=example.meta["scale"],
        )


def test_every_example_survives_json(test_data: Path) -> None:
    for example in freb(test_data / "freb_tqa" / "01_str" / "tat_factoid_dev.json"):
        assert Example.from_dict(json.loads(json.dumps(example.to_dict()))) == example


# The forms, in small --------------------------------------------------------------------------------------------------


def test_a_table_that_is_a_list_of_rows(write: Write) -> None:
    """The form of 02_rel: no keys in the table, TAT-QA's fields in "meta", the cells to be removed named."""
    item = ITEM | {
        "table": [["", "2019", "2018"], ["Sensors", "914", "918"], ["Appliances", "680", "774"]],
        "meta": {
            "uid": "nt-1",
            "question": "who won?",
            "answer": -94,
            "derivation": "680-774",
            "req_comparison": False,
            "scale": "million",
        },
        "rel_cell": [[1, 1], [1, 2]],
    }
    (example,) = freb(write(item))
    assert example.table == Table(["", "2019", "2018"], item["table"][1:])  # type: ignore[index]
    assert example.meta["relevant_cells"] == (("r1", "c1"), ("r1", "c2"))
    assert (example.meta["derivation"], example.meta["answer"]) == ("680-774", -94)
    assert example.context == Context(scale="million")
    assert published_record(example) == item


def test_a_perturbed_item_keeps_seed_dataset_and_kind(write: Write) -> None:
    item = ITEM | {"seed": 33, "dataset": "wtq", "perturb": "row_shuffle"}
    path = write(item, item | {"seed": 16}, item | {"perturb": "transpose"})
    examples = list(freb(path))
    assert [example.id for example in examples] == ["nt-1", "nt-1#2", "nt-1#3"]
    assert [(example.meta["seed"], example.meta["perturb"]) for example in examples] == [
        (33, "row_shuffle"),
        (16, "row_shuffle"),
        (33, "transpose"),
    ]
    assert [published_record(example) for example in examples] == records(path)


def test_a_table_replaced_by_one_cell(write: Write) -> None:
    (example,) = freb(write(ITEM | {"table": {"header": ["None"], "rows": []}, "perturb": "escape_table"}))
    assert example.table == Table(["None"], [])


def test_a_number_that_makes_an_id_unique_is_not_taken_twice(write: Write) -> None:
    ids = ["a", "a#2", "a", "a", "a#2"]
    examples = list(freb(write(*(ITEM | {"id": id} for id in ids))))
    assert [example.id for example in examples] == ["a", "a#2", "a#3", "a#4", "a#2#2"]
    assert [published_record(example)["id"] for example in examples] == ids


def test_cells_are_not_touched(write: Write) -> None:
    odd = ["", " 1,234 ", "(9.9)", "nan", "a\\nb", "a\nb", "=1+1", "\u200f\u0645\u200f", "$3,574 "]
    (example,) = freb(write(ITEM | {"table": {"header": odd, "rows": [odd]}}))
    assert example.table == Table(odd, [odd])


names = st.text(min_size=1, max_size=8).filter(lambda name: "\0" not in name and name.isprintable())
values = (
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6) | names | st.lists(names)
)
fields = st.dictionaries(
    names.filter(
        lambda name: not name.startswith("meta") and name not in ("paragraphs", "scale", "rel_cell")
    ),
    values,
    max_size=3,
)


@given(
    tables,
    texts,
    st.lists(texts, max_size=3),
    fields,
    st.none() | fields,
    st.sampled_from(["keys", "named", "rows"]),
)
def test_any_record_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    table: Table,
    question: str,
    answers: list[str],
    more: dict[str, Any],
    nested: dict[str, Any] | None,
    form: str,
) -> None:
    header, rows = list(table.header), [list(row) for row in table.rows]
    record: dict[str, Any] = {"id": "1", "question": question, "answers": answers}
    record["table"] = [header, *rows] if form == "rows" else {"header": header, "rows": rows}
    if form == "named":
        record["table"] |= {"name": "csv/1.csv", "id": "t1"}
    taken = {*record, "context", "table_form", "nested", "relevant_cells"}
    record |= {name: value for name, value in more.items() if name not in taken}
    if nested is not None:
        allowed = {
            name: value for name, value in nested.items() if name not in ("context", "table_form", "nested")
        }
        record["meta"] = allowed | {"question": "another", "id": 7}
    path = tmp_path_factory.mktemp("freb") / "one.json"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    (example,) = freb(path)
    assert example.table.same_content(table)
    assert published_record(example) == record


# A file, a folder, a limit --------------------------------------------------------------------------------------------


def test_a_folder_that_holds_one_file(write: Write, tmp_path: Path) -> None:
    path = write(ITEM)
    (tmp_path / "readme.md").write_text("# Dataset structure\n")
    assert list(freb(tmp_path)) == list(freb(path))
    assert list(freb.files(tmp_path)) == [path]


def test_a_folder_of_several_files_is_refused_naming_them(write: Write, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_bytes(write(ITEM).read_bytes())
    with pytest.raises(ReaderError, match=r"several such files: items.json, other.json. Name one .json"):
        list(freb(tmp_path))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReaderError, match=r"no such file. Name one .json or .jsonl file"):
        list(freb.files(tmp_path / "empty"))


def test_a_limit_stops_early(write: Write) -> None:
    path = write(ITEM, ITEM | {"id": "2"}, "no JSON at all")
    assert [example.id for example in freb(path, limit=2)] == ["nt-1", "2"]
    assert list(freb(path, limit=0)) == []
    with pytest.raises(ValueError, match="limit is -1"):
        freb(path, limit=-1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "2", "question": "q', "line 2: .*JSON"),
        ('["2"]', "line 2"),
        (
            json.dumps({name: value for name, value in ITEM.items() if name != "answers"}),
            "answers is missing",
        ),
        (json.dumps(ITEM | {"id": 5}), "id is a number"),
        (json.dumps(ITEM | {"id": ""}), "id is empty"),
        (json.dumps(ITEM | {"answers": "Ann"}), "answers is a text, not a list"),
        (json.dumps(ITEM | {"table": "csv/1.csv"}), "table: there is a text, not an object"),
        (json.dumps(ITEM | {"table": []}), "the table has no header"),
        (json.dumps(ITEM | {"table": {"header": ["a"]}}), "rows is missing"),
        (
            json.dumps(ITEM | {"table": {"header": ["a"], "rows": [["1", "2"]]}}),
            "row 1 has 2 cells, the header has 1",
        ),
        (json.dumps(ITEM | {"table": {"header": ["a"], "rows": [[None]]}}), "row 1, column 1 is null"),
        (json.dumps(ITEM | {"table": {"header": ["a"], "rows": [], "name": 5}}), "name is a number"),
        (json.dumps(ITEM | {"meta": "wtq"}), "meta: there is a text"),
        (json.dumps(ITEM | {"context": "wtq"}), "a field context, which FREB-TQA does not have"),
        (json.dumps(ITEM | {"meta": {"nested": 1}}), "a field nested, which FREB-TQA does not have"),
        (json.dumps(ITEM | {"rel_cell": [[0]]}), "rel_cell is not a list"),
        (json.dumps(ITEM | {"rel_cell": [[-1, 0]]}), "rel_cell is not a list"),
        (json.dumps(ITEM | {"paragraphs": ["text"]}), "paragraphs: there is a text"),
        (json.dumps(ITEM | {"scale": 5}), "scale is a number"),
        (json.dumps(ITEM | {"question": "\ud800"}), "surrogate"),
        ('{"id": "2", "id": "3"}', "'id' twice"),
        ('{"id": NaN}', "NaN"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(write: Write, line: str, said: str) -> None:
    with pytest.raises(ReaderError, match=said) as caught:
        list(freb(write(ITEM, line)))
    assert caught.value.line == 2
    assert caught.value.mend


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"nowhere.json: the file cannot be opened"):
        list(freb(tmp_path / "nowhere.json"))
