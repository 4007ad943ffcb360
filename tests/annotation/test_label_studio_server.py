"""A running Label Studio takes the export of a release, and what it exports again is read back without loss.

Label Studio is installed from the package index into an environment of its own. It runs on a free port with a new folder
and SQLite; its command line creates the user and the legacy token, which newer versions have to be told to allow.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from annotation.models import Annotation, Batch, Example, Person, Source
from annotation.releases import creation
from tableqa.readers import READERS
from tableqa.readers.responses import TOOLS
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_exports_of_tools import EXPORTS, environment
from tests.annotation.test_help_in_releases import crafted
from tests.annotation.test_transfer import write
from tests.waiting import wait_until

LABEL_STUDIO = ["label-studio==1.23.2"]
TOKEN = "0123456789abcdef0123456789abcdef01234567"
pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a Label Studio without projects."""
    folder, port = tmp_path / "studio", free_port()
    folder.mkdir()
    program = environment(folder, LABEL_STUDIO).with_name("label-studio")
    data = folder / "data"
    data.mkdir()
    command = [
        *(program, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", port),
        *("--data-dir", data, "--username", "mara@example.org", "--password", "films of 1995"),
        *("--user-token", TOKEN, "--enable-legacy-api-token"),
    ]
    quiet = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "0",
    }
    inherited = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            list(map(str, command)), stdout=log, stderr=subprocess.STDOUT, env=inherited | quiet
        ) as server,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api",
            headers={"Authorization": f"Token {TOKEN}"},
            timeout=120,
        ) as client,
    ):
        try:
            wait_until(lambda: answers(client, server, folder / "log"), "Label Studio answers", 900, every=1)
            yield client
        finally:
            server.terminate()


def answers(client: httpx.Client, server: subprocess.Popen[bytes], log: Path) -> bool:
    assert server.poll() is None, log.read_text("utf-8", errors="replace")[-2000:]
    try:
        return client.get("/projects/").is_success
    except httpx.TransportError:
        return False


def exported_again(studio: httpx.Client, tasks: Path, to: Path) -> Path:
    """Import the tasks of a batch into a new project, and export them as a snapshot with whole predictions."""
    configuration = tasks.with_suffix(".xml").read_text("utf-8")
    project = sent(studio, "/projects/", {"title": tasks.stem, "label_config": configuration})["id"]
    sent(studio, f"/projects/{project}/import", json.loads(tasks.read_text("utf-8")))
    options = {"serialization_options": {"predictions": {"only_id": False}}}
    snapshot = sent(studio, f"/projects/{project}/exports/", options)["id"]
    path = f"/projects/{project}/exports/{snapshot}"
    wait_until(lambda: studio.get(path).json()["status"] == "completed", "the snapshot is complete", 60)
    to.write_bytes(studio.get(f"{path}/download", params={"exportType": "JSON"}).raise_for_status().content)
    return to


def sent(studio: httpx.Client, path: str, body: Any) -> Any:
    reply = studio.post(path, json=body)
    assert reply.is_success, reply.text
    return reply.json()


def parts(tasks: Path) -> list[dict[str, Any]]:
    """What Askew writes of each task: data, ids, annotations and predictions."""
    written = {
        "annotations": ("lead_time", "ground_truth", "was_cancelled", "result"),
        "predictions": ("model_version", "score", "result"),
    }
    return [
        {
            "data": task["data"],
            "meta": task["meta"],
            **{
                part: [{name: one[name] for name in names} for one in task[part]]
                for part, names in written.items()
            },
        }
        for task in json.loads(tasks.read_text("utf-8"))
    ]


def responses_of(path: Path) -> list[Any]:
    return [
        (
            task.id,
            task.task_type,
            task.losses,
            task.credit,
            [(r.person, r.is_simulated, r.id, r.at, r.values) for r in task.responses],
        )
        for task in TOOLS["label_studio"].tasks(path)
    ]


