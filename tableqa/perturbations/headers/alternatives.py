"""What a suggestion is, and what is in its place where there can be none."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A new name for a column.

    text    the whole new header, in the case of the old one
    source  "usual", "thesaurus", "project", or the rule of an abbreviation ("dictionary", "truncation", "vowels",
            "initials")
    why     the reason in words, for the person who decides
    score   higher is better; comparable within one list only
    sense   what the word means where it means the same, from the thesaurus; "" where that is no matter
    """

    text: str
    source: str
    why: str
    score: float
    sense: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "source": self.source,
            "why": self.why,
            "score": round(self.score, 4),
            "sense": self.sense,
        }


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a source of suggestions has nothing to say: a sentence with the fault and its fix."""

    reason: str


@dataclass(frozen=True, slots=True)
class SuggestionList:
    """Suggestions for one column, best first, and what was not available for making them."""

    found: tuple[Suggestion, ...]
    missing: tuple[Unavailable, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "found": [suggestion.to_dict() for suggestion in self.found],
            "missing": [unavailable.reason for unavailable in self.missing],
        }
