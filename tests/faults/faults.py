"""Faults that come over a site at which people work, and what has to hold after each of them.

`benchmarks.faults` has hundreds of them come over 32 people; the tests here one of each kind over a few.
"""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

from tests.faults.line import ANSWER, REQUEST
from tests.faults.people import Ledger, Person
from tests.faults.postgres import KILLS
from tests.faults.site import CLOCKS, PATIENCE, Inside, Site, Wrong

AHEAD = 12
"""Free places for each person that are there at least."""
PATIENT = (1.5, 3.0, 6.0, 15.0)
"""Seconds until a person's page takes a request for lost; that of the annotators' page is the last."""
SILENCE = 10.0
"""Seconds that a request waits for a silent database, at most."""
ALLOWANCE = 15.0
"""Seconds after a part is back in which a person may still be told of a failure from before."""

SOON = 0.25
"""Seconds within which a person takes an answer for immediate: below that, nobody compares."""
ROUNDS = 3
"""How often submissions are timed with and without releases where the first time says that they are slow."""

KINDS = (
    "a web worker is killed",
    "the job worker is killed in an import",
    "the job worker is killed in a release",
    "the model server is killed",
    "PostgreSQL is stopped at once",
    "PostgreSQL's first process is killed",
    "one of PostgreSQL's processes is killed",
    "database restart",
    "database black hole",
    "the data folder is full",
    "the clock of the web server jumps",
    "the clock of the worker jumps",
    "the clock of the database jumps",
    "the network stalls",
    "a connection is cut in a request",
    "a connection is cut in an answer",
    "two tabs",
    "pressed twice",
    "given up and sent again",
    "an import of labels is killed",
    "a release during an import of labels",
    "a deploy with a migration",
)
"""What may happen to a site and its people."""
QUICK = {
    "the network stalls",
    "a connection is cut in a request",
    "a connection is cut in an answer",
    "two tabs",
    "pressed twice",
    "given up and sent again",
}
"""Nothing is down after these: there is nothing to wait for."""


class Doctor(threading.Thread):
    """Runs the command `doctor` until people stop; a finding is wrong, whatever happens meanwhile."""

    def __init__(self, site: Site, ledger: Ledger, caught: Counter[str]) -> None:
        super().__init__(name="doctor", daemon=True)
        self.site, self.ledger, self.caught = site, ledger, caught

    def run(self) -> None:
        inside = Inside(self.site)
        try:
            while not self.ledger.stop.is_set():
                answer = inside.tell("run_doctor")
                if answer["status"] is None:
                    self.caught["runs of the doctor that found no database"] += 1
                else:
                    self.caught["runs of the doctor"] += 1
                    self.caught["runs of the doctor that named what heals by itself"] += (
                        "Heals" in answer["said"]
                    )
                if answer["status"] == 1:
                    with self.ledger.lock:
                        self.ledger.wrong.append(f"the doctor, while people work: {answer['said']}")
                self.ledger.stop.wait(1)
        finally:
            inside.end()


