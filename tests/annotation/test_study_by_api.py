"""A program runs a whole study through the API alone: the script of the documentation, against a live server."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.models import Batch, Person, PerturbationRun, Project, Release
from annotation.workflow import projects
from tests.operations.web import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_script_sets_up_a_study_works_it_and_verifies_its_release(
    live_server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mara = Person.objects.create_person("Mara Lind", "mara@example.org", "tilted tables")
    first = projects.create_project(slug="first", name="First", manager=mara, now=timezone.now())
    projects.add_member(project=first, person=mara, roles=[Role.ADJUDICATOR], by=None, now=timezone.now())
    _, secret = projects.make_token(
        person=mara, project=first, name="script", scopes=list(Permission), now=timezone.now()
    )
    script = runpy.run_path(str(ROOT / "docs" / "study_by_api.py"))

    script["main"](live_server.url, secret, str(tmp_path / "release"))

    project = Project.objects.get(slug="freb-tqa")
    release = Release.objects.get(project=project)
    lines = capsys.readouterr().out.splitlines()
    batches = list(Batch.objects.filter(project=project).order_by("pk"))
    assert [line.split(":")[0] for line in lines[:-1]] == [batch.name for batch in batches]
    assert len(batches) == 9
    assert all(batch.closed_at for batch in batches)
    assert release.ready_at is not None
    assert (tmp_path / "release" / "manifest.json").exists()
    assert len(Path(script["__file__"]).read_text(encoding="utf-8").splitlines()) < 120
    assert json.loads(lines[-1].replace("'", '"'))["decisions"] > 40
    assert PerturbationRun.objects.get(project=project).event is not None
