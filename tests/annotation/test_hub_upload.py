"""A release is uploaded to a hub of this machine: which files, with which token, and what is said when it fails."""

from __future__ import annotations

import base64
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Release
from annotation.releases import creation, verification
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_mixing import perturbed_thrice

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "hf_secret_of_rea"


class Hub(ThreadingHTTPServer):
    """Takes repositories and commits as the Hub does; `status` and `commit_status` are its answers to the first of each.

    A repository that is there has the file that the Hub puts into new ones, and `files`.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Replies)
        self.status = self.commit_status = 200
        self.tokens: set[str | None] = set()
        self.files: dict[str, bytes] = {}
        self.created: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Replies(BaseHTTPRequestHandler):
    server: Hub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.tokens.add(self.headers.get("Authorization"))
        if self.path == "/api/repos/create":
            status = 409 if self.server.created and self.server.status == 200 else self.server.status
            self.server.created.append(json.loads(body))
            self.reply({"url": f"{self.server.url}/datasets/lab/films"}, status)
        elif self.path == "/api/datasets/lab/films/preupload/main":
            names = [file["path"] for file in json.loads(body)["files"]]
            modes = [{"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names]
            self.reply({"files": modes})
        elif self.path == "/api/validate-yaml":
            self.reply({"warnings": [], "errors": []})
        else:
            assert self.path.startswith("/api/datasets/lab/films/commit/main")
            if self.server.commit_status != 200:
                self.reply({"error": "busy"}, self.server.commit_status)
                return
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    self.server.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            self.reply({"commitUrl": f"{self.server.url}/datasets/lab/films/commit/1", "commitOid": "1"})

    def do_GET(self) -> None:
        assert self.path.startswith("/api/datasets/lab/films/tree/main")
        names = [".gitattributes", *self.server.files]
        self.reply([{"type": "file", "path": name, "size": 1, "oid": "1"} for name in names])

    def reply(self, value: Any, status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *values: Any) -> None:
        """Stay silent."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    return world


def push(*options: str, name: str = "v1") -> str:
    out = StringIO()
    call_command("release", "--project=films", f"--name={name}", *options, stdout=out)
    return out.getvalue()


def released(world: World, *formats: str) -> Path:
    release = creation.make_release(project=world.project, name="v1", format=list(formats), by=None, now=NOON)
    return creation.folder(release)


def test_without_yes_the_files_are_listed_and_nothing_is_sent(hub: Hub, world: World, tmp_path: Path) -> None:
    shown = push("--format=hf", f"--out={tmp_path / 'out'}", "--push-to-hub=lab/films")
    assert Release.objects.get().name == "v1"
    assert "data/value_change/dev.jsonl" in shown
    assert "Nothing was uploaded. Add --yes" in shown
    assert (hub.created, hub.tokens) == ([], set())


def test_with_yes_the_hub_has_the_files_of_the_release(hub: Hub, world: World, tmp_path: Path) -> None:
    folder = released(world, "hf")
    shown = push("--push-to-hub=lab/films", "--yes")
    assert f"{hub.url}/datasets/lab/films" in shown
    assert [(one["type"], one["visibility"]) for one in hub.created] == [("dataset", "private")]
    assert "The dataset is private." in shown
    croissant = json.loads(hub.files["croissant.json"])
    assert croissant.pop("url") == f"{hub.url}/datasets/lab/films"
    assert croissant == json.loads((folder / "croissant.json").read_bytes())
    assert hub.files == {
        **{
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        },
        "croissant.json": hub.files["croissant.json"],
    }
    assert {"README.md", "croissant.json", "manifest.json"} <= hub.files.keys()
    for name, content in hub.files.items():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(content)
    assert verification.verify(tmp_path / "copy")["decisions"] == 3


