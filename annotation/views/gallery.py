"""The task types as managers choose among them: one card for each variant, grouped by the step of a study."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext

from annotation.models import Batch
from annotation.terms.task import filled
from annotation.views.pages import kind_instruction
from tasks.contract import STEPS, TaskType, task_types


@dataclass(frozen=True)
class Choice:
    """A card: a task type and one of its variants, "" where it has none; `key` is its value in addresses and forms."""

    task: TaskType
    variant: str

    @property
    def key(self) -> str:
        return f"{self.task.key}:{self.variant}" if self.variant else self.task.key

    @property
    def title(self) -> str:
        return gettext(self.task.title)

    @property
    def sentence(self) -> str:
        """What annotators do, as the annotation page says it."""
        settings = filled(self.task, {})
        return kind_instruction(Batch(task_type=self.task.key, variant=self.variant, settings=settings))

    @property
    def can_preview(self) -> bool:
        return bool(self.task.practice(self.variant))


def choices() -> dict[str, Choice]:
    """Every choice by its key."""
    cards = (Choice(task, variant) for task in task_types().values() for variant in task.variants or [""])
    return {card.key: card for card in cards}


def by_step() -> list[tuple[str, list[Choice]]]:
    """The headings of the steps in the order of a study, each with its cards; no empty step.

    Task types that need nothing first are before the others.
    """
    cards = sorted(choices().values(), key=lambda card: bool(card.task.prerequisite))
    grouped = (
        (gettext(title), [card for card in cards if card.task.step == step]) for step, title in STEPS.items()
    )
    return [(title, group) for title, group in grouped if group]
