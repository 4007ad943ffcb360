"""A team's set-up on this machine, tried: nginx with TLS before two web servers, two workers, PostgreSQL.

    ./run bench team                     on a host of its own, then on a path of a shared host
    ./run bench team --before DIR        also an upgrade while people work: DIR holds the version before, unpacked
    ./run bench team --static            static files from nginx, compressed and named by their contents (collectstatic)

What is tried is what is shipped: the files of deploy/nginx with other ports and folders, and gunicorn.conf.py. A crawler
signs in through the form and asks for every page, style sheet and script that it is led to; people annotate meanwhile, and
what was acknowledged is counted in the database afterwards. Everything listens on the loopback.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx

from benchmarks.site import Wrong, free_ports, get, nginx, python, running, wait_for, web

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"
PASSWORD = "only-for-this-try"
TOKEN = "figures-for-this-try"


def main() -> int:
    """Try what is asked for; print a line for each thing that held. 1 where something did not."""
    parser = argparse.ArgumentParser(prog="./run bench team")
    parser.add_argument("--before", type=Path, metavar="DIR", help="the version to upgrade from")
    parser.add_argument("--static", action="store_true", help="static files from nginx")
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=6)
    options = parser.parse_args()
    if not shutil.which("nginx"):
        print("nginx is not installed (Debian: apt install nginx-light); nothing was tried")
        return 0
    try:
        for path in ("", "/askew"):
            print(f"on {'a path of a shared host' if path else 'a host of its own'}")
            with ExitStack() as stack:
                home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askew-team-")))
                try:
                    tried(stack, home, path, options)
                except Wrong:
                    for log in home.glob("askew.log"):
                        print(log.read_text()[-4000:], file=sys.stderr)
                    raise
    except Wrong as wrong:
        print(f"WRONG: {wrong}", file=sys.stderr)
        return 1
    return 0


def tried(stack: ExitStack, home: Path, path: str, options: argparse.Namespace) -> None:
    """One site from an empty database to the end. Raises Wrong."""
    from tests.temp_postgres import DURABLE, temporary_postgres

    port, *upstreams = free_ports(3)
    site = f"https://localhost:{port}{path}"
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": stack.enter_context(temporary_postgres(DURABLE)),
        "ASKEW_DATA_DIR": str(home / "data"),
        "SECRET_KEY": "k" * 60,
        "PUBLIC_URL": site,
        "TRUST_PROXY": "true",
        "METRICS_TOKEN": TOKEN,
        "LOG_FORMAT": "json",
        "LOG_REQUESTS": "true",
        "COMPRESS_STATIC": "true" if options.static else "false",
    }
    before = options.before if options.before and not path else None
    code = before or ROOT
    # It asks without a proxy, and would be sent to https.
    alone = {**environment, "TRUST_PROXY": "false"}
    filling = ("benchmarks.loop_data", "askew", str(options.people), "12000", "1", str(TABLES))
    crew = json.loads(python(code, alone, "-m", *filling))
    python(code, environment, "-c", ADMINISTRATOR)
    if options.static:
        python(code, environment, "manage.py", "collectstatic", "--noinput")
    log = home / "askew.log"
    webs = [stack.enter_context(running(code, environment, log, *web(one))) for one in upstreams]
    for _ in range(2):
        stack.enter_context(running(code, environment, log, "manage.py", "worker"))
    stack.enter_context(nginx(home, path, port, upstreams, static=options.static))
    wait_for(lambda: get(upstreams[0], f"{path}/healthz"[len(path) :]) == 200, "the web processes answer")

    people = People(site, crew)
    if before:
        upgrade(people, environment, log, upstreams, webs, stack)
    pages, files = crawl(site)
    print(f"  {pages} pages and {files} static files, every link and redirect below {site}")
    print(journey(site))
    headers_hold(site, path)  # last of those who sign in: it tries until it is stopped
    print("  cookies, headers, https, health checks and the interface's addresses are as they should be")
    people.work(options.seconds)
    people.check(environment)
    print(
        f"  {people.acknowledged} responses acknowledged by {len(crew)} people, all there once; "
        f"{people.again} requests sent again"
    )
    figures(upstreams[0])
    nothing_personal(home, log)
    print(
        "  the figures count the requests; the logs of nginx and Askew hold nobody's address, name or token"
    )


ADMINISTRATOR = f"""
import django; django.setup()
from annotation.models import Person
person = Person.objects.create_superuser(email="root@example.org", name="Root Ursula", password={PASSWORD!r})
mara = Person.objects.get(email="mara@example.org")
mara.set_password({PASSWORD!r})
mara.save()
"""


# -- somebody who looks at everything ---------------------------------------------------------------


def browser() -> httpx.Client:
    """Keeps cookies as browsers do, by path and for https."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the certificate of this try
    return httpx.Client(verify=context, trust_env=False, timeout=60)


