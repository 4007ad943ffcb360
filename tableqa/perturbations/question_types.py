"""Suggestions for the type of a question (FREB-TQA, Zhou et al. 2024): extraction or reasoning.

An extraction question is answered by looking a cell up; a reasoning question needs a count, a comparison, a sum or the
like after that (section 3.2). FREB-TQA selected its questions with three suggesters (section 3.2, Table 2; appendix
A.4): a lexical rule, a language model, and both combined. They are here as pure functions: the rule, the text
of the request to a model and the reading of its reply, and the combination. What people decide stays with people.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from tableqa.cells import fold, fold_all
from tableqa.core.translation import message
from tableqa.data.tables import Table
from tableqa.perturbations.wording import words

Label = Literal["extraction", "reasoning"]

STRUCTURE_WORDS = (
    *(
        "first",
        "second",
        "third",
        "last",
        "top",
        "bottom",
        "before",
        "previous",
        "latter",
        "after",
        "next",
        "below",
    ),
    "above",
)
"""Words by which a question may speak of the order of rows (FREB-TQA, appendix A.3 and Table 13)."""

NOT_A_CELL = message(
    "question_types.not_a_cell", "Reasoning, because the answer “{answer}” is no cell of the table."
)
COMPARES = message("question_types.compares", "Reasoning, because the question compares ({words}).")
NO_ANSWER = message(
    "question_types.no_answer",
    "There is no answer to look for in the table, and the question does not compare.",
)
ALL_CELLS = message(
    "question_types.all_cells", "Extraction: every answer is a cell, and the question does not compare."
)
NO_OPERATION_NAMED = message("question_types.no_operation_named", "The model's reply names no operation.")
NO_OPERATION = message(
    "question_types.no_operation", "Extraction: the model found the answer without an operation."
)
OPERATION = message("question_types.operation", "Reasoning: the model needs an operation ({operation}).")
BOTH = message("question_types.both", "Extraction: the lexical rule and the model agree.")
DISAGREE = message(
    "question_types.disagree", "The lexical rule says extraction, and the model does not agree."
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a suggester says: a label, or None where it says nothing, and why (a message)."""

    label: Label | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"label": self.label, "why": self.why}


def structure_words(question: str) -> tuple[str, ...]:
    """The structure words in a question, in its order, each once."""
    lowered = [word.lower() for word in words(question)]
    return tuple(dict.fromkeys(word for word in lowered if word in STRUCTURE_WORDS))


# -- the lexical rule ------------------------------------------------------------------------------------


def lexical(question: str, table: Table, answers: Sequence[str]) -> Suggestion:
    """The lexical rule: reasoning, if an answer is no cell of the table or the question compares; else extraction.

    An answer is a cell if the whole cell says the same but for case and typography. A question compares if it has a
    comparative or a superlative (`comparisons`). Where there is no answer to look for and the question does not compare,
    the rule says nothing.
    """
    cells = _cells(table) if answers else frozenset()
    missing = [answer for answer in answers if fold(answer).casefold() not in cells]
    if missing:
        return Suggestion("reasoning", NOT_A_CELL.format(answer=_short(missing[0])))
    if comparing_words := comparisons(question):
        named = ", ".join(f"“{word}”" for word in comparing_words)
        return Suggestion("reasoning", COMPARES.format(words=named))
    if not answers:
        return Suggestion(None, NO_ANSWER)
    return Suggestion("extraction", ALL_CELLS)


@lru_cache(maxsize=1)
def _cells(table: Table) -> frozenset[str]:
    """The cells of a table, plain; kept for the next question, which is often about the same table."""
    return frozenset([text.casefold() for text in fold_all([cell for row in table.rows for cell in row])])


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


_ADJECTIVES = (
    "big bold brief bright broad busy calm cheap clean clear close cold cool costly damp dark deadly deep dense dry "
    "early easy faint fair far fast few fine firm flat frequent fresh full grand great happy hard healthy heavy high hot "
    "keen kind large late lengthy light likely little long loose loud low mild narrow near neat new nice noisy old "
    "pale poor popular pretty pure quick quiet rare recent rich rough sad safe scarce severe shallow sharp short simple "
    "slim slow small smart smooth soft soon steep strong sure sweet swift tall thick thin tight tiny tough ugly vast warm "
    "weak wealthy wet wide winning wise young"
)
"""Words that are compared by an ending. A suffix alone does not tell: "number" and "player", "contest" and "forest"."""

_IRREGULAR = (
    "more most less lesser least better best worse worst farther farthest further furthest elder eldest utmost uppermost "
    "innermost outermost topmost foremost fewer fewest latest later earlier earliest"
)
_AWARDS = "picture film actor actress director song album supporting featured"
"""After these words' "best", the superlative is a name's, and not one that the question asks for."""


def comparisons(question: str) -> tuple[str, ...]:
    """The comparatives and superlatives of an English question, in its order, each once.

    From a list of adjectives with their forms and the irregular ones, not from a tagger, which would need data or a
    large library. On the 14,152 questions of WikiTableQuestions' training and development parts it says the same as
    TextBlob's tagger of 99.3 %, and in nearly all others it is the tagger that errs (docs/reference/suggestions.md).
    """
    compared = _compared()
    # Cutting a question into words takes ten times as long as seeing that none of these is in it. A word of ASCII letters
    # begins and ends where letters do, but for contractions with "n't", which `words` cuts off.
    if compared.isdisjoint(_LETTERS.findall(question.lower().replace("n't", " n't"))):
        return ()
    lowered = [word.lower() for word in words(question)]
    matches = []
    for index, word in enumerate(lowered):
        if word in compared:
            following = lowered[index + 1] if index + 1 < len(lowered) else ""
            if not (word == "best" and following in _AWARDS.split()):
                matches.append(word)
    return tuple(dict.fromkeys(matches))


