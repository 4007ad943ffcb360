"""Rename columns by words that mean the same."""

from collections.abc import Sequence

from tableqa import Table
from tableqa.core.translation import gettext_noop
from tableqa.perturbations.headers import Suggestion, synonyms
from tasks.contract import Context
from tasks.shared.header_renaming import HeaderRenamingTask

MOST = 5
"""Suggestions for one column: as many as a person reads."""


class HeaderSynonym(HeaderRenamingTask):
    """Columns get names of the same meaning, suggested by WordNet and by the project's own columns."""

    key = "header_synonym"
    title = gettext_noop("Header synonyms")
    step = "edit"
    paper = "RobuT (ACL 2023) § 3.1"
    instruction = gettext_noop("Rename at least one column without changing its meaning")
    perturbation = "synonym"
    nothing = gettext_noop("no column name of this table has a suitable synonym.")
    needs = ("header_names", "thesaurus")
    sure = 0.6
    asked_for = (
        "Give columns of this table other names that mean the same: synonyms that fit what the columns hold and the "
        "subject of the table. Rename those for which there is a good one, and only those."
    )
    suggesters = {
        "usual": gettext_noop("usual names"),
        "thesaurus": "WordNet",
        "project": gettext_noop("this project's columns"),
        "dictionary": gettext_noop("the usual short forms"),  # written out: Pos. is Position
    }

    def names_for(
        self, table: Table, column: str, context: Context
    ) -> tuple[Sequence[Suggestion], Sequence[str]]:
        suggested = synonyms(table, column, context.thesaurus, context.header_names, limit=MOST)
        return suggested.found, [unavailable.reason for unavailable in suggested.missing]


task = HeaderSynonym()
