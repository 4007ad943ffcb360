"""Words that pages make of names in data: states, roles, fields of forms, columns of reports. Listed for translators.

They are shown with the filter `translated` (templatetags/language.py), which finds them in the catalogue. `shown` is
that filter for Python; it shows stored messages (`tableqa.core.translation.Message`), too.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from django.utils.formats import get_format, number_format
from django.utils.translation import gettext, gettext_noop

from tableqa.core import translation
from tableqa.core.rounding import decimals
from tableqa.statistics.proportions import Proportion


def show(value: Any) -> str:
    """A stored message, code or word in the reader's language; other texts as they are."""
    if isinstance(value, translation.Message):
        return value.shown()
    if isinstance(value, translation.TranslatedText):
        return translation.gettext(value)
    text = "" if value is None else str(value)
    return translation.translate_stored(CODES.get(text, text))


MESSAGES = (
    "annotation.assistance.model_answers",
    "annotation.background.jobs",
    "annotation.workflow.adjudication",
    "annotation.workflow.automatic_decisions",
    "annotation.releases.restoration.restored_responses",
    "annotation.quality.snapshots",
    "tableqa.agreement.measures",
    "tableqa.agreement.cell_sets",
    "tableqa.perturbations.related_tables",
    "tableqa.agreement.edits",
    "tableqa.programs.evidence",
    "tableqa.quality_control.careless_responding",
    "tableqa.perturbations.headers.abbreviations",
    "tableqa.perturbations.headers.names",
    "tableqa.perturbations.headers.synonyms",
    "tableqa.perturbations.headers.usual_names",
    "tableqa.statistics.robustness",
    "tableqa.agreement.rankings",
    "tableqa.agreement.sample_size",
    "tableqa.perturbations.catalogue",
    "tableqa.programs.search",
    "tableqa.perturbations.question_types",
    "tableqa.serialisations.torr",
    "tableqa.statistics.zero_width_intervals",
    "tasks.contract.decision_rules",
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


def grouped(value: int) -> str:
    """A whole number with its thousands apart, in the form of the reader's language."""
    return number_format(value, force_grouping=True)


def by_kind(seconds: Mapping[str, float], unit: int, digits: int) -> str:
    """Times on submissions, skips and returns, in a unit of this number of seconds; "" where all are on submissions."""
    if not any(value for kind, value in seconds.items() if kind != "submitted"):
        return ""
    times = {kind: decimal(value / unit, digits) for kind, value in seconds.items()}
    return gettext("responses {submitted}, skips {skipped}, returns {returned}").format(**times)


def decimal(value: float, digits: int = 3) -> str:
    """A number with these decimals and a true minus, in the form of the reader's language."""
    text = f"{value:.{digits}f}"
    if not float(text):
        text = text.removeprefix("-")
    return number(text.replace("-", "\N{MINUS SIGN}"))


def estimate(value: float, low: float, high: float, digits: int = 3) -> tuple[str, str, str]:
    """A number and the ends of its interval, in `digits` decimals, or as many more as the ends need to differ."""
    of_value, of_ends = decimals(value, low, high, digits)
    return decimal(value, of_value), decimal(low, of_ends), decimal(high, of_ends)


def percent(share: Proportion) -> str:
    """A share, "92.5 %", in the form of the reader's language."""
    return number(share.percent)


def interval(share: Proportion) -> str:
    """The interval of a share, "88.0 to 95.4 %", in the form of the reader's language."""
    if share.value is None or share.low is None or share.high is None:
        return share.interval
    _, low, high = estimate(100 * share.value, 100 * share.low, 100 * share.high, 1)
    return gettext("{low} to {high} %").format(low=low, high=high)


def measure(name: str) -> str:
    """A measure of agreement: question_ambiguous is "question ambiguous"."""
    if isinstance(name, translation.TranslatedText):
        text = translation.gettext(name)
        return text if text != name else name.replace("_", " ")
    return show(name.replace("_", " "))


STATISTICS = {
    "percent_agreement": gettext_noop("percent agreement"),
    "fleiss_kappa": gettext_noop("Fleiss' kappa"),
    "cohen_kappa": gettext_noop("Cohen's kappa"),
    "krippendorff_alpha": gettext_noop("Krippendorff's alpha"),
    "gwet_ac1": gettext_noop("Gwet's AC1"),
    "cell_sets": gettext_noop("sets of cells"),
    "edits": gettext_noop("edits"),
    "kendall_w": gettext_noop("Kendall's W"),
    "mean_spearman": gettext_noop("mean rank correlation (Spearman)"),
}
LEVELS = {
    "masi": "MASI",
    "jaccard": "Jaccard",
    "nominal": gettext_noop("nominal"),
    "ordinal": gettext_noop("ordinal"),
    "interval": gettext_noop("interval scale"),
}


def statistic(name: str) -> str:
    """krippendorff_alpha_nominal -> Krippendorff's alpha (nominal)."""
    for key, title in STATISTICS.items():
        if name.startswith(key):
            level = name.removeprefix(key).strip("_").replace("_", " ")
            return f"{gettext(title)} ({gettext(LEVELS.get(level, level))})" if level else gettext(title)
    return name.replace("_", " ")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list with semicolons; `./run manage messages` collects them."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(";"))


SHOWN = words_of(
    """
    Accepted; Adjudication; Adjudicator; Agreement; Ambiguous; Annotator; Answer; Batch; Change; Completion
    code; Comprehensiveness; Correct; Count; Dashboard; Data; Day; Email; Extraction; Faithfulness; False;
    Format; Gold; Hours; Items; Keep; Kind; Kinds; Label; Made; Manager; Members; Mix seed; Model; Name;
    Neither; No; Note; Overlap; Overview; Pace; Password; People; Person; Platform; Predictor; Progress;
    Project; Purpose; Quality; Questions; Reason; Reasoning; Releases; Remove; Requires; Researcher; Responses;
    Roles; Rule; Rules; Scopes; Seed; Seeds; Select; Share; Skipped; Source; Sources; Strategy; Submitted; Text;
    Time zone; True; Unanswerable; Value; Variant; Viewer; Waivers; Week; WordNet; Work; Yes; a response;
    add; adjudicator; annotator; answer length; answer structure; answerable; answered; answers; anything;
    better; calibration; cannot; category; cells; change; closed; completed; comprehensiveness; copied;
    created; done; failed; faithfulness; gold; holds; initials; invite; keep; label; labels imported; leased;
    leave; manager; neither; no; no adjudicator; no annotator; no manager; no researcher; no viewer; open;
    other; own rule; password reset; paused; person; planned; preregistered; qualification; quality, left;
    quality, right; question ambiguous; question open; question subjective; queued; read; reference
    mismatched; reference redundant; remove; removed; researcher; revoked; running; skipped; unanswerable;
    valid; viewer; wait; waived; whole; withdrawn; wording; work; yes
    """
)

CODES = {
    "put right": gettext_noop("corrected"),
    "need not read": gettext_noop("guidelines confirmation not required"),
    "must read": gettext_noop("guidelines confirmation required"),
    "reset link made": gettext_noop("reset link created"),
    "given back": gettext_noop("returned"),
}
"""Stored codes (states of events, reasons of returned and skipped assignments) and the words that pages show for them."""
