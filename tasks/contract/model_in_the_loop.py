"""Task types with a model in the loop: it answers the example while a person works."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar, Literal

from tableqa import Example
from tableqa.core.translation import gettext_noop
from tableqa.operations import OperationError, from_list, normalise, replay
from tasks.contract.items import Item
from tasks.contract.perturbed_responses import MakingTask
from tasks.contract.responses import InvalidResponse
from tasks.contract.task_type import TaskType


class ModelInTheLoop(TaskType):
    """A model answers the example while a person works, and the page shows its verdict.

    Use it if annotators have to find changes that a model fails on. `predicts` says when the model is asked: "live" with
    each draft, "on_request" when the annotator presses a button.

    tried_on            fields that change what the model is asked; all if empty
    looks               names of the two answers of the model
    check_label         label of the button
    verdict_words       sentences for verdicts, where the usual ones do not fit
    prediction_in_form  whether form.html includes the verdict itself; by default it is below the question
    """

    predicts: ClassVar[Literal["live", "on_request", ""]]
    tried_on: ClassVar[tuple[str, ...]] = ()
    looks: ClassVar[tuple[str, str]] = (gettext_noop("on the original"), gettext_noop("on your version"))
    check_label: ClassVar[str] = "Check"
    verdict_words: ClassVar[Mapping[str, str]] = {}
    prediction_in_form: ClassVar[bool] = False

    def tried(self, data: object, item: Item) -> Example | None:
        """The perturbed example on which a model in the loop is tried while a response is being written.

        Its answers are what is right there as far as stated, () without a statement. None where there is nothing
        to try yet. `data` is a draft and may hold anything. By default: the operations so far, and the answer that
        `preview` gives after them; without operations, what a response that holds makes of the example.
        """
        name = self.operations_field
        if name is None:
            try:
                perturbed = self.perturb(item, self.parse(data, item))
            except InvalidResponse:
                return None
            return perturbed.example if perturbed is not None else None
        try:
            operations = normalise(
                from_list(data.get(name, []) if isinstance(data, Mapping) else []), item.example.table
            )
            if not operations:
                return None
            table = replay(item.example.table, operations)
        except OperationError:
            return None
        preview = self.preview(data, item) if isinstance(self, MakingTask) else None
        answers = item.example.answers
        if preview is not None and (after := tuple(preview.get("after") or ())) != tuple(answers):
            answers = after
        return dataclasses.replace(item.example, table=table, answers=answers)
