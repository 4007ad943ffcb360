"""The runnable benchmark of a release in the format hf: what it contains, how it scores, and how it is verified."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from django.urls import reverse

from annotation.models import Example, Release
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, runnable_benchmark, verification
from annotation.releases.model_evaluation import queries
from annotation.workflow import perturbation_runs
from tableqa.core.canonical_json import canonical
from tableqa.core.release_rules import RULES
from tableqa.data.answers import compare
from tableqa.releases import release_records
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import MANIFEST
from tableqa.releases.verification import describe
from tableqa.scoring.benchmark_folder import ABOVE_OF, ANSWERS, BenchmarkFolder, Item, key_of, metrics_of
from tableqa.scoring.evaluation import MACRO, figures
from tableqa.scoring.matching import MATCHES
from tableqa.writers import harness
from tests.annotation.cast import NOON, make_world
from tests.annotation.test_files_of_sources import two_sources_of_one_reader
from tests.annotation.test_mixing import perturbed_thrice
from tests.annotation.test_release_forms import LATER
from tests.tableqa.test_answers import DIFFERENT, PUBLISHED_CASES, SAME

pytestmark = pytest.mark.django_db(transaction=True)


def release(world: Any, out: Path, **options: Any) -> Path:
    creation.make_release(
        project=world.project, name=out.name, format="hf", by=None, now=LATER, out=out, **options
    )
    return out


def edited(folder: Path) -> Any:
    """A project with edits of people and automatic perturbations."""
    world = make_world(folder)
    perturbed_thrice(world)
    run = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle", "transpose"], seeds=[1, 2], now=NOON
    )
    perturbation_runs.perform(run)
    return world


def replies_to(items: list[Item]) -> list[str]:
    """Right, wrong and unreadable replies in several forms, one for each item."""
    replies = []
    for position, item in enumerate(items):
        forms = [
            json.dumps({"answers": item["answers"]}),
            json.dumps({"answers": [f"{answer.upper()} " for answer in item["answers"]]}),
            json.dumps({"answers": ["wrong"]}),
            f"<think>hm</think> {json.dumps(list(item['answers']))}",
            "no list",
        ]
        replies.append(forms[position * 7 % 5])
    return replies


@pytest.mark.parametrize("project", [edited, two_sources_of_one_reader])
def test_a_release_has_the_items_of_an_evaluation_and_their_figures(
    tmp_path: Path, project: Callable[[Path], Any]
) -> None:
    folder = release(project(tmp_path), tmp_path / "hf")
    verification.verify(folder)
    benchmark = BenchmarkFolder(folder / "harness")
    instances = [instance for instance, _ in queries.instances(queries.load(folder))]
    assert {(instance.source, instance.id) for instance in instances} == benchmark.items.keys()
    replies = dict(zip(benchmark.items, replies_to(list(benchmark.items.values())), strict=True))
    predictions = {key: ANSWERS["json"](reply) for key, reply in replies.items()}
    right = {key: benchmark.is_right(benchmark.items[key], reply) for key, reply in replies.items()}
    rows = figures(queries.judge_instances((instances, 0), predictions), replicates=10).rows
    sources = benchmark.facts["sources"]
    compared = 0
    for row in rows:
        if row.source == MACRO or row.source in sources:
            values = benchmark.values(right, row.kind, row.source if row.source in sources else "")
            for metric, figure in ABOVE_OF.items():
                if metric in metrics_of(row.kind):
                    compared += 1
                    value = getattr(row, figure).value
                    assert values.get(metric) == (None if value is None else pytest.approx(value, abs=1e-9))
    assert compared > 5


def test_the_scoring_of_a_release_needs_the_standard_library_alone_and_equals_that_of_the_library(
    tmp_path: Path,
) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    pairs = [(list(predicted), list(gold)) for predicted, gold, _ in PUBLISHED_CASES]
    pairs += [([predicted], [gold]) for predicted, gold, _ in (*SAME, *DIFFERENT)]
    benchmark = BenchmarkFolder(folder / "harness")
    items = [*benchmark.items.values()] * (200 // len(benchmark.items) + 1)
    keyed_replies = [[*key_of(item), reply] for item, reply in zip(items, replies_to(items), strict=True)][
        :200
    ]
    program = """
