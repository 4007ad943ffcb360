"""The forms of SUC, "Table meets LLM" (Sui et al., WSDM 2024): its tables with their queries, and prompts."""

from typing import Any

from tableqa.core.canonical_json import thaw
from tableqa.data.examples import Example
from tableqa.serialisations import SERIALISATIONS

SERIALISATION = "html"
"""The form of the table in a prompt: the one with which the paper's models did best (Table 2)."""
INSTRUCTION = "Answer the question about the table. Where there are several answers, part them by |."


def published_record(example: Example) -> dict[str, Any]:
    """{"title", "context", "table": {"header", "rows", "caption"}, "query", "label"}, as the reader "suc" reads it.

    An example of that reader gives the record that was read; any other one its "id", too, and a list of answers.
    """
    meta = thaw(example.meta)
    written = meta.pop("written", None)
    context = example.context.text if example.context is not None else ""
    record = {
        "title": example.table.title,
        "context": context if written is None else written.get("context", ""),
        "table": {
            "header": list(example.table.header),
            "rows": [list(row) for row in example.table.rows],
            "caption": example.table.caption,
        },
        "query": example.question,
        "label": list(example.answers) if written is None else written["label"],
    }
    if written is None:
        return {"id": example.id, **record}
    return {**({} if written.get("numbered") else {"id": example.id}), **record, **meta}


def prompt_record(example: Example) -> dict[str, Any]:
    """{"prompt", "completion"}: the paper's baseline, the request, the table and the question; answers parted by |."""
    table = SERIALISATIONS[SERIALISATION].dumps(example.table)
    titles = [text for text in (example.table.title, example.table.caption) if text]
    prompt = "\n".join([INSTRUCTION, *titles, table, example.question, "Answer:"])
    return {"prompt": prompt, "completion": "|".join(example.answers)}
