"""Shorten column names."""

from collections.abc import Iterable, Sequence

from tableqa import Table
from tableqa.core.translation import gettext, gettext_noop
from tableqa.operations import Operation, RenameHeader
from tableqa.perturbations.headers import Suggestion
from tableqa.perturbations.headers.abbreviations import abbreviations
from tasks.contract import Context, Item, Problem
from tasks.shared.header_renaming import HeaderRenamingTask


class HeaderAbbreviation(HeaderRenamingTask):
    """Columns get a short form of their names; every suggestion names the rule that made it."""

    key = "header_abbreviation"
    title = gettext_noop("Header abbreviations")
    step = "edit"
    paper = "RobuT (ACL 2023) § 3.1"
    instruction = gettext_noop("Shorten at least one column name")
    perturbation = "abbreviation"
    nothing = gettext_noop("no column name of this table can be shortened and still be understood.")
    asked_for = (
        "Give columns of this table shorter names that people would still understand: usual abbreviations, initials, "
        "names cut short. Rename those for which there is a good one, and only those."
    )
    suggesters = {
        "dictionary": gettext_noop("the usual short forms"),
        "truncation": gettext_noop("cutting words off"),
        "initials": "initials",
        "vowels": gettext_noop("leaving out vowels"),
    }

    def names_for(
        self, table: Table, column: str, context: Context
    ) -> tuple[Sequence[Suggestion], Sequence[str]]:
        return abbreviations(table, column), ()

    def judge(self, item: Item, operations: Sequence[Operation]) -> Iterable[Problem]:
        yield from super().judge(item, operations)
        for operation in operations:
            if isinstance(operation, RenameHeader) and len(operation.new) >= len(operation.old):
                message = gettext("“{new}” is not shorter than “{old}”.").format(
                    new=operation.new, old=operation.old
                )
                yield Problem("operations", "not_shorter", message)

    def another(self, name: str) -> str:
        return name.strip()[: len(name.strip()) // 2]


task = HeaderAbbreviation()
