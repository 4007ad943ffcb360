"""The task types as managers choose among them: one card for each variant, grouped by the step of a study."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext

from annotation.models import Project
from annotation.models.batch_options.task_settings import filled
from annotation.platform.display_text import show
from annotation.releases.task_records import instruction
from annotation.workflow import task_types as workflow_task_types
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
        return show(self.task.title)

    @property
    def sentence(self) -> str:
        """What annotators do, as the annotation page says it."""
        return instruction(self.task, self.variant, filled(self.task, {}))

    @property
    def picture(self) -> str:
        return self.task.picture(self.variant)

    @property
    def can_preview(self) -> bool:
        return bool(self.task.practice(self.variant))


def choices(project: Project) -> dict[str, Choice]:
    """Every choice of a project by its key: installed task types, and those that the project defines."""
    return {card.key: card for card in (*_installed_choices(), *_defined_choices(project))}


def _installed_choices() -> Iterator[Choice]:
    return (Choice(task, variant) for task in task_types().values() for variant in task.variants or [""])


def _defined_choices(project: Project) -> Iterator[Choice]:
    return (Choice(row.task(), "") for row in workflow_task_types.newest(project).values())


def by_step(project: Project) -> list[tuple[str, list[Choice]]]:
    """The headings of the steps in the order of a study, each with its cards; no empty step.

    Task types that need nothing first are before the others. Those that the project defines come first.
    """
    cards = sorted(_installed_choices(), key=lambda card: bool(card.task.prerequisite))
    grouped = (
        (gettext(title), [card for card in cards if card.task.step == step]) for step, title in STEPS.items()
    )
    own = (gettext("Task types of this project"), list(_defined_choices(project)))
    return [(title, group) for title, group in (own, *grouped) if group]
