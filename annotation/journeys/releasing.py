"""A benchmark out: raw records up to one event, what follows from them, and a manifest.

A release is bounded by a watermark: the last event of the project when it began. Before anything is
read, transactions that were writing then are waited for (`events.wait_for_writers`), so that nothing
below the watermark can appear later; nobody waits for the release. From there on only immutable rows
are read; nothing in the files depends on when, where or under which name the release is made, so the
same data gives the same bytes.
"""

import itertools
import shutil
import zipfile
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, NotRequired, TypedDict, Unpack

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import ngettext

from annotation import by_key, events, jobs
from annotation.bulk import among
from annotation.by_key import PAGE
from annotation.help import helping, tries
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Example,
    Guidelines,
    Item,
    Job,
    Membership,
    Outcome,
    Person,
    PerturbationRun,
    Project,
    Release,
    SentBack,
    Source,
    StoredTable,
)
from annotation.money import statements
from annotation.public_ids import new_public_id
from annotation.quality import snapshots
from annotation.refusals import refuse, require_storable
from annotation.releases import automatic, benchmark_files, mixing, provenances, release_files
from annotation.releases.manifest import Contents, Manifest
from annotation.releases.methods import Study
from annotation.releases.raw_records import excluded
from annotation.releases.release_files import FORMATS
from annotation.work import lineage
from tableqa.canonical import canonical, digest
from tableqa.on_disk import Shelf, Sorted
from tableqa.perturbations import PERTURBATIONS
from tableqa.readers.report import for_release
from tableqa.release_rules import RULES

Record = dict[str, Any]
TABLES = 100
"""Source tables that are in memory at once."""
LONGEST_NAME = 80
LEVEL = 3
"""How hard archives are packed: records of one table stand together, and zlib's usual 6 takes more than twice as long."""


