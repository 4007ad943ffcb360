"""Checks of the raw records of a release: responses, decisions and tries follow again from what they rest on."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from annotation.quality import compared_responses
from annotation.releases.benchmark_files import TRIES
from annotation.releases.raw_records import Raw
from tableqa.core.canonical_json import canonical
from tableqa.core.release_rules import under, version
from tableqa.data.answers import alternatives_of
from tableqa.releases.former_wordings import is_wording
from tableqa.releases.record_files import Difference, records
from tableqa.releases.verification import check_references, check_replay
from tableqa.scoring import verdicts
from tasks.contract import Acceptance, Item, Resolution, TaskType, decision_rules

_RULES_OF_CONDITIONS = 8
_Result = TypeVar("_Result")


def by_rules_of_release(check: Callable[..., _Result], *args: Any) -> _Result:
    """Check a record by the rules of the release; one that is older than rules 8 may follow those before."""
    try:
        return check(*args)
    except Difference:
        if version() < _RULES_OF_CONDITIONS:
            raise
        with under(_RULES_OF_CONDITIONS - 1), suppress(Difference):
            return check(*args)
        raise


def check_annotation(raw: Raw, record: Mapping[str, Any]) -> None:
    """A response is in the form and within the contract of its task type."""
    unmet = record.get("unmet", ["-"])
    if not isinstance(unmet, list) or not unmet or not all(isinstance(code, str) for code in unmet):
        raise Difference(f"annotations.jsonl: {record['id']}: 'unmet' is not a list of codes")
    flags = {name: record.get(name, True) for name in ("simulated", "external", "sent_back", "way_back")}
    for name, flag in {**flags, "added": record["place"]["added"]}.items():
        if not isinstance(flag, bool):
            raise Difference(f"annotations.jsonl: {record['id']}: {name!r} is neither true nor false")
    if record.get("unsure", True) is not True:
        raise Difference(f"annotations.jsonl: {record['id']}: 'unsure' is not true")
    if record["response"] is None:
        if "unsure" in record:
            raise Difference(f"annotations.jsonl: {record['id']} has 'unsure' and no response")
        if "unmet" in record:
            raise Difference(f"annotations.jsonl: {record['id']} has 'unmet' and no response")
        return
    task, item = raw.item(record)
    try:
        again = task.envelope(task.read(record["response"], item), item)
    except ValueError as error:
        raise Difference(f"annotations.jsonl: {record['id']}: {error}") from None
    except Exception as error:
        raise Difference(f"annotations.jsonl: {record['id']} breaks its contract: {error}") from None
    if canonical(again) != canonical(_upgraded(task, record["response"])):
        raise Difference(f"annotations.jsonl: {record['id']}: the stored response is not in canonical form")


def _upgraded(task: TaskType, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A stored response in the kind's present version; what an older one did not know is what `upgrade` says."""
    return {**stored, "version": task.version, "data": compared_responses.current_data(task, stored)}


def check_decision(raw: Raw, decision: Mapping[str, Any], waived: AbstractSet[str]) -> int:
    """A decision follows from its annotations, and its examples are made again. Returns the number of these examples."""
    annotations = raw.by_id
    where = f"decisions.jsonl: item {decision['item']}"
    task, item = raw.item(decision)
    if (decision["kind"] == "accepted") != bool(decision["outcomes"]):
        raise Difference(f"{where}: it is {decision['kind']} and has {len(decision['outcomes'])} outcomes")
    check_references(raw, decision)
    replayed = 0
    supports = []
    for outcome in decision["outcomes"]:
        by_rule = partial(decision_rules.resolve, task, decision.get("rule", {}))
        decide = by_rule if decision["by"] == "resolve" else task.resolve_adjudicated
        if outcome["id"] in waived:
            response = task.restore(outcome["response"]["data"])
        else:
            response = _outcome(task, item, outcome, annotations, where, decide)
        supports.append(set(outcome["annotations"]))
        perturbed, example = task.perturb(item, response), outcome["example"]
        if (perturbed is None) != (example is None):
            raise Difference(
                f"{where}: the outcome {'makes no' if perturbed is None else 'makes an'} example"
            )
        if perturbed is None or example is None:
            continue
        stored = check_replay(raw, decision, example)
        for what, is_now, claimed in (
            ("table", perturbed.example.table.digest(), example["digest"]),
            ("question", perturbed.example.question, example["question"]),
            ("answers", list(perturbed.example.answers), example["answers"]),
            ("alternatives", alternatives_of(perturbed.example.answers), alternatives_of(stored.answers)),
            ("parent", decision["example"], example["parent"]),
            ("perturbation", item.variant or task.key, example["perturbation"]),
        ):
            if is_now != claimed:
                raise Difference(
                    f"{where}: the {what} of {example['id']} is {is_now!r}, the record says {claimed!r}"
                )
        replayed += 1
    if decision["by"] == "resolve":
        _check_resolution(raw, decision, task, item, supports, where)
    return replayed


