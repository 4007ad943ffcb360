"""QTSumm (Zhao et al., EMNLP 2023): queries about Wikipedia's tables, answered in a paragraph, with the rows it rests on."""

from tableqa.core.translation import phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.example_parts import example, table_of
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, RecordFile


class Qtsumm(RecordFile):
    """The reader "qtsumm"; see `tableqa.readers.interface.Reader`.

    The query is the question, the summary the one answer. meta holds "table_id" and "row_ids", the ids of the rows
    that the summary rests on (the source counts them from 0 below the header).
    """

    name = "qtsumm"
    title = "QTSumm"
    licence = "MIT"
    citation = (
        "Yilun Zhao, Zhenting Qi, Linyong Nan, Boyu Mi, Yixin Liu, Weijin Zou, Simeng Han, Ruizhe Chen, Xiangru Tang, "
        "Yumo Xu, Arman Cohan and Dragomir Radev. 2023. QTSumm: Query-Focused Summarization over Tabular Data. "
        "In Proceedings of EMNLP 2023."
    )
    url = "https://github.com/yale-nlp/QTSumm"
    patterns = ("*.json", "*.jsonl", "*/*.json", "*/*.jsonl")
    known_by = ("query", "summary", "table")
    mend = phrase("Name one file of QTSumm, for example qtsumm_dev.json")

    def _example(self, record: Record) -> Example:
        fields = record.fields
        example_id = fields.name("example_id")
        table = qtsumm_table(fields.nested("table"))
        meta = {**fields.nested("table").rest("table_id"), **_rows(fields, table)}
        answers = [fields.text("summary")]
        return example(fields.place, example_id, fields.text("query"), table, answers, meta)


def qtsumm_table(table: Fields) -> Table:
    """The table of a record of QTSumm; LFTQA-Eval's records hold such a one, too."""
    header, rows = table.required("header"), table.required("rows")
    return table_of(table.place, header, rows, title=table.text("title", default=""))


def _rows(fields: Fields, table: Table) -> dict[str, list[str]]:
    """The rows that a summary rests on, by their ids, where the source names any."""
    if "row_ids" not in fields:
        return {}
    rows = []
    for i, row in enumerate(fields.listed("row_ids")):
        if type(row) is not int or not 0 <= row < table.shape[0]:
            mend = phrase(
                "It is a number from 0 to {last}: row 0 is the first one below the header",
                last=table.shape[0] - 1,
            )
            what = phrase("{field} names no row of the table", field=f"row_ids[{i}]")
            raise fields.error(f"row_ids[{i}]", what, mend)
        rows.append(table.row_ids[row])
    return {"row_ids": rows}


READER = Qtsumm()
