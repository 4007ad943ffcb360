"""What programs say of a text beside a reference: BLEU, ROUGE-L and METEOR, each with what computed it.

    scorer = SCORERS["bleu"]()             raises NotInstalled where its package is absent
    scorer.scores(answers)                 a number from 0 to 1 for each, None where there is no reference
    scorer.implementation                  "sacrebleu 2.6.0: sentence BLEU, nrefs:1|case:mixed|..."

BLEU is sacreBLEU's, ROUGE-L rouge-score's. METEOR is nltk's, with the part of WordNet that is
shipped for header names: it lacks names of single persons, places and events, and words that offend.

Sources:
  Papineni et al. (2002), BLEU. Post (2018), sacreBLEU. Lin (2004), ROUGE. Banerjee and Lavie (2005), METEOR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from tableqa.perturbations.headers.alternatives import Unavailable
from tableqa.perturbations.headers.thesaurus import Thesaurus, thesaurus
from tableqa.scoring.answer_ratings import RatedAnswer, ScoreColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+|[^\w\s]")


class NotInstalled(Exception):
    """A metric whose package or data is absent; the message says what to install."""


@dataclass(frozen=True)
class Scorer:
    """A metric that is ready to score. `scores` gives one number for each answer, None where it cannot tell."""

    name: str
    implementation: str
    scores: Callable[[Sequence[RatedAnswer]], list[float | None]]

    def column(self, answers: Sequence[RatedAnswer]) -> ScoreColumn:
        """The scores of these answers by their keys; answers without a score are left out."""
        pairs = zip(answers, self.scores(answers), strict=True)
        return ScoreColumn(
            self.name,
            self.implementation,
            {answer.key: score for answer, score in pairs if score is not None},
        )


def by_pair(score: Callable[[str, str], float]) -> Callable[[Sequence[RatedAnswer]], list[float | None]]:
    """Scores of one answer beside its reference; None where either is empty."""

    def scores(answers: Sequence[RatedAnswer]) -> list[float | None]:
        return [
            score(answer.text, answer.reference) if answer.text.strip() and answer.reference.strip() else None
            for answer in answers
        ]

    return scores


def bleu() -> Scorer:
    """Sentence BLEU of sacreBLEU: n-grams up to four, as many as the text has (effective order), from 0 to 1."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)

    def score(text: str, reference: str) -> float:
        return float(metric.sentence_score(text, [reference]).score) / 100

    score("a text", "a text")  # the signature is known only after a first use
    signature = str(metric.get_signature()).rpartition("|version:")[0]
    return Scorer(
        "bleu", f"sacrebleu {version('sacrebleu')}: sentence BLEU / 100, {signature}", by_pair(score)
    )


def rouge_l() -> Scorer:
    """ROUGE-L's F-measure, without stemming. Its package reads Latin letters and digits only."""
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    metric = RougeScorer(["rougeL"], tokenizer=DefaultTokenizer(use_stemmer=False))

    def score(text: str, reference: str) -> float:
        return float(metric.score(reference, text)["rougeL"].fmeasure)

    what = f"rouge-score {version('rouge-score')}: rougeL, F-measure, no stemming"
    return Scorer("rouge_l", what, by_pair(score))


def meteor() -> Scorer:
    """METEOR of nltk: words match exactly, by their Porter stem, or by a sense of WordNet that they share.

    nltk looks for synonyms after stemming: "movie" (movi) has none then, which the reference implementation finds. It takes
    nltk's own defaults (alpha 0.9, beta 3, gamma 0.5), which are those of the first METEOR; its later releases weigh
    differently. Tokens are words, numbers with their points and commas, and single signs.
    """
    senses = shipped_senses()
    what = (
        f"nltk {version('nltk')}: meteor_score (alpha 0.9, beta 3, gamma 0.5), Porter stems, synonyms "
        f"by their stems in {senses.source} without names of single persons, places and events; tokens: words, whole "
        "numbers, signs"
    )
    return Scorer(
        "meteor", what, by_pair(lambda text, reference: meteor_of(tokens(text), [tokens(reference)], senses))
    )


SCORERS: Mapping[str, Callable[[], Scorer]] = {"bleu": bleu, "rouge_l": rouge_l, "meteor": meteor}
"""What makes each metric ready, by its name."""


def tokens(text: str) -> list[str]:
    """Words, numbers with the points and commas inside them, and every other sign by itself."""
    return _TOKEN.findall(text)


def meteor_of(text: list[str], references: list[list[str]], senses: Senses) -> float:
    """METEOR of a text in tokens: the best over its references."""
    from nltk.translate.meteor_score import meteor_score

    return float(meteor_score(references, text, wordnet=senses))


class _Lemma:
    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name


class _Synset:
    def __init__(self, words: Sequence[str]) -> None:
        self._lemmas = [_Lemma(word) for word in words]

    def lemmas(self) -> list[_Lemma]:
        return self._lemmas


class Senses:
    """The thesaurus with the two methods of nltk's WordNet that its METEOR calls: synsets(word), lemmas()."""

    def __init__(self, wordnet: Thesaurus) -> None:
        self.source = wordnet.source
        self._words = wordnet
        self._known: dict[str, list[_Synset]] = {}

    def synsets(self, word: str) -> list[_Synset]:
        """The senses of everything that the word can be a form of."""
        if word not in self._known:
            self._known[word] = list(self._of(word))
        return self._known[word]

    def _of(self, word: str) -> Iterator[_Synset]:
        for reading in self._words.readings(word):
            for sense in self._words.senses(reading.word, reading.kind):
                yield _Synset([listed.replace(" ", "_") for listed, _ in sense.words])


def shipped_senses() -> Senses:
    """What `meteor` matches synonyms with. Raises NotInstalled."""
    wordnet = thesaurus()
    if isinstance(wordnet, Unavailable):
        raise NotInstalled(f"METEOR needs the shipped WordNet. {wordnet.reason}")
    return Senses(wordnet)
