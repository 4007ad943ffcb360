"""What a question says that programs are found by: its words, its numbers and dates, the operations that it names."""

import re
from dataclasses import dataclass
from functools import cached_property

from tableqa.cells import dates_of, fold, number_of, time_of
from tableqa.programs.layout import STOP_WORDS, words
from tableqa.programs.syntax import Comparison

_LONGEST = 2_000
"""Characters of a question that are looked at."""

_MOST_WORDS = 12
"""Words of a phrase that is looked for in the table."""

_MORE = (
    r"more|higher|larger|greater|bigger|longer|taller|heavier|later|newer|deeper|wider|farther|further|better|faster|"
    r"stronger"
)
_LESS = r"less|fewer|lower|smaller|shorter|lighter|earlier|older|younger|narrower|worse|slower|closer|sooner"

_CUES = {
    "count": r"how many|number of|how often|count|total amount|amount of (?:times|people|different)",
    "sum": r"total|combined|altogether|in all|sum|together|overall|both|add(?:ed)?|collective\w*|cumulative",
    "average": r"average|mean|averaged|typical",
    "subtract": (
        rf"difference|differ|how (?:many|much|long|far) (?:\w+ ){{0,3}}(?:{_MORE}|{_LESS})|"
        rf"(?:{_MORE}|{_LESS}) .{{0,300}}\bthan|"
        r"change|increase|decrease|grow\w*|apart|between|margin|decline|gap|gain|elapsed|passed|take|separate\w*|how long|"
        r"fell|rise|drop|span\w*|cover\w*|by how (?:many|much)|from .{0,300} to|lead"
    ),
    "divide": (
        r"ratio|proportion|times (?:as|more|larger|greater)|fraction|share|percent|percentage|relative|out of|constitut\w*"
    ),
    "percent": r"percent|percentage|%|growth|proportion",
    "largest": (
        r"most|highest|largest|greatest|biggest|longest|tallest|heaviest|latest|newest|youngest|deepest|widest|farthest|"
        r"furthest|best|strongest|maximum|max|top|last|richest|hottest|slowest|loudest|busiest|final|peak|record|oldest|"
        r"ended|end"
    ),
    "larger": _MORE,
    "smallest": (
        r"least|fewest|lowest|smallest|shortest|lightest|earliest|oldest|narrowest|minimum|min|first|fastest|quickest|best|"
        r"top|worst|coldest|closest|nearest|original|begin|began|start|started|initial|youngest|cheapest"
    ),
    "smaller": _LESS,
    "first": r"first|top|initial\w*|start\w*|beginning|earliest|begin|began|opening|debut|original\w*",
    "last": r"last|final|bottom|end|ended|latest|most recent\w*|newest|ending|closing",
    "after": r"after|next|follow\w*|below|succeed\w*|under|beneath|later|subsequent\w*|replaced|proceed\w*",
    "before": r"before|previous\w*|prior|preced\w*|above|ahead|earlier|predecessor|over|on top of",
    "most_common": r"most|common|often|frequent\w*|least|fewest|more|same",
    "often": r"often|commonly|frequently|most common|most frequent|most times|recurring|repeated|represented",
    "different": r"different|unique|distinct|various|separate",
    "not": (
        r"not|other than|besides|except|excluding|without|never|no|else|didn't|wasn't|weren't|outside|other|aside from|non"
    ),
}
"""The words that may name an operation; many name several, and the ranking weighs them."""

_WORD_CUES = {name: re.compile(rf"(?<!\w)((?:{pattern}))(?!\w)") for name, pattern in _CUES.items()}

_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty"
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS.split())})\b")
_NUMBER = re.compile(
    r"(?<![\w.])[-$€£]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)%?(?:st|nd|rd|th)?(?: (?:thousand|million|billion)\b)?(?!\w|'?s\b)"
)
_BOUND = re.compile(
    rf"(?<!\w)(?:at (?:least|most)|(?:(?:no|not) )?(?:{_MORE}|{_LESS}) than)"
    rf"(?= (?:\S+ ){{0,2}}[$#.]?(?:\d|{_NUMBER_WORD.pattern}))|\bor (?:more|less|fewer|better|higher|lower)\b"
)
"""Words that set a bound to a number and name no operation."""

_YES_OR_NO = re.compile(
    r"(?:.*[,:] )?(?:is|are|was|were|did|does|do|has|have|had|can|could|will|would|true or false)\b"
)
_OR = re.compile(
    r"\bor\b(?! (?:more|less|fewer|above|below|over|under|later|earlier|higher|lower|greater|better|after|before|not)\b)"
)

_AHEAD: dict[Comparison, str] = {
    "at_least": (
        r"at least|no less than|no fewer than|since|from|between(?! \S+(?: \S+){0,2} and\b)|minimum of|starting in|"
        r"beginning in|or more than"
    ),
    "at_most": r"at most|no more than|up to|until|through|to|maximum of|not more than|by|within|between (?:\S+ ){1,3}and",
    "greater": (
        rf"(?:{_MORE}|worse|older) (?:than|then)|over|above|exceed\w*|after|past|in excess of|beyond|surpass\w*|beat|"
        r"upwards of"
    ),
    "less": rf"(?:{_LESS}|better|faster|lesser) (?:than|then)|under|below|before|prior to|not exceed\w*|beneath|within",
}
_BEHIND: dict[Comparison, str] = {
    "at_least": (
        r"or (?:more|above|over|higher|greater|better|later|after|longer|older)|"
        r"and (?:above|over|up|later|after|higher)|plus|\+|onwards?|minimum"
    ),
    "at_most": (
        r"or (?:less|fewer|below|under|lower|earlier|before|shorter|younger|worse)|"
        r"and (?:below|under|before|earlier|lower)|maximum"
    ),
}
"""What is before and after a number that is a bound."""