import importlib, importlib.machinery, importlib.util, json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
spec = importlib.machinery.ModuleSpec("copy", None, is_package=True)
spec.submodule_search_locations = [str(folder / "library")]
sys.modules["copy_of_release"] = importlib.util.module_from_spec(spec)
before = set(sys.modules)
module = importlib.import_module("copy_of_release.scoring.benchmark_folder")
answers = importlib.import_module("copy_of_release.data.answers")
benchmark = module.BenchmarkFolder(folder)
pairs, replies = json.load(sys.stdin)
same = [str(answers.compare(*pair)) for pair in pairs]
right = [
    benchmark.is_right(benchmark.items[source, id], reply, design, match)
    for source, id, reply in replies for design in module.ANSWERS for match in module.MATCHES
]
values = benchmark.values({(source, id): True for source, id, _ in replies}, "transpose")
foreign = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(json.dumps([same, right, values, sorted(foreign)]))
""".replace('"copy"', '"copy_of_release"')
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(folder / "harness")],
        input=json.dumps([pairs, keyed_replies]),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    same, right, values, foreign = json.loads(done.stdout)
    assert foreign == ["copy_of_release"]
    assert same == [str(compare(*pair)) for pair in pairs]
    assert right == [
        benchmark.is_right(benchmark.items[source, id], reply, design, match)
        for source, id, reply in keyed_replies
        for design in ANSWERS
        for match in MATCHES
    ]
    assert {True, False} == set(right)
    assert values == benchmark.values({(source, id): True for source, id, _ in keyed_replies}, "transpose")


def loaded_yaml(folder: Path) -> dict[str, dict[str, Any]]:
    """The tasks and groups of lm-evaluation-harness by their names."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: str(node.value))
    paths = (folder / "harness/lm_eval").glob("*.yaml")
    return {path.stem: yaml.load(path.read_text("utf-8"), Loader) for path in paths}


def tasks_of(folder: Path) -> tuple[dict[str, dict[str, Any]], Any]:
    """The tasks of lm-evaluation-harness by their kinds, and the module of their functions, with a stand-in for datasets."""
    loaded = loaded_yaml(folder)
    group = loaded["askew_films"]
    assert set(group["task"]) == {
        name for name, task in loaded.items() if "task" in task and "group" not in task
    }
    spec = importlib.util.spec_from_file_location("functions", folder / "harness/lm_eval/functions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    datasets: Any = types.ModuleType("datasets")
    datasets.Dataset = types.SimpleNamespace(from_list=list)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "datasets", datasets)
        spec.loader.exec_module(module)
    return {loaded[name]["metadata"]["kind"]: loaded[name] for name in group["task"]}, module


def test_every_configuration_of_examples_has_a_task_or_a_group_of_its_perturbations(tmp_path: Path) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    loaded = loaded_yaml(folder)
    configurations = {path.name for path in (folder / "data").iterdir()} - {"responses", "decisions"}
    assert loaded.keys() == {"askew_films", *(f"askew_films_{name}" for name in configurations)}
    for name, task in loaded.items():
        assert task.get("group", task["task"]) == name
    assert loaded["askew_films_value_change"]["task"] == ["askew_films_answer_changes"]
    assert loaded["askew_films_question_paraphrase"]["task"] == ["askew_films_sentence"]


@pytest.mark.parametrize("is_backwards", [False, True])
def test_tasks_of_one_run_ask_every_item_once_and_pair_the_results_of_all(
    tmp_path: Path, is_backwards: bool
) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    tasks, module = tasks_of(folder)
    benchmark = BenchmarkFolder(folder / "harness")
    assert list(tasks) == benchmark.facts["kinds"]
    kinds = list(tasks)[::-1] if is_backwards else list(tasks)
    for _ in range(2):  # a second run of one process starts anew
        documents = {kind: module.load(**tasks[kind]["metadata"])["test"] for kind in kinds}
        asked = [(doc["source"], doc["id"]) for docs in documents.values() for doc in docs]
        assert set(asked) == benchmark.items.keys()
        assert len(asked) == len(set(asked)) + is_backwards, (
            "the last task needs one document to be a task at all"
        )
        right: dict[Any, bool] = {}
        entries: dict[str, dict[str, list[Any]]] = {}
        for kind, docs in documents.items():
            items = [benchmark.items[doc["source"], doc["id"]] for doc in docs]
            for doc, item in zip(docs, items, strict=True):
                assert (doc["prompt"], doc["instruction"]) == (item["prompt"], benchmark.instruction())
                reply = replies_to([*benchmark.items.values()])[list(benchmark.items).index(key_of(item))]
                right[key_of(item)] = benchmark.is_right(item, reply)
                for metric, entry in module.process_results(doc, [reply]).items():
                    assert json.dumps(entry) == json.dumps(float(right[key_of(item)])), "logs have numbers"
                    entries.setdefault(kind, {}).setdefault(metric, []).append(entry)
        for kind, of_kind in entries.items():
            declared = {metric["metric"]: metric["aggregation"] for metric in tasks[kind]["metric_list"]}
            assert declared.keys() == of_kind.keys()
            computed = {
                name: getattr(module, function.partition(".")[2])(of_kind[name])
                for name, function in declared.items()
            }
            assert computed == pytest.approx(benchmark.values(right, kind))