class Places(HTMLParser):
    """Where a page leads (`href` of links) and what it is made of (style sheets, scripts, pictures)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.parts: set[str] = set()
        self.all: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and re.match(r"/[^/\s]", value):
                self.all.add(value)
            if value and name in ("href", "src"):
                (self.links if tag == "a" else self.parts).add(value)


def crawl(site: str, most: int = 120) -> tuple[int, int]:
    """Sign in through the form and follow every link; how many pages and files were there. Raises Wrong."""
    path = urlsplit(site).path
    with browser() as person:
        form = person.get(f"{site}/sign-in/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
        if not token:
            raise Wrong(f"{site}/sign-in/ is no form: {form.status_code}")
        given = {"username": "root@example.org", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        answer = person.post(f"{site}/sign-in/", data=given, headers={"Referer": f"{site}/sign-in/"})
        if answer.status_code != 302 or answer.headers["location"] != f"{path}/":
            raise Wrong(f"signing in answers {answer.status_code} {answer.headers.get('location')}")
        waiting, seen, files = [f"{site}/"], {f"{site}/"}, set[str]()
        pages = 0
        while waiting and pages < most:
            address = waiting.pop(0)
            answer = person.get(address)
            for _ in range(4):
                if answer.status_code not in (301, 302):
                    break
                place = urljoin(address, answer.headers["location"])
                if not place.startswith(f"{site}/"):
                    raise Wrong(f"{address} leads to {place}")
                answer = person.get(place)
            if answer.status_code not in (200, 405):
                raise Wrong(f"{address} answers {answer.status_code}")
            pages += 1
            if not answer.headers["content-type"].startswith("text/html"):
                continue
            found = Places(answer.text)
            if outside := [one for one in found.all if not one.startswith(f"{path}/")]:
                raise Wrong(f"{address} names {outside}")
            files |= {urljoin(address, one) for one in found.parts if not one.startswith("data:")}
            for link in found.links:
                place = urldefrag(urljoin(address, link))[0]
                if place.startswith(f"{site}/") and place not in seen and "/admin/" not in place:
                    seen.add(place)
                    waiting.append(place)
        done = set[str]()
        while files - done:
            address = (files - done).pop()
            done.add(address)
            answer = person.get(address)
            if answer.status_code != 200:
                raise Wrong(f"{address} answers {answer.status_code}")
            for module in re.findall(r"""from ["'](\./[^"']+)["']""", answer.text):
                files.add(urljoin(address, module))
        return pages, len(files)


class Forms(HTMLParser):
    """The forms of a page: where each is sent, and what stands in its fields."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, str]]] = []
        self._select = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((said.get("action", ""), {}))
        if not self.forms:
            return
        fields = self.forms[-1][1]
        name = said.get("name", "")
        if tag in ("input", "textarea") and name:
            chosen = said.get("type") not in ("checkbox", "radio", "submit") or "checked" in said
            fields.setdefault(name, said.get("value", "") if chosen else "")
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and (self._select not in fields or "selected" in said):
            fields[self._select] = said.get("value", "")


def filled(client: httpx.Client, address: str, files: Any = None, **given: str) -> httpx.Response:
    """Fill in and send the form of a page that has these fields, as a browser does. Raises Wrong."""
    page = client.get(address)
    for action, fields in Forms(page.text).forms:
        if set(given) <= {*fields, "action"} and "csrfmiddlewaretoken" in fields:
            data = {name: value for name, value in {**fields, **given}.items() if value or name in given}
            place = urljoin(str(page.url), action) if action else str(page.url)
            headers = {"Referer": str(page.url), "Origin": f"https://{page.url.netloc.decode()}"}
            return client.post(place, data=data, files=files, headers=headers)
    raise Wrong(f"{address} has no form with {', '.join(given)} ({page.status_code})")


