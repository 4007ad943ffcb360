"""The form of a task type takes YAML as people copy it from the documentation, a study file or an editor."""

from __future__ import annotations

import pytest

from annotation.study_file import type_definitions
from annotation.study_file.parser import parse
from annotation.study_file.yaml_file import StudyError, read

BODY = """title: Table complexity
instruction: How hard is this table to read?
fields:
  - name: level
    type: choice
    options: [easy, hard]

guidelines: |
  Look at the table first.

      This line is code.
"""
NAME = "table_complexity"
EXPECTED = type_definitions.read(NAME, BODY)


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


NAMED = f"{NAME}:\n{indented(BODY, '  ')}"
WRAPPED = f"task_types:\n{indented(NAMED, '  ')}"
FILE = f"# a study file\nstudy: 1\nproject: {{slug: x, name: X}}\n{WRAPPED}"


@pytest.mark.parametrize(
    "text",
    [
        NAMED,
        WRAPPED,
        FILE,
        f"\n# complexity\n{WRAPPED}",
        f"# complexity\n---\n{BODY}",
        indented(BODY, "    "),
        indented(WRAPPED, "    "),
        indented(BODY, "    ").lstrip(),
        indented(NAMED, "    ").lstrip(),
        indented(WRAPPED, "    ").lstrip(),
        BODY.replace("\n\n", "\n \n"),
    ],
)
def test_a_definition_is_read_with_and_without_the_lines_above_it(text: str) -> None:
    assert type_definitions.read(NAME, text) == EXPECTED


@pytest.mark.parametrize(
    ("text", "line"),
    [(BODY, 6), (NAMED, 7), (WRAPPED, 8), (FILE, 11), (indented(BODY, "    ").lstrip(), 6)],
)
def test_a_fault_has_the_line_and_the_place_in_the_pasted_text(text: str, line: int) -> None:
    with pytest.raises(StudyError) as error:
        type_definitions.read(NAME, text.replace("[easy, hard]", "[easy]"))

    (fault,) = error.value.faults
    assert (fault.line, fault.where) == (line, "fields[1].options")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (NAMED, 1, "The name here is 'table_complexity', the short name 'other'. Use one name."),
        (WRAPPED, 2, "The name here is 'table_complexity', the short name 'other'. Use one name."),
        (
            f"{WRAPPED}{indented(NAMED, '  ').replace(NAME, 'second')}",
            14,
            "The text has 2 task types. Enter one: the lines from its `title` on.",
        ),
        (f"{FILE}batches: []\n", 17, "Enter a task type only, and apply a whole study file"),
        ("task_types:\n", 1, "The text has 0 task types. Enter one"),
    ],
)
def test_text_around_a_definition_that_does_not_fit_is_refused_with_its_line(
    text: str, line: int, message: str
) -> None:
    with pytest.raises(StudyError) as error:
        type_definitions.read("other", text)

    assert error.value.faults[0].line == line, error.value
    assert message in error.value.faults[0].message


def test_a_misspelt_first_key_is_no_name() -> None:
    with pytest.raises(StudyError, match="Unknown key 'titel'"):
        type_definitions.read(NAME, BODY.replace("title: ", "titel:\n  en: "))


@pytest.mark.parametrize("text", [BODY, WRAPPED])
def test_indentation_by_tabs_is_refused_with_its_line_and_the_remedy(text: str) -> None:
    with pytest.raises(StudyError) as error:
        type_definitions.read(NAME, text.replace("    type", "\ttype"))

    (fault,) = error.value.faults
    assert fault.line == 5 + 2 * (text == WRAPPED)
    assert fault.message == "The line begins with a tab. Indent with spaces."


def test_a_tab_within_a_line_of_a_study_file_stays_a_fault_of_yaml() -> None:
    with pytest.raises(StudyError, match=r"line 2: The line begins with a tab\. Indent with spaces"):
        read("study: 1\n\tproject: x\n")
    with pytest.raises(StudyError, match="line 1: This is not valid YAML"):
        read("study: [1\t")
    assert read("text: |\n  a\n  \tb\n").value == {"text": "a\n\tb\n"}


FIELDS = "\n".join(
    f"  - {{name: a{number}, type: choice, label: L, options: [a, b]}}" for number in range(5_000)
)
TOO_MANY = {
    "5,000 fields": (f"fields:\n{FIELDS}", "fields: There are more than 20 entries."),
    "5,000 bad fields": (f"fields:\n{FIELDS.replace('type', 'tipe')}", "fields: There are more than 20"),
    "anchors": (
        f"fields: [{{name: a, type: scale, anchors: {{{', '.join(f'{n}: 3' for n in range(20_000))}}}}}]",
        "anchors: There are more than 21 entries.",
    ),
    "shows": (f"fields: [{{name: a, type: text}}]\nshows: [{'a, 1, ' * 20_000}]", "shows: There are more"),
    "practice": (f"fields: [{{name: a, type: text}}]\npractice: [{'{}, ' * 40_000}]", "more than 50 entries"),
    "keys": ("\n".join(f"k{number}: 1" for number in range(20_000)), "Unknown key 'k0'"),
}


@pytest.mark.parametrize("content", TOO_MANY)
def test_counts_are_checked_before_contents(content: str) -> None:
    """Definitions of 400,000 characters are refused by their counts: nobody reads thousands of faults."""
    type_definitions.read(NAME, BODY)
    text, message = TOO_MANY[content]

    with pytest.raises(StudyError) as error:
        type_definitions.read(NAME, f"title: T\ninstruction: I\n{text}\n")

    assert message in str(error.value)
    assert len(error.value.faults) <= 100


def test_large_study_files_are_refused_by_their_counts() -> None:
    head = "study: 1\nproject: {slug: x, name: x}\nbatches:\n"
    many = "".join(f"  - {{name: P{n}, type: question_type}}\n" for n in range(12_000))
    mixed = ", ".join(f"a{n}" for n in range(20_000))
    ids = f"  - {{name: A, type: question_type, sample: {{only: [1, {mixed}]}}}}\n"
    for content, message in ((many, "batches: There are more than 300"), (ids, "Expected text, not 1")):
        with pytest.raises(StudyError, match=message) as error:
            parse(head + content)
        assert len(error.value.faults) <= 100
