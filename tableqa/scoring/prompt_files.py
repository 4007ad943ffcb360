"""Files of prompts and of what models answered to them: JSON Lines, one prompt a line, with the right answers.

    torr_prompts(dataset, examples, pool)        ToRR's 35 configurations of each example
    suc_prompts(dataset, tables)                 SUC's seven tasks about each table, in every design
    sap_first(dataset, examples)                 self-augmented prompting, the first requests
    sap_second(dataset, examples, replies)       ... and the second ones, beside the plain ones

Every prompt has an "id" of its own, "design" (torr, suc, sap_first, sap), "dataset", "prompt" and the answers; a file of
predictions has {"id", "prediction"} a line. Nothing is sent anywhere. `score_torr` and `score_suc` put the two together.

Sources: Ashury-Tahan et al. (2025), ToRR. Sui et al. (2024), SUC, sections 3 to 5.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tableqa.core.canonical_json import digest
from tableqa.core.json_text import read_json
from tableqa.data.answers import gold_record
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.scoring.structural_tasks import BASELINE, STRUCTURAL_TASKS, Design, NotApplicable, build, designs
from tableqa.scoring.structural_tasks.questions import StructuralItem, is_accepted
from tableqa.scoring.structural_tasks.self_augmentation import REQUESTS, first, second
from tableqa.scoring.torr_scores import SCORES, ModelScores
from tableqa.serialisations import SUC, torr
from tableqa.statistics.proportions import Proportion, proportion
from tableqa.writers.report_tables import Sheet, listed

PLAIN = "plain"
MERGED = "merged_cell_detection"
Record = dict[str, Any]
Predictions = Mapping[str, str]
"""What a model wrote, by the id of the prompt."""


class PromptError(ValueError):
    """A file of prompts or predictions that cannot be read, or that do not fit; the message names file, line or id."""


# -- making prompts -----------------------------------------------------------------------------------


def torr_prompts(
    dataset: str,
    examples: Iterable[Example],
    pool: Sequence[Example],
    *,
    k: int = torr.DEMONSTRATIONS,
    seed: int = torr.SEED,
    instruction: str = torr.INSTRUCTION,
    configurations: Sequence[torr.Configuration] = torr.CONFIGURATIONS,
) -> Iterator[Record]:
    """The prompts of each example in every configuration (`tableqa.serialisations.torr.prompts`), one at a time."""
    for example in examples:
        for prompt in torr.prompts(example, pool, k, seed, instruction, configurations):
            yield {
                "id": f"{dataset}/{example.id}/{prompt.configuration.name}",
                "design": "torr",
                "dataset": dataset,
                "example": example.id,
                "configuration": prompt.configuration.name,
                "prompt": prompt.text,
                **gold_record(prompt.answers),
                "demonstrations": list(prompt.demonstrations),
                "is_noop": prompt.is_noop,
                "reason": prompt.reason,
                "left_out": list(prompt.left_out),
            }


def unitxt_record(record: Mapping[str, Any], metric: str) -> Record:
    """A prompt of ToRR as an instance that unitxt evaluates: `unitxt.evaluate(predictions, dataset=[...])`.

    `metric` is a name of unitxt's catalog, such as metrics.accuracy; serialisation and perturbation are groups of scores.
    """
    answers = record["answers"]
    serialisation, _, perturbation = record["configuration"].partition("/")
    groups = [{"serialisation": serialisation}, {"perturbation": perturbation}]
    return {
        "source": record["prompt"],
        "target": answers[0] if answers else "",
        "references": answers,
        "metrics": [metric],
        "groups": [json.dumps(group, ensure_ascii=False) for group in groups],
        "subset": [record["dataset"]],
        "media": {"images": [], "audios": []},
        "postprocessors": ["processors.to_string_stripped"],
        "task_data": json.dumps({"id": record["id"], "reference_answers": answers}, ensure_ascii=False),
        "data_classification_policy": [],
    }


def variants(baseline: Design = BASELINE, formats: Sequence[str] = SUC) -> dict[str, Design]:
    """The baseline, then each other serialisation, then each switch turned over: each differs from it in one thing."""
    other = {
        name: replace(baseline, serialisation=name) for name in formats if name != baseline.serialisation
    }
    turned = designs(baseline)
    return {"baseline": turned.pop("baseline"), **other, **turned}


def suc_prompts(
    dataset: str,
    tables: Sequence[tuple[str, Table]],
    *,
    seed: int = 33,
    left_out: Callable[[str, str, str], None] = lambda table, task, why: None,
) -> Iterator[Record]:
    """SUC's seven tasks about every table (with what to call it), in each of the designs (`variants`).

    The solved item of one_shot is the same task about the next table. `left_out` hears of tasks that a table has nothing
    for. The size of the table is not asked for in a design that says it.
    """
    among = variants()
    has_shot = any(design.one_shot for design in among.values())
    for index, (name, table) in enumerate(tables):
        for task in STRUCTURAL_TASKS.values():
            try:
                task(table, seed)
            except NotApplicable as why:
                left_out(name, task.name, str(why))
                continue
            solved = _solved(task.name, tables, index, seed) if has_shot else None
            for variant, design in among.items():
                if (design.table_size and task.name == "size_detection") or (
                    design.one_shot and solved is None
                ):
                    continue
                item = task(table, seed, design, solved)
                yield {
                    "id": f"{dataset}/{name}/{task.name}/{variant}",
                    "design": "suc",
                    "dataset": dataset,
                    "table": name,
                    "task": task.name,
                    "variant": variant,
                    "switches": asdict(design),
                    "prompt": item.text,
                    "messages": item.prompt.messages(),
                    "answers": list(item.accepted),
                    "hidden": _hidden(item),
                }


def _solved(task: str, tables: Sequence[tuple[str, Table]], index: int, seed: int) -> StructuralItem | None:
    """The same task about the next table that has one; None if there is none but this."""
    digest = tables[index][1].digest()
    for step in range(1, len(tables)):
        _, table = tables[(index + step) % len(tables)]
        if table.digest() == digest:
            continue
        try:
            return STRUCTURAL_TASKS[task](table, seed)
        except NotApplicable:
            continue
    return None


def _hidden(item: StructuralItem) -> bool:
    """Whether the text does not tell the right answer: merged cells are asked for, and the form has no place for them."""
    return item.task == MERGED and any("merged" in part for part in item.not_shown)


def sap_first(dataset: str, examples: Iterable[Example]) -> Iterator[Record]:
    """The first requests of self-augmented prompting: one for each table and kind, whatever is asked about the table."""
    done = set()
    for example in examples:
        key = _sap_table(example)
        if key in done:
            continue
        done.add(key)
        for kind in REQUESTS:
            prompt = first(example.table, kind, text=_text(example))
            yield {
                "id": f"{dataset}/{key}/{kind}",
                "design": "sap_first",
                "dataset": dataset,
                "kind": kind,
                "prompt": prompt.text,
                "messages": prompt.messages(),
            }


def sap_second(dataset: str, examples: Iterable[Example], replies: Predictions) -> Iterator[Record]:
    """The second requests, the question of each example with the model's own reply before it; and the plain prompt first.

    PromptError where a reply is missing or empty: without it the prompt would be the plain one under another name.
    """
    for example in examples:
        request = f"Question: {example.question}"
        text = _text(example)
        prompts = {PLAIN: build(example.table, request, text=text)}
        for kind in REQUESTS:
            reply_id = f"{dataset}/{_sap_table(example)}/{kind}"
            if not replies.get(reply_id, "").strip():
                raise PromptError(
                    f"There is no reply to {reply_id}: send the first requests to the model first."
                )
            prompts[kind] = second(example.table, request, kind, replies[reply_id], text=text)
        for variant, prompt in prompts.items():
            yield {
                "id": f"{dataset}/{example.id}/question/{variant}",
                "design": "sap",
                "dataset": dataset,
                "example": example.id,
                "task": "question",
                "variant": variant,
                "prompt": prompt.text,
                "messages": prompt.messages(),
                **gold_record(example.answers),
            }


def _sap_table(example: Example) -> str:
    """What the first requests call a table with the text beside it."""
    return digest([example.table.digest(), _text(example)])[:16]


def _text(example: Example) -> str:
    return example.context.text if example.context else ""


# -- reading ------------------------------------------------------------------------------------------


def read_prompts(path: Path) -> Iterator[Record]:
    """The prompts of a file, one at a time. PromptError naming the line."""
    needed = ("id", "design", "dataset", "prompt")
    for where, record in _lines(path):
        if missing := [name for name in needed if not isinstance(record.get(name), str)]:
            raise PromptError(f"{where}: the prompt lacks {', '.join(missing)}")
        yield record


def read_predictions(path: Path) -> dict[str, str]:
    """What a model wrote, by the id of the prompt: {"id", "prediction"} a line; the last for an id counts. PromptError."""
    predictions = {}
    for where, record in _lines(path):
        prediction = record.get("prediction")
        if not isinstance(record.get("id"), str) or not isinstance(prediction, str):
            raise PromptError(f'{where}: {{"id", "prediction"}} are expected, both texts')
        predictions[record["id"]] = prediction
    return predictions


def _lines(path: Path) -> Iterator[tuple[str, Record]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for line_number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                where = f"{path.name}, line {line_number}"
                try:
                    record = read_json(line)
                except ValueError as error:
                    raise PromptError(f"{where}: not JSON ({error})") from None
                if not isinstance(record, dict):
                    raise PromptError(f"{where}: an object is expected")
                yield where, record
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path} cannot be read: {error}") from None


# -- scoring ------------------------------------------------------------------------------------------


def score_torr(
    prompts: Iterable[Mapping[str, Any]],
    predictions: Mapping[str, Predictions],
    score: Callable[[str], str],
) -> tuple[dict[str, ModelScores], dict[str, dict[str, frozenset[str]]]]:
    """The scores of each model by dataset, example and configuration, and the perturbations that did nothing.

    `score` names for a dataset one of `tableqa.scoring.torr_scores.SCORES`. PromptError where a prediction is missing.
    """
    scores: dict[str, dict[str, dict[str, dict[str, float]]]] = {name: {} for name in predictions}
    noops: dict[str, dict[str, set[str]]] = {}
    for prompt in prompts:
        dataset, example, configuration = prompt["dataset"], prompt["example"], prompt["configuration"]
        if prompt["is_noop"]:
            noops.setdefault(dataset, {}).setdefault(example, set()).add(configuration)
        for name, replies in predictions.items():
            reply, chosen = _reply_to(replies, prompt, name), score(dataset)
            value = max(_score(chosen, reply, tuple(form)) for form in _forms(prompt))
            scores[name].setdefault(dataset, {}).setdefault(example, {})[configuration] = value
    frozen = {
        dataset: {example: frozenset(names) for example, names in of.items()} for dataset, of in noops.items()
    }
    return dict(scores), frozen


def _forms(prompt: Mapping[str, Any]) -> list[Sequence[str]]:
    """The accepted forms of the answers to a prompt."""
    return [prompt["answers"], *prompt.get("alternatives", ())]


@lru_cache(maxsize=4096)  # a model says the same in many of an example's 35 configurations
def _score(name: str, prediction: str, answers: tuple[str, ...]) -> float:
    return SCORES[name](prediction, answers)


@dataclass(frozen=True)
class TaskScore:
    """How often a model is right in one task and design, and how it compares with the baseline on the same items.

    accuracy  share of right answers with Wilson's interval
    hidden    items that were left out: the text does not contain the answer
    change    share here minus the share of the baseline, over the items that both have; None for the baseline itself
    """

    model: str
    task: str
    variant: str
    accuracy: Proportion
    hidden: int
    change: float | None


def score_suc(
    prompts: Iterable[Mapping[str, Any]], predictions: Mapping[str, Predictions]
) -> list[TaskScore]:
    """Accuracy per model, task and design, in the order of the prompts. PromptError where a prediction is missing."""
    right: dict[tuple[str, str, str], dict[str, bool]] = {}
    hidden: dict[tuple[str, str, str], int] = {}
    base = "baseline"
    for prompt in prompts:
        item = f"{prompt['dataset']}/{prompt.get('table', prompt.get('example'))}"
        if prompt["design"] == "sap":
            base = PLAIN
        for name, replies in predictions.items():
            key = name, prompt["task"], prompt["variant"]
            answer = _reply_to(replies, prompt, name)
            if prompt.get("hidden"):
                hidden[key] = hidden.get(key, 0) + 1
                right.setdefault(key, {})
            elif prompt["design"] == "sap":
                right.setdefault(key, {})[item] = any(
                    SCORES["exact"](answer, form) for form in _forms(prompt)
                )
            else:
                right.setdefault(key, {})[item] = is_accepted(answer, prompt["answers"])
    return [
        TaskScore(
            model=name,
            task=task,
            variant=variant,
            accuracy=proportion(sum(of.values()), len(of)),
            hidden=hidden.get((name, task, variant), 0),
            change=None if variant == base else _change(right.get((name, task, base), {}), of),
        )
        for (name, task, variant), of in right.items()
    ]


def _change(before: Mapping[str, bool], after: Mapping[str, bool]) -> float | None:
    both = before.keys() & after.keys()
    return sum(after[item] - before[item] for item in both) / len(both) if both else None


def _reply_to(predictions: Predictions, prompt: Mapping[str, Any], model: str) -> str:
    try:
        return predictions[prompt["id"]]
    except KeyError:
        raise PromptError(f"{model} has no prediction for {prompt['id']}") from None


def suc_sheets(scores: Sequence[TaskScore]) -> Iterator[Sheet]:
    """For each model tasks down and designs across, accuracy in percent; then intervals and changes line by line."""
    for position, model in enumerate(dict.fromkeys(score.model for score in scores), start=1):
        of_model = {(score.task, score.variant): score for score in scores if score.model == model}
        columns = tuple(dict.fromkeys(variant for _, variant in of_model))
        tasks = tuple(dict.fromkeys(task for task, _ in of_model))
        rows = tuple(
            (
                task,
                *(
                    of_model[task, column].accuracy.percent if (task, column) in of_model else "–"
                    for column in columns
                ),
            )
            for task in tasks
        )
        if len(tasks) > 1:
            means = (
                _mean([of_model[key].accuracy for key in of_model if key[1] == column]) for column in columns
            )
            rows = (*rows, ("mean of the tasks", *means))
        title = f"{model}: accuracy per task and design"
        yield listed(f"tasks-{position}", title, ("task", *columns), rows)
        lines = tuple(
            (
                score.task,
                score.variant,
                score.accuracy.percent,
                score.accuracy.interval,
                f"{score.accuracy.hits} of {score.accuracy.n}",
                "" if score.change is None else f"{100 * score.change:+.1f}",
                str(score.hidden) if score.hidden else "",
            )
            for score in of_model.values()
        )
        header = (
            "task",
            "design",
            "accuracy",
            "95 % CI",
            "correct",
            "difference from baseline",
            "left out",
        )
        title = f"{model}: intervals, and what each design changes"
        yield listed(f"designs-{position}", title, header, lines, texts=2)


def _mean(shares: Sequence[Proportion]) -> str:
    values = [share.value for share in shares if share.value is not None]
    return f"{100 * sum(values) / len(values):.1f} %" if values else "–"
