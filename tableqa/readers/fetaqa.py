"""FeTaQA (Nan et al., TACL 2022): questions about Wikipedia's tables, answered in a sentence, with the cells it rests on.

A table is an array of rows whose first is the header; the highlighted cells count rows in that array, so row 0 is the
header and row 1 the first one below it.
"""

from tableqa.core.translation import phrase
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.example_parts import cell_at, example, table_of
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, RecordFile

_META = ("page_wikipedia_url", "table_source_json")


class Fetaqa(RecordFile):
    """The reader "fetaqa"; see `tableqa.readers.interface.Reader`.

    The table's title is the page's, its caption the section's. The one answer is a sentence. meta holds the page's
    address, "table_source_json", and "highlighted_cells" as [row id, column id]; a row id may be that of the header.
    """

    name = "fetaqa"
    title = "FeTaQA"
    licence = "CC-BY-SA-4.0"
    citation = (
        "Linyong Nan, Chiachun Hsieh, Ziming Mao, Xi Victoria Lin, Neha Verma, Rui Zhang, Wojciech Kryściński, "
        "Hailey Schoelkopf, Riley Kong, Xiangru Tang, Mutethia Mutuma, Ben Rosand, Isabel Trindade, Renusree "
        "Bandaru, Jacob Cunningham, Caiming Xiong and Dragomir Radev. 2022. FeTaQA: Free-form Table Question "
        "Answering. Transactions of the Association for Computational Linguistics 10, pages 35-49."
    )
    url = "https://github.com/Yale-LILY/FeTaQA"
    known_by = ("feta_id", "table_array")
    mend = phrase("Name one file of FeTaQA, for example fetaQA-v1_dev.jsonl")

    def _example(self, record: Record) -> Example:
        fields = record.fields
        feta_id = fields.name("feta_id")
        table = fetaqa_table(fields)
        meta = {**fields.rest(*_META), "highlighted_cells": _highlighted(fields, table)}
        answers = [fields.text("answer")]
        return example(fields.place, feta_id, fields.text("question"), table, answers, meta)


def fetaqa_table(fields: Fields) -> Table:
    """The table of a record of FeTaQA; LFTQA-Eval's records hold such a one, too."""
    rows = fields.listed("table_array")
    if not rows:
        mend = phrase("A table has at least a header row")
        raise fields.error("table_array", phrase("{field} is empty", field="table_array"), mend)
    title = fields.text("table_page_title", default="")
    return table_of(fields.place, rows[0], rows[1:], title, fields.text("table_section_title", default=""))


def _highlighted(fields: Fields, table: Table) -> list[list[str]]:
    cells = []
    for i, pair in enumerate(fields.listed("highlighted_cell_ids")):
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(part) is int for part in pair):
            name = f"highlighted_cell_ids[{i}]"
            mend = phrase("It is [row, column], the header being row 0")
            raise fields.error(name, phrase("{field} is not a pair of numbers", field=name), mend)
        cells.append(cell_at(fields.place, table, pair[0] - 1, pair[1]))
    return cells


READER = Fetaqa()
