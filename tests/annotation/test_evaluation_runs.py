"""Evaluations on the platform: sent or asked for, kept with who and when, side by side, taken along as files.

Jobs run at once here (tests/settings.py).
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from django.urls import reverse

from annotation.models import Job, Release, Upload
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation
from annotation.releases.model_evaluation import queries, runs
from annotation.workflow import perturbation_runs
from tableqa import Example
from tableqa.scoring.predictions import EvaluationError
from tests.annotation.cast import NOON, World

PREDICTORS = {"echo": {"protocol": "askew", "url": "http://127.0.0.1:1", "model": "echo"}}


@pytest.fixture
def release(world: World) -> Release:
    """Four questions with two shuffles and a transposition."""
    run = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle", "transpose"], seeds=[33, 16], now=NOON
    )
    perturbation_runs.perform(run)
    return creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)


@pytest.fixture
def rea(world: World) -> Client:
    client = Client()
    client.force_login(world.rea)
    return client


def said(release: Release, right: Any = lambda instance: True) -> bytes:
    """Predictions for everything in a release, right where `right` says so."""
    raw = queries.load(creation.folder(release))
    lines = [
        {"source": one.source, "id": one.id, "answers": list(one.answers) if right(one) else ["no idea"]}
        for one, _ in queries.instances(raw)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def send(client: Client, release: Release, name: str, content: bytes, **more: Any) -> Any:
    file = SimpleUploadedFile("said.jsonl", content)
    return client.post(reverse("evaluations", args=[release.public_id]), {"name": name, "file": file, **more})


def sent(client: Client, release: Release, name: str, content: bytes) -> Job:
    """A run of these predictions that is done."""
    assert send(client, release, name, content).status_code == 302
    job = runs.runs(release)[0]
    assert job.state == Job.State.DONE, job.error
    return job


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_sent_becomes_a_run_with_its_maker_and_digest(rea: Client, release: Release) -> None:
    run = sent(rea, release, "TAPEX", said(release, lambda one: one.kind != "transpose"))
    assert run.made_by is not None
    assert run.made_by.name == "Rea"
    assert len(run.result["predictions_sha256"]) == 64
    assert run.result["missing"] == 0
    page = rea.get(reverse("evaluations", args=[release.public_id])).content.decode()
    for words in ("TAPEX", "Rea", run.result["predictions_sha256"][:12], "Structure (FREB-TQA, part 1)"):
        assert words in page
    assert '<td class="n">-100.00 <small class="soft">-100.00 to ' in page, (
        "every transposed table is answered wrongly"
    )
    assert "style=" not in page
    file = Upload.objects.get(pk=run.ids["upload"]).file
    assert not file.storage.exists(str(file.name)), "it lies with the evaluation now"
    job = rea.get(reverse("job", args=[run.public_id])).content.decode()
    assert "Open the evaluations" in job


@pytest.mark.django_db(transaction=True)
def test_chosen_runs_stand_side_by_side_and_the_others_do_not(rea: Client, release: Release) -> None:
    one = sent(rea, release, "Alpha", said(release))
    other = sent(rea, release, "Beta", said(release, lambda one: one.seed != 33))
    third = sent(rea, release, "Gamma", said(release, lambda one: False))
    address = reverse("evaluations", args=[release.public_id])
    page = rea.get(address, {"run": [one.public_id, other.public_id]}).content.decode()
    assert "Beta compared with Alpha" in page
    assert "Gamma compared with" not in page
    assert page.split("<main")[1].count(" checked") == 2
    whole = rea.get(address).content.decode()
    assert "Gamma compared with Beta" in whole, "without a choice the newest are shown"
    nobody = rea.get(address, {"run": ["nowhere", "\0"]}).content.decode()
    assert "beside" not in nobody.split("<main")[1]
    assert third.public_id in whole


@pytest.mark.django_db(transaction=True)
def test_the_page_and_its_files_have_the_papers_rules_side_by_side(rea: Client, release: Release) -> None:
    """A thousands separator changes nothing to the rule askew, and makes another answer under the papers' rules."""
    lines = [json.loads(line) for line in said(release).splitlines()]
    for line in lines:
        line["answers"] = [
            f"{answer[0]},{answer[1:]}" if answer.isdigit() and len(answer) == 4 else answer
            for answer in line["answers"]
        ]
    run = sent(rea, release, "TAPEX", "".join(json.dumps(line) + "\n" for line in lines).encode())
    page = rea.get(reverse("evaluations", args=[release.public_id])).content.decode()
    assert "Matching rules" in page
    assert "(rule askew)" in page
    report = runs.report(release, [run])
    em = {rule: models["TAPEX"].rows[0].after.value for rule, models in report.by_rule.items()}
    assert list(em) == ["askew", "wtq", "tapex"]
    assert em["askew"] == report.evaluations["TAPEX"].rows[0].after.value == 1.0
    assert em["wtq"] is not None
    assert em["wtq"] < 1.0
    address = reverse("evaluations_download", args=[release.public_id])
    (model,) = rea.get(address, {"format": "json", "run": run.public_id}).json()["models"]
    assert {rule: rows[0]["after"]["value"] for rule, rows in model["by_rule"].items()} == em
    archive = rea.get(address, {"format": "csv", "run": run.public_id}).content
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        assert "matching-rules.csv" in packed.namelist()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"id": "nu-0", "answers": ["1995"]}\n{"id": 7}', "said.jsonl, line 2: an object with an id"),
        (b'{"id": "nu-0", "answers": ["1995"], "source": "other"}', "line 1: there is no source"),
        (b'{"id": "nu-0", "answers": ["caf\xe9"]}', "line 1: not UTF-8"),
        (b"\n\n", "contains no predictions"),
        (b"PK\x03\x04 not lines", "line 1: not JSON"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_the_job_of_a_file_that_holds_something_else_fails_with_its_line(
    rea: Client, release: Release, content: bytes, words: str
) -> None:
    answer = send(rea, release, "TAPEX", content)
    run = runs.runs(release).get()
    assert answer["Location"] == reverse("job", args=[run.public_id])
    assert run.state == Job.State.FAILED
    assert words in run.error
    assert words in rea.get(answer["Location"]).content.decode().replace("&#x27;", "'")
    assert not Path(settings.MEDIA_ROOT, str(Upload.objects.get().file.name)).exists()
    assert sent(rea, release, "TAPEX", said(release)).state == Job.State.DONE


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_too_large_is_refused_before_it_is_read(rea: Client, release: Release) -> None:
    with patch.object(runs, "MOST_UPLOAD", 100):
        answer = send(rea, release, "TAPEX", said(release))
    assert "is larger than" in answer.content.decode()
    assert not Upload.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_name_is_taken_once_and_one_of_file_and_predictor_is_needed(rea: Client, release: Release) -> None:
    sent(rea, release, "TAPEX", said(release))
    assert "already has an evaluation of TAPEX" in send(rea, release, "TAPEX", said(release)).content.decode()
    address = reverse("evaluations", args=[release.public_id])
    assert "not both" in rea.post(address, {"name": "Nothing"}).content.decode()


@pytest.mark.django_db(transaction=True)
def test_predictions_that_lack_some_instance_fail_in_words_and_can_be_sent_again(
    rea: Client, release: Release
) -> None:
    some = b"".join(said(release).splitlines(keepends=True)[:-1])
    send(rea, release, "TAPEX", some)
    run = runs.runs(release).get()
    assert run.state == Job.State.FAILED
    page = rea.get(reverse("job", args=[run.public_id])).content.decode()
    assert f"1 of {len(some.splitlines()) + 1} instances have no prediction" in page
    assert reverse("evaluations", args=[release.public_id]) in page
    send(rea, release, "TAPEX", some, leave_out_missing="on")
    again = runs.runs(release)[0]
    assert again.state == Job.State.DONE, again.error
    page = rea.get(reverse("evaluations", args=[release.public_id])).content.decode()
    assert "TAPEX: 1 instance skipped because it has no prediction." in page
    assert "failed (details)" in page


@pytest.mark.django_db(transaction=True)
@override_settings(PREDICTORS=PREDICTORS)
def test_a_predictor_that_breaks_off_goes_on_where_it_stopped(
    world: World, rea: Client, release: Release
) -> None:
    asked: list[str] = []

    def ask(example: Example) -> dict[str, Any]:
        asked.append(example.id)
        if len(asked) == 10:
            raise EvaluationError("The model is gone.")
        return {"answers": list(example.answers), "text": "", "model": "echo@1"}

    address = reverse("evaluations", args=[release.public_id])
    with (
        patch.object(queries, "model_of", lambda predictors, name, meter: ask),
        patch.object(queries, "AT_ONCE", 1),
    ):
        assert rea.post(address, {"name": "Echo", "predictor": "echo"}).status_code == 302
        first = runs.runs(release).get()
        assert first.state == Job.State.FAILED
        assert first.error == "The model is gone."
        rea.post(address, {"name": "Echo", "predictor": "echo"})
        again = runs.runs(release)[0]
    assert again.state == Job.State.DONE, again.error
    assert again.result["models"] == ["echo@1"]
    everything = len(said(release).splitlines())
    assert again.done == again.total == again.result["instances"] == everything
    assert len(asked) < everything + 10, "what was answered before is not asked again"
    assert "echo@1" in rea.get(address).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_file_that_was_changed_behind_our_back_is_not_shown(rea: Client, release: Release) -> None:
    run = sent(rea, release, "TAPEX", said(release))
    path = Path(settings.MEDIA_ROOT) / "evaluations" / release.public_id / f"{run.public_id}.judged.jsonl"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"after":true', '"after":false'), encoding="utf-8"
    )
    runs._report.cache_clear()
    page = rea.get(reverse("evaluations", args=[release.public_id])).content.decode()
    assert "was changed after it was written" in page
    path.unlink()
    with pytest.raises(ActionRefused, match="was changed after it was written"):
        runs.report(release, [run])