# Two words may be between: "more than the 5", "over 3 times", "after the year 2000".
_WORDS_AHEAD = {
    relation: re.compile(rf"(?<!\w)(?:{words})(?: \S+){{0,2}}$") for relation, words in _AHEAD.items()
}
_WORDS_BEHIND = {
    relation: re.compile(rf"(?:(?<!\w)\w+ ){{0,2}}?(?:{words})(?!\w)") for relation, words in _BEHIND.items()
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A number, date or time of the question: its text, and the relations in the words around it."""

    text: str
    relations: tuple[Comparison, ...]


class Question:
    """A question, taken apart once.

    words    the stems of its words, in order
    content  those that mean something by themselves
    """

    def __init__(self, text: str) -> None:
        self.text = fold(text[:_LONGEST]).lower()
        self.words = words(self.text)
        self.content = frozenset(word for word in self.words if word not in STOP_WORDS)

    @cached_property
    def phrases(self) -> frozenset[tuple[str, ...]]:
        """Every run of up to twelve words that is not made of stop words alone."""
        runs = (
            self.words[start:end]
            for start in range(len(self.words))
            for end in range(start + 1, min(start + _MOST_WORDS, len(self.words)) + 1)
        )
        return frozenset(run for run in runs if not STOP_WORDS.issuperset(run))

    @cached_property
    def cues(self) -> frozenset[str]:
        """The operations that the question's words may name."""
        operations = set(self.cue_words)
        if _YES_OR_NO.match(self.text):
            operations.add("holds")
        if _OR.search(self.text):
            operations.add("pick")
        return frozenset(operations)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The words that say what is counted: up to three after "how many" or "number of"."""
        counted_words: set[str] = set()
        for match in re.finditer(r"(?:how many|number of|count) ((?:\S+ ?){1,3})", self.text):
            counted_words.update(words(match[1]))
        return frozenset(counted_words - STOP_WORDS)

    @cached_property
    def comparatives(self) -> frozenset[str]:
        """Which of "larger" and "smaller" it says, before a number or not."""
        return frozenset(name for name in ("larger", "smaller") if _WORD_CUES[name].search(self.text))

    @cached_property
    def cue_words(self) -> dict[str, frozenset[str]]:
        """For each operation that words name, these words."""
        bare = _BOUND.sub(" ", self.text)
        words_by_cue = {name: frozenset(pattern.findall(bare)) for name, pattern in _WORD_CUES.items()}
        return {name: matched_words for name, matched_words in words_by_cue.items() if matched_words}

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Its numbers, dates and times, in order; a number that is part of a date is not given by itself."""
        spans = self._dates()
        for match in _NUMBER.finditer(self.text):
            if not any(start < match.end() and match.start() < end for start, end, _ in spans):
                text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", match.group().removesuffix("%").strip(" ,"))
                if number_of(text):
                    spans.append((*match.span(), text))
        spans += [(*match.span(), match.group()) for match in _NUMBER_WORD.finditer(self.text)]
        return tuple(Mention(text, self._relations(start, end)) for start, end, text in sorted(spans))

    def _dates(self) -> list[tuple[int, int, str]]:
        """(start, end, text) of the dates and times, each as long as can be, four words at most."""
        pieces = list(re.finditer(r"\S+", self.text))
        spans: list[tuple[int, int, str]] = []
        index = 0
        while index < len(pieces):
            for size in range(min(4, len(pieces) - index), 0, -1):
                start, end = pieces[index].start(), pieces[index + size - 1].end()
                text = self.text[start:end].strip("?.,;:!'\"")
                has_digits = text[:1].isalnum() and any(letter.isdigit() for letter in text)
                if has_digits and (dates_of(text) or time_of(text)):
                    spans.append((start, end, text))
                    index += size - 1
                    break
            index += 1
        return spans

    def _relations(self, start: int, end: int) -> tuple[Comparison, ...]:
        before, after = self.text[:start].rstrip(" $(")[-60:], self.text[end:].lstrip(" %")[:60]
        return tuple(
            relation
            for relation, ahead in _WORDS_AHEAD.items()
            if ahead.search(before) or (relation in _WORDS_BEHIND and _WORDS_BEHIND[relation].match(after))
        )


_SAME_NAMES = (
    # words of questions: what is in tables for them
    ("win won victory victorie beat", "w|win|won|victory"),
    ("lose los loss losse lost defeat", "l|lost|loss|defeat"),
    ("draw drew", "d|draw|drew|tie"),
    ("tie ti tied", "t|tie|tied|draw|d"),
    ("home", "home|h"),
    ("away road", "away|road|a"),
    ("retir", "ret|retired|dnf"),
    ("male man men", "m|male"),
    ("female woman women", "f|female"),
    ("gold", "gold|1st"),
    ("silver", "silver|2nd"),
    ("bronze", "bronze|3rd"),
    ("american", "united states|usa|us"),
    ("british", "united kingdom|great britain|uk"),
    ("dutch", "netherlands"),
    ("french", "france"),
    ("german", "germany"),
    ("spanish", "spain"),
    ("swiss", "switzerland"),
    ("welsh", "wales"),
    ("irish", "ireland"),
    ("english", "england"),
    ("scottish", "scotland"),
    ("swedish", "sweden"),
    ("danish", "denmark"),
    ("polish", "poland"),
    ("turkish", "turkey"),
    ("finnish", "finland"),
    ("greek", "greece"),
)
NAMES_OF_RESULTS = {word: tuple(texts.split("|")) for stems, texts in _SAME_NAMES for word in stems.split()}
"""Stems of questions and what tables have for them: codes of results, sexes, countries whose adjective differs."""
