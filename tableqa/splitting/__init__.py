"""Splitting a compound column into several (RobuT 3.1, column extension).

A cell is cut, never rewritten: every part is a piece of the cell as it stands. What does not split in the same way as
the others is marked as such and left to the person.
"""

from tableqa.splitting.cutting import Cut, Splitting, split
from tableqa.splitting.naming import header_stem, part_names
from tableqa.splitting.proposals import Proposal, proposals
from tableqa.splitting.tracing import foreign, lost
from tableqa.splitting.ways import Delimiter, Pattern, SplitError, Template, Way, way_from_dict
