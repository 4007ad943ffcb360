"""Table question answering as a library: tables, edits, answers, contracts, readers and writers.

Plain Python: no Django, no network, no model. Everything of the platform's that a paper's number depends on is here.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tableqa.data.examples import Context, Example, Turn
    from tableqa.data.tables import Span, Table
    from tableqa.named_measures import (
        emd,
        exact_match,
        fleiss_kappa,
        gwet_ac1,
        krippendorff_alpha,
        percent_agreement,
        robustness_accuracy,
        variation_percentage,
    )
    from tableqa.operations.edits import Edit
    from tableqa.released_data import Release

__all__ = [
    "Context",
    "Edit",
    "Example",
    "Release",
    "Span",
    "Table",
    "Turn",
    "emd",
    "exact_match",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "percent_agreement",
    "robustness_accuracy",
    "variation_percentage",
]

_MODULES = {
    **dict.fromkeys(("Context", "Example", "Turn"), "tableqa.data.examples"),
    **dict.fromkeys(("Span", "Table"), "tableqa.data.tables"),
    "Edit": "tableqa.operations.edits",
    "Release": "tableqa.released_data",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562): using one module of this package loads no other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES.get(name, "tableqa.named_measures")), name)
    return value
