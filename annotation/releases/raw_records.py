"""The raw records of a release folder with the task types of their batches, and what follows for its examples."""

import itertools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from annotation.assistance.origins import MACHINE
from annotation.quality import compared_responses
from annotation.releases.task_records import task_of_record
from tableqa.core.disk_collections import Shelf
from tableqa.data.answers import compare
from tableqa.releases.record_files import Record, records_with_offsets
from tableqa.releases.release_records import ANNOTATIONS, DECISIONS, ReleaseRecords
from tasks.contract import AnsweringTask, Item, TaskType

PURPOSES = TRAINING, EVALUATION = ("training", "evaluation")
VERIFYING = "filled"
"""The help of batches in which it is people's task to verify what is proposed."""
EXCLUSIONS = ("contradicted", "unverified")
"""The lists of a manifest that name what its benchmark files leave out."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def excluded(manifest: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """The examples (source, id) that a manifest lists as left out of the benchmark files."""
    listed = itertools.chain.from_iterable(manifest.get(name, ()) for name in EXCLUSIONS)
    return frozenset((entry["source"], entry["id"]) for entry in listed if entry.get("left_out", True))


class Raw(ReleaseRecords):
    """The raw records of a release folder with their task types: items, and what people contradicted."""

    def item(self, record: Mapping[str, Any]) -> tuple[TaskType, Item]:
        """The kind and the item of an annotation or decision record."""
        batch = self.batch_of(record)
        example = self.example(record["source"], record["example"])
        return task_of_record(batch), Item(
            example=example,
            variant=batch["variant"],
            settings=batch["settings"],
            inputs=self.inputs.get(record["item"], {}),
        )

    def task_of(self, batch: str) -> TaskType:
        """The task type of a batch, by its id."""
        return task_of_record(self.batches[batch])

    def counts(self) -> dict[str, int]:
        """The counts of the manifest."""
        return {**super().counts(), "contradicted": len(self.contradicted)}

    # -- what people contradicted -------------------------------------------------------------------

    @cached_property
    def contradicted(self) -> list[Record]:
        """What people contradicted in examples, as the manifest lists it: by source and id.

        An example whose newest decision about its answer is against it, and what people made of such. The decision is of a
        kind that says which answer is right (`TaskType.says_gold`). Reasons: "excluded", where the item was excluded there;
        "other_answer", where the answer that was accepted is not equal to the given one; "undecided", where a person gave
        another answer, none of them decided yet; "parent" for what was made of an
        example that is left out. Originals are listed only: their answers are their sources' business.
        """
        return list(_Contradictions(self).by_example().values())

    @cached_property
    def excluded(self) -> frozenset[tuple[str, str]]:
        """The examples (source, id) in no benchmark file: by the lists of the manifest, worked out where it has none."""
        worked_out = {name: getattr(self, name) for name in EXCLUSIONS if name not in self.manifest}
        return excluded({**self.manifest, **worked_out})

    @cached_property
    def unverified(self) -> list[Record]:
        """In a release for evaluation, the unverified examples that a machine made, as the manifest lists them."""
        keys = _unverified(self) if self.purpose == EVALUATION else ()
        return [{"source": source, "id": id} for source, id in sorted(keys)]


def _unverified(raw: Raw) -> frozenset[tuple[str, str]]:
    """The examples (source, id) that a machine made and no person verified, and what was made of such.

    Verified is what a person made or edited; what was proposed and accepted in a batch whose people verify; what two
    people submitted; and what another person has answered since, blind, with an accepted decision.
    """
    if not any(batch.get("help") for batch in raw.batches.values()):
        return frozenset()
    unverified_keys = set()
    for decision in raw.decisions:
        help = raw.batches[decision["batch"]].get("help")
        for outcome in decision["outcomes"]:
            derived_example = outcome["example"]
            if derived_example is None:
                continue
            key, parent = ((decision["source"], derived_example[name]) for name in ("id", "parent"))
            if parent in unverified_keys or (
                help and not _is_verified(raw, outcome, help) and not _is_checked(raw, key)
            ):
                unverified_keys.add(key)
    made_of_such = {key for key in raw.derived if not unverified_keys.isdisjoint(raw.ancestors(key))}
    return frozenset(unverified_keys | made_of_such)


def _is_verified(raw: Raw, outcome: Mapping[str, Any], help: Mapping[str, Any]) -> bool:
    behind = [raw.by_id[id] for id in outcome["annotations"]]
    if any(record.get("help", {}).get("origin", "human") != MACHINE for record in behind):
        return True
    return help["shown"] == VERIFYING or len({record["annotator"] for record in behind}) > 1


def _is_checked(raw: Raw, key: tuple[str, str]) -> bool:
    return any(
        decision["kind"] == "accepted" and task_of_record(raw.batches[decision["batch"]]).says_gold
        for decision in raw.decisions_about(*key)
    )


class _Contradictions:
    """What people contradicted in the examples of a release (`Raw.contradicted`)."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw

    def by_example(self) -> dict[tuple[str, str], Record]:
        """All of it, by source and id."""
        if not any(task_of_record(batch).says_gold for batch in self.raw.batches.values()):
            return {}
        newest: Shelf[tuple[str, str], tuple[int, int]] = Shelf()
        for offset, decision in records_with_offsets(self.raw.folder / DECISIONS):
            if task_of_record(self.raw.batches[decision["batch"]]).says_gold:
                key = decision["source"], decision["example"]
                made_at = (datetime.fromisoformat(decision["made_at"]) - _EPOCH) // timedelta(microseconds=1)
                if key not in newest or newest[key][0] <= made_at:
                    newest[key] = made_at, offset
        records: dict[tuple[str, str], Record] = {}
        for key, (_, offset) in newest.items():
            decision = self.raw._files.at(self.raw.folder / DECISIONS, offset)
            if reason := self._contradiction_reason(decision):
                records[key] = _contradiction(key, reason, decision["item"], key not in self.raw.originals)
        for key, item in self._answered_otherwise():
            if key not in newest:
                records[key] = _contradiction(key, "undecided", item, key not in self.raw.originals)
        left_out = {key: record["item"] for key, record in records.items() if record["left_out"]}
        for key in self.raw.derived if left_out else ():
            above = next((above for above in self.raw.ancestors(key) if above in left_out), None)
            if key not in records and above is not None:
                records[key] = _contradiction(key, "parent", left_out[above], True)
        return dict(sorted(records.items()))

    def _contradiction_reason(self, decision: Record) -> str:
        """Why a decision about the right answer is against its example; "" where it is not, or no answer was given."""
        if decision["kind"] == "excluded":
            return "excluded"
        return "other_answer" if self._other_answer(decision, *decision["outcomes"]) else ""

    def _answered_otherwise(self) -> Iterator[tuple[tuple[str, str], str]]:
        """The examples of undecided items to which a person gave another answer than the given one, with the item."""
        query = """
            SELECT place FROM annotations WHERE batch = ? AND newest AND NOT EXISTS
            (SELECT 1 FROM decisions WHERE decisions.item = annotations.item) ORDER BY number
        """
        for name, batch in self.raw.batches.items():
            if task_of_record(batch).says_gold:
                for (offset,) in self.raw._db.execute(query, (name,)).fetchall():
                    response = self.raw._files.at(self.raw.folder / ANNOTATIONS, offset)
                    if response["response"] is not None and self._other_answer(response, response):
                        yield (response["source"], response["example"]), response["item"]

    def _other_answer(self, about: Record, *responses: Record) -> bool:
        """Whether responses about the right answer of an example give one, and none that is equal to the given one."""
        task, item = self.raw.item(about)
        if not isinstance(task, AnsweringTask):
            return False
        answers = [
            task.gold(compared_responses.restore_response(task, response["response"]), item)
            for response in responses
        ]
        golds = [gold for gold in answers if gold is not None]
        gold_answers = item.example.answers
        return bool(golds and gold_answers and not any(compare(gold, gold_answers).equal for gold in golds))


def _contradiction(key: tuple[str, str], reason: str, item: str, left_out: bool) -> Record:
    return {"source": key[0], "id": key[1], "reason": reason, "item": item, "left_out": left_out}


load = Raw.load
