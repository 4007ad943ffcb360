"""Words that pages make of names in data: states, roles, fields of forms, columns of reports. Listed for translators.

They are shown with the filter `translated` (templatetags/language.py), which finds them in the catalogue. `shown` is
that filter for Python; it shows stored messages (`tableqa.language.Message`), too.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from django.utils.formats import get_format
from django.utils.translation import gettext, gettext_noop

from tableqa import language
from tableqa.proportions import Proportion


def shown(words: Any) -> str:
    """A stored message, code or word in the reader's language; other texts as they are."""
    if isinstance(words, language.Message):
        return words.shown()
    text = "" if words is None else str(words)
    return language.shown(CODES.get(text, text))


MESSAGES = (
    "annotation.jobs",
    "annotation.journeys.adjudicating",
    "annotation.quality.snapshots",
    "tableqa.agreement",
    "tableqa.cell_sets",
    "tableqa.corpus",
    "tableqa.edit_agreement",
    "tableqa.evidence",
    "tableqa.habits",
    "tableqa.headers.abbreviations",
    "tableqa.headers.names",
    "tableqa.headers.synonyms",
    "tableqa.headers.usual",
    "tableqa.metrics",
    "tableqa.needed",
    "tableqa.perturbations.kinds",
    "tableqa.serialisations.torr",
    "tasks.resolving",
)
"""Modules that declare messages, beside the task types."""


def load_messages() -> None:
    """Import the modules that declare messages, so that every stored code is known."""
    from tasks.contract import task_types

    for module in MESSAGES:
        import_module(module)
    task_types()


def number(text: str) -> str:
    """A number as Python writes it, such as 1,204.5, in the form of the reader's language."""
    marks = {".": str(get_format("DECIMAL_SEPARATOR")), ",": str(get_format("THOUSAND_SEPARATOR"))}
    return re.sub("[.,]", lambda mark: marks[mark[0]], text)


def decimal(value: float, digits: int = 3) -> str:
    """A number with so many decimals and a true minus, in the form of the reader's language."""
    said = f"{value:.{digits}f}"
    if not float(said):
        said = said.removeprefix("-")
    return number(said.replace("-", "\N{MINUS SIGN}"))


def percent(share: Proportion) -> str:
    """A share, "92.5 %", in the form of the reader's language."""
    return number(share.percent)


def interval(share: Proportion) -> str:
    """The interval of a share, "88.0 to 95.4 %", in the form of the reader's language."""
    if share.low is None or share.high is None:
        return share.interval
    return gettext("{low} to {high} %").format(
        low=decimal(100 * share.low, 1), high=decimal(100 * share.high, 1)
    )


def measure(name: str) -> str:
    """A measure of agreement: question_ambiguous is "question ambiguous"."""
    return shown(name.replace("_", " "))


