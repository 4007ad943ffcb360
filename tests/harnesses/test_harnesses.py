"""Releases run in the real harnesses at their newest versions, each in an environment of its own, against a local server.

`ASKEW_HARNESSES` is a folder with the environments inspect/ and lm_eval/; what is missing there is installed. Without the
variable, the folder is .venv/harnesses. The harnesses cost minutes to install and to start, so the tests are slow;
tests/annotation/test_runnable_benchmark.py checks the same files without them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotation.releases import verification
from annotation.releases.model_evaluation import queries
from tableqa.scoring.benchmark_folder import ABOVE_OF, BenchmarkFolder, metrics_of
from tableqa.scoring.evaluation import MACRO, Evaluation, figures
from tests.annotation.test_files_of_sources import two_sources_of_one_reader
from tests.annotation.test_runnable_benchmark import edited, release, replies_to
from tests.demo import Demo

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "inspect": ("inspect-ai", "openai", "huggingface_hub", "datasets"),
    "lm_eval": ("lm-eval[api]",),
}


def environment(name: str) -> Path:
    """The folder of the programs of a harness; it is installed on first use."""
    folder = Path(os.environ.get("ASKEW_HARNESSES", ROOT / ".venv" / "harnesses")) / name
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin/pip"), "install", "-q", "--upgrade", *PACKAGES[name]], check=True)
        (folder / "complete").touch()
    return folder / "bin"


@contextmanager
def stub_model(folder: Path, replies: dict[str, str]) -> Iterator[str]:
    """The address of a model that replies to these prompts; `asked` in the folder lists the prompts."""
    (folder / "replies.json").write_text(json.dumps(replies), "utf-8")
    command = [sys.executable, str(Path(__file__).with_name("stub_model.py"))]
    paths = [str(folder / "replies.json"), str(folder / "asked")]
    with subprocess.Popen([*command, *paths], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        finally:
            server.terminate()


def run(arguments: list[str], folder: Path, **variables: str) -> None:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1", **inherited, **variables}
    done = subprocess.run(arguments, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-6_000:]


def asked(folder: Path) -> list[str]:
    prompts = [json.loads(line) for line in (folder / "asked").read_text("utf-8").splitlines()]
    (folder / "asked").unlink()
    return sorted(prompts)


def evaluated(folder: Path, log: Path) -> Evaluation:
    benchmark = queries.load(folder)
    selected = queries.select_instances(benchmark)
    return figures(queries.judge_instances(selected, benchmark.predictions(log)), replicates=10)


def expect_equal(
    evaluation: Evaluation, values: Callable[[str, str, str], float | None], sources: list[str]
) -> None:
    """Every figure of every row is that of the harness, to 1e-9; `values` takes kind, source ("" for all) and metric."""
    compared = 0
    for row in evaluation.rows:
        if row.source != MACRO and row.source not in sources:
            continue
        for metric in metrics_of(row.kind):
            if metric in ABOVE_OF:
                expected = getattr(row, ABOVE_OF[metric]).value
                value = values(row.kind, "" if row.source == MACRO else row.source, metric)
                assert value == (None if expected is None else pytest.approx(expected, abs=1e-9)), (
                    row.kind,
                    metric,
                )
                compared += 1
    assert compared >= 10


def results_of_lm_eval(folder: Path, tasks: str, address: str, work: Path) -> dict[str, Any]:
    """The results by task of a run of these tasks, whose logs are in `out` in the working folder."""
    model = f"model=stub,base_url={address}/chat/completions,num_concurrent=4,tokenized_requests=False"
    run(
        [
            *(str(environment("lm_eval") / "lm_eval"), "run", "--tasks", tasks),
            *("--include_path", str(folder / "harness/lm_eval")),
            *("--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"),
            *("--log_samples", "--output_path", "out"),
        ],
        work,
    )
    (results,) = (work / "out").rglob("results_*.json")
    by_task: dict[str, Any] = json.loads(results.read_text("utf-8"))["results"]
    return by_task


def of_edits(folder: Path) -> Path:
    return release(edited(folder), folder / "hf")


def of_two_sources(folder: Path) -> Path:
    return release(two_sources_of_one_reader(folder), folder / "hf")


def of_the_demo(folder: Path) -> Path:
    running = Demo(folder / "data")
    try:
        options = ["--name", "runnable", "--format", "hf", "--allow-simulated", "--out", str(folder / "hf")]
        command = [
            sys.executable,
            str(ROOT / "run"),
            "manage",
            "release",
            "--project",
            "tilted-tables",
            *options,
        ]
        environment = {**running.environment}
        environment.pop("DJANGO_SETTINGS_MODULE", None)  # which pytest has set
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    finally:
        running.stop(signal.SIGTERM)
    return folder / "hf"


@pytest.mark.parametrize("released", [of_edits, of_two_sources, of_the_demo])
def test_a_moved_release_runs_in_both_harnesses_with_the_figures_of_an_evaluation(
    tmp_path: Path, released: Callable[[Path], Path]
) -> None:
    folder = tmp_path / "moved to" / "a folder"
    folder.parent.mkdir()
    shutil.move(released(tmp_path), folder)
    benchmark = BenchmarkFolder(folder / "harness")
    items = list(benchmark.items.values())
    prompts = [item["prompt"] for item in items]
    replies: dict[str, str] = {}
    for prompt, reply in zip(prompts, replies_to(items), strict=True):
        replies.setdefault(prompt, reply)
    name, sources = benchmark.facts["name"], benchmark.facts["sources"]
    work = tmp_path / "work"
    work.mkdir()
    with stub_model(work, replies) as address:
        tasks = results_of_lm_eval(folder, name, address, work)
        assert asked(work) == sorted(prompt.strip() for prompt in prompts), "each item is asked once"
        by_lm_eval = evaluated(folder, work / "out")
        expect_equal(
            by_lm_eval,
            lambda kind, source, metric: _defined(tasks[f"{name}_{kind}"].get(f"{metric},none")),
            [],
        )
        # inspect-ai
        inspect = environment("inspect") / "inspect"
        task = f"{folder / 'harness/inspect_task.py'}@release"
        key = {"STUB_API_KEY": "none", "STUB_BASE_URL": address, "INSPECT_LOG_DIR": str(work / "logs")}
        run(
            [str(inspect), "eval", task, "--model", "openai-api/stub/stub", "--display", "plain"], work, **key
        )
        assert asked(work) == sorted(prompt.strip() for prompt in prompts), "each item is asked once"
        (packed,) = (work / "logs").glob("*.eval")
        log = work / "log.json"
        dumped = subprocess.run([str(inspect), "log", "dump", str(packed)], capture_output=True, check=True)
        log.write_bytes(dumped.stdout)
        (scores,) = json.loads(log.read_bytes())["results"]["scores"]
        by_inspect = evaluated(folder, log)
        expect_equal(
            by_inspect,
            lambda kind, source, metric: (
                scores["metrics"].get("/".join(filter(None, (kind, source, metric))), {}).get("value")
            ),
            sources if len(sources) > 1 else [],
        )
    assert by_inspect == by_lm_eval
    verification.verify(folder)


def test_the_group_of_a_task_type_asks_its_kinds_and_what_they_are_compared_with(tmp_path: Path) -> None:
    folder = of_edits(tmp_path)
    benchmark = BenchmarkFolder(folder / "harness")
    items = benchmark.select("answer_changes")
    right = {item["prompt"]: json.dumps({"answers": item["answers"]}) for item in items}
    with stub_model(tmp_path, right) as address:
        results = results_of_lm_eval(folder, "askew_films_value_change", address, tmp_path)
    assert asked(tmp_path) == sorted(prompt.strip() for prompt in right)
    assert results["askew_films_answer_changes"]["r_acc,none"] == 1.0
    samples = [json.loads(line) for line in next((tmp_path / "out").rglob("samples_*")).open("rb")]
    assert [sample["accuracy"] for sample in samples] == [1.0] * len(items), "other tools read numbers"


def _defined(value: Any) -> float | None:
    return None if not isinstance(value, int | float) or value != value else value


def test_the_loader_of_inspect_reads_eval_yaml_with_the_download_replaced_by_the_release(
    tmp_path: Path,
) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    program = """
import pathlib, sys
import datasets, huggingface_hub
from inspect_ai._eval.task import hf
folder = pathlib.Path(sys.argv[1])
huggingface_hub.hf_hub_download = lambda filename, **_: str(folder / filename)
load = datasets.load_dataset
datasets.load_dataset = lambda path, name=None, split=None, **_: load(str(folder), name, split=split)
(task,) = hf.task_create_from_hf("hf/someone/films")
print(len(task.dataset), task.dataset[0].target, sep="\\n")
"""
    (tmp_path / "program.py").write_text(program, "utf-8")
    python = environment("inspect") / "python"
    done = subprocess.run(
        [str(python), str(tmp_path / "program.py"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    items = (folder / "harness/items/one_answer.jsonl").read_text("utf-8").splitlines()
    assert done.stdout.splitlines()[-2:] == [str(len(items)), json.loads(items[0])["target"]]
