"""Table question answering as a library: tables, edits, answers, contracts, readers and writers.

Plain Python: no Django, no network, no model. Everything of the platform's that a paper's number depends on is here.
"""

from tableqa.examples import Context, Example, Turn
from tableqa.tables import Span, Table

__all__ = ["Context", "Example", "Span", "Table", "Turn"]
