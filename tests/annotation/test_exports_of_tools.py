"""Files that the code of Argilla, doccano and Potato wrote become responses of a project."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

import tableqa
from annotation.models import Annotation, Batch, Example, TaskTypeDefinition
from annotation.platform.refusals import ActionRefused
from annotation.quality import agreement_report
from tests.annotation.cast import World
from tests.annotation.test_transfer import exported, labels, look, write
from tests.tableqa.test_responses_by_schema import ENTERED

EXPORTS = Path(__file__).parents[1] / "exports"
ADA, BO = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2))


def types() -> dict[str, str]:
    return {one["name"]: one["type"] for one in TaskTypeDefinition.objects.get().data["fields"]}


def imported_examples(world: World) -> list[tableqa.Example]:
    rows = Example.objects.exclude(source=world.source).order_by("position").select_related("stored_table")
    return [row.example() for row in rows]


def zipped(folder: Path, to: Path) -> Path:
    with zipfile.ZipFile(to, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return to


def test_people_and_responses_of_an_argilla_dataset_are_read(world: World) -> None:
    done = write(world, EXPORTS / "argilla", "argilla", people={ADA: "Ada", BO: "Bo"})

    assert types() == {
        "kind": "choice",
        "topics": "multi_choice",
        "quality": "scale",
        "order": "rank",
        "why": "text",
        "names": "text",
    }
    none: dict[str, Any] = {"topics": [], "quality": None, "order": [], "why": "", "names": ""}
    span = '[{"end":13,"label":"film","start":9}]'
    first = {"kind": "read", "topics": ["film"], "quality": 4, "why": "Read it.", "names": span}
    assert labels() == [
        ("Ada", {**none, **first}),
        ("Ada", {**none, "kind": "computed"}),
        ("Bo", {**none, "kind": "computed", "quality": 2, "order": ["second", "first"]}),
        ("Bo", {**none, "kind": "computed"}),
    ]
    assert done.losses == [(2, "suggestions"), (1, "vectors")]
    fields = {one["name"]: one for one in TaskTypeDefinition.objects.get().data["fields"]}
    assert fields["kind"]["options"] == ["read", "computed", "unsure"]
    assert fields["topics"]["options"] == ["sport", "film"]
    meta = [example.meta for example in imported_examples(world)]
    assert [(one.get("page"), one.get("length")) for one in meta] == [(3, 0.5), (None, None)]
    assert done.summary.without_time == 4
    assert [example.answers for example in imported_examples(world)] == [("1995",), ("Alien",)]


def test_metadata_that_a_field_hides_and_unknown_questions_are_counted(world: World, tmp_path: Path) -> None:
    fields = {"question": "when?", "table": [["Film"], ["Heat"]], "page": 1}
    given = {"kind": "read", "drawn": {"x": 1}, "lines": [[1, 2]], "names": []}
    record = {
        "id": "q1",
        "fields": fields,
        "metadata": {"page": 2, "id": "q1", "length": 0.5},
        "responses": {name: [{"value": value, "user_id": ADA}] for name, value in given.items()},
    }
    types = {"kind": "label_selection", "drawn": "image", "lines": "polyline", "names": "span"}
    questions = [{"name": name, "settings": {"type": type}} for name, type in types.items()]
    (tmp_path / ".argilla").mkdir()
    (tmp_path / ".argilla" / "settings.json").write_text(json.dumps({"questions": questions}))
    (tmp_path / "records.json").write_text(json.dumps([record]))

    done = write(world, tmp_path, "argilla")

    assert done.losses == [
        (1, "values of the field drawn (image)"),
        (1, "values of the field lines (polyline)"),
        (1, "values of the field page (metadata)"),
    ]
    assert [data for _, data in labels()] == [{"kind": "read", "names": "[]"}]


def test_an_option_that_cannot_be_stored_is_a_problem(world: World, tmp_path: Path) -> None:
    folder = shutil.copytree(EXPORTS / "argilla", tmp_path / "dataset")
    settings = folder / ".argilla" / "settings.json"
    settings.write_text(settings.read_text("utf-8").replace('"unsure"', '"un\\u0000sure"'), "utf-8")

    problems = look(world, folder, "argilla").problems

    assert [problem.what for problem in problems] == ["record 1: the task contains a NUL character"]


def test_a_zip_file_of_an_argilla_dataset_is_read_as_its_folder(world: World, tmp_path: Path) -> None:
    path = zipped(EXPORTS / "argilla", tmp_path / "dataset.zip")

    assert look(world, path, "argilla").imported == 4


FIELDS = tuple(ENTERED)
"""All fields of the project of Potato: more than a task type can have."""


@pytest.mark.parametrize("wanted", [FIELDS[:16], (FIELDS[0], *FIELDS[16:])])
def test_every_answer_of_potato_is_stored_with_its_value(world: World, wanted: tuple[str, ...]) -> None:
    fields = {name: "" for name in FIELDS if name not in wanted}

    done = write(world, EXPORTS / "potato", "potato", source=world.source.name, fields=fields)

    stored = next(data for person, data in labels() if person == "ada")
    here = {name: done.mapping.fields[name] for name in wanted}
    assert {name: stored[field] for name, field in here.items()} == {
        name: ENTERED[name][0] for name in wanted
    }
    kinds = {"number": "number", "scale": "scale", "text": "text", "rank": "rank"}
    natures = {name: ENTERED[name][1] for name in wanted}
    made = types()
    assert {name: made[field] for name, field in here.items()} == {
        name: "number" if name == "belief" else kinds.get(nature, nature) for name, nature in natures.items()
    }


def test_people_and_times_of_potato_are_read(world: World) -> None:
    fields = dict.fromkeys(FIELDS[5:], "")
    write(world, EXPORTS / "potato", "potato", source=world.source.name, fields=fields)

    assert [person for person, _ in labels()] == ["ada", "ada", "bo", "bo"]
    assert Annotation.objects.earliest("made_at").made_at == datetime(2025, 5, 4, 3, 2, 1, tzinfo=UTC)


def potato(folder: Path, schema: str, name: str, values: dict[str, tuple[str, str]]) -> Path:
    """Values of people for two items, without the configuration."""
    for person, given in values.items():
        labels = {f"nu-{n}": [[{"schema": schema, "name": name}, value]] for n, value in enumerate(given)}
        (folder / person).mkdir()
        state = {"user_id": person, "instance_id_to_label_to_value": labels}
        (folder / person / "user_state.json").write_text(json.dumps(state), "utf-8")
    return folder


def test_sliders_of_potato_have_the_agreement_of_an_interval_scale(world: World, tmp_path: Path) -> None:
    folder = potato(tmp_path, "sure", "slider", {"ada": ("80", "35"), "bo": ("10", "90")})

    write(world, folder, "potato", source=world.source.name)

    figures = {one.statistic: one.value for one in agreement_report.batch_figures(Batch.objects.get())}
    # Do = (2 * 70 ** 2 + 2 * 55 ** 2) / 4, De = 2 * 17075 / 12
    assert figures["krippendorff_alpha_interval"] == pytest.approx(1 - 3962.5 / 2845.8333, abs=1e-3)
    assert figures["percent_agreement"] == 0


def test_dropdowns_of_potato_disagree_where_people_do(world: World, tmp_path: Path) -> None:
    values = {"ada": ("extraction", "reasoning"), "bo": ("reasoning", "extraction")}
    preview = look(world, potato(tmp_path, "kind", "select-one", values), "potato", source=world.source.name)

    assert dict(preview.summary.columns["kind"].values) == {"extraction": 2, "reasoning": 2}
    assert preview.losses == [(4, "types of values (guessed: add the YAML file with annotation_schemes)")]


def test_the_seconds_of_potato_are_those_of_its_milliseconds(world: World, tmp_path: Path) -> None:
    folder = shutil.copytree(EXPORTS / "potato", tmp_path / "potato")
    state = folder / "ada" / "user_state.json"
    text = state.read_text("utf-8").replace('"total_time_ms": 0', '"total_time_ms": 21500')
    state.write_text(text, "utf-8")

    write(world, folder, "potato", source=world.source.name, fields=dict.fromkeys(FIELDS[5:], ""))

    times = Annotation.objects.values_list("assignment__person__name", "active_seconds")
    assert set(times) == {("ada", 21.5), ("bo", 0.0)}


def test_responses_of_potato_need_a_source_with_the_items(world: World) -> None:
    with pytest.raises(ActionRefused, match=r"no questions and tables\. Import the examples first"):
        write(world, EXPORTS / "potato", "potato", fields=dict.fromkeys(FIELDS[5:], ""))


@pytest.mark.parametrize("is_zipped", [True, False])
def test_each_file_of_doccano_holds_the_labels_of_one_person(
    world: World, tmp_path: Path, is_zipped: bool
) -> None:
    folder = EXPORTS / "doccano" / "classes"
    path = zipped(folder, tmp_path / "doccano.zip") if is_zipped else folder

    done = write(world, path, "doccano", parts={"question": "text"})

    assert labels() == [
        ("ada", {"label": ["read"]}),
        ("ada", {"label": ["computed", "unsure"]}),
        ("bo", {"label": ["read"]}),
        ("bo", {"label": ["computed"]}),
        ("bo", {"label": ["unsure"]}),
    ]
    assert done.losses == [(1, "comments"), (1, "examples without a label")]
    assert [example.question for example in imported_examples(world)] == [
        "When was Heat made?",
        "Which film is older?",
        "Who made Alien?",
    ]
    assert [example.answers for example in imported_examples(world)] == [(), (), ()]


@pytest.mark.parametrize(
    ("project", "stored"),
    [
        ("texts", [("ada", {"label": "1995"}), ("bo", {"label": "In 1995.\nThe year 1995"})]),
        ("spans", [("ada", {"label_spans": '[[9,13,"FILM"]]'})]),
        ("intents", [("ada", {"cats": "ask", "entities_spans": '[[9,13,"FILM"]]'})]),
    ],
)
def test_labels_of_each_project_of_doccano_are_stored_as_they_were_given(
    world: World, project: str, stored: list[tuple[str, dict[str, Any]]]
) -> None:
    write(world, EXPORTS / "doccano" / project, "doccano", parts={"question": "text"})

    assert labels() == stored


def test_all_fields_of_a_task_of_prodigy_are_stored_as_they_were_entered(
    world: World, tmp_path: Path
) -> None:
    """In the form of https://prodi.gy/docs/api-interfaces: an interface of several blocks."""
    span = {"start": 0, "end": 4, "label": "FILM"}
    task = {
        "text": "Heat",
        "table": [["Film"], ["Heat"]],
        "_task_hash": 7,
        "options": [{"id": "a"}, {"id": "b"}],
    }
    answer = {"accept": ["b"], "user_input": "0", "spans": [span], "answer": "accept", "_annotator_id": "ada"}
    path = tmp_path / "films.jsonl"
    path.write_text(json.dumps({**task, **answer}), "utf-8")

    write(world, path, "prodigy", parts={"question": "text"})

    assert labels() == [
        ("ada", {"accept": "b", "user_input": "0", "spans": '[{"end":4,"label":"FILM","start":0}]'})
    ]


