"""What a writer writes, its reader reads: any example, in every form, for what the form has a place for."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Context, Example, Table, Turn
from tableqa.core.canonical_json import canonical
from tableqa.operations import Operation, replay
from tableqa.readers import READERS, published_id
from tableqa.writers import hub_features, lftqa, robut, suc, whole_examples
from tableqa.writers.freb_tqa import freb_example, published_record
from tests.tableqa.strategies import edits, source_tables, texts

ids = texts.filter(bool)
answers = st.lists(texts, max_size=3)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Examples with tables whose headers repeat or are empty, or that have no rows; with context and history."""
    context = Context(draw(texts), draw(texts), draw(texts))
    return Example(
        draw(ids),
        draw(texts),
        draw(source_tables()),
        draw(answers),
        draw(
            st.dictionaries(
                st.sampled_from(["level", "ü", "x y"]), texts | st.integers() | st.none(), max_size=2
            )
        ),
        context=context if context.to_dict() else None,
        history=[Turn(draw(texts), draw(answers))] if draw(st.booleans()) else [],
    )


def written(folder: Path, name: str, *records: dict[str, Any]) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(canonical(record) + "\n" for record in records), "utf-8", newline="\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round")


@given(examples(), st.integers(-1, 1))
def test_an_item_of_freb_tqa(folder: Path, example: Example, label: int) -> None:
    record = {**freb_example(example), "label": label}
    (found,) = READERS["freb_tqa"](written(folder, "items.json", record))
    assert published_record(found) == record
    assert (found.id, found.question, found.answers) == (example.id, example.question, example.answers)
    assert found.table.same_content(example.table)


@given(examples(), st.sampled_from(robut.PERTURBATIONS))
def test_an_item_of_robut(folder: Path, example: Example, kind: str) -> None:
    pair = [record for _, record in robut.robut_pair(example, example, kind)]
    found = list(READERS["robut"](written(folder, "robut.json", *pair)))
    assert [robut.published_record(one) for one in found] == pair
    for one in found:
        assert (one.question, one.table.rows, one.meta["original_id"]) == (
            example.question, example.table.rows, example.id,
        )  # fmt: skip
        if one.meta.get("answers_text") is None:
            assert one.answers == example.answers
    assert len({one.id for one in found}) == 2


@given(st.lists(texts, min_size=1, max_size=4), st.booleans())
def test_a_list_as_python_prints_it_is_that_list(folder: Path, answers: list[str], within: bool) -> None:
    """The part of RobuT that comes from SQA."""
    text = str(answers)
    record: dict[str, Any] = {"id": "1", "question": "q", "answers": [text] if within else text}
    record |= {"table": {"header": ["a"], "rows": []}, "perturbation_type": "row"}
    (found,) = READERS["robut"](written(folder, "sqa.json", record))
    assert found.answers == tuple(answers)
    assert robut.published_record(found) == record


@given(st.lists(st.tuples(ids, source_tables()), max_size=4, unique_by=lambda pair: pair[0]))
def test_questions_of_robut_find_their_tables_in_the_file_beside(
    folder: Path, tables: list[tuple[str, Table]]
) -> None:
    asked = [
        {"table_id": id, "question": id, "answers": [], "perturbation_type": "row", "original_id": "o"}
        for id, _ in reversed(tables)
    ]
    (folder / "robut_wtq_qa.json").write_text(json.dumps(asked))
    held = {id: {"header": list(t.header), "rows": [list(row) for row in t.rows]} for id, t in tables}
    (folder / "robut_wtq_table.json").write_text(json.dumps(held, indent=1))
    if not asked:
        return
    found = list(READERS["robut"](folder / "robut_wtq_qa.json"))
    assert [one.meta["table_id"] for one in found] == [id for id, _ in reversed(tables)]
    for one, (_, table) in zip(found, reversed(tables), strict=True):
        assert one.table.same_content(table)
    assert [robut.published_record(one) for one in found] == asked
    assert {one.meta["table_id"]: robut.published_table(one) for one in found} == held
    repeated = [one.id for one in found if published_id(one) == "o-row"]
    assert repeated == [f"o-row#{n}" for n in range(2, len(found) + 1)]


@given(examples(), ids.filter(lambda text: text.strip() != ""), texts, st.floats(1, 5), st.floats(-9, 9))
def test_a_rated_answer_of_lftqa(
    folder: Path, example: Example, text: str, system: str, score: float, metric: float
) -> None:
    answer = lftqa.output_record(example.id, system, text, example, "".join(example.answers))
    outputs = written(folder / "lftqa", "model_outputs.json", answer)
    human = {"faithfulness": score, "comprehensiveness": 1}
    metrics = {"rouge": metric, "a/b ü": 0.5}
    for kind, said in (("human", human), ("metric", metrics)):
        for part, record in lftqa.scores(example.id, system, said, kind):
            written(folder / "lftqa", f"{part}.json", record)
    (found,) = READERS["lftqa"](outputs)
    assert (
        found.table.to_dict()
        == Table(
            example.table.header, example.table.rows, example.table.title, example.table.caption
        ).to_dict()
    )
    assert found.meta["rated_answer"] == {"text": text, "system": system}
    assert (found.meta["human"], found.meta["metrics"]) == (human, metrics)
    assert "".join(found.answers) == "".join(example.answers)


