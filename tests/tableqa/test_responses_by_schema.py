"""Answers of Potato, doccano and Prodigy are read by their types: none is lost, changed or guessed in silence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tableqa.readers.ingestion import ReadRequest
from tableqa.readers.interface import ReaderError
from tableqa.readers.responses import TOOLS
from tableqa.readers.responses.tool_export import Task, loss_in_words
from tableqa.readers.responses.validation import read_responses

EXPORTS = Path(__file__).parents[1] / "exports"
GUESSED = "types of values (guessed: add the YAML file with annotation_schemes)"
EMPTY = "accepted tasks without an option, a text or an answer"
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


@pytest.mark.parametrize(
    ("tool", "export"),
    [
        ("label_studio", "Export the project as JSON, not as JSON-MIN or CSV"),
        ("doccano", "Export the project as JSONL"),
        ("prodigy", "Export the dataset with prodigy db-out"),
        ("argilla", "Name the folder that Dataset.to_disk wrote"),
        ("potato", "Name the output folder of Potato"),
    ],
)
def test_the_csv_of_a_tool_is_refused_with_the_export_that_is_read(
    tool: str, export: str, tmp_path: Path
) -> None:
    path = tmp_path / "export.csv"
    path.write_text('id,question,label\n1,"Who won?",yes\n', "utf-8")

    with pytest.raises(ReaderError) as refused:
        read_responses(ReadRequest(tool, str(path), str(tmp_path / "rows.jsonl")))

    assert (refused.value.line, refused.value.what) == (1, "this is not a JSON file")
    assert refused.value.mend.startswith(export)


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


def test_inputs_with_the_labels_of_other_forms_are_fields_of_their_own(tmp_path: Path) -> None:
    scheme = {"annotation_type": "text", "name": "say", "labels": ["number", "slider"]}
    folder = state(tmp_path, ("say", "number", "one"), ("say", "slider", "two"), schemes=[scheme])

    assert fields("potato", folder) == {
        ("ada", "1"): {"say": ("one", "text"), "say: slider": ("two", "text")}
    }


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1e5", (100_000, "number")),
        ("-0.5", (-0.5, "number")),
        (".25", (0.25, "number")),
        ("7.0", (7, "number")),
        ("080", (80, "number")),
        ("12345678901234567890123", ("12345678901234567890123", "text")),
        ("0.1234567890123456789", ("0.1234567890123456789", "text")),
        ("1e999", ("1e999", "text")),
        ("none", ("none", "text")),
    ],
)
def test_a_number_loses_no_digit(tmp_path: Path, written: str, expected: tuple[Any, str]) -> None:
    scheme = {"annotation_type": "number", "name": "count"}
    folder = state(tmp_path, ("count", "number", written), schemes=[scheme])

    assert fields("potato", folder) == {("ada", "1"): {"count": expected}}


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


# -- doccano ----------------------------------------------------------------------------------------

PARTS = [
    {"end_offset": 4, "id": 2, "label": "FILM", "start_offset": 0},
    {"end_offset": 13, "id": 3, "label": "FILM", "start_offset": 9},
]
RELATIONS = {
    "entities (spans)": (json.dumps(PARTS, separators=(",", ":")), "text"),
    "relations (spans)": ('[{"from_id":2,"id":1,"to_id":3,"type":"OF"}]', "text"),
}


@pytest.mark.parametrize(
    ("project", "expected"),
    [
        (
            "classes",
            {
                ("ada", "1"): {"label": ("read", "choice")},
                ("bo", "1"): {"label": ("read", "choice")},
                ("ada", "2"): {"label": (["computed", "unsure"], "multi_choice")},
                ("bo", "2"): {"label": ("computed", "choice")},
                ("bo", "3"): {"label": ("unsure", "choice")},
            },
        ),
        (
            "texts",
            {
                ("ada", "7"): {"label": ("1995", "text")},
                ("bo", "7"): {"label": ("In 1995.\nThe year 1995", "text")},
            },
        ),
        ("spans", {("ada", "10"): {"label (spans)": ('[[9,13,"FILM"]]', "text")}}),
        ("relations", {("ada", "13"): RELATIONS}),
        (
            "intents",
            {("ada", "16"): {"cats": ("ask", "choice"), "entities (spans)": ('[[9,13,"FILM"]]', "text")}},
        ),
    ],
)
def test_labels_of_each_project_type_of_doccano_are_read_as_they_were_given(
    project: str, expected: dict[tuple[str, str], Any]
) -> None:
    assert fields("doccano", EXPORTS / "doccano" / project) == expected
    assert losses("doccano", EXPORTS / "doccano" / project).keys() <= {"comments", "examples without a label"}


def test_without_the_project_of_doccano_texts_are_classes_and_each_guess_is_counted(tmp_path: Path) -> None:
    path = lines(tmp_path / "ada.jsonl", {"id": 1, "text": "q", "label": ["1995"]})

    assert fields("doccano", path) == {("ada", "1"): {"label": ("1995", "choice")}}
    guessed = "types of labels (read as classes: add the project as JSON, /v1/projects/ID)"
    assert losses("doccano", path) == {guessed: 1}


def test_labels_of_images_are_read_and_none_is_shown_as_data(tmp_path: Path) -> None:
    box = {"uuid": "u", "x": 1, "y": 2, "width": 3, "height": 4, "label": "cell"}
    path = lines(tmp_path / "ada.jsonl", {"id": 1, "filename": "a.png", "bbox": [box], "Comments": []})

    (task,) = tasks("doccano", path)

    assert json.loads(task.responses[0].values["bbox (spans)"]) == [box]
    assert set(task.data.value) == {"id", "filename"}


# -- Prodigy ----------------------------------------------------------------------------------------
# Prodigy is sold, so these are the tasks of its documentation: https://prodi.gy/docs/api-interfaces

OPTIONS = [{"id": "easy", "text": "Easy"}, {"id": 2, "text": "Hard"}]
SPAN = {"start": 0, "end": 4, "token_start": 0, "token_end": 0, "label": "FILM"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"options": OPTIONS, "accept": ["easy"], "answer": "accept"}, {"accept": ("easy", "choice")}),
        ({"options": OPTIONS, "accept": [2], "answer": "accept"}, {"accept": ("2", "choice")}),
        (
            {
                "options": OPTIONS,
                "accept": ["easy"],
                "config": {"choice_style": "multiple"},
                "answer": "accept",
            },
            {"accept": (["easy"], "multi_choice")},
        ),
        ({"label": "FILM", "answer": "reject"}, {"answer": ("reject", "choice")}),
        ({"user_input": "0", "answer": "accept"}, {"user_input": ("0", "text")}),
        ({"user_input": "false", "answer": "accept"}, {"user_input": ("false", "text")}),
        ({"field_id": "score", "score": 0, "answer": "accept"}, {"score": (0, "number")}),
        ({"field_id": "score", "score": 2.5, "answer": "accept"}, {"score": (2.5, "number")}),
        (
            {
                "spans": [SPAN],
                "tokens": [{"text": "Heat", "start": 0, "end": 4, "id": 0}],
                "answer": "accept",
            },
            {
                "answer": ("accept", "choice"),
                "spans": (json.dumps([SPAN], sort_keys=True, separators=(",", ":")), "text"),
            },
        ),
    ],
)
def test_each_interface_of_prodigy_gives_the_values_of_its_fields(
    tmp_path: Path, line: dict[str, Any], expected: dict[str, Any]
) -> None:
    path = lines(tmp_path / "films.jsonl", {"text": "Heat", "_task_hash": 7, "_annotator_id": "ada", **line})

    assert fields("prodigy", path) == {("ada", "7"): expected}
    assert losses("prodigy", path) == {}


@pytest.mark.parametrize(
    ("line", "loss"),
    [
        ({"options": OPTIONS, "accept": [], "answer": "ignore"}, "ignored tasks"),
        ({"options": OPTIONS, "accept": [], "answer": "reject"}, "rejected tasks with options or texts"),
        ({"user_input": "No.", "answer": "reject"}, "rejected tasks with options or texts"),
        ({"options": OPTIONS, "accept": [], "answer": "accept"}, EMPTY),
        ({"user_input": "", "answer": "accept"}, EMPTY),
        ({"options": OPTIONS}, EMPTY),
        ({}, EMPTY),
    ],
)
def test_each_task_of_prodigy_without_a_response_is_counted(
    tmp_path: Path, line: dict[str, Any], loss: str
) -> None:
    path = lines(tmp_path / "films.jsonl", {"text": "Heat", "_task_hash": 7, **line})

    assert fields("prodigy", path) == {}
    assert losses("prodigy", path) == {loss: 1}


def test_fields_that_differ_between_people_and_no_interface_describes_are_counted(tmp_path: Path) -> None:
    task = {"text": "Heat", "_task_hash": 7, "answer": "accept", "options": OPTIONS, "accept": ["easy"]}
    path = lines(
        tmp_path / "films.jsonl",
        {**task, "_annotator_id": "ada", "stars": 3},
        {**task, "_annotator_id": "bo", "stars": 4, "flagged": True},
    )

    assert losses("prodigy", path) == {"values of the field stars": 1, "values of the field flagged": 1}


# -- Exports with answers in further places ---------------------------------------------------------


def test_answers_inside_pages_and_versions_of_prodigy_are_counted_and_no_part_of_the_example(
    tmp_path: Path,
) -> None:
    inside = {"text": "Who won?", "options": [{"id": "A"}], "accept": ["A"]}
    pages = {"id": "1", "_view_id": "pages", "pages": [inside], "answer": "accept"}
    review = {"id": "2", "_view_id": "review", "versions": [inside], **inside, "answer": "accept"}
    own = {"id": "3", "_view_id": "choice", "pages": 12, **inside, "answer": "accept"}
    path = lines(tmp_path / "export.jsonl", pages, review, own)
    assert losses("prodigy", path) == {"values of the field pages": 1, "values of the field versions": 1}
    assert [sorted(task.data.value) for task in tasks("prodigy", path)] == [
        ["id"],
        ["id", "text"],
        ["id", "pages", "text"],
    ]


def test_a_line_of_doccano_whose_label_is_no_list_is_rejected_alone(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "ada.jsonl",
        {"id": 7, "text": "q", "label": "yes"},
        {"id": 8, "text": "q", "label": ["no"]},
    )
    first, second = tasks("doccano", path)
    assert (first.responses, len(second.responses)) == ([], 1)
    assert "task 7, response of ada: label is a text" in str(first.rejected[0].error)


def test_types_that_are_guessed_for_argilla_and_second_answers_of_a_person_are_counted(
    tmp_path: Path,
) -> None:
    answers = [{"value": ["a", "b"], "user_id": "u1"}, {"value": ["b", "a"], "user_id": "u1"}]
    record = {"id": "1", "fields": {"question": "q"}, "responses": {"order": answers}}
    (tmp_path / "records.json").write_text(json.dumps([record]), "utf-8")
    assert losses("argilla", tmp_path) == {
        "types of values (guessed: add .argilla/settings.json)": 2,
        "values of the field order": 1,
    }
