"""What the two kinds that rename columns share: suggestions for every column, and what became of each. (RobuT 3.1)"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa import Table
from tableqa.core.translation import gettext, joined, translate_stored
from tableqa.operations import Operation, RenameHeader, describe
from tableqa.perturbations.headers import Suggestion
from tasks.contract import (
    Context,
    Field,
    GenerationRequest,
    InvalidResponse,
    Item,
    Problem,
    ProposedResponse,
    ProposingTask,
    Report,
    ReportedResponse,
    SuggestingTask,
)
from tasks.shared.column_edits import ColumnTask, plain, read_entries
from tasks.shared.column_prompts import (
    column_of,
    column_reference,
    invalid_reply,
    read_text,
    relevant_table,
    require_fields,
)

DEMONSTRATIONS = 10
"""As many as RobuT shows for headers."""
MOST_FOR_A_COLUMN = 2
"""Suggestions for one column that become proposals of their own."""
MOST_WHY = 300

JUDGED = "judged is `[column id, suggested name, source of the suggestion]`"
Judged = tuple[str, str, str]
"""A suggestion that a person judged: column id, the suggested name, who suggested it."""


@dataclass(frozen=True)
class Response:
    """Renamed columns, and the suggestions that a person took or turned down on the way.

    A suggestion in `taken` is the one that the column's new name began as: the name itself, or an edited form of it.
    """

    does_not_apply: bool
    operations: tuple[Operation, ...] = ()
    taken: tuple[Judged, ...] = ()
    rejected: tuple[Judged, ...] = ()


class HeaderRenamingTask(ColumnTask, SuggestingTask, ProposingTask):
    """Give columns other names. `suggesters` says in words who suggests, by `Suggestion.source`."""

    response_type = Response
    shows = ("question", "table", "titles", "answers", "suggestions")
    fields = (
        Field("operations", "operations"),
        Field("taken", "json", shape="[judged]", note=JUDGED),
        Field("rejected", "json", shape="[judged]"),
        Field("does_not_apply", "flag"),
    )
    allowed = ("rename_header",)
    suggesters: ClassVar[Mapping[str, str]]

    def names_for(
        self, table: Table, column: str, context: Context
    ) -> tuple[Sequence[Suggestion], Sequence[str]]:
        """Suggestions for one column, best first, and why something could not be asked."""
        raise NotImplementedError

    def suggest(self, item: Item, context: Context) -> dict[str, Any]:
        """{"columns": {column id: [{text, source, by, why}]}, "missing": [why not], "preparing": bool}."""
        table = item.example.table
        columns, missing = {}, dict[str, None]()
        for column, name in zip(table.column_ids, table.header, strict=True):
            if not name.strip():
                continue
            suggestions, reasons = self.names_for(table, column, context)
            missing.update(dict.fromkeys(reasons))
            columns[column] = list(self._suggestions_as_json(suggestions))
        return {
            "columns": columns,
            "missing": list(map(translate_stored, missing)),
            "preparing": bool(context.preparing),
        }

    def _suggestions_as_json(self, suggestions: Iterable[Suggestion]) -> Iterator[dict[str, str]]:
        """Suggestions as the page shows them; a shared sense is listed once, with the first of them."""
        seen_senses: set[str] = set()
        for suggestion in suggestions:
            sense = "" if suggestion.sense in seen_senses else suggestion.sense
            seen_senses.add(suggestion.sense)
            why = "; ".join(part for part in (sense, translate_stored(suggestion.why)) if part)
            yield {
                "text": suggestion.text,
                "source": suggestion.source,
                "by": gettext(self.suggesters[suggestion.source]),
                "why": why,
            }

    # -- what machines propose -----------------------------------------------------------------------

    sure: ClassVar[float] = 0.0
    """The score from which on a suggestion is part of the proposal that renames every column."""
    asked_for: ClassVar[str] = ""
    """What a language model is asked to do with the names of columns."""

    def propose(self, item: Item, context: Context) -> Iterator[ProposedResponse]:
        """Every column at once by its best suggestion, and single columns; those that the question names come first."""
        table, whole = item.example.table, []
        spoken = f" {plain(item.example.question)} "
        for column, name in zip(table.column_ids, table.header, strict=True):
            suggestions = self.names_for(table, column, context)[0] if name.strip() else ()
            named = f" {plain(name)} " in spoken.replace("?", " ").replace(",", " ")
            for index, suggestion in enumerate(suggestions):
                if index == 0 and suggestion.score >= self.sure:
                    whole.append((column, suggestion))
                if index < MOST_FOR_A_COLUMN:
                    score = min(1.0, suggestion.score) * (0.9 if named else 0.6) / (index + 1)
                    yield self._proposal(table, [(column, suggestion)], score)
        if len(whole) > 1:
            yield self._proposal(table, whole, 0.95)

    def _proposal(
        self, table: Table, names: Sequence[tuple[str, Suggestion]], score: float
    ) -> ProposedResponse:
        data = self._response_data(table, {column: suggestion.text for column, suggestion in names})
        accepted = [[column, suggestion.text, suggestion.source] for column, suggestion in names]
        why = joined(
            _short(part for _, suggestion in names for part in (suggestion.sense, suggestion.why)), "; "
        )
        by = ", ".join(dict.fromkeys(suggestion.source for _, suggestion in names))
        return ProposedResponse({**data, "taken": accepted}, self.perturbation, by, why, score)

    def _response_data(self, table: Table, names: Mapping[str, str]) -> dict[str, Any]:
        operations = []
        for column, new in names.items():
            at = table.column_index(column)
            operations.append(RenameHeader(column=column, at=at, old=table.header[at], new=new).to_dict())
        return {"does_not_apply": False, "operations": operations, "taken": [], "rejected": []}

    def generation_requests(self, item: Item) -> Sequence[GenerationRequest]:
        form = '{"columns": [{"number": 1, "name": "the old name", "new": "the new name"}]}'
        return [GenerationRequest(self.perturbation, self.asked_for, form, DEMONSTRATIONS)]

    def render(self, item: Item) -> str:
        return relevant_table(item.example.table, item.example.question)

    def as_demonstration(
        self, response: Response, request: GenerationRequest, item: Item
    ) -> Mapping[str, Any] | None:
        if response.does_not_apply:
            return None
        table = item.example.table
        renamed = [operation for operation in response.operations if isinstance(operation, RenameHeader)]
        return {
            "columns": [
                {**column_reference(table, operation.column), "new": operation.new} for operation in renamed
            ]
        }

    def parse_reply(
        self, reply: Mapping[str, Any], request: GenerationRequest, item: Item
    ) -> Mapping[str, Any]:
        require_fields(reply, {"columns"})
        table, columns = item.example.table, reply["columns"]
        if not isinstance(columns, list) or not columns:
            raise invalid_reply("columns", "Columns are a list with at least one column.")
        names: dict[str, str] = {}
        for index, entry in enumerate(columns):
            column = column_of(entry, table, f"columns.{index}")
            if column in names:
                raise invalid_reply(f"columns.{index}", "A column is named twice.")
            names[column] = read_text(entry.get("new"), f"columns.{index}.new")
        return self._response_data(table, names)

    # -- what is asked of a response -----------------------------------------------------------------

    def judge(self, item: Item, operations: Sequence[Operation]) -> Iterable[Problem]:
        for operation in operations:
            if isinstance(operation, RenameHeader) and plain(operation.new) == plain(operation.old):
                message = gettext("“{new}” is only another spelling of “{old}”. Choose another name.").format(
                    new=operation.new, old=operation.old
                )
                yield Problem("operations", "header_same", message)

    def parse_extra_fields(self, sent: Mapping[str, Any], item: Item, edited: Table) -> dict[str, Any]:
        """What was taken counts where the column has a new name; what was turned down counts in any case."""
        checks: dict[int, Callable[[str], bool]] = {
            0: lambda column: column in item.example.table.column_ids,
            2: lambda source: source in self.suggesters,
        }
        renamed = {
            operation.column for operation in sent["operations"] if isinstance(operation, RenameHeader)
        }
        accepted = [entry for entry in read_entries(sent["taken"], "taken", 3, checks) if entry[0] in renamed]
        rejected = read_entries(sent["rejected"], "rejected", 3, checks)
        columns = [column for column, *_ in accepted]
        if len(set(columns)) < len(columns):
            message = gettext("Two suggestions are recorded as the name of one column. Keep one.")
            raise InvalidResponse.of("taken", "taken_twice", message)
        if contradiction := set(accepted).intersection(rejected):
            _, text, _ = min(contradiction)
            message = gettext("The suggestion “{text}” is both accepted and rejected. Choose one.")
            raise InvalidResponse.of("rejected", "taken_and_rejected", message.format(text=text))
        column_index = item.example.table.column_index
        in_order = sorted(rejected, key=lambda entry: (column_index(entry[0]), entry[1:]))
        return {
            "taken": tuple(sorted(accepted, key=lambda entry: column_index(entry[0]))),
            "rejected": tuple(in_order),
        }

    def describe(self, response: Response, item: Item) -> list[str]:
        lines = super().describe(response, item)
        started = {column: (text, source) for column, text, source in response.taken}
        for index, operation in enumerate(response.operations):
            if isinstance(operation, RenameHeader) and operation.column in started:
                text, source = started[operation.column]
                how = (
                    gettext("as suggested")
                    if text == operation.new
                    else gettext("edited from “{text}”, suggested").format(text=text)
                )
                lines[index] = (
                    f"{describe(operation, item.example.table)} ({how}: {gettext(self.suggesters[source])})"
                )
        if response.rejected:
            message = gettext("Rejected suggestions: {value}")
            lines.append(message.format(value=", ".join(text for _, text, _ in response.rejected)))
        return lines

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool | None, list[str]]:
        """Right are names of the expected response, wrong those that it turns down. Others are not judged."""
        if response.does_not_apply != expected.does_not_apply:
            return False, ["Expected:", *self.describe(expected, item)]
        unfit = {(column, plain(text)) for column, text, _ in expected.rejected}
        for operation in response.operations:
            if isinstance(operation, RenameHeader) and (operation.column, plain(operation.new)) in unfit:
                remark = gettext("“{new}” does not fit “{old}” in this table.").format(
                    new=operation.new, old=operation.old
                )
                return False, [remark, "Expected:", *self.describe(expected, item)]
        mine, ours = _new_names(response), _new_names(expected)
        if mine <= ours:
            return True, [] if mine == ours else [gettext("Also possible:"), *self.describe(expected, item)]
        return None, [gettext("One way to do it:"), *self.describe(expected, item)]

    def another(self, name: str) -> str:
        """What a simulated person calls a column of this name."""
        return f"{name.strip()} ({self.perturbation})"

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Renames one column after itself; a careless person says that nothing can be renamed."""
        table = item.example.table
        named = [j for j, name in enumerate(table.header) if name.strip()]
        nothing = {"does_not_apply": True, "operations": [], "taken": [], "rejected": []}
        if not named or rng.random() > accuracy:
            return nothing
        j = rng.choice(named)
        new = self.another(table.header[j])
        if not plain(new) or plain(new) in map(plain, table.header):
            return nothing
        operation = RenameHeader(column=table.column_ids[j], at=j, old=table.header[j], new=new)
        return {**nothing, "does_not_apply": False, "operations": [operation.to_dict()]}

    def beside(self, item: Item, response: Response) -> dict[str, Any]:
        return {
            "taken": [list(entry) for entry in response.taken],
            "rejected": [list(entry) for entry in response.rejected],
        }

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """How good the suggestions are: what became of those that a person judged, by who suggested them."""
        accepted, edited, rejected = Counter[str](), Counter[str](), Counter[str]()
        own = 0
        for row in rows:
            new = {
                operation.column: operation.new
                for operation in row.response.operations
                if isinstance(operation, RenameHeader)
            }
            for column, text, source in row.response.taken:
                (accepted if new[column] == text else edited)[source] += 1
            own += len(new) - len(row.response.taken)
            rejected.update(source for *_, source in row.response.rejected)
        lines: list[tuple[str | int | float | None, ...]] = []
        for source, title in self.suggesters.items():
            judged = accepted[source] + edited[source] + rejected[source]
            share = round(accepted[source] / judged, 4) if judged else None
            lines.append((title, accepted[source], edited[source], rejected[source], share))
        lines.append((gettext("Own names"), own, None, None, None))
        columns = (
            gettext("Suggested by"),
            "Accepted",
            gettext("Accepted after an edit"),
            "Rejected",
            gettext("Share accepted"),
        )
        note = gettext(
            "Share accepted: of the accepted and rejected suggestions. Ignored suggestions are not counted."
        )
        return [Report("Suggestions", columns, tuple(lines), note)]


def _new_names(response: Response) -> set[tuple[str, str]]:
    """What the response calls which column, as names are compared."""
    return {
        (operation.column, plain(operation.new))
        for operation in response.operations
        if isinstance(operation, RenameHeader)
    }


def _short(reasons: Iterable[str]) -> Iterator[str]:
    """The first of the reasons that have at most `MOST_WHY` characters in all."""
    length = 0
    for reason in reasons:
        length += len(reason)
        if length > MOST_WHY:
            return
        yield reason