def _outcome(
    task: TaskType,
    item: Item,
    outcome: Mapping[str, Any],
    annotations: Mapping[str, Mapping[str, Any]],
    where: str,
    decide: Callable[[Sequence[Any], Item], Resolution],
) -> Any:
    """The response of an outcome: what its annotations say, or what the kind makes of them, or a person's own."""
    stored = outcome["response"]
    try:
        supports = [annotations[id]["response"] for id in outcome["annotations"] if id in annotations]
        if supports and any(response != stored for response in supports):
            merged = decide([task.read(response, item) for response in supports], item)
            outcomes = merged.outcomes if isinstance(merged, Acceptance) else ()
            if [task.envelope(merged_outcome.response, item) for merged_outcome in outcomes] != [
                _upgraded(task, stored)
            ]:
                id = next(id for id in outcome["annotations"] if annotations[id]["response"] != stored)
                raise Difference(f"{where}: annotation {id} differs from the outcome it supports")
            return outcomes[0].response
        return task.read(stored, item)
    except Difference:
        raise
    except Exception as error:
        raise Difference(f"{where}: an outcome breaks its contract: {error}") from None


def _check_resolution(
    raw: Raw, decision: Mapping[str, Any], task: TaskType, item: Item, supports: list[set[str]], where: str
) -> None:
    """What the decision's rule makes of the raw responses must be what was decided."""
    mine = [
        record
        for record in raw.annotations_of(decision["item"])
        if record["newest"] and record["response"] is not None
    ]
    mine.sort(key=lambda record: record["place"]["number"])
    responses = [compared_responses.restore_response(task, record["response"]) for record in mine]
    resolution = decision_rules.resolve(task, decision.get("rule", {}), responses, item)
    if not isinstance(resolution, Acceptance):
        raise Difference(f"{where}: the responses do not decide it ({resolution.reason})")
    again = [{mine[index]["id"] for index in outcome.by} for outcome in resolution.outcomes]
    if again != supports or not is_wording(decision["reason"], resolution.reason):
        raise Difference(f"{where}: the responses lead to another decision")


def check_tries(raw: Raw) -> None:
    """Every verdict follows again from the raw answers and the gold answers beside it.

    Whether a program agreed with the model is not in the files: a verdict that doubts the gold answer counts.
    """
    path = raw.folder / TRIES
    for record in records(path) if path.exists() else ():
        if record["annotation"] is not None and record["annotation"] not in raw.responses:
            raise Difference(f"{TRIES}: try {record['id']} is of an annotation that is in no record")
        for verdict in record["verdicts"]:
            by_rules_of_release(_check_verdict, record, verdict)


def _check_verdict(record: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
    computed = {
        name: verdicts.judge(
            record[name]["answers"],
            verdicts.gold_of(verdict["gold"], name),
            record[name]["text"],
            verdict["gold"].get("scale", ""),
        )
        if record[name] is not None and verdict["gold"][name]
        else None
        for name in ("original", "perturbed")
    }
    for name, judgement in computed.items():
        if (judgement.to_dict() if judgement else None) != verdict["judgements"][name]:
            raise Difference(f"{TRIES}: the verdict of try {record['id']} on the {name} answer differs")
    again = verdicts.verdict(computed["original"], computed["perturbed"], failed=bool(record["error"]))
    if verdict["verdict"] not in (again, "gold_suspect"):
        raise Difference(f"{TRIES}: try {record['id']} is {again} by its answers, not {verdict['verdict']}")