SHOWN = (
    gettext_noop("Accepted"),
    gettext_noop("Adjudication"),
    gettext_noop("Adjudicator"),
    gettext_noop("Agreement"),
    gettext_noop("Ambiguous"),
    gettext_noop("Annotator"),
    gettext_noop("Answer"),
    gettext_noop("Batch"),
    gettext_noop("Change"),
    gettext_noop("Completion code"),
    gettext_noop("Comprehensiveness"),
    gettext_noop("Correct"),
    gettext_noop("Count"),
    gettext_noop("Dashboard"),
    gettext_noop("Data"),
    gettext_noop("Day"),
    gettext_noop("Email"),
    gettext_noop("Extraction"),
    gettext_noop("Faithfulness"),
    gettext_noop("False"),
    gettext_noop("Format"),
    gettext_noop("Gold"),
    gettext_noop("Hours"),
    gettext_noop("Items"),
    gettext_noop("Keep"),
    gettext_noop("Kind"),
    gettext_noop("Kinds"),
    gettext_noop("Label"),
    gettext_noop("Made"),
    gettext_noop("Manager"),
    gettext_noop("Members"),
    gettext_noop("Mix seed"),
    gettext_noop("Model"),
    gettext_noop("Name"),
    gettext_noop("Neither"),
    gettext_noop("No"),
    gettext_noop("Note"),
    gettext_noop("Overlap"),
    gettext_noop("Overview"),
    gettext_noop("Pace"),
    gettext_noop("Password"),
    gettext_noop("People"),
    gettext_noop("Person"),
    gettext_noop("Platform"),
    gettext_noop("Predictor"),
    gettext_noop("Progress"),
    gettext_noop("Project"),
    gettext_noop("Purpose"),
    gettext_noop("Quality"),
    gettext_noop("Questions"),
    gettext_noop("Reason"),
    gettext_noop("Reasoning"),
    gettext_noop("Releases"),
    gettext_noop("Remove"),
    gettext_noop("Requires"),
    gettext_noop("Researcher"),
    gettext_noop("Responses"),
    gettext_noop("Roles"),
    gettext_noop("Rule"),
    gettext_noop("Rules"),
    gettext_noop("Scopes"),
    gettext_noop("Seed"),
    gettext_noop("Seeds"),
    gettext_noop("Select"),
    gettext_noop("Share"),
    gettext_noop("Skipped"),
    gettext_noop("Source"),
    gettext_noop("Sources"),
    gettext_noop("Strategy"),
    gettext_noop("Submitted"),
    gettext_noop("Text"),
    gettext_noop("Time zone"),
    gettext_noop("True"),
    gettext_noop("Unanswerable"),
    gettext_noop("Value"),
    gettext_noop("Variant"),
    gettext_noop("Viewer"),
    gettext_noop("Waivers"),
    gettext_noop("Week"),
    gettext_noop("WordNet"),
    gettext_noop("Work"),
    gettext_noop("Yes"),
    gettext_noop("a response"),
    gettext_noop("add"),
    gettext_noop("adjudicator"),
    gettext_noop("annotator"),
    gettext_noop("answer length"),
    gettext_noop("answer structure"),
    gettext_noop("answerable"),
    gettext_noop("answered"),
    gettext_noop("anything"),
    gettext_noop("better"),
    gettext_noop("calibration"),
    gettext_noop("cannot"),
    gettext_noop("category"),
    gettext_noop("cells"),
    gettext_noop("change"),
    gettext_noop("closed"),
    gettext_noop("completed"),
    gettext_noop("comprehensiveness"),
    gettext_noop("created"),
    gettext_noop("done"),
    gettext_noop("failed"),
    gettext_noop("faithfulness"),
    gettext_noop("gold"),
    gettext_noop("holds"),
    gettext_noop("initials"),
    gettext_noop("invite"),
    gettext_noop("keep"),
    gettext_noop("label"),
    gettext_noop("labels imported"),
    gettext_noop("leased"),
    gettext_noop("leave"),
    gettext_noop("manager"),
    gettext_noop("neither"),
    gettext_noop("no"),
    gettext_noop("no adjudicator"),
    gettext_noop("no annotator"),
    gettext_noop("no manager"),
    gettext_noop("no researcher"),
    gettext_noop("no viewer"),
    gettext_noop("open"),
    gettext_noop("other"),
    gettext_noop("own rule"),
    gettext_noop("password reset"),
    gettext_noop("paused"),
    gettext_noop("person"),
    gettext_noop("planned"),
    gettext_noop("qualification"),
    gettext_noop("quality, left"),
    gettext_noop("quality, right"),
    gettext_noop("question ambiguous"),
    gettext_noop("question open"),
    gettext_noop("question subjective"),
    gettext_noop("queued"),
    gettext_noop("read"),
    gettext_noop("reference mismatched"),
    gettext_noop("reference redundant"),
    gettext_noop("remove"),
    gettext_noop("removed"),
    gettext_noop("researcher"),
    gettext_noop("revoked"),
    gettext_noop("running"),
    gettext_noop("skipped"),
    gettext_noop("unanswerable"),
    gettext_noop("valid"),
    gettext_noop("viewer"),
    gettext_noop("wait"),
    gettext_noop("waived"),
    gettext_noop("whole"),
    gettext_noop("withdrawn"),
    gettext_noop("wording"),
    gettext_noop("work"),
    gettext_noop("yes"),
)

CODES = {
    "put right": gettext_noop("corrected"),
    "entry changed": gettext_noop("entry requirements changed"),
    "need not read": gettext_noop("guidelines confirmation not required"),
    "must read": gettext_noop("guidelines confirmation required"),
    "reset link made": gettext_noop("reset link created"),
    "given back": gettext_noop("returned"),
    "given to somebody else": gettext_noop("given to another annotator"),
    "no annotator any more": gettext_noop("no longer an annotator"),
    "None of the proposals will do, and I find nothing better.": gettext_noop(
        "None of the proposals fits, and I have no better response."
    ),
}
"""Stored codes (states of events, reasons of returned and skipped assignments) and the words that pages show for them."""
