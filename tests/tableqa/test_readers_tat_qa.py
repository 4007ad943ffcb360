"""The reader of TAT-QA: every cell, answer and field of the real file, and what is wrong with others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.core.canonical_json import thaw
from tableqa.readers import READERS, ReaderError
from tests.plugin import ROOT

tat_qa = READERS["tat_qa"]

CONTEXT: dict[str, Any] = {
    "table": {"uid": "t1", "table": [["", "", "2019"], ["", "£m", "£m"], ["Sales", "(9.9)", "-9.9"]]},
    "paragraphs": [{"uid": "p2", "order": 2, "text": "Second."}, {"uid": "p1", "order": 1, "text": "First."}],
    "questions": [
        {
            "uid": "q1",
            "order": 1,
            "question": "What were sales?",
            "answer": ["(9.9)"],
            "derivation": "",
            "answer_type": "span",
            "answer_from": "table",
            "rel_paragraphs": [],
            "req_comparison": False,
            "scale": "million",
        }
    ],
}


def read(folder: Path, *contexts: Any) -> list[Example]:
    (folder / "tatqa_dataset_dev.json").write_text(json.dumps(contexts, indent=1), "utf-8")
    return list(tat_qa(folder / "tatqa_dataset_dev.json"))


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    context: dict[str, Any] = json.loads(json.dumps(CONTEXT))
    change(context)
    return context


def test_every_other_field_of_a_question_is_in_meta(tmp_path: Path) -> None:
    """The test file has gold evidence that the dev file lacks."""
    more = {"facts": ["9.9"], "consts": [], "mappings": [{"table": [[2, 1]]}], "of_next_year": {"a": 1}}
    (example,) = read(tmp_path, changed(lambda context: context["questions"][0].update(more)))
    assert thaw({name: example.meta[name] for name in more}) == more
    assert {"uid", "question", "answer"}.isdisjoint(example.meta)


# On the real data -----------------------------------------------------------------------------------------------------


def test_every_question_cell_and_field_of_the_dev_file(test_data: Path) -> None:
    path = test_data / "tatqa" / "tatqa_dataset_dev.json"
    contexts = json.loads(path.read_bytes(), parse_float=str, parse_int=str)
    plainly = json.loads(path.read_bytes())
    asked = [
        (context, written, question)
        for context, exactly in zip(plainly, contexts, strict=True)
        for written, question in zip(exactly["questions"], context["questions"], strict=True)
    ]
    examples = list(tat_qa(path))
    for example, (context, written, question) in zip(examples, asked, strict=True):
        assert example.id == question["uid"]
        assert example.question == question["question"]
        answer = written["answer"]
        assert list(example.answers) == (answer if isinstance(answer, list) else [answer])
        header, *rows = context["table"]["table"]
        assert [list(example.table.header), *map(list, example.table.rows)] == [header, *rows]
        meta = thaw(example.meta)
        assert meta.pop("table_uid") == context["table"]["uid"]
        assert meta.pop("paragraphs") == context["paragraphs"]
        assert meta == {
            name: value for name, value in question.items() if name not in ("uid", "question", "answer")
        }
        assert example.context is not None
        assert example.context.scale == question["scale"]
        assert all(paragraph["text"] in example.context.text for paragraph in context["paragraphs"])
    assert len(examples) == len({example.id for example in examples}) == 1_668
    assert len({example.table.digest() for example in examples}) == 278
    kinds = Counter(example.meta["answer_type"] for example in examples)
    assert kinds == {"arithmetic": 718, "span": 701, "multi-span": 217, "count": 32}


def test_the_tables_are_those_that_freb_tqa_took_from_it(test_data: Path) -> None:
    tables = {example.id: example.table for example in tat_qa(test_data / "tatqa" / "tatqa_dataset_dev.json")}
    names = "01_str/tat_factoid_dev.json", "03_agg_com/tat_nonfactoid_dev_no_shuffle_ori_table.json"
    for name, number in zip(names, (114, 537), strict=True):
        with (test_data / "freb_tqa" / name).open(encoding="utf-8") as file:
            items = [json.loads(line) for line in file]
        assert len(items) == number
        for item in items:
            table = tables[item.get("uid") or item["id"]]
            assert [list(table.header), *map(list, table.rows)] == [
                item["table"]["header"],
                *item["table"]["rows"],
            ]


def test_the_excerpt_is_part_of_the_release(test_data: Path) -> None:
    whole = {example.id: example for example in tat_qa(test_data / "tatqa")}
    excerpt = list(tat_qa(ROOT / "fixtures" / "tat_qa"))
    assert len(excerpt) == 36
    assert all(whole[example.id] == example for example in excerpt)


# In small -------------------------------------------------------------------------------------------------------------


def test_a_question_is_read_with_its_paragraphs_in_order(tmp_path: Path) -> None:
    (example,) = read(tmp_path, CONTEXT)
    assert example.table.header == ("", "", "2019")
    assert example.table.rows[0] == ("", "£m", "£m"), "a header that goes on stays where the source has it"
    assert example.table.header_rows == ()
    assert example.context is not None
    assert example.context.to_dict() == {"text": "First.\n\nSecond.", "scale": "million"}
    assert [paragraph["order"] for paragraph in example.meta["paragraphs"]] == [1, 2]
    assert Example.from_dict(json.loads(json.dumps(example.to_dict()))) == example


@pytest.mark.parametrize(
    ("answer", "answers"),
    [
        ('["a", "b"]', ("a", "b")),
        ('"4"', ("4",)),
        ("-12.60", ("-12.60",)),
        ("0.10", ("0.10",)),
        ("1e2", ("1e2",)),
        ("94", ("94",)),
        ("null", ()),
    ],
)
def test_an_answer_is_kept_as_it_is_written(tmp_path: Path, answer: str, answers: tuple[str, ...]) -> None:
    text = json.dumps([CONTEXT]).replace('"answer": ["(9.9)"]', f'"answer": {answer}')
    (tmp_path / "dev.json").write_text(text)
    (example,) = tat_qa(tmp_path / "dev.json")
    assert example.answers == answers


def test_a_question_of_the_test_file_has_no_answer(tmp_path: Path) -> None:
    unanswered = changed(
        lambda context: [
            context["questions"][0].pop(name) for name in ("answer", "derivation", "scale", "answer_type")
        ]
    )
    (example,) = read(tmp_path, unanswered)
    assert example.answers == ()
    assert "derivation" not in example.meta


def test_one_file_is_its_own_folder(tmp_path: Path) -> None:
    read(tmp_path, CONTEXT)
    (tmp_path / "other.json").write_text('[{"a": 1}]')
    assert [example.id for example in tat_qa(tmp_path)] == ["q1"]
    assert list(tat_qa.files(tmp_path)) == [tmp_path / "tatqa_dataset_dev.json"]
    (tmp_path / "again.json").write_text(json.dumps([CONTEXT]))
    with pytest.raises(ReaderError, match=r"several such files: again\.json, tatqa_dataset_dev\.json"):
        tat_qa(tmp_path)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda c: c["table"]["table"].clear(), "record 1, table: table is empty"),
        (
            lambda c: c["table"]["table"][1].pop(),
            "record 1, table: row 1 has 2 cells, the header has 3",
        ),
        (lambda c: c["table"].pop("uid"), "record 1, table: the field uid is missing"),
        (lambda c: c.pop("questions"), "record 1: the field questions is missing"),
        (
            lambda c: c["questions"][0].pop("uid"),
            "record 1, questions[0]: the field uid is missing",
        ),
        (
            lambda c: c["questions"][0].update(answer={}),
            "record 1, questions[0]: answer is an object",
        ),
        (
            lambda c: c["questions"][0].update(question="\0"),
            "record 1, questions[0]: question contains a NUL character",
        ),
        (
            lambda c: c["questions"][0].update(scale=3),
            "record 1, questions[0]: scale is a number, not a text",
        ),
        (
            lambda c: c["paragraphs"][0].update(text="\ud800"),
            "an unpaired surrogate",
        ),
        (
            lambda c: c["paragraphs"][0].update(order="1"),
            "record 1, paragraphs[0]: order is a text, not a whole number",
        ),
    ],
)
def test_a_fault_is_named_with_its_field(
    tmp_path: Path, damage: Callable[[dict[str, Any]], object], what: str
) -> None:
    with pytest.raises(ReaderError) as error:
        read(tmp_path, changed(damage))
    assert what in error.value.what
    assert error.value.mend


def test_an_id_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="the id q1 is already in line 2"):
        read(tmp_path, CONTEXT, CONTEXT)
