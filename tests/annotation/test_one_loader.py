"""Every consumer of a release works on the examples that its benchmark files hold: purposes x formats x consumers.

One project has what makes the ids of files and of examples differ: two sources with the same ids, second edits, edits of
edits, mixes, automatic perturbations, machine proposals that nobody verified, and answers that people contradicted.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client, override_settings
from django.urls import reverse

from annotation.assistance import impressions
from annotation.models import Batch, Release
from annotation.releases import creation, mixes, raw_records, release_diff, verification
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.manifest import Manifest
from annotation.releases.model_evaluation import queries, runs
from annotation.workflow import automatic_decisions, perturbation_runs
from predictor.training.augment import read_release
from tableqa import Example, Table
from tableqa.readers import READERS, askew
from tableqa.releases import record_files, release_records
from tableqa.releases.verification import describe
from tableqa.scoring.matching import Instance
from tableqa.writers.freb_tqa import SIDES
from tableqa.writers.whole_examples import own_config
from tests.annotation.cast import FILMS, NOON, World, make_world
from tests.annotation.older_rules import made_by_rules
from tests.annotation.test_restoring import restore
from tests.undone import undone

LATER = NOON + timedelta(days=1)
PURPOSES = ("", "training", "evaluation")
GOLD = tuple(format for format in FORMATS if format != "lftqa")
MIX_SEED = 7
Key = tuple[str, str]


# -- the project ------------------------------------------------------------------------------------


def decide(world: World, batch: Batch, *responses: tuple[str, dict[str, Any]]) -> Batch:
    for who, data in responses:
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def renamed(new: str) -> dict[str, Any]:
    return {
        "operations": [{"op": "rename_header", "column": "c1", "at": 1, "old": "Year", "new": new}],
        "rejected": [],
    }


def changed(new: str, row: str = "r0", old: str = "1995") -> dict[str, Any]:
    edit = {"op": "set_cell", "row": row, "column": "c1", "at": [int(row[1:]), 1], "old": old, "new": new}
    return {"unanswerable": False, "operations": [edit], "answers": [new], "reason": ""}


def words(text: str) -> dict[str, Any]:
    return {"question": text, "category": "general"}


def helped(world: World) -> None:
    """Ada accepts a proposal as it was and edits another one: the first is verified by nobody."""
    batch = world.batch(
        "question_paraphrase", variant="sentence", help="offered", help_from={"rules": True}, size=2
    )
    for number in range(2):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        data = dict(impressions.show_proposals(assignment=assignment, now=NOON)[0]["data"])
        if number:
            data["question"] = data["question"].rstrip(".?") + " to all the cinemas of the land?"
        world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def contradict(world: World, **of: Any) -> None:
    batch = world.batch("answer_check", overlap=1, **of)
    while (assignment := world.take(batch, "cy")) is not None:
        world.answer(assignment, {"answers": ["1901"], "unanswerable": False})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)


def made(folder: Path) -> World:
    world = make_world(folder)
    table = Table(["Film", "Year", "Minutes"], FILMS)
    more = [
        Example(f"nu-{number}", f"in which year came {film[0]}?", table, [film[1]])
        for number, film in enumerate(FILMS[:2])
    ]
    beside = world.import_written(*more, name="more")
    run = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle", "mask_cell", "row"], seeds=[33, 16], now=NOON
    )
    perturbation_runs.perform(run)
    helped(world)
    first: dict[str, Any] = {"only": ["nu-0"]}
    decide(world, world.batch("question_type", **first), ("ada", {"label": "extraction"}))
    for source in (world.source, beside):
        for new in ("Released", "Out in"):
            decide(world, world.batch("header_synonym", **first, sources=[source]), ("ada", renamed(new)))
    for question in ("in which year was Heat released?", "Heat is a film of which year?"):
        sentence = world.batch("question_paraphrase", variant="sentence", **first)
        decide(world, sentence, ("ada", words(question)))
    for new in ("1996", "1997"):
        decide(world, world.batch("value_change", variant="answer_changes", **first), ("ada", changed(new)))
    cut = {"op": "remove_row", "row": "r3", "at": 3, "old": FILMS[3]}
    shortened = {"unanswerable": False, "whole": False, "operations": [cut], "program": None}
    short = decide(world, world.batch("short_table", only=["nu-1"]), ("ada", shortened))
    for new in ("1980", "1981"):
        fed: dict[str, Any] = {"sources": [], "feeds_from": short}
        changes = world.batch("value_change", variant="answer_changes", **fed)
        decide(world, changes, ("bo", changed(new, "r1", "1979")))
        stays = world.batch("value_change", variant="answer_stays", **fed)
        decide(world, stays, ("bo", {**changed(new), "answers": []}))
    wrong = decide(
        world,
        world.batch("value_change", variant="answer_changes", only=["nu-2"]),
        ("bo", changed("1980", "r2", "1979")),
    )
    contradict(world, sources=[], feeds_from=wrong)
    contradict(world, of="automatic", size=1)
    contradict(world, of="originals", only=["nu-3"])
    return world


@dataclass(frozen=True)
class ProjectReleases:
    """The releases of the project by purpose, what the page makes of the gold answers of each, and the edits it shows."""

    folders: Mapping[str, Path]
    page: Mapping[str, dict[str, Any]]
    asked_of_a_model: Mapping[str, int]
    shown: Mapping[str, set[Key]]


@pytest.fixture(scope="module")
def releases(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> ProjectReleases:
    folder = tmp_path_factory.mktemp("releases")
    folders, page, estimated, shown = {}, {}, {}, {}
    models = {"small": {"protocol": "chat", "url": "http://127.0.0.1:1/v1", "model": "small"}}
    with (
        django_db_blocker.unblock(),
        override_settings(MEDIA_ROOT=folder / "media", PREDICTORS=models),
        undone(),
    ):
        world = made(folder)
        for purpose in PURPOSES:
            out = folders[purpose] = folder / (purpose or "all")
            release = creation.make_release(
                project=world.project, name=out.name, format=FORMATS, by=world.rea, now=LATER, out=out,
                mix=MIX_SEED, purpose=purpose,
            )  # fmt: skip
            page[purpose] = evaluated_on_the_page(release, folder / "gold.jsonl")
            estimate = runs.estimate(release=release, name="Small", predictor="small")
            assert estimate is not None
            estimated[purpose] = estimate.requests
            edits = creation.changed_outcomes(release)
            shown[purpose] = set(edits.values_list("example__source__name", "example__external_id"))
            by_decision = creation.changed_items(release).filter(outcomes__in=edits)
            assert by_decision.count() == len(shown[purpose])
    return ProjectReleases(folders, page, estimated, shown)


def evaluated_on_the_page(release: Release, path: Path) -> dict[str, Any]:
    write_predictions(path, gold_of_files(creation.folder(release), "hf"))
    write_predictions(path, gold_of_files(creation.folder(release), "askew"), "a")
    upload = SimpleUploadedFile("gold.jsonl", path.read_bytes())
    assert release.made_by is not None
    job = runs.start(release=release, name="Gold", by=release.made_by, now=LATER, file=upload)
    job.refresh_from_db()
    result = job.result or runs._run_job(job, lambda done, total: None)
    judged = runs._judged_path(job, release).read_text("utf-8").splitlines()[1:]
    found = [json.loads(line) for line in judged]
    keys = [(line["instance"]["source"], line["instance"]["id"]) for line in found]
    return {**result, "keys": keys, "right": all(line["after"] for line in found)}


# -- what the files say, apart from the loader ---------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A record of a benchmark file with its gold answers: `perturb` as FREB-TQA's program names the file."""

    source: str
    id: str
    content: str
    answers: tuple[str, ...]
    perturb: str
    path: str


