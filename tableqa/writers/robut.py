"""The item form of RobuT (Zhao et al., ACL 2023), which is FREB-TQA's with three fields more."""

from typing import Any

from tableqa.examples import Example
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


def robut_record(original: Example, perturbed: Example, perturbation: str) -> dict[str, Any]:
    """The record of a perturbed example: {"id", "original_id", "question", "original_question", "answers", "table",
    "perturbation_type"}. Its id is the original's with the perturbation behind it.

    Raises ValueError for a perturbation that RobuT does not know.
    """
    if perturbation not in PERTURBATIONS:
        raise ValueError(f"RobuT has no perturbation {perturbation!r}; it has {', '.join(PERTURBATIONS)}")
    record = freb_example(perturbed)
    return {
        "id": f"{original.id}-{perturbation}",
        "original_id": original.id,
        "question": record["question"],
        "original_question": original.question,
        "answers": record["answers"],
        "table": record["table"],
        "perturbation_type": perturbation,
    }
