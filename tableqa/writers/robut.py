"""The item form of RobuT (Zhao et al., ACL 2023), which is FREB-TQA's with three fields more."""

from collections.abc import Iterator
from typing import Any

from tableqa.core.canonical_json import thaw
from tableqa.data.examples import Example
from tableqa.writers.freb_tqa import freb_example

PERTURBATIONS = (
    "original",
    "synonym",
    "abbreviation",
    "row",
    "column",
    "extend",
    "masked",
    "add",
    "word",
    "sentence",
    "combined",
)
"""What RobuT calls its perturbations."""


def robut_id(original: str, perturbation: str) -> str:
    """The id of a record: that of the original with the perturbation behind it."""
    return f"{original}-{perturbation}"


def robut_record(original: Example, perturbed: Example, perturbation: str) -> dict[str, Any]:
    """The record of a perturbed example: {"id", "original_id", "question", "original_question", "answers", "table",
    "perturbation_type"}.

    Raises ValueError for a perturbation that RobuT does not know.
    """
    if perturbation not in PERTURBATIONS:
        raise ValueError(f"RobuT has no perturbation {perturbation!r}; it has {', '.join(PERTURBATIONS)}")
    record = freb_example(perturbed)
    return {
        "id": robut_id(original.id, perturbation),
        "original_id": original.id,
        "question": record["question"],
        "original_question": original.question,
        "answers": record["answers"],
        "table": record["table"],
        "perturbation_type": perturbation,
    }


def robut_pair(
    original: Example, perturbed: Example, perturbation: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file, record) of the original and of what became of it: accuracy before and after needs both (4.1).

    The name of a file has places for the {reader} and the {split} of the source.
    """
    for version, kind in ((original, "original"), (perturbed, perturbation)):
        yield f"{{reader}}_{{split}}_{kind}", robut_record(original, version, kind)


def published_record(example: Example) -> dict[str, Any]:
    """The record that the reader "robut" made `example` of; without its table where that is in the file beside.

    A cell that the publication writes as a number is written as a text.
    """
    meta = thaw(example.meta)
    answers = meta.pop("answers_text", list(example.answers))
    id = meta.pop("id", example.id)
    record = {} if meta.pop("made_id", False) else {"id": id}
    record |= {"question": example.question, "answers": answers}
    if not meta.pop("table_beside", False):
        record["table"] = published_table(example)
    return record | {
        name: field_value for name, field_value in meta.items() if name not in ("table_about", "context")
    }


def published_table(example: Example) -> dict[str, Any]:
    """The table as the publication has it, in the record or in the file of tables under the record's "table_id"."""
    table = {
        "header": list(example.table.header),
        "rows": [list(row) for row in example.table.rows],
        **thaw(example.meta.get("table_about", {})),
    }
    return {**table, "name": example.meta["context"]} if "context" in example.meta else table
