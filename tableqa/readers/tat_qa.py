"""TAT-QA (Zhu et al., ACL 2021): questions about tables and paragraphs of financial reports.

A file is one array; each of its objects is a table, its paragraphs, and the questions about both. The source says of
no row that it is a header. The first row is taken as the header, as FREB-TQA's release takes it, and so the tables of
both are equal; where a header spans two or three rows, those stay where they are, in the body.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.core.translation import phrase
from tableqa.data.examples import Context, Example
from tableqa.data.tables import Table
from tableqa.readers.example_parts import context_of, example, table_of
from tableqa.readers.interface import Ids, ReaderError, Rejection
from tableqa.readers.json_values import kind, text_of
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, RecordFile, each_record

_READ = ("uid", "question", "answer")
"""Fields of a question that are fields of its example; the others go into `meta`."""


class TatQa(RecordFile):
    """The reader "tat_qa"; see `tableqa.readers.interface.Reader`.

    The id of an example is the uid of its question. context holds the paragraphs in their order and the scale of the
    answer; meta all other fields of the question under their names (in the test file also "facts", "consts" and
    "mappings"), "table_uid", and "paragraphs" with uid, order and text.
    An answer that is a number is taken as it is written. A question without an answer has none.
    """

    name = "tat_qa"
    title = "TAT-QA"
    licence = "MIT"
    citation = (
        "Fengbin Zhu, Wenqiang Lei, Youcheng Huang, Chao Wang, Shuo Zhang, Jiancheng Lv, Fuli Feng and Tat-Seng Chua. "
        "2021. TAT-QA: A Question Answering Benchmark on a Hybrid of Tabular and Textual Content in Finance. "
        "In Proceedings of ACL-IJCNLP 2021, pages 3277-3287."
    )
    url = "https://github.com/NExTplusplus/TAT-QA"
    patterns = ("*.json", "*/*.json")
    known_by = ("table", "paragraphs", "questions")
    mend = phrase("Name one file of TAT-QA, for example tatqa_dataset_dev.json")

    def _outcomes(self, path: Path) -> Iterator[Example | Rejection]:
        ids = Ids(path)
        for record in each_record(path):
            if isinstance(record, ReaderError):
                yield Rejection(record, {})
                continue
            whole = record.fields.value
            try:
                table, table_uid = _table(record)
                paragraphs = _paragraphs(record.fields)
                questions = record.fields.listed("questions")
            except ReaderError as error:
                yield Rejection(error, whole)
                continue
            about = {"table_uid": table_uid, "paragraphs": paragraphs}
            for i, question in enumerate(questions):
                location = record.fields.place.inside(f"questions[{i}]")
                try:
                    new_example = _example(Fields(location, question), table, about)
                    ids.add(new_example.id, record.line)
                except ReaderError as error:
                    yield Rejection(error, {**whole, "questions": [question]})
                    continue
                yield new_example


def _example(question: Fields, table: Table, about: dict[str, Any]) -> Example:
    others = [name for name in question.value if name not in _READ]
    text = "\n\n".join(paragraph["text"] for paragraph in about["paragraphs"])
    return example(
        question.place,
        question.name("uid"),
        question.text("question"),
        table,
        _answers(question),
        {**question.rest(*others), **about},
        context=_context(question, text),
    )


def _table(record: Record) -> tuple[Table, str]:
    table = record.fields.nested("table")
    rows = table.listed("table")
    if not rows:
        mend = phrase("A table has at least one row, which is taken as its header")
        raise table.error("table", phrase("{field} is empty", field="table"), mend)
    return table_of(table.place, rows[0], rows[1:]), table.name("uid")


def _paragraphs(fields: Fields) -> list[dict[str, Any]]:
    paragraphs = [
        {"uid": item.name("uid"), "order": item.integer("order"), "text": item.text("text")}
        for item in fields.nested_each("paragraphs")
    ]
    return sorted(paragraphs, key=lambda paragraph: int(paragraph["order"]))


def _context(question: Fields, text: str) -> Context | None:
    return context_of(question.place, text=text, scale=question.text("scale", default=""))


def _answers(question: Fields) -> list[str]:
    """The answer as a list of texts: it is a list, a text or a number, and in the test file there is none."""
    if "answer" not in question:
        return []
    value = question.required("answer")
    if isinstance(value, list):
        return question.texts("answer")
    text = text_of(value)
    if text is None:
        mend = phrase("It is a list of texts, a text or a number")
        raise question.error("answer", phrase("{field} is {kind}", field="answer", kind=kind(value)), mend)
    return [text]


READER = TatQa()
