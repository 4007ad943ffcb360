"""Predictions of a model for the instances of a benchmark, read from a file and found again by instance.

    predictions = read_predictions(Path("tapex.jsonl"), {"wtq-dev": "wtq"})
    answer_to(predictions, instance, {})

Two forms of JSON Lines are read, also mixed in one file, and one whole object:

* ours: {"id", "answers", "source"}, where the id is that of the instance (`nt-652~row_shuffle-33`);
* FREB-TQA's, as its program writes them: {"id", "pred_answer", "dataset", "perturb", "seed"}, where the id is that of
  the original, and the other three say which of its instances is meant;
* TAT-QA's, one object for the whole file: {id: [answer, scale]};
* logs (`tableqa.scoring.harness_logs`): of lm-evaluation-harness a file or the folder of a run, of inspect-ai, and
  instance records of Every Eval Ever.

An answer in a scale ({"id", "answers", "scale"}, or TAT-QA's) is `ScaledAnswers`.
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol, TypeGuard

from tableqa.perturbations import PERTURBATIONS
from tableqa.scoring.harness_logs import as_prediction, inspect_samples
from tableqa.scoring.matching import GeneratedText, scaled

Key = tuple[str, str]
"""(source, id of an instance)"""
Question = tuple[str, str, str, int]
"""(source, id of the original, kind, seed)"""
Predictions = Mapping[Any, Sequence[str]]
"""By `Key`, or by `Question` where a file names no instance."""

ANSWERS = ("answers", "prediction", "pred", "pred_answer")
"""The names under which a record may give what a model said."""
MOST_BYTES = 64_000_000
"""Of a file that is one object."""
LONGEST_LINE = 1_000_000
"""Characters of one line: an answer is a few words, and a file without line breaks is no JSON Lines."""

UNPERTURBED = "no_shuffle"
"""What FREB-TQA's program calls an original."""

_SAME: Mapping[str, str] = {
    UNPERTURBED: "original",
    "no_shuffle_ori_table": "original",
    "no_shuffle_short_table": "short_table",
    "no_shuffle_ans_change": "answer_changes",
    "no_shuffle_ans_no_change": "answer_stays",
}
"""What FREB-TQA's program calls the kinds that are called otherwise here."""
_OF_DATASET = re.compile(r"(mask_cell|relevant_row_shuffle)(?:_all)?(?:_wtq|_tat)")


class EvaluationError(ValueError):
    """Predictions that do not fit the instances, or cannot be read; the message names file, line or ids."""


class PredictionTarget(Protocol):
    """What a prediction is for: see `tableqa.scoring.evaluation.Instance`."""

    @property
    def source(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def seed(self) -> int: ...


def read_predictions(
    path: Path, sources: Mapping[str, str] | Iterable[str] = ()
) -> dict[Key | Question, tuple[str, ...]]:
    """Predictions from a file of JSON Lines, in either form; the last that names an instance counts.

    `sources` are the names of the sources, or these with the reader of each. "source" may be left out where there is one;
    "dataset" may also name a source by its reader, where one source has that. A text that a sequence model wrote may hold
    several answers with ", " between them: `is_right` tries both. EvaluationError naming the line.
    """
    try:
        if path.is_dir():
            # samples_TASK_TIME.jsonl: another task of a later run may have asked an item again.
            files = sorted(
                path.rglob("samples_*.jsonl"), key=lambda file: (file.stem.rpartition("_")[2], file)
            )
            if not files:
                raise EvaluationError(
                    f"{path} has no samples_*.jsonl. Name the folder of a run of lm_eval, or a file."
                )
            by_file = [read_predictions(file, sources) for file in files]
            return {key: answers for of_file in by_file for key, answers in of_file.items()}
        if (samples := inspect_samples(path)) is not None:
            text = "\n".join(map(json.dumps, samples))
            return read_lines(io.BytesIO(text.encode()), path.name, sources)
        with path.open("rb") as lines:
            return read_lines(lines, path.name, sources)
    except ValueError as error:
        raise error if isinstance(error, EvaluationError) else EvaluationError(str(error)) from None
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error}") from None


def read_lines(
    lines: IO[bytes], name: str, sources: Mapping[str, str] | Iterable[str] = ()
) -> dict[Key | Question, tuple[str, ...]]:
    """The same from an open file, which `name` names in errors."""
    known_sources = dict(sources) if isinstance(sources, Mapping) else dict.fromkeys(sources, "")
    if (whole := _tat_qa(lines, name)) is not None:
        source = _source({"dataset": "tat_qa"} if len(known_sources) > 1 else {}, name, known_sources)
        return {(source, id): answers for id, answers in whole.items()}
    predictions: dict[Key | Question, tuple[str, ...]] = {}
    question_answers: dict[tuple[object, ...], tuple[str, ...]] = {}
    for line_number, line in _numbered(lines, name):
        if line.strip():
            where = f"{name}, line {line_number}"
            record, answers = _record(line, where, known_sources)
            source = _source(record, where, known_sources)
            key = _key(record, source, where)
            if _names_a_question(record):
                once = (*key, str(record.get("seed")))
                if question_answers.setdefault(once, answers) != answers:
                    # Published files repeat ids: which of the questions is meant, nothing says.
                    raise EvaluationError(
                        f"{where}: another line gives a different prediction for {record['perturb']} of {record['id']} "
                        f"in {source}. "
                        "Where several questions share an id, name the ids of the instances: {id, answers, source}."
                    )
            predictions[key] = answers
    return predictions


