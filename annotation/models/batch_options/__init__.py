"""The options of a batch, each stated once. To add one, add a `Term` to a module here, then make migrations and messages.

TERMS["must_practise"].label
check(task, {"overlap": 2}, project=project)       # the columns of a new batch, all of them
check_change(batch, {"overlap": 3})                # those columns of a batch that a change names
"""

from annotation.models.batch_options.registry import (
    SECTIONS,
    TERMS,
    BatchTerms,
    changeable,
    check,
    check_change,
    declared_in,
    in_section,
)
from annotation.models.batch_options.term import (
    ANY_TIME,
    EVERY,
    UNTIL_CLOSED,
    UNTIL_DECIDED,
    Context,
    Inputs,
    Term,
)