def journey(site: str) -> str:
    """From the sign-in to a release on the disk, by forms alone; what was done, in words. Raises Wrong."""

    def led(answer: httpx.Response, what: str) -> str:
        place = urljoin(str(answer.url), answer.headers.get("location", ""))
        if answer.status_code not in (302, 303) or not place.startswith(f"{site}/"):
            raise Wrong(f"{what} answers {answer.status_code} and leads to {place}: {answer.text[:300]}")
        return place

    def finished(client: httpx.Client, address: str, what: str) -> httpx.Response:
        wait_for(lambda: 'data-kind="open"' not in client.get(address, follow_redirects=True).text, what)
        page = client.get(address, follow_redirects=True)
        if "notice problem" in page.text:
            raise Wrong(f"{what}: {address} says {re.findall('notice problem.*', page.text)[:1]}")
        return page

    project = f"{site}/projects/bench"
    question = "id\tutterance\tcontext\ttargetValue\nnu-1\twho is it?\tcsv/1-csv/1.csv\tAnn\n"
    with browser() as mara, browser() as guest, browser() as stranger:
        led(filled(mara, f"{site}/sign-in/", username="mara@example.org", password=PASSWORD), "signing in")
        if any(not one.secure or one.path != f"{urlsplit(site).path}/" for one in mara.cookies.jar):
            raise Wrong(f"a cookie is not secure, or not for the site alone: {list(mara.cookies.jar)}")
        tables = archive("csv/1-csv/1.csv", b'"Name"\n"Ann"\n')
        files = [("questions", ("one-dev.tsv", question.encode())), ("tables", ("tables.zip", tables))]
        given = {"reader": "wtq", "name": "uploaded"}
        job = led(filled(mara, f"{project}/sources/import/", files=files, **given), "uploading")
        finished(mara, job, "the import ends")
        if "uploaded" not in mara.get(f"{project}/sources/").text:
            raise Wrong("what was uploaded is not among the sources")

        invited = filled(mara, f"{project}/people/", name="a guest", roles="annotator")
        link = re.search(rf"{re.escape(site)}/join/[\w-]+/", invited.text)
        if not link:
            raise Wrong(f"no link of an invitation: {invited.status_code} {invited.text[:300]}")
        work = led(
            filled(guest, link[0], name="Gus", email="gus@example.org", password=PASSWORD),
            "joining by the link",
        )
        pages = set(
            re.findall(r'href="([^"]*/batches/\w+/annotate/)', guest.get(work, follow_redirects=True).text)
        )
        if not pages:
            raise Wrong(f"{work} names no batch")
        plain = (f"{urljoin(site, one)}?plain=1" for one in sorted(pages))
        page = next(one for one in plain if 'name="label"' in guest.get(one).text)
        before = guest.get(page).text
        if guest.post(page, data={"action": "submit", "label": "extraction"}).status_code != 403:
            raise Wrong("a response without its token is taken")
        led(filled(guest, page, action="submit", label="extraction"), "handing in a response")
        if (
            guest.get(page).text.partition('name="assignment"')[2][:40]
            == before.partition('name="assignment"')[2][:40]
        ):
            raise Wrong("the same item comes again")

        release = led(filled(mara, f"{project}/releases/", name="1.0", format="askew"), "making a release")
        finished(mara, release, "the release ends")
        made = re.search(r'href="([^"]*/releases/\w+/)"', mara.get(f"{project}/releases/").text)
        if not made:
            raise Wrong("the release is not among the releases")
        address = urljoin(site, made[1])
        found = mara.get(f"{address}download/")
        if not found.headers["content-type"].startswith("application/zip"):
            said = re.findall("notice[^>]*>([^<]*)", mara.get(led(found, "downloading")).text)
            raise Wrong(f"{address}download/ is no archive: {found.status_code} {said}")
        with zipfile.ZipFile(io.BytesIO(found.content)) as whole:
            manifest = next(name for name in whole.namelist() if name.endswith("manifest.json"))
            if whole.testzip() or not json.loads(whole.read(manifest))["files"]:
                raise Wrong("the release that was downloaded is not whole")
        if stranger.get(f"{address}download/").status_code == 200:
            raise Wrong("a release is downloaded by somebody without an account")
    return (
        f"  signed in, uploaded a file, invited somebody who joined and handed in a response without scripts, released and "
        f"downloaded it ({len(found.content) / 1000:.0f} kB)"
    )


