"""FREB-TQA's third part in a release: its files hold the same questions in the same order, each with all its sides.

The publication has four files (Zhou et al. 2024, section 3.5): the original table, the shortened one, the edit that changes
the answer, and the one that does not. Who evaluates them reads them line by line beside one another. A release has the sides
that its project worked on; a question that lacks one of them is in none of the files, and a file beside them names it, says
what it lacks and holds what there is. Pure: verifying does it again.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from tableqa.core.canonical_json import canonical
from tableqa.core.disk_collections import Shelf
from tableqa.writers.freb_tqa import OF_THE_QUESTION, SIDES

INCOMPLETE = "incomplete"
"""What the file of the questions that lack a side is called in place of a side."""
IN_MEMORY = 100
"""Questions whose sides are in memory at once."""
FOLDER = "03_agg_com/"
_PATH = re.compile(rf"({FOLDER}.*_no_shuffle_)({'|'.join(SIDES)})(\.json)", re.DOTALL)
_NUMBERED = re.compile(r"(.*)#\d+", re.DOTALL)


class PartThree:
    """The sides of questions, as they come, and the files that pair them."""

    def __init__(self) -> None:
        self._sides: dict[str, dict[str, None]] = {}
        self._questions: Shelf[tuple[str, str], tuple[str, ...]] = Shelf(IN_MEMORY)

    def take(self, path: str, record: dict[str, Any], source: str, example: str) -> bool:
        """Note a record of one of the files, and the example it is about; False where the path is none of them."""
        match = _PATH.fullmatch(path)
        if match is None:
            return False
        files, side, _ = match.groups()
        self._sides.setdefault(files, {})[side] = None
        key = files, record["id"]
        self._questions[key] = (*self._questions.get(key, ()), side, canonical([record, source, example]))
        return True

    def records(self) -> Iterator[tuple[str, dict[str, Any], str, str]]:
        """(path, record, source, example) of every file, question by question in order.

        A question that lacks a side is an item as well: that of the first side it has.
        """
        for files, id in self._questions:
            present_sides = self._of(files, id)
            lacks = [side for side in SIDES if side in self._sides[files] and side not in present_sides]
            if lacks:
                first, source, example = next(iter(present_sides.values()))
                sides = {side: record for side, (record, _, _) in present_sides.items()}
                item = {**first, "id": id, "lacks": lacks, **sides}
                yield f"{files}{INCOMPLETE}.json", item, source, example
            else:
                yield from ((f"{files}{side}.json", *fields) for side, fields in present_sides.items())

    def _of(self, files: str, id: str) -> dict[str, Any]:
        """The sides of a question. A second edit, ID#2, has the tables of the question that it is an edit of."""
        sides = self._stored(files, id)
        if numbered := _NUMBERED.fullmatch(id):
            first = self._stored(files, numbered[1])
            for side in OF_THE_QUESTION:
                if side in first and side not in sides:
                    sides[side] = {**first[side][0], "id": id}, *first[side][1:]
        return {side: sides[side] for side in SIDES if side in sides}

    def _stored(self, files: str, id: str) -> dict[str, Any]:
        stored_pairs = self._questions.get((files, id), ())
        return {
            side: json.loads(text) for side, text in zip(stored_pairs[::2], stored_pairs[1::2], strict=True)
        }
