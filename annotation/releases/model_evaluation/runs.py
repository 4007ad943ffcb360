"""Evaluations of a release that are kept: which model, by whom, when, with the digest of its predictions.

A run is a job of the kind "evaluate". Its ids name the release, the model and where the predictions come from: an upload,
or a predictor of the settings. Its result holds the digests of two files in the data folder, the predictions as they came
and which instances they answer rightly; a file that is not the one of the digest is not read.
"""

import functools
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.translation import get_language, gettext, ngettext

from annotation.background import jobs, uploads
from annotation.models import Job, Person, Release, Upload
from annotation.platform.refusals import refuse, require_storable
from annotation.queue import metered_models, metering, reply_states
from annotation.queue.metering import meter_of
from annotation.queue.parallel_requests import Crew
from annotation.releases.file_ids import with_gold
from annotation.releases.manifest import Manifest
from annotation.releases.model_evaluation import queries
from annotation.releases.model_evaluation.report import (
    MOST_MODELS,
    ByRule,
    Numbers,
    Report,
    compute_numbers,
    make_report,
)
from tableqa.core.canonical_json import canonical, file_digest
from tableqa.core.command_line import manage
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import datasets
from tableqa.scoring.evaluation import SIDE_BY_SIDE, JudgedInstance, Judgement
from tableqa.scoring.matching import Instance, Match
from tableqa.scoring.model_comparisons import RULES
from tableqa.scoring.predictions import EvaluationError, read_lines

KIND = "evaluate"
MOST_UPLOAD = 64 * 1024 * 1024
"""Bytes of an uploaded file of predictions; the command takes any size."""
LONGEST_NAME = 60


def runs(release: Release) -> QuerySet[Job]:
    """The runs of a release, the newest first, in any state."""
    evaluations = Job.objects.filter(project=release.project_id, kind=KIND, ids__release=release.pk)
    return evaluations.select_related("made_by").order_by("-pk")


def finished_runs(release: Release) -> QuerySet[Job]:
    """The runs of a release that have results, the newest first."""
    return runs(release).filter(state=Job.State.DONE)


def start(
    *,
    release: Release,
    name: str,
    by: Person,
    now: datetime,
    file: UploadedFile | None = None,
    predictor: str = "",
    leave_out_missing: bool = False,
) -> Job:
    """Evaluate a model in the background, from a file of predictions or by asking a predictor.

    Raises ActionRefused: a file that is too large or empty, a predictor that there is not, a name under which there is a run
    already. Of a file with a line that is no prediction the job fails.
    """
    name = name.strip()
    require_storable(name)
    if not name or len(name) > LONGEST_NAME:
        refuse(
            "invalid_request",
            "Enter a model name of at most {longest_name} characters.",
            longest_name=LONGEST_NAME,
        )
    if (file is None) == (not predictor):
        refuse("invalid_request", "Upload a file of predictions or choose a model, not both.")
    if runs(release).filter(ids__name=name).exclude(state=Job.State.FAILED).exists():
        refuse(
            "name_taken", "This release already has an evaluation of {name}. Choose another name.", name=name
        )
    if predictor and predictor not in settings.PREDICTORS:
        refuse("invalid_request", "The settings contain no predictor {predictor!r}.", predictor=predictor)
    _require_gold(release)
    ids: dict[str, Any] = {
        "release": release.pk,
        "name": name,
        "predictor": predictor,
        "leave_out_missing": leave_out_missing,
    }
    if file is not None:
        fix = gettext("Evaluate it on the command line: {command}").format(command=manage("evaluate"))
        uploads.require_size(file, MOST_UPLOAD, code="invalid_request", fix=fix)
        upload = uploads.store(project=release.project, file=file, name=str(file.name), by=by, now=now)
        ids["upload"] = upload.pk
    return jobs.enqueue(project=release.project, kind=KIND, ids=ids, by=by, now=now)


def estimate(*, release: Release, name: str, predictor: str) -> metering.Estimate | None:
    """What a run would use that asks this predictor under this name; None for a model that is no language model."""
    if not metered_models.is_language_model(predictor):
        return None
    _require_gold(release)
    benchmark = queries.load(Path(settings.MEDIA_ROOT) / "releases" / release.public_id)
    earlier = _predictions_of(release, predictor, name.strip())
    predictions = benchmark.predictions(earlier) if earlier.exists() else {}
    return queries.estimate(benchmark, predictor, predictions, project=release.project_id)


def _require_gold(release: Release) -> None:
    try:
        with_gold(release.formats)
    except EvaluationError as error:
        refuse("invalid_request", str(error))


