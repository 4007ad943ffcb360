"""Paraphrases of a question by rules: other words, or another sentence, for the same. (RobuT 3.1, table 9)

The rule-based counterpart of what people and language models write (RobuT's RTA). A rule fires only where its pattern
leaves little doubt: a noun is exchanged only where it names a column, because a column's cells tell which of a word's
senses is meant. Meaning is for a person to judge; what comes from here is a proposal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tableqa.core.translation import joined
from tableqa.data.tables import Table
from tableqa.perturbations.headers.synonyms import synonyms
from tableqa.perturbations.headers.thesaurus import Thesaurus
from tableqa.perturbations.headers.word_forms import words_of

if TYPE_CHECKING:
    from tableqa.perturbations.headers.names import HeaderNames

LONGEST = 600
"""Characters of a question that rules look at."""
MOST_NAMES = 3
"""Other words for one column that are tried."""


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A question in other words: which of `wording.CATEGORIES` it is, what made it, why, and how sure it is."""

    question: str
    category: str
    by: str
    why: str
    score: float


def rewordings(
    question: str, table: Table, thesaurus: Any = None, names: HeaderNames | None = None
) -> list[Paraphrase]:
    """The question with one of its words exchanged, the best first; each question once. (Word level)

    Without a thesaurus (`Unavailable` or None) only the rules that need none are used.
    """
    if len(question) > LONGEST:
        return []
    candidates = [*_by_phrases(question), *_by_cells(question, table)]
    if isinstance(thesaurus, Thesaurus):
        candidates += _by_columns(question, table, thesaurus, names)
    return _best(question, candidates)


def rephrasings(question: str) -> list[Paraphrase]:
    """The question as another sentence, the best first; each question once. (Sentence level)"""
    if len(question) > LONGEST:
        return []
    bare = " ".join(question.split()).rstrip(" ?.!")
    return _best(question, [*_simpler(bare), *_requests(bare), *_questions(bare), *_reordered(bare)])


def _best(question: str, candidates: Iterable[Paraphrase]) -> list[Paraphrase]:
    best: dict[str, Paraphrase] = {}
    for candidate in candidates:
        key = _bare(candidate.question)
        if key != _bare(question) and (key not in best or best[key].score < candidate.score):
            best[key] = candidate
    return sorted(best.values(), key=lambda candidate: (-candidate.score, candidate.question))


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" ?.!")


# -- other words ------------------------------------------------------------------------------------------

Rule = tuple[str, str, str, float]
"""A pattern, what is in its place, the category, and how sure the rule is."""

