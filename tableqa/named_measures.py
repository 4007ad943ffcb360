"""The measures of the field by their names, on plain data.

    fleiss_kappa([["a", "a", "b"], ["b", "b", "b"]]).value           # a row for each unit, a column for each rater
    krippendorff_alpha(frame, item="item", rater="who", label="label")    # a frame with a row for each rating
    exact_match(["1,170", "Paris"], [["1170"], ["Rome"]]).value      # 0.5
    emd([True, True], [True, False]).value                           # -0.5

Coefficients of agreement are an `Agreement`; their ratings, options and errors are those of
`tableqa.agreement.coefficients.agreement`. The other figures are a `PairedFigure`: `value`, the ends `low` and `high` of
its 95 % bootstrap interval over questions, and `n` questions; shares are from 0 to 1.
"""

from collections.abc import Sequence
from typing import Any, Literal

from tableqa.agreement.coefficients import agreement
from tableqa.agreement.measures import Agreement
from tableqa.scoring.matching import MATCHES, ORIGINAL, GeneratedText, Instance, Match
from tableqa.scoring.pairs import Pair, PairedFigure, figures_of

Answers = str | Sequence[str]
Right = Sequence[int]
"""For each question, whether it was answered correctly: True or 1, False or 0."""


def percent_agreement(ratings: Any, **options: Any) -> Agreement:
    """The share of agreeing pairs of raters, averaged over units; not corrected for chance."""
    return agreement(ratings, "percent_agreement", **options)


def fleiss_kappa(ratings: Any, **options: Any) -> Agreement:
    """Fleiss' kappa (Fleiss 1971), for unequal numbers of ratings in its generalised form (Gwet 2014, chapter 2)."""
    return agreement(ratings, "fleiss_kappa", **options)


def krippendorff_alpha(
    ratings: Any,
    level: Literal["nominal", "ordinal", "interval", "jaccard", "masi"] = "nominal",
    **options: Any,
) -> Agreement:
    """Krippendorff's alpha (Krippendorff 2011, 2018); with sets of labels by the distance of Jaccard or MASI."""
    return agreement(ratings, f"krippendorff_alpha_{level}", **options)


def gwet_ac1(ratings: Any, **options: Any) -> Agreement:
    """Gwet's AC1 (Gwet 2008), for labels of which one is very frequent; `order` lists categories that were not used."""
    return agreement(ratings, "gwet_ac1", **options)


def exact_match(
    predicted: Sequence[Answers],
    gold: Sequence[Answers],
    *,
    match: Match = "askew",
    sources: Sequence[str] | None = None,
) -> PairedFigure:
    """The share of questions that are answered correctly, as mean over sources (FREB-TQA 5: Em).

    predicted, gold: for each question a text, or a list of answers; a predicted text that is not in a list may stand for
    several answers with ", " between them. match: a rule of `tableqa.scoring.matching.MATCHES`.
    sources: the dataset of each question; without it there is one. ValueError if the lengths differ.
    """
    _require_equal_lengths(predicted=predicted, gold=gold)
    right = []
    for answers, gold_answers in zip(predicted, gold, strict=True):
        gold_texts = (gold_answers,) if isinstance(gold_answers, str) else tuple(gold_answers)
        instance = Instance("", "", "", ORIGINAL, 0, "", gold_texts)
        texts = GeneratedText([answers]) if isinstance(answers, str) else tuple(answers)
        score = MATCHES[match](texts, instance)
        right.append(score if isinstance(score, bool) else score.em)
    return _paired("after", right, right, sources)


def emd(before: Right, after: Right, *, sources: Sequence[str] | None = None) -> PairedFigure:
    """The accuracy after a perturbation less the accuracy before, from -1 to 1 (FREB-TQA 5: Emd).

    before, after: of the same questions in the same order. sources: the dataset of each question; the figure is then the
    mean over them. ValueError if the lengths differ, or for a value that is neither true nor false.
    """
    return _paired("emd", before, after, sources)


def variation_percentage(
    before: Right, after: Right, *, sources: Sequence[str] | None = None
) -> PairedFigure:
    """The share of questions answered correctly only before or only after (FREB-TQA 5: VP).

    Arguments and errors as of `emd`.
    """
    return _paired("vp", before, after, sources)


def robustness_accuracy(before: Right, after: Right, *, sources: Sequence[str] | None = None) -> PairedFigure:
    """Of the questions answered correctly before, the share answered correctly after (RobuT 4.1: R-ACC).

    Arguments as of `emd`. `value` is None if no question was answered correctly before; `n` counts those that were.
    """
    return _paired("r_acc", before, after, sources)


def _require_equal_lengths(**sequences: Sequence[object]) -> None:
    lengths = {name: len(values) for name, values in sequences.items()}
    if len({*lengths.values()}) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"The lengths differ: {listed}. Pass one value for each question, in the same order."
        )


def _paired(figure: str, before: Right, after: Right, sources: Sequence[str] | None) -> PairedFigure:
    names = [""] * len(before) if sources is None else sources
    _require_equal_lengths(before=before, after=after, sources=names)
    for value in (*before, *after):
        if value not in (True, False):
            raise ValueError(
                f"{value!r} is neither true nor false. Score each answer first, see exact_match."
            )
    pairs: dict[str, dict[str, list[Pair]]] = {}
    for question, (source, *pair) in enumerate(zip(names, before, after, strict=True)):
        pairs.setdefault(source, {})[str(question)] = [(bool(pair[0]), bool(pair[1]))]
    return figures_of(pairs)[figure]
