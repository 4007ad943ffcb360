"""A model on a release: every original and every perturbed example put to it, and what its answers say.

Works on the raw records of a release folder, whatever its format, and needs no database. Predictions are kept in a file
of JSON Lines as they come; asking again goes on where the file ends.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import tableqa
from annotation import automatic, release_files
from annotation.release_files import Raw
from predictor import client, prompts
from predictor.chat import ChatError
from predictor.client import Unanswered
from predictor.configuration import chat_model
from predictor.protocol import PredictRequest
from tableqa.evaluation import ORIGINAL, EvaluationError, Instance, read_predictions

AT_ONCE = client.MOST_WAITING
"""Examples that a model is asked about at the same time."""
TRIES = 5
"""How often a model that does not answer is asked about one example."""

Ask = Callable[[tableqa.Example], Mapping[str, Any]]
"""What an example is put to: gives {"answers", "text", "model"}."""


def load(folder: Path) -> Raw:
    """The raw records of a release. Raises Difference where the folder is none."""
    return release_files.load(folder, release_files.read_manifest(folder)["batches"])


def instances(raw: Raw) -> Iterator[tuple[Instance, tableqa.Example]]:
    """Originals, then automatic perturbations, then what people made; each with its example.

    What the benchmark files leave out because people contradicted it (`Raw.contradicted`) is left out here, too.

    The baseline of what people made is the example that they made it of: a value change made on a short table is
    compared with that (FREB-TQA 5).
    """
    for source, id in raw.originals:
        example = raw.example(source, id)
        yield Instance(source, id, id, ORIGINAL, 0, id, example.answers), example
    for line, original in release_files.automatic_lines(raw):
        if "digest" in line:
            instance = automatic.again(line, original)
            id = instance.id_of(original.id)
            if raw.left_out(line["source"], id):
                continue
            one = Instance(
                line["source"],
                id,
                original.id,
                instance.kind,
                instance.seed,
                original.id,
                original.answers,
            )
            yield one, instance.perturbed.example
    for (source, id), record in raw.derived.items():
        if raw.left_out(source, id):
            continue
        example = raw.example(source, id)
        question, parent = id, record["parent"]
        while (source, question) in raw.derived:
            question = raw.derived[source, question]["parent"]
        yield (
            Instance(source, id, question, record["perturbation"], 0, parent, example.answers),
            example,
        )


def collect(
    raw: Raw, ask: Ask, out: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Put every instance that `out` has no prediction for to the model, and add the answers there. Returns how many.

    Raises EvaluationError where the model cannot be asked; what came before is kept.
    """
    here = set(read_predictions(out, raw.sources)) if out.exists() else set()
    total = sum(1 for _ in instances(raw))
    wanted = ((one, example) for one, example in instances(raw) if (one.source, one.id) not in here)
    done = len(here)
    asked = 0

    def answered(pair: tuple[Instance, tableqa.Example]) -> dict[str, Any]:
        one, example = pair
        return {"source": one.source, "id": one.id, **ask(example)}

    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file, ThreadPoolExecutor(AT_ONCE) as threads:
        # A few at a time: what is in memory does not grow with the release.
        while chunk := list(itertools.islice(wanted, 8 * AT_ONCE)):
            for record in threads.map(answered, chunk):
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                asked += 1
            file.flush()
            progress(done + asked, total)
    return asked


def model_of(predictors: Mapping[str, Mapping[str, Any]], name: str) -> Ask:
    """What puts an example to the predictor of that name. Raises LookupError naming the ones there are."""
    if name not in predictors:
        known = ", ".join(sorted(predictors)) or "none (set PREDICTORS, see docs/operations.md)"
        raise LookupError(f"There is no predictor called {name!r}; there are: {known}.")
    if predictors[name]["protocol"] == "chat":
        return _chat(chat_model(predictors, name))
    return _predicting(client.connect(predictors[name]))


def _predicting(model: client.Model) -> Ask:
    def ask(example: tableqa.Example) -> dict[str, Any]:
        for attempt in itertools.count(1):
            try:
                found = model.predict(PredictRequest.about(example), within=client.PATIENT)
            except Unanswered as unanswered:
                if unanswered.kind == "too_large":
                    # A model that cannot read a table gives no answer to it, which is wrong and is kept as it is.
                    return {"answers": [], "text": "", "error": str(unanswered)}
                if attempt == TRIES:
                    raise EvaluationError(f"{model.model}: {unanswered}") from None
                time.sleep(unanswered.pause or 0.2 * 2**attempt)
                continue
            return {"answers": list(found.answers), "text": found.text, "model": found.model}
        raise AssertionError

    return ask


def _chat(model: Any) -> Ask:
    def ask(example: tableqa.Example) -> dict[str, Any]:
        messages, _ = prompts.asking_for_answers(example)
        try:
            reply = model.ask(messages, seed=0, schema=prompts.ANSWER_SCHEMA)[0]
        except ChatError as error:
            raise EvaluationError(str(error)) from None
        return {"answers": prompts.read_answers(reply) or [], "text": reply, "model": model.model}

    return ask


def only(pairs: Iterable[tuple[Instance, tableqa.Example]]) -> Iterator[Instance]:
    """The instances without their examples."""
    return (instance for instance, _ in pairs)
