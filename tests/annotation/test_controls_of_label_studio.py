"""Every control of Label Studio, made by its SDK, is imported value by value, or refused by name and counted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Batch, TaskTypeDefinition
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report
from annotation.releases import tool_exports
from tableqa.readers.responses import TOOLS
from tasks.shared.defined_types import task_of
from tests.annotation.cast import World
from tests.annotation.test_exports_of_tools import EXPORTS, types, zipped
from tests.annotation.test_transfer import annotation, choice, label_studio, labels, look, task, write

EXPORT = EXPORTS / "label_studio"
NAMES = [{"end": 13, "labels": ["Film"], "start": 9}]
ADA: dict[str, Any] = {
    "kind": "read",
    "topics": ["café"],
    "place": ["Europe > France", "Asia"],
    "stars": 7,
    "share": 0.5,
    "loss": -3.25,
    "made": "1995-12-15",
    "why": "Read it.\nTwice.",
    "better": "left",
    "order": ["b", "a", "c"],
}
BO: dict[str, Any] = {
    "kind": "computed",
    "topics": ["sport", "film"],
    "place": ["Europe"],
    "stars": 1,
    "share": -5,
    "loss": 1000000,
    "made": "2024-02-29",
    "why": "0",
    "better": "right",
    "order": ["c", "b", "a"],
}
SPANS = {
    "names": [NAMES, [{"end": 4, "labels": ["Film", "Year"], "start": 0}]],
    "parts": [
        [{"end": "/p[1]/text()[1]", "endOffset": 4, "hypertextlabels": ["Cell"], "start": "/p[1]/text()[1]",
          "startOffset": 0}],
        [{"end": "/p[2]/text()[1]", "endOffset": 2, "hypertextlabels": ["Cell"], "start": "/p[2]/text()[1]",
          "startOffset": 1}],
    ],
    "turns": [
        [{"end": "1", "endOffset": 3, "paragraphlabels": ["Doubt"], "start": "0", "startOffset": 2}],
        [{"end": "1", "endOffset": 1, "paragraphlabels": ["Doubt"], "start": "1", "startOffset": 0}],
    ],
}  # fmt: skip


def results() -> list[dict[str, Any]]:
    tasks = json.loads((EXPORT / "export.json").read_text("utf-8"))
    return [result for task in tasks for one in task["annotations"] for result in one["result"]]


def number(name: str, value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "number", "value": {"number": value}}


def fields() -> dict[str, dict[str, Any]]:
    return {field["name"]: field for field in TaskTypeDefinition.objects.get().data["fields"]}


def test_the_export_has_a_result_of_every_control_of_the_sdk() -> None:
    controls = set((EXPORT / "controls.txt").read_text("utf-8").split())

    assert {result["type"] for result in results()} == controls - {"relations"} | {"relation"}


@pytest.mark.parametrize("is_zipped", [True, False])
def test_every_value_is_imported_or_named_and_counted(world: World, tmp_path: Path, is_zipped: bool) -> None:
    path = zipped(EXPORT, tmp_path / "films.zip") if is_zipped else EXPORT

    done = write(world, path, people={"1": "Ada", "2": "Bo"})

    first, others, second = (data for _, data in labels())
    for number, (data, plain) in enumerate(((first, ADA), (second, BO))):
        assert {name: data[name] for name in plain} == plain
        assert {name: json.loads(data[name]) for name in SPANS} == {
            name: spans[number] for name, spans in SPANS.items()
        }
    assert others["kind"] == "read"
    assert json.loads(others["peaks"]) == [
        {"end": 2, "instant": False, "start": 1, "timeserieslabels": ["A"]}
    ]
    refused = [
        f"values of the field {result['from_name']} ({result['type']})"
        for result in results()
        if result.get("from_name") not in {*ADA, *SPANS, "peaks", None}
    ]
    assert len(refused) == 22
    assert sorted(done.losses) == sorted(
        [*((1, loss) for loss in refused), (2, "values of the field relation")]
    )


def test_types_options_and_ends_are_those_of_the_configuration(world: World) -> None:
    write(world, EXPORT)

    given = {name: {key: field[key] for key in field.keys() & {"type", "options", "min", "max"}}
             for name, field in fields().items()}  # fmt: skip
    assert given == {
        "kind": {"type": "choice", "options": ["read", "computed", "unsure"]},
        "topics": {"type": "multi_choice", "options": ["sport", "café", "film"]},
        "place": {"type": "multi_choice", "options": ["Europe", "Europe > France", "Asia"]},
        "stars": {"type": "scale", "min": 1, "max": 10},
        "share": {"type": "number", "min": -5, "max": 100},
        "loss": {"type": "number"},
        "made": {"type": "date"},
        "why": {"type": "text"},
        "better": {"type": "choice", "options": ["left", "right"]},
        "order": {"type": "rank", "options": ["a", "b", "c"]},
        "names": {"type": "text"},
        "parts": {"type": "text"},
        "turns": {"type": "text"},
        "peaks": {"type": "text"},
    }


def test_without_a_configuration_the_types_of_the_results_decide(world: World, tmp_path: Path) -> None:
    path = Path(shutil.copy(EXPORT / "export.json", tmp_path))

    write(world, path, people={"1": "Ada", "2": "Bo"})

    read = types()
    assert [read[name] for name in ("topics", "place", "stars", "share", "loss", "order")] == [
        "multi_choice", "multi_choice", "scale", "number", "number", "rank"]  # fmt: skip
    first, _, second = (data for _, data in labels())
    for data, given in ((first, ADA), (second, BO)):
        read_values = {name: data[name] for name in given}
        # Several choices are in the order of the options, which are sorted here.
        assert read_values == {**given, "topics": sorted(given["topics"]), "place": sorted(given["place"])}


def alpha(units: Sequence[tuple[float, float]]) -> float:
    """Krippendorff's alpha of intervals, for pairs."""
    values = [value for unit in units for value in unit]
    observed = sum(2 * (one - other) ** 2 for one, other in units) / len(values)
    pairs = list(permutations(values, 2))
    return 1 - observed / (sum((one - other) ** 2 for one, other in pairs) / len(pairs))


