"""Responses of a checked release on their way into its project, and what rests on them: decisions, assistance, tries."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

from django.db.models import Count, OuterRef, Q, Subquery

from annotation.assistance import model_checks
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Decision,
    Guidelines,
    Item,
    Outcome,
    PersonBatchCounts,
    Proposal,
    ProposalImpression,
    ProposalReaction,
    Provenance,
    RevisionRequest,
    Slot,
    Trial,
    Try,
    Verdict,
)
from annotation.queue import submissions
from annotation.releases import provenance
from annotation.releases.benchmark_files import TRIES
from annotation.releases.restoration.contents import Contents, Record, moment
from tableqa.core.canonical_json import digest
from tableqa.core.translation import message
from tableqa.releases.release_records import ANNOTATIONS, DECISIONS

State = Assignment.State
UNDECIDED: Final = message("restoring.undecided", "Restored from a release in which it had no decision")


@dataclass
class Work:
    """A person's work on an item: its records in the order of revisions, without their responses."""

    key: int
    item: str
    person: str
    number: int
    is_added: bool
    revisions: list[Record]

    @property
    def is_submitted(self) -> bool:
        """Whether a response counts: the last one was not withdrawn."""
        return bool(self.revisions[-1]["has_response"])


class Responses(Contents):
    """Writes items with their slots, then assignments with their annotations."""

    @cached_property
    def work(self) -> dict[tuple[str, str], Work]:
        """All people's work on every item. The keys of annotations are drawn here, by their ids."""
        work: dict[tuple[str, str], Work] = {}
        ids: list[str] = []
        for record in self.records(ANNOTATIONS):
            response, slot = record["response"], record["place"]
            revision = {name: record[name] for name in ("id", "revision", "active_seconds", "made_at")}
            revision |= {name: bool(record.get(name)) for name in ("sent_back", "way_back", "external")}
            revision |= {
                "imported": record.get("imported"),
                "has_response": response is not None,
                "fingerprint": None if response is None else submissions.fingerprint(response),
            }
            ids.append(record["id"])
            key = record["item"], record["annotator"]
            work.setdefault(key, Work(0, *key, slot["number"], slot["added"], [])).revisions.append(revision)
        for of_person, pk in zip(work.values(), self.pages.keys(Assignment, len(work)), strict=True):
            of_person.revisions.sort(key=lambda revision: revision["revision"])
            of_person.key = pk
        self.annotation_keys = dict(zip(ids, self.pages.keys(Annotation, len(ids)), strict=True))
        return work

    # -- items and slots ----------------------------------------------------------------------------

    def write_items(self) -> None:
        """Items in the order of the release, with the slots of their batch and those of responses beyond them."""
        ordered = sorted((*described, id) for id, described in self.item_records.items())
        of_batches = itertools.groupby(ordered, key=itemgetter(0))
        positions = {id: at for _, items in of_batches for at, (*_, id) in enumerate(items, start=1)}
        self.items = dict(zip(positions, self.pages.keys(Item, len(positions)), strict=True))
        used = {(of_person.item, of_person.number): of_person.is_added for of_person in self.work.values()}
        self.slots = dict(zip(used, self.pages.keys(Slot, len(used)), strict=True))
        planned = {id: self._batch_of(id).overlap for id in positions}
        self._insert_items(positions, planned)
        submitted = (of_person for of_person in self.work.values() if of_person.is_submitted)
        taken_slots = {(of_person.item, of_person.number) for of_person in submitted}
        self.pages.insert(
            Slot,
            "id batch_id item_id number position added is_taken",
            (
                (
                    self.slots[item, slot_number],
                    self._batch_of(item).pk,
                    self.items[item],
                    slot_number,
                    positions[item],
                    is_added and slot_number > planned[item],
                    (item, slot_number) in taken_slots,
                )
                for (item, slot_number), is_added in used.items()
            ),
        )
        self.pages.insert(
            Slot,
            "batch_id item_id number position",
            (
                (self._batch_of(item).pk, self.items[item], slot_number, position)
                for item, position in positions.items()
                for slot_number in range(1, planned[item] + 1)
                if (item, slot_number) not in used
            ),
        )

    def _insert_items(self, positions: Mapping[str, int], planned: Mapping[str, int]) -> None:
        """Items with their counts, and those of their batches."""
        inputs = {record["id"]: record.get("inputs", {}) for record in self._of_sources("item")}
        decided = {record["item"]: record["kind"] for record in self.records(DECISIONS)}
        submitted = Counter(of_person.item for of_person in self.work.values() if of_person.is_submitted)
        beyond = Counter(item for item, slot_number in self.slots if slot_number > planned[item])
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        rows = []
        for item, position in positions.items():
            batch, source, example = self.item_records[item]
            slots = planned[item] + beyond[item]
            counts[batch] += Counter(items_count=1, slots_count=slots)
            if item in decided:
                counts[batch][f"{decided[item]}_count"] += 1
            elif submitted[item] and submitted[item] >= slots:
                self.waiting.append(self.items[item])
            rows.append(
                (
                    self.items[item],
                    self.id_of(item),
                    self.batches[batch].pk,
                    self.examples[source, example],
                    position,
                    inputs.get(item, {}),
                    slots,
                    submitted[item],
                    decided.get(item, ""),
                )
            )
        self.pages.insert(Item, _ITEM, rows)
        self.pages.done += sum(item in inputs for item in positions)
        for batch, counted in counts.items():
            with self.pages.page():
                Batch.objects.filter(pk=self.batches[batch].pk).update(**counted)

    def _batch_of(self, item: str) -> Batch:
        return self.batches[self.item_records[item][0]]

    # -- responses ----------------------------------------------------------------------------------

    def write_annotations(self) -> None:
        """Assignments and annotations; the counts of people."""
        work = self.work
        indexes = self._note_work(work)
        event_keys = self.log.write()
        guidelines = {
            (row.task_type, row.number): row.pk for row in Guidelines.objects.filter(project=self.project)
        }
        types = {batch["id"]: batch["type"] for batch in self.manifest.batches}
        self.pages.insert(Assignment, _ASSIGNMENT, self._assignments(work))
        self.pages.insert(
            Annotation,
            "id public_id assignment_id revision response unmet unsure guidelines_id active_seconds made_at event_id",
            (
                (
                    self.annotation_keys[record["id"]],
                    self.id_of(record["id"]),
                    work[record["item"], record["annotator"]].key,
                    record["revision"],
                    record["response"],
                    record.get("unmet"),
                    record.get("unsure"),
                    guidelines[types[record["batch"]], record["guidelines"]["number"]],
                    record["active_seconds"],
                    moment(record["made_at"]),
                    event_keys[indexes[record["id"]]],
                )
                for record in self.records(ANNOTATIONS)
            ),
            records=True,
        )
        newest = Annotation.objects.filter(assignment=OuterRef("pk")).order_by("-revision").values("pk")[:1]
        submitted = (of_person.key for of_person in work.values() if of_person.is_submitted)
        for keys in self.pages.in_pages(submitted):
            Assignment.objects.filter(pk__in=keys).update(state=State.SUBMITTED, annotation=Subquery(newest))
        self._send_back(work)
        self._write_person_counts()

    def _note_work(self, work: Mapping[tuple[str, str], Work]) -> dict[str, int]:
        """Note the changes of every assignment. Returns the number of the event of each annotation (id)."""
        indexes: dict[str, int] = {}
        for of_person in work.values():
            person, state, key = self.people[of_person.person], "", of_person.key
            first = of_person.revisions[0]
            at = _start_time(first)
            if not first["external"]:
                self.log.note(at, "assignment", key, ("", State.LEASED), person)
                state = State.LEASED
            for revision in of_person.revisions:
                at = max(at, moment(revision["made_at"]))
                after = State.SUBMITTED if revision["has_response"] else State.LEASED
                detail = {"way_back": True} if revision["way_back"] else revision["imported"]
                indexes[revision["id"]] = self.log.note(at, "assignment", key, (state, after), person, detail)
                state = after
            if state == State.LEASED:
                self.log.note(self.now, "assignment", key, (state, State.RETURNED), None)
        return indexes

    def _assignments(self, work: Mapping[tuple[str, str], Work]) -> list[tuple[Any, ...]]:
        """The rows of all assignments, as `_ASSIGNMENT` names their columns; submitted ones get state and response later."""
        rows = []
        for of_person in work.values():
            last = of_person.revisions[-1]
            ended = moment(last["made_at"])
            rows.append(
                (
                    of_person.key,
                    self._batch_of(of_person.item).pk,
                    self.items[of_person.item],
                    self.slots[of_person.item, of_person.number],
                    self.people[of_person.person],
                    State.RETURNED,
                    last["fingerprint"],
                    _start_time(of_person.revisions[0]),
                    ended,
                    ended,
                    last["active_seconds"] or 0,
                    ended if of_person.is_submitted else self.now,
                )
            )
        return rows

    def _send_back(self, work: Mapping[tuple[str, str], Work]) -> None:
        """The responses that an adjudicator sent back: each is the one before the first that was written after it."""
        rows = []
        for of_person in work.values():
            revisions = of_person.revisions
            after = next((index for index, revision in enumerate(revisions) if revision["sent_back"]), 0)
            if after:
                sent, by = self.annotation_keys[revisions[after - 1]["id"]], self.by
                made_by = by.pk if by else self.people[of_person.person]
                rows.append((of_person.key, sent, "", made_by, moment(revisions[after]["made_at"])))
        self.pages.insert(RevisionRequest, "assignment_id annotation_id note made_by_id made_at", rows)

    def _write_person_counts(self) -> None:
        """How much each person submitted and gave back, by batch."""
        submitted = Q(state=State.SUBMITTED)
        counts = {"submitted": Count("pk", filter=submitted), "returned": Count("pk", filter=~submitted)}
        for batch in self.batches.values():
            work = Assignment.objects.filter(batch=batch).order_by().values("batch_id", "person_id")
            rows = [PersonBatchCounts(**counted) for counted in work.annotate(**counts)]
            with self.pages.page():
                PersonBatchCounts.objects.bulk_create(rows, batch_size=500)

    # -- decisions ----------------------------------------------------------------------------------