@pytest.mark.django_db(transaction=True)
def test_tables_go_out_in_every_form_and_no_name_is_a_formula_in_them(rea: Client, release: Release) -> None:
    run = sent(rea, release, "=HYPERLINK(1)", said(release))
    address = reverse("evaluations_download", args=[release.public_id])
    for format, kind in (
        *(("html", "text/html"), ("markdown", "text/markdown"), ("latex", "application/x-tex")),
        *(("json", "application/json"), ("text", "text/plain"), ("csv", "application/zip")),
    ):
        answer = rea.get(address, {"format": format, "run": run.public_id})
        assert answer["Content-Type"].startswith(kind)
        assert answer["Content-Disposition"].startswith("attachment;")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert "structure.csv" in packed.namelist()
        lines = list(csv.reader(io.StringIO(packed.read("structure.csv").decode(), newline="")))
    assert lines[1][0] == "'=HYPERLINK(1)"
    assert rea.get(address, {"format": "pdf"})["Location"] == reverse("evaluations", args=[release.public_id])


@pytest.mark.django_db(transaction=True)
def test_latex_tables_have_the_release_in_their_labels_and_captions(rea: Client, release: Release) -> None:
    run = sent(rea, release, "TAPEX", said(release))
    address = reverse("evaluations_download", args=[release.public_id])

    source = rea.get(address, {"format": "latex", "run": run.public_id}).content.decode()

    labels = re.findall(r"\\label\{(.*)\}", source)
    assert "tab:Films--v1-structure" in labels
    assert len(set(labels)) == len(labels)
    assert source.count("Films, v1") >= len(labels)


@pytest.mark.django_db(transaction=True)
def test_runs_of_one_release_are_not_those_of_another(world: World, rea: Client, release: Release) -> None:
    run = sent(rea, release, "TAPEX", said(release))
    batch = world.batch(size=1, name="More")
    other = creation.make_release(project=world.project, name="v2", format="askew", by=world.rea, now=NOON)
    assert batch.pk
    page = rea.get(reverse("evaluations", args=[other.public_id]), {"run": run.public_id}).content.decode()
    assert "No evaluation yet" in page
    assert "TAPEX" not in page
