"""LFTQA-Eval (Wang et al., EMNLP 2024): answers of systems to questions of FeTaQA and QTSumm, as people rated them.

The release is a file of the systems' answers and, in folders called human_scores and metric_scores, files of
[{"example_id", "model", "score"}], one for each dimension and each metric. The name of a file says whose scores it
holds: human_faithfulness_scores.json, rouge.json.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tableqa.core.disk_collections import Shelf
from tableqa.core.translation import gettext_noop, phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.example_parts import example
from tableqa.readers.fetaqa import fetaqa_table
from tableqa.readers.interface import FileReader, Ids, Rejection, file_at
from tableqa.readers.qtsumm import qtsumm_table
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.records import Record, has_fields, outcomes_of, read_records

DIMENSIONS = ("faithfulness", "comprehensiveness")
"""What people rate from 1 to 5 (2.3); a score is the mean of theirs."""

_HUMAN = "human_scores"
_METRICS = "metric_scores"
_ANSWER = ("model_output", "prediction")
_REFERENCE = ("answer", "reference", "summary")
_QUESTION = ("question", "query")


class Lftqa(FileReader):
    """The reader "lftqa"; see `tableqa.readers.interface.Reader`.

    One example for each answer of a system; its id is `example_id~model`. An empty answer is no example: there is
    nothing to rate. answers holds the reference, if there is one. meta holds "rated_answer" {"text", "system"},
    "example_id", "reference", "human" {"faithfulness", "comprehensiveness"} and "metrics" {name: score}, the latter
    three as far as the files have them.
    """

    name = "lftqa"
    title = gettext_noop("LFTQA-Eval (rated answers)")
    citation = (
        "Yuqi Wang, Lyuhao Chen, Songcheng Cai, Zhijian Xu and Yilun Zhao. 2024. Revisiting Automated Evaluation for "
        "Long-form Table Question Answering. In Proceedings of EMNLP 2024, pages 14696-14706."
    )
    url = "https://github.com/YukiiWWW/LFTQA-Eval"
    beside = gettext_noop("the folder scores/ of the release, for ratings and metrics")

    def located(self, path: str | Path, tables: str | Path | None = None) -> tuple[Path, Path]:
        """The file of the answers, and the folder below which the scores are."""
        path = Path(path)
        mend = phrase("Name the file of the systems' answers, model_outputs.json")
        answers = file_at(path, ("*.json", "*.jsonl", "*/*.json", "*/*.jsonl"), _holds_answers, mend)
        return answers, answers.absolute().parent if tables is None else Path(tables)

    def _outcomes(self, path: Path, folder: Path) -> Iterator[Example | Rejection]:
        human, metrics = _Scores(folder, _HUMAN), _Scores(folder, _METRICS)
        ids = Ids(path)

        def make(record: Record) -> Example | None:
            fields = record.fields
            example_id, system = fields.name("example_id"), _system(fields)
            text = _one_of(fields, _ANSWER)
            rated_id = f"{example_id}~{system}"
            if not text.strip():
                ids.add(rated_id, record.line)
                return None
            table, question, reference = _table_question_reference(fields)
            meta: dict[str, Any] = {
                "rated_answer": {"text": text, "system": system},
                "example_id": example_id,
            }
            if reference is not None:
                meta["reference"] = reference
            if rated := human.of(example_id, system):
                meta["human"] = rated
            if scored := metrics.of(example_id, system):
                meta["metrics"] = scored
            answers = [] if reference is None else [reference]
            new_example = example(fields.place, rated_id, question, table, answers, meta)
            ids.add(rated_id, record.line)
            return new_example

        return outcomes_of(path, make)

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The file of the answers, then the files of scores; ReaderError as for reading."""
        answers, folder = self.located(path, tables)
        yield answers
        yield from _score_files(folder, _HUMAN)
        yield from _score_files(folder, _METRICS)


def _holds_answers(path: Path) -> bool:
    return any(has_fields(path, "example_id", "model", name) for name in _ANSWER)


def _score_files(folder: Path, kind: str) -> list[Path]:
    """The files of scores of a kind, at the depths that the release has or that remain when a part of it is taken."""
    patterns = (f"{kind}/*.json", f"*/{kind}/*.json", f"*/*/{kind}/*.json", f"*/*/*/{kind}/*.json")
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


class _Scores:
    """The scores of all files of a kind, human or metric; ReaderError."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._names: dict[str, None] = {}
        self._scores: Shelf[tuple[str, str, str], int | float] = Shelf()
        for path in _score_files(folder, kind):
            name = _dimension(path) if kind == _HUMAN else unquote(path.stem)
            self._names[name] = None
            for record in read_records(path):
                key = record.fields.name("example_id"), _system(record.fields), name
                if key in self._scores:
                    what = phrase(
                        "{id} of {system} has a score of {name} already", id=key[0], system=key[1], name=name
                    )
                    raise record.fields.place.error(what, phrase("Remove one of the two"))
                score = record.fields.number("score")
                if kind == _HUMAN and not 1 <= score <= 5:
                    what = phrase("{field} is {score}", field="score", score=score)
                    raise record.fields.error("score", what, phrase("People rate from 1 to 5"))
                self._scores[key] = score

    def of(self, example_id: str, system: str) -> dict[str, int | float]:
        """{name: score} of an answer, by name in the order of the files."""
        named_scores = ((name, self._scores.get((example_id, system, name))) for name in self._names)
        return {name: score for name, score in named_scores if score is not None}


def _system(fields: Fields) -> str:
    """The name of the system, which may be empty: not every rated answer says whose it is."""
    return "" if fields.required("model") == "" else fields.name("model")


def _dimension(path: Path) -> str:
    dimensions = [name for name in DIMENSIONS if name in path.stem]
    if len(dimensions) != 1:
        what = phrase("the name of the file says none of {names}", names=" and ".join(DIMENSIONS))
        raise Location(path, 1).error(what, phrase("Call it human_faithfulness_scores.json, or remove it"))
    return dimensions[0]


def _table_question_reference(fields: Fields) -> tuple[Table, str, str | None]:
    """The table, question and reference of a record; they may be in it or in its copy of the source's record."""
    source = fields.nested("metadata") if "metadata" in fields else fields
    if "table_array" in source:
        table = fetaqa_table(source)
    elif "table" in source:
        table = qtsumm_table(source.nested("table"))
    else:
        mend = phrase(
            "Add metadata with the record of FeTaQA (table_array) or QTSumm (table), or the table itself"
        )
        raise fields.place.error(phrase("there is no table"), mend)
    question = fields if any(name in fields for name in _QUESTION) else source
    holders = [holder for holder in (fields, source) if any(name in holder for name in _REFERENCE)]
    reference = _one_of(holders[0], _REFERENCE) if holders else None
    return table, _one_of(question, _QUESTION), reference


def _one_of(fields: Fields, names: tuple[str, ...]) -> str:
    """The text of the first of these fields that is there; ReaderError naming the first if there is none."""
    return fields.text(next((name for name in names if name in fields), names[0]))


READER = Lftqa()
