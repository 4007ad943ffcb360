"""The files of a release: manifest, checksums, records, and what the manifest repeats of them."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RAW = ("sources.jsonl", "annotations.jsonl", "decisions.jsonl")
UNLISTED = ("manifest.json", "signature.json")
RULES = 12
"""The newest version of the rules that this program knows."""

FIELDS = {
    *("id", "batch", "item", "source", "example", "annotator", "simulated", "external", "imported"),
    *("revision", "newest", "place", "sent_back", "way_back", "response", "unmet", "unsure"),
    *("guidelines", "active_seconds", "help", "made_at"),
}
"""The fields of an annotation."""

Record = dict[str, Any]


class Difference(Exception):
    """The first thing in a release that does not hold."""


def require(condition: object, message: str) -> None:
    """Raise Difference with the message unless the condition holds."""
    if not condition:
        raise Difference(message)


def canonical(value: object) -> str:
    """The canonical JSON text of a value: sorted keys, no spaces, characters as themselves."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """The SHA-256 of the canonical text, in hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def lines(path: Path) -> Iterator[Record]:
    """The records of a file with one JSON object a line. Every line must be canonical."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            record = json.loads(line)
            require(
                f"{canonical(record)}\n".encode() == line, f"{path.name}, line {number}: not canonical JSON"
            )
            yield record


class Release:
    """A release folder with its records in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        require((folder / "manifest.json").is_file(), f"{folder} is not a release: manifest.json is missing")
        self.manifest: Record = json.loads((folder / "manifest.json").read_bytes())
        self.rules: int = self.manifest.get("rules", 1)
        require(self.manifest.get("layout") in (1, 2), "manifest.json: unknown layout")
        require(
            self.rules <= RULES, f"manifest.json: rules {self.rules} are newer than this program ({RULES})"
        )
        self.not_checked: Counter[str] = Counter()
        """What was not checked, with how often."""
        self.checked: Counter[str] = Counter()

    def read(self) -> None:
        """Read the raw records. `check_files` comes first."""
        by_kind: dict[str, list[Record]] = defaultdict(list)
        for record in lines(self.folder / RAW[0]):
            by_kind[record["kind"]].append(record)
        self.sources = {record["name"]: record for record in by_kind["source"]}
        self.tables = {record["digest"]: record["content"] for record in by_kind["table"]}
        self.originals = {(record["source"], record["id"]): record for record in by_kind["example"]}
        self.annotations = list(lines(self.folder / RAW[1]))
        self.decisions = list(lines(self.folder / RAW[2]))
        self.batches = {batch["id"]: batch for batch in self.manifest["batches"]}
        self.by_id = {record["id"]: record for record in self.annotations}
        self.derived = {
            (decision["source"], outcome["example"]["id"]): outcome["example"]
            for decision in self.decisions
            for outcome in decision["outcomes"]
            if outcome["example"] is not None
        }
        unique = len(self.sources) + len(self.tables) + len(self.originals)
        lengths = [len(by_kind[kind]) for kind in ("source", "table", "example")]
        require(sum(lengths) == unique, "sources.jsonl: a record occurs twice")
        require(len(self.by_id) == len(self.annotations), "annotations.jsonl: an id occurs twice")
        items = Counter(decision["item"] for decision in self.decisions)
        require(not items or max(items.values()) == 1, "decisions.jsonl: an item occurs twice")

    def batch_of(self, record: Record) -> Record:
        """The batch of an annotation or a decision. Raises Difference if the manifest lacks it."""
        require(record["batch"] in self.batches, f"manifest.json: there is no batch {record['batch']}")
        return dict(self.batches[record["batch"]])


def check_files(release: Release) -> None:
    """Every file is there with its size, lines and checksum, and no other file."""
    folder, claimed = release.folder, release.manifest["files"]
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {
        *UNLISTED
    }
    require(not present - claimed.keys(), f"not in the manifest: {sorted(present - claimed.keys())[:3]}")
    for name, entry in claimed.items():
        require(name in present, f"{name}: in the manifest, but missing")
        content = (folder / name).read_bytes()
        if name.endswith("croissant.json") and release.rules >= 11:
            content = _without_address(content)
        actual = {
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "records": content.count(b"\n"),
        }
        require(actual == entry, f"{name}: is not the file of the manifest")
        release.checked["files"] += 1
        if name not in RAW:
            release.not_checked["files that follow from the records, except for their checksums"] += 1
    require(set(RAW) <= present, "a file of raw records is missing")


