"""Records of one id: several answers of one question where a person chose so, else refused with the ways out."""

import dataclasses
from collections.abc import Iterable, Iterator

from tableqa.core.translation import phrase
from tableqa.data.examples import Example
from tableqa.readers.interface import Ids, ReaderError, Rejection
from tableqa.readers.reading_options import offering, option
from tableqa.readers.record_fields import Location
from tableqa.readers.report import note


def is_same_question(before: Example, example: Example) -> bool:
    """Whether two examples differ in their answers at most, apart from other columns."""
    same_text = (before.id, before.question) == (example.id, example.question)
    return same_text and before.table.digest() == example.table.digest()


def add_id(ids: Ids, example_id: str, location: Location, is_column: bool, is_further: bool) -> None:
    """ReaderError for an id that repeats, with the ways out: another answer of one question, or ids by number."""
    try:
        ids.add(example_id, location.line, location.file)
    except ReaderError as error:
        if is_further:
            raise offering(error, "rows", "answers") from None
        if is_column:
            error.ways = {"id": [""]}
            error.command = phrase("{mend}, or number the records: --field id=", mend=error.command)
            error.mend = phrase("{mend}, or choose (none) for the id to number the records", mend=error.mend)
        raise


def joined_answers(outcomes: Iterable[Example | Rejection]) -> Iterator[Example | Rejection]:
    """The same outcomes, examples of one id that follow each other as one with the answers of all (`rows`)."""
    if not option("rows"):
        yield from outcomes
        return
    joined_example: Example | None = None
    for outcome in outcomes:
        if joined_example and isinstance(outcome, Example) and outcome.id == joined_example.id:
            if outcome.meta != joined_example.meta:
                note("further_rows", outcome.id)
            answers = (*joined_example.answers, *outcome.answers)
            joined_example = dataclasses.replace(joined_example, answers=answers)
            continue
        if joined_example:
            yield joined_example
        joined_example = outcome if isinstance(outcome, Example) else None
        if not joined_example:
            yield outcome
    if joined_example:
        yield joined_example
