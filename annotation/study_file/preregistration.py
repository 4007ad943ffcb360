"""Freezing the study of a project: the digest of its study file, before the first response or soon after it.

A manager freezes a study on its page. The worker freezes those that have responses and were not frozen. What is changed
later is in the log, and releases list it (`annotation.releases.study_history`).
"""

import logging
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.access import audit_log
from annotation.models import Annotation, Event, Person, Project
from annotation.platform.refusals import refuse
from annotation.releases.study_history import PREREGISTERED, first_response
from annotation.study_file import current_state, project_export
from annotation.study_file.schema import Study
from tableqa.core.canonical_json import digest

log = logging.getLogger(__name__)


def study_digest(study: Study) -> str:
    """The digest of a study file (canonical JSON, SHA-256): equal for the same study under another name.

    Left out are names and time zone of the project, people, paths of files, gold items, and whether batches are open.
    """
    plain = replace(
        study,
        slug="",
        name="",
        time_zone="UTC",
        people=(),
        sources=tuple(replace(source, path="", tables="") for source in study.sources),
        batches=tuple(replace(batch, gold=(), open=False) for batch in study.batches),
    )
    return digest(project_export.document(plain))


def frozen(project: Project) -> Event | None:
    """The newest freezing of the study."""
    events = Event.objects.filter(thing="project", thing_id=project.pk, after=PREREGISTERED)
    return events.order_by("-pk").first()


def freeze(*, project: Project, by: Person | None, now: datetime) -> str:
    """Freeze the study as it is now. Returns its digest. Raises ActionRefused (invalid_request) once it is final.

    Until the first response a study can be frozen again.
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
        if frozen(project) is not None and first_response(project) is not None:
            refuse("invalid_request", "This study is frozen and has responses. It cannot be frozen again.")
        state = current_state.of_project(project, now=now, derived=False, with_remaining=False)
        value = study_digest(state.study)
        detail = {"what": "study file", "from": "", "to": value}
        audit_log.log(project, "", PREREGISTERED, by=by, now=now, detail=detail)
    return value


def freeze_started(*, now: datetime) -> int:
    """Freeze the studies that have a response and were not frozen. Returns how many; one that fails is tried again."""
    responses = Annotation.objects.filter(assignment__batch__project=OuterRef("pk"), response__isnull=False)
    events = Event.objects.filter(thing="project", thing_id=OuterRef("pk"), after=PREREGISTERED)
    done = 0
    for project in Project.objects.filter(Exists(responses), ~Exists(events), restoring_at=None):
        try:
            freeze(project=project, by=None, now=now)
            done += 1
        except Exception:
            log.exception("the study of project %s cannot be frozen", project.pk)
    return done
