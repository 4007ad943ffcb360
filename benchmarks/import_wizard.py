"""A large file through the import wizard on PostgreSQL: slices, preview, another column, import by the worker.

    ./run bench import_wizard [--examples 100000] [--megabytes 200] [--honest 1000]

Two uploads of `--examples` questions, eight over one table: JSON Lines of `--megabytes` with the table in each line, and a
zip archive of a CSV file of questions and one of each table. gunicorn and a worker run as in production. Memory is the
highest of any process of its side, less what it had before the upload. A client requests the home page while
the import runs. Then the honest files are previewed one by one: those of `tests/exports`, and the datasets of `fixtures`.
"""

from __future__ import annotations

import argparse
import csv
import html
import http.client
import io
import json
import os
import re
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.figures import keep
from benchmarks.import_release import NOW, _of_process, _waits

ROOT = Path(__file__).resolve().parent.parent
IMPORT = "/projects/bench/sources/import/"
TABLE_QUESTIONS = 8
COLUMNS = 6
SECONDS_PREVIEW = 2.0
SECONDS_HOME = 0.25
MEGABYTES_WEB = 64.0


class Browser:
    """A signed-in manager with one connection."""

    def __init__(self, port: int, manager: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
        self._headers = {"Cookie": manager["cookie"], "X-CSRFToken": manager["csrf"]}

    def send(self, method: str, path: str, body: bytes = b"", content: str = "") -> tuple[int, str, bytes]:
        """Status, address to continue at, and body of an answer."""
        headers = self._headers | ({"Content-Type": content} if content else {})
        self._connection.request(method, path, body or None, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.headers.get("Location", ""), answer.read()

    def post(self, path: str, form: dict[str, str]) -> tuple[int, str, bytes]:
        return self.send("POST", path, urlencode(form).encode(), "application/x-www-form-urlencoded")


def main(arguments: list[str]) -> int:
    """Print the figures; the status is 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="./run bench import_wizard", description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=100_000, metavar="N")
    parser.add_argument("--megabytes", type=int, default=200, metavar="N", help="size of the JSON Lines")
    parser.add_argument("--honest", type=int, default=1_000, metavar="N", help="honest files at most")
    options = parser.parse_args(arguments)
    figures: list[Any] = []
    previews: list[float] = []
    for write in (write_lines, write_archive):
        with tempfile.TemporaryDirectory(prefix="askew-wizard-") as folder:
            path = write(Path(folder), options.examples, options.megabytes)
            size = path.stat().st_size / 2**20
            print(f"{path.suffix[1:]}: {options.examples:,} examples, {size:.0f} MB", flush=True)
            measured = measure(path)
        figures += measured
        previews += [figure.value for figure in measured if figure.name.endswith(", preview")]
    figures += measure_previews(options.honest, previews)
    for figure in figures:
        print(f"{figure.name}: {figure.value:.2f} {figure.unit}, {figure.met}")
    print(f"load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return int(any(figure.met is False for figure in figures))


@contextmanager
def site(data: Path) -> Iterator[tuple[int, dict[str, str], int, int]]:
    """A whole site on a database of its own: its port, a signed-in manager, the web process and the worker."""
    from benchmarks.loop import _served
    from tests.temp_postgres import DURABLE, temporary_postgres

    with ExitStack() as stack:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "ASKEW_DATA_DIR": str(data),
            "DATABASE_URL": stack.enter_context(temporary_postgres(DURABLE)),
            "ALLOWED_HOSTS": "127.0.0.1",
            "LOG_LEVEL": "ERROR",
        }
        set_up = [sys.executable, "-m", "benchmarks.import_wizard", "--set-up"]
        manager = json.loads(subprocess.check_output(set_up, cwd=ROOT, text=True).splitlines()[-1])
        worker = subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT)
        stack.callback(worker.wait, 60)
        stack.callback(worker.terminate)
        port, web = stack.enter_context(_served("config.wsgi"))
        browser = Browser(port, manager)
        for _ in range(20):
            browser.send("GET", IMPORT)
        _waits(worker.pid)
        yield port, manager, web, worker.pid


def measure(path: Path) -> list[Any]:
    """The figures of one file."""
    from benchmarks.loop import _family

    with site(path.parent / "data") as (port, manager, web, worker):
        processes = {"web": _family(web), "worker": {worker}}
        before = {pid: _of_process(pid, "VmRSS") for pids in processes.values() for pid in pids}
        # Another connection: the server has closed one that waited for the worker.
        seconds, homes = through_the_wizard(Browser(port, manager), path)
        megabytes = {
            side: max(_of_process(pid, "VmHWM") - before[pid] for pid in pids)
            for side, pids in processes.items()
        }
    name = path.suffix[1:]
    limits = {"preview": SECONDS_PREVIEW, "another column": SECONDS_PREVIEW}
    return [
        *(keep(f"{name}, {step}", value, "s", at_most=limits.get(step)) for step, value in seconds.items()),
        keep(f"{name}, home page during the import (p95)", percentile(homes), "s", at_most=SECONDS_HOME),
        keep(f"{name}, memory of web processes", megabytes["web"], "MB", at_most=MEGABYTES_WEB),
        keep(f"{name}, memory of the worker", megabytes["worker"], "MB"),
    ]


def measure_previews(most: int, large: list[float]) -> list[Any]:
    """Measure first previews that show an example: at most `most` honest files, and `large` seconds measured before."""
    seconds, without = list(large), 0
    with tempfile.TemporaryDirectory(prefix="askew-honest-") as name:
        files = honest_files(Path(name))[:most]
        with site(Path(name) / "data") as (port, manager, _, _):
            for path in files:
                browser = Browser(port, manager)
                upload = _send_in_slices(browser, path)
                began = time.perf_counter()
                address = browser.post(IMPORT, {"questions_upload": upload})[1]
                page = _preview(browser, browser.send("GET", address)[1])
                if b'class="previewed"' in page:
                    seconds.append(time.perf_counter() - began)
                else:
                    without += 1
    print(f"previews of {len(seconds)} honest files; {without} more without an example")
    return [
        keep("honest files, preview (median)", statistics.median(seconds), "s", at_most=SECONDS_PREVIEW),
        keep("honest files, preview (p95)", percentile(seconds), "s"),
        keep("honest files, longest preview", max(seconds), "s"),
    ]


def honest_files(folder: Path) -> list[Path]:
    """Files that other programs wrote, and each dataset of `fixtures` as an archive, which is written to the folder."""
    exports = sorted((ROOT / "tests" / "exports" / "files").iterdir())
    datasets = sorted(path.parent for path in (ROOT / "fixtures").glob("*/LICENSE"))
    return [
        *(path for path in exports if not path.name.endswith(".expected.json")),
        *(Path(shutil.make_archive(str(folder / path.name), "zip", path)) for path in datasets),
    ]


def through_the_wizard(browser: Browser, path: Path) -> tuple[dict[str, float], list[float]]:
    """Seconds of each step, and those of each home page while the import ran."""
    began, seconds = time.perf_counter(), {}

    def done(step: str) -> None:
        nonlocal began
        seconds[step] = time.perf_counter() - began
        began = time.perf_counter()

    upload = _send_in_slices(browser, path)
    done("upload")
    address = browser.post(IMPORT, {"questions_upload": upload})[1]
    shown = browser.send("GET", address)[1]
    page = _preview(browser, shown)
    done("preview")
    form = {"reader": "own", "column_question": "question", "column_title": "source", **_columns(page)}
    shown = browser.post(address, form)[1]
    page = _preview(browser, shown)
    done("another column")
    if b"No example can be read" in page or b"Which of them" not in page:
        sys.exit(f"The preview shows no example: {page[-3000:]!r}")
    status, job, page = browser.post(shown, form | {"act": "import"})
    if status != 302:
        sys.exit(f"The import did not start: {page[-3000:]!r}")
    homes = []
    while True:
        asked = time.perf_counter()
        browser.send("GET", "/")
        homes.append(time.perf_counter() - asked)
        state = json.loads(browser.send("GET", f"/api/jobs/{job.rstrip('/').rpartition('/')[2]}/")[2])
        if state["state"] not in ("queued", "running"):
            break
        time.sleep(0.1)
    done("import")
    if state["state"] != "done":
        sys.exit(f"The import failed: {state}")
    return seconds, homes


def _preview(browser: Browser, address: str) -> bytes:
    """The page once a worker has read the file; it asks as often as the page does by itself."""
    while b"seen=reading" in (page := browser.send("GET", address)[2]):
        time.sleep(0.4)
    return page


def _columns(page: bytes) -> dict[str, str]:
    """What the page chose for the other drop-downs."""
    text = page.decode()
    chosen = {}
    for name, options in re.findall(r'<select name="(\w+)"[^>]*>(.*?)</select>', text, re.DOTALL):
        selected = re.search(r'<option value="([^"]*)"[^>]*selected', options)
        chosen[name] = html.unescape(selected[1]) if selected else ""
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text):
        chosen.setdefault(name, html.unescape(value))
    return {name: value for name, value in chosen.items() if name not in ("reader", "column_title")}


def _send_in_slices(browser: Browser, path: Path) -> str:
    """Upload a file as the script of the page does. Returns its id."""
    body = json.dumps({"name": path.name, "size": path.stat().st_size}).encode()
    status, _, answer = browser.send("POST", "/api/projects/bench/uploads/", body, "application/json")
    if status != 201:
        sys.exit(f"The upload did not start: {status} {answer[:500]!r}")
    upload = json.loads(answer)
    offset = 0
    with path.open("rb") as file:
        while part := file.read(upload["slice"]):
            address = f"/api/uploads/{upload['id']}/?offset={offset}"
            status, _, answer = browser.send("PUT", address, part, "application/octet-stream")
            if status != 200:
                sys.exit(f"A slice was refused: {status} {answer[:500]!r}")
            offset += len(part)
    return str(upload["id"])


def percentile(seconds: list[float], share: float = 0.95) -> float:
    """The value that `share` of all do not exceed."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


def write_lines(folder: Path, examples: int, megabytes: int) -> Path:
    """A file of JSON Lines of this size, a table in each line."""
    path = folder / "questions.jsonl"
    rows = rows_of(examples, megabytes)
    with path.open("w", encoding="utf-8") as file:
        for number in range(examples):
            file.write(
                json.dumps({**question(number), "table": table(number // TABLE_QUESTIONS, rows)}) + "\n"
            )
    return path


def write_archive(folder: Path, examples: int, megabytes: int) -> Path:
    """A zip archive of the questions and each table as CSV files; a table as large as in the JSON Lines."""
    path = folder / "questions.zip"
    rows = rows_of(examples, megabytes)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        records = [question(n) | {"table": f"tables/{n // TABLE_QUESTIONS}.csv"} for n in range(examples)]
        archive.writestr(
            "questions.csv", as_csv([list(records[0]), *(list(each.values()) for each in records)])
        )
        for number in range(-(-examples // TABLE_QUESTIONS)):
            archive.writestr(f"tables/{number}.csv", as_csv(table(number, rows)))
    return path


def rows_of(examples: int, megabytes: int) -> int:
    """Rows of a table by which the JSON Lines have this size; a cell takes about 19 bytes."""
    return max(1, megabytes * 2**20 // examples // 19 // COLUMNS)


def question(number: int) -> dict[str, Any]:
    """A record without its table."""
    return {
        "id": f"q-{number}",
        "question": f"Which of them has number {number}?",
        "answers": f"Answer {number}",
        "source": f"Source {number % 7}",
    }


def table(number: int, rows: int) -> list[list[str]]:
    """A table with its header."""
    header = [f"Column {column}" for column in range(COLUMNS)]
    return [header, *([f"Cell {number} {row} {column}" for column in range(COLUMNS)] for row in range(rows))]


def as_csv(rows: list[list[Any]]) -> str:
    """Rows as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def set_up() -> dict[str, str]:
    """A project with a manager who is signed in."""
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.models import Person
    from annotation.workflow import projects
    from benchmarks.loop_data import _signed_in

    call_command("migrate", verbosity=0)
    mara = Person.objects.create_person("Mara", "mara@example.org")
    projects.create_project(slug="bench", name="Bench", manager=mara, now=NOW)
    return _signed_in(mara)


if __name__ == "__main__":
    if sys.argv[1:] == ["--set-up"]:
        print(json.dumps(set_up()))
    else:
        sys.exit(main(sys.argv[1:]))
