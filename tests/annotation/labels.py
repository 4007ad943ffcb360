"""Labels of a text, imported as a file of them is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from annotation.imports import label_import
from annotation.imports.label_import.checks import CheckResult
from annotation.models import Batch


def look(batch: Batch, text: str) -> CheckResult:
    """What labels would do to a batch."""
    return _with_file(label_import.preview_import, text, batch=batch)


def write(batch: Batch, text: str, **more: Any) -> CheckResult:
    """Import labels into a batch: by, now."""
    return _with_file(label_import.write, text, batch=batch, **more)


def _with_file(action: Any, text: str, **params: Any) -> CheckResult:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        checked: CheckResult = action(path=path, **params)
        return checked