def _without_address(content: bytes) -> bytes:
    """croissant.json as it was before its publication added an address."""
    data = json.loads(content)
    if data.pop("url", None) is None:
        return content
    return (json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def check_manifest(release: Release) -> None:
    """Sources, settings, guidelines, dates, slots and counts of the manifest are those of the records."""
    manifest = release.manifest
    require(
        manifest["sources"] == [record for _, record in sorted(release.sources.items())],
        "manifest.json: sources differ from sources.jsonl",
    )
    for batch in manifest["batches"]:
        require(
            batch["settings_digest"] == digest(batch["settings"]), f"batch {batch['name']}: settings digest"
        )
    texts = {(entry["type"], entry["number"]): digest(entry["text"]) for entry in manifest["guidelines"]}
    for record in release.annotations:
        batch, guidelines = release.batch_of(record), record["guidelines"]
        require(
            texts.get((batch["type"], guidelines["number"])) == guidelines["digest"],
            f"annotation {record['id']}: guidelines {guidelines['number']} are not in the manifest",
        )
        unknown = record.keys() - FIELDS
        require(not unknown, f"annotation {record['id']}: unknown fields {sorted(unknown)}")
        slot = record["place"]
        most = batch.get("places", batch["overlap"])
        require(slot["added"] or slot["number"] <= most, f"annotation {record['id']}: slot {slot['number']}")
    times = [record["made_at"] for record in (*release.annotations, *release.decisions)]
    if times and release.rules >= 11:
        require(manifest["dates"] == {"first": min(times), "last": max(times)}, "manifest.json: dates")
    counts = _counts(release)
    for name, count in counts.items():
        claimed = manifest["counts"].get(name)
        require(claimed == count, f"manifest.json: counts.{name} is {claimed}, the records give {count}")
        release.checked["counts"] += 1
    for name in manifest["counts"].keys() - counts.keys():
        release.not_checked[f"counts.{name}"] += 1
    for name in (
        "statement",
        "mix",
        "automatic",
        "waivers",
        "contradicted",
        "unverified",
        "changes",
        "predecessor",
    ):
        if manifest.get(name):
            release.not_checked[f"'{name}' of the manifest"] += 1


def _counts(release: Release) -> dict[str, int]:
    annotations, decisions = release.annotations, release.decisions
    current = [record for record in annotations if record["newest"] and record["response"] is not None]
    decided = {decision["item"] for decision in decisions}
    answered = {record["item"] for record in current}
    kinds = Counter(decision["kind"] for decision in decisions)
    counts = {
        "annotations": len(annotations),
        "annotators": len({record["annotator"] for record in annotations}),
        "simulated_annotators": len({record["annotator"] for record in annotations if record["simulated"]}),
        "items": len({(record["batch"], record["item"]) for record in annotations}),
        "accepted": kinds["accepted"],
        "excluded": kinds["excluded"],
        "adjudicated": sum(decision["by"] != "resolve" for decision in decisions),
        "outcomes": sum(len(decision["outcomes"]) for decision in decisions),
    }
    if release.rules >= 7:
        counts |= {
            "responses": len(current),
            "respondents": len({record["annotator"] for record in current}),
            "answered_items": len(answered),
            "undecided_items": len(answered - decided),
        }
    return counts


def check_order(release: Release) -> None:
    """Revisions follow each other, lines are in their order, and no response is younger than its decision."""
    batches = list(release.batches)
    keys = [
        (batches.index(record["batch"]), record["source"], record["example"])
        for record in release.annotations
    ]
    require(keys == sorted(keys), "annotations.jsonl: lines are not in their order")
    revisions: dict[tuple[str, str], list[Record]] = defaultdict(list)
    of_items: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for record in release.annotations:
        revisions[record["item"], record["annotator"]].append(record)
        of_items[record["item"]].append((record["annotator"], record["revision"]))
    for item, pairs in of_items.items():
        require(
            pairs == sorted(set(pairs)), f"annotations.jsonl: lines of item {item} are not in their order"
        )
    for of_person in revisions.values():
        where = f"annotations.jsonl: {of_person[-1]['id']}"
        times = [record["made_at"] for record in of_person]
        require(times == sorted(times), f"{where}: made before an earlier revision")
        require(of_person[-1]["newest"], f"{where}: the last revision is not the newest")
        require(sum(record["newest"] for record in of_person) == 1, f"{where}: several are the newest")
    for decision in release.decisions:
        for id in (id for outcome in decision["outcomes"] for id in outcome["annotations"]):
            require(id in release.by_id, f"item {decision['item']}: there is no annotation {id}")
            record = release.by_id[id]
            require(record["item"] == decision["item"], f"item {decision['item']}: {id} is of another item")
            require(record["made_at"] <= decision["made_at"], f"annotation {id}: made after its decision")