def archive(name: str, data: bytes) -> bytes:
    """A zip file of one member."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(name, data)
    return out.getvalue()


def headers_hold(site: str, path: str) -> None:
    """What a proxy and a site on https have to say. Raises Wrong."""
    port = urlsplit(site).port or 0
    with browser() as person:
        page = person.get(f"{site}/sign-in/")
        cookie = next(one for one in page.headers.get_list("set-cookie") if "csrftoken" in one)
        checks = {
            "HSTS": "max-age=2592000" in page.headers.get("strict-transport-security", ""),
            "one CSP": len(page.headers.get_list("content-security-policy")) == 1,
            "nosniff": page.headers.get("x-content-type-options") == "nosniff",
            "an id of nginx": bool(re.fullmatch(r"[0-9a-f]{32}", page.headers.get("x-request-id", ""))),
            "cookies for the path": f"Path={path}/;" in f"{cookie};",
            "secure cookies": "Secure" in cookie and "SameSite=Lax" in cookie,
            "no figures outside": person.get(f"{site}/metrics").status_code == 404,
            "no readiness outside": person.get(f"{site}/readyz").status_code == 404,
            "health outside": person.get(f"{site}/healthz").text == "ok\n",
            "no header moves the site": "evil"
            not in person.get(
                f"{site}/",
                headers={"X-Forwarded-Host": "evil.example", "X-Script-Name": "/evil", "X-Forwarded-Prefix": "/evil"},
            ).headers["location"],
            "another host is refused": person.get(f"{site}/", headers={"Host": "evil.example"}).status_code
            in (400, 404),
        }  # fmt: skip
        schema = person.get(f"{site}/api/schema/", headers={"Accept": "application/json"}).json()
        servers = [one["url"] for one in schema.get("servers", [])]
        checks["the schema's addresses"] = "/api/batches/" in schema["paths"] and servers == [path] * bool(
            path
        )
        forged = person.post(
            f"{site}/sign-in/", data={"username": "a@b.c", "password": "x"}, headers={"Origin": "https://evil.example"}
        )  # fmt: skip
        checks["forms from elsewhere are refused"] = forged.status_code == 403
        if path:
            checks["without the slash"] = (
                person.get(f"https://localhost:{port}{path}").headers["location"] == f"{site}/"
            )
        tries = [
            person.post(f"{site}/sign-in/", data={"username": "a@b.c", "password": "x"}).status_code
            for _ in range(100)
        ]
        checks["guessing is slowed down"] = tries[0] == 403 and 429 in tries
    if wrong := [name for name, holds in checks.items() if not holds]:
        raise Wrong(f"at {site}: {', '.join(wrong)}")


# -- people -----------------------------------------------------------------------------------------


class People:
    """Annotators who submit one item after the other through nginx, and send again what was not acknowledged."""

    def __init__(self, site: str, crew: list[dict[str, Any]]) -> None:
        self.site, self.crew = site, crew
        self.acknowledged = self.again = 0
        self.said: list[str] = []
        self.wrong: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.stop = threading.Event()
        self.lock = threading.Lock()

    def work(self, seconds: float) -> None:
        """All of them for so long."""
        threads = self.start()
        time.sleep(seconds)
        self.finish(threads)

    def start(self) -> list[threading.Thread]:
        self.stop.clear()
        threads = [threading.Thread(target=self._one, args=(person,)) for person in self.crew]
        for thread in threads:
            thread.start()
        return threads

    def finish(self, threads: list[threading.Thread]) -> None:
        self.stop.set()
        for thread in threads:
            thread.join()
        if self.wrong:
            raise Wrong(self.wrong[0])

    def _one(self, person: dict[str, Any]) -> None:
        headers = {"Cookie": person["cookie"], "X-CSRFToken": person["csrf"], "Referer": f"{self.site}/"}
        with browser() as client:
            while not self.stop.is_set():
                held = person.get("held")
                if held is None:
                    address = f"{self.site}/api/batches/{person['batch']}/next/"
                    body: dict[str, Any] = {"holding": []}
                else:
                    address = f"{self.site}/api/assignments/{held['id']}/submit/"
                    envelope = {key: held[key] for key in ("type", "variant", "version", "base")}
                    body = {"response": envelope | {"data": {"label": "extraction"}}, "next": True}
                try:
                    answer = client.post(address, json=body, headers=headers)
                except httpx.HTTPError:
                    status = 0
                else:
                    status = answer.status_code
                with self.lock:
                    self.statuses[status] += 1
                if status in (0, 502, 503, 504):  # asked again, as a page does
                    with self.lock:
                        self.again += 1
                    time.sleep(0.3)
                    continue
                if status == 204:  # nothing is left for this person
                    return
                if status != 200:
                    with self.lock:
                        self.wrong.append(f"{address} answers {status} {answer.text[:200]}")
                    return
                found = answer.json()
                if held is not None:
                    with self.lock:
                        self.acknowledged += 1
                        self.said.append(held["id"])
                person["held"] = found.get("next", found)

    def check(self, environment: dict[str, str]) -> None:
        """Every response that was acknowledged is in the database, once, and no item has more than it may. Raises Wrong."""
        stored = json.loads(python(ROOT, environment, "-c", STORED))
        if missing := set(self.said) - set(stored["submitted"]):
            raise Wrong(f"{len(missing)} acknowledged responses are not there")
        if len(self.said) != len(set(self.said)) or stored["beyond"]:
            raise Wrong(f"{stored['beyond']} items have more responses than they may")


STORED = """
import json, django; django.setup()
from django.db.models import Count, F
from annotation.models import Assignment
done = Assignment.objects.filter(state="submitted")
beyond = done.values("item").annotate(many=Count("pk")).filter(many__gt=F("batch__overlap")).count()
print(json.dumps({"submitted": list(done.values_list("public_id", flat=True)), "beyond": beyond}))
"""


# -- an upgrade while they work ---------------------------------------------------------------------


def upgrade(
    people: People,
    environment: dict[str, str],
    log: Path,
    upstreams: Sequence[int],
    webs: list[subprocess.Popen[bytes]],
    stack: ExitStack,
) -> None:
    """The documented order: migrate with the new code, then each web server in its turn. Raises Wrong."""
    threads = people.start()
    planned = python(ROOT, environment, "manage.py", "migrate", "--plan")
    spare = free_ports(1)[0]
    with running(ROOT, environment, log, *web(spare)):
        wait_for(lambda: get(spare, "/healthz") == 200, "the new code answers")
        ready = get(spare, "/readyz")
        if ready != (503 if "No planned" not in planned else 200):
            raise Wrong(f"new code before its migrations says {ready} at /readyz")
    began = time.monotonic()
    said = python(ROOT, environment, "manage.py", "migrate", "--noinput")
    migrated = time.monotonic() - began
    if get(upstreams[0], "/readyz") != 200:
        raise Wrong("the old code is not ready any more once the database is migrated")
    time.sleep(2)  # the old code on the new tables
    for index, port in enumerate(upstreams):
        webs[index].terminate()
        webs[index].wait(60)
        stack.enter_context(running(ROOT, environment, log, *web(port)))
        wait_for(lambda port=port: get(port, "/readyz") == 200, "the new code is ready")
    time.sleep(2)
    people.finish(threads)
    steps = planned.count("\n    ") or planned.count("Raw")
    print(
        f"  upgraded while they worked: {len(planned.splitlines()) - 1} lines of plan ({steps} steps), "
        f"migrated in {migrated:.1f} s, begun again {said.count('once more')} times; "
        f"answers by status: {dict(people.statuses)}"
    )


# -- what is noted ----------------------------------------------------------------------------------


def figures(port: int) -> None:
    """Prometheus' figures, from next door and with the token alone. Raises Wrong."""
    if get(port, "/metrics", **{"X-Forwarded-Proto": "http"}) != 404:
        raise Wrong("/metrics answers without a token")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    if (
        answer.status != 200
        or 'askew_requests_total{method="POST",status="200",view="api_submit"}' not in text
    ):
        raise Wrong(f"/metrics says {answer.status} {text[:300]}")
    if not re.search(r"^askew_submitted [1-9]", text, re.MULTILINE):
        raise Wrong("/metrics knows of no responses")


def nothing_personal(home: Path, log: Path) -> None:
    """Raises Wrong where a log says who did something."""
    for file in [log, *home.glob("nginx/*.log")]:
        text = file.read_text(errors="replace")
        for secret in (
            "root@example.org",
            "Ursula",
            PASSWORD,
            "sessionid=",
            TOKEN,
            "benchmarkbenchmark",
            "a@b.c",
        ):
            if secret in text:
                line = next(line for line in text.splitlines() if secret in line)
                raise Wrong(f"{file.name} says {secret}: {line[:300]}")
    for line in log.read_text().splitlines():
        if '"logger"' in line:
            json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