def records_of(folder: Path, format: str) -> Iterator[Record]:
    """The records of the files of a format that hold an example; what is proposed for training is none."""
    manifest = release_records.read_manifest(folder)
    names = {name: source for source, name in raw_records.load(folder).datasets.items()}
    for name in manifest["files"]:
        if Manifest.of(manifest).format_of(name) != format or Path(name).suffix not in (".json", ".jsonl"):
            continue
        inner = name.removeprefix(f"{format}/")
        if inner.startswith(("training/", "prompts/", "data/responses/", "data/decisions/", "harness/")):
            continue
        if inner in ("croissant.json", "answer_check.jsonl"):
            continue
        of = next(
            (
                source
                for read, source in names.items()
                if re.match(rf"{re.escape(read)}[_.]", Path(name).name)
            ),
            "",
        )
        match = (
            re.search("no_shuffle_(?!incomplete).*(?=[.])", inner) if inner.startswith("03_agg_com") else None
        )
        side = match[0] if match else ""
        for record in record_files.records(folder / name):
            if inner.startswith("data/") and own_config(record) != Path(inner).parent.name:
                continue
            source = record.get("source") or names.get(record.get("dataset", ""), of)
            answers = tuple(record["label"] if format == "suc" else record["answers"])
            yield Record(source, record["id"], content(record, answers), answers, side, inner)