def test_the_token_goes_into_the_header_and_nowhere_else(
    hub: Hub, world: World, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    released(world, "hf")
    with caplog.at_level("DEBUG"):
        shown = push("--push-to-hub=lab/films", "--yes")
    assert hub.tokens == {f"Bearer {TOKEN}"}
    captured = capfd.readouterr()
    for text in (shown, captured.out, captured.err, caplog.text, *map(repr, hub.files.values())):
        assert TOKEN not in text


@pytest.mark.parametrize(
    ("status", "message"),
    [(409, "already a dataset lab/films"), (403, "does not accept"), (500, "status 500")],
)
def test_an_error_of_the_hub_is_named(hub: Hub, world: World, status: int, message: str) -> None:
    released(world, "hf")
    hub.status = status
    hub.files = {"data.csv": b""} if status == 409 else {}
    with pytest.raises(CommandError, match=message) as error:
        push("--push-to-hub=lab/films", "--yes")
    assert TOKEN not in str(error.value)
    assert not any(name != "data.csv" for name in hub.files)


def test_an_upload_whose_commit_failed_can_be_done_again(hub: Hub, world: World) -> None:
    released(world, "hf")
    hub.commit_status = 400
    with pytest.raises(CommandError, match="status 400"):
        push("--push-to-hub=lab/films", "--yes")
    assert hub.files == {}
    hub.commit_status = 200
    push("--push-to-hub=lab/films", "--yes")
    assert "manifest.json" in hub.files
    with pytest.raises(CommandError, match="already a dataset lab/films"):
        push("--push-to-hub=lab/films", "--yes")


def test_a_missing_token_is_named(hub: Hub, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    released(world, "hf")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(CommandError, match="set the environment variable HF_TOKEN"):
        push("--push-to-hub=lab/films", "--yes")
    assert hub.created == []


def test_a_missing_package_is_named(hub: Hub, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    released(world, "hf")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(CommandError, match="huggingface_hub is missing"):
        push("--push-to-hub=lab/films", "--yes")


def test_no_connection_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    released(world, "hf")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(CommandError, match=r"no connection to http://127\.0\.0\.1:9"):
        push("--push-to-hub=lab/films", "--yes")


@pytest.mark.parametrize("repository", ["films", "lab/films/v1", "lab/../films", "-lab/films"])
def test_a_name_that_is_none_of_a_repository_is_refused(world: World, repository: str) -> None:
    released(world, "hf")
    with pytest.raises(CommandError, match="not the name of a repository"):
        push(f"--push-to-hub={repository}")


def test_of_a_release_in_several_formats_the_folder_hf_is_uploaded(hub: Hub, world: World) -> None:
    folder = released(world, "askew", "hf")
    push("--push-to-hub=lab/films", "--yes")
    in_hf = {path.relative_to(folder / "hf").as_posix() for path in (folder / "hf").rglob("*.*")}
    assert hub.files.keys() == {*in_hf, "DATA_STATEMENT.md", "CITATION.cff"}
    assert hub.files["data/original/dev.jsonl"] == (folder / "hf/data/original/dev.jsonl").read_bytes()


def test_a_release_in_other_formats_is_refused(world: World) -> None:
    released(world, "askew", "robut")
    with pytest.raises(CommandError, match="with the format hf; this one has askew, robut"):
        push("--push-to-hub=lab/films")


def test_the_name_of_a_member_is_published_where_people_named_them_as_creator(hub: Hub, world: World) -> None:
    world.mara.name = "Mara Lind"
    world.mara.save()
    world.project.statement = {"creators": "Mara Lind"}
    world.project.save()
    released(world, "hf")
    push("--push-to-hub=lab/films", "--yes")
    assert b'"Mara Lind"' in hub.files["CITATION.cff"]


def test_a_response_that_names_a_member_is_not_uploaded_from_the_folder_hf(hub: Hub, world: World) -> None:
    world.mara.name = "was Heat"
    world.mara.save()
    released(world, "askew", "hf")
    with pytest.raises(CommandError, match=r"hf/data/\w+/dev\.jsonl, line \d+, contains the name"):
        push("--push-to-hub=lab/films", "--yes")
    assert hub.files == {}


def test_a_text_that_names_a_member_is_not_uploaded(hub: Hub, world: World) -> None:
    world.mara.name = "Mara Lind"
    world.mara.save()
    world.project.statement = {"training": "Ask Mara Lind about this"}
    world.project.save()
    released(world, "hf")
    with pytest.raises(CommandError, match=r"DATA_STATEMENT\.md, line \d+, contains the name"):
        push("--push-to-hub=lab/films", "--yes")
    assert hub.created == []


def test_yes_alone_is_refused(world: World) -> None:
    with pytest.raises(CommandError, match="only for --push-to-hub"):
        push("--yes", "--format=hf")
