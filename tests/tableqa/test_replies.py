r"""Answers in replies of language models: read in every form that models use, and never out of prose.

The forms are those of published prompts: {"answers": [...]} (Askew), {"answer": ...} (Table-R1), \boxed{} (Qwen3), <answer>
(models of reinforcement learning), a bare list (FREB-TQA).
"""

from __future__ import annotations

import json

import pytest

from tableqa.scoring.replies import read_answers

NAMES = (
    *("Paris", "at Dallas Cowboys", "October 12, 2009", "Salt Lake City, Utah", "22", "2,000", "U.S.", "F♯"),
    *("São Paulo", "Ann (USA)", "12 years", "5:04", "no", "C++", "Hey Jude", "50 %", "1988–89", "A.C. Milan"),
    *("3.5", "Team #4", "R", "$5,000", "O'Brien", "AT&T", "None"),
)
PROSE = (
    "The answer is {a} [1].",
    "Looking at rows [3, 4], the answer is {a}.",
    "{a} [1][2], as the table says.",
    "According to the table ([2]), it is {a}",
    'The cells ["{a}", "Oslo"] are in one row, but the question asks for the second.',
    "I compared [{n}, 7] and [5, 9].\n\nThe answer is {a}.",
    "Rows: [1]\nThe answer is {a}.",
    "- {a} [row {n}]\n- Oslo [row 3]",
    "The columns are [Year] and [Team]. {a} has {n}.",
    "It is {a} (see [source: 4]).",
    "[{n}] is the index of {a} in the table.",
    "Sorted by year: [1988, 1989, 1990]. {a} comes first.",
    "Answer: {a}\n[see row {n}]",
    "Let x = [1, 2]; then {a} = x[0].\nHence {a}.",
    "```\nrows = [1, 2, {n}]\n```\nSo the answer is {a}.",
    "| [1] | {a} |\n| [2] | Oslo |",
    "I will write the answers between <answer> and the end: {a}",
    'The column "answer" holds {a}; the list [{n}] is of years.',
    "The set {{{n}, 3}} has two members, [1] and [2]: {a}.",
    "{a}, {{row: [4]}}",
)
"""Each with a name and a number."""
LISTS = [list(NAMES[start : start + 1 + start % 3]) for start in range(0, 20, 2)]
FORMS = (
    '{{"answers": {json}}}',
    '```json\n{{"answers": {json}}}\n```',
    '<think>\nIt may be {{"answers": ["draft"]}} or [3].\n</think>\n{{"answers": {json}}}',
    'Rows [3, 4] decide.\n\n{{"answers": {json}}}',
    '{{"answer": {json}}}',
    '<think>Row [3].</think>\n<answer>\n```json\n{{"answer": {json}}}\n```\n</answer>',
    '{{"reasoning": "the rows [1] and [2]", "answer": {json}}}',
    "{json}",
    "```json\n{json}\n```",
    "Looking at rows [3, 4], the answers are:\n{json}",
    "The rows [1] decide.\n```\n{json}\n```",
    "<answer>{json}</answer>",
    "So it is \\boxed{{{json}}}.",
    '{{"answers": {trailing}}}',
    'Draft: {{"answer": ["draft"]}}. After a check of row [4]: {{"answer": {json}}} is final.',
)
SINGLE_FORMS = (
    '{{"answer": {json}}}',
    '{{"answers": {json}}}',
    '```json\n{{"answer": {json}}}\n```',
    '<think>\\boxed{{draft}}, row [2]</think>{{"answer": {json}}}',
    '<answer>{{"answer": {json}}}</answer>',
    "<think>Row [3].</think>\n\n<answer>{text}</answer>",
    "Row [2] has it.\n<answer>\n{text}\n</answer>",
    "\\boxed{{{latex}}}",
    "Row [2] has the largest value, so the answer is $\\boxed{{{latex}}}$.",
    "First \\boxed{{draft}}, but row [3] says\n\n\\[\\boxed{{\\text{{{latex}}}}}\\]",
    "**Final answer:** \\boxed{{\\textbf{{{latex}}}}}",
    "<think>\n[1], [2]\n</think>\n\nThe answer is \\boxed{{{latex}}}.",
    '{{"answer": {json},}}',
    "{json}",
    "Steps: [1], [2].\n[{json}]",
)


def written(form: str, answers: list[str]) -> str:
    """A reply in one form. LaTeX writes %, $, # and & with a backslash."""
    value = answers if form in FORMS and len(answers) > 0 else answers[0]
    latex = "".join(f"\\{sign}" if sign in "%$#&" else sign for sign in answers[0])
    text = json.dumps(value, ensure_ascii=False)
    return form.format(json=text, trailing=text.removesuffix("]") + ",]", text=answers[0], latex=latex)


def test_no_prose_is_taken_for_answers() -> None:
    replies = {form.format(a=name, n=3 + at) for form in PROSE for at, name in enumerate(NAMES)}
    assert len(replies) == 500
    assert {reply: answers for reply in replies if (answers := read_answers(reply)) is not None} == {}


@pytest.mark.parametrize("form", FORMS)
def test_lists_are_read_in_every_form(form: str) -> None:
    assert [read_answers(written(form, answers)) for answers in LISTS] == LISTS


@pytest.mark.parametrize("form", SINGLE_FORMS)
def test_a_single_answer_is_read_in_every_form(form: str) -> None:
    names = NAMES[:20:2]
    assert [read_answers(written(form, [name])) for name in names] == [[name] for name in names]


@pytest.mark.parametrize(
    "reply",
    [
        "<answer></answer>",
        "\\boxed{}",
        "\\boxed{22",
        '<answer>{"answers": ["2</answer>',
        'Draft: {"answer": "22"}. Final: {"answer": {"x": 1}}',
        "[[1], [2]]",
        '{"answer": null}',
    ],
)
def test_what_cannot_be_read_is_no_answer(reply: str) -> None:
    assert read_answers(reply) is None