def test_decimal_and_negative_numbers_have_agreement_of_intervals(world: World, tmp_path: Path) -> None:
    given = [(0.5, -3), (-12.25, 7), (2.5, 2.5)]
    tasks = [
        task(at, *(annotation(person, number("num", value)) for person, value in enumerate(pair)))
        for at, pair in enumerate(given, start=1)
    ]

    done = write(world, label_studio(tmp_path, *tasks))

    assert fields()["num"]["type"] == "number"
    batch = Batch.objects.get(pk=done.batch.pk)  # type: ignore[union-attr]
    (row,) = (
        one for one in agreement_report.batch_figures(batch) if one.statistic == "krippendorff_alpha_interval"
    )
    assert row.value == pytest.approx(alpha(given), abs=1e-6)


def test_values_of_regions_are_no_values_of_the_task(world: World, tmp_path: Path) -> None:
    of_region = {"from_name": "tone", "type": "choices", "id": "a",
                 "value": {"start": 0, "end": 4, "text": "when", "choices": ["harsh"]}}  # fmt: skip
    of_item = {**choice("label", "reasoning"), "item_index": 1}
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    note = {**choice("label", "extraction"), "meta": {"text": ["Sure?"]}}
    drafts = [{"result": [choice("label", "reasoning")]}]
    path = label_studio(
        tmp_path,
        {
            **task(1, annotation(1, note, of_region, of_item, stars, stars, ground_truth=True)),
            "drafts": drafts,
            "completions": drafts,
        },
    )

    preview = look(world, path)

    assert preview.losses == [
        (1, "values of the field completions"),
        (1, "values of the field drafts"),
        (1, "values of the field ground_truth"),
        (1, "values of the field label (choices)"),
        (1, "values of the field label (meta)"),
        (1, "values of the field stars (rating)"),
        (1, "values of the field tone (choices)"),
    ]
    assert list(preview.summary.columns) == ["label", "stars"]


def test_spans_longer_than_a_text_are_counted(world: World, tmp_path: Path) -> None:
    span = {"from_name": "span", "type": "labels", "value": {"labels": ["x" * 5_000], "start": 0, "end": 1}}
    path = label_studio(tmp_path, task(1, annotation(1, choice("label", "neither"), span, span)))

    assert look(world, path).losses == [(2, "values of the field span (spans)")]


@pytest.mark.parametrize("text", ["<View><Choices", "", '<!DOCTYPE x [<!ENTITY a "b">]><View>&a;'])
def test_a_configuration_that_is_no_xml_is_refused(world: World, tmp_path: Path, text: str) -> None:
    label_studio(tmp_path, task(1, annotation(1, choice("label", "neither"))))
    (tmp_path / "config.xml").write_text(text, "utf-8")

    with pytest.raises(ActionRefused, match=r"config\.xml.*cannot be read.*labeling configuration"):
        look(world, tmp_path)


def test_an_export_of_regions_alone_is_refused_with_their_names(world: World, tmp_path: Path) -> None:
    box = {"from_name": "box", "type": "rectangle", "value": {"x": 1, "y": 1, "width": 2, "height": 3}}

    with pytest.raises(ActionRefused, match=r"Not read: values of the field box \(rectangle\) \(1\)"):
        look(world, label_studio(tmp_path, task(1, annotation(1, box))))


def test_options_that_differ_in_unicode_form_are_one(world: World, tmp_path: Path) -> None:
    label_studio(
        tmp_path, task(1, annotation(1, choice("tone", "é")), annotation(2, choice("tone", "e\u0301")))
    )
    config = (
        '<View><Choices name="tone" toName="q"><Choice value="e\u0301"/><Choice value="x"/></Choices></View>'
    )
    (tmp_path / "export.xml").write_text(config, "utf-8")

    write(world, tmp_path)

    assert fields()["tone"]["options"] == ["é", "x"]
    assert [data["tone"] for _, data in labels()] == ["é", "é"]


def test_numbers_and_dates_are_exported_as_controls_that_are_read_again(tmp_path: Path) -> None:
    fields = [{"name": "share", "type": "number"}, {"name": "made", "type": "date"}]
    task_type = task_of("t", {"title": "T", "instruction": "Look", "fields": fields})
    configuration = tool_exports.configuration(task_type, 2)
    assert '<Number name="share" toName="text"/>' in configuration
    assert '<DateTime only="date" format="%Y-%m-%d" name="made" toName="text"/>' in configuration

    results = tool_exports._results(task_type, {"share": 2.5, "made": "1995-12-15"}, {})

    path = label_studio(tmp_path, task(1, annotation(1, *results[:2])))
    (read,) = TOOLS["label_studio"].tasks(path)
    (response,) = read.responses
    assert response.values == {"share": 2.5, "made": "1995-12-15"}
    assert response.natures == {"share": "number", "made": "date"}