def content(record: Mapping[str, Any], answers: tuple[str, ...]) -> str:
    table = record.get("table") or record["context"]
    if isinstance(table, list):
        table = {"header": table[0], "rows": table[1:]}
    question = record.get("question") or record["query"]
    return json.dumps([question, answers, table["header"], table["rows"]])


def in_files(folder: Path, format: str) -> set[Key]:
    """The examples in the files of a format: those of the file for Hugging Face with the same contents, and mixes."""
    by_content: dict[tuple[str, str], set[str]] = {}
    for one in records_of(folder, "hf"):
        by_content.setdefault((one.source, one.content), set()).add(one.id)
    found = {(one["source"], one["id"]) for one in originals(folder)} if format == "askew" else set()
    for one in records_of(folder, format):
        ids = {one.id} if "~mix-" in one.id else by_content[one.source, one.content]
        (id,) = ids & {one.id} or ids  # small tables come out of several seeds alike
        found.add((one.source, id))
    return found


def originals(folder: Path) -> Iterator[dict[str, Any]]:
    return (one for one in record_files.records(folder / "sources.jsonl") if one["kind"] == "example")


def gold_of_files(folder: Path, format: str) -> Iterator[dict[str, Any]]:
    """The gold answers of the files as predictions, by the ids that the files have."""
    for one in originals(folder) if format == "askew" else ():
        yield {name: one[name] for name in ("source", "id", "answers")}
    for record in records_of(folder, format):
        line = {"source": record.source, "id": record.id, "answers": list(record.answers)}
        yield {**line, **({"perturb": record.perturb, "seed": 0} if record.perturb else {})}


