"""Statistics as templates show them: a figure of agreement with its name in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext, gettext_noop

NAMES = {
    "percent_agreement": gettext_noop("percent agreement"),
    "fleiss_kappa": gettext_noop("Fleiss' kappa"),
    "cohen_kappa": gettext_noop("Cohen's kappa"),
    "krippendorff_alpha": gettext_noop("Krippendorff's alpha"),
    "gwet_ac1": "Gwet's AC1",
    "cell_sets": gettext_noop("sets of cells"),
    "edits": gettext_noop("edits"),
}
LEVELS = {
    "masi": "MASI",
    "jaccard": "Jaccard",
    "nominal": gettext_noop("nominal"),
    "ordinal": gettext_noop("ordinal"),
    "interval": gettext_noop("interval scale"),
}


def shown(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A figure, as the batch page computes it or a manifest stores it, with `name` and `measure` for people."""
    return {**figure, "name": in_words(figure["statistic"]), "measure": figure["measure"].replace("_", " ")}


def figures_in_table(figures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The context of `site/_agreement.html`: the figures for people, or the one reason why none of them is defined."""
    figures = list(figures)
    reasons = {figure["reason"] for figure in figures if figure["value"] is None}
    is_empty = len(reasons) == 1 and all(figure["value"] is None for figure in figures)
    return {"figures": [shown(figure) for figure in figures], "lacking": reasons.pop() if is_empty else ""}


def in_words(statistic: str) -> str:
    """krippendorff_alpha_nominal -> Krippendorff's alpha (nominal)."""
    for key, words in NAMES.items():
        if statistic.startswith(key):
            level = statistic.removeprefix(key).strip("_").replace("_", " ")
            return f"{gettext(words)} ({gettext(LEVELS.get(level, level))})" if level else gettext(words)
    return statistic.replace("_", " ")
