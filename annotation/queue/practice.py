"""Practice: items with a known answer that a task type has. Feedback is immediate.

What people enter is not stored. Where a batch asks for practice first, it is kept that a person went through the set,
and how many of its exercises they had right at first go (`PracticeResult`).
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet

from annotation.access import audit_log
from annotation.models import Batch, Person, PracticeResult, Project
from annotation.models.batch_options.task_settings import filled
from tableqa import Example
from tasks.contract import InvalidResponse, Item, Problem, TaskType

KEPT: Final = "practice"
"""In the session of a person who practises: the first result of each exercise of a set, a letter each."""
_LETTERS: Final[Mapping[bool | None, str]] = {True: "r", False: "w", None: "u"}
_NOT_YET: Final = "-"


@dataclass(frozen=True)
class Exercise:
    """One item of a practice set, with what is expected and why."""

    item: Item
    expected: Any
    why: str


@dataclass(frozen=True)
class Feedback:
    """Feedback on practice: as good as expected, or not (None: not judged), and the explanation."""

    right: bool | None
    words: tuple[str, ...]
    why: str
    problems: tuple[Problem, ...] = ()


def exercises(task: TaskType, variant: str = "") -> list[Exercise]:
    """The practice set of a task type and variant, in its order; empty where it has none.

    Inputs have their sentences as messages (`tableqa.core.translation.Message.to_json`), as items in the database do.
    Raises ValueError where an expected response does not hold: a practice set may not teach what is refused.
    """
    practice_set = []
    for entry in task.practice(variant):
        item = Item(
            Example.from_dict(entry["example"]),
            variant,
            filled(task, entry.get("settings", {})),
            entry.get("inputs", {}),
        )
        practice_set.append(Exercise(item, task.parse(entry["expected"], item), entry["why"]))
    return practice_set


def judge(task: TaskType, exercise: Exercise, envelope: object, project: Project) -> Feedback:
    """Check a response as a submission would, and compare it with the expected one.

    What is suggested follows the answer where an open batch of the project has that setting.
    """
    item = exercise.item
    if _open(project, task, item.variant).filter(settings__suggestions="after").exists():
        item = replace(item, settings={**item.settings, "suggestions": "after"})
    try:
        response = task.receive(envelope if isinstance(envelope, Mapping) else {}, item)
    except InvalidResponse as invalid:
        return Feedback(False, (), "", tuple(invalid.problems))
    right, lines = task.feedback(item, response, exercise.expected)
    return Feedback(right, tuple(lines), exercise.why)


# -- going through the set --------------------------------------------------------------------------


def add_attempt(goes: str, position: int, right: bool | None, total: int) -> str:
    """The first result of each exercise, with this one (from 1) added. Later attempts change nothing."""
    goes = goes if len(goes) == total and set(goes) <= {*_LETTERS.values(), _NOT_YET} else _NOT_YET * total
    at = position - 1
    return goes if goes[at] != _NOT_YET else goes[:at] + _LETTERS[right] + goes[at + 1 :]


def record_attempt(
    *,
    session: MutableMapping[str, Any],
    project: Project,
    person: Person,
    task: TaskType,
    variant: str,
    position: int,
    feedback: Feedback,
    now: datetime,
) -> PracticeResult | None:
    """Store the result of an exercise in the session; with the last one of the set, store that practice is done.

    A response that does not hold is no go at the exercise. What is kept is the first time through; None until then, and
    where no batch of the project asks for practice.
    """
    if feedback.problems:
        return None
    progress = dict(session.get(KEPT) or {})
    name = _name(project, task, variant)
    goes = add_attempt(str(progress.get(name, "")), position, feedback.right, len(exercises(task, variant)))
    if goes != progress.get(name):
        session[KEPT] = {**progress, name: goes}
    if _NOT_YET in goes or not is_required(project, task, variant):
        return None
    right, wrong = goes.count(_LETTERS[True]), goes.count(_LETTERS[False])
    done, is_new = PracticeResult.objects.get_or_create(
        project=project,
        person=person,
        task_type=task.key,
        variant=variant,
        defaults={"right": right, "judged": right + wrong, "done_at": now},
    )
    if is_new:
        audit_log.log(done, "", "done", by=person, now=now)
    return done


def is_required(project: Project, task: TaskType, variant: str) -> bool:
    """Whether a batch of the project that is not closed asks for this practice set first."""
    return _open(project, task, variant).filter(must_practise=True).exists()


def _open(project: Project, task: TaskType, variant: str) -> QuerySet[Batch]:
    return Batch.objects.filter(project=project, task_type=task.key, variant=variant, closed_at__isnull=True)


@dataclass(frozen=True)
class Score:
    """The first results of a practice set, since a person began it again in this session.

    goes   by exercise: True right, False wrong, None if unknown; exercises that were not answered are missing
    """

    total: int
    goes: Mapping[int, bool | None]

    @property
    def right(self) -> int:
        return sum(went is True for went in self.goes.values())

    @property
    def judged(self) -> int:
        return sum(went is not None for went in self.goes.values())

    @property
    def unjudged(self) -> int:
        return len(self.goes) - self.judged

    @property
    def unanswered(self) -> list[int]:
        """The exercises (from 1) that were not answered yet, in their order."""
        return [position for position in range(1, self.total + 1) if position not in self.goes]


def score(session: Mapping[str, Any], project: Project, task: TaskType, variant: str) -> Score:
    """The person's score in a practice set."""
    total = len(exercises(task, variant))
    goes = str((session.get(KEPT) or {}).get(_name(project, task, variant), ""))
    if len(goes) != total:
        return Score(total, {})
    came = {letter: right for right, letter in _LETTERS.items()}
    return Score(
        total, {position: came[letter] for position, letter in enumerate(goes, start=1) if letter in came}
    )


def restart(session: MutableMapping[str, Any], project: Project, task: TaskType, variant: str) -> None:
    """Begin a practice set again: the score of this session starts again. What was kept of the first time stays."""
    progress = dict(session.get(KEPT) or {})
    if progress.pop(_name(project, task, variant), None) is not None:
        session[KEPT] = progress


def _name(project: Project, task: TaskType, variant: str) -> str:
    return f"{project.pk}:{task.key}:{variant}"