class Options(TypedDict):
    """What `plan_release` takes beside project, person and time."""

    name: str
    format: str | Sequence[str]
    allow_simulated: NotRequired[bool]
    mix: NotRequired[int | None]
    waivers: NotRequired[Mapping[str, str]]
    purpose: NotRequired[str]


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

    With `mix`, a seed, accepted perturbations of one original are composed as well (`annotation.releases.mixing`).

    Making it again under the same name is fine while the data is the same; other data under a name
    that was used is refused. Raises Refused.
    """
    with _empty(out):
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
def _empty(out: Path | None) -> Iterator[None]:
    """Make the folder, or refuse one that cannot be made or is in use; an error within takes away what was made."""
    created: list[Path] = []
    try:
        if out is not None:
            _make_empty(out, created)
        yield
    except BaseException:
        for one in created:
            with suppress(OSError):  # it holds something, or was never made
                one.rmdir()
        raise


def _make_empty(out: Path, created: list[Path]) -> None:
    try:
        created += [one for one in (out, *out.parents) if not one.exists()]
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
) -> Release:
    """Fix the watermark. `format` is one format or several, in any order.

    Raises Refused: invalid_request, nothing_to_release, simulated_people, name_taken, run_unfinished.
    """
    terms = options([format] if isinstance(format, str) else format, mix=mix, purpose=purpose)
    formats = terms["formats"]
    require_storable(name)
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
    return Release.objects.create(
        project=project,
        name=name.strip(),
        format=formats[0],
        more_formats=formats[1:],
        watermark=watermark,
        allow_simulated=allow_simulated,
        mix_seed=mix,
        waivers=dict(waivers or {}),
        purpose=purpose,
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
    before = (earlier.formats, earlier.mix_seed, earlier.purpose)
    now = (terms["formats"], terms.get("mix"), terms.get("purpose", ""))
    new = Annotation.objects.filter(
        assignment__batch__in=_batches(Release(project=project, watermark=watermark)),
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


def options(formats: Sequence[str], *, mix: int | None = None, purpose: str = "") -> dict[str, Any]:
    """The options of a release that are part of its study: {"formats"}, and where they are set "mix" and "purpose".

    Formats are in the order of `FORMATS`. Raises Refused(invalid_request): an unknown format or purpose, no format, or a mix
    that none of the formats supports.
    """
    if purpose not in ("", *provenances.PURPOSES):
        refuse(
            "invalid_request",
            "The purpose must be one of {purposes}, or empty.",
            purposes=", ".join(provenances.PURPOSES),
        )
    terms: dict[str, Any] = {"formats": _formats(list(formats), mix)}
    if mix is not None:
        terms["mix"] = mix
    return {**terms, "purpose": purpose} if purpose else terms


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
            detail = events.changed("release", before, terms)
            events.log(project, "", "terms changed", by=by, now=now, detail=detail)
    project.release = terms


def _formats(chosen: Sequence[str], mix: int | None) -> list[str]:
    """The formats in the order of `FORMATS`. Refuses unknown ones, none, and mixes that none of them supports."""
    if unknown := [format for format in chosen if format not in FORMATS]:
        refuse(
            "invalid_request",
            "There is no format {value!r}. Available: {formats}.",
            value=unknown[0],
            formats=", ".join(FORMATS),
        )
    if not chosen:
        refuse(
            "invalid_request",
            "Choose at least one format. Available: {formats}.",
            formats=", ".join(FORMATS),
        )
    if mix is not None and not set(chosen) & set(mixing.FORMATS):
        refuse(
            "invalid_request",
            "The format {value} does not support mixes. Formats that do: {formats}.",
            value=", ".join(chosen),
            formats=", ".join(mixing.FORMATS),
        )
    return benchmark_files.in_order(chosen)


def _require_finished_runs(project: Project, watermark: int) -> None:
    """Refuse where people judged an automatic perturbation that no finished run makes: no release could make it again."""
    runs = _finished(project, watermark)
    judged = Example.objects.automatic().filter(
        items__batch__project=project, items__assignments__annotations__event_id__lte=watermark
    )
    kinds: dict[str, int] = {}
    for parent, kind, seed in by_key.fields(judged.distinct(), "parent_id", "perturbation", "seed"):
        any_seed = not PERTURBATIONS[kind].seeded
        if not any(
            kind in run.kinds and (any_seed or seed in run.seeds) and _holds(run.chosen, parent)
            for run in runs
        ):
            kinds[kind] = kinds.get(kind, 0) + 1
    if kinds:
        named = ", ".join(f"{number} of {kind}" for kind, number in sorted(kinds.items()))
        refuse(
            "run_unfinished",
            "People rated automatic perturbations of an unfinished run ({named}), but a release "
            "only includes finished runs. Start the same run again with the same perturbations, "
            "seeds and selection (on the page, or ./run manage perturb). It continues where it "
            "stopped. Then create the release.",
            named=named,
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
    release becomes visible: whoever downloads it does not wait for that. Raises Refused, also `still_writing` where a
    transaction does not end (`events.wait_for_writers`).
    """
    if release.ready_at is not None:
        return release
    if events.wait_for_writers():
        _require_finished_runs(
            release.project, release.watermark
        )  # what they wrote may lie below the watermark
    target = folder(release)
    for left in target.parent.glob(f"{target.name}.*.part"):
        shutil.rmtree(left, ignore_errors=True)
    part = target.with_name(f"{target.name}.{new_public_id()}.part")
    part.mkdir(parents=True)
    try:
        return _write_release(release, part, target, packed, progress)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        _zipped(part).unlink(missing_ok=True)


def _write_release(
    release: Release, part: Path, target: Path, packed: bool, progress: Callable[[int, int], None]
) -> Release:
    manifest = write_files(release, part, progress)
    whole = digest(manifest)
    earlier = Release.objects.filter(
        project=release.project, name=release.name, ready_at__isnull=False
    ).first()
    if earlier is not None:
        if earlier.digest != whole:
            _refuse_name(release.name)
        Release.objects.filter(pk=release.pk, ready_at__isnull=True).delete()
        return earlier
    if packed:
        _pack(part, _zipped(part))
    now = timezone.now()
    try:
        with transaction.atomic():
            mine = Release.objects.filter(pk=release.pk, ready_at__isnull=True)
            if mine.update(digest=whole, manifest=manifest, ready_at=now):
                # While the row is locked: of two attempts one puts its files there.
                shutil.rmtree(target, ignore_errors=True)
                part.rename(target)
                if packed:
                    _zipped(part).rename(target.with_suffix(".zip"))
                events.log(release, "", "ready", by=release.made_by, now=now)
    except IntegrityError:
        refuse("name_taken", "Another person has just released {name}.", name=release.name)
    release.refresh_from_db()
    return release


def folder(release: Release) -> Path:
    """Where the files of a release lie."""
    return Path(settings.MEDIA_ROOT) / "releases" / release.public_id


