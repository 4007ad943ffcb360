"""The item form that FREB-TQA (Zhou et al., NAACL 2024) and RobuT (Zhao et al., ACL 2023) share."""

from collections.abc import Sequence
from typing import Any

from tableqa.examples import Example
from tableqa.tables import Table


def freb_record(id: str, question: str, answers: Sequence[str], table: Table, name: str) -> dict[str, Any]:
    """{"id", "question", "answers": [str], "table": {"header": [str], "rows": [[str]], "name": str}}, verbatim.

    `name` is the table's path in its source (WTQ: csv/204-csv/772.csv). Title,
    caption, further header rows and merged cells have no place in this form and are left out.
    """
    return {
        "id": id,
        "question": question,
        "answers": list(answers),
        "table": {
            "header": list(table.header),
            "rows": [list(row) for row in table.rows],
            "name": name,
        },
    }


def freb_example(example: Example) -> dict[str, Any]:
    """The record of an example; its table is named as the source names it (`context` in WTQ), or not at all."""
    name = str(example.meta.get("context", ""))
    return freb_record(example.id, example.question, example.answers, example.table, name)
