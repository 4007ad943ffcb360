"""The files under deploy/ are taken by what they are for, and say what the settings say."""

from __future__ import annotations

import grp
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.base import ContentFile

from annotation.background import jobs
from config import logs
from predictor import configuration
from tests.waiting import listens, wait_until

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = ROOT / "docs" / "operations.md"
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
NGINX = sorted((ROOT / "deploy" / "nginx").glob("*.conf"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_unit_and_finds_it_well_shut(unit: Path, tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd here")
    text = unit.read_text().replace("file:///opt/askew", "https://e.org")
    text = re.sub(r"/opt/askew/\.venv/bin/\w+", "/bin/true", text)
    text = re.sub(r"^(User|Group)=askew$", r"\1=daemon", text, flags=re.MULTILINE)
    copy = tmp_path / unit.name
    copy.write_text(text)

    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False
    )
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", copy],
        capture_output=True,
        text=True,
        check=False,
    )

    complaints = [line for line in verified.stderr.splitlines() if unit.name in line]
    assert complaints == []
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d)", rated.stdout)
    assert found, rated.stderr
    assert float(found[1]) < 2.5


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_starts_what_there_is(unit: Path) -> None:
    """Commands, options and modules that a unit names exist here."""
    (start,) = re.findall(r"^ExecStart=/opt/askew/\.venv/bin/(\S+) (.*)$", unit.read_text(), re.MULTILINE)
    program, arguments = start
    if program == "python" and "manage.py" in arguments:
        source = (ROOT / "annotation/management/commands/worker.py").read_text()
        for option in re.findall(r"--[\w-]+", arguments):
            assert f'"{option}"' in source
    elif program == "python":
        module = arguments.split()[1]
        assert (ROOT / f"{module.replace('.', '/')}.py").exists()
    else:
        assert program == "gunicorn"


def test_the_unit_of_workers_lets_them_read_files(settings: Any) -> None:
    unit = (ROOT / "deploy" / "systemd" / "askew-worker@.service").read_text()
    filters = re.findall(r"^SystemCallFilter=(.*)", unit, re.MULTILINE)
    (gigabytes,) = re.findall(r"^MemoryMax=(\d+)G", unit, re.MULTILINE)

    closed = next(index for index, names in enumerate(filters) if names.startswith("~"))
    assert "setpriority" in " ".join(filters[closed + 1 :]).split(), "reading lowers its own priority"
    reading = (jobs.THREADS[jobs.IMPORTS] + jobs.THREADS[jobs.PREVIEWS]) * settings.IMPORT_MEMORY
    assert int(gigabytes) * 1024 >= reading + 300


