"""Files of Hugging Face datasets; the folder is what `save_to_disk` writes, with a card."""

from __future__ import annotations

from pathlib import Path

from datasets import Dataset, disable_progress_bars

from tests.exports.content import Grid
from tests.exports.drawing import Plan
from tests.exports.programs.pyarrow_files import table_of

disable_progress_bars()


def write(sheets: dict[str, Grid], path: Path, plan: Plan) -> None:
    dataset = Dataset(table_of(next(iter(sheets.values()))))
    if plan.suffix == "csv":
        dataset.to_csv(path, sep=plan.separator)
    elif plan.suffix == "folder":
        dataset.save_to_disk(path)
        (path / "README.md").write_text("---\nlicense: cc0-1.0\n---\n\n# Films\n", encoding="utf-8")
    elif plan.suffix == "jsonl":
        dataset.to_json(path)
    else:
        dataset.to_parquet(path)
