"""Automatic perturbations in a release: raw lines, and the records that follow. Pure: verifying makes them again.

A line names an original, a kind, a seed, the cells that people had marked where they had, and its result:
the digest of the new table, the reason of a no-op, or what of the contract was broken (`tableqa.perturbations`).
Only the first becomes a record of a benchmark.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tableqa.data.examples import Example
from tableqa.perturbations import PERTURBATIONS, Instance, instances
from tableqa.perturbations.instances import NOTHING_DRAWN, instance_id
from tableqa.programs.evidence import CellRef, evidence
from tableqa.scoring.predictions import UNPERTURBED
from tableqa.writers.askew import askew_record
from tableqa.writers.freb_tqa import freb_example
from tableqa.writers.robut import robut_record

LINES = "perturbations.jsonl"
FREB, ROBUT = "FREB-TQA", "RobuT"
RELEVANCE = ("mask_cell", "escape_table", "relevant_row_shuffle")
"""FREB-TQA's second part (section 3.4); its other kinds are of the first, structure."""


def lines(
    source: str,
    original: Example,
    perturbation_instances: Iterable[Instance],
    cells: Sequence[CellRef],
) -> Iterator[dict[str, Any]]:
    """The raw lines of what was made of one original."""
    marked = {"cells": [list(cell) for cell in cells]} if cells else {}
    for instance in perturbation_instances:
        record = {"source": source, "original": original.id, "kind": instance.kind, "seed": instance.seed}
        yield {**record, **marked, **instance.outcome()}


def id_of(line: Mapping[str, Any]) -> str:
    """The id of the example that a line is about."""
    return instance_id(line["original"], line["kind"], line["seed"])


def recreate(line: Mapping[str, Any], original: Example) -> Instance:
    """What the line says was made, made again. Raises LookupError for a kind that there is not."""
    cells = [(row, column) for row, column in line.get("cells", ())]
    return next(iter(instances(original, [line["kind"]], [line["seed"]], marked_cells=cells)))


def supports_kind(format: str, kind: str) -> bool:
    """Whether a format of a release has a place for a kind."""
    return (format, PERTURBATIONS[kind].paper) in (("freb_tqa", FREB), ("robut", ROBUT))


def records(
    format: str, dataset: str, original: Example, instance: Instance, cells: Sequence[CellRef] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(part, record) of an instance in a format of a release; none where the format does not know the kind.

    FREB-TQA and RobuT compare with the original, which is in a file beside, once, for all its perturbations. `dataset`
    is what the release calls the source (`Raw.datasets`), `cells` are those that people had marked as relevant. FREB-TQA's
    second part names the cells that its perturbations take as evidence.
    """
    kind, seed, perturbed = instance.kind, instance.seed, instance.perturbed
    id = instance.id_of(original.id)
    if format == "askew":
        more = {"original": original.id, "perturbation": kind, "seed": seed}
        steps = [operation.to_dict() for operation in perturbed.operations]
        yield "perturbed", {**askew_record(perturbed.example), "id": id, **more, "operations": steps}
    elif not supports_kind(format, kind):
        return
    elif format == "freb_tqa":
        folder = "02_rel" if kind in RELEVANCE else "01_str"
        if not cells and kind in RELEVANCE and (cell_evidence := evidence(original)) is not None:
            cells = cell_evidence.cells
        before = {"seed": NOTHING_DRAWN, "dataset": dataset, "perturb": UNPERTURBED}
        yield f"01_str/{{reader}}_{{split}}_{UNPERTURBED}", {**freb_example(original), **before}
        more = {"seed": seed, "dataset": dataset, "perturb": kind}
        yield (
            f"{folder}/{{reader}}_{{split}}_{kind}",
            {**freb_example(perturbed.example, cells or None), "id": id, **more},
        )
    else:
        yield "{reader}_{split}_original", robut_record(original, original, "original")
        yield f"{{reader}}_{{split}}_{kind}", {**robut_record(original, perturbed.example, kind), "id": id}
