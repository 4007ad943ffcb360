"""A model on a release: every example of its benchmark files put to it, and what its answers say.

Works on the raw records of a release folder, and needs no database. Predictions are kept in a file
of JSON Lines as they come; asking again continues where the file ends.

On the platform a run is a job of the kind "evaluate": who evaluated which model when, the file of its predictions with
its digest, and which instances it answers rightly (`annotation.releases.model_evaluation.runs`).
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

import tableqa
from annotation.queue import metered_models, metering, reply_states
from annotation.queue.conversations import TooManyUnusable, UnusableReplies
from annotation.queue.parallel_requests import Crew
from annotation.releases import benchmark_files, raw_records
from annotation.releases.file_ids import Benchmark
from predictor import client, load_bundled, prompts
from predictor.architectures import ModelError
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.client import PredictionError
from predictor.configuration import STOP_AFTER
from predictor.protocol import Prediction, PredictRequest, ProtocolError
from predictor.usage import QuestionMeter
from tableqa.data.answer_scales import scale_of
from tableqa.perturbations.mixes import MixedExample
from tableqa.perturbations.question_types import comparisons
from tableqa.releases import perturbation_records
from tableqa.releases.release_records import automatic_lines
from tableqa.scoring import harness_logs
from tableqa.scoring.evaluation import COMPARISON, Judgement, judge
from tableqa.scoring.matching import ORIGINAL, Instance, Match
from tableqa.scoring.predictions import EvaluationError, Predictions, answer_to
from tableqa.scoring.replies import read_answers

AT_ONCE = client.THREADS
"""Examples that a model is asked about at the same time."""
MEASURED = 5
"""Originals whose conversations are measured for an estimate."""
TRIES = 5
"""How often a model that does not answer is asked about one example."""
MIX = "mix"
"""The kind of examples that are composed of several perturbations (RobuT 3.1)."""

BUNDLED = "bundled"
"""The name of the model that comes with Askew."""

Ask = Callable[[tableqa.Example], Mapping[str, Any]]
"""What an example is put to: gives {"answers", "text", "model"}."""


def load(folder: Path, formats: Collection[str] = ()) -> Benchmark:
    """A release, or what some of its formats hold. Raises Difference where the folder is none, EvaluationError."""
    return Benchmark(raw_records.load(folder), formats)


def instances(benchmark: Benchmark) -> Iterator[tuple[Instance, tableqa.Example]]:
    """Originals, then automatic perturbations, what people made, and mixes of that; each with its example.

    These are the examples in the benchmark files.

    The baseline of what people made is the example that they made it of: a value change made on a short table is
    compared with that (FREB-TQA 5).
    """
    raw, of_question = benchmark.raw, dict[tuple[str, str], dict[str, Any]]()
    for identified, make in _identified(benchmark):
        question = identified.source, identified.question
        if question not in of_question:
            original = raw.example(*question) if question in raw.originals else None
            of_question[question] = {} if original is None else _shared_fields(original)
        example = make()
        yield replace(identified, answers=example.answers, **of_question[question]), example


def _identified(benchmark: Benchmark) -> Iterator[tuple[Instance, Callable[[], tableqa.Example]]]:
    """The instances without their answers, each with what makes its example: no perturbation is made again for them."""
    raw = benchmark.raw
    for source, id in raw.originals:
        if benchmark.holds(source, id):
            yield Instance(source, id, id, ORIGINAL, 0, id, ()), partial(raw.example, source, id)
    for line, original in automatic_lines(raw):
        source, id = line["source"], perturbation_records.id_of(line)
        if "digest" in line and benchmark.holds(source, id):
            instance = Instance(source, id, original.id, line["kind"], line["seed"], original.id, ())
            yield (
                instance,
                partial(lambda *of: perturbation_records.recreate(*of).perturbed.example, line, original),
            )
    for (source, id), record in raw.derived.items():
        if benchmark.holds(source, id):
            question = id
            while (source, question) in raw.derived:
                question = raw.derived[source, question]["parent"]
            instance = Instance(source, id, question, record["perturbation"], 0, record["parent"], ())
            yield instance, partial(raw.example, source, id)
    mixes = () if benchmark.mix is None else benchmark_files.compose_mixes(raw, benchmark.mix)
    for source, original, mixed in mixes:
        if isinstance(mixed, MixedExample):
            instance = Instance(source, mixed.example.id, original.id, MIX, 0, original.id, ())
            yield instance, partial(replace, mixed.example)


def _shared_fields(original: tableqa.Example) -> dict[str, Any]:
    """What all instances of a question have in common."""
    names = ("group", "sequence", "turn", "scale", "answer_type")
    return dict(zip(names, (group(original), *dialogue(original), *kind_of_answer(original)), strict=True))


def group(example: tableqa.Example) -> str:
    """`COMPARISON` where the question compares, else "".

    TAT-QA says so itself (`req_comparison`; FREB-TQA's files call it `rep_comparison`). Elsewhere a comparative or
    superlative in the question does, as in FREB-TQA's lexical rule.
    """
    for name in ("req_comparison", "rep_comparison"):
        if isinstance(compares := example.meta.get(name), bool):
            return COMPARISON if compares else ""
    return COMPARISON if comparisons(example.question) else ""


def kind_of_answer(example: tableqa.Example) -> tuple[str, str]:
    """The scale of an example's answers and what its source calls their kind, as TAT-QA does; "" for none."""
    answer_type = example.meta.get("answer_type")
    return scale_of(example), answer_type if isinstance(answer_type, str) else ""


def dialogue(example: tableqa.Example) -> tuple[str, int]:
    """The dialogue that a question belongs to and its turn, from 0; ("", 0) where it belongs to none.

    SQA knows a dialogue by its id and its annotator. Its positions need not begin at 0 nor be without holes, so a turn
    is counted by the history before it.
    """
    meta = example.meta
    if not all(name in meta for name in ("id", "annotator", "position")):
        return "", 0
    return f"{meta['id']}-{meta['annotator']}", len(example.history)


def count_pending(
    benchmark: Benchmark, predictions: Predictions, *, keep: Keep | None = None, chosen: Collection[str] = ()
) -> int:
    """How many instances have no prediction. Without `keep` no perturbation is made again, so that this is fast."""
    named: dict[Any, str] = {}
    return sum(
        answer_to(predictions, instance, named) is None
        for instance, make in _identified(benchmark)
        if (not chosen or instance.source in chosen) and (keep is None or keep(make()))
    )


def estimate(
    benchmark: Benchmark,
    predictor: str,
    predictions: Predictions,
    *,
    project: int | None,
    keep: Keep | None = None,
    chosen: Collection[str] = (),
) -> metering.Estimate | None:
    """What a language model would use for the instances without a prediction; None for a model that is none."""
    if not metered_models.is_language_model(predictor):
        return None
    entry = settings.PREDICTORS[predictor]
    requests = count_pending(benchmark, predictions, keep=keep, chosen=chosen)
    raw = benchmark.raw
    keys = [key for key in raw.originals if not chosen or key[0] in chosen]
    form = entry.get("serialisation", "")
    samples = [
        prompts.asking_for_answers(raw.example(*key), form)[0] for key in metering.sample(keys, MEASURED)
    ]
    return metering.estimate(predictor, samples, requests, project=project, purpose="evaluation")


Keep = Callable[[tableqa.Example], bool]
"""Which examples a model is asked about at all, as `tableqa.serialisations.token_lengths.Limit.fits` says (FREB-TQA 5)."""


def select_instances(
    benchmark: Benchmark,
    keep: Keep | None = None,
    *,
    chosen: Collection[str] = (),
    seen: Callable[[int], None] = lambda done: None,
) -> tuple[list[Instance], int]:
    """The instances that models are asked about, and how many were left out. For several models, once.

    `chosen` are the names of the sources to ask about; where there are none, all sources are asked about.

    `seen` receives the count so far, to show progress.
    """
    selected, left_out = [], 0
    for index, (instance, example) in enumerate(instances(benchmark)):
        seen(index)
        if chosen and instance.source not in chosen:
            continue
        if keep is None or keep(example):
            selected.append(instance)
        else:
            left_out += 1
    return selected, left_out


def write_instances(
    path: Path,
    benchmark: Benchmark,
    judgements: Mapping[str, Judgement],
    predictions: Mapping[str, Predictions],
    *,
    name: str,
    match: Match,
) -> None:
    """Write what each model answered to each judged instance, as instance records of Every Eval Ever."""
    named: dict[str, dict[Any, str]] = {model: {} for model in judgements}
    right = {
        model: {(judged.instance.source, judged.instance.id): judged.after for judged in judgement.judged}
        for model, judgement in judgements.items()
    }
    with path.open("w", encoding="utf-8") as file:
        for instance, example in instances(benchmark):
            for model, of_model in right.items():
                answers = answer_to(predictions[model], instance, named[model])
                if answers is None or (instance.source, instance.id) not in of_model:
                    continue
                is_right = of_model[instance.source, instance.id]
                record = harness_logs.instance_record(
                    instance, example.question, answers, is_right, release=name, model=model, match=match
                )
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def judge_instances(
    of: tuple[list[Instance], int],
    predictions: Predictions,
    *,
    leave_out_missing: bool = False,
    match: Match = "askew",
) -> Judgement:
    """Which of these instances (`select_instances`) a model answers rightly. A pair that lost one side is left out whole."""
    selected, left_out = of
    judgement = judge(selected, predictions, leave_out_missing=leave_out_missing, match=match)
    return replace(judgement, left_out=left_out)


def collect(
    benchmark: Benchmark,
    ask: Ask,
    out: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    keep: Keep | None = None,
    chosen: Collection[str] = (),
    crew: Crew | None = None,
) -> int:
    """Put every instance that `out` has no prediction for to the model, and add the answers there. Returns how many.

    `keep` says which examples are put to it at all, `chosen` of which sources (all, where it names none). Raises
    EvaluationError where the model cannot be asked; what came before and what is under way then is kept.
    """
    here: dict[Any, Any] = {}
    if out.exists():
        _end_last_line(out)
        here = benchmark.predictions(out)

    def unpredicted() -> Iterator[tuple[Instance, tableqa.Example]]:
        named: dict[Any, str] = {}
        for instance, example in instances(benchmark):
            if chosen and instance.source not in chosen:
                continue
            if (keep is None or keep(example)) and answer_to(here, instance, named) is None:
                yield instance, example

    remaining = sum(1 for _ in unpredicted())
    total, done = len(here) + remaining, len(here)
    put = 0

    def answer_record(pair: tuple[Instance, tableqa.Example]) -> dict[str, Any]:
        instance, example = pair
        return {"source": instance.source, "id": instance.id, **ask(example)}

    def with_progress() -> Iterator[tuple[Instance, tableqa.Example]]:
        for pair in unpredicted():
            progress(done + put, total)  # where it fails, answers that are under way are still written
            yield pair

    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8", buffering=1) as file:
        # A few at a time: what is in memory does not grow with the release.
        for record in (crew or Crew(AT_ONCE)).map(answer_record, with_progress()):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            put += 1
    progress(done + put, total)
    return put


def count_states(predictions: Path) -> Counter[str]:
    """How many answers of a file of predictions name which state (`annotation.queue.reply_states`)."""
    counts: Counter[str] = Counter()
    with predictions.open(encoding="utf-8-sig") as lines:
        for line in lines:
            if '"state"' in line and (state := json.loads(line).get("state")) in reply_states.WORDS:
                counts[state] += 1
    return counts


def _end_last_line(out: Path) -> None:
    """End a last line that has no end, or take it away where a killed process did not finish writing it."""
    data = out.read_bytes()
    start = data.rfind(b"\n") + 1
    if start == len(data):
        return
    with out.open("rb+") as file:
        try:
            json.loads(data[start:])
        except ValueError:
            file.truncate(start)
        else:
            file.seek(0, 2)
            file.write(b"\n")


def at_once(name: str) -> int:
    """Examples that this model is asked about at the same time."""
    if settings.PREDICTORS.get(name, {}).get("protocol") == "chat":
        return chat_model(settings.PREDICTORS, name).at_once
    return AT_ONCE


def model_of(
    predictors: Mapping[str, Mapping[str, Any]], name: str, meter: QuestionMeter | None = None
) -> Ask:
    """What puts an example to the predictor of that name. Raises LookupError naming the ones there are.

    The bundled model runs in this process where no predictor has its name.
    """
    if name not in predictors and name == BUNDLED:
        return _bundled()
    if name not in predictors:
        names = ", ".join(sorted({BUNDLED, *predictors}))
        raise LookupError(
            gettext("There is no predictor {name!r}. Available: {known}.").format(name=name, known=names)
        )
    if predictors[name]["protocol"] == "chat":
        return _chat(replace(chat_model(predictors, name), meter=meter))
    return _predicting(predictors[name], meter)


def _bundled() -> Ask:
    try:
        model = load_bundled()
    except ModelError as error:
        raise LookupError(str(error)) from None
    one_at_a_time = threading.Lock()

    def ask(example: tableqa.Example) -> dict[str, Any]:
        with one_at_a_time:
            (prediction,) = model.predict_batch([PredictRequest.about(example)])
        if isinstance(prediction, ProtocolError):
            return {"answers": [], "text": "", "error": str(prediction)}
        return {"answers": list(prediction.answers), "text": prediction.text, "model": prediction.model}

    return ask


def _require_few(unusable: UnusableReplies) -> None:
    """Raise EvaluationError after too many unusable replies in a row. None is asked for again, and all are kept."""
    try:
        unusable.require_few()
    except TooManyUnusable as error:
        raise EvaluationError(str(error)) from None


def _predicting(entry: Mapping[str, Any], meter: QuestionMeter | None) -> Ask:
    model = client.connect(entry)
    unusable = UnusableReplies(model.model, entry.get("stop_after", STOP_AFTER))

    def once(request: PredictRequest) -> Prediction:
        payment = metered_models.begin(meter, entry, [request], within=client.PATIENT)
        try:
            return model.predict(request, within=client.PATIENT, bills=payment.bills)
        finally:
            payment.settle()

    def ask(example: tableqa.Example) -> dict[str, Any]:
        _require_few(unusable)
        for attempt in itertools.count(1):
            try:
                prediction = once(PredictRequest.about(example))
            except ChatError as error:
                raise EvaluationError(str(error)) from None
            except PredictionError as unanswered:
                if unanswered.kind == "too_large":
                    # A model that cannot read a table gives no answer to it, which is wrong and is kept as it is.
                    record = {"answers": [], "text": "", "error": str(unanswered)}
                    if not unanswered.state:
                        return record
                    unusable.count(str(unanswered))
                    return {**record, "state": unanswered.state}
                if attempt == TRIES or unanswered.state == "parameters":
                    raise EvaluationError(f"{model.model}: {unanswered}") from None
                time.sleep(unanswered.pause or 0.2 * 2**attempt)
                continue
            record = {"answers": list(prediction.answers), "text": prediction.text, "model": prediction.model}
            if prediction.state:
                unusable.count(gettext("The reply holds no list of answers."))
                return {**record, "state": prediction.state}
            unusable.count("")
            return record
        raise AssertionError

    return ask


def _chat(model: ChatModel) -> Ask:
    unusable = UnusableReplies(model.model, model.stop_after)

    def ask(example: tableqa.Example) -> dict[str, Any]:
        _require_few(unusable)
        messages, _ = prompts.asking_for_answers(example, model.serialisation)
        try:
            reply = model.ask(messages, seed=0, schema=prompts.ANSWER_SCHEMA)[0]
        except ChatError as error:
            if error.is_about_example:
                # Without a final reply there is no answer, which is wrong and is kept as it is.
                unusable.count(str(error))
                return {
                    "answers": [],
                    "text": "",
                    "model": model.model,
                    "error": str(error),
                    "state": error.kind,
                }
            raise EvaluationError(str(error)) from None
        answers = read_answers(reply)
        if answers is None:
            unusable.count(gettext("The reply holds no list of answers."))
            return {"answers": [], "text": reply, "model": model.model, "state": "no_list"}
        unusable.count("")
        return {"answers": answers, "text": reply, "model": model.model}

    return ask
