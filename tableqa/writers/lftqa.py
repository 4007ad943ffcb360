"""The files of LFTQA-Eval (Wang et al., EMNLP 2024): answers of systems, and scores that people and metrics gave them."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from tableqa.data.examples import Example

SCORES = "scores/{source}"
"""The folder of one dataset; {source} is its name in the project."""


def output_record(
    example_id: str, system: str, text: str, example: Example, reference: str = ""
) -> dict[str, Any]:
    """The answer of a system: {"example_id", "model", "model_output", "question", "answer", "metadata"}.

    The table is in FeTaQA's form, whose first row is the header, with the titles. "answer" is the reference, if any.
    """
    metadata = {
        "table_array": [list(example.table.header), *map(list, example.table.rows)],
        "table_page_title": example.table.title,
        "table_section_title": example.table.caption,
    }
    record: dict[str, Any] = {
        "example_id": example_id,
        "model": system,
        "model_output": text,
        "question": example.question,
        "metadata": metadata,
    }
    return {**record, "answer": reference} if reference else record


def scores(
    example_id: str, system: str, score_by_name: Mapping[str, Any], kind: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path below the dataset, {"example_id", "model", "score"}) for each score by its name; `kind` is human or metric."""
    for name, score in score_by_name.items():
        file = f"human_{name}_scores" if kind == "human" else quote(name, safe=" ()+,@")[:100]
        yield f"{kind}_scores/{file}", {"example_id": example_id, "model": system, "score": score}
