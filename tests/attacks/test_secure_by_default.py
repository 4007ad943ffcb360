"""What holds without anybody setting anything, and that the threat model names tests that there are."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "security.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)(?:::(\w+))?`")
OURS = ("annotation", "config", "predictor", "tableqa", "tasks")


def code() -> list[Path]:
    return [
        path
        for folder in OURS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in path.parts
    ]


def test_a_site_at_an_address_of_https_passes_djangos_own_check(tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
    }
    environment |= {
        "SECRET_KEY": "a key that is long, random in its way, and nobody else's: 0123456789",
        "PUBLIC_URL": "https://askew.example.org",
        "TRUST_PROXY": "true",
        "ASKEW_DATA_DIR": str(tmp_path),
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "pattern",
    [
        r"import (pickle|shelve|marshal|dill|joblib)|from (pickle|shelve|marshal|dill|joblib)",
        r"torch\.load\((?!.*weights_only=True)",
        r"yaml\.(load|unsafe_load|full_load)\(",
        r"(?<![.\w])(eval|exec)\(|__import__\(",
        r"shell=True|os\.system\(|os\.popen\(",
        r"verify=False|CERT_NONE",
        r"csrf_exempt|xframe_options_exempt",
        r"objects\.raw\(|\.extra\(|RawSQL\(",
    ],
)
def test_what_takes_orders_from_data_is_not_used(pattern: str) -> None:
    """Weights are read as safetensors and ONNX, files as JSON and CSV, and no query is put together from texts."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in code()
        for line in path.read_text("utf-8").splitlines()
        if re.search(pattern, line) and not line.lstrip().startswith(("#", '"'))
    ]
    assert [line for line in found if "annotation/platform/prepared_statements.py" not in line] == []


OWN_JSON = {
    "annotation/management/backup.py": "a backup that Askew wrote",
    "annotation/releases/model_evaluation/queries.py": "a last line that Askew wrote",
    "annotation/releases/model_evaluation/runs.py": "judgements that Askew wrote, and records that were read before",
    "annotation/assistance/proposal_prompts.py": "a form that Askew wrote; reading replies takes whatever they raise",
    "annotation/imports/file_preview.py": "what this process has read of a file, kept with the job",
    "annotation/background/sandbox.py": "what the reader process wrote: whatever is wrong with it, the file is refused",
    "tableqa/readers/worker_process.py": "what the worker that started the process wrote",
    "tableqa/data/typed_json.py": "the text of an example in such a result",
    "tableqa/readers/ingestion.py": "rows that the process wrote, a line each",
    "annotation/imports/response_preview.py": "what a job stored",
    "annotation/imports/response_import.py": "tables of rows that Askew laid on disk",
    "annotation/management/commands/metrics.py": "scores that Askew wrote",
    "annotation/management/reference_pages.py": "samples of the source tree",
    "annotation/releases/manifest.py": "a release, likewise",
    "annotation/releases/freb_tqa_parts.py": "rows that Askew laid on disk",
    "tableqa/releases/release_records.py": "a release: `verify` takes whatever its reading raises",
    "tableqa/releases/record_files.py": "a release, likewise",
    "annotation/releases/verification.py": "a release, likewise",
    "annotation/releases/signing.py": "the key of this site",
    "tableqa/scoring/replies.py": "a text in quotes, which has no brackets",
    "annotation/queue/resources.py": "an index that Askew wrote",
    "predictor/checkpoints.py": "weights that the administrator chose",
    "predictor/bundled/model.py": "weights that the administrator chose",
    "predictor/configuration.py": "the settings",
    "tableqa/core/disk_collections.py": "rows that Askew laid on disk",
    "tableqa/serialisations/literals.py": "a serialisation: its reading takes RecursionError",
    "tableqa/serialisations/published_forms.py": "a serialisation: its reading takes RecursionError",
    "tableqa/writers/croissant.py": "a release: its reading takes RecursionError",
    "tasks/contract/task_type.py": "examples of the source tree",
    "tableqa/releases/former_wordings.py": "wordings of the source tree",
    "config/bundler.py": "what the program that makes bundles printed",
    "config/static_files.py": "the list of bundles in a wheel",
    "tableqa/scoring/benchmark_folder.py": "a release, which carries this very program",
    "tableqa/writers/harness/__init__.py": "digests of the source tree",
    "tableqa/writers/whole_examples.py": "rows that Askew laid on disk",
    "tasks/column_adding/task.py": "columns that were offered",
}