PHRASES: tuple[Rule, ...] = (
    # what is to be done
    (r"\bthe most (?=[a-z]+s\b)", "the largest number of ", "reasoning_synonym", 0.9),
    (r"\bthe (?:least|fewest) (?=[a-z]+s\b)", "the smallest number of ", "reasoning_synonym", 0.9),
    (r"\bthe (?:highest|greatest|largest) number of\b", "the most", "reasoning_synonym", 0.9),
    (r"\bthe (?:lowest|smallest|least) number of\b", "the fewest", "reasoning_synonym", 0.9),
    (r"\bhighest\b", "greatest", "reasoning_synonym", 0.5),
    (r"\blowest\b", "smallest", "reasoning_synonym", 0.5),
    (r"\blargest\b", "biggest", "reasoning_synonym", 0.8),
    (r"\bbiggest\b", "largest", "reasoning_synonym", 0.8),
    (r"\bthe (?:latest|most recent)\b", "the newest", "reasoning_synonym", 0.6),
    (r"\bat least (?=\d)", "no fewer than ", "reasoning_synonym", 0.85),
    (r"\bat most (?=\d)", "no more than ", "reasoning_synonym", 0.85),
    (r"\b(?:more|greater|higher) than (?=[\d$€£])", "over ", "reasoning_synonym", 0.8),
    (r"\b(?:less|fewer|lower) than (?=[\d$€£])", "under ", "reasoning_synonym", 0.8),
    (r"\bprior to\b", "before", "reasoning_synonym", 0.85),
    (r"\bbefore (?=\d{4}\b)", "prior to ", "reasoning_synonym", 0.85),
    (r"\bafter (?=\d{4}\b)", "later than ", "reasoning_synonym", 0.75),
    (r"\bsince (?=\d{4}\b)", "from ", "reasoning_synonym", 0.3),
    (r"\bconsecutive\b", "successive", "reasoning_synonym", 0.8),
    (r"\bthe average\b", "the mean", "reasoning_synonym", 0.8),
    (r"\bthe difference between\b", "the gap between", "reasoning_synonym", 0.6),
    (r"\bthe difference in\b", "the gap in", "reasoning_synonym", 0.6),
    (r"\bthe same (?=[a-z]+ as\b)", "an identical ", "reasoning_synonym", 0.3),
    (r"\bthe only (?=[a-z]+\b)", "the sole ", "reasoning_synonym", 0.7),
    (r"\bin total\b", "altogether", "reasoning_synonym", 0.85),
    (r"\baltogether\b", "in total", "reasoning_synonym", 0.85),
    (r"\bthe last\b", "the final", "reasoning_synonym", 0.6),
    (r"\bthe final\b", "the last", "reasoning_synonym", 0.6),
    (r"\bthe previous\b", "the preceding", "reasoning_synonym", 0.7),
    (r"\bthe next\b", "the following", "reasoning_synonym", 0.6),
    (r"\bdirectly (?=before|after|above|below)", "immediately ", "reasoning_synonym", 0.85),
    (r"\bjust (?=before|after|above|below)", "immediately ", "reasoning_synonym", 0.85),
    # what is asked
    (r"\b(?:the )?total number of\b", "the overall number of", "reasoning_carrier", 0.8),
    (r"\bthe total amount of\b", "the overall amount of", "reasoning_carrier", 0.8),
    (r"\bhow long (?=(?:is|was|were|are|did)\b)", "for how much time ", "reasoning_carrier", 0.2),
    (r"^how many more\b", "by how many more", "reasoning_carrier", 0.1),
    (r"^(?:in )?what year (?=did|was|were)", "in which year ", "reasoning_carrier", 0.8),
    (r"^(?:in )?which year (?=did|was|were)", "in what year ", "reasoning_carrier", 0.8),
    (r"^on what date\b", "on which day", "reasoning_carrier", 0.7),
    (r"^when (?=did|was|were|is)", "on what date ", "reasoning_carrier", 0.25),
    (r"^what is the name of the\b", "which is the", "reasoning_carrier", 0.4),
    (r"\bthe number of times\b", "how often", "reasoning_carrier", 0.1),
    (r"\bhow many times\b", "how often", "reasoning_carrier", 0.85),
    (r"\bhow often\b", "how many times", "reasoning_carrier", 0.85),
    # a cell
    (r"\b19([2-9])0'?s\b", "DECADE", "cell_synonym", 0.85),
    (r"\b(?:u\.s\.a?\.|usa\b)", "United States", "cell_synonym", 0.75),
    (r"\b(?:u\.k\.|uk\b)", "United Kingdom", "cell_synonym", 0.75),
)
"""Phrases that can replace each other nearly anywhere. Written for this purpose; what is unsure has a low score."""

DECADES = dict(
    zip(
        "23456789",
        ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"],
        strict=True,
    )
)
NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]

COUNTED = re.compile(
    r"^how many (?P<what>[a-z][a-z' -]*?) (?P<verb>are|were|is|was|have|has|had|won|lost|finished|scored|played)"
    r" (?P<rest>(?!there\b|he\b|she\b|it\b|they\b|you\b|the\b|this\b).+)$",
    re.IGNORECASE,
)
"""A subject that is counted: "how many teams are from Spain"."""


def _by_phrases(question: str) -> Iterator[Paraphrase]:
    for pattern, new, category, score in PHRASES:
        match = re.search(pattern, question, re.IGNORECASE)
        if match is None:
            continue
        put = DECADES[match.group(1)] if new == "DECADE" else new
        if question[match.start() : match.start() + 1].isupper() and match.start() == 0:
            put = put[:1].upper() + put[1:]
        why = f"“{match.group().strip()}” becomes “{put.strip()}”"
        yield Paraphrase(_put(question, match.start(), match.end(), put), category, "phrases", why, score)
    bare = question.strip().rstrip(" ?")
    if (match := COUNTED.match(bare)) and not _asks_twice(match["what"]):
        counted = f"what is the number of {match['what']} that {match['verb']} {match['rest']}?"
        yield Paraphrase(counted, "reasoning_carrier", "phrases", "“how many” becomes “the number of”", 0.85)


