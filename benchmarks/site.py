"""The processes of a site on this machine, for benchmarks: web servers, and nginx with the files of deploy/nginx."""

from __future__ import annotations

import http.client
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy" / "nginx"


class Wrong(Exception):
    """Something was not as it should be; the message says what."""


def web(port: int) -> list[str]:
    """Gunicorn, as the page on operations starts it."""
    more = ["--worker-class", "gthread", "--workers", "1", "--threads", "4", "--keep-alive", "75"]
    return ["-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--no-control-socket", *more]


def python(code: Path, environment: dict[str, str], *arguments: str) -> str:
    """What Python printed, run in that folder. Raises Wrong."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=code, env=environment, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise Wrong(f"{' '.join(arguments)[:60]} ended with status {done.returncode}")
    return done.stdout


@contextmanager
def running(
    code: Path, environment: dict[str, str], log: Path, *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block, in order."""
    with log.open("ab") as to:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=code, env=environment, stdout=to, stderr=to
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def free_ports(many: int) -> list[int]:
    """Ports of the loopback that nobody listens on."""
    probes = [socket.socket() for _ in range(many)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def wait_for(holds: Any, what: str, seconds: float = 90) -> None:
    """Raises Wrong where it does not hold in time."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise Wrong(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.1)


def get(port: int, path: str, **headers: str) -> int:
    """What a web process says by itself, as a balancer next door asks it; 0 where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@contextmanager
def nginx(
    home: Path, path: str, port: int, upstreams: Sequence[int], *, static: bool, gateway: int = 1
) -> Iterator[int]:
    """The shipped files, with the ports and folders of this try; nginx's process id."""
    folder = home / "nginx"
    folder.mkdir()
    certificate = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    subprocess.run(
        ["openssl", "req", *certificate, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    servers = "\n".join(f"    server 127.0.0.1:{one};" for one in upstreams)

    def here(name: str) -> str:
        text = (DEPLOY / name).read_text()
        text = re.sub(r"/etc/nginx/askew-proxy\.conf", str(folder / "askew-proxy.conf"), text)
        text = re.sub(r" +server 127\.0\.0\.1:8000[^\n]*", servers, text)
        text = text.replace("127.0.0.1:8010", f"127.0.0.1:{gateway}")
        text = re.sub(r"/etc/letsencrypt/\S+/fullchain\.pem", str(folder / "cert.pem"), text)
        text = re.sub(r"/etc/letsencrypt/\S+/privkey\.pem", str(folder / "key.pem"), text)
        text = text.replace("/var/log/nginx", str(folder)).replace("/srv/askew", str(home / "data"))
        text = text.replace("askew.example.org", "localhost")
        text = re.sub(r"listen \[::\]:\d+[^;]*;", "", text)
        text = re.sub(r"listen 80;", f"listen 127.0.0.1:{free_ports(1)[0]};", text)
        text = re.sub(r"listen 443", f"listen 127.0.0.1:{port}", text)
        if not static:
            text = re.sub(r"\n( *)location /(askew/)?static/ \{.*?\n\1\}\n", "\n", text, flags=re.DOTALL)
        return text

    (folder / "askew-proxy.conf").write_text(here("askew-proxy.conf"))
    if path:
        shared = (
            f"server {{ listen 127.0.0.1:{port} ssl; server_name localhost; access_log off;\n"
            f"ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;\n"
            'location / { add_header Set-Cookie "csrftoken=of-the-wiki; Path=/"; return 200 "the wiki"; }\n'
            f"{here('askew-sub-path.conf')}\n}}\n"
        )
    (folder / "site.conf").write_text(shared if path else here("askew.conf"))
    temporary = "".join(
        f"{what}_temp_path {folder}/{what};\n"
        for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nerror_log {folder}/main.log warn;\nworker_processes 1;\ndaemon off;\n"
        f"{'user root;' if os.geteuid() == 0 else ''}\nevents {{}}\nhttp {{\n{temporary}"
        f"include /etc/nginx/mime.types;\nserver_tokens off;\n{here('askew-http.conf')}\n"
        f"include {folder}/site.conf;\n}}\n"
    )
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "first.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
    if checked.returncode:
        raise Wrong(f"nginx refuses the files: {checked.stderr}")
    process = subprocess.Popen(command)
    try:
        wait_for(lambda: process.poll() is None and is_open(port), "nginx listens", 20)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def is_open(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
