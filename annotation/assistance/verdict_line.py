"""The verdict of a model in one line: its answer, the expected one, its confidence, and whether the meaning is verified."""

from collections.abc import Mapping, Sequence
from typing import Literal

from django.utils.translation import gettext, gettext_noop

from annotation.assistance.judgements import ExamplePair, JudgedPair, is_confirmed
from tableqa.data import answers as gold_answers
from tableqa.scoring import verdicts

State = Literal["verified", "unverified", "contradicted"]
Part = tuple[Literal["verdict", "answer", "expected", "confidence"] | State, str]

LABELS = {
    "fooled": gettext_noop("Fooled"),
    "not_fooled": gettext_noop("Still right"),
    "unsure": gettext_noop("Unclear"),
    "gold_suspect": gettext_noop("Check your answer"),
    "model_error": gettext_noop("No usable answer"),
    "pending": gettext_noop("Enter the new answer"),
}
NOT_COUNTED = gettext_noop("Does not count")
"""Instead of "Fooled", where the program contradicts the answer or the change cannot be submitted."""
CONFIDENCE = (
    (0.9, gettext_noop("very sure")),
    (0.6, gettext_noop("fairly sure")),
    (0.0, gettext_noop("unsure")),
)
"""From this score on, in the terms of a reader."""
MEANING = {
    "program": gettext_noop("meaning confirmed by the program"),
    "unverified": gettext_noop("meaning not verified yet"),
    "contradicted": gettext_noop("The program gives another answer. The item does not count as fooled."),
    "invalid": gettext_noop(
        "This change cannot be submitted yet, so it does not count. The checklist says why."
    ),
}

MEANING_IN_SHORT = {
    "program": gettext_noop("verified"),
    "unverified": gettext_noop("unverified"),
    "contradicted": gettext_noop("contradicted"),
    "invalid": gettext_noop("not valid yet"),
}
"""Whether the answer to the changed example is confirmed; the short form is for the line."""
STATES: Mapping[str, State] = {
    "program": "verified",
    "unverified": "unverified",
    "contradicted": "contradicted",
    "invalid": "unverified",
}
NEVER_FOOLED = ("contradicted", "invalid")
"""Keys of `MEANING` with which a change does not count, whatever the model answers."""


def confidence(score: float | None) -> str:
    """A score between 0 and 1 as a word in the reader's language; "" for a model that gives none."""
    if score is None:
        return ""
    return next(gettext(label) for least, label in CONFIDENCE if score >= least or least == 0.0)


def next_best(score: float | None, others: Sequence[tuple[Sequence[str], float]]) -> str:
    """The answers after the first with their scores, and the margin of the first over them; "" where there are none.

    Models score each answer on its own. The others share what the first leaves, so all scores are at most 100 % together.
    """
    if score is None or not others:
        return ""
    total, rest = sum(share for _, share in others), 1 - score
    scale = min(1.0, rest / total) if total else 1.0
    shares = [(in_words(answers), share * scale) for answers, share in others]
    answers = ", ".join(f"{text} ({int(100 * share + 1e-9)} %)" for text, share in shares)
    points = round(100 * (score - shares[0][1]))
    return gettext("next: {answers}; margin {points} points").format(answers=answers, points=points)


def meaning(*, answers: Sequence[str], pair: ExamplePair, verdict: str) -> str:
    """Whether the program confirms this answer to the changed example, as a key of `MEANING`; "" without an answer."""
    if not answers:
        return ""
    if pair.computed is not None and not is_confirmed(answers, pair.computed):
        return "contradicted"
    if verdict == "fooled" and not pair.is_submittable:
        return "invalid"
    return "unverified" if pair.computed is None else "program"


def parts(
    judged_pair: JudgedPair,
    *,
    original: Sequence[str],
    perturbed: Sequence[str] | None,
    score: float | None,
    of_meaning: str,
    own: Mapping[str, str],
) -> list[Part]:
    """The line for raw answers to the original and, unless None, to the changed example, in the reader's language.

    `own` has the sentences of a task type for verdicts, in English.
    """
    judged = judged_pair.judgements["original"]
    if judged_pair.verdict == "model_error":
        return [("verdict", gettext(LABELS["model_error"]))]
    if judged_pair.verdict == "wrong_on_original" or (
        perturbed is None and judged is not None and not judged.right
    ):
        sentence = gettext(own.get("wrong_on_original", verdicts.WORDS["wrong_on_original"]))
        first = sentence.partition(". ")[0].removesuffix(".")  # the details have the rest
        return [("verdict", f"{first}.")]
    gold: Sequence[str] = ()
    if not judged_pair.gold["original"]:
        label, answers = gettext("No gold answer"), original if perturbed is None else perturbed
    elif perturbed is None:
        label, answers = gettext("Right on the original"), original
    else:
        label, answers = gettext(own.get(judged_pair.verdict, LABELS[judged_pair.verdict])), perturbed
        if judged_pair.verdict == "fooled" and of_meaning in NEVER_FOOLED:
            label = gettext(NOT_COUNTED)
        if judged_pair.verdict != "not_fooled":
            gold = verdicts.gold_of(judged_pair.gold, "perturbed")
    line: list[Part] = [("verdict", label), ("answer", in_words(answers))]
    if gold:
        line.append(("expected", gettext("expected: {answer}").format(answer=gold_answers.in_words(gold))))
    line.append(("confidence", confidence(score)))
    if perturbed is not None and of_meaning:
        text = gettext(MEANING_IN_SHORT[of_meaning])
        line.append((STATES[of_meaning], text))
    return [part for part in line if part[1]]


def in_words(answers: Sequence[str]) -> str:
    """Answers after each other; the words for none where the model gives none."""
    return " | ".join(text for text in answers if text.strip()) or gettext("no answer")
