"""BERTScore (Zhang et al. 2020) through the package bert-score, which brings torch: requirements/bertscore.txt."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from tableqa.scoring.answer_ratings import RatedAnswer
from tableqa.scoring.text_metrics import NotInstalled, Scorer

EXTRA = "requirements/bertscore.txt"
MODEL = "roberta-large"
"""The model of the package's English default. A folder with weights does, too, where layers are named."""


def bertscore(model: str = MODEL, layers: int | None = None) -> Scorer:
    """F1 of BERTScore without idf and without rescaling. Raises NotInstalled; OSError where the weights are not there.

    layers   which layer's vectors are compared; None for the one that the package knows to be best for the model
    """
    try:
        import bert_score
    except ImportError:
        raise NotInstalled(
            f"BERTScore needs bert-score: install requirements/torch.txt, requirements/models.txt and {EXTRA}."
        ) from None
    try:
        ready = bert_score.BERTScorer(model_type=model, num_layers=layers)
    except KeyError:
        raise NotInstalled(
            f"bert-score has no best layer for {model}. Set it with --bertscore-layer."
        ) from None

    def scores(answers: Sequence[RatedAnswer]) -> list[float | None]:
        # An empty text has no vector, and the package fails on it.
        places = [i for i, answer in enumerate(answers) if answer.text.strip() and answer.reference.strip()]
        results: list[float | None] = [None] * len(answers)
        if places:
            texts = [answers[i].text for i in places], [answers[i].reference for i in places]
            for i, score in zip(places, ready.score(*texts)[2].tolist(), strict=True):
                results[i] = float(score)
        return results

    layer = ready.num_layers
    what = f"bert-score {version('bert-score')}: F1 of {model}, layer {layer}, no idf, not rescaled"
    return Scorer("bertscore", f"{what}; transformers {version('transformers')}", scores)
