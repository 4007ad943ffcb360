"""Answers of Potato, doccano and Prodigy are read by their types: none is lost, changed or guessed in silence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tableqa.readers.reader import ReaderError
from tableqa.responses import TOOLS
from tableqa.responses.export import Task, loss_in_words

EXPORTS = Path(__file__).parents[1] / "exports"
GUESSED = "types of values (guessed: add the YAML file with annotation_schemes)"
UNCHECKED = "options that are stored as not chosen"


def tasks(tool: str, path: Path) -> list[Task]:
    return list(TOOLS[tool].tasks(path))


def fields(tool: str, path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """By person and task: the fields with their values and natures."""
    return {
        (given.person, task.id): {name: (value, given.natures[name]) for name, value in given.values.items()}
        for task in tasks(tool, path)
        for given in task.responses
    }


def losses(tool: str, path: Path) -> dict[str, int]:
    keys = Counter(loss for task in tasks(tool, path) for loss in task.losses)
    return {loss_in_words(TOOLS[tool], key): number for key, number in keys.items()}


def state(folder: Path, *answers: tuple[str, str, Any], schemes: Any = None, **more: Any) -> Path:
    """Potato's output with one item, of (schema, label, value), and a configuration with the schemas."""
    (folder / "ada").mkdir(parents=True)
    labels = [[{"schema": schema, "name": name}, value] for schema, name, value in answers]
    whole = {"user_id": "ada", "instance_id_to_label_to_value": {"1": labels}, **more}
    (folder / "ada" / "user_state.json").write_text(json.dumps(whole), "utf-8")
    if schemes is not None:
        (folder / "config.yaml").write_text(json.dumps({"annotation_schemes": schemes}), "utf-8")
    return folder


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


# -- Potato -----------------------------------------------------------------------------------------

ENTERED = {
    "kind": ("false", "choice"),
    "kind: free_response": ("None of them.", "text"),
    "domain": ("film", "choice"),
    "topics": (["film", "rain, snow"], "multi_choice"),
    "quality": (5, "scale"),
    "mood": ("glad", "choice"),
    "sure": (80, "number"),
    "count": (0, "number"),
    "pain": (12.5, "number"),
    "belief": (70, "scale"),
    "why": ("false", "text"),
    "notes: reason": ("007", "text"),
    "notes: doubt": ('None.\nReally, "none".', "text"),
    "ratings: clarity": (3, "scale"),
    "ratings: style": (1, "scale"),
    "feel: cold__warm": (2, "scale"),
    "years: range_low": (1979, "number"),
    "years: range_high": (1995, "number"),
    "share: yes it is": (60, "number"),
    "share: no it is not": (40, "number"),
    "points: plot": (10, "number"),
    "points: music": (0, "number"),
    "order": (["second, third", "fourth", "first"], "rank"),
    "better": ("tie", "choice"),
    "better: justification": ('{"reasons":["style"],"rationale":"Both."}', "text"),
    "how_much": (-2, "scale"),
    "rubric: correct": (4, "scale"),
    "place": (["Europe", "Spain"], "multi_choice"),
    "keep": ("accept", "choice"),
    "day": ("2024-05-01", "text"),
    "gap: blank_1": ("1979", "text"),
    "people: spans": (
        '[{"end":5,"id":"people_person___0_5","name":"person","schema":"people","start":0,"title":"person"}]',
        "text",
    ),
}
"""What `tests/exports/potato_entered.json` says that Ada enters, in the terms of task types."""


def test_every_answer_in_the_forms_of_potato_is_read_as_it_was_entered() -> None:
    read = fields("potato", EXPORTS / "potato")

    assert read["ada", "nu-0"] == ENTERED
    assert read["bo", "nu-0"] == {
        "kind": ("read", "choice"),
        "domain": ("sport", "choice"),
        "sure": (10, "number"),
        "count": (-3, "number"),
        "pain": (0.1, "number"),
        "quality": (7, "scale"),
    }
    assert read["bo", "nu-1"]["count"] == (9.25, "number")
    assert read["bo", "nu-1"]["why"] == ("12", "text")


def test_types_that_no_field_can_hold_are_counted_by_name() -> None:
    assert losses("potato", EXPORTS / "potato") == {
        "values of the field grid (table_grid)": 1,
        "values of the field sorted (card_sort)": 1,
    }


