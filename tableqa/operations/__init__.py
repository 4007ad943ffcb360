"""What can be done to a table: operations as data, their replay on a locked base, and what they come to.

A perturbed table is never stored as a copy that a person changed: it is `replay(base, operations)`. Undo, diff, audit,
export and verification come from that one idea. Operations name rows and columns by id, so rows may move. They carry
the old text, so that one made for another table is refused (`stale_base`).

The names and the JSON are a promise to other programs: `{"op": "set_cell", "row": "r3", "column": "c2",
"at": [3, 2], "old": "4", "new": "361"}`. `at` is a place in the source, counted from 0, for people's reading; nothing
is decided by it.
"""

from tableqa.operations.checks import OperationError
from tableqa.operations.descriptions import column_name, describe
from tableqa.operations.edit_types import (
    MAX_OPERATIONS,
    OPERATIONS,
    InsertColumn,
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    Part,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
    from_dict,
    from_list,
)
from tableqa.operations.edits import Edit
from tableqa.operations.net import WHOLE, diff, invert, normalise, replay
