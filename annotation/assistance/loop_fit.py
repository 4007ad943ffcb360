"""Whether a model can be in the loop over given sources: a model that answers with values cannot answer in sentences."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext

from annotation.models import Batch, Example, Source
from annotation.platform.refusals import refuse
from annotation.queue.sampling import Sample
from tableqa.data.answers import are_sentences

LOOKED_AT: Final = 200
"""Examples of a source whose answers say what kind of answers it has."""


def obstacle(entry: Mapping[str, Any] | None, sources: Collection[str]) -> str:
    """Why a model cannot be in the loop over sources with sentences as answers (names); "" where it can.

    `entry` is of PREDICTORS. A model with the protocol "predict" answers with values: cells, numbers, a short list. By
    `tableqa.data.answers.compare` these are always wrong against a sentence. Language models ("chat") write sentences.
    """
    if not sources or entry is None or entry.get("protocol", "predict") != "predict":
        return ""
    text = gettext(
        "The answers of {sources} are sentences. This model answers with values, so it would always be wrong. "
        "Choose a language model, or none."
    )
    return text.format(sources=", ".join(sorted(sources)))


def reason_against(loop_model: str, sample: Sample) -> str:
    """Why a model cannot answer the questions of a sample in the form of their answers; "" where it can."""
    if not loop_model:
        return ""
    sources = list(sample.sources)
    if sample.feeds_from is not None:
        sources += sources_of(sample.feeds_from)
    return obstacle(settings.PREDICTORS.get(loop_model), with_sentences(sources))


def require_fit(loop_model: str, sample: Sample) -> None:
    """Raise ActionRefused (invalid_request) with the `reason_against` a model, if there is one."""
    if reason := reason_against(loop_model, sample):
        refuse("invalid_request", reason)


def with_sentences(sources: Sequence[Source]) -> list[str]:
    """The names of those sources whose originals are answered in sentences."""
    return [source.name for source in sources if are_sentences(_answers(source))]


def sources_of(batch: Batch) -> list[Source]:
    """The sources at the start of the chain of batches that a batch takes items from."""
    while batch.feeds_from is not None:
        batch = batch.feeds_from
    names = batch.sampling.get("sources", ())
    return list(Source.objects.ready().filter(project=batch.project_id, public_id__in=names).order_by("pk"))


def _answers(source: Source) -> list[list[str]]:
    rows = Example.objects.originals().filter(source=source).order_by("position", "pk")
    return list(rows.values_list("answers", flat=True)[:LOOKED_AT])