def _asks_twice(phrase: str) -> bool:
    return bool(
        {"more", "fewer", "less", "times", "of", "did", "does", "do"}.intersection(phrase.lower().split())
    )


def _put(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _by_cells(question: str, table: Table) -> Iterator[Paraphrase]:
    """Small numbers and ordinals as words and back, where they are no part of a cell's text of several words."""
    for match in re.finditer(r"(?<![\w.,/-])(\d{1,2})(st|nd|rd|th)?(?![\w/-]|[.,]\d)", question):
        number, ending = int(match.group(1)), match.group(2)
        if _within_a_cell(match.group(), question, table):
            continue
        text = ORDINALS[number - 1] if ending and 1 <= number <= 10 else None
        text = NUMBERS[number] if not ending and 2 <= number <= 12 else text
        if text is not None:
            why = f"“{match.group()}” becomes “{text}”"
            yield Paraphrase(
                _put(question, match.start(), match.end(), text), "cell_synonym", "numbers", why, 0.6
            )


def _within_a_cell(text: str, question: str, table: Table) -> bool:
    """Whether the text is in the question as part of a longer cell: the 2 of "Rambo 2"."""
    lower = question.casefold()
    return any(
        text in cell and len(cell.split()) > 1 and cell.casefold() in lower
        for row in table.rows
        for cell in row
    )


def _by_columns(
    question: str, table: Table, thesaurus: Thesaurus, names: HeaderNames | None
) -> Iterator[Paraphrase]:
    """Words that name a column, by what else the column could be called: its cells say which sense is meant."""
    words = words_of(question)
    for column, header in zip(table.column_ids, table.header, strict=True):
        of_header = [word for word in words_of(header) if not word.small]
        if len(of_header) != 1:
            continue
        listed = {reading.word for reading in thesaurus.readings(of_header[0].text) if reading.kind == "n"}
        places = [
            word
            for word in words
            if listed.intersection(entry.word for entry in thesaurus.readings(word.text) if entry.kind == "n")
            and not _within_a_cell(word.text, question, table)
        ]
        if len(places) != 1:  # named twice, one of them might be something else
            continue
        word = places[0]
        form = next((entry.form for entry in thesaurus.readings(word.text) if entry.word in listed), "base")
        for other in synonyms(table, column, thesaurus, names, limit=MOST_NAMES).found:
            new = _in_form(other.text, form, thesaurus)
            if new is None or new.casefold() == word.text.casefold():
                continue
            before = question[: word.start]
            is_question_target = bool(
                re.search(r"\b(?:which|what|how many|whose)\s+(?:[a-z]+\s+)?$", before, re.IGNORECASE)
            )
            category = "header_carrier" if is_question_target else "header_synonym"
            why = joined([other.sense, other.why], "; ")
            changed = _put(
                _article(before, new) + question[word.start :],
                len(_article(before, new)),
                len(_article(before, new)) + len(word.text),
                new,
            )
            yield Paraphrase(changed, category, "thesaurus", why, min(0.95, other.score))


def _in_form(name: str, form: str, thesaurus: Thesaurus) -> str | None:
    """Another name for a column as a question writes it: in small letters, and in the plural where the word was."""
    lower = name.strip().lower()
    if not re.fullmatch(r"[a-z]+(?: [a-z]+)*", lower):
        return None
    plural = any(reading.form == "plural" for reading in thesaurus.readings(lower.split()[-1]))
    if form == "plural" and not plural:
        return thesaurus.inflect(lower, "n", "plural")
    return lower if plural == (form == "plural") else None


def _article(before: str, new: str) -> str:
    """“a” and “an” as the next word wants them."""
    match = re.search(r"\b(an?)(\s+)$", before, re.IGNORECASE)
    if match is None:
        return before
    article = "an" if new[:1] in "aeiou" else "a"
    return before[: match.start()] + article + match.group(2)


# -- other sentences --------------------------------------------------------------------------------------

PAST = {
    "win": "won", "lose": "lost", "play": "played", "score": "scored", "finish": "finished", "come": "came",
    "take": "took", "get": "got", "make": "made", "receive": "received", "have": "had", "place": "placed",
    "rank": "ranked", "earn": "earned", "beat": "beat", "defeat": "defeated", "start": "started",
    "begin": "began", "end": "ended", "open": "opened", "close": "closed", "compete": "competed", "serve": "served",
    "appear": "appeared", "release": "released", "produce": "produced", "direct": "directed", "write": "wrote",
    "happen": "happened", "occur": "occurred", "live": "lived", "die": "died", "represent": "represented",
    "attend": "attended", "host": "hosted", "hold": "held", "run": "ran", "reach": "reached", "record": "recorded",
    "sell": "sold", "spend": "spent", "last": "lasted", "participate": "participated", "join": "joined",
    "leave": "left", "star": "starred", "land": "landed", "build": "built", "lead": "led", "set": "set",
}  # fmt: skip
"""Verbs that questions about tables ask with, and their past."""

SUBJECT_VERBS = "|".join(sorted({"is", "was", "are", "were", "has", "had", "have", *PAST.values()}))
NOUNS = r"[a-z][a-z'-]*(?: (?:of )?[a-z][a-z'-]*){0,3}?"
TAIL = re.compile(
    r"^(?P<head>(?:who|what|which|how many|when|where)\b.+?) "
    r"(?P<tail>(?:in|during|since|after|before|by) (?:the )?(?:\d{4}(?:[-–/]\d{2,4})?|[12]\d\d0s)"
    r"|between \d{4} and \d{4}|from \d{4} to \d{4})$",
    re.IGNORECASE,
)
FILLERS = (
    r"^(?:according to|based on|going by|looking at) (?:the|this) (?:table|chart|list|data),? *",
    r",? {0,3}(?:according to|based on|in|on|from) (?:the|this) (?:table|chart|list)$",
    r",? {0,3}as (?:shown|listed|given) (?:in|on) (?:the|this) (?:table|chart|list)$",
    r" (?:that (?:is|are|was|were) )?(?:listed|shown) (?:here|above|below)$",
)
LONG_WINDED: tuple[tuple[str, str], ...] = (
    (r"^(?:what|which) (?:is|was) the name of the (?P<x>[a-z ]+?) (?:that|who|which) (?P<y>.+)$", r"which \g<x> \g<y>"),
    (r"^what (?:is|was|are) the total (?:number|amount) of (?P<x>[a-z ]+)$", r"how many \g<x> are there"),
    (r"^what (?:is|was|are) the (?:total )?number of (?P<x>[a-z]+s) (?:that|who) (?P<y>.+)$", r"how many \g<x> \g<y>"),
    (r"^what (?:is|was) the difference between the number of (?P<x>[a-z]+s) (?:of|for|by) (?P<y>.+?) and (?P<z>[^,]+)$",
     r"by how many do the \g<x> of \g<y> and \g<z> differ"),
    (r"^how many (?P<x>[a-z ]+?) are there (?:that|who) (?P<y>.+)$", r"how many \g<x> \g<y>"),
    (r"^can you (?:please )?(?:tell me|say|name) (?P<x>.+)$", r"\g<x>"),
    (r"^(?:please )?(?:tell me|say) (?P<x>(?:who|what|which|how|when|where)\b.+)$", r"\g<x>"),
)  # fmt: skip


def _simpler(question: str) -> Iterator[Paraphrase]:
    for pattern in FILLERS:
        shorter = re.sub(pattern, "", question, count=1, flags=re.IGNORECASE).strip()
        if shorter != question and len(shorter.split()) > 2:
            yield Paraphrase(
                f"{shorter}?", "simplification", "templates", "What says nothing is left out", 0.9
            )
    for pattern, new in LONG_WINDED:
        shorter, changed = re.subn(pattern, new, question, count=1, flags=re.IGNORECASE)
        if changed:
            yield Paraphrase(f"{shorter}?", "simplification", "templates", "The same in fewer words", 0.75)


def _requests(question: str) -> Iterator[Paraphrase]:
    """A question as a request."""

    def as_paraphrase(text: str, score: float) -> Paraphrase:
        return Paraphrase(f"{text}.", "mood", "templates", "The question becomes a request", score)

    if (
        match := re.match(
            rf"^(?:which|what) (?P<x>{NOUNS}) (?P<y>(?:{SUBJECT_VERBS})\b(?! there\b).*)$",
            question,
            re.IGNORECASE,
        )
    ) and match["x"].split()[-1].lower() not in PAST.values():
        yield as_paraphrase(f"name the {match['x']} that {match['y']}", 0.9)
    if match := re.match(r"^(?P<w>who|whose) (?P<y>.+)$", question, re.IGNORECASE):
        yield (
            as_paraphrase(f"tell me {match['w'].lower()} {match['y']}", 0.7)
            if not re.search(r"\b(?:did|does|do)\b", question, re.IGNORECASE)
            else as_paraphrase(f"say {_straight(question)}", 0.6)
        )
    if match := re.match(r"^what (?P<v>is|was|are|were) the (?P<y>.+)$", question, re.IGNORECASE):
        yield as_paraphrase(f"give the {match['y']}", 0.8)
    if (match := COUNTED.match(question)) and not _asks_twice(match["what"]):
        yield as_paraphrase(f"give the number of {match['what']} that {match['verb']} {match['rest']}", 0.85)
    if match := re.match(r"^how many (?P<x>[a-z ]+?) (?:are|were) there(?P<y>.*)$", question, re.IGNORECASE):
        yield as_paraphrase(f"count the {match['x']}{match['y']}", 0.75)
    straight = _straight(question)
    if straight and straight != question:
        yield as_paraphrase(f"say {straight}", 0.7)


def _straight(question: str) -> str:
    """A question with “did” in the order of a statement: "when did Ann win" is "when Ann won". "" if unknown."""
    match = re.match(
        r"^(?P<w>(?:when|where|what|which|how many|who)\b(?: [a-z]+){0,3}?) did (?P<x>.+)$",
        question,
        re.IGNORECASE,
    )
    if match is None:
        return ""
    words = match["x"].split()
    for index, word in enumerate(words[1:6], start=1):
        if word in PAST:
            return " ".join([match["w"].lower(), *words[:index], PAST[word], *words[index + 1 :]])
    return ""


def _questions(request: str) -> Iterator[Paraphrase]:
    """A request as a question."""
    for pattern, new in (
        (r"^(?:name|give|list|find) (?:me )?the (?P<x>[a-z ]+?) that (?P<y>.+)$", r"which \g<x> \g<y>"),
        (r"^(?:name|give|list|state) (?:me )?the (?P<x>.+)$", r"what is the \g<x>"),
        (
            r"^(?:name|list) (?P<x>an?|one|another) (?P<y>[a-z ]+?) that (?P<z>.+)$",
            r"what is \g<x> \g<y> that \g<z>",
        ),
    ):
        question, changed = re.subn(pattern, new, request, count=1, flags=re.IGNORECASE)
        if changed:
            yield Paraphrase(f"{question}?", "mood", "templates", "The request becomes a question", 0.8)
            return


def _reordered(question: str) -> Iterator[Paraphrase]:
    def as_paraphrase(text: str, why: str, score: float) -> Paraphrase:
        return Paraphrase(f"{text}?", "general", "templates", why, score)

    if match := TAIL.match(question):
        head = match["head"]
        head = head if head[:2].isupper() else head[:1].lower() + head[1:]
        yield as_paraphrase(f"{match['tail']}, {head}", "The time comes first", 0.85)
    match = re.match(
        rf"^who (?P<y>(?!is\b|are\b|was\b|were\b)(?:{SUBJECT_VERBS})\b.+)$", question, re.IGNORECASE
    )
    if match:
        yield as_paraphrase(f"who was it that {match['y']}", "The sentence is built anew", 0.7)
    if match := re.match(
        rf"^(?:which|what) (?P<x>{NOUNS}) (?P<y>(?:{SUBJECT_VERBS})\b(?! there\b).+)$",
        question,
        re.IGNORECASE,
    ):
        first = match["y"].split()[0].lower()
        if first not in ("is", "are", "were") and match["x"].split()[-1].lower() not in PAST.values():
            verb = "was" if first == "was" or first in PAST.values() else "is"
            yield as_paraphrase(
                f"what {verb} the {match['x']} that {match['y']}", "The sentence is built anew", 0.7
            )
    if match := re.match(
        r"^(?P<q>(?:who|which|what)\b[^,:]+?)[,:] (?P<a>[^,]+?),? or (?P<b>[^,]+)$", question, re.IGNORECASE
    ):
        question_head = match["q"][:1].lower() + match["q"][1:]
        yield as_paraphrase(
            f"between {match['a']} and {match['b']}, {question_head}", "What is compared comes first", 0.85
        )
