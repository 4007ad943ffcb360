"""How an answer follows: from which cells, and by the program that counts for a response, run on the edited table.

A person may confirm a program, turn down what is offered (`tableqa.programs.executable_answers.NONE`), or say nothing.
Silence does not undo what is known: an example that has a program, or a derivation or a logical form in its source, goes
on by it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tableqa import Example, Table
from tableqa.core.translation import gettext
from tableqa.data.answers import compare, normal_forms
from tableqa.operations import Operation, OperationError, normalise, replay
from tableqa.programs import ProgramError
from tableqa.programs.evidence import CellRef, cells_in
from tableqa.programs.executable_answers import computed, in_words, is_program, own_program
from tasks.contract import InvalidResponse, Item

Program = Mapping[str, Any]
"""The JSON of a program."""


def marked_cells(item: Item) -> tuple[CellRef, ...]:
    """The evidence of the item, in the order of its table."""
    return cells_in(item.example.table, item.inputs.get("evidence", {}).get("cells"))


def cells_with_answer(table: Table, answers: Sequence[str], *, header: bool = False) -> list[CellRef]:
    """The cells that hold an answer, row by row, those of the header last."""
    answer_forms = {form for answer in answers for form in normal_forms(answer)}
    lines = [(table.header_id, table.header)] if header else []
    return [
        (row, column)
        for row, cells in [*zip(table.row_ids, table.rows, strict=True), *lines]
        for column, text in zip(table.column_ids, cells, strict=True)
        if text.strip() and not answer_forms.isdisjoint(normal_forms(text))
    ]


def replay_response(operations: Sequence[Operation], table: Table) -> tuple[tuple[Operation, ...], Table]:
    """The net operations of a response and the table that they make. Raises `InvalidResponse`."""
    try:
        net = tuple(normalise(operations, table))
        return net, replay(table, net)
    except OperationError as error:
        raise InvalidResponse.of("operations", error.code, str(error)) from None


def effective_program(confirmed_program: Program | None, example: Example) -> Program | None:
    """The program that counts where a person said `confirmed_program`: that one, or the example's own if none did
    anything.

    None where it was turned down. What the example's own is, `tableqa.programs.executable_answers.own_program` says.
    """
    if confirmed_program is not None:
        return confirmed_program if is_program(confirmed_program) else None
    return own_program(example)


def program_lines(confirmed_program: Program | None, example: Example) -> list[str]:
    """The program that counts in a line of a description; nothing where the answer follows from none."""
    words = in_words(confirmed_program or effective_program(None, example), example.table)
    return [gettext("How the answer is worked out: {words}").format(words=words)] if words else []


def run_program(program: Program | None, table: Table) -> tuple[str, ...] | ProgramError | None:
    """What the program that counts gives on a table, or why it gives nothing; None where there is none."""
    return None if program is None else computed(program, table)


def answers_agree(result: tuple[str, ...] | ProgramError | None, answers: Sequence[str]) -> bool:
    """Whether an answer is the computed one; where nothing is computed, nothing disagrees."""
    return not isinstance(result, tuple) or compare(answers, result).equal


def program_preview(program: Program | None, example: Example, edited: Table | None) -> dict[str, Any]:
    """What a page receives while a person works: {"before", "program", "computed", "problem"}.

    before    the answer of the example
    program   the program that counts, in words; None without one, or while there is no edited table
    computed  what it gives there, None where it gives nothing; `problem` then says why
    """
    preview: dict[str, Any] = {
        "before": list(example.answers),
        "program": None,
        "computed": None,
        "problem": "",
    }
    result = None if edited is None else run_program(program, edited)
    if result is None:
        return preview
    preview["program"] = in_words(program, example.table)
    if isinstance(result, ProgramError):
        return {**preview, "problem": result.message}
    return {**preview, "computed": list(result)}
