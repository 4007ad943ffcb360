"""What a release writes is what importing it reads: every format, every kind, and the real files of the publications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.imports import example_import
from annotation.models import Example as Row
from annotation.models import Source
from annotation.platform.refusals import ActionRefused
from annotation.queue import resolutions
from annotation.releases import benchmark_files, creation, raw_records, release_files, verification
from annotation.releases.raw_records import Raw
from annotation.workflow import (
    adjudication,
    assignments,
    automatic_decisions,
    batches,
    perturbation_runs,
    projects,
)
from tableqa import Example, Table
from tableqa.core.canonical_json import canonical
from tableqa.data.positional_ids import with_positional_ids
from tableqa.readers import READERS, ReaderError
from tableqa.releases import record_files, release_records
from tableqa.releases.release_records import CURRENT_COUNTS
from tableqa.releases.verification import describe
from tableqa.writers import freb_tqa as freb
from tableqa.writers import hub_features, robut, suc
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.older_rules import without_history
from tests.annotation.test_every_kind import KINDS, annotate, planned
from tests.annotation.test_mixing import perturbed_thrice
from tests.tasks.test_contract import sample

LATER = NOON + timedelta(days=1)
NAMES = [f"{task.key}-{variant}" if variant else task.key for task, variant in KINDS]
RATED = {
    "rated_answer": {"text": "It was “Heat”,\nin 1995.", "system": "model/a 1.5"},
    "example_id": "fetaqa_7",
    "reference": "Heat, in 1995.",
    "metrics": {"rouge": 0.25, "geval_gpt-4o_faithfulness": 4, "a/b": 1.5},
}


def released(world: World, out: Path, format: str, mix: int | None = None) -> Path:
    creation.make_release(
        project=world.project, name=out.name, format=format, by=None, now=LATER, out=out, mix=mix
    )
    verification.verify(out)
    return out


def raw_of(folder: Path) -> Raw:
    return raw_records.load(folder)


def lines(path: Path) -> list[dict[str, Any]]:
    return list(record_files.records(path))


def films(world: World) -> Table:
    """The table of the world's own questions."""
    return Row.objects.filter(source=world.source)[0].example().table


def settled(world: World, *kinds: tuple[Any, str]) -> None:
    """Batches of these kinds over their own samples, annotated and decided."""
    for task, variant in kinds:
        batch = planned(world, task, variant)
        annotate(world, batch)
        batches.close_batch(batch=batch, by=world.mara, now=NOON)
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
        for item in list(resolutions.waiting(batch)):
            adjudication.decide(item=item, by=world.ivo, note="Read again.", choose=["A"], now=LATER)