_LETTERS = re.compile("[a-z]+")


@cache
def _compared() -> frozenset[str]:
    forms = set(_IRREGULAR.split())
    for word in _ADJECTIVES.split():
        if word.endswith("y") and word[-2] not in "aeiou":
            stem = word[:-1] + "i"
        elif word.endswith("e"):
            stem = word[:-1]
        elif (
            re.fullmatch(r".*[^aeiou][aeiou][bdgmnpt]", word)
            and sum(letter in "aeiou" for letter in word) == 1
        ):
            stem = word + word[-1]
        else:
            stem = word
        forms |= {stem + "er", stem + "est"}
    return frozenset(forms)


# -- a language model ------------------------------------------------------------------------------------

RETRIEVED = "retrieved"
OPERATIONS = (
    "count",
    "compare",
    "sum",
    "difference",
    "average",
    "ratio",
    "minimum",
    "maximum",
    "order",
    "other",
)
"""What a model may name; anything else that it names counts as "other"."""

MOST_ROWS_SHOWN = 60


def request(question: str, table: Table) -> str:
    """The text to send to a language model, in our own words after the design of FREB-TQA's appendix A.4.

    The model first looks for cells and then says whether they are the answer ("retrieved") or which operation is
    still needed. It does not see the gold answer. Of a long table, the first 60 rows are shown, and the prompt says so.
    """
    rows = [table.header, *table.rows[:MOST_ROWS_SHOWN]]
    lines = [" | ".join(" ".join(cell.split()).replace("|", "/") for cell in row) for row in rows]
    if len(table.rows) > MOST_ROWS_SHOWN:
        lines.append(f"... ({len(table.rows) - MOST_ROWS_SHOWN} more rows)")
    title = [f"Title: {table.title}"] if table.title else []
    return "\n".join(
        (
            "You are given a table and a question about it. Work in two steps.",
            "Step 1: name the cells of the table that are needed to answer the question.",
            "Step 2: if the answer is the text of these cells as it stands, the operation is “retrieved”. If something",
            f"must still be done with them, name it: one of {', '.join(OPERATIONS)}.",
            "Looking for the row or the column is not an operation; comparing numbers or dates, counting and",
            "calculating are.",
            "",
            *title,
            *lines,
            "",
            f"Question: {' '.join(question.split())}",
            "",
            "Answer with two lines and nothing else:",
            "Cells: <the cells, separated by |>",
            "Operation: <one word>",
        )
    )


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, read: the cells that it names and the operation, "retrieved" or one of `OPERATIONS`."""

    cells: tuple[str, ...]
    operation: str


_OPERATION = re.compile(r"^[^\w\n]*operation[^\w\n]*[:=]\W*([a-z]+)", re.IGNORECASE | re.MULTILINE)
_CELLS = re.compile(r"^[^\w\n]*cells[^\w\n]*[:=](.*)$", re.IGNORECASE | re.MULTILINE)
_SPELLINGS = {
    "retrieve": RETRIEVED, "retrieval": RETRIEVED, "lookup": RETRIEVED, "none": RETRIEVED, "extraction": RETRIEVED,
    "counting": "count", "comparison": "compare", "comparing": "compare", "add": "sum", "addition": "sum",
    "total": "sum", "subtract": "difference", "subtraction": "difference", "diff": "difference", "mean": "average",
    "avg": "average", "division": "ratio", "divide": "ratio", "percentage": "ratio", "min": "minimum", "max": "maximum",
    "argmin": "minimum", "argmax": "maximum", "superlative": "maximum", "sort": "order", "sorting": "order",
    "rank": "order", "ranking": "order",
}  # fmt: skip


def read_reply(text: str) -> Reply | None:
    """What a model replied to `request`; None where no operation is to be found in it.

    The last line that names an operation counts (models think aloud first); a reply that is one word is one, too.
    """
    operations = _OPERATION.findall(text[:20_000])
    word = operations[-1].lower() if operations else text.strip().strip("\"'“”.*").lower()
    word = _SPELLINGS.get(word, word)
    if not operations and word not in (RETRIEVED, *OPERATIONS):
        return None
    cells = _CELLS.findall(text[:20_000])
    named = tuple(cell.strip() for cell in cells[-1].split("|") if cell.strip()) if cells else ()
    return Reply(named, word if word in (RETRIEVED, *OPERATIONS) else "other")


def by_model(reply: Reply | None) -> Suggestion:
    """What a model's reply says of the type."""
    if reply is None:
        return Suggestion(None, NO_OPERATION_NAMED)
    if reply.operation == RETRIEVED:
        return Suggestion("extraction", NO_OPERATION)
    return Suggestion("reasoning", OPERATION.format(operation=reply.operation))


def combined(rule: Suggestion, model: Suggestion) -> Suggestion:
    """Both together: extraction where both say so, reasoning where the rule says so, else nothing.

    FREB-TQA took its extraction questions from this one (precision 93.81) and its reasoning questions from the rule
    alone (83.42); about a fifth of the questions got no label (section 3.2, Table 2).
    """
    if rule.label != "extraction":
        return rule
    if rule.label == model.label == "extraction":
        return Suggestion("extraction", BOTH)
    return Suggestion(None, DISAGREE)