class Decisions(Responses):
    """Writes decisions, then what models did."""

    def write_decisions(self) -> None:
        """Decisions with their outcomes; items that are complete without one wait for an adjudicator."""
        undecided_detail = {"reason": UNDECIDED.format()}
        for item in self.waiting:
            self.log.note(self.now, "item", item, ("complete", "adjudication"), None, undecided_detail)
        indexes = []
        for record in self.records(DECISIONS):
            person = self._person(record["by"])
            based_on = [self.id_of(id) for id in record.get("based_on", ())]
            detail = {
                name: value for name, value in (("reason", record["reason"]), ("based_on", based_on)) if value
            }
            states = ("complete" if person is None else "adjudication", record["kind"])
            item = self.items[record["item"]]
            indexes.append(
                self.log.note(moment(record["made_at"]), "item", item, states, person, detail or None)
            )
        event_keys = self.log.write()
        logged = (event_keys[index] for index in indexes)
        for chunk in self.pages.in_pages(zip(self.records(DECISIONS), logged, strict=False), records=True):
            self._write_decisions(chunk)
        for items in self.pages.in_pages(self.waiting):
            Item.objects.filter(pk__in=items).update(resolution=Item.Resolution.ADJUDICATION)
            Adjudication.objects.bulk_create(
                [Adjudication(item_id=item, asked_at=self.now, **undecided_detail) for item in items],
                batch_size=200,
            )

    def _person(self, by: str) -> int | None:
        return None if by == "resolve" else self.people[by]

    def _write_decisions(self, chunk: Sequence[tuple[Record, int]]) -> None:
        decisions = [
            Decision(
                item_id=self.items[record["item"]],
                **{name: record[name] for name in ("kind", "reason", "note")},
                **{name: record.get(name) for name in ("listed_reason", "rule")},
                made_by_id=self._person(record["by"]),
                made_at=moment(record["made_at"]),
                event_id=event,
            )
            for record, event in chunk
        ]
        Decision.objects.bulk_create(decisions, batch_size=500)
        outcomes, supports = [], []
        for (record, _), decision in zip(chunk, decisions, strict=True):
            for position, described in enumerate(record["outcomes"], start=1):
                example_record = described["example"]
                outcomes.append(
                    Outcome(
                        public_id=self.id_of(described["id"]),
                        decision_id=decision.pk,
                        number=position,
                        response=described["response"],
                        example_id=None
                        if example_record is None
                        else self.examples[record["source"], example_record["id"]],
                    )
                )
                supports.append([self.annotation_keys[id] for id in described["annotations"]])
        Outcome.objects.bulk_create(outcomes, batch_size=500)
        through = Outcome.annotations.through
        through._default_manager.bulk_create(
            (
                through(outcome_id=outcome.pk, annotation_id=annotation)
                for outcome, annotations in zip(outcomes, supports, strict=True)
                for annotation in annotations
            ),
            batch_size=500,
        )

    # -- assistance and the model in the loop -------------------------------------------------------

    def write_assistance(self) -> None:
        """Proposals, who was shown them, their outcomes, and the origin of responses."""
        proposals: dict[str, int] = {}
        names = ("maker", "category", "by", "why", "score", "data", "digest")
        for chunk in self.pages.in_pages(self.records(provenance.PROPOSALS), records=True):
            for record in chunk:
                proposal = Proposal.objects.create(
                    public_id=self.id_of(record["id"]),
                    item_id=self.items[record["item"]],
                    source=Proposal.Source.RULES if record["maker"] == "rules" else Proposal.Source.MODEL,
                    **{name: record[name] for name in names},
                    made_at=moment(record["made_at"]),
                )
                proposals[record["id"]] = proposal.pk
                for trial in record["trials"]:
                    Trial.objects.create(proposal=proposal, made_at=moment(record["made_at"]), **trial)
        impressions: dict[tuple[int, str], ProposalImpression] = {}
        assisted = (record for record in self.records(ANNOTATIONS) if record.get("help") is not None)
        for records in self.pages.in_pages(assisted):
            for record in records:
                self._write_help(record, record["help"], proposals, impressions)

    def _write_help(
        self,
        record: Record,
        help: Record,
        proposals: Mapping[str, int],
        impressions: dict[tuple[int, str], ProposalImpression],
    ) -> None:
        annotation, at = self.annotation_keys[record["id"]], moment(record["made_at"])
        assignment = Annotation.objects.values_list("assignment_id", flat=True).get(pk=annotation)
        for position, id in enumerate(help["shown"], start=1):
            if (assignment, id) in impressions:
                continue
            impression = impressions[assignment, id] = ProposalImpression.objects.create(
                assignment_id=assignment, proposal_id=proposals[id], number=position, shown_at=at
            )
            rejected = [rejection["errors"] for rejection in help["rejected"] if rejection["proposal"] == id]
            if rejected:
                act = ProposalReaction.Act.REJECTED
                ProposalReaction.objects.create(
                    impression=impression, act=act, errors=rejected[0], made_at=at
                )
            if help["took"] == id:
                ProposalReaction.objects.create(
                    impression=impression, act=ProposalReaction.Act.TOOK, made_at=at
                )
        source = help["proposal"]
        Provenance.objects.create(
            annotation_id=annotation,
            **{name: help[name] for name in ("helped", "origin", "shared")},
            impression=impressions[assignment, source] if source else None,
        )

    def write_tries(self) -> None:
        """The checks of the model in the loop with their verdicts."""
        rows = Assignment.objects.filter(batch__project=self.project)
        assignments = {row[:2]: row[2] for row in rows.values_list("item_id", "person_id", "pk")}
        for chunk in self.pages.in_pages(self.records(TRIES), records=True):
            for record in chunk:
                at, annotation = moment(record["made_at"]), record["annotation"]
                check = Try.objects.create(
                    public_id=self.id_of(record["id"]),
                    assignment_id=assignments[self.items[record["item"]], self.people[record["annotator"]]],
                    annotation_id=self.annotation_keys[annotation] if annotation else None,
                    **{name: record[name] for name in model_checks.RECORDED},
                    digest=digest([record["asked"], record["id"]]),
                    made_at=at,
                    answered_at=at,
                )
                for verdict in record["verdicts"]:
                    made_at = moment(verdict["made_at"])
                    Verdict.objects.create(of=check, **{**verdict, "made_at": made_at})


_ITEM: Final = "id public_id batch_id example_id position inputs slots_count submitted_count resolution"
_ASSIGNMENT: Final = (
    "id batch_id item_id slot_id person_id state response_fingerprint "
    "leased_at leased_until seen_at active_seconds ended_at"
)


def _start_time(revision: Record) -> Any:
    """When the work on a first revision began."""
    return moment(revision["made_at"]) - timedelta(seconds=revision["active_seconds"] or 0)