SOURCE = {"name": "s", "split": "dev", "reader": "wtq"}


@given(examples(), st.sampled_from(["", "row_shuffle"]), st.none() | st.integers(0, 99))
def test_a_record_of_a_dataset(folder: Path, example: Example, kind: str, seed: int | None) -> None:
    line = whole_examples.Line(
        SOURCE, example, original="o" if kind else "", perturbation=kind, seed=seed if kind else None
    )
    record = whole_examples.hub_record(line)
    assert record.keys() == hub_features.FIELDS_OF_SETS["examples"].keys()
    assert whole_examples.example_of(json.loads(canonical(record))) == example
    (found,) = READERS["hf"](written(folder, "hub/data/test.jsonl", record).parent.parent)
    assert {name: held for name, held in found.meta.items() if name != "lineage"} == dict(example.meta)
    assert (found.table, found.context, found.history) == (example.table, example.context, example.history)
    assert ("lineage" in found.meta) == bool(kind)


@given(examples())
def test_a_table_and_query_of_suc(folder: Path, example: Example) -> None:
    record = suc.published_record(example)
    (found,) = READERS["suc"](written(folder, "suc.jsonl", record))
    assert suc.published_record(found) == record
    assert (found.id, found.question, found.answers) == (example.id, example.question, example.answers)
    assert found.table == Table(
        example.table.header, example.table.rows, example.table.title, example.table.caption
    )


def release(folder: Path, original: Example, operations: list[Operation]) -> Path:
    """A release of one example and one edit of it, as docs/reference/release-format.md has it."""
    folder.mkdir(parents=True, exist_ok=True)
    base = original.table
    more = {
        name: value
        for name, value in original.to_dict().items()
        if name in ("meta", "program", "context", "history")
    }
    about = {"question": original.question, "answers": list(original.answers), "table": base.digest()}
    edited = {
        **about,
        "id": f"{original.id}~x-1",
        "parent": original.id,
        "perturbation": "x",
        "operations": [operation.to_dict() for operation in operations],
        "digest": replay(base, operations).digest(),
        "more": more,
    }
    source = {"kind": "source", "name": "s", "licence": "MIT", "citation": "us", "url": ""}
    table = {"kind": "table", "digest": base.digest(), "content": base.to_dict()}
    example = {"kind": "example", "source": "s", "id": original.id, **about, "more": more}
    files: dict[str, list[dict[str, Any]]] = {
        "sources.jsonl": [source, table, example],
        "decisions.jsonl": [{"source": "s", "outcomes": [{"example": None}, {"example": edited}]}],
    }
    shas = {}
    for name, records in files.items():
        path = written(folder, name, *records)
        shas[name] = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    manifest = {"layout": 1, "sources": [source], "files": shas}
    (folder / "manifest.json").write_text(canonical(manifest) + "\n", "utf-8")
    return folder


@given(examples(), st.data())
def test_a_release_of_askew(folder: Path, example: Example, data: st.DataObject) -> None:
    base, operations = data.draw(edits(st.just(example.table)))
    first, second = READERS["askew"](release(folder / "release", example, operations))
    assert first == example
    assert second.table.to_dict() == replay(base, operations).to_dict()
    assert second.table.has_source_ids
    assert (second.question, second.answers, second.context, second.history) == (
        example.question, example.answers, example.context, example.history,
    )  # fmt: skip
    lineage = second.meta["lineage"]
    assert (lineage["parent"], lineage["base"]) == (example.id, base.digest())
    assert canonical(lineage["operations"]) == canonical([operation.to_dict() for operation in operations])
    assert {name: second.meta[name] for name in example.meta} == dict(example.meta)


@given(st.data())
def test_marked_cells_go_with_their_rows_and_columns(folder: Path, data: st.DataObject) -> None:
    table = data.draw(source_tables(min_columns=1).filter(lambda table: table.rows))
    cells = [[row, column] for row in table.row_ids for column in table.column_ids]
    example = Example("1", "q", table, [], {"relevant_cells": cells})
    _, operations = data.draw(
        edits(st.just(table), kinds=("remove_row", "move_row", "remove_column", "move_column"))
    )
    edited = replay(table, operations)
    _, found = READERS["askew"](release(folder / "marked", example, operations))
    kept = [found.table.cell(*cell) for cell in found.meta["relevant_cells"]]
    assert kept == [
        table.cell(row, column)
        for row, column in cells
        if row in edited.row_ids and column in edited.column_ids
    ]
