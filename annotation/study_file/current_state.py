"""The current state of a project, in terms of a study file: its parts as `study` has them, and what only a project has.

Everything is read in a bounded number of queries; how long annotations take is measured in the newest batches of each kind.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from django.conf import settings as django_settings
from django.db.models import Count, F, Q, Sum
from django.utils.translation import gettext, ngettext

import tableqa
from annotation.assistance import loop_fit, model_accuracy
from annotation.models import (
    Batch,
    ConsentText,
    Decision,
    Example,
    Exclusion,
    Gold,
    Guidelines,
    Invitation,
    Item,
    Membership,
    PersonBatchCounts,
    PerturbationRun,
    PinnedExample,
    Project,
    Source,
)
from annotation.models.batch_options import TERMS
from annotation.payments import data_statement, ledger
from annotation.platform.keyset import chunks
from annotation.queue import allocation, metering
from annotation.study_file.schema import (
    EVERYONE,
    PROJECT_OPTIONS,
    BatchSpec,
    GoldItem,
    ItemName,
    PersonEntry,
    Run,
    SourceFile,
    Study,
    makers,
    sorted_roles,
    spelling,
)
from annotation.workflow import task_types as workflow_task_types
from tableqa.statistics.clustered_intervals import mean_over
from tasks.contract import TaskType, task_types

NEWEST = 4
"""The pace of a kind is measured on fewer batches than this."""


@dataclass(frozen=True)
class Counts:
    """The progress of a batch: its state, its items and slots, and how many of these were submitted.

    `gold` of the items are mixed into the others, and `gold_submitted` are what people submitted to these. `undecided`
    are the others that wait for a decision, and `open_slots` the slots of these that are not submitted; None: not counted.
    `accepted` were decided with an outcome.
    """

    state: str
    items: int
    places: int
    submitted: int
    gold: int = 0
    gold_submitted: int = 0
    undecided: int | None = None
    open_slots: int | None = None
    accepted: int = 0


@dataclass(frozen=True)
class Pace:
    """Seconds of active time for each submission, also on what people skipped or returned, for that is paid.

    `ends` of the 95 % interval over people; None of one person.
    """

    seconds: float
    of: int
    ends: tuple[float, float] | None = None


ItemState = Literal["pinned", "accepted", "undecided", "excluded", "gold"]
"""The state of an item of a batch: a guideline example already, or what keeps it from being one."""
Kind = tuple[str, str, bool]


def kind_of(task_type: str, variant: str, purpose: str) -> Kind:
    """What has its own pace: a task type and its variant, and a calibration, where people are still learning."""
    return task_type, variant, purpose == Batch.Purpose.CALIBRATION


@dataclass(frozen=True)
class ProjectState:
    """A project as a study, with its counts. `notes` says what a file cannot say of it.

    people        by `spelling` of name, e-mail or the name on the invitation that they followed: the roles that a person has
    invited       the same for links that were not followed yet
    removed       by the same: the day on which a person was removed who has not come back
    batches       by name
    unfinished    positions of perturbation runs that stopped on their way; not those that a batch still feeds
    examples      by source and `of`: how many examples batches can be drawn from
    paces         by `kind_of`, where anything of it was submitted
    predictors    the models that there are on this machine
    named         examples that a file names, by their id: where they are, by source, the oldest first
    items         by batch: the items about guideline examples that a file names, and the state of each
    made          ids of gold and guideline examples that people made here by editing: a file cannot make them elsewhere
    annotators    how many people annotate in the project
    simulated     how many of these are simulated: they are not paid, and costs leave them out
    with_sentences  the sources whose answers are sentences
    correct       by source, model and purpose: how many originals a model answers correctly, and of how many
    needed        by the same: what a language model would use to answer the others
    """

    study: Study
    people: Mapping[str, frozenset[str]] = field(default_factory=dict)
    invited: Mapping[str, frozenset[str]] = field(default_factory=dict)
    removed: Mapping[str, date] = field(default_factory=dict)
    batches: Mapping[str, Counts] = field(default_factory=dict)
    unfinished: frozenset[int] = frozenset()
    examples: Mapping[tuple[str, str], int] = field(default_factory=dict)
    paces: Mapping[Kind, Pace] = field(default_factory=dict)
    predictors: Mapping[str, Any] = field(default_factory=dict)
    named: Mapping[str, Mapping[str, tableqa.Example]] = field(default_factory=dict)
    items: Mapping[str, Mapping[ItemName, ItemState]] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    annotators: int = 0
    simulated: int = 0
    with_sentences: frozenset[str] = frozenset()
    correct: Mapping[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    needed: Mapping[tuple[str, str, str], metering.Estimate] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def of_project(
    project: Project,
    *,
    now: datetime,
    derived: bool = True,
    with_remaining: bool = True,
    names: Collection[str] = (),
    items: Collection[str] = (),
) -> ProjectState:
    """The current state of a project.

    Without `derived`, perturbed examples are not counted: there may be millions. Without `with_remaining`, the work that is
    left is not: that takes every item. `names` are ids of examples that are looked up, `items` those whose items are.
    """
    notes: list[str] = []
    created_ids: set[str] = set()
    entries, people = _people(project)
    invitees, invited = _invited(project, now)
    sources = list(Source.objects.ready().filter(project=project).order_by("pk"))
    batches = list(
        Batch.objects.filter(project=project).select_related("feeds_from", "requires").order_by("pk")
    )
    specs = _specs(batches, sources, notes, created_ids)
    runs = _runs(project, batches, notes)
    notes += _drawn_from_people(specs)
    notes += _with_responses(sources)
    study = Study(
        slug=project.slug,
        name=project.name,
        time_zone=project.time_zone,
        **{name: getattr(project, name) for name in PROJECT_OPTIONS},
        consent=_consent(project),
        statement=data_statement.answers(project),
        people=(*entries, *invitees),
        sources=tuple(map(_source, sources)),
        task_types={name: row.data for name, row in workflow_task_types.newest(project).items()},
        guidelines=_guidelines(project),
        runs=tuple(run for run, _ in runs),
        batches=tuple(specs),
    )
    correct = model_accuracy.by_source(sources)
    annotators, gone = allocation.annotators(project), members(project, removed=True)
    return ProjectState(
        study,
        people=people,
        invited=invited,
        removed={name: row.removed_at.date() for row, names in gone for name in names if row.removed_at},
        batches=_counts(batches, with_remaining),
        unfinished=frozenset(index for index, (_, stopped) in enumerate(runs) if stopped),
        examples=_examples(sources, derived),
        paces=_paces(batches),
        predictors=django_settings.PREDICTORS,
        named=_named(sources, names),
        items=_items(batches, items),
        made=frozenset(created_ids),
        annotators=len(annotators),
        simulated=sum(person.is_simulated for person in annotators),
        with_sentences=frozenset(loop_fit.with_sentences(sources)),
        correct=correct,
        needed=model_accuracy.needed_by_source(sources, correct),
        notes=tuple(notes),
    )


def members(project: Project, *, removed: bool = False) -> Iterator[tuple[Membership, list[str]]]:
    """Who is a member, or no longer is, with the names they go by (`spelling`): of account, address and personal links."""
    links = Invitation.objects.filter(project=project, accepted_at__isnull=False).exclude(name="")
    followed = defaultdict[int | None, list[str]](list)
    for person, name in links.order_by("pk").values_list("accepted_by_id", "name"):
        followed[person].append(name)
    rows = Membership.objects.filter(project=project, removed_at__isnull=not removed)
    for row in rows.select_related("person", "person__crowd_entry").order_by("removed_at", "pk"):
        names = (row.person.email, row.person.name, *followed[row.person_id])
        yield row, [spelling(name) for name in names if name]


def _people(project: Project) -> tuple[list[PersonEntry], dict[str, frozenset[str]]]:
    people: list[PersonEntry] = []
    roles_of: dict[str, frozenset[str]] = {}
    for row, names in members(project):
        roles, person = frozenset(row.roles), row.person
        # People of a crowd link, or who cannot be invited, are not in the study's file.
        is_nobody = person.is_external or person.is_simulated or person.erased_at or not spelling(person.name)
        if not (is_nobody or hasattr(person, "crowd_entry")):
            people.append(PersonEntry(person.name, sorted_roles(roles)))
        for name in names:
            roles_of[name] = roles_of.get(name, frozenset()) | roles
    return people, roles_of


def _invited(project: Project, now: datetime) -> tuple[list[PersonEntry], dict[str, frozenset[str]]]:
    rows = Invitation.objects.filter(project=project, accepted_at__isnull=True, expires_at__gt=now)
    roles_of: dict[str, frozenset[str]] = {}
    display_names: dict[str, str] = {}
    for row in rows.exclude(name="").order_by("pk"):
        name = spelling(row.name)
        display_names.setdefault(name, row.name)
        roles_of[name] = roles_of.get(name, frozenset()) | frozenset(row.roles)
    people = [PersonEntry(display_names[name], sorted_roles(roles)) for name, roles in roles_of.items()]
    return people, roles_of


def _consent(project: Project) -> str:
    row = ConsentText.objects.filter(project=project, number=project.consent_number).first()
    return row.text if row is not None else ""


def _guidelines(project: Project) -> dict[str, str]:
    """What annotators read now, where it is not the text that comes with the kind."""
    rows = Guidelines.objects.filter(project=project).order_by("task_type", "number")
    newest = {row.task_type: row.text for row in rows}
    own = {name: row.task() for name, row in workflow_task_types.newest(project).items()}
    kinds: Mapping[str, TaskType] = {**task_types(), **own}
    return {key: text for key, text in newest.items() if key in kinds and text != kinds[key].guidelines()}


_HOW = ("path", "tables", "limit", "fields", "good_only", "licence", "citation", "url")
"""What of the import of a source a study file says."""


def _source(row: Source) -> SourceFile:
    how: Mapping[str, Any] = row.how
    return SourceFile(
        **{name: getattr(row, name) for name in ("name", "reader", "split", "checksum")},
        **{key: how[key] for key in _HOW if how.get(key)},
    )


def _with_responses(sources: Iterable[Source]) -> Iterator[str]:
    """A note on each source that an import of responses made."""
    text = gettext(
        "The source {name} came with the responses in {file}. A study file imports no responses: "
        "import this file first, under the same name of the source."
    )
    for source in sources:
        if file := source.how.get("responses"):
            yield text.format(name=source.name, file=file)


def _runs(project: Project, batches: list[Batch], notes: list[str]) -> list[tuple[Run, bool]]:
    """Each run, and whether it stopped on its way."""
    runs = []
    names = {batch.pk: batch.name for batch in batches}
    rows = (
        PerturbationRun.objects.filter(project=project).defer("chosen", "marks").prefetch_related("sources")
    )
    for row in rows.order_by("pk"):
        choice = row.choice
        of = sorted(row.sources.all(), key=lambda source: source.pk)
        run = Run(
            kinds=tuple(row.kinds),
            seeds=tuple(row.seeds),
            sources=tuple(dict.fromkeys(source.name for source in of)),
            select=choice.get("select", ""),
            rules=choice.get("rules", "") if choice.get("select") else "",
            feeds_from=names.get(row.feeds_from_id or 0, ""),
            feeds_when=row.feeds_when,
        )
        if decided := choice.get("decided", ""):
            notes.append(
                gettext(
                    "The perturbations {name} use the decisions ({decided}) of the time they were planned. "
                    "In a file, name the batch instead: feeds_from and feeds_when."
                ).format(name=run.name, decided=decided)
            )
            continue
        runs.append((run, row.event_id is None and row.feeds_from_id is None))
    return runs


OF_HERE = frozenset({"base", "outcome"})
"""What is frozen beside an item and means something in its own project only: the addresses of what it came from."""


def _golds(batches: list[Batch], notes: list[str], created_ids: set[str]) -> dict[int, list[GoldItem]]:
    golds: dict[int, list[GoldItem]] = {}
    rows = Gold.objects.filter(item__batch__in=batches).select_related("item__example__source")
    for row in rows.order_by("item__position", "pk"):
        example = row.item.example
        inputs = {key: value for key, value in row.item.inputs.items() if key not in OF_HERE}
        entry = GoldItem(example.external_id, row.expected["data"], row.why, example.source.name, inputs)
        golds.setdefault(row.item.batch_id, []).append(entry)
        if example.parent_id is not None and example.seed is None:
            created_ids.add(example.external_id)
    if created_ids:
        notes.append(
            ngettext(
                "{number} gold item is about an example that people created here. It is left out, "
                "because a study file contains no edits.",
                "{number} gold items are about examples that people created here. They are left out, "
                "because a study file contains no edits.",
                len(created_ids),
            ).format(number=len(created_ids))
        )
    barred = Exclusion.objects.filter(item__gold__isnull=False, item__batch__in=batches).order_by()
    if people := barred.values("person").distinct().count():
        notes.append(
            ngettext(
                "{people} person is excluded from gold items here, because they created or decided "
                "the content. A file cannot express this. When you apply it, assign these batches to "
                "other people.",
                "{people} people are excluded from gold items here, because they created or decided "
                "the content. A file cannot express this. When you apply it, assign these batches to "
                "other people.",
                people,
            ).format(people=people)
        )
    return golds


def _guideline_examples(
    batches: list[Batch], notes: list[str], created_ids: set[str]
) -> dict[int, list[ItemName]]:
    """The guideline examples of each batch, in the order in which they were chosen."""
    chosen: dict[int, list[ItemName]] = {}
    rows = PinnedExample.objects.filter(item__batch__in=batches).select_related("item__example__source")
    made_here = set()
    for row in rows.order_by("pk"):
        example = row.item.example
        chosen.setdefault(row.item.batch_id, []).append(ItemName(example.external_id, example.source.name))
        if example.parent_id is not None and example.seed is None:
            made_here.add(example.external_id)
    if made_here:
        created_ids |= made_here
        notes.append(
            ngettext(
                "{number} guideline example is about an example that people created here. It is left out, "
                "because a study file contains no edits.",
                "{number} guideline examples are about examples that people created here. They are left out, "
                "because a study file contains no edits.",
                len(made_here),
            ).format(number=len(made_here))
        )
    return chosen


def _specs(
    batches: list[Batch], sources: list[Source], notes: list[str], created_ids: set[str]
) -> list[BatchSpec]:
    names = {source.public_id: source.name for source in sources}
    golds = _golds(batches, notes, created_ids)
    pinned = _guideline_examples(batches, notes, created_ids)
    specs = []
    for batch in batches:
        task = batch.installed_task()
        if task is None:
            notes.append(
                gettext("{batch} has the task type {kind}, which is not installed here.").format(
                    batch=batch.name, kind=batch.task_type
                )
            )
            continue
        if batch.set_aside_at is not None:
            notes.append(
                gettext(
                    "{batch} is set aside here and in no release. Where the file is applied, it is a "
                    "normal batch. Remove it from the file, or set it aside there too."
                ).format(batch=batch.name)
            )
        sampling = batch.sampling or _old_sampling(batch)
        drawn = tuple(
            dict.fromkeys(names[source_id] for source_id in sampling.get("sources", ()) if source_id in names)
        )
        specs.append(
            BatchSpec(
                name=batch.name,
                type=batch.task_type,
                defined=None if batch.definition is None else task,
                of=sampling.get("of", task.of[0]) if drawn else task.of[0],
                terms=_terms(batch),
                seed=batch.seed,
                sources=drawn,
                size=sampling.get("size"),
                only=tuple(sampling.get("only", ())),
                by=sampling.get("by", ""),
                feeds_from=batch.feeds_from.name if batch.feeds_from else "",
                gold=tuple(golds.get(batch.pk, ())),
                guideline_examples=tuple(pinned.get(batch.pk, ())),
                open=batch.opened_at is not None or batch.opens_when_drawn,
            )
        )
    return specs


def _terms(batch: Batch) -> dict[str, Any]:
    """The terms of a batch; another batch by its name."""
    terms = {name: getattr(batch, name) for name in TERMS}
    named = {name: value.name for name, value in terms.items() if isinstance(value, Batch)}
    return terms | named | ({"overlap": EVERYONE} if batch.strategy == "everyone" else {})


def _drawn_from_people(specs: list[BatchSpec]) -> list[str]:
    """What becomes elsewhere of batches that are drawn from what people made here: a file makes no edits."""
    notes = []
    for spec in specs:
        if spec.of != "perturbed" or not spec.sources:
            continue
        made_in = makers(specs, spec.sources)
        drawn = gettext("“{batch}” draws on examples that people create in other batches.").format(
            batch=spec.name
        )
        if made_in:
            elsewhere = gettext("On another site, apply the file a second time once these exist.")
        else:
            elsewhere = gettext(
                "No batch of the file creates such examples, so the file cannot be applied on another "
                "site. Remove this batch first."
            )
        notes.append(f"{drawn} {elsewhere}")
    return notes


def _old_sampling(batch: Batch) -> dict[str, Any]:
    """What a batch was drawn from that was planned before that was kept: its examples, by name."""
    if batch.feeds_from_id is not None:
        return {}
    rows = Item.objects.filter(batch=batch, is_gold=False).order_by("position")
    pairs = list(rows.values_list("example__external_id", "example__source__public_id"))
    return {
        "sources": list(dict.fromkeys(source for _, source in pairs)),
        "only": [name for name, _ in pairs],
    }


def _counts(batches: list[Batch], with_remaining: bool) -> dict[str, Counts]:
    person_counts = PersonBatchCounts.objects.filter(batch__in=batches).order_by()
    submitted = dict(person_counts.values_list("batch_id").annotate(n=Sum("submitted")))
    golds = Item.objects.filter(batch__in=batches, is_gold=True).order_by().values_list("batch_id")
    gold = {
        batch: (count, gold_submitted)
        for batch, count, gold_submitted in golds.annotate(n=Count("pk"), s=Sum("submitted_count"))
    }
    waiting: dict[int, tuple[int, int]] = {}
    if with_remaining:
        rows = Item.objects.filter(batch__in=batches, is_gold=False, decision__isnull=True).order_by()
        free = Sum(F("slots_count") - F("submitted_count"))
        for batch, count, slots in rows.values_list("batch_id").annotate(n=Count("pk"), free=free):
            waiting[batch] = (count, slots)
    counts = {}
    for batch in batches:
        count, gold_submitted = gold.get(batch.pk, (0, 0))
        undecided, slots = waiting.get(batch.pk, (0, 0)) if with_remaining else (None, None)
        size = (batch.state, batch.items_count, batch.slots_count, submitted.get(batch.pk, 0))
        counts[batch.name] = Counts(*size, count, gold_submitted, undecided, slots, batch.accepted_count)
    return counts


def _named(sources: list[Source], names: Collection[str]) -> dict[str, dict[str, tableqa.Example]]:
    """The examples of these ids, by source, in the order in which the sources were imported."""
    examples: dict[str, dict[str, tableqa.Example]] = {}
    of = {source.pk: source.name for source in sources}
    for example_ids in chunks(sorted(names)):
        rows = Example.objects.usable().filter(source__in=sources, external_id__in=example_ids)
        for row in rows.select_related("stored_table").order_by("source_id", "pk"):
            examples.setdefault(row.external_id, {})[of[row.source_id]] = row.example()
    return examples


def _items(batches: list[Batch], names: Collection[str]) -> dict[str, dict[ItemName, ItemState]]:
    """The items of the batches about these examples (ids), by the name of the batch."""
    states: dict[str, dict[ItemName, ItemState]] = {}
    of = {batch.pk: batch for batch in batches}
    for example_ids in chunks(sorted(names)):
        rows = Item.objects.filter(batch__in=batches, example__external_id__in=example_ids)
        for row in rows.select_related("example__source", "decision", "pinned").order_by("-pk"):
            name = ItemName(row.example.external_id, row.example.source.name)
            states.setdefault(of[row.batch_id].name, {})[name] = _state(row, of[row.batch_id])
    return states


def _state(item: Item, batch: Batch) -> ItemState:
    if item.is_gold:
        return "gold"
    if hasattr(item, "pinned"):
        return "pinned"
    decision = getattr(item, "decision", None)
    if batch.set_aside_at is not None or (decision is not None and decision.kind != Decision.Kind.ACCEPTED):
        return "excluded"
    return "undecided" if decision is None else "accepted"


def _examples(sources: list[Source], derived: bool) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    names = {source.pk: source.name for source in sources}
    for source in sources:
        counts[source.name, "originals"] = counts.get((source.name, "originals"), 0) + source.examples_count
    kinds = (("perturbed", Example.objects.perturbed()), ("automatic", Example.objects.automatic()))
    for of, rows in kinds if derived else ():
        counted = rows.filter(source__in=sources).order_by().values_list("source_id").annotate(n=Count("pk"))
        for source_id, count in counted:
            counts[names[source_id], of] = counts.get((names[source_id], of), 0) + count
    return counts


def _paces(batches: list[Batch]) -> dict[Kind, Pace]:
    """What the ledger has of the newest batches of each kind: all active time, for each item that was submitted."""
    kinds: dict[Kind, list[int]] = {}
    for batch in batches:
        if batch.opened_at is not None:
            kinds.setdefault(kind_of(batch.task_type, batch.variant, batch.purpose), []).append(batch.pk)
    of = {key: kind for kind, keys in kinds.items() for key in keys[:-NEWEST:-1]}
    work = {kind: defaultdict[int, Counter[str]](Counter) for kind in kinds}
    rows = ledger.sum_work(Q(of_batch__in=list(of), of_simulated=False))
    for (batch_id, person, _), (micros, items, _) in rows.items():
        work[of[batch_id]][person].update(micros=micros, items=items)
    paces = {}
    for kind, people in work.items():
        timed = [done for done in people.values() if done["micros"]]
        pace = mean_over((done["micros"] / ledger.SECOND, done["items"]) for done in timed)
        if pace.value is not None:
            ends = None if pace.low is None or pace.high is None else (pace.low, pace.high)
            paces[kind] = Pace(pace.value, sum(done["items"] for done in timed), ends)
    return paces
