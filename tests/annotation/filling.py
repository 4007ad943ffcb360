"""The answers of models that are still open, asked for at once."""

from __future__ import annotations

from datetime import datetime

from annotation.assistance import model_in_the_loop
from annotation.models import Batch


def fill(*, batch: Batch, now: datetime) -> tuple[int, int]:
    """How many questions were answered, and how many are left."""
    filled = model_in_the_loop.fill_all(batch=batch, now=now)
    return filled.asked, filled.left
