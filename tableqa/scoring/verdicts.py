"""Whether a model was fooled: its answers to an example and to a perturbed one, each held against its gold answer.

A model is fooled only where it answered the original rightly and the perturbed example wrongly, which is what RobuT
counts (R-ACC, section 4). A difference of form does not matter: an answer with its unit or without, a part of a list,
another name of the same thing, 5 % for 0.05, 1500 m for 1.5 km, or 2nd for 2 is `unsure`, and a person decides. A part of a
name is another answer, as in the published rules: York is not New York. Verdicts are pure: from the
raw answers, which are kept, every one of them can be taken again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from tableqa.core.translation import gettext_noop
from tableqa.data.answer_scales import compare_scaled
from tableqa.data.answers import Comparison, Difference, accepted, compare, normal_forms, with_alternatives
from tableqa.scoring import matchers
from tableqa.scoring.equivalent_forms import same_in_another_form

Verdict = Literal[
    "fooled", "not_fooled", "wrong_on_original", "unsure", "gold_suspect", "model_error", "pending"
]
VERDICTS: tuple[str, ...] = get_args(Verdict)

WORDS: Mapping[str, str] = {
    "fooled": gettext_noop("Fooled: the model was right on the original and is wrong now."),
    "not_fooled": gettext_noop("Not fooled: the model is still right."),
    "wrong_on_original": gettext_noop(
        "Model already wrong; change it anyway. A correct change of the question or table is enough."
    ),
    "unsure": gettext_noop("Unclear: the two answers may be the same in another form."),
    "gold_suspect": gettext_noop("Check the given answer: the program of the table agrees with the model."),
    "model_error": gettext_noop("The model could not read this or gave no usable answer."),
    "pending": gettext_noop("Waiting for the model's answer."),
}
"""A sentence for each verdict."""

_OF_FORM: frozenset[Difference] = frozenset(("unit", "rounding"))


@dataclass(frozen=True, slots=True)
class Judgement:
    """One list of answers against the gold answer, by our comparison and by the two that published figures rest on.

    forms   where the two are near each other: the normal form of what the model said and of the gold answer
    """

    right: bool
    difference: Difference | None
    near: bool
    wtq: bool
    tapex: bool
    forms: tuple[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON, as it is stored with a try."""
        return {
            "right": self.right,
            "difference": self.difference,
            "near": self.near,
            "wtq_official": self.wtq,
            "tapex": self.tapex,
            "forms": list(self.forms) if self.forms else None,
        }


def judge(answers: Sequence[str], gold: Sequence[str], text: str = "", scale: str = "") -> Judgement:
    """Hold a model's answers against the gold ones. `text` is what it wrote before it was split into answers, `scale` the
    scale of the gold ones (`tableqa.data.answer_scales`).

    A model that writes its answers after each other cannot say "Salt Lake City, Utah" otherwise than two answers are
    said: where the split list is wrong and the whole text is right, the text counts. Of gold answers with alternatives the
    form counts by which the model is right, else the one that it is near.
    """
    judgements = [_judge(answers, form, text, scale) for form in accepted(gold)]
    nearest = min(judgements, key=lambda judgement: (not judgement.right, judgement.near == judgement.right))
    return replace(
        nearest,
        wtq=any(judgement.wtq for judgement in judgements),
        tapex=any(judgement.tapex for judgement in judgements),
    )


def gold_of(gold: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The gold answers of one example in what is stored with a verdict, where "alternatives" are by the same name."""
    alternatives = gold.get("alternatives", {}).get(name, ())
    return with_alternatives(gold[name], alternatives, gold.get("month_first", False))


def _judge(answers: Sequence[str], gold: Sequence[str], text: str, scale: str) -> Judgement:
    judged_answers, comparison = list(answers), compare_scaled(answers, gold, scale)
    if not comparison.equal and text.strip():
        whole = compare_scaled([text], gold, scale)
        if whole.equal:
            judged_answers, comparison = [text], whole
    near = _is_near(judged_answers, gold, comparison)
    forms = _forms(judged_answers, gold) if near else None
    return Judgement(
        right=comparison.equal,
        difference=comparison.difference,
        near=near,
        wtq=matchers.wtq_official(judged_answers, gold),
        tapex=matchers.tapex(answers, gold),
        forms=forms,
    )


def verdict(
    original: Judgement | None,
    perturbed: Judgement | None,
    *,
    original_computed: Judgement | None = None,
    perturbed_computed: Judgement | None = None,
    failed: bool = False,
) -> Verdict:
    """What the answers to the original and to the perturbed example come to.

    None: no answer yet, or none known to be right. `*_computed` hold
    the model's answer against what the example's program computes: a model that contradicts the gold answer and agrees
    with the program puts the gold answer in doubt. `failed`: the model said that it cannot read the example.
    """
    if failed:
        return "model_error"
    if original is None:
        return "pending"
    if not original.right:
        return "gold_suspect" if _confirmed(original_computed) else "wrong_on_original"
    if perturbed is None:
        return "pending"
    if not perturbed.right and _confirmed(perturbed_computed):
        return "gold_suspect"
    if perturbed.near:
        return "unsure"
    return "not_fooled" if perturbed.right else "fooled"


def _confirmed(computed: Judgement | None) -> bool:
    """Whether the program agrees with a model that contradicts the gold answer."""
    return computed is not None and computed.right


def _is_near(predicted: Sequence[str], gold: Sequence[str], comparison: Comparison) -> bool:
    """Whether the difference is one of form on which people may differ.

    A unit, a rounding, a part of a list, another name, and what `tableqa.scoring.equivalent_forms` knows: 1.5 km and
    1500 m, 5 % and 0.05, first and 1, April 1991 and 1991-04.
    """
    if comparison.difference == "partial" or (comparison.equal and comparison.difference in _OF_FORM):
        return True
    if comparison.equal:
        return comparison.difference == "form" and any(_is_other_name(answer, gold) for answer in predicted)
    return same_in_another_form(predicted, gold)


def _is_other_name(answer: str, gold: Sequence[str]) -> bool:
    """Whether it equals a gold answer by name alone: not by its letters, and not as a number or a date."""
    forms = normal_forms(answer)
    for gold_answer in gold:
        if not compare([answer], [gold_answer]).equal:
            continue
        theirs = normal_forms(gold_answer)
        shared = set(forms) & set(theirs)
        if _letters(forms[0]) == _letters(theirs[0]) or any(any(map(str.isdigit, form)) for form in shared):
            return False
        return not (any(map(str.isdigit, answer)) and any(map(str.isdigit, gold_answer)))
    return False


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _forms(predicted: Sequence[str], gold: Sequence[str]) -> tuple[str, str]:
    """Both sides in the form that they are compared in; where that is one and the same, in the one before it."""
    for form in (-1, 0):
        predicted_form, gold_form = (
            " | ".join(normal_forms(answer)[form] for answer in side) for side in (predicted, gold)
        )
        if predicted_form != gold_form:
            break
    return predicted_form, gold_form
