"""Hostile files that a manager sends to a site at which people work, and what came of each.

Each file is uploaded, previewed on its page and imported through the API, as a person and a program do. What is imported
is compared with what other libraries find in the file (`tests.attacks.contents`); what is refused names file and reason.
"""

from __future__ import annotations

import html
import http.client
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tableqa import Example
from tests.attacks.contents import Contents, foreign_values, missing_values, records_in
from tests.attacks.hostile_files import QUESTIONS, HostileFile
from tests.faults.site import Site, children

POLL = re.compile(rb'<section id="preview"[^>]* hx-get="([^"]+)"')
"""In a page whose preview is not there yet: what its script asks for."""
PAUSES = {"soon": 0.4, "later": 1.5}
"""Seconds after which the script asks again, by what the last answer says (`templates/importing/_waiting.html`)."""
LOOKS_AT_JOB = 1.0
PATIENCE = 600.0
"""Seconds after which nobody waits for a preview or an import any more."""
INTERNAL = ("Internal error", "has failed", "was lost", "Traceback")
"""What is said of a fault of the program itself."""


@dataclass
class Outcome:
    """What came of one file: `state` is done or failed, `source` what it became, `faults` what should not be so."""

    file: HostileFile
    preview_seconds: float = 0.0
    import_seconds: float = 0.0
    state: str = ""
    error: str = ""
    source: str = ""
    examples: int = 0
    faults: list[str] = field(default_factory=list)