@pytest.mark.parametrize("tool", ["argilla", "potato", "doccano"])
def test_a_folder_without_the_files_of_the_tool_is_refused_with_a_remedy(
    world: World, tool: str, tmp_path: Path
) -> None:
    with pytest.raises(ActionRefused, match=r"no file matches .* (Name|name) "):
        look(world, tmp_path, tool)


LABEL_STUDIO_SDK = ["label-studio-sdk==2.1.2"]
ARGILLA = ["argilla==2.8.0", "requests"]
DOCCANO = ["doccano==1.8.4", "marshmallow<4", "numpy<2", "setuptools<81"]
"""doccano does not limit the last three itself, and does not start with newer ones."""


def environment(folder: Path, packages: list[str]) -> Path:
    """The Python of a new environment with these packages."""
    uv, python = Path(sys.executable).with_name("uv"), folder / "environment" / "bin" / "python"
    run(uv, "venv", "--quiet", "--python", sys.executable, folder / "environment")
    run(uv, "pip", "install", "--quiet", "--python", python, *packages)
    return python


def run(*command: Any) -> str:
    done = subprocess.run(list(map(str, command)), check=True, timeout=600, capture_output=True, text=True)
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "packages"),
    [
        ("argilla", ARGILLA),
        ("label_studio", LABEL_STUDIO_SDK),
        ("doccano", DOCCANO),
        ("potato", ["potato-annotation==2.12.1"]),
    ],
)
def test_the_stored_files_are_what_the_packages_write(tool: str, packages: list[str], tmp_path: Path) -> None:
    run(environment(tmp_path, packages), EXPORTS / f"make_{tool}.py", tmp_path / "out")

    assert contents(tmp_path / "out") == contents(EXPORTS / tool)


@pytest.mark.slow
def test_the_sdk_of_argilla_reads_the_export(world: World, tmp_path: Path) -> None:
    batch, _ = exported(world, tmp_path / "release")
    call_command("export_release", tmp_path / "release", tmp_path / "out", "--to", "argilla")

    text = run(
        environment(tmp_path, ARGILLA), EXPORTS / "read_argilla.py", tmp_path / "out" / batch.public_id
    )

    read = json.loads(text)
    assert read == {"name": batch.name, "questions": ["label", "askew"], "records": 3, "responses": 12}


def contents(folder: Path) -> dict[str, Any]:
    files = (path for path in folder.rglob("*.*") if path.is_file())
    return {path.relative_to(folder).as_posix(): records(path) for path in files}


def records(path: Path) -> Any:
    text = path.read_text("utf-8")
    if ".json" not in path.name:
        return text
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
