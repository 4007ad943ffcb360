"""The README's "A project in five lines" and every command of docs/quickstart.md do what they say, as printed.

The demo beside which they are typed starts and stops as `./run demo` should, which the last test shows.

Two things are not as on a reader's machine: git clones WikiTableQuestions from a repository that is made here of the test
data, and the demo takes a free port.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import polib
import pytest
import yaml

from tests.demo import Demo
from tests.plugin import ROOT

README = (ROOT / "README.md").read_text("utf-8")
QUICKSTART = (ROOT / "docs" / "quickstart.md").read_text("utf-8")
PUBLISHED = "https://github.com/ppasupat/WikiTableQuestions"
COMMAND = re.compile(r"^ {4,}((?:\./run|git) .+)$|`(\./run [^`]+)`", re.MULTILINE)


def commands(text: str) -> list[str]:
    """The commands of a text in its order: lines of code blocks, and code within sentences."""
    return [block or inline for block, inline in COMMAND.findall(text)]


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@dataclass
class Terminal:
    """A second terminal beside the demo: a folder with `run` and `fixtures` in it, as in a clone."""

    folder: Path
    environment: dict[str, str]

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def succeeds(self, command: str) -> str:
        done = self.type(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    running = Demo(tmp_path_factory.mktemp("data"))
    yield running
    running.stop(15)


@pytest.fixture(scope="module")
def upstream(test_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of WikiTableQuestions in the folders in which it has them."""
    folder = tmp_path_factory.mktemp("upstream")
    shutil.copytree(test_data / "wtq" / "csv", folder / "csv")
    (folder / "data").mkdir()
    shutil.copy(test_data / "wtq" / "random-split-1-dev.tsv", folder / "data")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Data"]):
        author = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *author, *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def terminal(demo: Demo, upstream: Path, tmp_path: Path) -> Terminal:
    return terminal_beside(demo, upstream, tmp_path)


@pytest.fixture
def first_terminal(upstream: Path, tmp_path: Path) -> Iterator[Terminal]:
    """Beside a demo of its own, in which no other test has made a project."""
    running = Demo(tmp_path / "data")
    yield terminal_beside(running, upstream, tmp_path)
    running.stop(15)


def terminal_beside(demo: Demo, upstream: Path, tmp_path: Path) -> Terminal:
    (tmp_path / "run").symlink_to(ROOT / "run")
    (tmp_path / "fixtures").mkdir()
    shutil.copy(ROOT / "fixtures" / "starter.yaml", tmp_path / "fixtures")
    redirected = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{upstream.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": PUBLISHED,
    }
    of_shell = {
        name: value for name, value in demo.environment.items() if name != "DJANGO_SETTINGS_MODULE"
    }  # which pytest has set
    return Terminal(tmp_path, {**of_shell, **redirected})


def test_the_five_lines_of_the_readme_work_as_printed(terminal: Terminal) -> None:
    lines = re.findall(r"^ {4}(.+)$", section(README, "A project in five lines"), re.MULTILINE)
    assert len(lines) == 5

    said = [terminal.succeeds(line) for line in lines]

    assert "First batch" in said[1]
    assert "20 items resolved" in said[2]
    assert "60 responses by 3 people" in said[3]
    assert (terminal.folder / "starter-0.1" / "manifest.json").is_file()


@pytest.mark.slow
def test_the_commands_of_the_first_study_print_what_the_page_shows(first_terminal: Terminal) -> None:
    page = (ROOT / "docs" / "first-study.md").read_text("utf-8")
    blocks = [block.split("\n    ") for block in re.findall(r"(?<=\n    )(\S.+(?:\n    .+)*)", page)]
    typed = [line for block in blocks for line in block if line.startswith(("./run ", "git ", "sed "))]
    shown = [line for block in blocks for line in block if line not in typed]
    assert typed.pop(0) == "./run demo"  # which runs meanwhile

    printed = "".join(first_terminal.succeeds(line) for line in typed)

    assert len(shown) > 10
    assert [line for line in shown if line not in printed] == []