def write_predictions(path: Path, lines: Iterator[dict[str, Any]], mode: str = "w") -> Path:
    with path.open(mode, encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def alone(folder: Path, format: str, out: Path) -> Path:
    """The same release in one format only, as the platform would write it (`test_several_formats`)."""
    target = out / f"{folder.name}-{format}"
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(*FORMATS))
    for path in sorted((folder / format).rglob("*")) if (folder / format).is_dir() else ():
        if path.is_file():
            copy = target / path.relative_to(folder / format)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    manifest = release_records.read_manifest(target)
    del manifest["formats"]
    if format not in mixes.FORMATS:
        manifest["mix"] = None
    manifest |= {"layout": 1, "format": format, "files": describe(target)}
    (target / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return target


def asked(folder: Path, *formats: str) -> list[Instance]:
    return [one for one, _ in queries.instances(queries.load(folder, formats))]


def keys(instances: list[Instance]) -> set[Key]:
    found = [(one.source, one.id) for one in instances]
    assert len(found) == len(set(found))
    return set(found)


def evaluated(folder: Path, predictions: Path, *options: str) -> dict[str, Any]:
    printed = StringIO()
    call_command("evaluate", str(folder), f"--predictions={predictions}", *options, "--json", stdout=printed)
    (model,) = json.loads(printed.getvalue())["models"]
    return dict(model)


# -- purposes x formats --------------------------------------------------------------------------------


def test_the_project_has_what_makes_ids_of_files_and_of_examples_differ(releases: ProjectReleases) -> None:
    folder = releases.folders[""]
    found = {format: list(records_of(folder, format)) for format in GOLD}
    second = [(one.source, one.id, one.perturb) for one in found["freb_tqa"] if one.id.endswith("#2")]
    assert {("films-dev", "nu-1#2", f"no_shuffle_{side}") for side in SIDES} <= set(second)
    assert {"nu-0-synonym#2", "nu-0-sentence#2"} <= {one.id for one in found["robut"]}
    assert len({one.source for one in found["robut"] if one.id == "nu-0-synonym#2"}) == 2
    assert any("~mix-" in one.id for one in found["robut"])
    assert any(one.path.endswith("incomplete.json") for one in found["freb_tqa"])


@pytest.mark.parametrize("format", GOLD)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_ids_asked_are_those_of_the_files_and_their_gold_answers_are_all_right(
    releases: ProjectReleases, tmp_path: Path, purpose: str, format: str
) -> None:
    together = releases.folders[purpose]
    single = alone(together, format, tmp_path)
    expected = in_files(together, format)
    gold = write_predictions(tmp_path / "gold.jsonl", gold_of_files(single, format))

    assert keys(asked(single)) == keys(asked(together, format)) == expected
    assert len(expected) > 5
    for folder, options in ((single, ()), (together, (f"--benchmark={format}",))):
        model = evaluated(folder, gold, *options)
        assert model["missing"] == 0
        assert {row["after"]["value"] for rows in model["by_rule"].values() for row in rows} == {1.0}
        assert queries.count_pending(queries.load(folder, [format]), {}) == len(expected)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_all_formats_together_are_asked_for_what_their_files_hold(
    releases: ProjectReleases, purpose: str
) -> None:
    folder = releases.folders[purpose]

    expected = set().union(*(in_files(folder, format) for format in GOLD))

    assert keys(asked(folder)) == expected
    page = releases.page[purpose]
    assert (page["instances"], page["missing"], page["right"]) == (len(expected), 0, True)
    assert set(page["keys"]) == expected
    assert releases.asked_of_a_model[purpose] == len(expected)
    derived = raw_records.load(folder).derived
    assert releases.shown[purpose] == {key for key in expected if key in derived}


# -- the other consumers -------------------------------------------------------------------------------


def published(examples: Iterator[Example], first_source: str) -> set[Key]:
    """(source, id) of examples that the reader "askew" gives: an id that two sources have is numbered there."""
    found = []
    for one in examples:
        lineage = one.meta.get("lineage", {})
        found.append((lineage.get("source", first_source), lineage.get("id", one.id)))
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_readers_and_test_sets_of_training_give_the_same_examples(
    releases: ProjectReleases, purpose: str
) -> None:
    folder = releases.folders[purpose]
    expected, first = in_files(folder, "askew"), next(originals(folder))["source"]

    assert published(READERS["askew"](folder), first) == expected
    assert published((one.example for one in read_release(folder)), first) == expected
    with_proposals = read_release(folder, proposals=True)
    assert (len(with_proposals) > len(expected)) == (purpose == "training")
    for format in ("freb_tqa", "robut", "suc"):
        for name in {record.path for record in records_of(folder, format)}:
            path = folder / format / name
            assert len(list(READERS[format](path))) == len(list(record_files.records(path))), name
    assert len(list(READERS["hf"](folder / "hf"))) == len(in_files(folder, "hf"))


@pytest.mark.parametrize("format", GOLD)
def test_a_release_for_evaluation_differs_from_the_whole_by_what_nobody_verified(
    releases: ProjectReleases, format: str
) -> None:
    before, after = releases.folders[""], releases.folders["evaluation"]
    (unverified,) = release_records.read_manifest(after)["unverified"]
    expected = {(unverified["source"], unverified["id"])} & in_files(before, format)

    assert without_mixes(in_files(before, format)) - without_mixes(in_files(after, format)) == expected
    assert without_mixes(in_files(after, format)) <= in_files(before, format)
    found = release_diff.diff_releases(before, after)
    assert "purpose: none -> evaluation" in found.manifest
    files = [
        one
        for one in found.files
        if one.format == format
        and re.search(r"\.jsonl?$", one.name)
        and not re.search("mix|combined|prompts", one.name)
    ]
    assert not any(one.added for one in files)
    removed = {record for one in files for record in one.removed}
    assert len(removed) == len(expected)
    if format not in ("freb_tqa", "robut"):  # RobuT's second edit is its first, now
        assert {record.split()[-1] for record in removed} == {unverified["id"]}


def without_mixes(found: set[Key]) -> set[Key]:
    return {key for key in found if "~mix-" not in key[1]}


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_project_that_is_restored_releases_the_same_examples(
    releases: ProjectReleases, tmp_path: Path, settings: Any, purpose: str
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    before = releases.folders[purpose]
    project = restore(before).project
    project.refresh_from_db()
    options = project.release

    creation.make_release(
        project=project,
        name="again",
        format=options["formats"],
        by=None,
        now=LATER,
        out=tmp_path / "after",
        mix=options["mix"],
        purpose=options.get("purpose", ""),
    )

    after = tmp_path / "after"
    assert keys(asked(after)) == keys(asked(before))
    manifests = [release_records.read_manifest(folder) for folder in (before, after)]
    for name in ("contradicted", "unverified", "mix", "automatic"):
        assert manifests[0].get(name) == manifests[1].get(name)
    for format in GOLD:
        assert in_files(after, format) == in_files(before, format)


# -- what a manifest says of its exclusions ------------------------------------------------------------


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_release_verifies_and_a_list_of_exclusions_that_does_not_fit_is_found(
    releases: ProjectReleases, tmp_path: Path, purpose: str
) -> None:
    verification.verify(releases.folders[purpose])
    forged = tmp_path / "forged"
    shutil.copytree(releases.folders[purpose], forged)
    manifest = release_records.read_manifest(forged)
    assert ("unverified" in manifest) == (purpose == "evaluation")
    source, id = next(iter(keys(asked(forged))))

    rewrite(forged, unverified=[*manifest.get("unverified", ()), {"source": source, "id": id}])

    with pytest.raises(record_files.Difference, match="unverified is"):
        verification.verify(forged)


def test_a_release_of_an_older_version_lists_nothing_and_leaves_out_the_same(
    releases: ProjectReleases, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    before = releases.folders["evaluation"]
    shutil.copytree(before, old)
    manifest = release_records.read_manifest(old)
    assert "unverified" not in made_by_rules(old, 8)

    verification.verify(old)
    assert keys(asked(old)) == keys(asked(before))
    assert "unverified machine proposals: 1" in askew.READER.left_out(before)
    assert "does not list its unverified" in askew.READER.left_out(old)
    first = next(originals(old))["source"]
    more = published(READERS["askew"](old), first) - published(READERS["askew"](before), first)
    assert [(one["source"], one["id"]) for one in manifest["unverified"]] == list(without_mixes(more))


def rewrite(folder: Path, **changes: Any) -> None:
    manifest = release_records.read_manifest(folder) | changes
    kept = {
        name: value for name, value in manifest.items() if value is not None or name in ("mix", "automatic")
    }
    (folder / "manifest.json").write_text(json.dumps(kept), "utf-8")


def test_a_raw_is_made_by_the_loader_and_by_what_writes_its_files() -> None:
    annotation = Path(creation.__file__).parents[1]
    made = {
        path.name: len(re.findall(r"\bRaw\(", path.read_text("utf-8"))) for path in annotation.rglob("*.py")
    }
    assert {name: number for name, number in made.items() if number} == {
        "raw_records.py": 1,
        "release_files.py": 1,
    }


def test_a_raw_takes_purpose_rules_and_exclusions_from_its_manifest_alone(releases: ProjectReleases) -> None:
    for purpose, folder in releases.folders.items():
        raw = raw_records.load(folder)
        manifest = release_records.read_manifest(folder)
        assert (raw.purpose, raw.rules) == (purpose, manifest["rules"])
        lists = [*manifest["contradicted"], *manifest.get("unverified", ())]
        assert raw.excluded == {(one["source"], one["id"]) for one in lists if one.get("left_out", True)}
        assert len(raw.excluded) == 2 + (purpose == "evaluation")


# -- lftqa, which holds no gold ------------------------------------------------------------------------


def test_a_release_without_gold_answers_is_refused_by_name(releases: ProjectReleases, tmp_path: Path) -> None:
    folder = alone(releases.folders[""], "lftqa", tmp_path)
    file = write_predictions(tmp_path / "gold.jsonl", gold_of_files(releases.folders[""], "hf"))
    for path, options in ((folder, ()), (releases.folders[""], ("--benchmark=lftqa",))):
        with pytest.raises(CommandError, match="format lftqa holds no gold answers"):
            evaluated(path, file, *options)
    with pytest.raises(CommandError, match=r"no files in the format 'csv'\. Available: askew, freb_tqa"):
        evaluated(releases.folders[""], file, "--benchmark=csv")


@pytest.mark.django_db(transaction=True)
def test_the_page_refuses_a_release_without_gold_answers(world: World, settings: Any) -> None:
    settings.PREDICTORS = {"small": {"protocol": "chat", "url": "http://127.0.0.1:1/v1", "model": "small"}}
    decide(world, world.batch("question_type", only=["nu-0"]), ("ada", {"label": "extraction"}))
    release = creation.make_release(project=world.project, name="v1", format="lftqa", by=world.rea, now=LATER)
    rea = Client()
    rea.force_login(world.rea)
    for sent in (
        {"predictor": "small"},
        {"file": SimpleUploadedFile("a.jsonl", b'{"id": "nu-0", "answers": []}\n')},
    ):
        page = rea.post(reverse("evaluations", args=[release.public_id]), {"name": "Gold", **sent})
        assert "The format lftqa holds no gold answers" in page.content.decode()
    assert not runs.runs(release).exists()
