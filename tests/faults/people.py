"""Annotators who work through a line that fails, and do what their page does: ask again for what was not answered.

They keep a ledger of what they were told: which submissions and drafts were acknowledged. What the database holds
is compared with that (`inside.check`).
"""

from __future__ import annotations

import http.client
import json
import queue
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

LABELS = ("extraction", "reasoning", "neither", "unanswerable")
QUICK = ("double", "two_tabs", "given_up")
"""What one person does by themselves: press twice, have two tabs, send again what was not answered in time."""
GIVE_UP = 240.0
"""Seconds after which somebody whom nothing answers says so."""
GONE = {"place_taken", "decided", "batch_closed", "batch_paused", "batch_not_open"}
"""Why an item may be gone from a desk; what was entered stays a draft."""


@dataclass
class Ledger:
    """What people were told, and what they met with."""

    told: dict[str, list[Any]] = field(default_factory=dict)
    drafts: dict[str, Any] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    batches: list[str] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    submissions: list[tuple[float, float]] = field(default_factory=list)
    """When each submission was answered, and the seconds from the first time it was sent."""
    failures: list[tuple[float, int, str]] = field(default_factory=list)
    """When, with which status and what the site said, wherever it failed (5xx)."""
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    def copy(self) -> dict[str, Any]:
        """What `inside.check` wants to know, as of now."""
        with self.lock:
            return {
                "told": {one: list(what) for one, what in self.told.items()},
                "drafts": dict(self.drafts),
                "unsure": sorted(self.unsure),
            }