@jobs.kind(KIND)
def _run_job(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    release = Release.objects.get(pk=job.ids["release"])
    try:
        return _perform(job, release, progress)
    except (EvaluationError, Difference) as error:
        refuse("invalid_request", f"{error}.".replace("..", "."))
    except LookupError as error:
        refuse("invalid_request", str(error.args[0]) if error.args else gettext("Not found."))


def _perform(job: Job, release: Release, progress: jobs.Progress) -> dict[str, Any]:
    benchmark = queries.load(Path(settings.MEDIA_ROOT) / "releases" / release.public_id)
    predictions = _predictions(job, release)
    predictions.parent.mkdir(parents=True, exist_ok=True)
    if job.ids["predictor"]:
        name = job.ids["predictor"]
        entry = settings.PREDICTORS.get(name, {})
        crew, meter = Crew(queries.at_once(name)), None
        if entry:
            meter = meter_of(name, project=job.project_id, batch=None, purpose="evaluation", crew=crew)
        ask = queries.model_of(settings.PREDICTORS, name, *([meter] if meter else []))
        queries.collect(benchmark, ask, predictions, progress=progress, crew=crew)
    else:
        _store_upload(Upload.objects.get(pk=job.ids["upload"]), predictions, release)
    answers = benchmark.predictions(predictions)
    total = len(answers)
    selection = queries.select_instances(benchmark, seen=lambda done: progress(min(done, total - 1), total))
    by_rule = {
        rule: queries.judge_instances(
            selection, answers, leave_out_missing=job.ids["leave_out_missing"], match=rule
        )
        for rule in SIDE_BY_SIDE
    }
    judgement = by_rule[SIDE_BY_SIDE[0]]
    if not judgement.judged:
        raise EvaluationError(gettext("No prediction matches an instance of this release. Check the ids."))
    _write_judgements(by_rule, _judged_path(job, release))
    progress(total, total)
    return {
        "evaluation": release.public_id,
        "models": sorted(_models(predictions)),
        "predictions": len(answers),
        "instances": len(judgement.judged),
        "missing": judgement.missing,
        "states": dict(queries.count_states(predictions)) if job.ids["predictor"] else {},
        "predictions_sha256": file_digest(predictions),
        "judged_sha256": file_digest(_judged_path(job, release)),
    }


def _store_upload(upload: Upload, predictions: Path, release: Release) -> None:
    """Copy an upload to its place, if it holds predictions; else EvaluationError names the line, or it is refused.

    It stays until the job is done: a database that does not answer may begin it again.
    """
    part = predictions.with_suffix(".part")
    with upload.file.open("rb") as sent, part.open("wb") as copy:
        if not read_lines(sent, upload.name, datasets(Manifest.of(release.manifest).sources)):
            refuse("invalid_request", "{name} contains no predictions.", name=upload.name)
        sent.seek(0)
        shutil.copyfileobj(sent, copy)
    part.rename(predictions)


jobs.afterwards(KIND)(uploads.forget_of)


def _models(predictions: Path) -> set[str]:
    """The models that the records name, as a predictor's answers do."""
    models = set()
    with predictions.open(encoding="utf-8-sig") as lines:
        for line in lines:
            if '"model"' in line and isinstance(named := json.loads(line).get("model"), str):
                models.add(named)
    return models


# -- side by side -----------------------------------------------------------------------------------


def report(release: Release, chosen: Sequence[Job]) -> Report:
    """The report of some runs of a release that are done. Raises ActionRefused where a file is not the one that was
    judged."""
    if not 1 <= len(chosen) <= MOST_MODELS:
        refuse("invalid_request", "Choose 1 to {most_models} evaluations.", most_models=MOST_MODELS)
    about = [
        ngettext(
            "{name}: {missing} instance skipped because it has no prediction.",
            "{name}: {missing} instances skipped because they have no prediction.",
            run.result["missing"],
        ).format(name=run.ids["name"], missing=run.result["missing"])
        for run in chosen
        if run.result["missing"]
    ]
    about += [
        gettext("{name}: replies without an answer count as wrong: {states}.").format(
            name=run.ids["name"], states=reply_states.in_words(states)
        )
        for run in chosen
        if (states := run.result.get("states"))
    ]
    files = tuple(
        (run.ids["name"], str(_judged_path(run, release)), run.result["judged_sha256"]) for run in chosen
    )
    return _report(f"{release.project.name}, {release.name}", files, tuple(about), get_language())


Files = tuple[tuple[str, str, str], ...]
"""Of each model its name, the file that says what it answers rightly, and the digest of that."""


@functools.lru_cache(maxsize=8)
def _report(title: str, files: Files, about: tuple[str, ...], language: str | None) -> Report:
    """Runs never change, so neither does their report in the active language."""
    models = {name: by_rule[SIDE_BY_SIDE[0]] for name, by_rule in _judgements(files).items()}
    computed = _numbers(files)
    return make_report(title, models, about=(gettext(RULES[SIDE_BY_SIDE[0]]), *about), computed=computed)


@functools.lru_cache(maxsize=8)
def _numbers(files: Files) -> Numbers:
    judgements = _judgements(files)
    by_rule: ByRule = {rule: {name: of[rule] for name, of in judgements.items()} for rule in SIDE_BY_SIDE}
    return compute_numbers({name: of[SIDE_BY_SIDE[0]] for name, of in judgements.items()}, by_rule)


def _judgements(files: Files) -> dict[str, dict[Match, Judgement]]:
    return {name: _read_judgements(Path(path), sha) for name, path, sha in files}


def _write_judgements(by_rule: Mapping[Match, Judgement], path: Path) -> None:
    """A line for each instance: `before` and `after` by the first rule, those by the others in `by_rule`."""
    first, *others = SIDE_BY_SIDE
    judgement = by_rule[first]

    def lines() -> Iterable[Mapping[str, Any]]:
        yield {
            "missing": judgement.missing,
            "left_out": judgement.left_out,
            "long_form": list(judgement.long_form),
        }
        beside = zip(*(by_rule[rule].judged for rule in others), strict=True)
        for result, rest in zip(judgement.judged, beside, strict=True):
            scores = {rule: [other.before, other.after] for rule, other in zip(others, rest, strict=True)}
            yield {
                "instance": asdict(result.instance),
                "before": result.before,
                "after": result.after,
                "by_rule": scores,
            }

    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(canonical(line) + "\n" for line in lines())
    part.rename(path)


def _read_judgements(path: Path, sha256: str) -> dict[Match, Judgement]:
    """The answers of a run as each rule judges them."""
    gone = gettext(
        "The file of this evaluation was changed after it was written. Evaluate the model "
        "again under another name."
    )
    judged: dict[Match, list[JudgedInstance]] = {}
    try:
        if file_digest(path) != sha256:
            refuse("invalid_request", gone)
        with path.open(encoding="utf-8") as lines:
            head = json.loads(next(lines))
            for line in lines:
                record = json.loads(line)
                instance = Instance(**{**record["instance"], "answers": tuple(record["instance"]["answers"])})
                scores = {SIDE_BY_SIDE[0]: (record["before"], record["after"]), **record["by_rule"]}
                for rule, (before, after) in scores.items():
                    judged.setdefault(rule, []).append(JudgedInstance(instance, before, after))
    except OSError:
        refuse("invalid_request", gone)
    return {
        rule: Judgement(tuple(of), head["missing"], head["left_out"], tuple(head["long_form"]))
        for rule, of in judged.items()
    }


# -- files ------------------------------------------------------------------------------------------


def files(run: Job) -> dict[str, str]:
    """The files of a run that is done, by their paths below the data folder, with their digests ("" if unknown)."""
    release = Release.objects.filter(pk=run.ids.get("release")).first()
    if release is None or run.state != Job.State.DONE:
        return {}
    of_run = {"predictions_sha256": _predictions(run, release), "judged_sha256": _judged_path(run, release)}
    root = Path(settings.MEDIA_ROOT)
    return {path.relative_to(root).as_posix(): run.result.get(name, "") for name, path in of_run.items()}


def _folder(release: Release) -> Path:
    return Path(settings.MEDIA_ROOT) / "evaluations" / release.public_id


def _predictions(run: Job, release: Release) -> Path:
    """Where the predictions lie. What a predictor answered is found again by a later run that asks it under this name."""
    if not run.ids["predictor"]:
        return _folder(release) / f"{run.public_id}.predictions.jsonl"
    path = _predictions_of(release, run.ids["predictor"], run.ids["name"])
    if path.exists() or not (sha256 := run.result.get("predictions_sha256")):
        return path
    # The run was named after a person who was erased since.
    others = sorted(_folder(release).glob("*.predictions.jsonl"))
    return next((other for other in others if file_digest(other) == sha256), path)


def _predictions_of(release: Release, predictor: str, name: str) -> Path:
    named = hashlib.sha256(canonical([predictor, name]).encode()).hexdigest()
    return _folder(release) / f"{named[:16]}.predictions.jsonl"


def _judged_path(run: Job, release: Release) -> Path:
    return _folder(release) / f"{run.public_id}.judged.jsonl"