def download(demo: Demo, folder: Path) -> Path:
    """The release of the demo as a researcher gets it: signed in by the printed link, downloaded, unpacked."""
    link = next(line.split()[-1] for line in demo.lines if "researcher" in line)
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        page = browser.get(link).text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token is not None
        browser.post(link, data={"csrfmiddlewaretoken": token[1]}, headers={"Referer": link})
        releases = browser.get(f"{demo.url}projects/tilted-tables/releases/").text
        address = re.search(r'href="(/releases/[^"]+/)">pilot</a>', releases)
        assert address is not None
        page = browser.get(demo.url.rstrip("/") + address[1]).text
        assert "Download (zip)" in page
        archive = folder / "release.zip"
        archive.write_bytes(browser.get(f"{demo.url.rstrip('/')}{address[1]}download/").content)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder / "FOLDER")
    return folder / "FOLDER"


def test_every_command_of_the_quickstart_works_as_printed(terminal: Terminal, demo: Demo) -> None:
    assert commands(QUICKSTART)[0] == "./run demo"  # which runs meanwhile
    others = [command for command in commands(QUICKSTART) if command != "./run demo"]
    assert f"git clone --depth 1 {PUBLISHED}" in others
    release = download(demo, terminal.folder)

    said = {command: terminal.succeeds(command) for command in others}

    assert any("2831 examples" in words.replace(",", "") for words in said.values())
    changed = release / "annotations.jsonl"
    changed.write_text(changed.read_text("utf-8").replace("extraction", "extractiom", 1), "utf-8")
    found = terminal.type("./run manage verify_release FOLDER")
    assert found.returncode == 1
    assert "annotations.jsonl" in found.stdout + found.stderr


def test_every_label_that_the_quickstart_names_is_in_the_pages() -> None:
    """What is emphasised is a word of a page, a key, or a thing of the demo; a bold sentence is the title of a step."""
    emphasised = re.findall(r"\*\*([^*]+)\*\*|(?<!\*)\*([^*]+)\*(?!\*)", QUICKSTART)
    labels = {" ".join((bold or italic).split()) for bold, italic in emphasised if not bold.endswith(".")}
    labels = {label for label in labels if len(label) > 1}  # keys
    catalogues = (ROOT / "locale" / "de" / "LC_MESSAGES" / f"{name}.po" for name in ("django", "djangojs"))
    of_pages = {entry.msgid for path in catalogues for entry in polib.pofile(str(path)) if not entry.obsolete}
    world = yaml.safe_load((ROOT / "fixtures" / "demo" / "world.yaml").read_text("utf-8"))
    starter = yaml.safe_load((ROOT / "fixtures" / "starter.yaml").read_text("utf-8"))
    of_demo = {world["project"]["name"]}
    of_demo |= {one["name"] for one in (*world["batches"], *world["releases"], *starter["batches"])}

    assert {"Releases", "Sources", "New batch"} <= labels
    assert labels - of_pages - of_demo == set()


def test_the_links_of_the_readme_into_the_quickstart_have_their_headings() -> None:
    headings = {
        re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", QUICKSTART, re.MULTILINE)
    }
    anchors = set(re.findall(r"docs/quickstart\.md#([\w-]+)", README))

    assert anchors
    assert anchors <= headings


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
def test_the_demo_is_ready_with_a_link_for_each_role_and_stops_without_a_trace(demo: Demo) -> None:
    """The last test of this file: it stops the demo of the others, and starts it again on what they made."""
    data = Path(demo.environment["ASKEW_DATA_DIR"])
    assert re.fullmatch(r"Ready: http://127\.0\.0\.1:\d+/", demo.lines[0])
    links = [line for line in demo.lines[1:] if demo.url in line]
    for role in ("administrator", "manager", "annotator", "adjudicator", "researcher"):
        assert any(role in line.lower() for line in links), role
    with urllib.request.urlopen(demo.url, timeout=10) as page:
        assert page.status == 200
    assert len(demo.processes()) >= 4  # web with its two workers, and the jobs' worker

    assert demo.stop(signal.SIGTERM) == 0

    assert demo.processes() == set()
    first_key = (data / "secret_key").read_text()
    again = Demo(data)
    assert again.stop(signal.SIGINT) == 0
    assert again.processes() == set()
    assert (data / "secret_key").read_text() == first_key
    assert links != [line for line in again.lines[1:] if again.url in line], "links are good for one start"