class Person(threading.Thread):
    """One annotator with a kept connection. `patience`: seconds until a request counts as not answered."""

    def __init__(
        self,
        number: int,
        signed_in: dict[str, Any],
        ledger: Ledger,
        *,
        port: int,
        seed: int,
        think: float,
        patience: float,
    ) -> None:
        super().__init__(name=f"person {number}", daemon=True)
        self.headers = {
            "Content-Type": "application/json",
            "Cookie": signed_in["cookie"],
            "X-CSRFToken": signed_in["csrf"],
        }
        self.ledger, self.port, self.think, self.patience = ledger, port, think, patience
        self.rng = random.Random(f"{seed}:{number}")
        self.orders: queue.SimpleQueue[tuple[str, threading.Event]] = queue.SimpleQueue()
        self.connection: http.client.HTTPConnection | None = None
        self.desk: list[dict[str, Any]] = []
        self.last: tuple[str, str] | None = None
        self.seq = 0
        self.retried: set[str] = set()
        self.withdrawn: dict[str, tuple[int, int]] = {}
        self.done = 0

    def run(self) -> None:
        try:
            while not self.ledger.stop.is_set():
                if not self.desk:
                    self._take()
                else:
                    self._act()
                self.ledger.stop.wait(self.think * self.rng.uniform(0.5, 1.5))
        except Exception as error:
            with self.ledger.lock:
                self.ledger.wrong.append(f"{self.name}: {type(error).__name__}: {error}")
        finally:
            if self.connection is not None:
                self.connection.close()

    # -- what a person does -------------------------------------------------------------------------

    def _take(self) -> None:
        """The next item, of the oldest batch that has one."""
        for batch in list(self.ledger.batches):
            status, found = self.ask("POST", f"/api/batches/{batch}/next/", {"holding": []})
            if status == 200:
                self.desk.append(found)
                return
            if status not in (204, 409):
                raise AssertionError(f"next of {batch}: {status} {found}")

    def _act(self) -> None:
        held = self.desk[0]
        answer = self._answer(held)
        try:
            order, done = self.orders.get_nowait()
        except queue.Empty:
            order, done = "", None
        if order:
            {"double": self._press_twice, "two_tabs": self._two_tabs, "given_up": self._give_up}[order](
                held, answer
            )
            if done is not None:
                done.set()
            return
        draw = self.rng.random()
        if draw < 0.25:
            self._draft(held, answer)
        if draw < 0.03:
            self._skip(held)
            return
        if draw < 0.05:
            self._give_back(held)
            return
        if held["loop"] and draw < 0.6:
            self._ask_model(held, answer)
        self._submit(held, answer)
        if draw > 0.94 and self.last:
            self._undo()

    def _answer(self, held: dict[str, Any]) -> dict[str, Any]:
        if held["type"] == "question_type":
            data: dict[str, Any] = {"label": self.rng.choice(LABELS)}
        else:
            words = f"tell me: {held['shows']['question']} {self.rng.randrange(100)}"
            data = {"question": words, "category": "general"}
        return {key: held[key] for key in ("type", "variant", "version", "base")} | {"data": data}

    def _submit(self, held: dict[str, Any], answer: dict[str, Any]) -> None:
        id, began = held["id"], time.monotonic()
        status, found = self.ask("POST", f"/api/assignments/{id}/submit/", _sent(answer), about=id)
        with self.ledger.lock:
            self.ledger.submissions.append((time.monotonic(), time.monotonic() - began))
        self._submitted(held, answer, status, found)

    def _submitted(
        self, held: dict[str, Any], answer: dict[str, Any], status: int, found: dict[str, Any]
    ) -> None:
        """Go on as the page does: with the next item, or without this one."""
        id = held["id"]
        self.desk = [one for one in self.desk if one["id"] != id]
        if status == 200:
            with self.ledger.lock:
                submitted, withdrawn = self.withdrawn.pop(id, (0, 0))
                kept = found["annotation"]["id"]
                self.ledger.told[id] = [kept, answer["data"], submitted + 1, withdrawn]
                self.ledger.drafts.pop(id, None)
                self.ledger.acknowledged += 1
            self.last = (id, found["annotation"]["id"])
            self.done += 1
            following = found["next"]
            if following and following["id"] not in {one["id"] for one in self.desk}:
                self.desk.append(following)
        elif status == 409 and found["code"] in GONE:
            self._met(f"told that an item is gone ({found['code']})")
            self.withdrawn.pop(id, None)
            with self.ledger.lock:
                self.ledger.unsure.add(id)
        elif status == 409 and found["code"] == "already_submitted" and id in self.retried:
            # An earlier request of theirs arrived late, after they had taken the submission back.
            self._met("submitted by an earlier request that came late")
            with self.ledger.lock:
                self.ledger.unsure.add(id)
        else:
            raise AssertionError(f"submit of {id}: {status} {found}")

    def _draft(self, held: dict[str, Any], answer: dict[str, Any]) -> None:
        id, revision = held["id"], (held["draft"] or {}).get("revision", 0)
        with self.ledger.lock:
            self.ledger.drafts.pop(id, None)  # until the new one is acknowledged, either may be there
        body = {"revision": revision, "response": answer}
        status, found = self.ask("PUT", f"/api/assignments/{id}/draft/", body, about=id)
        if status == 200:
            held["draft"] = {"revision": found["revision"], "response": answer}
            with self.ledger.lock:
                self.ledger.drafts[id] = answer["data"]
        elif status == 409 and found["code"] == "stale_draft":
            held["draft"] = found["draft"]
        elif not (status == 409 and found["code"] in GONE | {"already_submitted"}):
            raise AssertionError(f"draft of {id}: {status} {found}")

    def _skip(self, held: dict[str, Any]) -> None:
        body = {"reason": "not for me", "next": True, "holding": []}
        status, found = self.ask("POST", f"/api/assignments/{held['id']}/skip/", body, about=held["id"])
        if status == 409 and held["id"] in self.retried | set(self.withdrawn):
            with self.ledger.lock:
                self.ledger.unsure.add(held["id"])
        elif status != 200:
            raise AssertionError(f"skip of {held['id']}: {status} {found}")
        self._leave(held)
        if status == 200 and found["next"] and found["next"]["id"] not in {one["id"] for one in self.desk}:
            self.desk.append(found["next"])
        self._met("skips")

    def _give_back(self, held: dict[str, Any]) -> None:
        status, found = self.ask("POST", f"/api/assignments/{held['id']}/return/", {}, about=held["id"])
        if status not in (204, 409):
            raise AssertionError(f"return of {held['id']}: {status} {found}")
        if status == 409:
            with self.ledger.lock:
                self.ledger.unsure.add(held["id"])
        self._leave(held)
        self._met("given back")

    def _leave(self, held: dict[str, Any]) -> None:
        self.withdrawn.pop(held["id"], None)
        self.desk = [one for one in self.desk if one["id"] != held["id"]]

    def _ask_model(self, held: dict[str, Any], answer: dict[str, Any]) -> None:
        self.seq += 1
        kind = self.rng.choice(("preview", "try"))
        body = {"response": answer, "kind": kind, "seq": self.seq}
        path = f"/api/assignments/{held['id']}/predictions/"
        status, found = self.ask("POST", path, body, about=held["id"])
        if status not in (200, 202) and not (status == 409 and found["code"] in GONE | {"already_submitted"}):
            raise AssertionError(f"the model about {held['id']}: {status} {found}")
        self._met(f"the model: {found.get('state', found.get('code'))}")

    def _undo(self) -> None:
        assert self.last is not None
        id, annotation = self.last
        self.last = None
        with self.ledger.lock:
            told = self.ledger.told.pop(id, None)
            self.ledger.unsure.add(id)  # until it is answered, it may be there or not
        if told is None or told[0] != annotation:
            return
        status, found = self.ask("POST", f"/api/annotations/{annotation}/undo/", {}, about=id)
        with self.ledger.lock:
            if status == 200 or id not in self.retried:
                self.ledger.unsure.discard(id)
            if status == 409 and found["code"] in {"decided", "batch_closed", "not_submitted"}:
                self.ledger.told[id] = told
            elif status == 200:
                self.withdrawn[id] = (told[2], told[3] + 1)
                self.ledger.drafts.pop(id, None)
        if status == 200:
            self.desk.insert(0, found)
            self._met("undone")
            if id in self.retried:
                # What was sent before and given up may still be on its way.
                with self.ledger.lock:
                    self.ledger.unsure.add(id)
        elif status != 409:
            raise AssertionError(f"undo of {annotation}: {status} {found}")

    # -- what goes wrong ----------------------------------------------------------------------------

    def _press_twice(self, held: dict[str, Any], answer: dict[str, Any]) -> None:
        """The same submission twice at the same moment: it is one, and both are told so."""
        both = self._at_once(held, [answer, answer])
        kept = {found["annotation"]["id"] for status, found in both if status == 200}
        if len(kept) > 1:
            raise AssertionError(f"{held['id']} pressed twice is {len(kept)} submissions")
        self._submitted(held, answer, *min(both, key=lambda one: one[0]))

    def _two_tabs(self, held: dict[str, Any], answer: dict[str, Any]) -> None:
        """Two tabs with the same item and different answers: one of them counts, and the other is told so."""
        other = {**answer, "data": self._answer(held)["data"]}
        while other["data"] == answer["data"]:
            other = {**answer, "data": self._answer(held)["data"]}
        both = self._at_once(held, [answer, other])
        won = [index for index, (status, _) in enumerate(both) if status == 200]
        if len(won) > 1:
            raise AssertionError(f"two tabs: both answers of {held['id']} were taken")
        if won:
            lost = both[1 - won[0]]
            if lost[0] != 409 or lost[1]["code"] not in GONE | {"already_submitted"}:
                raise AssertionError(f"two tabs: the second of {held['id']} was told {lost}")
            self._submitted(held, (answer, other)[won[0]], *both[won[0]])
        else:
            self._submitted(held, answer, *both[0])

    def _give_up(self, held: dict[str, Any], answer: dict[str, Any]) -> None:
        """A request that is given up before its answer comes, and sent again."""
        self.retried.add(held["id"])
        first = self._connected()
        with suppress(OSError, http.client.HTTPException):
            first.request(
                "POST", f"/api/assignments/{held['id']}/submit/", json.dumps(_sent(answer)), self.headers
            )
            time.sleep(self.rng.choice((0.0, 0.005, 0.02, 0.05)))
        first.close()
        self._met("sent again")
        self._submit(held, answer)

    def _at_once(
        self, held: dict[str, Any], answers: list[dict[str, Any]]
    ) -> list[tuple[int, dict[str, Any]]]:
        """Submit these on connections of their own, all sent before any is read; what is not answered is asked again."""
        path = f"/api/assignments/{held['id']}/submit/"
        connections = [self._connected() for _ in answers]
        said: list[tuple[int, dict[str, Any]]] = []
        for connection, answer in zip(connections, answers, strict=True):
            with suppress(OSError, http.client.HTTPException):
                connection.request("POST", path, json.dumps(_sent(answer)), self.headers)
        for connection, answer in zip(connections, answers, strict=True):
            try:
                found = connection.getresponse()
                status, text = found.status, found.read()
            except (OSError, http.client.HTTPException):
                status, text = 0, b""
            finally:
                connection.close()
            if status == 0 or status >= 500:
                self._failed(status, text)
                said.append(self.ask("POST", path, _sent(answer), about=held["id"]))
            else:
                said.append((status, json.loads(text)))
        return said

    # -- the connection -----------------------------------------------------------------------------

    def ask(
        self, method: str, path: str, body: dict[str, Any], *, about: str = ""
    ) -> tuple[int, dict[str, Any]]:
        """Ask until it is answered: what got no answer, or where the site failed, is asked again."""
        until, pause, patience = time.monotonic() + GIVE_UP, 0.1, self.patience
        while True:
            status, text = 0, b""
            try:
                self.connection = self.connection or self._connected(patience)
                self.connection.request(method, path, json.dumps(body), self.headers)
                answer = self.connection.getresponse()
                status, text = answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
            if 0 < status < 500 and status != 429:
                return status, json.loads(text) if text else {}
            self._failed(status, text, f"{method} {path}")
            self.retried.add(about)
            if time.monotonic() > until:
                raise AssertionError(f"{method} {path} was not answered in {GIVE_UP:.0f} s: {status}")
            time.sleep(pause * self.rng.uniform(0.5, 1.5))
            pause = min(2 * pause, 1.0)
            patience = min(2 * patience, 30.0)  # a machine with other things to do is slow, and not gone

    def _failed(self, status: int, text: bytes, what: str = "") -> None:
        with self.ledger.lock:
            self.ledger.met["not answered, and asked again" if status == 0 else f"answered {status}"] += 1
            if status >= 500:
                said = f"{what} {text[:300]!r}"
                self.ledger.failures.append((time.monotonic(), status, said))

    def _met(self, what: str) -> None:
        with self.ledger.lock:
            self.ledger.met[what] += 1

    def _connected(self, patience: float = 0.0) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience or self.patience)


def _sent(answer: dict[str, Any]) -> dict[str, Any]:
    return {"response": answer, "next": True, "holding": []}
