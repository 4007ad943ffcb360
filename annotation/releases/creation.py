"""Releases: planned up to an event, written, packed and shown; and the methods appendix.

A release is bounded by a watermark: the last event of the project when it began. Before anything is read, transactions
that were writing then are waited for (`audit_log.wait_for_writers`), so that nothing below the watermark can appear later;
the release does not wait.
"""

import shutil
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, NotRequired, TypedDict, Unpack

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.access import audit_log, visibility
from annotation.background import jobs
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Example,
    Item,
    Job,
    Outcome,
    Person,
    Project,
    Release,
)
from annotation.payments import data_statement
from annotation.platform import keyset
from annotation.platform.public_ids import new_public_id
from annotation.platform.refusals import refuse, require_storable
from annotation.quality import snapshots
from annotation.releases import benchmark_files, history, mixes, release_writer, signing
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.manifest import Manifest
from annotation.releases.methods_appendix import Study
from annotation.releases.raw_records import PURPOSES, excluded
from tableqa.core.canonical_json import digest
from tableqa.core.command_line import manage
from tableqa.core.release_rules import RULES
from tableqa.perturbations import PERTURBATIONS
from tableqa.releases import record_files
from tableqa.serialisations import SERIALISATIONS
from tableqa.writers import harness

Record = dict[str, Any]
LONGEST_NAME = 80
LEVEL = 3
"""How hard archives are packed: records of one table are together, and zlib's usual 6 takes more than twice as long."""


class Options(TypedDict):
    """What `plan_release` takes beside project, person and time."""

    name: str
    format: str | Sequence[str]
    allow_simulated: NotRequired[bool]
    mix: NotRequired[int | None]
    waivers: NotRequired[Mapping[str, str]]
    purpose: NotRequired[str]
    prompts: NotRequired[Mapping[str, str]]


def make_release(
    *,
    project: Project,
    by: Person | None,
    now: datetime,
    out: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    **options: Unpack[Options],
) -> Release:
    """Write a release to the data folder and, when given, a copy to `out` (absent or empty).

    With `mix`, a seed, accepted perturbations of one original are composed as well (`annotation.releases.mixes`).

    Making it again under the same name is fine while the data is the same; other data under a name
    that was used is refused. Raises ActionRefused.
    """
    with _empty_folder(out):
        release = plan_release(project=project, by=by, now=now, **options)
        try:
            release = write_release(release, progress=progress)
        except BaseException:
            Release.objects.filter(pk=release.pk, ready_at__isnull=True).delete()
            raise
        if out is not None:
            shutil.copytree(folder(release), out, dirs_exist_ok=True)
    return release


@contextmanager
def _empty_folder(out: Path | None) -> Iterator[None]:
    """Make the folder, or refuse one that cannot be made or is in use; an error within takes away what was made."""
    created = [] if out is None else [path for path in (out, *out.parents) if not path.exists()]
    try:
        if out is not None:
            _make_empty(out)
        yield
    except BaseException:
        for path in created:
            with suppress(OSError):  # it holds something, or was never made
                path.rmdir()
        raise


