"""What a perturbation changed, in pieces that can be counted and compared: how much two of them share, how varied many are.

A piece is a text such as `word earliest` or `name c1 vintage`. Pieces of one example are comparable with each other
(`added_content`); edits across examples leave out which column or row it was (`edits`).
"""

import itertools
from collections.abc import Iterable, Sequence, Set
from statistics import fmean

from tableqa.cells import fold
from tableqa.core.canonical_json import canonical, digest
from tableqa.data.examples import Example
from tableqa.operations import InsertColumn, RemoveColumn, RenameHeader, SetCell, diff
from tableqa.perturbations.wording import tokens, word_diff

MUCH = 0.5
"""The share of its pieces from which on a perturbation counts as an edit of another one."""


def perturbation_digest(example: Example) -> str:
    """The digest of what a perturbation makes: question, table and answers, with any example id.

    The question counts without what makes no other words of it: case, blanks, the mark at its end.
    """
    table = [example.table.header, *example.table.rows]
    return digest({"question": _plain(example.question), "table": table, "answers": list(example.answers)})


def added_content(original: Example, perturbed: Example) -> frozenset[str]:
    """What the perturbed example has that the original has not; where it only leaves out, what it leaves out."""
    new, gone = set[str](), set[str]()
    if original.question != perturbed.question:
        for change in word_diff(original.question, perturbed.question).changes:
            new.update(f"word {text}" for text in _words(change.new))
            gone.update(f"without {text}" for text in _words(change.old))
    for operation in diff(original.table, perturbed.table, match="ids"):
        if isinstance(operation, RenameHeader):
            new.add(f"name {operation.column} {_plain(operation.new)}")
        elif isinstance(operation, SetCell):
            new.add(f"cell {operation.row} {operation.column} {_plain(operation.new)}")
        elif isinstance(operation, InsertColumn):
            new.add(f"column {_plain(operation.header)}")
            new.update(
                f"cell {row} {_plain(text)}" for row, text in enumerate(operation.cells) if text.strip()
            )
        elif isinstance(operation, RemoveColumn):
            gone.add(f"without column {operation.column}")
        else:
            new.add(canonical(operation.to_dict()))
    return frozenset(new or gone)


def edits(original: Example, perturbed: Example) -> frozenset[str]:
    """The same in the words of the example, comparable across examples: `first > earliest`, `points > score`."""
    edit_texts = set[str]()
    if original.question != perturbed.question:
        for change in word_diff(original.question, perturbed.question).changes:
            edit_texts.add(f"{_plain(change.old)} > {_plain(change.new)}")
    for operation in diff(original.table, perturbed.table, match="ids"):
        if isinstance(operation, RenameHeader | SetCell):
            edit_texts.add(f"{_plain(operation.old)} > {_plain(operation.new)}")
        elif isinstance(operation, InsertColumn):
            edit_texts.add(f"> {_plain(operation.header)}")
        elif isinstance(operation, RemoveColumn):
            edit_texts.add(f"{_plain(operation.old[0])} >")
        else:
            edit_texts.add(operation.to_dict()["op"])
    return frozenset(edit_texts)


def opening(question: str, length: int = 2) -> str:
    """How a question begins."""
    return " ".join(token.text.casefold() for token in tokens(question)[:length])


def overlap(mine: Set[str], others: Set[str]) -> float:
    """How much of what is mine is in the other as well, 0 to 1; nothing shares nothing."""
    return len(mine & others) / len(mine) if mine else 0.0


def distance(first: Set[str], second: Set[str]) -> float:
    """Jaccard's distance of two sets: 0 for equal ones, 1 where nothing is in both. Two empty sets are equal."""
    both = first | second
    return 1 - len(first & second) / len(both) if both else 0.0


def mean_distance(sets: Sequence[Set[str]]) -> float | None:
    """The mean distance over all pairs, None of fewer than two sets."""
    pairs = list(itertools.combinations(sets, 2))
    return fmean(distance(first, second) for first, second in pairs) if pairs else None


def distinct(values: Iterable[str]) -> float | None:
    """Different values by all values: 1 where none comes twice; None of none."""
    listed = list(values)
    return len(set(listed)) / len(listed) if listed else None


def _words(text: str) -> list[str]:
    return [token.text.casefold() for token in tokens(text) if any(map(str.isalnum, token.text))]


def _plain(text: str) -> str:
    return " ".join(fold(text).casefold().split()).rstrip(" ?.!")