def test_nginx_takes_both_files(tmp_path: Path) -> None:
    """A whole try of them, with pages, people and TLS: ./run bench team."""
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed (Debian: apt install nginx-light)")
    key = ["-keyout", str(tmp_path / "privkey.pem"), "-out", str(tmp_path / "fullchain.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", *key],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    for file in NGINX:
        text = file.read_text().replace("/etc/nginx/askew", str(tmp_path / "askew"))
        text = text.replace("/etc/letsencrypt/live/askew.example.org", str(tmp_path))
        (tmp_path / file.name).write_text(text.replace("/var/log/nginx", str(tmp_path)))
    for site in ("include askew.conf;", "server { listen 127.0.0.1:1; include askew-sub-path.conf; }"):
        (tmp_path / "nginx.conf").write_text(
            f"pid {tmp_path}/pid; error_log {tmp_path}/main.log; events {{}} http {{ include askew-http.conf; {site} }}"
        )
        command = ["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
        tried = subprocess.run([*command, "-e", str(tmp_path / "first.log")], capture_output=True, text=True)
        wrong = [line for line in tried.stderr.splitlines() if "emerg" in line and "bind()" not in line]
        assert wrong == []


@contextmanager
def nginx(home: Path, server: str, user: str = "root", gateway: str = "127.0.0.1:1") -> Iterator[str]:
    """nginx with the shipped files and this `server`, at most a gateway behind it; the address that it listens on."""
    if not shutil.which("nginx") or os.geteuid() != 0:
        pytest.skip("nginx is not installed, or this is not root (Debian: apt install nginx-light)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for file in NGINX:
        text = file.read_text().replace("/etc/nginx/askew", str(home / "askew"))
        text = text.replace("/var/log/nginx", str(home)).replace("/srv/askew", str(home / "data"))
        (home / file.name).write_text(
            text.replace("127.0.0.1:8000", "127.0.0.1:1").replace("127.0.0.1:8010", gateway)
        )
    temporary = "".join(
        f"{what}_temp_path {home}/{what};" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (home / "nginx.conf").write_text(
        f"user {user}; pid {home}/pid; error_log {home}/host-error.log info; daemon off; events {{}}\n"
        f"http {{ {temporary} access_log {home}/host-access.log; include askew-http.conf;\n"
        f"server {{ listen 127.0.0.1:{port}; {server} }} }}\n"
    )
    process = subprocess.Popen(["nginx", "-p", home, "-c", home / "nginx.conf", "-e", home / "first.log"])
    try:
        wait_until(lambda: listens(port), "nginx listens")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def location_of(file: str, name: str) -> str:
    """A location as the file has it."""
    text = (ROOT / "deploy/nginx" / file).read_text()
    found = re.search(rf"^( *)location {re.escape(name)} \{{.*?^\1\}}", text, re.DOTALL | re.MULTILINE)
    assert found, f"{file} has no location {name}"
    return found[0]


@pytest.mark.parametrize("path", ["", "/askew"])
def test_a_laboratory_behind_one_address_comes_in_within_a_minute(path: str, tmp_path: Path) -> None:
    """Thirty people look at the page, some of them often, and sign in, some at the second try. Floods are slowed down."""
    server = "include askew-sub-path.conf;" if path else location_of("askew.conf", "= /sign-in/")
    server = server.replace("/etc/nginx/", f"{tmp_path}/")
    with nginx(tmp_path, server) as address, httpx.Client(trust_env=False) as client:
        page = f"{address}{path}/sign-in/"
        looked = [client.get(page).status_code for _ in range(150)]
        signed_in = [client.post(page, data={"username": "x"}).status_code for _ in range(50)]
        flood = [client.post(page, data={"username": "x"}).status_code for _ in range(60)]
    assert set(looked) == set(signed_in) == {502}, "what nginx says where nobody is behind it"
    assert flood.count(429) > 30


def test_below_a_path_of_a_shared_host_no_log_has_addresses_or_secrets(tmp_path: Path) -> None:
    """Also where nobody answers behind nginx, and where tries are refused: its error log has whole requests in it."""
    with nginx(tmp_path, "include askew-sub-path.conf;") as address, httpx.Client(trust_env=False) as client:
        for path in (
            "/askew/join/SECRET/", "/askew/password/new/MQ/SECRET/", "/askew/crowd/x/?PROLIFIC_PID=SECRET",
            "/askew?PROLIFIC_PID=SECRET", "/askew/metrics?x=SECRET", "/askew/readyz?x=SECRET",
            "/askew/static/no.css?x=SECRET", "/askew/static/no.0123456789ab.css?x=SECRET",
        ):  # fmt: skip
            client.get(f"{address}{path}")
        for _ in range(90):
            client.post(f"{address}/askew/sign-in/?next=SECRET")
    logs_ = {file.name: file.read_text() for file in tmp_path.glob("*.log")}
    assert {"askew.log", "host-error.log"} <= set(logs_)
    assert len(logs_["askew.log"].splitlines()) > 90
    found = [
        line
        for name, text in logs_.items()
        for line in text.splitlines()
        if "SECRET" in line or "127.0.0.1" in line
    ]
    # What is said of connections, and not of requests, has an address at the level "info" alone.
    assert [line for line in found if "[info]" not in line or "SECRET" in line] == []


def test_static_files_are_nginxs_to_read_and_nothing_else_of_the_data_folder_is(settings: Any) -> None:
    """As section 1 makes the folder, and with the umask of the units, nginx runs as www-data."""
    from config.static_files import HashedStaticFilesStorage

    try:
        group = grp.getgrnam("www-data").gr_gid
    except KeyError:
        pytest.skip("there is no www-data here")
    made = re.search(r"install -d -o askew -g (\S+) -m (\d+) /srv/askew", OPERATIONS.read_text())
    assert made
    assert made[1] == "www-data"
    for unit in UNITS:
        assert "UMask=0027" in unit.read_text()
    settings.STATIC_URL = "/static/"
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home, data = Path(folder), Path(folder) / "data"
        server = location_of("askew.conf", "/static/").replace("/srv/askew", str(data))
        before = os.umask(0o027)
        try:
            data.mkdir()
            os.chown(data, 0, group)
            data.chmod(int(made[2], 8))
            storage = HashedStaticFilesStorage(location=data / "static", base_url="/static/")
            for name in ("askew/a.css", "vendor/deeper/b.css"):
                storage.save(name, ContentFile(b"a { color: red }\n" * 200))
            paths = {name: (storage, name) for name in ("askew/a.css", "vendor/deeper/b.css")}
            assert not [one for one in storage.post_process(paths) if isinstance(one[2], Exception)]
            (data / "media").mkdir()
            (data / "media" / "upload").write_text("somebody's")
        finally:
            os.umask(before)
        home.chmod(0o755)
        named = json.loads((data / "static" / "staticfiles.json").read_text())["paths"]
        with nginx(home, f"{server} location /all/ {{ alias {data}/; }}", "www-data") as address:
            for name in named.values():
                for encoding in ("gzip", "identity"):
                    answer = httpx.get(f"{address}/static/{name}", headers={"Accept-Encoding": encoding})
                    assert (answer.status_code, "red" in answer.text) == (200, True)
                    assert answer.headers.get("content-encoding", "identity") == encoding
                    assert "immutable" in answer.headers["cache-control"]
            assert httpx.get(f"{address}/all/media/upload").status_code == 403


def test_the_settings_file_that_is_documented_is_taken_by_the_shell_and_by_systemd(tmp_path: Path) -> None:
    """Every line NAME=VALUE that the page has, in one file, sourced as section 4 says."""
    lines = re.findall(r"^ {4,}([A-Z][A-Z_]+=.*)$", OPERATIONS.read_text(), re.MULTILINE)
    names = [line.partition("=")[0] for line in lines]
    assert {"SECRET_KEY", "DATABASE_URL", "PREDICTORS", "EMAIL_URL"} <= set(names)
    assert not re.findall(r"`[A-Z_]+=\{", OPERATIONS.read_text()), (
        "a value with brackets, and not in that file"
    )
    (file := tmp_path / "environment").write_text("\n".join(lines) + "\n")
    (sourcing,) = re.findall(r"^ +(umask .*)$", OPERATIONS.read_text(), re.MULTILINE)
    script = f"set -eu; {sourcing.replace('/etc/askew/environment', str(file))}; env -0"
    for shell in filter(shutil.which, ("sh", "bash", "dash")):
        ran = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        found = dict(line.split("=", 1) for line in ran.stdout.split("\0") if "=" in line)
        for line in lines:
            name, _, value = line.partition("=")
            # As systemd takes it: quotes around the whole value go, and nothing else in it means anything.
            plain = value[1:-1] if value[:1] == value[-1:] == "'" else value
            assert "'" not in plain
            assert found[name] == plain
    assert configuration.read(found["PREDICTORS"])["bundled"]["model"] == "bundled"


def test_what_is_secret_in_an_address_is_said_alike_in_both_places() -> None:
    """The log, with gunicorn's access log, and nginx's access log."""
    secret = re.compile(r"\(\??:?(?:\?:)?(join\|password/new\|crowd/back\|demo)\)")
    places = [
        logs.SECRET_PATHS.pattern,
        (ROOT / "deploy/nginx/askew-http.conf").read_text(),
    ]

    assert [len(secret.findall(place)) for place in places] == [1, 1]


def test_the_bill_of_materials_has_every_pinned_package_with_its_hashes(tmp_path: Path) -> None:
    from importlib.util import find_spec

    assert find_spec("cyclonedx_py"), "requirements/dev.txt is not installed"
    lock = (ROOT / "requirements.txt").read_text()
    pinned = set(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "requirements.txt"]
    subprocess.run([*command, "--output-reproducible", "-o", tmp_path / "sbom.json"], cwd=ROOT, check=True)
    said = json.loads((tmp_path / "sbom.json").read_text())

    assert said["bomFormat"] == "CycloneDX"
    assert {(one["name"], one["version"]) for one in said["components"]} == pinned
    assert all(one["externalReferences"][0]["hashes"] for one in said["components"])