def _make_empty(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            refuse(
                "invalid_request",
                "{out} already exists and is not an empty folder. Choose another one.",
                out=out,
            )
    except OSError as error:
        refuse(
            "invalid_request",
            "{out} cannot be created ({strerror}). Choose another folder.",
            out=out,
            strerror=error.strerror,
        )


def start_release(
    *, project: Project, by: Person, now: datetime, request: str = "", **options: Unpack[Options]
) -> Release:
    """Make a release in the background; its job tells how far it is.

    A repetition of a request, whose answer was lost, has the same `request`: it gets the release of the first.
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
        of_request = Job.objects.filter(project=project, kind="release", ids__request=request, made_by=by)
        for job in of_request.order_by("pk") if request else ():
            its = Q(pk=job.ids["release"]) | Q(public_id=job.result.get("release", ""))
            if release := Release.objects.filter(its, name=options["name"].strip()).first():
                return release
        release = plan_release(project=project, by=by, now=now, **options)
        release.job = jobs.enqueue(
            project=project, kind="release", ids={"release": release.pk, "request": request}, by=by, now=now
        )
        release.save(update_fields=["job"])
    return release


@jobs.kind("release")
def _run_release(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    release = Release.objects.select_related("project").get(pk=job.ids["release"])
    release = write_release(release, packed=True, progress=progress)
    return {"release": release.public_id}


def plan_release(
    *,
    project: Project,
    name: str,
    format: str | Sequence[str],
    by: Person | None,
    now: datetime,
    allow_simulated: bool = False,
    mix: int | None = None,
    waivers: Mapping[str, str] | None = None,
    purpose: str = "",
    prompts: Mapping[str, str] | None = None,
) -> Release:
    """Fix the watermark. `format` is one format or several, in any order. `prompts` are as in the manifest.

    Raises ActionRefused: invalid_request, nothing_to_release, simulated_people, name_taken, run_unfinished.
    """
    terms = options(
        [format] if isinstance(format, str) else format, mix=mix, purpose=purpose, prompts=prompts
    )
    formats = terms["formats"]
    require_storable(name, dict(prompts or {}))
    if not name.strip() or len(name.strip()) > LONGEST_NAME:
        refuse(
            "invalid_request",
            "Enter a release name of at most {longest_name} characters.",
            longest_name=LONGEST_NAME,
        )
    if not project.sources.ready().exists():
        refuse("nothing_to_release", "The project has no data yet. Import a dataset first.")
    simulated = Assignment.objects.filter(
        batch__project=project, person__is_simulated=True, annotations__isnull=False
    ).exists()
    if simulated and not allow_simulated:
        refuse(
            "simulated_people",
            "Simulated people annotated in this project. Allow them explicitly (command line: "
            "--allow-simulated). Do not publish the release as data.",
        )
    watermark = _watermark(project)
    _require_free_name(project, name.strip(), terms, watermark)
    _require_finished_runs(project, watermark)
    change_options(project=project, terms=terms, by=by, now=now)
    with transaction.atomic():
        # Releases that are planned at once get different numbers.
        Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
        return Release.objects.create(
            project=project,
            name=name.strip(),
            number=history.next_number(project, name.strip()),
            format=formats[0],
            more_formats=formats[1:],
            watermark=watermark,
            allow_simulated=allow_simulated,
            mix_seed=mix,
            waivers=dict(waivers or {}),
            purpose=purpose,
            manifest={"prompts": dict(prompts)} if prompts else {},
            made_by=by,
            made_at=now,
        )


def _require_free_name(project: Project, name: str, terms: Mapping[str, Any], watermark: int) -> None:
    """Refuse a name whose release has other contents, as far as its options and new responses say so.

    Whether everything else is the same is known once the files are written.
    """
    earlier = Release.objects.filter(project=project, name=name, ready_at__isnull=False).first()
    if earlier is None:
        return
    prompts = {**harness.DEFAULT_PROMPTS, **terms.get("prompts", {})}
    before = (earlier.formats, earlier.mix_seed, earlier.purpose, earlier.manifest.get("prompts") or prompts)
    now = (terms["formats"], terms.get("mix"), terms.get("purpose", ""), prompts)
    new = Annotation.objects.filter(
        assignment__batch__in=release_writer.batches_of(Release(project=project, watermark=watermark)),
        assignment__item__is_gold=False,
        event_id__gt=earlier.watermark,
    )
    if before != now:
        refuse(
            "name_taken",
            "{name} was already released with other formats or options. Choose another name, or those options.",
            name=name,
        )
    if new.exists():
        _refuse_name(name)


def _refuse_name(name: str) -> NoReturn:
    refuse(
        "name_taken",
        "{name} was already released with different contents. Choose another name.",
        name=name,
    )


def options(
    formats: Sequence[str],
    *,
    mix: int | None = None,
    purpose: str = "",
    prompts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The options of a release that are part of its study: {"formats"}, and if they are set "mix", "purpose", "prompts".

    Formats are in the order of `FORMATS`. Raises ActionRefused(invalid_request): an unknown format, purpose, design or
    serialisation, no format, or a mix or prompts that none of the formats supports.
    """
    _require_known("purpose", filter(None, [purpose]), PURPOSES)
    _require_known("format", formats, FORMATS)
    if not formats:
        refuse(
            "invalid_request",
            "Choose at least one format. Available: {formats}.",
            formats=", ".join(FORMATS),
        )
    if mix is not None and not set(formats) & set(mixes.FORMATS):
        refuse(
            "invalid_request",
            "The format {value} does not support mixes. Formats that do: {formats}.",
            value=", ".join(formats),
            formats=", ".join(mixes.FORMATS),
        )
    terms: dict[str, Any] = {"formats": benchmark_files.sorted_formats(formats)}
    if mix is not None:
        terms["mix"] = mix
    if prompts:
        _require_prompts(prompts, formats)
        terms["prompts"] = dict(prompts)
    return {**terms, "purpose": purpose} if purpose else terms


def _require_prompts(prompts: Mapping[str, str], formats: Sequence[str]) -> None:
    if "hf" not in formats:
        refuse(
            "invalid_request", "Only the format hf has prompts. Add it, or leave out the options of prompts."
        )
    _require_known("option of prompts", prompts, (*harness.DEFAULT_PROMPTS, "demonstrations"))
    for name, allowed in (("design", harness.DESIGNS), ("serialisation", SERIALISATIONS)):
        _require_known(name, [prompts[name]] if name in prompts else [], allowed)


def _require_known(name: str, values: Iterable[str], allowed: Collection[str]) -> None:
    if unknown := [value for value in values if value not in allowed]:
        refuse(
            "invalid_request",
            "There is no {name} {value!r}. Available: {values}.",
            name=name,
            value=unknown[0],
            values=", ".join(allowed),
        )


def change_options(*, project: Project, terms: Mapping[str, Any], by: Person | None, now: datetime) -> None:
    """Set what the next release of the project starts with: `terms` of `options`, or nothing ({})."""
    terms = dict(terms)
    if terms == project.release:
        return
    with transaction.atomic():
        before = (
            Project.objects.select_for_update(no_key=True)
            .values_list("release", flat=True)
            .get(pk=project.pk)
        )
        Project.objects.filter(pk=project.pk).update(release=terms)
        if before != terms:
            detail = audit_log.changed("release", before, terms)
            audit_log.log(project, "", "terms changed", by=by, now=now, detail=detail)
    project.release = terms


def _require_finished_runs(project: Project, watermark: int) -> None:
    """Refuse where people judged an automatic perturbation that no finished run makes: no release could make it again."""
    runs = release_writer.finished_runs(project, watermark)
    judged = Example.objects.automatic().filter(
        items__batch__project=project, items__assignments__annotations__event_id__lte=watermark
    )
    kinds: dict[str, int] = {}
    for parent, kind, seed in keyset.fields(judged.distinct(), "parent_id", "perturbation", "seed"):
        any_seed = not PERTURBATIONS[kind].seeded
        if not any(
            kind in run.kinds
            and (any_seed or seed in run.seeds)
            and release_writer.contains_sorted(run.chosen, parent)
            for run in runs
        ):
            kinds[kind] = kinds.get(kind, 0) + 1
    if kinds:
        named = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items()))
        refuse(
            "run_unfinished",
            "People rated automatic perturbations of an unfinished run ({named}), but a release "
            "only includes finished runs. Start the same run again with the same perturbations, "
            "seeds and selection (on the page, or {command}). It continues where it "
            "stopped. Then create the release.",
            named=named,
            command=manage("perturb"),
        )


