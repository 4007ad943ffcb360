"""The wording of a question: its words, what a paraphrase changed, and the kinds of paraphrases.

Words are cut as in the Penn Treebank ("what's" is "what" and "'s", "didn't" is "did" and "n't"), but by one regular
expression of our own: nltk's Treebank tokenizer gives the same words for 98 % of WikiTableQuestions, but takes three
seconds and 100 MB to import.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from tableqa.core.translation import gettext_noop

LONGEST = 4_000
"""Characters of a question that are compared word by word; two longer ones differ, or not, as a whole."""

_TOKEN = re.compile(
    r"""
    n't\b | '(?:s|m|d|re|ve|ll)\b                      # what stays behind of a contraction
  | (?:[^\W\d_]\.){2,}                                 # U.S.
  | (?:(?<!\S)-)?(?:(?<!\w)\.)?\d+(?:[-–.,:/]\d+)*[^\W_]*(?:-[^\W_]+)*  # 1,204.5  -14  .500  1998-2007  3rd  5-dart
  | [^\W_]+?(?=n't\b)                                  # did|n't
  | [^\W_]+(?:[-‐'’./&][^\W_]+)*?(?='(?:s|m|d|re|ve|ll)\b)  # runner-up|'s
  | [^\W_]+(?:[-‐'’./&][^\W_]+)*                       # runner-up, o'neill, and/or
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign and its position: text[start:end]."""

    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The words, numbers and signs of a text, in order; every character but blanks is in exactly one."""
    return [Token(match.group(), *match.span()) for match in _TOKEN.finditer(text)]


def words(text: str) -> list[str]:
    """The texts of `tokens`, without their positions."""
    return _TOKEN.findall(text)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text, blanks included, that is in the other text, too (`kept`) or is not."""

    text: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Words that gave way to others; one side is "" where words were only put in or taken out."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    """What became of a question.

    before, after   the two texts in pieces, for highlighting: joined, the pieces are the text
    changes         what gave way to what, in order
    kept            the share of the words of both that are kept, 1 for equal wordings
    """

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    changes: tuple[Change, ...]
    kept: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "before": [[piece.text, piece.kept] for piece in self.before],
            "after": [[piece.text, piece.kept] for piece in self.after],
            "changes": [[change.old, change.new] for change in self.changes],
            "kept": round(self.kept, 4),
        }


def word_diff(before: str, after: str) -> WordDiff:
    """Which words of a question were kept; case does not count as a change."""
    if max(len(before), len(after)) > LONGEST:
        same = before == after
        whole = () if same else (Change(before, after),)
        return WordDiff((Piece(before, same),), (Piece(after, same),), whole, float(same))
    old, new = tokens(before), tokens(after)
    matcher = SequenceMatcher(
        None, [t.text.casefold() for t in old], [t.text.casefold() for t in new], autojunk=False
    )
    kept_old, kept_new = set[int](), set[int]()
    changes = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            kept_old.update(range(i, i_end))
            kept_new.update(range(j, j_end))
        else:
            changes.append(Change(_text(before, old[i:i_end]), _text(after, new[j:j_end])))
    total = len(old) + len(new)
    kept_share = 2 * len(kept_old) / total if total else 1.0
    return WordDiff(_pieces(before, old, kept_old), _pieces(after, new, kept_new), tuple(changes), kept_share)


def _text(text: str, some: Sequence[Token]) -> str:
    return text[some[0].start : some[-1].end] if some else ""


def _pieces(text: str, all_tokens: Sequence[Token], kept_indices: set[int]) -> tuple[Piece, ...]:
    """Neighbouring words of one kind are one piece; blanks between two kinds belong to what is kept."""
    pieces: list[Piece] = []
    end = 0
    for index, token in enumerate(all_tokens):
        is_kept = index in kept_indices
        gap = text[end : token.start]
        if pieces and pieces[-1].kept == is_kept:
            pieces[-1] = Piece(pieces[-1].text + gap + token.text, is_kept)
        elif pieces and pieces[-1].kept:
            pieces[-1] = Piece(pieces[-1].text + gap, True)
            pieces.append(Piece(token.text, False))
        else:
            pieces.append(Piece(gap + token.text, is_kept) if is_kept or not gap else Piece(gap, True))
            if not is_kept and gap:
                pieces.append(Piece(token.text, False))
        end = token.end
    if rest := text[end:]:
        if pieces and pieces[-1].kept:
            pieces[-1] = Piece(pieces[-1].text + rest, True)
        else:
            pieces.append(Piece(rest, True))
    return tuple(pieces)


# -- kinds of paraphrases --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of paraphrase in RobuT (Zhao et al. 2023, Table 9), with an example of our own."""

    key: str
    level: Literal["word", "sentence"]
    title: str
    what: str
    before: str
    after: str

    def to_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in ("key", "level", "title", "what", "before", "after")}


CATEGORIES = (
    Category(
        "reasoning_synonym",
        "word",
        gettext_noop("A synonym for the operation (first, most, difference)"),
        "A word that says how to find the answer is replaced by one that says the same.",
        "who finished first?",
        "who finished at the head of the field?",
    ),
    Category(
        "reasoning_carrier",
        "word",
        gettext_noop("Another way to ask (how many → what is the number of)"),
        "The phrase that carries the operation is put differently, as “how many” by “what is the number of”.",
        "how many teams are from Spain?",
        "what is the number of teams from Spain?",
    ),
    Category(
        "header_synonym",
        "word",
        gettext_noop("A synonym for a column name"),
        "A column is spoken of without its name.",
        "which club has more points than Porto?",
        "which club did better than Porto?",
    ),
    Category(
        "header_carrier",
        "word",
        gettext_noop("A synonym for what a column contains (players → athletes)"),
        "What the rows or columns are about is called by another name.",
        "which players are from Brazil?",
        "which sportsmen are from Brazil?",
    ),
    Category(
        "cell_synonym",
        "word",
        gettext_noop("A synonym for a cell value"),
        "What stands in a cell is called by another name.",
        "which films are from the 1960s?",
        "which films are from the sixties?",
    ),
    Category(
        "simplification",
        "sentence",
        gettext_noop("Simpler"),
        "The question says the same in fewer or plainer words.",
        "what was the name of the city in which the final of 1998 took place?",
        "which city hosted the final of 1998?",
    ),
    Category(
        "mood",
        "sentence",
        gettext_noop("Question to request, or back"),
        "An interrogative sentence becomes an imperative one, or the other way round.",
        "how many goals did Ann score?",
        "give the number of goals that Ann scored.",
    ),
    Category(
        "general",
        "sentence",
        gettext_noop("Another sentence structure"),
        "The sentence is built anew and means the same.",
        "which country won more medals, Norway or Sweden?",
        "between Norway and Sweden, who took home the larger number of medals?",
    ),
)
"""The eight kinds, five at the level of words and three at the level of the sentence."""