class Faults:
    """One site, its people, and the faults that come over them.

    `still`: items of the project in which nothing changes, and which is released over and over; `imported`: questions of an
    import during which a worker is killed; `labels`: those of an import of labels. `with_doctor`: the
    command `doctor` runs over and over beside everything. `timed`: slow submissions are a
    fault, as in the benchmark.
    """

    def __init__(
        self,
        site: Site,
        *,
        people: int,
        think: float,
        seed: int,
        still: int = 120,
        imported: int = 2_000,
        labels: int = 20_000,
        with_doctor: bool = False,
        timed: bool = False,
    ) -> None:
        self.site, self.many, self.think, self.seed = site, people, think, seed
        self.still, self.imported, self.labels = still, imported, labels
        self.with_doctor, self.timed = with_doctor, timed
        self.rng = random.Random(seed)
        self.ledger = Ledger()
        self.people: list[Person] = []
        self.done: Counter[str] = Counter()
        self.caught: Counter[str] = Counter()
        self.checks = self.deep = 0
        self.room = 0
        self.batches = 0
        self.number = 0
        self.reference = ""
        self.troubled: list[tuple[float, float]] = []
        """From when to when the site may fail: its database, or the disk under it, is away."""
        self.began = time.monotonic()
        self.kinds = self._kinds()

    # -- the whole ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """A site with people at work, and a release to hold the later ones against."""
        crew = self.site.start(self.many, still=self.still)
        at_rest = "what is complete in the project at rest is decided"
        self.site.until(lambda: not self.site.tell("undecided") and not self.site.tell("open_jobs"), at_rest)
        self._release("before")
        self.keep_ahead()
        for number, signed_in in enumerate(crew):
            person = Person(
                number,
                signed_in,
                self.ledger,
                port=self.site.line.port,
                seed=self.seed,
                think=self.think,
                patience=PATIENT[number % len(PATIENT)],
            )
            self.people.append(person)
            person.start()
        self.progress("everybody begins")
        if self.with_doctor:
            Doctor(self.site, self.ledger, self.caught).start()
        self.began = time.monotonic()

    def inject(self, kind: str) -> None:
        """Have one fault happen, and wait until people go on. Raises Wrong."""
        self.keep_ahead()
        try:
            self.kinds[kind]()
        except Wrong as wrong:
            raise Wrong(f"{kind}: {wrong}") from None
        self.done[kind] += 1
        if kind not in QUICK:
            self.progress(f"people go on after: {kind}")

    def finish(self) -> None:
        """Nobody works any more: everything is there that was acknowledged, and nothing else."""
        self.ledger.stop.set()
        for person in self.people:
            person.join(PATIENCE)
            if person.is_alive():
                raise Wrong(f"{person.name} still waits for an answer")
        self.site.until(self._jobs_are_over, "every job is done, or has failed in words", 180)
        self.check("the end", deep=True, final=True)
        unexpected = [said for said in self.site.tell("failed_jobs") if "full" not in said[1]]
        if unexpected:
            raise Wrong(f"jobs failed: {unexpected}")
        self._release("after")
        self.site.until(lambda: not self.site.tell("undecided"), "what is complete is decided")
        self.site.until(lambda: not self.site.tell("unanswered"), "every check of a model has its answer")
        self._job_ends(self.site.tell("start_release", project="busy", name="once"))
        first = self.site.tell("released", project="busy", name="once")
        self._kill_worker_in_release("busy", "twice", first["bytes"])
        self.caught["the two releases of everybody's work are equal"] = first["verified"]

    # -- looking ------------------------------------------------------------------------------------

    def check(self, after: str, *, deep: bool, final: bool = False) -> None:
        """Compare what people were told with what is there. Raises Wrong."""
        if self.ledger.wrong:
            raise Wrong(f"after {after}: {self.ledger.wrong[:3]}")
        told = self.ledger.copy()
        found = self.site.tell("check", **told, final=final, deep=deep)
        now = self.ledger.copy()
        # What somebody has changed since they were asked is none.
        wrong = {
            one: said
            for one, said in found["wrong"].items()
            if all(told[what].get(one) == now[what].get(one) for what in ("told", "drafts"))
            and (one in told["unsure"]) == (one in now["unsure"])
        }
        if wrong or found["faults"]:
            raise Wrong(
                f"after {after}: {len(wrong)} {list(wrong.items())[:3]}; {len(found['faults'])} {found['faults'][:5]}"
            )
        failures = [
            (status, said)
            for at, status, said in list(self.ledger.failures)
            if not any(begin <= at <= end for begin, end in self.troubled)
        ]
        if failures:
            raise Wrong(f"after {after}: the site failed without a reason: {failures[:3]}")
        self.checks += 1
        self.deep += deep

    def progress(self, what: str) -> None:
        """Wait until as many submissions were acknowledged as there are people."""
        wanted = self.ledger.acknowledged + len(self.people)

        def moves() -> bool:
            if self.ledger.wrong:
                raise Wrong(str(self.ledger.wrong[:3]))
            self.keep_ahead()
            return self.ledger.acknowledged >= wanted

        self.site.until(moves, what)

    def keep_ahead(self) -> None:
        """Open a further batch where people might run out of items."""
        while self.room - self.ledger.acknowledged < AHEAD * self.many:
            overlap, size = 1 + self.batches % 3, self.rng.choice((40, 80, 120))
            more: dict[str, Any] = {"kind": "question_type", "overlap": overlap}
            if self.batches % 4 == 3 and self.site.has_model:
                more = {
                    "kind": "question_paraphrase",
                    "variant": "sentence",
                    "overlap": 1,
                    "loop_model": "bundled",
                }
            id = self.site.tell("open_batch", size=size, seed=self.batches, **more)
            self.ledger.batches = [*self.ledger.batches[-5:], id]
            self.room += size * more["overlap"]
            self.batches += 1

    def _jobs_are_over(self) -> bool:
        self.site.tell("lose_all")  # what a killed worker was at need not wait for its time to pass
        time.sleep(0.5)
        return not self.site.tell("open_jobs")

    def _job_ends(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def over() -> bool:
            found.update(self.site.tell("job", id=id))
            return found["state"] in ("done", "failed")

        self.site.until(over, f"job {id} ends")
        return found

    # -- faults -------------------------------------------------------------------------------------

    def _kinds(self) -> dict[str, Callable[[], None]]:
        """Those that can be had here."""
        found: dict[str, Callable[[], None]] = {
            "a web worker is killed": self._kill_web_worker,
            "the job worker is killed in an import": self._kill_worker_in_import,
            "the job worker is killed in a release": self._kill_worker_in_still_release,
            "the network stalls": self._stall,
            "a connection is cut in a request": lambda: self._cut(REQUEST),
            "a connection is cut in an answer": lambda: self._cut(ANSWER),
            "two tabs": lambda: self._order_somebody("two_tabs"),
            "pressed twice": lambda: self._order_somebody("double"),
            "given up and sent again": lambda: self._order_somebody("given_up"),
            "an import of labels is killed": self._kill_label_import,
            "a release during an import of labels": self._release_during_label_import,
            "a deploy with a migration": self._deploy,
        }
        if self.site.postgres is not None:
            names = [kind for kind in KINDS if "PostgreSQL" in kind]
            for kind, how in zip(names, KILLS, strict=True):
                found[kind] = lambda how=how: self._kill_postgres(how)  # type: ignore[misc]
            found["database restart"] = self._restart_database
            found["database black hole"] = self._black_hole
        if self.site.has_model:
            found["the model server is killed"] = self._kill_model
        if self.site.has_small_disk:
            found["the data folder is full"] = self._fill_disk
        if self.site.has_clocks:
            for whose in CLOCKS:
                if whose != "database" or (self.site.postgres is not None and self.site.fake_time):
                    name = f"the clock of the {'web server' if whose == 'web' else whose} jumps"
                    found[name] = lambda whose=whose: self._jump(whose)  # type: ignore[misc]
        return {kind: found[kind] for kind in KINDS if kind in found}

    def _kill_web_worker(self) -> None:
        self.site.kill_web_worker(self.rng.randrange(8))

    def _kill_worker_in_import(self) -> None:
        self.number += 1
        name = f"import {self.number}"
        id = self.site.tell("start_import", name=name, questions=self.imported)
        self._kill_worker_at(id, "import")
        if self._job_ends(id)["state"] != "done":
            raise Wrong(f"an import failed: {self.site.tell('job', id=id)}")
        if self.site.tell("imported", name=name) != [self.imported]:
            raise Wrong(f"an import of {self.imported} made {self.site.tell('imported', name=name)}")

    def _kill_worker_in_still_release(self) -> None:
        self.number += 1
        self._kill_worker_in_release("still", f"killed {self.number}", self.reference)

    def _kill_worker_in_release(self, project: str, name: str, reference: str) -> None:
        id = self.site.tell("start_release", project=project, name=name)
        self._kill_worker_at(id, "release")
        if self._job_ends(id)["state"] != "done":
            raise Wrong(f"a release failed: {self.site.tell('job', id=id)}")
        found = self.site.tell("released", project=project, name=name)
        if reference and found["bytes"] != reference:
            raise Wrong(f"a release ({name}, of {project}) of equal data has other bytes")
        self.caught["releases with the same bytes"] += bool(reference)

    def _kill_worker_at(self, id: str, what: str) -> None:
        """SIGKILL while the worker is at that job; another takes it up, for which nobody waits here."""
        self.site.until(lambda: self.site.tell("job", id=id)["state"] != "queued", "the job begins")
        time.sleep(self.rng.uniform(0, 0.4))
        self.site.kill("worker")
        self.caught[f"workers killed in the middle of a job ({what})"] += self.site.tell("lose", id=id)
        self.site.start_worker()

    def _kill_label_import(self) -> None:
        """SIGKILL while labels are imported: none or all are visible, and the same file goes on."""
        file = self.site.tell("label_file", folder=str(self.site.folder), labels=self.labels // 10)
        import_labels = self._import_labels(file)
        time.sleep(self.rng.uniform(2, 12))
        import_labels.kill()
        import_labels.wait(20)
        found = self.site.tell("labels_in", batch=file["batch"])
        if set(found.values()) not in ({0}, {self.labels // 10}):
            raise Wrong(f"of {self.labels // 10} labels of a killed import there are {found}")
        self.caught["imports of labels that were killed before anything was visible"] += not found[
            "annotations"
        ]
        self._labels_arrive(self._import_labels(file), file, self.labels // 10)

    def _release_during_label_import(self) -> None:
        """Submissions are about as quick during an import of labels with releases of another project as without."""
        without: list[float] = []
        during: list[float] = []
        while len(during) < ROUNDS:  # a noisy machine gets another chance; medians decide
            without.append(self._p99_during_label_import(releases=False))
            during.append(self._p99_during_label_import(releases=True))
            quick, slow = median(without), median(during)
            if not self.timed or slow <= 2 * max(quick, SOON):
                break
        else:
            raise Wrong(
                f"submissions take {slow:.2f} s (p99) during an import of labels with releases, {quick:.2f} s without"
            )
        for what, p99 in (("without", quick), ("with", slow)):
            name = f"p99 of submissions during an import of labels {what} releases, in ms"
            self.caught[name] = max(self.caught[name], round(p99 * 1000))

    def _p99_during_label_import(self, *, releases: bool) -> float:
        """The 99th percentile of the seconds of all submissions while labels are imported."""
        file = self.site.tell("label_file", folder=str(self.site.folder), labels=self.labels)
        if releases:
            self.site.slow_down("worker")
        first = len(self.ledger.submissions)
        import_labels = self._import_labels(file)
        while import_labels.poll() is None:
            if releases:
                self.number += 1
                self._release(f"during labels {self.number}")
                self.caught["releases during an import of labels"] += 1
            self.keep_ahead()
            time.sleep(0.1)
        times = sorted(seconds for _, seconds in self.ledger.submissions[first:])
        self._labels_arrive(import_labels, file, self.labels)
        if releases:
            self.site.kill("worker")
            self.site.start_worker()
        self.caught[
            f"submissions during an import of labels {'with' if releases else 'without'} releases"
        ] += len(times)
        return times[min(len(times) - 1, int(len(times) * 0.99))] if times else 0.0

    def _import_labels(self, file: dict[str, str]) -> subprocess.Popen[bytes]:
        words = ("import_labels", file["path"], "--project", "labels", "--batch", file["name"])
        return self.site.in_background("manage.py", *words)

    def _labels_arrive(
        self, import_labels: subprocess.Popen[bytes], file: dict[str, str], labels: int
    ) -> None:
        self.site.until(lambda: import_labels.poll() is not None, "the labels are imported")
        found = self.site.tell("labels_in", batch=file["batch"])
        if import_labels.returncode or set(found.values()) != {labels}:
            raise Wrong(
                f"an import of {labels} labels ended with {import_labels.returncode}; there are {found}"
            )

    def _kill_model(self) -> None:
        self.site.kill("model")
        self.progress("people go on without a model")
        self.site.start_model()
        self.site.until(lambda: self.site.answers(self.site.model_port, "/readyz"), "the model answers")

    def _kill_postgres(self, how: str) -> None:
        postgres = self.site.postgres
        assert postgres is not None
        began = time.monotonic()
        postgres.kill(how)
        if how != "backend":
            time.sleep(self.rng.uniform(0, 1.5))
            postgres.start()
        self.site.until(postgres.answers, "PostgreSQL answers")
        self.troubled.append((began, time.monotonic() + ALLOWANCE))

    def _restart_database(self) -> None:
        """While a worker makes a release. It is done all the same, as one whose worker was killed: by the next attempt."""
        postgres = self.site.postgres
        assert postgres is not None
        self.number += 1
        name = f"restart {self.number}"
        id = self.site.tell("start_release", project="still", name=name)
        self.site.until(lambda: self.site.tell("job", id=id)["state"] != "queued", "the job begins")
        time.sleep(self.rng.uniform(0, 0.2))
        began = time.monotonic()
        postgres.restart()
        self.site.until(postgres.answers, "PostgreSQL answers")
        time.sleep(1)
        job = self.site.tell("job", id=id)
        if job["state"] == "running" and job["attempts"] == 1:
            self.site.tell("lose", id=id)
        ended = self._job_ends(id)
        self.troubled.append((began, time.monotonic() + ALLOWANCE))
        if ended["state"] != "done":
            raise Wrong(f"a release failed: {ended}")
        if self.site.tell("released", project="still", name=name)["bytes"] != self.reference:
            raise Wrong(f"a release ({name}) of equal data has other bytes")
        self.caught["releases that met a restart of the database"] += ended["attempts"] > 1

    def _black_hole(self) -> None:
        """Bytes to and from the database vanish; nobody waits for them for longer than `SILENCE`."""
        line = self.site.database_line
        assert line is not None
        began = time.monotonic()
        line.swallow()
        try:
            with ThreadPoolExecutor(9) as pool:
                cookie = self.people[0].headers["Cookie"]
                pages = [pool.submit(self.site.ask, "/api/projects/", cookie) for _ in range(8)]
                ready = pool.submit(self.site.ask, "/readyz")
                answers = [page.result() for page in pages]
                said, _, took = ready.result()
            slowest = max(seconds for _, _, seconds in answers)
            self.caught["slowest answer in a black hole, in ms"] = max(
                self.caught["slowest answer in a black hole, in ms"], round(slowest * 1000)
            )
            if slowest > SILENCE or any(
                status != 503 or "Retry-After" not in headers for status, headers, _ in answers
            ):
                raise Wrong(f"a silent database: {[(status, seconds) for status, _, seconds in answers]}")
            if said != 503 or took > SILENCE:
                raise Wrong(f"/readyz over a silent database says {said} after {took:.1f} s")
            time.sleep(self.rng.uniform(0, 3))
        finally:
            line.remember()
        self.site.until(lambda: self.site.answers(self.site.port, "/readyz"), "the site is ready again", 30)
        self.progress("people go on after the silence of the database")
        self.troubled.append((began, time.monotonic() + ALLOWANCE))

    def _fill_disk(self) -> None:
        """Jobs that write fail in words and are done once there is room; SQLite cannot write either, and nothing is lost."""
        began = time.monotonic()
        self.site.fill_disk()
        if self.site.postgres is None:
            time.sleep(self.rng.uniform(0.5, 2))
            self.site.make_room()
            self.troubled.append((began, time.monotonic() + ALLOWANCE))
            return
        self.number += 1
        id = self.site.tell("start_release", project="still", name=f"full {self.number}")
        failed = self._job_ends(id)
        if failed["state"] != "failed" or "full" not in failed["error"]:
            raise Wrong(f"a release on a full disk is {failed}")
        self.progress("people go on where the data folder is full")
        self.site.make_room()
        self._release(f"room {self.number}")
        self.caught["jobs that said that the disk is full"] += 1

    def _jump(self, whose: str) -> None:
        hours = self.rng.choice((-1, 1)) * self.rng.uniform(2, 6)
        self._set_clock(whose, hours)
        self.progress(f"people go on with the clock of the {whose} {hours:+.1f} hours off")
        if self.rng.random() < 0.5:
            self._jobs_run()
        self._set_clock(whose, 0)
        self._jobs_run()
        self.site.until(lambda: not self.site.tell("stuck"), "no job waits for a time that is yet to come")

    def _set_clock(self, whose: str, hours: float) -> None:
        self.site.set_clock(whose, hours)
        if whose == "database":
            self.site.until(
                lambda: abs(self.site.clock() - time.time() - hours * 3600) < 60,
                "the database's clock has jumped",
            )
        else:
            time.sleep(0.5)  # our own processes look that often what time it is to be

    def _jobs_run(self) -> None:
        self.number += 1
        self._release(f"clock {self.number}")

    def _release(self, name: str) -> None:
        """A release of the project in which nothing changes: its bytes are always the same."""
        id = self.site.tell("start_release", project="still", name=name)
        ended = self._job_ends(id)
        if ended["state"] != "done":
            raise Wrong(f"a release failed: {ended}")
        found = self.site.tell("released", project="still", name=name)["bytes"]
        self.reference = self.reference or found
        if found != self.reference:
            raise Wrong(f"a release ({name}) of equal data has other bytes")
        self.caught["releases with the same bytes"] += 1

    def _stall(self) -> None:
        self.site.line.stall()
        time.sleep(self.rng.uniform(0.3, 4.0))
        self.site.line.flow()

    def _cut(self, what: str) -> None:
        before = self.site.line.cut[what]
        self.site.line.cut_next(what)
        self.site.until(lambda: self.site.line.cut[what] > before, f"a connection is cut in a {what}")

    def _order_somebody(self, order: str) -> None:
        done = threading.Event()
        self.rng.choice(self.people).orders.put((order, done))

        def over() -> bool:
            if self.ledger.wrong:
                raise Wrong(str(self.ledger.wrong[:3]))
            self.keep_ahead()
            return done.is_set()

        self.site.until(over, f"somebody: {order}")

    def _deploy(self) -> None:
        """The database first, while the old code serves; then fresh processes, while the old ones end what they are at."""
        self.site.migrate()
        self.progress("the old code serves with the new tables")
        self.site.reload()
        self.site.kill("worker")
        self.site.start_worker()
