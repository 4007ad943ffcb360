"""Table question answering as a library: tables, edits, answers, contracts, readers and writers.

Plain Python: no Django, no network, no model. Everything of the platform's that a paper's number depends on is here.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tableqa.data.examples import Context, Example, Turn
    from tableqa.data.tables import Span, Table

__all__ = ["Context", "Example", "Span", "Table", "Turn"]

_MODULES = {"Span": "tableqa.data.tables", "Table": "tableqa.data.tables"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562): using one module of this package loads no other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES.get(name, "tableqa.data.examples")), name)
    return value
