"""What a release writes: the publications' own forms, part 3 side by side, nothing that cannot be made or read again."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports import example_import
from annotation.models import Example, Outcome, Release, Try, Verdict
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, verification
from annotation.releases.freb_tqa_parts import PartThree
from annotation.workflow import automatic_decisions, perturbation_runs
from tableqa.readers import READERS
from tableqa.releases import record_files
from tableqa.releases.verification import describe
from tableqa.writers import hub
from tableqa.writers.freb_tqa import SIDES
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_contradicted import checked, edited
from tests.annotation.test_mixing import perturbed_thrice

LATER = NOON + timedelta(days=1)
STEM = "03_agg_com/tat_nonfactoid_dev_no_shuffle_"


def release(world: World, out: Path, format: str) -> dict[str, Any]:
    made = creation.make_release(
        project=world.project, name=out.name, format=format, by=None, now=LATER, out=out
    )
    verification.verify(out)
    return dict(made.manifest)


@pytest.mark.django_db(transaction=True)
def test_robut_is_written_as_arrays_with_each_original_once_and_its_folder_is_read_again(
    tmp_path: Path,
) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    run = perturbation_runs.plan_run(project=world.project, kinds=["row", "column"], seeds=[1, 2], now=NOON)
    perturbation_runs.perform(run)
    release(world, tmp_path / "robut", "robut")
    files = sorted((tmp_path / "robut").glob("wtq_dev_*.json"))
    held = {path.stem.rpartition("_")[2]: json.loads(path.read_text("utf-8")) for path in files}
    assert {"original", "row", "column", "synonym", "sentence"} <= held.keys()
    assert sorted(one["id"] for one in held["original"]) == [f"nu-{n}-original" for n in range(4)]
    for records in held.values():
        assert {one["original_id"] for one in records} <= {one["original_id"] for one in held["original"]}
    read = list(READERS["robut"](tmp_path / "robut"))
    assert len(read) == sum(map(len, held.values()))
    assert len({one.id for one in read}) == len(read)
    assert list(READERS["robut"].files(tmp_path / "robut")) == files


@pytest.mark.django_db(transaction=True)
def test_a_changed_or_added_record_of_an_array_is_found(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    release(world, tmp_path / "robut", "robut")
    path = tmp_path / "robut" / "wtq_dev_original.json"
    whole = path.read_text("utf-8")
    for other in (
        whole.replace("Heat", "Cold", 1),
        whole[:-2] + ",\n" + whole[1:],
        whole[:-2] + "\n",
        "[]\n",
    ):
        path.write_text(other, "utf-8")
        manifest = json.loads((tmp_path / "robut" / "manifest.json").read_text("utf-8"))
        manifest["files"] = describe(tmp_path / "robut")
        (tmp_path / "robut" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        with pytest.raises(record_files.Difference, match="wtq_dev_original"):
            verification.verify(tmp_path / "robut")


sides = st.lists(
    st.tuples(st.sampled_from(["a", "b", "a#2", "c", "d"]), st.sampled_from(SIDES)), max_size=14, unique=True
)


@given(sides)
def test_the_files_of_part_three_have_equal_ids_in_equal_order_and_who_lacks_a_side_is_named(
    given_sides: list[tuple[str, str]],
) -> None:
    part = PartThree()
    for id, side in given_sides:
        assert part.take(f"{STEM}{side}.json", {"id": id, "answers": [side]}, "tat", f"{id}~{side}")
    assert not part.take("01_str/tat_factoid_dev.json", {"id": "a"}, "tat", "a")
    files: dict[str, list[dict[str, Any]]] = {}
    for path, record, source, example in part.records():
        assert (source, example.partition("~")[2]) == ("tat", *record["answers"])
        files.setdefault(path.removeprefix(STEM).removesuffix(".json"), []).append(record)
    incomplete = files.pop("incomplete", [])
    assert len({tuple(one["id"] for one in records) for records in files.values()}) <= 1
    there = {side for _, side in given_sides}
    for records in files.values():
        assert files.keys() == there
        assert not {one["id"] for one in records} & {one["id"] for one in incomplete}
    asked = list(dict.fromkeys(id for id, _ in given_sides))
    told = [one["id"] for one in next(iter(files.values()), [])]
    assert sorted(asked) == sorted(told + [one["id"] for one in incomplete])
    assert told == [id for id in asked if id in told], "in the order in which they came"
    for one in incomplete:
        assert one["lacks"]
        assert set(one["lacks"]) == there - one.keys()
        assert {side for side in there if (one["id"], side) in given_sides} <= one.keys()


@pytest.mark.django_db(transaction=True)
def test_what_people_contradicted_is_not_imported_and_the_import_says_so(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    id = checked(world, "excluded", feeds_from=edited(world))
    checked(world, "excluded", only=["nu-1"])
    release(world, tmp_path / "askew", "askew")
    done = example_import.import_examples(
        project=world.project, reader="askew", path=tmp_path / "askew", name="again", now=LATER
    )
    assert done.report.left_out == (
        "Excluded because people contradicted their answer or that of their original: 1 (manifest.json, contradicted)."
    )
    rows = {row.external_id: row.example() for row in Example.objects.filter(source=done.source)}
    assert id not in rows
    assert rows["nu-1"].meta["contradicted"] == "excluded"
    assert "contradicted" not in rows["nu-0"].meta


@pytest.mark.django_db(transaction=True)
def test_the_card_says_how_many_examples_people_contradicted(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    checked(world, "excluded", feeds_from=edited(world))
    checked(world, "excluded", only=["nu-1"])
    release(world, tmp_path / "hf", "hf")
    card = (tmp_path / "hf" / hub.CARD).read_text("utf-8")
    assert "People contradicted the answer of 2 examples" in card
    assert "1 left out of the records; 1 that the sources gave stays as given." in card


@pytest.mark.django_db(transaction=True)
def test_judgements_on_a_run_that_is_not_finished_are_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path)
    monkeypatch.setattr(perturbation_runs, "ROWS", 2)

    def killed(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    asked: dict[str, Any] = {"project": world.project, "kinds": ["row_shuffle"], "seeds": [1], "now": NOON}
    with pytest.raises(KeyboardInterrupt):
        perturbation_runs.perform(perturbation_runs.plan_run(**asked), progress=killed)
    batch = world.batch("answer_check", of="automatic", overlap=1, size=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, {"answers": ["1995"], "unanswerable": False})
    with pytest.raises(ActionRefused, match=r"1 of row_shuffle.*Start the same run again") as refused:
        release(world, tmp_path / "early", "askew")
    assert refused.value.code == "run_unfinished"
    assert not Release.objects.exists()
    perturbation_runs.perform(perturbation_runs.plan_run(**asked))
    assert release(world, tmp_path / "later", "askew")["counts"]["annotations"] == 1


@pytest.mark.django_db(transaction=True)
def test_the_page_of_an_example_tells_verdicts_waivers_contracts_and_who_decided(
    tmp_path: Path, client: Client
) -> None:
    world = make_world(tmp_path)
    automatic_decisions.resolve_batch(batch=edited(world), now=LATER)
    perturbation_runs.perform(
        perturbation_runs.plan_run(project=world.project, kinds=["row_shuffle"], seeds=[7], now=NOON)
    )
    release(world, tmp_path / "v1", "askew")
    outcome = Outcome.objects.get(example__isnull=False)
    annotation = outcome.annotations.get()
    tried = Try.objects.create(
        assignment=annotation.assignment,
        annotation=annotation,
        kind=Try.Kind.SUBMISSION,
        predictor="bundled",
        model="bundled@abc",
        digest="0" * 64,
        asked={},
        response={},
        made_at=NOON,
    )
    for verdict in ("pending", "fooled"):
        Verdict.objects.create(of=tried, verdict=verdict, gold={}, judgements={}, made_at=NOON)
    with immutable_rows.writable():
        Release.objects.update(waivers={outcome.public_id: "Seen, and kept all the same."})
    client.force_login(world.rea)
    assert outcome.example is not None
    text = client.get(f"/examples/{outcome.example.public_id}/").content.decode()
    pseudonym = world.project.memberships.get(person=world.ada).pseudonym
    for said in (
        "original, films-dev",
        "value_change" if outcome.example.perturbation == "value_change" else outcome.example.perturbation,
        f"by {pseudonym}",
        "Contract: table",
        "Fooled: the model was right on the original and is wrong now. (bundled@abc)",
        "Released in v1 with a contract violation: Seen, and kept all the same.",
        "row_shuffle, seed 7",
        "by program (FREB-TQA)",
    ):
        assert said in text, said
    assert "Waiting for the model" not in text, "the newest verdict counts"
    assert text.count("Contract: table") == 2, "what programs make has a contract, too"
