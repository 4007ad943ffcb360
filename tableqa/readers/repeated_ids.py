"""Records of one id: several answers of one question where a person chose so, else refused with the ways out."""

import dataclasses
from collections.abc import Iterable, Iterator
from itertools import chain

from tableqa.core.translation import phrase
from tableqa.data.answers import alternatives_of
from tableqa.data.examples import Example
from tableqa.readers.interface import Ids, ReaderError, Rejection
from tableqa.readers.reading_options import offering, option
from tableqa.readers.record_fields import Location
from tableqa.readers.report import current_notes, in_record, note


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
    line = 0
    for outcome in chain(outcomes, (None,)):
        if joined_example and isinstance(outcome, Example) and outcome.id == joined_example.id:
            several = joined_example.answers, outcome.answers
            if outcome.meta != joined_example.meta or any(map(alternatives_of, several)):
                note("further_rows", outcome.id)
            joined_example = dataclasses.replace(joined_example, answers=sum(several, ()))
            continue
        next_line = notes.line if (notes := current_notes()) else 0
        if joined_example:
            in_record(line, joined_example.id)
            yield joined_example
        joined_example, line = outcome if isinstance(outcome, Example) else None, next_line
        if isinstance(outcome, Rejection):
            yield outcome
