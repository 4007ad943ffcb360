"""Keep or remove a question that a model always answers correctly."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tableqa import Example
from tableqa.core import translation
from tableqa.core.translation import gettext, gettext_noop, message
from tableqa.data.answer_scales import compare_scaled, scale_of
from tasks.contract import (
    Item,
    ModelQuery,
    PreparedInputs,
    PreparingTask,
    Report,
    ReportedResponse,
    Surroundings,
    split_by_decision,
)
from tasks.shared.declared_types import LabelTask
from tasks.shared.form_fields import Choice, Option

LABEL = Choice(
    name="label",
    label=gettext_noop("Decision"),
    legend=gettext_noop("Keep or remove this question?"),
    required=gettext_noop("Choose Keep or Remove."),
    likely=(70, 30),
    options=(
        Option(
            "keep",
            gettext_noop("Keep"),
            gettext_noop("Answering it needs the table, even if a model always gets it right."),
        ),
        Option(
            "remove",
            gettext_noop("Remove"),
            gettext_noop("It tests nothing: it needs no table, or it accepts almost any answer."),
        ),
    ),
)
LEAST_SAMPLES = 2
"""Always right is a word about several samples; one of them says nothing."""

# Kept with an item, in English; pages say it in the reader's language.
ALL_RIGHT = message("question_screening.all_right", "{number} of {number} samples right")
ALL_RIGHT_BY = message("question_screening.all_right_by", "{number} of {number} samples right ({by})")


class QuestionScreening(LabelTask, PreparingTask):
    """Keep or remove. Only questions are shown of which every sample of a model was right; one person decides."""

    key = "question_screening"
    title = gettext_noop("Question screening")
    step = "label"
    default_overlap = 1
    paper = "SUC (WSDM 2024)"
    prerequisite = gettext_noop("Needs answers of a model first: ask it several times about each question.")
    instruction = gettext_noop("Do you need the table to answer this? Keep or remove the question")
    asks = (ModelQuery("screening", several=True, holds="samples"),)
    shows = ("question", "table", "titles", "answers", "context", "history", "samples")
    without = gettext_noop(
        "no model answered them several times, always correctly. Ask a model first (command line: "
        "ask_model --purpose screening)."
    )
    fields = (LABEL,)
    excludes: ClassVar[Mapping[str, str]] = {"remove": "removed"}

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """An item only where every sample of one model says what the gold answer says."""
        samples = _latest_samples(example, around)
        if samples is None or len(samples["answers"]) < LEAST_SAMPLES or not example.answers:
            return None
        sample_count = len(samples["answers"])
        scale = scale_of(example)
        if not all(compare_scaled(sample, example.answers, scale).equal for sample in samples["answers"]):
            return None
        by = (
            f"{samples['model']}, at temperature {samples['temperature']}"
            if samples["temperature"]
            else samples["model"]
        )
        return PreparedInputs(
            {
                "samples": {
                    "text": (ALL_RIGHT_BY if by else ALL_RIGHT).format(number=sample_count, by=by),
                    "total": sample_count,
                    **samples,
                }
            }
        )

    def payload(self, item: Item) -> dict[str, Any]:
        """The samples are described; the samples themselves repeat the answer."""
        payload = super().payload(item)
        return payload | (
            {"samples": {"text": translation.translate_stored(payload["samples"]["text"])}}
            if "samples" in payload
            else {}
        )

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """How many questions of each source were kept and removed."""
        decided, undecided = split_by_decision(rows)
        sources = sorted({row.source for row in decided})
        counts = Counter((row.source, "keep" if row.decided else "remove") for row in decided)
        lines = tuple(
            (
                source,
                counts[source, "keep"] + counts[source, "remove"],
                counts[source, "keep"],
                counts[source, "remove"],
            )
            for source in sources
        )
        columns = ("Source", gettext("Decided items"), "Keep", "Remove")
        return [Report(gettext("Questions that a model always answers correctly"), columns, lines, undecided)]

    def item_record_fields(self, item: Item) -> Mapping[str, Any]:
        """What was sampled. Removed questions are only in the decisions."""
        sampled = item.inputs.get("samples", {})
        return {"samples": sampled.get("total", 0), "model": sampled.get("model", "")}


def _latest_samples(example: Example, around: Surroundings) -> dict[str, Any] | None:
    """The samples of the model that was asked last: {model, temperature, answers: a list of answers for each}.

    A source may bring its own, as `samples` in its meta: then no model is named.
    """
    model_rows = [row for row in around.model_answers.get("screening", ()) if row.get("samples")]
    if model_rows:
        last = model_rows[-1]
        answers = [list(sample or ()) for sample in last["samples"]]
        return {
            "model": last.get("model", ""),
            "temperature": last.get("temperature", ""),
            "answers": answers,
        }
    own = example.meta.get("samples")
    if not isinstance(own, tuple | list):
        return None
    return {
        "model": "",
        "temperature": "",
        "answers": [[sample] if isinstance(sample, str) else list(map(str, sample)) for sample in own],
    }


task = QuestionScreening()
