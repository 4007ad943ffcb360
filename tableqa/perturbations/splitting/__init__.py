"""Splitting a compound column into several (RobuT 3.1, column extension).

A cell is cut, never rewritten: every part is a piece of the cell. What does not split in the same way as
the others is marked as such and left to the person.
"""

from tableqa.perturbations.splitting.cuts import CellSplit, ColumnSplit, split
from tableqa.perturbations.splitting.new_names import header_stem, part_names
from tableqa.perturbations.splitting.rules import Delimiter, Pattern, SplitError, Template, Way, way_from_dict
from tableqa.perturbations.splitting.suggested_rules import Proposal, proposals
from tableqa.perturbations.splitting.traces import lost_words, untraceable_words
