"""What tampering with a release is noticed: without a key by verification, and with the key of its site always.

Each change is made as a careful forger would: checksums are rewritten, and a consistent forgery derives everything again
with the functions of the product. `UNNOTICED` are those that nothing in the release contradicts: a signature names them.
"""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Item
from annotation.releases import (
    benchmark_files,
    creation,
    raw_records,
    release_files,
    signing,
    study_history,
    verification,
)
from annotation.releases.manifest import Manifest, figures
from annotation.workflow import adjudication, automatic_decisions
from tableqa.core.canonical_json import digest
from tableqa.releases.public_sources import PublicFiles, compare_source
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import ReleaseRecords
from tableqa.releases.signatures import check_signature, fingerprint
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World

LATER = NOON + timedelta(seconds=61)
VERIFIER = Path(__file__).parents[2] / "verifier"
Record = dict[str, Any]


class ForgedRelease:
    """The records of a release, to be changed and written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: Record = json.loads((folder / "manifest.json").read_text("utf-8"))
        for name in ("sources", "annotations", "decisions"):
            setattr(
                self, name, [json.loads(line) for line in (folder / f"{name}.jsonl").open(encoding="utf-8")]
            )

    sources: list[Record]
    annotations: list[Record]
    decisions: list[Record]

    def of(self, kind: str) -> list[Record]:
        """The records of sources.jsonl of a kind."""
        return [record for record in self.sources if record["kind"] == kind]

    @property
    def labels(self) -> list[Record]:
        """The annotations with a label, and the decisions and outcomes about them."""
        return [record for record in self.annotations if record["response"]["type"] == "question_type"]

    @property
    def edit(self) -> Record:
        """The example that the accepted edit made."""
        return next(
            outcome["example"]
            for record in self.decisions
            for outcome in record["outcomes"]
            if outcome["example"]
        )

    @property
    def adjudicated(self) -> Record:
        return next(record for record in self.decisions if record["by"] != "resolve" and record["outcomes"])

    def write(self, *, consistent: bool = False) -> None:
        """Write the records with their checksums; consistent: and all that follows from them."""
        for name in ("sources", "annotations", "decisions"):
            release_files.write_records(self.folder / f"{name}.jsonl", getattr(self, name))
        if consistent:
            self._derive()
        self.manifest["files"] = describe(self.folder)
        self._write_manifest()

    def _derive(self) -> None:
        for name in self.manifest["files"]:
            if Manifest.of(self.manifest).format_of(name):
                (self.folder / name).unlink(missing_ok=True)
        self._write_manifest()
        raw = raw_records.load(self.folder)
        self.manifest |= {
            "sources": [record for _, record in sorted(raw.sources.items())],
            "counts": raw.counts(),
            "exclusions": study_history.exclusions(raw),
            "agreement": figures(raw, exact=True),
            "contradicted": raw.contradicted,
            "dates": {"first": raw.first_made_at, "last": raw.last_made_at},
        }
        self._write_manifest()
        raw = raw_records.load(self.folder)
        benchmark_files.write_derived(raw, Manifest.of(self.manifest).every_format)
        release_files.write_beside(raw, Manifest.of(self.manifest))

    def _write_manifest(self) -> None:
        release_files.write_records(self.folder / "manifest.json", [self.manifest])


Change = Callable[[ForgedRelease], object]


def each(records: list[Record], **values: Any) -> None:
    for record in records:
        record.update(values)


def reverse(forged: ForgedRelease) -> None:
    forged.annotations.reverse()


def drop(records: list[Record], *dropped: Record) -> None:
    records[:] = [record for record in records if record not in dropped]


def change_settings(forged: ForgedRelease) -> None:
    batch = forged.manifest["batches"][0]
    batch["settings"] = {**batch["settings"], "forged": True}
    batch["settings_digest"] = digest(batch["settings"])


def change_response(record: Record, **data: Any) -> None:
    record["response"]["data"].update(data)


def change_label(record: Record) -> None:
    is_reasoning = record["response"]["data"]["label"] == "reasoning"
    change_response(record, label="extraction" if is_reasoning else "reasoning")


def drop_statistics(forged: ForgedRelease, *names: str) -> None:
    forged.manifest["agreement"] = [
        figure for figure in forged.manifest["agreement"] if figure["statistic"] not in names
    ]


def drop_statistics_and_rebuild(forged: ForgedRelease) -> None:
    drop_statistics(forged, "fleiss_kappa", "krippendorff_alpha_nominal")
    release_files.write_beside(raw_records.load(forged.folder), Manifest.of(forged.manifest))


def set_cell_alone(forged: ForgedRelease) -> None:
    forged.of("table")[0]["content"]["rows"][0][0] = "ForgedRelease"


def change_cell(forged: ForgedRelease) -> None:
    """A cell that nobody edited, with the digests of the table and of the edited one."""
    forged.of("table")[0]["content"]["rows"][3][0] = "ForgedRelease"
    table = forged.of("table")[0]
    former, table["digest"] = table["digest"], digest(table["content"])
    edited = json.loads(json.dumps(table["content"]))
    edited["rows"][0][1] = "1996"
    example = forged.edit
    text_of_edit = example["digest"], digest(edited)
    for name in ("sources", "annotations", "decisions"):
        text = json.dumps(getattr(forged, name)).replace(former, table["digest"]).replace(*text_of_edit)
        setattr(forged, name, json.loads(text))


def unanimous(forged: ForgedRelease) -> None:
    """All minority labels are those of the decision."""
    for decision in forged.decisions:
        for outcome in decision["outcomes"]:
            if outcome["response"]["type"] == "question_type":
                of_item = [record for record in forged.labels if record["item"] == decision["item"]]
                each(of_item, response=outcome["response"])
                if decision["by"] == "resolve":
                    outcome["annotations"] = sorted(record["id"] for record in of_item)


def drop_item(forged: ForgedRelease) -> None:
    item = forged.adjudicated["item"]
    for records in (forged.annotations, forged.decisions):
        drop(records, *(record for record in records if record["item"] == item))


def drop_annotator(forged: ForgedRelease) -> None:
    """An annotator of labels, with all decisions about labels."""
    who = forged.labels[-1]["annotator"]
    dropped = [record for record in forged.labels if record["annotator"] == who]
    items = {record["item"] for record in dropped}
    drop(forged.annotations, *dropped)
    drop(forged.decisions, *(record for record in forged.decisions if record["item"] in items))


def drop_batch(forged: ForgedRelease) -> None:
    batch = forged.labels[0]["batch"]
    for records in (forged.annotations, forged.decisions):
        drop(records, *(record for record in records if record["batch"] == batch))
    drop(forged.manifest["batches"], *(entry for entry in forged.manifest["batches"] if entry["id"] == batch))
    forged.manifest["guidelines"] = [
        entry for entry in forged.manifest["guidelines"] if entry["type"] != "question_type"
    ]


def change_gold(forged: ForgedRelease) -> None:
    forged.of("example")[1]["answers"] = ["2001"]


def change_answer_of_edit(forged: ForgedRelease) -> None:
    forged.edit["answers"] = ["1990"]
    for records in (forged.annotations, [o for d in forged.decisions for o in d["outcomes"]]):
        for record in records:
            if record["response"]["type"] == "value_change":
                change_response(record, answers=["1990"])


def exclude_nothing(forged: ForgedRelease) -> None:
    """The excluded item becomes one without a decision."""
    drop(forged.decisions, *(record for record in forged.decisions if record["kind"] == "excluded"))


def shift_times(forged: ForgedRelease) -> None:
    for record in (*forged.annotations, *forged.decisions):
        record["made_at"] = record["made_at"].replace("2026", "2025")


def add_annotator(forged: ForgedRelease) -> None:
    """A fourth annotator, who repeats the responses of the first on slots of their own."""
    first = forged.labels[0]["annotator"]
    for record in [record for record in forged.labels if record["annotator"] == first]:
        more = {
            "id": f"{record['id'][:-1]}0",
            "annotator": "p-zzzzzzzz",
            "place": {"number": 4, "added": True},
        }
        index = max(i for i, other in enumerate(forged.annotations) if other["item"] == record["item"])
        forged.annotations.insert(index + 1, {**record, **more})
    drop(
        forged.decisions,
        *(d for d in forged.decisions if d["by"] == "resolve" and not d["outcomes"][0]["example"]),
    )


def swap_labels(forged: ForgedRelease) -> None:
    swapped = {"extraction": "reasoning", "reasoning": "extraction"}
    responses = [record["response"] for record in forged.labels]
    responses += [o["response"] for d in forged.decisions for o in d["outcomes"] if not o["example"]]
    for response in responses:
        label = response["data"]["label"]
        response["data"]["label"] = swapped.get(label, label)


def credit(name: str, value: str) -> Change:
    def change(forged: ForgedRelease) -> None:
        each([*forged.of("source"), *forged.manifest["sources"]], **{name: value})

    return change


ALONE: dict[str, Change] = {
    # noticed on 28 November 2026
    "label": lambda f: change_label(f.labels[0]),
    "pseudonym": lambda f: f.labels[0].update(annotator="p-zzzzzzzz"),
    "simulated": lambda f: f.labels[0].update(simulated=True),
    "slot flag": lambda f: f.labels[0]["place"].update(added=True),
    "sent_back": lambda f: f.labels[0].update(sent_back=True),
    "deleted annotation": lambda f: drop(f.annotations, f.labels[0]),
    "deleted decision": lambda f: drop(f.decisions, f.adjudicated),
    "decider": lambda f: f.adjudicated.update(by="resolve"),
    "exclusion reason": lambda f: each([d for d in f.decisions if d["kind"] == "excluded"], kind="accepted"),
    "operations": lambda f: f.edit["operations"][0].update(new="1997"),
    "adjudicated answer": lambda f: change_label(f.adjudicated["outcomes"][0]),
    "question alone": lambda f: f.of("example")[0].update(question="ForgedRelease?"),
    "cell alone": set_cell_alone,
    "answers alone": lambda f: f.of("example")[0].update(answers=["forged"]),
    "table of an example": lambda f: f.of("example")[0].update(table="0" * 64),
    "newest": lambda f: f.labels[0].update(newest=False),
    "revision": lambda f: f.labels[0].update(revision=0, newest=False),
    "batch of a response": lambda f: f.labels[0].update(batch="forged"),
    "item of a response": lambda f: f.labels[0].update(item="forged"),
    "counts": lambda f: f.manifest["counts"].update(responses=999),
    "dates": lambda f: f.manifest["dates"].update(first="2020-01-01T00:00:00+00:00"),
    "figure 1e-6": lambda f: f.manifest["agreement"][0].update(
        value=f.manifest["agreement"][0]["value"] + 1e-6
    ),
    "figure 1e-8": lambda f: f.manifest["agreement"][0]["exact"].update(
        value=f.manifest["agreement"][0]["exact"]["value"] + 1e-8
    ),
    "guidelines": lambda f: f.manifest["guidelines"][0].update(text="ForgedRelease."),
    "title": lambda f: f.manifest.update(title="ForgedRelease"),
    "name": lambda f: f.manifest.update(name="v9"),
    "digest of an edit": lambda f: f.edit.update(digest="0" * 64),
    # passed on 28 November 2026
    "active_seconds": lambda f: f.labels[0].update(active_seconds=60.0),
    "made_at before": lambda f: f.labels[0].update(made_at="2026-03-02T11:00:00+00:00"),
    "made_at after its decision": lambda f: f.labels[0].update(made_at="2031-03-02T11:00:00+00:00"),
    "unsure": lambda f: f.labels[0].update(unsure=True),
    "unmet": lambda f: f.labels[0].update(unmet=["answer_gone"]),
    "way_back": lambda f: f.labels[0].update(way_back=True),
    "external": lambda f: f.labels[0].update(external=True),
    "order of lines": reverse,
    "note of a decision": lambda f: f.adjudicated.update(note="ForgedRelease."),
    "time of a decision": lambda f: f.adjudicated.update(made_at="2026-03-02T12:00:30+00:00"),
    "seed of a batch": lambda f: f.manifest["batches"][0].update(seed=7),
    "overlap + 2": lambda f: f.manifest["batches"][0].update(overlap=f.manifest["batches"][0]["overlap"] + 2),
    "settings with digest": change_settings,
    "kappa deleted": lambda f: drop_statistics(f, "fleiss_kappa"),
    "kappa and alpha deleted, statement rebuilt": drop_statistics_and_rebuild,
    # ten more
    "original twice": lambda f: f.sources.append(f.of("example")[0]),
    "unknown field": lambda f: f.labels[0].update(forged=1),
    "rule of a decision": lambda f: each(
        [d for d in f.decisions if d["by"] == "resolve"], rule={"rule": "unanimous"}
    ),
    "responses of an outcome": lambda f: each(f.adjudicated["outcomes"], annotations=["forged"]),
    "predecessor": lambda f: f.manifest.update(predecessor={"number": 1, "name": "v0", "digest": "0" * 64}),
    "redacted": lambda f: f.manifest.update(redacted=3),
    "number": lambda f: f.manifest.update(number=2),
    "layout": lambda f: f.manifest.update(layout=2),
    "rules": lambda f: f.manifest.update(rules=11),
}
CONSISTENT: dict[str, Change] = {
    # passed on 28 November 2026
    "unanimous": unanimous,
    "annotator dropped": drop_annotator,
    "gold answer": change_gold,
    "item dropped": drop_item,
    "answer of an edit": change_answer_of_edit,
    "simulated people": lambda f: each(f.annotations, simulated=True),
    "licence": credit("licence", "MIT"),
    "all imported": lambda f: each(f.annotations, external=True),
    # ten more
    "cell everywhere": change_cell,
    "question everywhere": lambda f: f.of("example")[1].update(question="ForgedRelease?"),
    "labels swapped": swap_labels,
    "batch dropped": drop_batch,
    "exclusion dropped": exclude_nothing,
    "a year earlier": shift_times,
    "annotator added": add_annotator,
    "citation": credit("citation", "ForgedRelease (2026)"),
    "address": credit("url", "https://forged.example"),
    "note and time": lambda f: f.adjudicated.update(
        note="ForgedRelease.", made_at="2026-03-02T13:00:00+00:00"
    ),
}
FILES: dict[str, Callable[[Path], object]] = {
    "byte": lambda folder: (folder / "annotations.jsonl").write_bytes(b"{}\n"),
    "file missing": lambda folder: (folder / "DATA_STATEMENT.md").unlink(),
    "file added": lambda folder: (folder / "more.txt").write_text("more"),
}
UNNOTICED = {
    # of one field
    *(
        "unsure",
        "unmet",
        "way_back",
        "external",
        "note of a decision",
        "time of a decision",
    ),
    *("seed of a batch", "overlap + 2", "settings with digest", "predecessor", "redacted", "number"),
    # consistent
    *CONSISTENT,
}
"""What `verify_release` does not name without key, source or predecessor."""
OF_SOURCE = {"gold answer", "question everywhere", "cell everywhere", "licence"}
"""Which of these `--source` names."""


@pytest.fixture
def released(world: World, tmp_path: Path, settings: Any) -> Path:
    """A signed release of labels by three people, decided by majority, by an adjudicator and by exclusion, and an edit."""
    settings.SIGNING_KEY = tmp_path / "signing.key"
    signing.create(settings.SIGNING_KEY)
    labels = world.batch("question_type", size=4, overlap=3)
    for who, chosen in {
        "ada": ("extraction", "extraction", "extraction", "extraction"),
        "bo": ("extraction", "extraction", "reasoning", "reasoning"),
        "cy": ("extraction", "reasoning", "neither", "neither"),
    }.items():
        for label in chosen:
            world.label(labels, who, label)
    edits = world.batch("value_change", variant="answer_changes", size=1)
    assignment = world.take(edits, "ada")
    assert assignment is not None
    table, answers = assignment.item.example.example().table, assignment.item.example.answers
    row = next(index for index, cells in enumerate(table.rows) if cells[1] == answers[0])
    cell = {"op": "set_cell", "row": f"r{row}", "column": "c1", "old": answers[0], "new": "1996"}
    data = {"unanswerable": False, "operations": [cell], "answers": ["1996"], "reason": "", "difference": ""}
    world.answer(assignment, data)
    automatic_decisions.resolve_due(now=LATER)
    first, second = Item.objects.filter(adjudication__isnull=False).order_by("pk")
    adjudication.decide(item=first, by=world.ivo, note="It is.", choose=["A"], now=LATER)
    adjudication.decide(item=second, by=world.ivo, note="Unclear.", exclude="unclear", now=LATER)
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=out)
    return out


def fault_of(check: Callable[[], object]) -> str:
    try:
        check()
    except Difference as difference:
        return str(difference)
    return ""


def test_every_tampering_is_noticed_or_not_signed_by_the_site(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(VERIFIER))
    outside = runpy.run_path(str(VERIFIER / "__main__.py"), run_name="verifier")
    manifest = json.loads((released / "manifest.json").read_text("utf-8"))
    trusted = {fingerprint(json.loads((released / "signature.json").read_text())["key"])}
    assert check_signature(released, manifest, trusted, required=True).is_trusted
    assert verification.verify(released)["annotations"] == 13
    source = PublicFiles([tmp_path / "films-dev.tsv"])
    assert compare_source(ReleaseRecords.load(released), "films-dev", source) == 4
    unnoticed, of_source, of_verifier, signed = set(), set(), set(), set()
    for name in (*ALONE, *CONSISTENT, *FILES):
        folder = tmp_path / "forged"
        shutil.copytree(released, folder)
        if name in FILES:
            FILES[name](folder)
        else:
            forged = ForgedRelease(folder)
            (ALONE | CONSISTENT)[name](forged)
            forged.write(consistent=name in CONSISTENT)
        claimed = json.loads((folder / "manifest.json").read_text("utf-8"))
        if name not in FILES and not fault_of(partial(check_signature, folder, claimed, trusted)):
            signed.add(name)
        (folder / "signature.json").unlink()
        if not fault_of(partial(verification.verify, folder)):
            unnoticed.add(name)
            if fault_of(partial(compare_source, ReleaseRecords.load(folder), "films-dev", source)):
                of_source.add(name)
        try:
            outside["verify"](folder, set())
            of_verifier.add(name)
        except (outside["Difference"], LookupError, TypeError, ValueError, AttributeError):
            pass
        shutil.rmtree(folder)
    assert signed == set()
    assert of_source == OF_SOURCE
    assert unnoticed == UNNOTICED