def answer_to(
    predictions: Predictions, instance: PredictionTarget, named: dict[Question, str]
) -> Sequence[str] | None:
    """What was predicted for an instance, or None.

    A prediction in FREB-TQA's form names its question, kind and seed. Where several instances are of the same
    (three accepted edits of one table), it could be any of them: EvaluationError. `named` remembers which was served.
    """
    if (prediction := predictions.get((instance.source, instance.id))) is not None:
        return prediction
    key = (instance.source, instance.question, instance.kind, instance.seed)
    prediction = predictions.get(key)
    if prediction is not None and named.setdefault(key, instance.id) != instance.id:
        raise EvaluationError(
            f"{named[key]} and {instance.id} ({instance.source}) are both {instance.kind} of {instance.question}: "
            "a prediction that names only the question could be for either. Name the ids of the instances."
        )
    return prediction


# -- TAT-QA's form ----------------------------------------------------------------------------------


def _tat_qa(lines: IO[bytes], name: str) -> dict[str, tuple[str, ...]] | None:
    """The answers by id where the file is one object of the form {id: [answer, scale]}, else None; the file is rewound."""
    first = lines.readline(LONGEST_LINE + 1)
    lines.seek(0)
    if first.lstrip(b"\xef\xbb\xbf").strip() != b"{" and not _is_tat_qa(_loaded(first)):
        return None
    whole = _loaded(lines.read(MOST_BYTES + 1))
    lines.seek(0)
    if not _is_tat_qa(whole):
        return None
    answers_by_id: dict[str, tuple[str, ...]] = {}
    for id, (value, scale) in whole.items():
        answers = tuple(str(text) for text in (value if isinstance(value, list) else [value]))
        answers_by_id[id] = scaled(answers, scale) if scale else answers
    return answers_by_id


def _loaded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _is_tat_qa(value: object) -> TypeGuard[dict[str, tuple[Any, str]]]:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(
            isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str) for pair in value.values()
        )
    )


# -- one line ---------------------------------------------------------------------------------------


def _numbered(lines: IO[bytes], name: str) -> Iterator[tuple[int, str]]:
    line_number = 0
    while line := lines.readline(LONGEST_LINE + 1):
        line_number += 1
        if len(line) > LONGEST_LINE:
            raise EvaluationError(
                f"{name}, line {line_number}: longer than {LONGEST_LINE:,} bytes. A line is one prediction."
            )
        try:
            yield line_number, line.decode("utf-8-sig" if line_number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise EvaluationError(
                f"{name}, line {line_number}: not UTF-8 ({error.reason}). Save the file as UTF-8."
            ) from None


def _record(line: str, where: str, sources: Iterable[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        loaded = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"{where}: not JSON ({error})") from None
    try:
        record = as_prediction(loaded, sources)
    except ValueError as error:
        raise EvaluationError(f"{where}: {error}") from None
    except (LookupError, TypeError, AttributeError):
        raise EvaluationError(f"{where}: the record does not have the form of a log") from None
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise EvaluationError(f"{where}: an object with an id is expected")
    value = next((record[name] for name in ANSWERS if name in record), None)
    if isinstance(value, str):
        answers: tuple[str, ...] = GeneratedText([value])
    elif isinstance(value, list) and all(isinstance(answer, str) for answer in value):
        # FREB-TQA's program writes what a sequence model said as a list of one text.
        answers = GeneratedText(value) if "pred_answer" in record and len(value) == 1 else tuple(value)
    else:
        raise EvaluationError(f'{where}: "answers" is a list of texts, or one text')
    scale = record.get("scale", "")
    if not isinstance(scale, str):
        raise EvaluationError(f'{where}: "scale" is a text, such as "thousand"')
    return record, scaled(answers, scale) if scale else answers


def _source(record: Mapping[str, object], where: str, sources: Mapping[str, str]) -> str:
    named = record.get("source", record.get("dataset"))
    if named is None and len(sources) == 1:
        return next(iter(sources))
    if not isinstance(named, str):
        raise EvaluationError(f'{where}: name the "source", one of {", ".join(sources)}')
    if named in sources or not sources:
        return named
    read = [name for name, reader in sources.items() if reader == named]
    if len(read) != 1:
        raise EvaluationError(f"{where}: there is no source {named!r}; there are: {', '.join(sources)}")
    return read[0]


def _names_a_question(record: Mapping[str, object]) -> bool:
    """Whether the id is that of a question, as FREB-TQA's program writes it, and not that of an instance."""
    perturb = record.get("perturb")
    return perturb is not None and not str(record["id"]).endswith(f"~{perturb}-{record.get('seed')}")


def _key(record: Mapping[str, object], source: str, where: str) -> Key | Question:
    id, perturb = str(record["id"]), record.get("perturb")
    if not _names_a_question(record):
        return source, id
    if not isinstance(perturb, str):
        raise EvaluationError(f'{where}: "perturb" is the name of a perturbation')
    of_dataset = _OF_DATASET.fullmatch(perturb)
    kind = of_dataset[1] if of_dataset else _SAME.get(perturb, perturb)
    if kind == "original":
        return source, id
    seeded = kind in PERTURBATIONS and PERTURBATIONS[kind].seeded
    seed = record.get("seed", 0)
    if seeded and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise EvaluationError(f'{where}: "seed" is a whole number')
    return source, id, kind, seed if seeded and isinstance(seed, int) else 0
