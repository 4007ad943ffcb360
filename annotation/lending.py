"""What the platform lends to a kind that asks for it: the project's tables and column names, and a thesaurus."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.models import Project
from tasks.contract import Context


def context(project: Project, needs: Sequence[str]) -> Context:
    """The members that a kind names in `needs`, for one project."""
    return Context()
