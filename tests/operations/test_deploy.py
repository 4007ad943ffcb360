"""The files under deploy/ are taken by what they are for, and say what the settings say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config import logs

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
NGINX = sorted((ROOT / "deploy" / "nginx").glob("*.conf"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_unit_and_finds_it_well_shut(unit: Path, tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd here")
    text = (
        unit.read_text()
        .replace("/opt/askew/.venv/bin/celery", "/bin/true")
        .replace("file:///opt/askew", "https://e.org")
    )
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
    elif program == "celery":
        assert "config.on_celery" in arguments
    else:
        assert program == "gunicorn"


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


def test_what_is_secret_in_an_address_is_said_alike_in_three_places() -> None:
    """The log, gunicorn's access log, nginx's access log."""
    secret = re.compile(r"\(\??:?(?:\?:)?(join\|password/new\|crowd/back\|demo)\)")
    places = [
        logs.SECRET_PATHS.pattern,
        (ROOT / "gunicorn.conf.py").read_text(),
        (ROOT / "deploy/nginx/askew-http.conf").read_text(),
    ]

    assert [len(secret.findall(place)) for place in places] == [1, 1, 1]


def test_the_bill_of_materials_has_every_pinned_package_with_its_hashes(tmp_path: Path) -> None:
    from importlib.util import find_spec

    assert find_spec("cyclonedx_py"), "requirements-dev.txt is not installed"
    lock = (ROOT / "requirements.txt").read_text()
    pinned = set(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "requirements.txt"]
    subprocess.run([*command, "--output-reproducible", "-o", tmp_path / "sbom.json"], cwd=ROOT, check=True)
    said = json.loads((tmp_path / "sbom.json").read_text())

    assert said["bomFormat"] == "CycloneDX"
    assert {(one["name"], one["version"]) for one in said["components"]} == pinned
    assert all(one["externalReferences"][0]["hashes"] for one in said["components"])
