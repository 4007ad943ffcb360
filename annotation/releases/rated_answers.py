"""Rated answers from where they are: a release's decisions, the files of LFTQA-Eval, or its folders of scores alone."""

from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext

from annotation.releases import raw_records
from tableqa.data.examples import Example
from tableqa.readers import READERS
from tableqa.releases.release_records import MANIFEST
from tableqa.scoring.answer_ratings import RatedAnswer, ScoresError, rated_answer, scores_alone
from tasks.contract import task_types


def rated_answers(path: Path, reader: str = "lftqa") -> list[RatedAnswer]:
    """What people rated at `path`, a release folder or a dataset.

    Of a release: every accepted decision of a task type that rates answers (`rates_answers`); the source is the dataset. Of
    a folder with human_scores and no answers: the scores alone. Else what the reader gives, under the name of the folder.
    Raises Difference, ReaderError or ScoresError.
    """
    if (path / MANIFEST).is_file():
        return list(_of_release(path))
    dataset = path.resolve().name if path.is_dir() else path.resolve().stem
    if path.is_dir() and (alone := scores_alone(path, dataset)) and not any(path.glob("model_outputs.json*")):
        return alone
    answers = (rated_answer(dataset, example) for example in READERS[reader](path))
    return [answer for answer in answers if answer is not None]


def _of_release(folder: Path) -> Iterator[RatedAnswer]:
    raw = raw_records.load(folder)
    rating = {key for key, task in task_types().items() if task.rates_answers}
    seen: set[tuple[str, str]] = set()
    for decision in raw.decisions:
        key = decision["source"], decision["example"]
        is_rated = raw.batches[decision["batch"]]["type"] in rating and decision["kind"] == "accepted"
        if not is_rated or key in raw.excluded:
            continue
        example: Example = raw.example(*key)
        for outcome in decision["outcomes"]:
            answer = rated_answer(decision["source"], example, outcome["response"]["data"])
            if answer is None:
                continue
            if key in seen:
                raise ScoresError(
                    gettext(
                        "decisions.jsonl: {decision} was rated in two batches. Compare a release that contains "
                        "only one of them"
                    ).format(decision=decision["example"])
                )
            seen.add(key)
            yield answer