def write_release(
    release: Release,
    *,
    packed: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Release:
    """Write the files and make the release visible. A release that is ready already is left as it is.

    Each attempt writes into a folder of its own: a worker that was taken for lost may still be at it, and what it has
    begun goes. Where nothing comes of an attempt, nothing is left of it. With `packed` the archive is there, too, when the
    release becomes visible: a download does not wait for it. Raises ActionRefused, also `still_writing` where a
    transaction does not end (`audit_log.wait_for_writers`).
    """
    if release.ready_at is not None:
        return release
    if audit_log.wait_for_writers():
        _require_finished_runs(
            release.project, release.watermark
        )  # what they wrote may be below the watermark
    target = folder(release)
    for stale_part in target.parent.glob(f"{target.name}.*.part"):
        shutil.rmtree(stale_part, ignore_errors=True)
    part = target.with_name(f"{target.name}.{new_public_id()}.part")
    part.mkdir(parents=True)
    try:
        return _write_release(release, part, target, packed, progress)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _archive_path(part).unlink(missing_ok=True)


def _write_release(
    release: Release, part: Path, target: Path, packed: bool, progress: Callable[[int, int], None]
) -> Release:
    before = history.predecessor(release)
    before_files = (before, folder(before)) if before is not None else None
    manifest = release_writer.write_files(release, part, progress, before_files)
    whole = digest(manifest)
    signing.sign(part, whole)
    earlier = Release.objects.filter(
        project=release.project, name=release.name, ready_at__isnull=False
    ).first()
    if earlier is not None:
        if earlier.digest != whole:
            _refuse_name(release.name)
        Release.objects.filter(pk=release.pk, ready_at__isnull=True).delete()
        return earlier
    if packed:
        _pack(part, _archive_path(part))
    now = timezone.now()
    try:
        with transaction.atomic():
            mine = Release.objects.filter(pk=release.pk, ready_at__isnull=True)
            if mine.update(digest=whole, manifest=manifest, ready_at=now):
                # While the row is locked: of two attempts one puts its files there.
                shutil.rmtree(target, ignore_errors=True)
                part.rename(target)
                if packed:
                    _archive_path(part).rename(target.with_suffix(".zip"))
                audit_log.log(release, "", "ready", by=release.made_by, now=now)
    except IntegrityError:
        refuse("name_taken", "Another person has just released {name}.", name=release.name)
    release.refresh_from_db()
    return release


def folder(release: Release) -> Path:
    """Where the files of a release lie."""
    return release.folder


def archive(release: Release) -> Path:
    """The release as one zip, made on first demand; equal bytes for equal contents."""
    source = folder(release)
    target = source.with_suffix(".zip")
    if not target.exists():
        part = target.with_name(f"{target.stem}.{new_public_id()}.part")  # two people may ask at once
        _pack(source, part)
        part.rename(target)
    return target


def archive_for(release: Release, person: Person) -> tuple[Path, str]:
    """The zip archive for a person, and the name of the file. Raises ActionRefused (still_involved)."""
    visibility.require_no_open_work(person, release.project)
    visibility.require_nothing_to_judge(person, release)
    return archive(release), f"{release.project.slug}-{release.name}.zip".replace("/", "-")


def _pack(source: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(source).as_posix(), date_time=(1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry._compresslevel = LEVEL  # type: ignore[attr-defined]  # an entry of one's own has none of its archive's
                entry.file_size = path.stat().st_size  # so that a large one gets the long form
                with path.open("rb") as source_file, packed.open(entry, "w") as out:
                    shutil.copyfileobj(source_file, out)


def changed_items(release: Release) -> QuerySet[Decision]:
    """The decisions of a release that created changed examples, in the order in which they were made."""
    outcomes = changed_outcomes(release).filter(decision=OuterRef("pk"))
    batches = release_writer.batches_of(release)
    decisions = Decision.objects.filter(
        Exists(outcomes), item__batch__in=batches, event_id__lte=release.watermark
    )
    return decisions.order_by("pk")


def changed_outcomes(release: Release) -> QuerySet[Outcome]:
    """The outcomes that created changed examples, but for those that the files of the release leave out."""
    outcomes, ids = Outcome.objects.filter(example__isnull=False), defaultdict[str, list[str]](list)
    for source, id in excluded(release.manifest):
        ids[source].append(id)
    for source, left_out in ids.items():
        outcomes = outcomes.exclude(example__source__name=source, example__external_id__in=left_out)
    return outcomes


# -- the methods appendix ---------------------------------------------------------------------------


def study_of(release: Release, *, pictures: Collection[str], unchecked: tuple[int, int] = (0, 0)) -> Study:
    """What the methods appendix of a release is written from: its manifest and its decisions, and its `unchecked` edits."""
    decisions = record_files.records(folder(release) / "decisions.jsonl")
    reasons = Counter(
        _reason(decision["reason"], decision.get("note", ""), decision.get("listed_reason"))
        for decision in decisions
        if decision["kind"] == Decision.Kind.EXCLUDED
    )
    name = f"{release.project.name}, release {release.name}"
    return Study(
        name, _annotated_manifest(release, Manifest.of(release.manifest)), reasons, pictures, unchecked
    )


def _annotated_manifest(release: Release, manifest: Manifest) -> Manifest:
    """A manifest with the batches that have annotations, and their sources; with all without annotations."""
    annotations = Annotation.objects.filter(assignment__item=OuterRef("pk"), event_id__lte=release.watermark)
    items = Item.objects.filter(Exists(annotations), batch__project=release.project_id).order_by()
    batches = set(items.values_list("batch__public_id", flat=True).distinct())
    sources = set(items.values_list("example__source__name", flat=True).distinct())
    if not batches & {batch["id"] for batch in manifest.batches}:
        return manifest
    return replace(
        manifest,
        batches=[batch for batch in manifest.batches if batch["id"] in batches],
        sources=[source for source in manifest.sources if source["name"] in sources],
    )


def study_now(
    *, project: Project, pictures: Collection[str], now: datetime, unchecked: tuple[int, int] = (0, 0)
) -> Study:
    """The same of a project: what the manifest of a release made now would say in the fields that the appendix reads.

    Agreement comes from the snapshots of the pages; of batches whose snapshot is being computed, it is left out.
    """
    release = Release(project=project, watermark=_watermark(project))
    batches = release_writer.batches_of(release)
    sources = project.sources.ready().order_by("name", "pk").values(*release_writer.SOURCE_FIELDS)
    decided = Decision.objects.filter(item__batch__in=batches, item__is_gold=False)
    agreement_snapshots = snapshots.views_of_batches(batches, ("agreement",), now=now)
    figures = [
        {"batch": batch.public_id, **figure}
        for batch in batches
        if (data := agreement_snapshots[batch.pk, "agreement"].data) is not None
        for figure in data["figures"]
    ]
    manifest = Manifest(
        rules=RULES,
        project=project.slug,
        sources=[dict(source) for source in {source["name"]: source for source in sources}.values()],
        batches=[release_writer.batch_record(release, batch) for batch in batches],
        guidelines=release_writer.guidelines_of(release, batches),
        statement=data_statement.count_statement(project, batches, watermark=release.watermark, until=now),
        counts=_counts_now(batches, decided),
        agreement=figures,
    )
    excluded = decided.filter(kind=Decision.Kind.EXCLUDED).order_by()
    reasons: Counter[str] = Counter()
    rows = excluded.values_list("reason", "note", "listed_reason").annotate(n=Count("pk"))
    for reason, note, listed_reason, count in rows:
        reasons[_reason(str(reason), note, listed_reason)] += count
    return Study(project.name, _annotated_manifest(release, manifest), reasons, pictures, unchecked)


def _reason(reason: str, note: str, listed_reason: str | None) -> str:
    """Why an item was excluded. A listed reason replaces the note; where an accepted response excludes
    the item ("unanswerable"), it says why that response was chosen.
    """
    return listed_reason or reason if reason == note else reason


def _counts_now(batches: Sequence[Batch], decided: QuerySet[Decision]) -> Record:
    """Those counts of a manifest that the appendix reads, without records."""
    revisions = Annotation.objects.filter(
        assignment__batch__in=batches, assignment__item__is_gold=False
    ).order_by()
    simulated = (
        revisions.filter(assignment__person__is_simulated=True).values("assignment__person").distinct()
    )
    responses = Assignment.objects.filter(batch__in=batches, item__is_gold=False).submitted().order_by()
    return {
        "responses": responses.count(),
        "respondents": responses.values("person").distinct().count(),
        "simulated_annotators": simulated.count(),
        "answered_items": responses.values("item").distinct().count(),
        "accepted": decided.filter(kind=Decision.Kind.ACCEPTED).count(),
        "excluded": decided.filter(kind=Decision.Kind.EXCLUDED).count(),
        "adjudicated": decided.filter(made_by__isnull=False).count(),
    }


def _archive_path(part: Path) -> Path:
    """The location of an attempt's archive until it is done."""
    return part.with_name(f"{part.name}.zip")


def _watermark(project: Project) -> int:
    """The last event that counts. Events below it may still be under way: `write_release` waits for them."""
    return int(Event.objects.filter(project=project).aggregate(last=Max("pk"))["last"] or 0)
