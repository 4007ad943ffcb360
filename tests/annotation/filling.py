"""The answers of models that are still open, asked for at once."""

from __future__ import annotations

from datetime import datetime

from annotation.assistance import prediction_jobs
from annotation.models import Batch


def fill(*, batch: Batch, now: datetime) -> tuple[int, int]:
    """How many questions were answered, and how many are left."""
    filled = prediction_jobs.fill_all(batch=batch, now=now)
    return filled.asked, filled.left
