"""What became of an example: the tree from its original to everything that people and programs made of it.

Source example -> operations -> decision -> release. Read from rows that never change, for the page that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from annotation.access.visibility import Fact, Visibility
from annotation.models import Decision, Example, Membership, Outcome, PerturbationRun, Release, Try
from annotation.queue import lineage
from tableqa.operations import describe, from_dict, replay
from tableqa.perturbations import PERTURBATIONS
from tableqa.perturbations.contracts import Contract
from tableqa.scoring.verdicts import WORDS

MOST = 300
"""Nodes of a tree that are shown."""


@dataclass
class Node:
    """One example of a tree.

    how        what was done to its parent, a sentence for each operation
    by         pseudonyms of the people whose annotations it rests on; () where a program made it
    decision   how it was accepted, None for an original and for what a program made
    decider    the pseudonym of the adjudicator, "" where the responses decided
    contract   what it had to keep
    verdicts   of models in the loop on the submissions behind it: (model, verdict)
    releases   the releases, oldest first, that hold it
    waivers    (release, reason) where a release holds it although it breaks its contract
    """

    example: Example
    how: list[str] = field(default_factory=list)
    by: tuple[str, ...] = ()
    decision: Decision | None = None
    decider: str = ""
    contract: Contract | None = None
    verdicts: tuple[tuple[str, str], ...] = ()
    releases: list[Release] = field(default_factory=list)
    waivers: list[tuple[Release, str]] = field(default_factory=list)
    outcome: Outcome | None = None
    children: list[Node] = field(default_factory=list)

    @property
    def paper(self) -> str:
        """The paper whose perturbation this is; "" where people made it."""
        kind = PERTURBATIONS.get(self.example.perturbation) if self.example.seed is not None else None
        return kind.paper if kind else ""


def tree(example: Example, releases: Sequence[Release], sight: Visibility) -> tuple[Node, int]:
    """The tree that an example belongs to, from its original down, and how many nodes are left out.

    `releases` are those that the reader may see, `sight` is what they may see.
    """
    root = example
    while root.parent_id is not None:
        root = Example.objects.select_related("stored_table", "source__project").get(pk=root.parent_id)
    nodes, level, left_out = {root.pk: Node(root)}, [root.pk], 0
    line = _line(example)
    while level:
        children = Example.objects.filter(parent__in=level).select_related("stored_table").order_by("pk")
        level = []
        for child in children:
            if len(nodes) >= MOST and child.pk not in line:
                left_out += 1
                continue
            nodes[child.pk] = Node(
                child, how=_describe_step(nodes[child.parent_id or 0].example, child, sight)
            )
            if child.seed is not None and child.perturbation in PERTURBATIONS:
                nodes[child.pk].contract = PERTURBATIONS[child.perturbation].contract
            nodes[child.parent_id or 0].children.append(nodes[child.pk])
            level.append(child.pk)
    _add_people(nodes, sight)
    _add_releases(nodes[root.pk], nodes, releases)
    return nodes[root.pk], left_out


def _line(example: Example) -> set[int]:
    line = {example.pk}
    while example.parent_id is not None:
        line.add(example.parent_id)
        example = Example.objects.only("pk", "parent_id").get(pk=example.parent_id)
    return line


def _describe_step(parent: Example, child: Example, sight: Visibility) -> list[str]:
    """What leads from the parent to the child, in words about the parent's table."""
    operations = [from_dict(operation) for operation in child.operations]
    before, after = operations[: len(parent.operations)], operations[len(parent.operations) :]
    base = replay(parent.stored_table.table(), before)
    lines = [describe(operation, base) for operation in after]
    if child.question != parent.question:
        lines.append(
            gettext("question: {before} → {after}").format(before=parent.question, after=child.question)
        )
    if child.answers != parent.answers and not sight.is_asked:
        lines.append(
            gettext("answer: {before} → {after}").format(
                before=", ".join(parent.answers), after=", ".join(child.answers)
            )
        )
    return lines


def _add_people(nodes: Mapping[int, Node], sight: Visibility) -> None:
    rows = Membership.objects.filter(project=sight.project)
    names = dict(rows.values_list("person_id", "pseudonym"))
    outcomes = Outcome.objects.filter(example__in=list(nodes)).select_related(
        "decision__item__batch", "decision__item__example__stored_table", "decision__made_by"
    )
    for outcome in outcomes.prefetch_related("annotations__assignment"):
        node = nodes[outcome.example_id or 0]
        people = {annotation.assignment.person_id for annotation in outcome.annotations.all()}
        is_named = sight.shows(Fact.NAMES, outcome.decision.item)
        node.by = tuple(sorted({names[person] if is_named else gettext("an annotator") for person in people}))
        node.decision, node.outcome = outcome.decision, outcome
        node.decider = names.get(outcome.decision.made_by_id or 0, "")
        node.verdicts = _verdicts([annotation.pk for annotation in outcome.annotations.all()])
        item = outcome.decision.item
        node.contract = item.batch.task().contract(item.plain())


def _verdicts(annotations: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """The newest verdict on each submission, with the model that it is about."""
    rows = Try.objects.filter(annotation__in=annotations, kind=Try.Kind.SUBMISSION).order_by("pk")
    model_verdicts = []
    for row in rows:
        newest = row.verdicts.order_by("-pk").first()
        if newest is not None:
            model_verdicts.append((row.model or row.predictor, WORDS.get(newest.verdict, newest.verdict)))
    return tuple(model_verdicts)


def _add_releases(root: Node, nodes: Mapping[int, Node], releases: Sequence[Release]) -> None:
    """A release holds what was decided or run through up to its watermark, and the originals of that."""
    runs = list(PerturbationRun.objects.filter(event__isnull=False, sources=root.example.source_id))
    for release in releases:
        decided = Outcome.objects.filter(decision__event_id__lte=release.watermark, example__in=list(nodes))
        decided_ids = set(decided.values_list("example_id", flat=True))
        through = [run for run in runs if (run.event_id or 0) <= release.watermark]
        for key, node in nodes.items():
            if key in decided_ids or any(lineage.is_made_by_run(run, node.example) for run in through):
                node.releases.append(release)
                if node.outcome is not None and (why := release.waivers.get(node.outcome.public_id)):
                    node.waivers.append((release, why))
        if any(release in node.releases for node in nodes.values()):
            root.releases.append(release)
