"""Simulated people can work every study that ships, batch by batch, to its end."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Assignment, Batch, Person, Project, Qualification
from annotation.study_file.parser import parse
from annotation.workflow import batches
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.test_study_files import STUDIES

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_shipped_study_is_simulated_to_its_end(path: Path, settings: Any) -> None:
    settings.PREDICTORS = {
        "bundled": {"protocol": "predict", "url": "http://127.0.0.1:1", "model": "bundled"}
    }
    mara = Person.objects.create_person("Mara Lind", "mara@example.org", "tilted tables")
    study, now = parse(path.read_text("utf-8"), folder=path.parent), timezone.now()
    applied = apply_with_files(study, project=None, by=mara, now=now, folder=path.parent)
    assert applied.failed is None, f"{applied.failed}: {applied.why}"
    project = Project.objects.get(slug=study.slug)

    for batch in Batch.objects.filter(project=project).order_by("pk"):
        if batch.opened_at is None:
            batches.open_batch(batch=batch, by=mara, now=timezone.now())
        people = max(3, batch.overlap)
        call_command("simulate", project=project.slug, batch=batch.name, annotators=people, stdout=StringIO())

    assert not Qualification.objects.filter(passed=False).exists()
    worked = set(Assignment.objects.filter(batch__project=project).values_list("batch__name", flat=True))
    fed = {batch.name for batch in Batch.objects.filter(project=project) if not batch.items.exists()}
    assert worked | fed == {batch.name for batch in study.batches}
    assert worked
