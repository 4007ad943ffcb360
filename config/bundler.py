"""Bundles of the scripts, made by Rolldown. Standard library only: the build of a wheel uses it, too."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def node() -> str | None:
    """Node.js, if this machine has all that bundles need."""
    return shutil.which("node") if (_ROOT / "node_modules" / "rolldown").is_dir() else None


def write_bundles(folder: Path, modules: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Write bundles of the modules in the folder; returns their files by path. Needs `node`."""
    build = subprocess.run(
        [node() or "node", _ROOT / "config" / "bundles.js", folder],
        input=json.dumps(modules),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(json.loads(build.stdout))