def test_options_and_ends_come_from_the_schemas_of_potato() -> None:
    first, second = tasks("potato", EXPORTS / "potato")

    assert first.schema["kind"] == {"options": ["read", "computed", "false"]}
    assert first.schema["quality"] == {"min": 1, "max": 7}
    assert first.schema["sure"] == {"min": 0, "max": 100}
    assert second.schema == {}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([("kind", "select-one", "reasoning")], {"kind": ("reasoning", "choice")}),
        (
            [("sure", "slider", "80"), ("count", "number", 0)],
            {"sure": (80, "number"), "count": (0, "number")},
        ),
        ([("sure", "sure", "12.5")], {"sure": (12.5, "number")}),
        ([("why", "text_box", "false")], {"why": ("false", "text")}),
        ([("why", "text_box", "0")], {"why": ("0", "text")}),
        ([("note", "reason", "0050")], {"note: reason": ("0050", "text")}),
        (
            [("topics", "film", "true"), ("topics", "sport", True)],
            {"topics": (["film", "sport"], "multi_choice")},
        ),
        ([("better", "selection", "A")], {"better": ("A", "choice")}),
        ([("quality", "4", "4")], {"quality": (4, "scale")}),
    ],
)
def test_without_a_configuration_the_labels_of_the_forms_decide_and_each_guess_is_counted(
    tmp_path: Path, answers: list[tuple[str, str, Any]], expected: dict[str, Any]
) -> None:
    folder = state(tmp_path, *answers)

    assert fields("potato", folder) == {("ada", "1"): expected}
    assert losses("potato", folder) == {GUESSED: len(answers)}


def test_what_is_not_chosen_and_what_is_beside_the_items_is_counted(tmp_path: Path) -> None:
    schemes = [
        {"annotation_type": "radio", "name": "kind", "labels": ["yes", "no"]},
        {"annotation_type": "multiselect", "name": "topics", "labels": ["film", "sport"]},
    ]
    consent = [[{"schema": "consent", "name": "I agree"}, "I agree"]]
    folder = state(
        tmp_path,
        ("kind", "no", "no"),
        ("kind", "yes", "false"),
        ("topics", "film", False),
        schemes=schemes,
        phase_to_page_to_label_to_value={"consent": {"page": consent}},
        instance_id_to_link_to_value={"1": {"link": {"span_ids": ["a", "b"]}}},
    )

    assert fields("potato", folder) == {("ada", "1"): {"kind": ("no", "choice")}}
    assert losses("potato", folder) == {
        UNCHECKED: 2,
        "answers on pages before or after the items": 1,
        "values of the field link": 1,
    }


def test_marks_on_an_item_without_labels_are_read(tmp_path: Path) -> None:
    span = {"schema": "people", "name": "person", "start": 0, "end": 3}
    folder = state(tmp_path, instance_id_to_span_to_value={"2": [[span, "true"]]})

    assert fields("potato", folder)["ada", "2"]["people: spans"][0] == json.dumps(
        [span], sort_keys=True, separators=(",", ":")
    )


def test_a_rating_of_turns_is_counted_and_not_read_as_an_option(tmp_path: Path) -> None:
    scheme = {"annotation_type": "radio", "name": "tone", "labels": ["a", "b"], "turn_level": True}
    folder = state(tmp_path, ("tone", "_data", '{"0": "a"}'), schemes=[scheme])

    assert fields("potato", folder) == {}
    assert losses("potato", folder) == {"values of the field tone (radio of a turn or session)": 1}


def test_a_ranking_of_other_names_is_counted(tmp_path: Path) -> None:
    scheme = {"annotation_type": "ranking", "name": "order", "labels": [{"name": "a"}, "b", "a b"]}
    read = state(tmp_path / "read", ("order", "rank_order", "a b,b,a"), schemes=[scheme])
    unknown = state(tmp_path / "unknown", ("order", "rank_order", "b,c"), schemes=[scheme])

    assert fields("potato", read) == {("ada", "1"): {"order": (["a b", "b", "a"], "rank")}}
    assert losses("potato", unknown) == {"values of the field order (ranking)": 1}


def test_two_configurations_with_different_schemas_are_refused(tmp_path: Path) -> None:
    folder = state(tmp_path, ("a", "x", "x"), schemes=[{"annotation_type": "radio", "name": "a"}])
    (folder / "other.yml").write_text("annotation_schemes: [{annotation_type: text, name: a}]", "utf-8")

    with pytest.raises(ReaderError, match="another schema a"):
        tasks("potato", folder)


def test_a_configuration_that_is_no_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    folder = state(tmp_path, ("a", "x", "x"))
    (folder / "config.yaml").write_text("a: 1\nannotation_schemes: [\n", "utf-8")

    with pytest.raises(ReaderError) as refused:
        tasks("potato", folder)
    assert (Path(refused.value.file).name, refused.value.line) == ("config.yaml", 2)