def test_json_of_others_is_read_where_brackets_without_end_are_an_error_and_no_crash() -> None:
    """`tableqa.core.json_text.read_json`, or a `try` that takes RecursionError; what we wrote ourselves is named above."""
    found = set()
    for path in code():
        name = str(path.relative_to(ROOT))
        if name.startswith("predictor/training/") or path.name == "tests.py":
            continue
        source = path.read_text("utf-8")
        if "json" not in source:
            continue
        tree = ast.parse(source)
        guarded = {
            inner
            for outer in ast.walk(tree)
            if isinstance(outer, ast.Try)
            and any("RecursionError" in ast.unparse(one.type) for one in outer.handlers if one.type)
            for step in outer.body
            for inner in ast.walk(step)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in ("json.loads", "json.load")
                and node not in guarded
            ):
                found.add(name)
    assert found == set(OWN_JSON)


# Which build of torch fits depends on the machine, so pip chooses it; bert-score asks for torch itself.
UNHASHED = {"requirements/torch.txt", "requirements/bertscore.txt"}


LOCKS = {
    "requirements.txt",
    *(f"requirements/{path.name}" for path in ROOT.glob("requirements/*.txt")),
} - UNHASHED


@pytest.mark.parametrize("name", sorted(LOCKS))
def test_every_dependency_is_pinned_by_its_hash(name: str) -> None:
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    packages = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert packages
    assert [line for line in packages if "==" not in line or "--hash=sha256:" not in line] == []


def test_no_script_of_ours_makes_elements_of_texts() -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / "static" / "askew").glob("**/*.js"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\(['\"`]",
            line,
        )
    ]
    assert found == []


def test_no_template_switches_escaping_off_and_none_has_a_script_inside() -> None:
    templates = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "tasks").rglob("*.html")]
    assert len(templates) > 50
    wrong = re.compile(
        r"\|\s*safe\b|autoescape off|<style|<[^>]*\s(on\w+|style)=|<script(?![^>]*\b(src|type=\"application/json))"
    )
    found = []
    for path in templates:
        text = path.read_text("utf-8")
        bare = re.sub(r"{%.*?%}|{{.*?}}", "", text, flags=re.DOTALL)
        if wrong.search(bare) or re.search(r"\|\s*safe\b|autoescape off", text):
            found.append(str(path.relative_to(ROOT)))
    assert found == []


def test_the_threat_model_names_tests_that_there_are() -> None:
    named = NAMED.findall(PAGE.read_text("utf-8"))
    assert len(named) > 50
    missing = []
    for file, *names in named:
        tree: ast.AST = (
            ast.parse((ROOT / file).read_text("utf-8")) if (ROOT / file).is_file() else ast.Module([], [])
        )
        for name in filter(None, names):
            body = getattr(tree, "body", [])
            found = [one for one in body if getattr(one, "name", None) == name]
            if not found:
                missing.append(f"{file}::{name}")
                break
            tree = found[0]
    assert missing == []


def test_every_fault_class_and_every_attack_has_a_row() -> None:
    """Those that recur in tools of this kind, and those that a site on the open network meets."""
    text = PAGE.read_text("utf-8")
    for words in (
        "default key",
        "another project",
        "method that was forgotten",
        "address of a model",
        "verdict that the client chose",
        "filter from the request",
        "HTML in cells",
        "path that begins right",
        "pickled weights",
        "token sent to a model",
        "default account",
        "more fields than asked",
        "metadata of a cloud",
        "symbolic link",
        "archive bomb",
        "formula",
        "nested",
        "guessing a password",
        "fixation",
        "behind a proxy",
        "time that a check takes",
        "tokens in logs",
    ):
        assert words in text, words