def test_several_processes_are_refused_because_pairs_would_be_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, module = tasks_of(release(edited(tmp_path), tmp_path / "hf"))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="data parallelism"):
        module.load(**tasks["transpose"]["metadata"])


def test_names_of_the_project_are_in_no_code_and_eval_yaml_names_items_with_one_answer(
    tmp_path: Path,
) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    for path in folder.rglob("*.py"):
        ast.parse(path.read_text("utf-8"))
        assert "films" not in path.read_text("utf-8")
    evaluation = yaml.safe_load((folder / "eval.yaml").read_text("utf-8"))
    (task,) = evaluation["tasks"]
    assert "stricter" in evaluation["description"]
    assert [scorer["name"] for scorer in task["scorers"]] == ["exact"]
    header = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    card = (folder / "README.md").read_text("utf-8")
    assert "harness/inspect_task.py" in card
    assert "no task" not in card
    (config,) = [config for config in header["configs"] if config["config_name"] == task["config"]]
    (file,) = config["data_files"]
    assert file["split"] == task["split"]
    lines = [json.loads(line) for line in (folder / file["path"]).read_text("utf-8").splitlines()]
    assert lines
    assert all(line[task["field_spec"]["target"]] == line["answers"][0] for line in lines)


def forged(folder: Path) -> None:
    """Describe the files in the manifest as they are now, as someone who changes a release would."""
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["files"] = describe(folder)
    (folder / MANIFEST).write_text(canonical(manifest) + "\n", "utf-8")


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("harness/library/data/answers.py", "append"),
        ("harness/inspect_task.py", "append"),
        ("harness/lm_eval/functions.py", "delete"),
        ("harness/library/more.py", "append"),
        ("harness/library/scoring/__pycache__/pairs.cpython-311.pyc", "append"),
        ("harness/facts.json", "append"),
        ("harness/items/one_answer.jsonl", "append"),
        ("eval.yaml", "append"),
    ],
)
def test_a_changed_file_is_found_and_no_code_of_a_release_is_run(
    tmp_path: Path, path: str, change: str
) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    marker = tmp_path / "was_run"
    file = folder / path
    if change == "delete":
        file.unlink()
    else:
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(f"open({str(marker)!r}, 'w')\n")
    forged(folder)
    with pytest.raises(Difference, match=path.rpartition("/")[2]):
        verification.verify(folder)
    assert not marker.exists()


def test_compiled_code_of_a_run_is_named_with_the_remedy(tmp_path: Path) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    compiled = folder / "harness/lm_eval/__pycache__/functions.cpython-311.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"compiled")
    with pytest.raises(Difference, match="delete it"):
        verification.verify(folder)


def test_the_digest_of_the_code_is_recorded_for_the_rules() -> None:
    recorded, current = harness.recorded_digests(), harness.digest(harness.code())
    assert recorded[RULES] == current, (
        f'The code of releases changed. Raise RULES if a version of Askew was released, and write "{RULES}": "{current}" '
        "into tableqa/writers/harness/code_digests.json."
    )
    assert set(recorded) == set(range(release_records.RULES_OF_HISTORY, RULES + 1))


def test_a_release_of_earlier_rules_verifies_after_the_code_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    code = harness.code()
    monkeypatch.setattr(runnable_benchmark, "RULES", RULES + 1)
    monkeypatch.setattr(harness, "code", lambda: {name: data + b"# later\n" for name, data in code.items()})
    verification.verify(folder)
    with (folder / "harness/inspect_task.py").open("a") as file:
        file.write("# forged\n")
    forged(folder)
    with pytest.raises(Difference, match=f"rules {RULES}"):
        verification.verify(folder)


