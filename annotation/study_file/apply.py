"""Applying a study file: change by change through the journeys, each whole or not at all, safe to run again.

Nothing is begun while something is in the way (`Plan.cannot`). What fails later, fails in its own transaction: what
was done before stays, and the next time only the rest is left to do.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.access import audit_log
from annotation.access.roles import Role
from annotation.assistance import loop_fit
from annotation.background import jobs, uploads
from annotation.imports import example_import
from annotation.models import (
    Batch,
    Decision,
    Example,
    Gold,
    Item,
    Job,
    Person,
    PerturbationRun,
    Project,
    Source,
    Upload,
)
from annotation.models.batch_options import TERMS, changeable
from annotation.platform.refusals import ActionRefused, refuse
from annotation.quality import consent as quality_consent
from annotation.quality import gold, guideline_examples
from annotation.quality import guidelines as quality_guidelines
from annotation.queue import sampling
from annotation.releases import creation
from annotation.releases.study_history import COPIED
from annotation.study_file import current_state, plan
from annotation.study_file.comparison import Change, SourceProbe, resolve_source
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.schema import BatchSpec, GoldItem, PersonEntry, Run, Study
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import batch_settings, batches, perturbation_runs, projects, task_types
from tableqa.data.answers import are_sentences
from tableqa.readers import READERS, ReaderError, Rejection, checked_outcomes
from tableqa.readers.ingestion import checksum_of, reader_with_fields, with_split
from tableqa.readers.interface import Credit
from tableqa.readers.reading_options import with_options
from tasks.contract import InvalidResponse, TaskType, UnknownTaskType, response_data, task_type


@dataclass(frozen=True)
class Link:
    """A personal link that was made: for whom, and its token. It is shown once and not stored."""

    name: str
    token: str


@dataclass
class ApplyResult:
    """What applying did, in order; what waits for people; where it stopped, at which change, and why.

    left_out   a sentence for each source of whose files something was not imported
    """

    project: Project
    done: list[Change] = field(default_factory=list)
    waits: tuple[Change, ...] = ()
    links: list[Link] = field(default_factory=list)
    failed: Change | None = None
    why: str = ""
    left_out: list[str] = field(default_factory=list)


def probe_sources(
    study: Study, *, folder: Path, files: Mapping[str, Path] | Mapping[int, Path] | None = None
) -> dict[int, SourceProbe]:
    """What the files of the sources hold, by the position of the source. Reads every example of them, and keeps none.

    `folder` is where the study file lies; `files` are paths of sources in place of it, by their name or position.
    """
    probes, example_ids = {}, study.examples()
    for index, source in enumerate(study.sources):
        chosen = [path for key, path in (files or {}).items() if key in (index, source.name)]
        if not chosen and not source.path:
            continue
        path = chosen[0] if chosen else folder / source.path
        try:
            if source.reader not in READERS:
                continue
            read = reader_with_fields(source.reader, source.fields)
            tables = folder / source.tables if source.tables else None
            read, fields = with_split(read, source.split, path, tables, source.fields)
            checksum = checksum_of(read.files(path, tables), source.limit, fields)
            count, named, first = 0, {}, []
            outcomes = checked_outcomes(read, path, tables, source.limit)
            for example in with_options(source.fields, outcomes):
                if isinstance(example, Rejection):
                    if source.good_only and example.record is not None:
                        continue
                    raise example.error
                count += 1
                if count <= loop_fit.LOOKED_AT:
                    first.append(example.answers)
                if example.id in example_ids:
                    named[example.id] = example
            probes[index] = SourceProbe(
                checksum, count, are_sentences(first), named=named, path=path, tables=tables
            )
        except (ActionRefused, ReaderError, ValueError) as error:
            probes[index] = SourceProbe(wrong=f"{error}")
        except OSError as error:
            probes[index] = SourceProbe(
                wrong=f"{path} cannot be opened ({error.strerror}). Check the path and its permissions."
            )
    return probes


def plan_for_project(
    study: Study, project: Project | None, *, now: datetime, probes: Mapping[int, SourceProbe] | None = None
) -> Plan:
    """The plan of a study for a project as it is now; None: for a project that is not there yet."""
    if project is None:
        return plan.plan(study, None, probes=probes, predictors=settings.PREDICTORS)
    derived = any(entry.of != "originals" for entry in study.batches)
    chosen = {entry.example for spec in study.batches for entry in spec.guideline_examples}
    state = current_state.of_project(project, now=now, derived=derived, names=study.examples(), items=chosen)
    return plan.plan(_with_stored_gold(study, project), state, probes=probes)


def _with_stored_gold(study: Study, project: Project) -> Study:
    """The study with gold as the project keeps it, where that says the same in another form."""
    golds: dict[tuple[str, str], Gold] = {}
    for entry in Gold.objects.filter(item__batch__project=project).select_related(
        "item__batch", "item__example__stored_table"
    ):
        golds[entry.item.batch.name, entry.item.example.external_id] = entry
    if not golds:
        return study

    def stored_form(spec: BatchSpec, gold_item: GoldItem) -> GoldItem:
        stored = golds.get((spec.name, gold_item.example))
        if stored is None or gold_item.response == stored.expected["data"]:
            return gold_item
        task, item = stored.item.batch.task(), stored.item.plain()
        try:
            same = response_data(task.parse(gold_item.response, item)) == stored.expected["data"]
        except InvalidResponse:
            return gold_item  # said when it is marked
        return replace(gold_item, response=stored.expected["data"]) if same else gold_item

    batches = tuple(
        replace(spec, gold=tuple(stored_form(spec, entry) for entry in spec.gold)) if spec.gold else spec
        for spec in study.batches
    )
    return replace(study, batches=batches)


def apply(
    study: Study,
    *,
    project: Project | None,
    by: Person,
    now: datetime,
    probes: Mapping[int, SourceProbe] | None = None,
    invite: bool = True,
    tell: Callable[[Change], None] = lambda change: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ApplyResult:
    """Bring a project to what a study says; without one, make it. Applying twice is applying once.

    `probes` are those of the sources (`probe_sources`); without them none is imported. Without `invite` no personal links
    are made.
    Raises ActionRefused(invalid_request) before anything is done where something stands in the way.
    """
    plan = plan_for_project(study, project, now=now, probes=probes)
    plan.require_possible()
    if project is None:
        project = projects.create_project(
            slug=study.slug, name=study.name, manager=by, now=now, time_zone=study.time_zone
        )
        applied = ApplyResult(project, [plan.does[0]])
        tell(plan.does[0])
        plan = plan_for_project(study, project, now=now, probes=probes)  # its creator is a member now
    else:
        applied = ApplyResult(project)
    applied.waits = plan.waits
    steps = [step for step in plan.does if invite or step.verb != "invite"]
    applier = _Applier(plan.study, project, by, now, applied, probes or {})
    for at, change in enumerate(steps):
        progress(at, len(steps))
        try:
            applier.apply_change(change)
        except ActionRefused as refused:
            applied.failed, applied.why = change, refused.detail
            break
        applied.done.append(change)
        tell(change)
    else:
        progress(len(steps), len(steps))
    return applied


def copy_setup(
    original: Project, *, slug: str, name: str, time_zone: str, by: Person, now: datetime
) -> Project:
    """A new project with what was set up in another one: limits, pay, consent, statement, own task types, guidelines.

    Sources, people, batches and perturbations are not copied: the study file of the original has them. All or nothing.
    Raises ActionRefused as `projects.create_project`.
    """
    state = current_state.of_project(original, now=now, derived=False, with_remaining=False)
    nothing: dict[str, Any] = dict.fromkeys(("people", "sources", "runs", "batches"), ())
    study = replace(state.study, slug=slug, name=name, time_zone=time_zone, **nothing)
    with transaction.atomic():
        applied = apply(study, project=None, by=by, now=now)
        if applied.failed is not None:
            refuse("invalid_request", "{name}: {why}", name=applied.failed.name, why=applied.why)
        audit_log.log(applied.project, "", COPIED, by=by, now=now, detail={"project": original.slug})
    return applied.project


def apply_whole(plan: Plan, *, project: Project, by: Person, now: datetime) -> None:
    """Make every change of a plan in one transaction. Perturbations run in the background afterwards.

    Raises ActionRefused, with nothing changed, where something stands in the way or a change is refused.
    """
    plan.require_possible()
    applier = _Applier(plan.study, project, by, now, ApplyResult(project))
    with transaction.atomic():
        for change in plan.does:
            try:
                applier.apply_change(change, in_background=True)
            except ActionRefused as refused:
                refuse("invalid_request", "{name}: {why}", name=change.name, why=refused.detail)


def make_links(study: Study, *, project: Project, by: Person, now: datetime) -> list[Link]:
    """Personal links for the people of the file who are not in the project yet and have none."""
    applied = ApplyResult(project)
    plan = plan_for_project(study, project, now=now)
    applier = _Applier(plan.study, project, by, now, applied)
    with transaction.atomic():
        for change in plan.changes:
            if change.verb == "invite":
                applier.apply_change(change)
    return applied.links


def effects(plan: Plan, project: Project, *, uncounted: Collection[str] = ()) -> dict[str, list[str]]:
    """What changing batches that are there does to items and people, by the name of the batch.

    `uncounted` are batches (names) whose counts are not for the reader.
    """
    names = [change.name for change in plan.changes if change.verb == "change" and change.section == "batch"]
    batches = {batch.name: batch for batch in Batch.objects.filter(project=project, name__in=names)}
    specs = {spec.name: spec for spec in plan.study.batches}
    return {
        name: batch_settings.effects(
            batches[name], _changeable(specs[name], project, batches[name]), counted=name not in uncounted
        )
        for name in names
    }


def _columns(terms: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """Terms as a batch stores them: batches in place of their names."""
    batches = Batch.objects.filter(project=project)
    return {
        name: batches.filter(name=value).first() if value and TERMS[name].column.is_relation else value
        for name, value in terms.items()
    }


def _changeable(spec: BatchSpec, project: Project, batch: Batch) -> dict[str, Any]:
    """The terms of a batch that may change after it was planned, as `workflow.batch_settings` takes them."""
    terms = {name: spec.terms[name] for name in changeable()}
    if batch.strategy == "everyone":
        del terms["overlap"]
    return _columns(terms, project)


STEPS = {"project": "terms", "task type": "task_type", "guideline examples": "guideline_examples"}
"""Sections whose step is not called after them."""


@dataclass
class _Applier:
    """The steps, one method for each section of a plan."""

    study: Study
    project: Project
    by: Person
    now: datetime
    applied: ApplyResult
    probes: Mapping[int, SourceProbe] = field(default_factory=dict)

    def apply_change(self, change: Change, *, in_background: bool = False) -> None:
        """Make one change. Sources and perturbations write many transactions, and go on where they stopped.

        `in_background`: perturbations are planned, and made by a job. Raises ActionRefused.
        """
        step: Callable[[Change], None] = getattr(self, STEPS.get(change.section, change.section))
        try:
            if change.section == "perturbation" and in_background:
                perturbation_runs.start(run=self.plan_run(change), by=self.by, now=self.now)
            elif change.section in ("source", "perturbation"):
                step(change)
            else:
                with transaction.atomic():
                    step(change)
        except (InvalidResponse, UnknownTaskType) as error:
            raise ActionRefused("invalid_request", str(error)) from error

    def terms(self, change: Change) -> None:
        study, project, by, now = self.study, self.project, self.by, self.now
        projects.change_terms(
            project=project, pay=study.pay, caps=study.caps, model_budget=study.model_budget, by=by, now=now
        )
        creation.change_options(project=project, terms=study.release, by=by, now=now)
        projects.change_statement(project=project, statement=study.statement, by=by, now=now)
        quality_guidelines.require_reading(project=project, required=study.must_read, by=by, now=now)
        projects.rename_project(project=project, name=study.name, time_zone=study.time_zone, by=by, now=now)
        project.refresh_from_db(fields=["name", "time_zone"])

    def consent(self, change: Change) -> None:
        quality_consent.write(project=self.project, text=self.study.consent, by=self.by, now=self.now)
        self.project.refresh_from_db(fields=["consent_number"])

    def task_type(self, change: Change) -> None:
        task_types.define(
            project=self.project,
            name=change.name,
            data=self.study.task_types[change.name],
            by=self.by,
            now=self.now,
        )

    def task(self, key: str) -> TaskType:
        """The task type of this name, as the project has it now."""
        own = task_types.task_in(self.project, key)
        return task_type(key) if own is None else own

    def guidelines(self, change: Change) -> None:
        quality_guidelines.revise(
            project=self.project,
            task=self.task(change.name),
            text=self.study.guidelines[change.name],
            person=self.by,
            now=self.now,
        )

    def source(self, change: Change) -> None:
        source_file = self.study.sources[change.index]
        probe = self.probes[change.index]
        assert probe.path is not None, "a source is only planned where its files can be read"  # nosec
        done = example_import.import_examples(
            project=self.project,
            path=probe.path,
            tables=probe.tables,
            **{name: getattr(source_file, name) for name in ("name", "reader", "split", "limit", "fields")},
            credit=Credit(source_file.licence, source_file.citation, source_file.url),
            good_only=source_file.good_only,
            declared_paths={
                key: value
                for key, value in (("path", source_file.path), ("tables", source_file.tables))
                if value
            },
            by=self.by,
            now=self.now,
        )
        if done.report.left_out:
            self.applied.left_out.append(f"{source_file.name}: {done.report.left_out}")

    def perturbation(self, change: Change) -> None:
        perturbation_runs.perform(self.plan_run(change))

    def plan_run(self, change: Change) -> PerturbationRun:
        run: Run = self.study.runs[change.index]
        return perturbation_runs.plan_run(
            project=self.project,
            kinds=run.kinds,
            seeds=run.seeds,
            sources=self.sources(run.sources),
            select=run.select,
            **({"rules": run.rules} if run.rules else {}),
            feeds_from=self.batch_named(run.feeds_from) if run.feeds_from else None,
            feeds_when=run.feeds_when,
            by=self.by,
            now=self.now,
        )

    def batch(self, change: Change) -> None:
        spec = self.study.batches[change.index]
        if change.verb == "change":
            batch = self.batch_named(spec.name)
            new_terms = _changeable(spec, self.project, batch)
            batch_settings.change(batch=batch, changes=new_terms, by=self.by, now=self.now)
            return
        batches.plan_batch(
            project=self.project,
            name=spec.name,
            task=self.task(spec.type),
            sample=sampling.Sample(
                sources=self.sources(spec.sources),
                of=spec.of,
                size=spec.size,
                only=list(spec.only) or None,
                seed=spec.seed,
                strata=spec.by,
                feeds_from=self.batch_named(spec.feeds_from) if spec.feeds_from else None,
            ),
            terms=_columns(spec.terms, self.project),
            by=self.by,
            now=self.now,
        )

    def gold(self, change: Change) -> None:
        spec = self.study.batches[change.index]
        batch = self.batch_named(spec.name)
        marked = Gold.objects.filter(item__batch=batch).select_related("item__example__source")
        existing = {
            (row.item.example.external_id, row.item.example.source.name): (row.expected["data"], row.why)
            for row in marked
        }
        usable = Example.objects.usable().filter(source__project=self.project)
        rows = usable.select_related("stored_table", "source").order_by("source_id", "pk")
        for entry in spec.gold:
            by_source = {row.source.name: row for row in rows.filter(external_id=entry.example)}
            name, wrong = resolve_source(entry, list(by_source), spec.sources)
            if wrong:
                refuse("invalid_request", wrong)
            if existing.get((entry.example, name)) == (entry.response, entry.why):
                continue  # marking again would record it again
            try:
                gold.set_gold(
                    batch=batch,
                    example=by_source[name],
                    data=entry.response,
                    why=entry.why,
                    inputs=entry.inputs or None,
                    by=self.by,
                    now=self.now,
                )
            except InvalidResponse as invalid:
                refuse("invalid_request", f"{entry.example}: {invalid}")

    def open(self, change: Change) -> None:
        batch = self.batch_named(change.name)
        if batch.waits_for_model:
            batches.open_when_drawn(batch=batch)
            return
        batches.open_batch(batch=batch, by=self.by, now=self.now)

    def guideline_examples(self, change: Change) -> None:
        batch = self.study.batches[change.index]
        rows = Item.objects.filter(
            batch__project=self.project, batch__name=batch.name, batch__closed_at__isnull=False
        )
        accepted = rows.filter(decision__kind=Decision.Kind.ACCEPTED, is_gold=False, pinned__isnull=True)
        for entry in batch.guideline_examples:
            items = accepted.filter(example__external_id=entry.example).select_related("example__source")
            by_source = {item.example.source.name: item for item in items.order_by("-pk")}
            source, _ = resolve_source(entry, list(by_source), batch.sources)
            if source:
                guideline_examples.pin(item=by_source[source], by=self.by, now=self.now)

    def person(self, change: Change) -> None:
        entry = self.study.people[change.index]
        roles = [Role(role) for role in entry.roles]
        if change.verb == "invite":
            _, token = projects.invite(
                project=self.project, roles=roles, name=entry.name, by=self.by, now=self.now
            )
            self.applied.links.append(Link(entry.name, token))
            return
        projects.add_member(
            project=self.project, person=self.member(entry), roles=roles, by=self.by, now=self.now
        )

    # -- what things are called -------------------------------------------------------------------------

    def batch_named(self, name: str) -> Batch:
        return Batch.objects.select_related("project").get(project=self.project, name=name)

    def sources(self, names: tuple[str, ...]) -> list[Source]:
        return list(Source.objects.ready().filter(project=self.project, name__in=names).order_by("pk"))

    def member(self, entry: PersonEntry) -> Person:
        people: dict[str, Person] = {}
        for row, names in current_state.members(self.project):
            people = dict.fromkeys(names, row.person) | people
        member = entry.among(people)
        if member is None:
            refuse("invalid_request", f"{entry.name} is not in the project any more. Apply the file again.")
        return member


# -- in the background ------------------------------------------------------------------------------


def start(*, upload: Upload, by: Person, now: datetime) -> Job:
    """Apply an uploaded study file in the background. It makes no links: they are shown once, on request."""
    return jobs.enqueue(project=upload.project, kind="study", ids={"upload": upload.pk}, by=by, now=now)


@jobs.kind("study")
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    upload = Upload.objects.get(pk=job.ids["upload"])
    assert job.made_by is not None, "somebody applies a file"  # nosec
    try:
        with upload.file.open("rb") as sent:
            study = parse(sent.read().decode("utf-8"))
        applied = apply(
            study, project=job.project, by=job.made_by, now=timezone.now(), invite=False, progress=progress
        )
    except (StudyError, UnicodeDecodeError) as error:
        refuse("invalid_request", str(error))
    done = [str(change) for change in applied.done]
    if applied.failed is not None:
        before = f" Before that: {' '.join(done)}" if done else ""
        refuse("invalid_request", f"{applied.failed.with_line()} {applied.why}{before}")
    return {"done": done + [str(change) for change in applied.waits]}


jobs.afterwards("study")(uploads.forget_of)