def archive(release: Release) -> Path:
    """The release as one zip, made on first demand; equal bytes for equal contents."""
    source = folder(release)
    target = source.with_suffix(".zip")
    if not target.exists():
        part = target.with_name(f"{target.stem}.{new_public_id()}.part")  # two people may ask at once
        _pack(source, part)
        part.rename(target)
    return target


def _pack(source: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(source).as_posix(), date_time=(1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry._compresslevel = LEVEL  # type: ignore[attr-defined]  # an entry of one's own has none of its archive's
                entry.file_size = path.stat().st_size  # so that a large one gets the long form
                with path.open("rb") as held, packed.open(entry, "w") as out:
                    shutil.copyfileobj(held, out)


def changed_items(release: Release) -> QuerySet[Decision]:
    """The decisions of a release that created changed examples, in the order in which they were made."""
    outcomes = changed_outcomes(release).filter(decision=OuterRef("pk"))
    batches = _batches(release)
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
    decisions = release_files.records(folder(release) / "decisions.jsonl")
    reasons = Counter(
        _reason(decision["reason"], decision.get("note", ""), decision.get("listed_reason"))
        for decision in decisions
        if decision["kind"] == Decision.Kind.EXCLUDED
    )
    name = f"{release.project.name}, release {release.name}"
    return Study(name, _annotated(release, Manifest.of(release.manifest)), reasons, pictures, unchecked)


def _annotated(release: Release, manifest: Manifest) -> Manifest:
    """A manifest with the batches that have annotations, and their sources; with all where nobody has annotated."""
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
    batches = _batches(release)
    fields = ("name", "reader", "split", "licence", "citation", "url")
    sources = project.sources.ready().order_by("name", "pk").values(*fields)
    decided = Decision.objects.filter(item__batch__in=batches, item__is_gold=False)
    found = snapshots.of(batches, ("agreement",), now=now)
    figures = [
        {"batch": batch.public_id, **figure}
        for batch in batches
        if (data := found[batch.pk, "agreement"].data) is not None
        for figure in data["figures"]
    ]
    manifest = Manifest(
        rules=RULES,
        project=project.slug,
        sources=[dict(one) for one in {one["name"]: one for one in sources}.values()],
        batches=[_batch(release, batch) for batch in batches],
        guidelines=_guidelines(release, batches),
        statement=statements.counted(project, batches, watermark=release.watermark, until=now),
        counts=_counts_now(batches, decided),
        agreement=figures,
    )
    excluded = decided.filter(kind=Decision.Kind.EXCLUDED).order_by()
    reasons: Counter[str] = Counter()
    rows = excluded.values_list("reason", "note", "listed_reason").annotate(n=Count("pk"))
    for reason, note, listed_reason, number in rows:
        reasons[_reason(str(reason), note, listed_reason)] += number
    return Study(project.name, _annotated(release, manifest), reasons, pictures, unchecked)


def _reason(reason: str, note: str, listed_reason: str | None) -> str:
    """Why an item was excluded. A listed reason says it where it stands for the note; where an accepted response excludes
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


def _zipped(part: Path) -> Path:
    """Where the archive of an attempt lies until it is through."""
    return part.with_name(f"{part.name}.zip")


# -- the files --------------------------------------------------------------------------------------


def write_files(release: Release, out: Path, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Raw records, derived files and manifest into an empty folder; returns the manifest."""
    batches = _batches(release)
    described = [_batch(release, batch) for batch in batches]
    items = _items(batches)
    steps = 2 * len(items) + 1
    runs = _runs(release)
    has_work = _opened(release).exists()
    imported = () if has_work or runs else _imported(release)
    done = 0

    def counted(lines: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        nonlocal done
        for number, line in lines:
            done += number
            progress(done, steps)
            yield line

    raw = release_files.write_raw(
        out,
        {"rules": RULES, "batches": described, "purpose": release.purpose},
        sources=_sources(release, items, runs, imported),
        annotations=counted(_annotations(release, batches, items)),
        decisions=counted(_decisions(release, batches, items)),
    )
    if runs:
        # Before anything is made of the records: people may have judged automatic perturbations, too.
        release_files.write_records(out / automatic.LINES, _perturbed(runs))
    if has_work and not raw.decisions and not raw.annotations and not runs:
        refuse("nothing_to_release", "There are no annotations to release yet.")
    proposed = helping.records(batches, watermark=release.watermark, until=_moment(release.watermark))
    if (first := next(proposed, None)) is not None:
        release_files.write_records(out / provenances.PROPOSALS, itertools.chain([first], proposed))
    gate = benchmark_files.Gate(waived=release.waivers)
    benchmark_files.write_derived(raw, release.formats, release.mix_seed, gate)
    waivers = _waivers(release, gate.broken)
    tried = tries.records(batches, watermark=release.watermark, names=_pseudonyms(release.project))
    if (first := next(tried, None)) is not None:
        release_files.write_records(out / release_files.TRIES, itertools.chain([first], tried))
    contents = Contents(
        release=release,
        raw=raw,
        batches=batches,
        guidelines=_guidelines(release, batches),
        runs=[_run(run) for run in runs],
        waivers=waivers,
        until=_moment(release.watermark),
    )
    manifest = Manifest.of_contents(contents)
    release_files.write_beside(raw, manifest)
    record = replace(manifest, files=release_files.describe(out)).record()
    (out / release_files.MANIFEST).write_text(canonical(record) + "\n", encoding="utf-8", newline="\n")
    progress(steps, steps)
    return record


def _waivers(release: Release, broken: Mapping[str, list[dict[str, str]]]) -> list[dict[str, Any]]:
    """The waivers as the manifest has them. Raises Refused(contract_broken) where an outcome is not waived.

    A waiver of what breaks nothing is refused (invalid_request): its id is likely a slip of the pen for another's.
    """
    left = sorted(broken.keys() - release.waivers.keys())
    if left:
        named = "; ".join(f"{id}: {broken[id][0]['message']}" for id in left[:10])
        more = f" and {len(left) - 10} more" if len(left) > 10 else ""
        refuse(
            "contract_broken",
            ngettext(
                "{number} accepted outcome breaks its contract. Waive it with a reason, "
                "which is published (--waive ID=REASON, or on the page). {named}",
                "{number} accepted outcomes break their contract{more}. Waive each one with a reason, "
                "which is published (--waive ID=REASON, or on the page). {named}",
                len(left),
            ).format(number=len(left), more=more, named=named),
        )
    if idle := sorted(release.waivers.keys() - broken.keys()):
        refuse(
            "invalid_request",
            "{value} needs no waiver: no accepted outcome with this id breaks its contract. "
            "Correct the id or remove the waiver.",
            value=", ".join(idle[:10]),
        )
    return [{"outcome": id, "reason": release.waivers[id], "violations": broken[id]} for id in sorted(broken)]


def _moment(watermark: int) -> datetime:
    """When the last event that counts took place; long ago where there is none."""
    at = Event.objects.filter(pk=watermark).values_list("at", flat=True).first()
    return at or datetime.min.replace(tzinfo=UTC)


def _watermark(project: Project) -> int:
    """The last event that counts. Events below it may still be under way: `write_release` waits for them."""
    return int(Event.objects.filter(project=project).aggregate(last=Max("pk"))["last"] or 0)


def _batches(release: Release) -> list[Batch]:
    batches = _opened(release).filter(purpose=Batch.Purpose.WORK, set_aside_at__isnull=True)
    return list(batches.select_related("feeds_from", "definition").order_by("pk"))


def _opened(release: Release) -> QuerySet[Batch]:
    """Every batch that was opened up to the watermark, whatever it is for."""
    events = Event.objects.filter(
        project=release.project, pk__lte=release.watermark, thing="batch", after="open"
    )
    return Batch.objects.filter(pk__in=events.values("thing_id"))


def _batch(release: Release, batch: Batch) -> dict[str, Any]:
    return {
        "id": batch.public_id,
        "name": batch.name,
        "type": batch.task_type,
        **({"definition": batch.definition.task().published()} if batch.definition else {}),
        "version": batch.version,
        "variant": batch.variant,
        "settings": batch.settings,
        "settings_digest": batch.settings_digest,
        "overlap": batch.overlap,
        **({"places": places} if (places := _planned(release, batch)) > batch.overlap else {}),
        **({"resolve": batch.resolve} if batch.resolve else {}),
        "seed": batch.seed,
        "feeds_from": batch.feeds_from.public_id if batch.feeds_from else None,
        **(
            {"loop_model": batch.loop_model, "loop_revision": batch.loop_revision} if batch.loop_model else {}
        ),
        **({"model_accuracy": batch.model_accuracy} if batch.model_accuracy else {}),
        **(
            {"help": {"shown": batch.help, "from": batch.help_from, "unhelped": batch.unhelped}}
            if batch.help
            else {}
        ),
    }


def _planned(release: Release, batch: Batch) -> int:
    """The highest number of a planned place that somebody's response sits on.

    It is beyond the overlap where people came later to a batch for everybody, and where the overlap was changed.
    """
    kept = Annotation.objects.filter(assignment__batch=batch, event_id__lte=release.watermark)
    of_people = kept.filter(assignment__place__added=False, assignment__item__is_gold=False)
    return int(of_people.aggregate(most=Max("assignment__place__number"))["most"] or 0)


def _items(batches: Sequence[Batch]) -> Sorted:
    """The items of the batches in the order of release: batch, source, example id, the item's key.

    Behind these its public id, and of its example what `_named` gives from the key on.
    """
    items = Sorted(9, key=4)
    rows = Item.objects.filter(batch__in=batches, is_gold=False)
    names = ("batch_id", "example__source__name", "example__external_id", "pk", "public_id", "example_id")
    beside = ("example__parent_id", "example__stored_table__digest", "example__source_id")
    items.update(by_key.fields(rows, *names, *beside))
    return items


def _runs(release: Release) -> list[PerturbationRun]:
    """The runs of automatic perturbations that were through at the watermark, in their order."""
    return _finished(release.project, release.watermark)


def _finished(project: Project, watermark: int) -> list[PerturbationRun]:
    """The runs that were through at an event, in their order; what each has chosen as an array, which is small."""
    found = PerturbationRun.objects.filter(project=project, event_id__lte=watermark)
    runs = list(found.prefetch_related("sources").order_by("event_id"))
    for run in runs:
        run.chosen = array("q", run.chosen)
    return runs


def _run(run: PerturbationRun) -> dict[str, Any]:
    sources = sorted({source.name for source in run.sources.all()})
    return {"sources": sources, "kinds": run.kinds, "seeds": run.seeds, "choice": run.choice}


def _perturbed(runs: Sequence[PerturbationRun]) -> Iterator[dict[str, Any]]:
    """The raw line of every automatic perturbation, by source and original; what two runs ask for counts once."""
    wanted: Shelf[int, int] = Shelf()
    for run in runs:
        for pk in run.chosen:
            wanted[pk] = 1
    for page in _named(wanted, Sorted(6, key=3)).pages(PAGE):
        examples = Example.objects.select_related("source", "stored_table").in_bulk(
            [pk for _, _, pk, *_ in page]
        )
        for source, _, pk, *_ in page:
            seen: set[tuple[str, int]] = set()
            row = examples[pk]
            for run in runs:
                if _holds(run.chosen, pk):
                    instances = [of for of in lineage.instances(run, row) if (of.kind, of.seed) not in seen]
                    seen.update((of.kind, of.seed) for of in instances)
                    yield from automatic.lines(source, row.example(), instances, lineage.marks(run, row))


def _holds(ordered: Sequence[int], key: int) -> bool:
    place = bisect_left(ordered, key)
    return place < len(ordered) and ordered[place] == key


def _named(keys: Iterable[int], items: Sorted) -> Sorted:
    """The examples with these keys as (source, id, key, parent, digest of the table, source's key), beside those there."""
    for chunk in by_key.pages(keys):
        rows = Example.objects.filter(among("pk", chunk))
        items.update(
            rows.values_list(
                "source__name", "external_id", "pk", "parent_id", "stored_table__digest", "source_id"
            )
        )
    return items


def _imported(release: Release) -> Iterator[int]:
    """The keys of every original that was imported up to the watermark: what a project without work consists of."""
    ready = Event.objects.filter(
        project=release.project, pk__lte=release.watermark, thing="source", after="ready"
    )
    rows = Example.objects.originals().filter(source__in=ready.values("thing_id"))
    return (pk for (pk,) in by_key.fields(rows, "pk"))


def _sources(
    release: Release, items: Sorted, runs: Sequence[PerturbationRun], imported: Iterable[int]
) -> Iterator[dict[str, Any]]:
    """Sources with licence and credit, then items, tables, and the original examples that everything rests on."""
    used = Sorted(6, key=3)
    used.update(items.distinct(1, 2, 5, 6, 7, 8))
    for run in runs:
        _named(run.chosen, used)
    _named(imported, used)
    by_name: dict[str, dict[str, Any]] = {}
    sources = [pk for (pk,) in used.distinct(5)]
    for source in sorted(Source.objects.filter(pk__in=sources), key=lambda source: (source.name, source.pk)):
        record = by_name.setdefault(
            source.name,
            {
                "kind": "source",
                "name": source.name,
                "reader": source.reader,
                "split": source.split,
                "licence": source.licence,
                "citation": source.citation,
                "url": source.url,
                "checksums": [],
            },
        )
        # A source that was restored from a release stands for all imports of its name.
        record["checksums"] += source.how.get("checksums", [source.checksum])
        if reports := source.how.get("reports"):  # imports of earlier versions have none
            record["reports"] = [*record.get("reports", []), *map(for_release, reports)]
    yield from by_name.values()
    yield from _item_records(release, items)
    for page in by_key.in_lists(used.distinct(4), TABLES):
        rows = StoredTable.objects.filter(digest__in=[digest_of for (digest_of,) in page])
        for digest_of, content in sorted(rows.values_list("digest", "content")):
            yield {"kind": "table", "digest": digest_of, "content": content}
    for chunk in by_key.pages(_originals(used)):
        found = {
            pk: fields
            for pk, *fields in Example.objects.filter(among("pk", chunk)).values_list("pk", *_ORIGINAL)
        }
        for pk in chunk:
            source, id, question, answers, digest_of, more = found[pk]
            yield {
                "kind": "example",
                "source": source,
                "id": id,
                "question": question,
                "answers": answers,
                "table": digest_of,
                "more": more,
            }


def _item_records(release: Release, items: Sorted) -> Iterator[dict[str, Any]]:
    """The items with inputs, and those that no annotation and no decision of the release names."""
    named = Annotation.objects.filter(event_id__lte=release.watermark, assignment__item=OuterRef("pk"))
    decided = Decision.objects.filter(event_id__lte=release.watermark, item=OuterRef("pk"))
    is_named = Exists(named) | Exists(decided)
    place = ("batch__public_id", "example__source__name", "example__external_id")
    for page in by_key.in_lists(items.distinct(4, 3)):
        rows = Item.objects.filter(among("pk", [pk for _, pk in page])).annotate(is_named=is_named)
        stored = {pk: fields for pk, *fields in rows.values_list("pk", "is_named", "inputs", *place)}
        for id, pk in page:
            is_in_records, inputs, batch, source, example = stored[pk]
            record = {"kind": "item", "id": id, **({"inputs": inputs} if inputs else {})}
            if not is_in_records:
                record |= {"batch": batch, "source": source, "example": example}
            if len(record) > 2:
                yield record


_ORIGINAL = ("source__name", "external_id", "question", "answers", "stored_table__digest", "more")


def _originals(used: Sorted) -> Shelf[int, int]:
    """The keys of the originals of these examples, each where it or the first that was made of it stands."""
    originals: Shelf[int, int] = Shelf()
    for page in used.pages(PAGE):
        above = {pk: parent for _, _, pk, parent, *_ in page if parent is not None}
        left = list(above.values())
        while left:
            parents = dict(Example.objects.filter(among("pk", left)).values_list("pk", "parent_id"))
            left = [parent for parent in parents.values() if parent is not None and parent not in above]
            above |= {pk: parent for pk, parent in parents.items() if parent is not None}
        for _, _, pk, *_ in page:
            while pk in above:
                pk = above[pk]
            originals.add(pk, 1)
    return originals


def _annotations(release: Release, batches: Sequence[Batch], keys: Sorted) -> Iterator[tuple[int, Record]]:
    """Every revision below the watermark, item by item; within an item by pseudonym and revision.

    Rows are read as they are: a model of each, with those it points at, takes longer than all that is done with it.
    """
    names, until = _pseudonyms(release.project), _moment(release.watermark)
    public = {batch.pk: batch.public_id for batch in batches}
    helped = any(batch.help for batch in batches)
    marks, guidelines = _marks(release.project), _versions(release.project)
    has_imported = any(mark.get("external") for mark in marks.values())
    sent_back = SentBack.objects.filter(assignment__batch__in=batches)
    were_sent_back = sent_back.exists()
    let_back_in = Person.objects.filter(
        memberships__project=release.project, let_back_in_at__isnull=False
    ).exists()
    for page in keys.pages(PAGE):
        items = [item for _, _, _, item, *_ in page]
        rows = Annotation.objects.filter(among("assignment__item_id", items), event_id__lte=release.watermark)
        revisions = _revisions(rows, items, names)
        help_of = _help(rows, until) if helped else {}
        back = _first_sent_back(sent_back, items) if were_sent_back else {}
        way_back = _ways_back(rows) if let_back_in else set()
        origins = _origins(rows) if has_imported else {}
        for batch, source, example, item, public_id, *_ in page:
            newest: dict[int, int] = {}
            for row in revisions[item]:
                newest[row.assignment] = max(row.revision, newest.get(row.assignment, 0))
            for index, row in enumerate(sorted(revisions[item], key=lambda row: (row.name, row.revision))):
                yield (
                    1 if index == 0 else 0,
                    {
                        "id": row.public_id,
                        "batch": public[batch],
                        "item": public_id,
                        "source": source,
                        "example": example,
                        "annotator": row.name,
                        **marks[row.person],
                        "revision": row.revision,
                        "newest": newest[row.assignment] == row.revision,
                        "place": {"number": row.number, "added": row.added},
                        **(
                            {"sent_back": True}
                            if row.revision > back.get(row.assignment, row.revision)
                            else {}
                        ),
                        **({"way_back": True} if row.pk in way_back else {}),
                        **({"imported": origins[row.pk]} if row.pk in origins else {}),
                        "response": row.response,
                        **({"unmet": row.unmet} if row.unmet else {}),
                        **({"unsure": True} if row.unsure else {}),
                        "guidelines": guidelines[row.guidelines],
                        "active_seconds": row.seconds,
                        "made_at": row.made_at.isoformat(),
                        **help_of.get(row.pk, {}),
                    },
                )


class _Revision(NamedTuple):
    """A row of an annotation: the pseudonym of its author, then the columns of `_REVISION`."""

    name: str
    person: int
    revision: int
    assignment: int
    pk: int
    public_id: str
    number: int
    added: bool
    response: Any
    guidelines: int
    seconds: float | None
    made_at: datetime
    unmet: Any
    unsure: bool | None


_REVISION = (
    "assignment__person_id", "revision", "assignment_id", "pk", "public_id", "assignment__place__number",
    "assignment__place__added", "response", "guidelines_id", "active_seconds", "made_at", "unmet",
    "unsure",
)  # fmt: skip


def _revisions(
    rows: QuerySet[Annotation], items: Sequence[int], names: Mapping[int, str]
) -> dict[int, list[_Revision]]:
    """The rows by item."""
    by_item: dict[int, list[_Revision]] = {item: [] for item in items}
    for item, person, *row in rows.values_list("assignment__item_id", *_REVISION):
        by_item[item].append(_Revision(names[person], person, *row))
    return by_item


def _origins(rows: QuerySet[Annotation]) -> dict[int, Record]:
    """Tool, digest of the file, id and time there of the responses that were imported from another tool."""
    imported = rows.filter(assignment__person__is_external=True, event__detail__has_key="tool")
    return {pk: detail for pk, detail in imported.values_list("pk", "event__detail") if detail}


def _marks(project: Project) -> dict[int, Record]:
    """Whether each person of a project is simulated or external."""
    people = Person.objects.filter(memberships__project=project).distinct()
    return {
        pk: {"simulated": simulated, **({"external": True} if external else {})}
        for pk, simulated, external in people.values_list("pk", "is_simulated", "is_external")
    }


def _versions(project: Project) -> dict[int, Record]:
    """Number and digest of each version of the guidelines."""
    versions = Guidelines.objects.filter(project=project).values_list("pk", "number", "text")
    return {pk: {"number": number, "digest": digest(text)} for pk, number, text in versions}


def _first_sent_back(sent_back: QuerySet[SentBack], items: Sequence[int]) -> dict[int, int]:
    """By assignment the first revision that an adjudicator sent back; later ones were written after it."""
    return dict(
        sent_back.filter(among("assignment__item_id", items))
        .order_by("-annotation__revision")
        .values_list("assignment_id", "annotation__revision")
    )


def _ways_back(rows: QuerySet[Annotation]) -> set[int]:
    """Keys of the submissions in a session that a manager's link opened."""
    return set(rows.filter(response__isnull=False, event__detail__way_back=True).values_list("pk", flat=True))


def _help(rows: QuerySet[Annotation], until: datetime) -> dict[int, Record]:
    """What is said of the help that annotations had, by their keys."""
    helped = rows.filter(provenance__isnull=False).select_related(
        "assignment", "provenance__telling__proposal"
    )
    return {one.pk: helping.record(one, until=until) for one in helped.prefetch_related(*helping.BESIDE)}


def _decisions(release: Release, batches: Sequence[Batch], keys: Sorted) -> Iterator[tuple[int, Record]]:
    names = _pseudonyms(release.project)
    public = {batch.pk: batch.public_id for batch in batches}
    for page in keys.pages(PAGE):
        chunk = [pk for _, _, _, pk, *_ in page]
        rows = Decision.objects.filter(among("item_id", chunk), event_id__lte=release.watermark)
        decisions = {item: of_item for item, *of_item in rows.values_list("item_id", "pk", *_DECIDED)}
        outcomes = _outcomes([pk for pk, *_ in decisions.values()])
        for batch, source, example, item, public_id, *_ in page:
            if item in decisions:
                pk, kind, reason, made_at, *by = decisions[item]
                yield (
                    1,
                    {
                        "batch": public[batch],
                        "item": public_id,
                        "source": source,
                        "example": example,
                        "kind": kind,
                        "reason": reason,
                        **_by(names, *by),
                        "made_at": made_at.isoformat(),
                        "outcomes": outcomes.get(pk, []),
                    },
                )


_DECIDED = ("kind", "reason", "made_at", "made_by_id", "listed_reason", "note", "rule", "event__detail")


def _outcomes(decisions: Sequence[int]) -> dict[int, list[Record]]:
    """What was accepted, by the keys of the decisions."""
    rows = list(
        Outcome.objects.filter(among("decision_id", decisions))
        .order_by("decision_id", "number")
        .values_list("pk", "decision_id", "public_id", "response", "example_id")
    )
    rests: dict[int, list[str]] = {}
    through = Outcome.annotations.through.objects.filter(among("outcome_id", [pk for pk, *_ in rows]))
    for outcome, id in through.values_list("outcome_id", "annotation__public_id"):
        rests.setdefault(outcome, []).append(id)
    made = Example.objects.select_related("parent", "stored_table").defer("stored_table__content")
    examples = made.in_bulk([example for *_, example in rows if example is not None])
    by_decision: dict[int, list[Record]] = {}
    for pk, decision, id, response, example in rows:
        by_decision.setdefault(decision, []).append(
            {
                "id": id,
                "response": response,
                "annotations": sorted(rests.get(pk, [])),
                "example": _derived(examples[example]) if example is not None else None,
            }
        )
    return by_decision


def _by(
    names: dict[int, str],
    person: int | None,
    listed_reason: str | None,
    note: str,
    rule: Any,
    detail: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Who decided, with reason and note, and which responses their own one rests on; or the rule that did, which is named
    where it is not the kind's own."""
    if person is not None:
        rests_on = (detail or {}).get("based_on")
        based_on = {"based_on": rests_on} if rests_on else {}
        listed = {"listed_reason": listed_reason} if listed_reason else {}
        return {"note": note, **listed, "by": names[person], **based_on}
    return {"note": "", "by": "resolve", **({"rule": rule} if rule else {})}


def _derived(example: Example) -> dict[str, Any]:
    return {
        "id": example.external_id,
        "parent": example.parent.external_id if example.parent else None,
        "perturbation": example.perturbation,
        "question": example.question,
        "answers": example.answers,
        "table": example.stored_table.digest,
        "operations": example.operations,
        "digest": example.table_digest,
        "more": example.more,
    }


def _guidelines(release: Release, batches: Sequence[Batch]) -> list[dict[str, Any]]:
    """The guidelines that annotations were made under, in full."""
    under = Annotation.objects.filter(assignment__batch__in=batches, event_id__lte=release.watermark)
    rows = Guidelines.objects.filter(pk__in=under.values("guidelines")).order_by("task_type", "number")
    return [{"type": row.task_type, "number": row.number, "text": row.text} for row in rows]


def _pseudonyms(project: Project) -> dict[int, str]:
    return dict(Membership.objects.filter(project=project).values_list("person_id", "pseudonym"))