def test_a_release_without_gold_answers_has_no_task(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    with immutable_rows.writable():
        Example.objects.update(answers=[])
    perturbed = perturbation_runs.plan_run(project=world.project, kinds=["transpose"], seeds=[1], now=NOON)
    perturbation_runs.perform(perturbed)
    folder = release(world, tmp_path / "hf")
    verification.verify(folder)
    assert not (folder / "harness").exists()
    assert not (folder / "eval.yaml").exists()
    card = (folder / "README.md").read_text("utf-8")
    assert "This release has no task for evaluation harnesses" in card
    assert "inspect_task.py" not in card


def test_demonstrations_come_from_a_named_split_and_are_no_test_items(tmp_path: Path) -> None:
    world = two_sources_of_one_reader(tmp_path)
    source = world.project.sources.get(name="sqa")
    with immutable_rows.writable():
        type(source).objects.filter(pk=source.pk).update(split="train")
    prompts = {"design": "plain", "serialisation": "html", "demonstrations": "train"}
    folder = release(world, tmp_path / "hf", prompts=prompts)
    verification.verify(folder)
    assert json.loads((folder / MANIFEST).read_text("utf-8"))["prompts"] == prompts
    benchmark = BenchmarkFolder(folder / "harness")
    assert {item["source"] for item in benchmark.demonstrations} == {"sqa"}
    assert "sqa" not in benchmark.facts["sources"]
    shots = benchmark.shots(2)
    assert len({key_of(shot) for shot in shots}) == 2
    assert "<table>" in shots[0]["prompt"]
    with pytest.raises(ValueError, match="demonstrations"):
        benchmark.shots(100)
    tasks, module = tasks_of(folder)
    assert tasks["transpose"]["fewshot_split"] == "demonstrations"
    documents = module.load(**tasks["transpose"]["metadata"])
    assert documents["demonstrations"][0]["target"] == "|".join(benchmark.demonstrations[0]["answers"])


@pytest.mark.parametrize("way", ["page", "api"])
def test_page_and_api_offer_how_prompts_are_written(tmp_path: Path, way: str) -> None:
    world = make_world(tmp_path)
    client = Client()
    client.force_login(world.rea)
    prompts = {"design": "plain", "serialisation": "html", "demonstrations": "train"}
    if way == "page":
        client.post(reverse("releases", args=["films"]), {"name": "1.0", "format": ["hf"], **prompts})
    else:
        content = {"name": "1.0", "format": "hf", "prompts": prompts}
        client.post("/api/projects/films/releases/", content, content_type="application/json")

    assert Release.objects.get().manifest["prompts"] == prompts
    page = client.get(reverse("releases", args=["films"])).content.decode()
    assert '<option value="html" selected>' in page, "the next release begins with the options of the last"


def test_the_page_writes_no_prompts_for_a_format_without_them(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    client = Client()
    client.force_login(world.rea)
    client.post(reverse("releases", args=["films"]), {"name": "1.0", "format": ["askew"], "design": "plain"})

    assert "prompts" not in Release.objects.get().manifest


def test_without_a_split_for_demonstrations_only_zero_shot_is_offered(tmp_path: Path) -> None:
    folder = release(edited(tmp_path), tmp_path / "hf")
    tasks, _ = tasks_of(folder)
    assert {task["num_fewshot"] for task in tasks.values()} == {0}
    with pytest.raises(ValueError, match="this release has 0"):
        BenchmarkFolder(folder / "harness").shots(1)


@pytest.mark.parametrize(
    ("format", "prompts"),
    [
        ("hf", {"design": "poem"}),
        ("hf", {"serialisation": "smoke"}),
        ("hf", {"colour": "red"}),
        ("hf", {"demonstrations": "tr\0ain"}),
        ("askew", {"design": "plain"}),
    ],
)
def test_prompts_that_no_release_can_have_are_refused(
    tmp_path: Path, format: str, prompts: dict[str, str]
) -> None:
    world = make_world(tmp_path)
    with pytest.raises(ActionRefused):
        creation.plan_release(
            project=world.project, name="v1", format=format, by=None, now=LATER, prompts=prompts
        )
