"""CPU time until a command has printed its help: ./run manage help, version, and COMMAND --help of every command.

    ./run bench startup [--rounds 5] [--own]

Prints user and system time in seconds, with bytecode that an earlier run compiled. The smallest of the rounds counts,
as other work on the machine only adds to it. `--own` leaves out Django's commands.
"""

from __future__ import annotations

import argparse
import os
import resource
import secrets
import subprocess
import sys

from benchmarks.figures import Figure, keep
from benchmarks.loop import ROOT

LISTS, HELP = 0.6, 0.8
"""Seconds of CPU: at most for `help` and `version`, and for the help of one command."""


def main() -> int:
    """Print the figures; the status is 1 if one misses its target."""
    parser = argparse.ArgumentParser(prog="./run bench startup", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--own", action="store_true", help="only commands of Askew")
    options = parser.parse_args()
    # Bytecode is part of the measurement: an environment without it is for editors and tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(50))
    figures = [_figure([name], options.rounds, LISTS) for name in ("help", "version")]
    figures += [_figure([name, "--help"], options.rounds, HELP) for name in _commands(options.own)]
    print(f"load: {os.getloadavg()[0]:.1f}")
    return int(any(figure.met is False for figure in figures))


def _commands(own: bool) -> list[str]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django
    from django.core.management import get_commands

    django.setup()
    return sorted(name for name, app in get_commands().items() if app == "annotation" or not own)


def _figure(arguments: list[str], rounds: int, at_most: float) -> Figure:
    seconds = min(_seconds(arguments) for _ in range(rounds + 1))  # one more: the first may compile
    line = f"manage {' '.join(arguments)}"
    print(f"{line:32} {seconds:.2f} s", flush=True)
    return keep(f"CPU of {line}", seconds, "s", at_most=at_most)


def _seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([ROOT / "run", "manage", *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
