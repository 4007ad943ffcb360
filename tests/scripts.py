"""Types and lint of the scripts: tsc reads their JSDoc comments, Biome has the rules of biome.jsonc.

    .venv/bin/python -m tests.scripts types
    .venv/bin/python -m tests.scripts lint

Without Node.js nothing is checked; with CI=true this is a failure. `any` and `@ts-expect-error` turn a check off: all
scripts together may have as many as MAX_UNCHECKED.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "types": ["typescript/bin/tsc", "--pretty", "false"],
    "lint": [
        "@biomejs/biome/bin/biome",
        "lint",
        "--error-on-warnings",
        "--colors=off",
        "config",
        "static/askew",
        "tasks",
        "tests/modules",
    ],
}
MAX_UNCHECKED = 50
UNCHECKED = re.compile(r"@ts-expect-error|(?<=[{<(,:|=])\s*any\b(?=\s*[}>),;|\[])")
FORBIDDEN = re.compile(r"@ts-(?:nocheck|ignore)")


def main(check: str) -> int:
    """Run one check and give its exit status; findings are printed."""
    node = shutil.which("node")
    if not node or not (ROOT / "node_modules" / "typescript").is_dir():
        print(
            "Node.js 20 or newer, or node_modules, is missing: scripts are not checked (./run test installs packages)"
        )
        return 1 if os.environ.get("CI", "").lower() in ("1", "true") else 0
    program, *arguments = COMMANDS[check]
    result = subprocess.run(
        [node, ROOT / "node_modules" / program, *arguments], cwd=ROOT, text=True, capture_output=True
    )
    if check == "lint":
        print(result.stdout, result.stderr)
        return result.returncode
    findings = [*result.stdout.splitlines(), *unchecked()]
    print(*findings, result.stderr, sep="\n")
    return 1 if findings or result.stderr else 0


def unchecked() -> Iterator[str]:
    """Scripts that turn checks off, where they are more than allowed."""
    patterns = ("config/*.js", "static/askew/*.js", "types/*.ts", "tasks/*/static/**/*.js")
    files = [file for pattern in patterns for file in ROOT.glob(pattern)]
    texts = {file.relative_to(ROOT): file.read_text(encoding="utf-8") for file in files}
    yield from (
        f"{file}: remove {found[0]}" for file, text in texts.items() for found in FORBIDDEN.finditer(text)
    )
    counts = {file: len(UNCHECKED.findall(text)) for file, text in texts.items()}
    if sum(counts.values()) > MAX_UNCHECKED:
        yield f"{sum(counts.values())} `any` and `@ts-expect-error`, at most {MAX_UNCHECKED} are allowed:"
        yield from (f"  {count} in {file}" for file, count in sorted(counts.items()) if count)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
