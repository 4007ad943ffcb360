"""Which columns a superlative of a question is about: "oldest" is about ages or dates, "tallest" about heights."""

from collections.abc import Collection, Sequence

from tableqa.programs.layout import words
from tableqa.programs.syntax import Which

_DATES = (
    "year date season build built establish founded found form open completed complete start born birth launch "
    "release debut introduced"
)
_LENGTHS = "length long duration time minute min hour day distance km mile runtime span run"
_HEIGHTS = "height elevation altitude tall ft feet metre meter floor storey story summit"
_RANKS = "rank place position pos finish standing ranking final"
_MEANINGS: tuple[tuple[str, Which, str], ...] = (
    ("oldest eldest", "largest", "age"),
    ("oldest eldest earliest", "smallest", _DATES),
    ("youngest", "smallest", "age"),
    ("youngest newest latest", "largest", _DATES),
    ("longest", "largest", _LENGTHS),
    ("shortest", "smallest", f"{_LENGTHS} {_HEIGHTS}"),
    ("tallest highest", "largest", _HEIGHTS),
    ("lowest", "smallest", _HEIGHTS),
    ("heaviest", "largest", "weight kg lb mass"),
    ("lightest", "smallest", "weight kg lb mass"),
    ("fastest quickest", "smallest", "time duration second"),
    ("fastest quickest", "largest", "speed mph pace velocity"),
    ("slowest", "largest", "time duration second"),
    ("slowest", "smallest", "speed mph pace velocity"),
    ("deepest", "largest", "depth deep"),
    ("closest nearest", "smallest", "distance km mile"),
    ("farthest furthest", "largest", "distance km mile"),
    ("cheapest", "smallest", "price cost fare fee"),
    ("richest", "largest", "worth wealth income revenue"),
    ("strongest", "largest", "magnitude strength force wind"),
    ("busiest", "largest", "passenger traffic visitor movement"),
    ("best top", "smallest", _RANKS),
    ("worst", "largest", _RANKS),
)
"""Superlatives, which end of a column they mean, and words of the headers that they are about."""

_HEADERS = {
    (adjective, which): frozenset().union(
        *(words(headers) for names, end, headers in _MEANINGS if end == which and adjective in names.split())
    )
    for names, which, _ in _MEANINGS
    for adjective in names.split()
}
_OF_DATES = frozenset(("oldest", "eldest", "earliest", "newest", "latest", "youngest"))


def is_about(
    question: Sequence[str], which: Which, header: Collection[str], *, is_date: bool = False
) -> bool:
    """Whether a superlative among the words of a question asks for this end of a column.

    question and header are stems (`layout.words`); `is_date` says that the column holds dates, with any header.
    """
    return any(
        not headers.isdisjoint(header)
        or (is_date and adjective in _OF_DATES and not headers.isdisjoint(words("year")))
        for (adjective, end), headers in _HEADERS.items()
        if end == which and adjective in question
    )
