"""SUC, "Table meets LLM" (Sui et al., WSDM 2024): a table, a query and its label on each line, from any dataset.

The repository gives TabFact, HybridQA, SQA, FEVEROUS and others the one form {"title", "context", "table": {"header",
"rows", "caption"}, "query", "label"}, of which its prompts are made. The prompts themselves ({"prompt", "completion"}) hold
a table as running text and are not read.
"""

from tableqa.core.translation import phrase
from tableqa.data.examples import Example
from tableqa.readers.example_parts import context_of, example, table_of
from tableqa.readers.json_values import kind, plain
from tableqa.readers.record_fields import Fields
from tableqa.readers.records import Record, RecordFile

_FIELDS = ("id", "title", "context", "table", "query", "label")
WRITTEN = "written"
"""What this reader puts into `meta`: a record that has such a field could not be written again as it was."""


class Suc(RecordFile):
    """The reader "suc"; see `tableqa.readers.interface.Reader`.

    The label is the answer, or a list of answers. The source has no ids: an example is called by its number in the file,
    unless the record has an id. context holds the passages. meta holds every other field of the record, and "written": its
    "context" and "label" as they are written, and "numbered" where the id is ours.
    """

    name = "suc"
    title = "SUC (Table meets LLM)"
    citation = (
        "Yuan Sui, Mengyu Zhou, Mingjie Zhou, Shi Han and Dongmei Zhang. 2024. Table Meets LLM: Can Large Language Models "
        "Understand Structured Table Data? A Benchmark and Empirical Study. In Proceedings of WSDM 2024, pages 645-654."
    )
    url = "https://github.com/Y-Sui/Table-meets-LLM"
    known_by = ("table", "query", "label")
    mend = phrase("Name one file whose lines have title, context, table, query and label")

    def _example(self, record: Record) -> Example:
        fields = record.fields
        return _example(fields, fields.name("id") if "id" in fields else str(record.number))


def _example(fields: Fields, id: str) -> Example:
    table_fields = fields.nested("table")
    table_fields.only("header", "rows", "caption")
    header, rows = table_fields.required("header"), table_fields.required("rows")
    title, caption = fields.text("title", default=""), table_fields.text("caption", default="")
    table = table_of(table_fields.place, header, rows, title, caption)
    if WRITTEN in fields.value:
        mend = phrase("Rename it: the reader uses this name")
        raise fields.error(WRITTEN, phrase("{field} is a field that SUC does not have", field=WRITTEN), mend)
    meta = {name: plain(value) for name, value in fields.value.items() if name not in _FIELDS}
    meta[WRITTEN] = fields.rest("context", "label")
    if "id" not in fields:
        meta[WRITTEN]["numbered"] = True
    return example(
        fields.place,
        id,
        fields.text("query"),
        table,
        _label(fields),
        meta,
        context=context_of(fields.place, text="\n\n".join(_passages(fields))),
    )


def _label(fields: Fields) -> list[str]:
    value = fields.required("label")
    if isinstance(value, list):
        return fields.texts("label")
    return Fields(fields.place, {"label": [value]}).texts("label")


def _passages(fields: Fields) -> list[str]:
    value = fields.value.get("context")
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value
    if value is None or isinstance(value, str):
        return [value] if value else []
    what = phrase("{field} is {kind}, not a text or a list of texts", field="context", kind=kind(value))
    raise fields.error("context", what, phrase("Correct it"))


READER = Suc()