def current(batch: Batch) -> list[tuple[str, str, Any, Any]]:
    """Example, annotator, response and time of all responses of a batch."""
    pseudonyms = dict(batch.project.memberships.values_list("person", "pseudonym"))
    rows = Annotation.objects.filter(assignment__batch=batch).select_related(
        "assignment__person", "assignment__item__example"
    )
    return sorted(
        (
            row.assignment.item.example.external_id,
            row.assignment.person.name if batch.name == "back" else pseudonyms[row.assignment.person_id],
            json.dumps((row.response or {})["data"], sort_keys=True),
            row.made_at.isoformat(),
        )
        for row in rows
    )


def simulated_of(batch: Batch) -> int:
    """The number of responses of a batch by simulated people."""
    return Annotation.objects.filter(assignment__batch=batch, assignment__person__is_simulated=True).count()


def test_a_running_label_studio_takes_the_export_and_gives_it_back_without_loss(
    studio: httpx.Client, tmp_path: Path, settings: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "world").mkdir()
    world: World = make_world(tmp_path / "world")
    labelled = world.batch(overlap=2, size=3)
    for who in ("ada", "bo"):
        for label in ("extraction", "reasoning", "neither"):
            world.label(labelled, who, label)
    Person.objects.filter(pk=world.bo.pk).update(is_simulated=True)
    edited = crafted(world)
    folder = tmp_path / "release"
    creation.make_release(
        project=world.project,
        name="v1",
        format="askew",
        allow_simulated=True,
        by=None,
        now=NOON,
        out=folder,
    )
    call_command("export_release", folder, tmp_path / "out", "--to", "label_studio")

    for batch in (labelled, edited):
        tasks = tmp_path / "out" / f"{batch.public_id}.json"
        again = exported_again(studio, tasks, tmp_path / f"again-{batch.public_id}.json")

        assert parts(again) == parts(tasks)
        assert responses_of(again) == responses_of(tasks)
        read, original = (list(READERS["label_studio"](path)) for path in (again, tasks))
        assert [(one.id, one.question, one.answers, one.table) for one in read] == [
            (one.id, one.question, one.answers, one.table) for one in original
        ]
        done = write(world, again, batch="back", source=f"back {batch.public_id}")
        assert done.losses == []
        assert done.proposals == sum(len(task["predictions"]) for task in parts(tasks))
        assert done.batch is not None
        assert current(done.batch) == current(batch)
        assert simulated_of(done.batch) == simulated_of(batch)
        Batch.objects.filter(pk=done.batch.pk).update(name=f"back {batch.public_id}")
        stored = (
            Example.objects.originals().filter(source__name=f"back {batch.public_id}").order_by("position")
        )
        assert [len(one.more["meta"].get("label_studio", {}).get("predictions", ())) for one in stored] == [
            len(task["predictions"]) for task in parts(tasks)
        ]
    assert any(task["predictions"] for task in parts(tasks)), "the export has predictions"
    assert simulated_of(labelled) == 3
    backs = Source.objects.filter(name__startswith="back ").values_list("licence", "citation", "url")
    assert set(backs) == {(world.source.licence, world.source.citation, world.source.url)}


def test_a_running_label_studio_exports_every_control_as_the_sdk_writes_it(
    studio: httpx.Client, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(EXPORTS / "label_studio", tmp_path / "stored"))
    stored = folder / "export.json"
    # The server has one person.
    stored.write_text(stored.read_text("utf-8").replace('"completed_by": 2', '"completed_by": 1'), "utf-8")

    again = exported_again(studio, stored, tmp_path / "again.json")

    assert [[one["result"] for one in task["annotations"]] for task in parts(again)] == [
        [one["result"] for one in task["annotations"]] for task in parts(stored)
    ]
    assert values_of(again) == values_of(stored)


def values_of(path: Path) -> list[Any]:
    """The values and losses of each task."""
    read = TOOLS["label_studio"].tasks(path)
    return [([one.values for one in task.responses], task.losses) for task in read]