def said_well(world: World, task: Any, variant: str) -> None:
    """A batch over the kind's own samples, in which everybody gives the first good response of the sample."""
    found = sample(task)
    items = found["items"]
    good = {
        items[one["item"]].example.id: one["data"]
        for one in reversed(found["good"])
        if items[one["item"]].variant == variant
    }
    batch = planned(world, task, variant)
    for who in ("ada", "bo", "cy"):
        while (assignment := world.take(batch, who)) is not None:
            id = assignment.item.example.external_id
            if id in good:
                world.answer(assignment, good[id])
            else:
                assignments.skip(assignment=assignment, reason="other", now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def part_three(*files: str) -> set[str]:
    return {f"03_agg_com/written_nonfactoid_no_shuffle_{file}.json" for file in files}


def perturbed_and_not(kind: str) -> set[str]:
    return {f"written_{name}.json" for name in ("original", kind)}


def originals_and_derived(raw: Raw) -> Iterator[Example]:
    for source, id in raw.originals:
        yield raw.example(source, id)
    for source, id in raw.derived:
        yield raw.example(source, id)


def said(example: Example) -> list[Any]:
    """What every form has a place for."""
    table = example.table
    return [example.question, list(example.answers), list(table.header), [list(row) for row in table.rows]]


# -- Askew's own ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("task", "variant"), KINDS, ids=NAMES)
def test_a_release_of_any_kind_is_read_again_whole(task: Any, variant: str, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    settled(world, (task, variant))
    out = released(world, tmp_path / "release", "askew")
    expected, found = list(originals_and_derived(raw_of(out))), list(READERS["askew"](out))
    assert [said(example) for example in found] == [said(example) for example in expected]
    for before, now in zip(expected, found, strict=True):
        assert now.id == before.id
        assert now.table.to_dict() == before.table.to_dict()
        assert (now.context, now.history) == (before.context, before.history)
        if "lineage" not in now.meta:
            assert now == before


@pytest.mark.django_db(transaction=True)
def test_a_release_is_imported_into_another_project_with_its_lineage(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    out = released(world, tmp_path / "release", "askew", mix=7)
    other = make_world_beside(world)
    done = example_import.import_examples(
        project=other, reader="askew", path=out, name="films again", now=NOON, by=world.mara
    )
    rows = Row.objects.filter(source=done.source).select_related("stored_table").order_by("position")
    assert [row.example() for row in rows] == list(READERS["askew"](out))
    assert (done.source.licence, done.source.url) == (world.source.licence, world.source.url)
    edited = next(row.example() for row in rows if row.external_id.startswith("nu-0~answer_changes"))
    assert edited.table.rows[0][1] == "1996"
    lineage = edited.meta["lineage"]
    assert (lineage["parent"], lineage["perturbation"]) == ("nu-0", "answer_changes")
    assert [operation["op"] for operation in lineage["operations"]] == ["set_cell"]
    mixes = [example for example in READERS["askew"](out) if "parts" in example.meta.get("lineage", {})]
    assert [example.table.to_dict()["header"] for example in mixes] == [
        record["table"]["header"] for record in lines(out / "mix.jsonl")
    ]
    assert len(mixes) == 4
    again = example_import.import_examples(
        project=other, reader="askew", path=out, name="films again", now=NOON, by=world.mara
    )
    assert not again.new


def make_world_beside(world: World) -> Any:
    from annotation.workflow import projects

    return projects.create_project(slug="other", name="Other", manager=world.mara, now=NOON)


@pytest.mark.django_db(transaction=True)
def test_an_id_of_two_sources_is_numbered_and_reported(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    twin = world.import_written(Example("nu-0", "another?", films(world), []))
    for source in (world.source, twin):
        batch = world.batch("question_type", sources=[source], name=f"of {source.name}")
        while (assignment := world.take(batch, "ada")) is not None:
            world.answer(assignment, {"label": "extraction"})
    out = released(world, tmp_path / "release", "askew")
    done = example_import.import_examples(
        project=make_world_beside(world), reader="askew", path=out, name="both", now=NOON, by=world.mara
    )
    assert done.numbered == ("nu-0#2",)
    found = {example.id: example for example in READERS["askew"](out)}
    assert found["nu-0#2"].meta["lineage"]["id"] == "nu-0"
    assert done.source.licence == "CC-BY-SA-4.0 AND MIT"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format", ["askew", "robut", "hf"])
def test_automatic_perturbations_are_made_again_from_their_seeds(tmp_path: Path, format: str) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    planned = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle", "row", "transpose"], seeds=[33, 16], now=NOON
    )
    perturbation_runs.perform(planned)
    out = released(world, tmp_path / "release", format)
    expected = {
        f"{line['original']}~{line['kind']}-{line['seed']}": line["digest"]
        for line in lines(out / "perturbations.jsonl")
        if "digest" in line
    }
    assert len(expected) > 8
    readers = ["askew", "hf"] if format == "hf" else ["askew"]
    for name in readers:
        found = {one.id: one for one in READERS[name](out) if "seed" in one.meta.get("lineage", {})}
        assert {id: one.table.digest() for id, one in found.items()} == expected
        assert {one.meta["lineage"]["perturbation"] for one in found.values()} == {
            "row_shuffle",
            "row",
            "transpose",
        }


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["sources.jsonl", "decisions.jsonl", "manifest.json"])
def test_a_release_with_a_damaged_file_is_refused_whole(tmp_path: Path, name: str) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    out = released(world, tmp_path / "release", "askew")
    damaged = out / name
    damaged.write_bytes(damaged.read_bytes()[:-20])
    with pytest.raises(ReaderError, match=name):
        list(READERS["askew"](out))


# -- the published forms ----------------------------------------------------------------------------


PUBLISHED = {
    "question_type": ("freb_tqa", {"question_type.json", "01_str/written_factoid.json"}),
    "cell_relevance": ("freb_tqa", {"cell_relevance.json"}),
    "relevant_cells": ("freb_tqa", {"02_rel/written_nonfactoid.json"}),
    "short_table": ("freb_tqa", part_three("ori_table", "short_table")),
    "value_change-answer_changes": ("freb_tqa", part_three("ori_table", "ans_change")),
    "value_change-answer_stays": ("freb_tqa", part_three("incomplete")),
    "header_synonym": ("robut", perturbed_and_not("synonym")),
    "header_abbreviation": ("robut", perturbed_and_not("abbreviation")),
    "column_extension": ("robut", perturbed_and_not("extend")),
    "column_masking": ("robut", perturbed_and_not("masked")),
    "column_adding": ("robut", perturbed_and_not("add")),
    "question_paraphrase-word": ("robut", perturbed_and_not("word")),
    "question_paraphrase-sentence": ("robut", perturbed_and_not("sentence")),
}
"""The kinds that come out in a published form of questions: which form, and in which files."""
WRITERS = {"freb_tqa": freb.published_record, "robut": robut.published_record}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", PUBLISHED)
def test_every_file_of_a_release_in_a_published_form_is_read_and_written_again(
    key: str, tmp_path: Path
) -> None:
    format, names = PUBLISHED[key]
    world = make_world(tmp_path)
    said_well(world, *next(one for one, name in zip(KINDS, NAMES, strict=True) if name == key))
    out = released(world, tmp_path / "release", format)
    files = release_records.read_manifest(out)["files"]
    assert {name for name in files if benchmark_files.is_benchmark(name)} == names
    expected = {canonical(said(example)) for example in originals_and_derived(raw_of(out))}
    for name in sorted(names):
        if name.endswith(
            "incomplete.json"
        ):  # one edit of an original, one of a short table: no question has both
            assert {tuple(one["lacks"]) for one in lines(out / name)} == {("ori_table",), ("short_table",)}
        found, records = list(READERS[format](out / name)), lines(out / name)
        again = [canonical(WRITERS[format](example)) for example in found]
        assert again == [canonical(record) for record in records]
        if not name.endswith("incomplete.json"):
            assert {canonical(said(example)) for example in found} <= expected


@pytest.mark.django_db(transaction=True)
def test_what_lacks_a_side_was_no_item_by_earlier_rules(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    kind = next(one for one, name in zip(KINDS, NAMES, strict=True) if name == "value_change-answer_stays")
    said_well(world, *kind)
    out = released(world, tmp_path / "release", "freb_tqa")
    (path,) = out.rglob("*incomplete.json")
    records = [
        {name: one[name] for name in one.keys() - {"question", "answers", "table"}} for one in lines(path)
    ]
    release_files.write_records(path, records)
    manifest = release_records.read_manifest(out) | {"rules": 3}
    without_history(out, manifest)
    manifest["files"] = describe(out)
    manifest["counts"] = {name: n for name, n in manifest["counts"].items() if name not in CURRENT_COUNTS}
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert verification.verify(out)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format", benchmark_files.FORMATS)
def test_a_project_that_holds_imports_only_is_released(format: str, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    out = released(world, tmp_path / "release", format)
    imported = [row.example() for row in Row.objects.filter(source=world.source).order_by("pk")]
    assert [said(one) for one in originals_and_derived(raw_of(out))] == [said(one) for one in imported]
    assert release_records.read_manifest(out)["counts"]["annotations"] == 0
    assert [said(one) for one in READERS["askew"](out)] == [said(one) for one in imported]


@pytest.mark.django_db(transaction=True)
def test_a_project_without_imports_has_nothing_to_release(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    empty = projects.create_project(slug="empty", name="Empty", manager=world.people["mara"], now=NOON)
    with pytest.raises(ActionRefused, match="Import a dataset first"):
        creation.make_release(project=empty, name="v1", format="askew", by=None, now=LATER)


@pytest.mark.django_db(transaction=True)
def test_a_release_for_hugging_face_keeps_its_licence_when_it_is_imported(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    out = released(world, tmp_path / "release", "hf")
    done = example_import.import_examples(
        project=world.project, reader="hf", path=out, name="again", split="test", now=LATER
    )
    again, first = done.source, Source.objects.get(pk=world.source.pk)
    assert again.licence == first.licence
    own, *of_sources = again.citation.splitlines()
    assert "Films, release" in own
    assert (of_sources, again.url) == ([first.citation], ""), (
        "the address of a source is not that of a release"
    )
    assert first.licence not in ("", "NOASSERTION")


@pytest.mark.django_db(transaction=True)
def test_mixes_of_robut_lie_in_a_file_for_each_dataset(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    out = released(world, tmp_path / "release", "robut", mix=7)
    found = list(READERS["robut"](out / "wtq_dev_combined.json"))
    assert {example.meta["perturbation_type"] for example in found} == {"combined"}
    assert {example.meta["original_id"] for example in found} == {"nu-0"}
    assert not (out / "mix.jsonl").exists()
    assert [robut.published_record(example) for example in found] == lines(out / "wtq_dev_combined.json")


@pytest.mark.django_db(transaction=True)
def test_rated_answers_come_back_with_the_scores_of_people_and_metrics(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    table = films(world)
    rated = Example("fetaqa_7~a", "which?", table, ["Heat, in 1995."], meta=RATED)
    nameless = Example("x", "and?", table, [], meta={"rated_answer": {"text": "Alien.", "system": ""}})
    batch = world.batch("answer_rating", sources=[world.import_written(rated, nameless)])
    for who, scores in (("ada", (5, 4)), ("bo", (4, 4))):
        while (assignment := world.take(batch, who)) is not None:
            world.answer(assignment, dict(zip(("faithfulness", "comprehensiveness"), scores, strict=True)))
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    out = released(world, tmp_path / "release", "lftqa")
    (folder,) = (out / "scores").iterdir()
    assert folder.name == Source.objects.get(pk=rated_source(world)).name
    first, second = READERS["lftqa"](folder)
    assert said(first) == said(rated)
    assert first.id == "fetaqa_7~model/a 1.5"
    assert {name: first.meta[name] for name in RATED} == RATED | {"rated_answer": RATED["rated_answer"]}
    assert first.meta["human"] == {"faithfulness": 4.5, "comprehensiveness": 4}
    assert (second.meta["rated_answer"], second.answers) == ({"text": "Alien.", "system": ""}, ())


def rated_source(world: World) -> int:
    return int(Source.objects.filter(project=world.project).latest("pk").pk)


# -- whole examples, whatever made them ---------------------------------------------------------------


MADE = ("header_synonym", "answer_changes", "sentence")
"""What `perturbed_thrice` makes."""


def every_level(world: World, out: Path, format: str) -> tuple[list[Example], Path]:
    """A release of originals and of edits at three levels, and its examples as the raw records give them."""
    perturbed_thrice(world)
    released(world, out, format)
    return [with_positional_ids(example) for example in originals_and_derived(raw_of(out))], out


@pytest.mark.django_db(transaction=True)
def test_a_dataset_for_hugging_face_is_read_again_whole(tmp_path: Path) -> None:
    expected, out = every_level(make_world(tmp_path), tmp_path / "release", "hf")
    expected = sorted(expected, key=lambda one: one.id)
    found = sorted(READERS["hf"](out), key=lambda one: one.id)
    assert [(one.id, said(one), one.context, one.history, one.program) for one in found] == [
        (one.id, said(one), one.context, one.history, one.program) for one in expected
    ]
    for before, now in zip(expected, found, strict=True):
        meta = {name: value for name, value in now.meta.items() if name != "lineage"}
        assert meta == dict(before.meta)
    assert {one.meta["lineage"]["perturbation"] for one in found if "lineage" in one.meta} == set(MADE)
    names = set(release_records.read_manifest(out)["files"])
    assert {"README.md", "DATA_STATEMENT.md", "croissant.json", "data/original/dev.jsonl"} <= names
    assert hub_features.PARQUET_OF_SETS["examples"] in names
    assert "cc-by-sa-4.0" in (out / "README.md").read_text("utf-8")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["README.md", "croissant.json", "data/original/dev.jsonl"])
def test_what_lies_beside_the_records_follows_from_them(tmp_path: Path, name: str) -> None:
    _, out = every_level(make_world(tmp_path), tmp_path / "release", "hf")
    path = out / name
    path.write_text(path.read_text("utf-8").replace("films-dev", "films-dex", 1), "utf-8")
    manifest = release_records.read_manifest(out)
    manifest["files"] = describe(out)
    (out / "manifest.json").write_text(canonical(manifest) + "\n")
    with pytest.raises(record_files.Difference, match=name):
        verification.verify(out)


@pytest.mark.django_db(transaction=True)
def test_tables_and_prompts_of_suc(tmp_path: Path) -> None:
    expected, out = every_level(make_world(tmp_path), tmp_path / "release", "suc")
    found = list(READERS["suc"](out / "tables" / "wtq_dev.jsonl"))
    assert [(one.id, said(one)) for one in found] == [(one.id, said(one)) for one in expected]
    assert [suc.published_record(one) for one in found] == lines(out / "tables" / "wtq_dev.jsonl")
    prompts = lines(out / "prompts" / "wtq_dev.jsonl")
    assert [set(prompt) for prompt in prompts] == [{"prompt", "completion"}] * len(expected)
    for prompt, one in zip(prompts, expected, strict=True):
        assert one.question in prompt["prompt"]
        assert all(cell in prompt["prompt"] for row in one.table.rows for cell in row)
        assert prompt["completion"] == "|".join(one.answers)


@pytest.mark.django_db(transaction=True)
def test_records_of_torr_are_what_unitxt_takes_for_a_table(tmp_path: Path) -> None:
    expected, out = every_level(make_world(tmp_path), tmp_path / "release", "torr")
    names = [f"torr/wtq_dev_{kind}.jsonl" for kind in ("original", *MADE)]
    found = [record for name in names for record in lines(out / name)]
    assert sorted(record["id"] for record in found) == sorted(one.id for one in expected)
    for record in found:
        one = next(one for one in expected if one.id == record["id"])
        assert [
            record["question"],
            record["answers"],
            record["context"]["header"],
            record["context"]["rows"],
        ] == said(one)
        assert record["context_type"] == "table"


# -- the real files ---------------------------------------------------------------------------------


def test_published_files_of_freb_tqa_are_written_again_record_for_record(test_data: Path) -> None:
    files = sorted((test_data / "freb_tqa").glob("0*/*.json"))
    files += sorted((test_data / "freb_tqa").glob("0*/*/*.json"))
    assert len(files) == 8
    for path in files:
        with path.open(encoding="utf-8") as published:
            for line, example in zip(published, READERS["freb_tqa"](path), strict=True):
                assert freb.published_record(example) == json.loads(line), (path.name, example.id)
