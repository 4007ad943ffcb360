"""The records of Askew's own format: an example as a project knows it, with ids that its annotations refer to."""

from typing import Any

from tableqa.data.answers import gold_record
from tableqa.data.examples import Example


def askew_record(example: Example) -> dict[str, Any]:
    """{"id", "question", "answers", "table"}, and "alternatives", "context" and "history" where the example has them.

    The table is in the form of `Table.to_wire`: its ids are there where they are not the usual ones, so
    that cells and operations in the same record can be found in a derived table, too. What the source
    says besides (`meta`) stays in the release's own record of the source.
    """
    record: dict[str, Any] = {
        "id": example.id,
        "question": example.question,
        **gold_record(example.answers),
        "table": example.table.worded,
    }
    if example.context is not None:
        record["context"] = example.context.to_dict()
    if example.history:
        record["history"] = [turn.to_dict() for turn in example.history]
    return record
