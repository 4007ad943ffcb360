"""SUC, "Table meets LLM" (Sui et al., WSDM 2024): its seven tasks and its designs over the public parts of its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.reproducing import Figure, number
from tableqa.data.tables import Table
from tableqa.readers import READERS
from tableqa.scoring.prompt_files import suc_prompts, variants
from tableqa.scoring.structural_tasks import STRUCTURAL_TASKS
from tableqa.serialisations import SERIALISATIONS, SUC

DESIGN = "Sections 3 and 4: tasks, formats and designs"
ITEMS = "Section 3: items on the public tables, one for each task and design"
ROUND = "Section 4: public tables that each format restores in full"
FILES = ("tabfact", "hybridqa", "sqa", "feverous")
TITLES = {"tabfact": "TabFact", "hybridqa": "HybridQA", "sqa": "SQA", "feverous": "FEVEROUS"}


def figures(data: Path) -> Iterator[Figure]:
    """Every figure of the page."""
    yield Figure(DESIGN, "structural tasks", number(len(STRUCTURAL_TASKS)), "7")
    yield Figure(DESIGN, "formats", number(len(SUC)), "5")
    designs = variants()
    yield Figure(
        DESIGN,
        "designs: the baseline, four other formats, six options",
        number(len(designs)),
        "",
        "each differs from the baseline in one respect: " + ", ".join(f"`{name}`" for name in designs),
    )
    held: dict[str, list[tuple[str, Table]]] = {}
    for name in FILES:
        found: dict[str, tuple[str, Table]] = {}
        for example in READERS["suc"](data / "suc" / f"{name}.first200.jsonl"):
            found.setdefault(example.table.digest(), (example.id, example.table))
        held[name] = list(found.values())
    for name, tables in held.items():
        left_out: Counter[str] = Counter()
        prompts = 0
        nones = asked = 0
        note = partial(_note, left_out)
        for record in suc_prompts(name, tables, left_out=note):
            prompts += 1
            if record["task"] == "merged_cell_detection":
                asked += 1
                nones += record["answers"] == ["None"]
        each = len(STRUCTURAL_TASKS) * len(designs) - 1
        missing = sum(left_out.values())
        yield Figure(
            ITEMS,
            f"{TITLES[name]}: prompts on {len(tables)} tables",
            number(prompts),
            number(each * len(tables)),
            f"{each} a table" + (f"; {missing} tasks have nothing to ask about" if missing else ""),
        )
        yield Figure(
            ITEMS,
            f"{TITLES[name]}: questions on merged cells with the answer None",
            number(nones),
            number(asked),
            "the released format cannot represent merged cells",
        )
    for name in SUC:
        written = SERIALISATIONS[name]
        tables_of_all = [table for tables in held.values() for _, table in tables]
        again = sum(
            written.loads(written.dumps(table)).rows == table.rows
            and written.loads(written.dumps(table)).header == table.header
            for table in tables_of_all
        )
        yield Figure(ROUND, f"`{name}`", number(again), number(len(tables_of_all)))


def _note(left_out: Counter[str], table: str, task: str, why: str) -> None:
    left_out[task] += 1