class Manager:
    """A manager with a kept connection to the site."""

    def __init__(self, site: Site, slug: str, lost: list[str]) -> None:
        signed_in = site.tell("manager", slug=slug)
        self.site, self.slug, self.lost = site, slug, lost
        self.headers = {"Cookie": signed_in["cookie"], "X-CSRFToken": signed_in["csrf"]}
        self.connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=120)

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[int, bytes, Mapping[str, str]]:
        """Status, body and headers of an answer. A connection that is cut, or a status of 500 and more, is a loss."""
        try:
            self.connection.request(method, path, body or None, {**self.headers, **headers})
            answer = self.connection.getresponse()
            status, text = answer.status, answer.read()
            if status >= 500:
                self.lost.append(f"{method} {path}: {status} {text[:300]!r}")
            return status, text, dict(answer.headers)
        except (OSError, http.client.HTTPException) as error:
            self.lost.append(f"{method} {path}: {type(error).__name__}")
            self.connection.close()
            return 0, b"", {}

    def json(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer of the API."""
        data = b"" if body is None else json.dumps(body).encode()
        status, text, _ = self.ask(method, path, data, {"Content-Type": "application/json"} if data else {})
        return status, json.loads(text) if text else {}

    def upload(self, name: str, data: bytes) -> str:
        """Send a file; its id."""
        _, begun = self.json("POST", f"/api/projects/{self.slug}/uploads/", {"name": name, "size": len(data)})
        path = f"/api/uploads/{begun['id']}/?offset=0"
        self.ask("PUT", path, data, {"Content-Type": "application/octet-stream"})
        return str(begun["id"])

    def preview(self, upload: str) -> float:
        """Open the page of an import and wait for its preview; the seconds that it takes."""
        began = time.monotonic()
        path, poll = f"/projects/{self.slug}/sources/import/{upload}/", ""
        while time.monotonic() < began + PATIENCE:
            status, text, headers = self.ask(
                "GET", poll or path, headers={"HX-Request": "true"} if poll else {}
            )
            if status in (301, 302, 303):
                path = headers.get("Location", "")
            elif "HX-Refresh" in headers:
                poll = ""
            elif status == 204:
                time.sleep(PAUSES[headers["HX-Trigger"]])
            elif (found := POLL.search(text)) is not None:
                poll = html.unescape(found[1].decode())
                time.sleep(PAUSES["soon"])
            else:
                break
        return time.monotonic() - began

    def import_file(self, upload: str) -> dict[str, Any]:
        """Import an upload in the format that is detected; its job at the end, or the refusal."""
        path = f"/api/projects/{self.slug}/imports/"
        status, job = self.json("POST", path, {"questions": upload, "name": upload})
        until = time.monotonic() + PATIENCE
        while status == 202 and job["state"] not in ("done", "failed") and time.monotonic() < until:
            time.sleep(LOOKS_AT_JOB)
            got, found = self.json("GET", f"/api/jobs/{job['id']}/")
            job = found if got == 200 else job
        return job if status == 202 else {"state": "failed", "error": job.get("detail", f"{status}")}


class Attack:
    """A site whose manager sends hostile files, while a manager of another project opens previews of a good one."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lost: list[str] = []
        self.outcomes: list[Outcome] = []
        self.waits: list[float] = []
        self.web = set(children(site.processes["web"].pid))
        self._lock = threading.Lock()

    def send(self, files: Sequence[HostileFile], at_once: int) -> None:
        """Send files, so many at a time, and look what came of each."""
        stop = threading.Event()
        other = threading.Thread(target=self._open_others, args=[stop], daemon=True)
        other.start()
        with ThreadPoolExecutor(at_once) as pool:
            shares = [files[at::at_once] for at in range(at_once)]
            for outcomes in pool.map(self._send_all, shares):
                self.outcomes += outcomes
        stop.set()
        other.join(PATIENCE)

    def compare(self) -> None:
        """Compare what was imported since the last time with the files; afterwards, since this takes time."""
        for outcome in self.outcomes:
            if outcome.state == "done" and not outcome.examples:
                stored = self.site.tell("examples_of", source=outcome.source)
                outcome.examples = len(stored)
                outcome.faults += differences(outcome.file, [Example.from_dict(one) for one in stored])

    def faults(self) -> list[str]:
        """Everything that is not as it has to be: processes, answers, values and refusals."""
        faults = [
            f"{outcome.file.name} ({outcome.file.kind}): {what}"
            for outcome in self.outcomes
            for what in outcome.faults
        ]
        gone = self.web - set(children(self.site.processes["web"].pid))
        faults += [f"{len(gone)} web processes were lost"] if gone else []
        log = self.site.log.read_text(errors="replace") if self.site.log.exists() else ""
        faults += [f"in the log: {log[log.index('Traceback') :][:1500]}"] if "Traceback" in log else []
        return faults + [f"no answer: {what}" for what in self.lost]

    def counts(self) -> Counter[str]:
        """How many files were imported, and how many refused."""
        return Counter(outcome.state for outcome in self.outcomes)

    def waited_for(self) -> int:
        """The most previews of the first project that ended while one of the other waited; 0 where they are no jobs."""
        previews = self.site.tell("previews")
        others = [one for one in previews if one["project"] == "other"]
        return max(
            (
                sum(
                    other["made"] < one["ended"] < other["ended"]
                    for one in previews
                    if one["project"] != "other"
                )
                for other in others
            ),
            default=0,
        )

    def _open_others(self, stop: threading.Event) -> None:
        manager = Manager(self.site, "other", self.lost)
        data = QUESTIONS.replace("cup.csv", '"Name,Wins\nAnn,3\nBob,4"').encode()
        while not stop.is_set():
            self.waits.append(manager.preview(manager.upload("good.csv", data)))
            stop.wait(2)

    def _send_all(self, files: Sequence[HostileFile]) -> list[Outcome]:
        if not files:
            return []
        with self._lock:
            manager = Manager(self.site, "attacked", self.lost)
        return [self._sent(manager, file) for file in files]

    def _sent(self, manager: Manager, file: HostileFile) -> Outcome:
        outcome = Outcome(file)
        upload = manager.upload(file.name, file.data)
        outcome.preview_seconds = manager.preview(upload)
        began = time.monotonic()
        job = manager.import_file(upload)
        outcome.import_seconds = time.monotonic() - began
        outcome.state, outcome.error = job["state"], job.get("error") or ""
        outcome.source = (job.get("result") or {}).get("source", "")
        if outcome.state not in ("done", "failed"):
            outcome.faults.append(f"its job is still {outcome.state}")
        elif outcome.state == "done":
            pass  # `compare` looks at what was imported
        elif any(words in outcome.error for words in INTERNAL):
            outcome.faults.append(outcome.error)
        elif file.name not in outcome.error and Path(file.name).stem not in outcome.error:
            outcome.faults.append(f"the refusal does not name the file: {outcome.error[:300]}")
        return outcome


def differences(file: HostileFile, examples: Sequence[Example]) -> list[str]:
    """What is imported and not in a file, or in its records and not imported, as other libraries read it."""
    contents = Contents({file.name: file.data})
    faults = []
    for number, example in enumerate(examples, start=1):
        if foreign := foreign_values(contents.has_value, example, number):
            faults.append(
                f"example {example.id} has values that the file does not have: {foreign[:3]!r:.300}"
            )
    try:
        records = records_in(file.name, file.data)
    except ValueError:  # not in the form that this name says; its values were compared above
        records = None
    if records is not None and len(records) != len(examples):
        faults.append(f"{len(examples)} examples of {len(records)} records")
    for record, example in zip(records or (), examples, strict=False):
        if missing := missing_values(record, example):
            faults.append(f"example {example.id} lacks values of its record: {missing[:3]!r:.300}")
    return faults[:3]
