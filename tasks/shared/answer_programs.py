"""How an answer follows: the program that counts for a response, and what it gives on the edited table.

A person may confirm a program, turn down what is offered (`tableqa.programs.executable_answers.NONE`), or say nothing.
Silence does not undo what is known: an example that has a program, or a derivation or a logical form in its source, goes
on by it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tableqa import Example, Table
from tableqa.data.answers import compare
from tableqa.programs import ProgramError
from tableqa.programs.executable_answers import computed, in_words, is_program, own_program

Program = Mapping[str, Any]
"""The JSON of a program."""


def effective_program(confirmed_program: Program | None, example: Example) -> Program | None:
    """The program that counts where somebody said `confirmed_program`: that one, or the example's own where nobody said
    anything.

    None where it was turned down. What the example's own is, `tableqa.programs.executable_answers.own_program` says.
    """
    if confirmed_program is not None:
        return confirmed_program if is_program(confirmed_program) else None
    return own_program(example)


def run_program(program: Program | None, table: Table) -> tuple[str, ...] | ProgramError | None:
    """What the program that counts gives on a table, or why it gives nothing; None where there is none."""
    return None if program is None else computed(program, table)


def answers_agree(result: tuple[str, ...] | ProgramError | None, answers: Sequence[str]) -> bool:
    """Whether an answer is the computed one; where nothing is computed, nothing disagrees."""
    return not isinstance(result, tuple) or compare(answers, result).equal


def program_preview(program: Program | None, example: Example, edited: Table | None) -> dict[str, Any]:
    """What a page is told while somebody works: {"before", "program", "computed", "problem"}.

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
