"""What applying a study file would change, and what its work costs: a pure comparison of a file and a project."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from annotation.models.batch_options import changeable
from annotation.platform.refusals import ActionRefused
from annotation.study_file.batch_changes import BatchComparison
from annotation.study_file.comparison import (
    Change,
    SourceProbe,
    planned_change,
    term_in_words,
    value_in_words,
)
from annotation.study_file.costs import Cost, CostEstimate
from annotation.study_file.current_state import ProjectState
from annotation.study_file.project_changes import ProjectComparison
from annotation.study_file.schema import BATCH_KEYS, PROJECT_OPTIONS, Study


@dataclass(frozen=True)
class Plan:
    """Every change, in the order in which they are made, and the cost of every batch of the file.

    `study` is what is applied: the file, and where it is silent about terms that may change, those of the project.
    `people` is the number of annotators that the costs are for.
    """

    study: Study
    changes: tuple[Change, ...]
    costs: tuple[Cost, ...] = ()
    notes: tuple[str, ...] = ()
    people: int = 0

    @property
    def does(self) -> tuple[Change, ...]:
        """What would be done."""
        return tuple(change for change in self.changes if change.verb not in ("leave", "wait", "cannot"))

    @property
    def waits(self) -> tuple[Change, ...]:
        """What is done when the file is applied again, once it can be."""
        return tuple(change for change in self.changes if change.verb == "wait")

    @property
    def cannot(self) -> tuple[Change, ...]:
        """The obstacles; nothing is applied then."""
        return tuple(change for change in self.changes if change.verb == "cannot")

    def require_possible(self) -> None:
        """ActionRefused(invalid_request) with every obstacle where something stands in the way."""
        if self.cannot:
            raise ActionRefused("invalid_request", "\n".join(change.with_line() for change in self.cannot))

    @property
    def hours(self) -> float:
        return sum(cost.hours or 0 for cost in self.costs)

    @property
    def expected_hours(self) -> float:
        return sum(cost.expected_hours or 0 for cost in self.costs)

    @property
    def money(self) -> dict[str, float]:
        """What it comes to, by currency, if all items go on."""
        sums: dict[str, float] = {}
        for cost in self.costs:
            if cost.money is not None:
                sums[cost.currency] = sums.get(cost.currency, 0) + cost.money
        return sums


def plan(
    study: Study,
    state: ProjectState | None,
    *,
    probes: Mapping[int, SourceProbe] | None = None,
    predictors: Mapping[str, Any] | None = None,
) -> Plan:
    """What it takes to bring a project to what a study says. `state` None: there is no such project yet.

    `probes` is what was found of the files of sources, by their position; None where files cannot be read from here.
    `predictors` are the models there are, for a project that is not there yet.
    """
    changes: list[Change] = []
    if state is None:
        text = gettext("a new project, “{name}”.").format(name=study.name)
        changes.append(planned_change("add", study, "project", study.slug, text))
        blank = Study(slug=study.slug, name=study.name, time_zone=study.time_zone)
        state = ProjectState(blank, predictors=predictors or {})
    is_new = bool(changes)
    study, stays = _with_project_terms(study, state.study)
    project = ProjectComparison(study, state, probes)
    changes += project.project(is_new=is_new)
    changes += project.sources()
    changes += project.people()  # before what is opened: a split is among present people
    changes += BatchComparison(study, state, probes).changes()
    changes += stays
    estimate = CostEstimate(study, state, probes)
    people = estimate.people()
    return Plan(study, tuple(changes), tuple(estimate.costs(people)), state.notes, people)


def _with_project_terms(study: Study, current: Study) -> tuple[Study, list[Change]]:
    """A study with the terms of the project where its file has none, and the terms that stay.

    A person may have set them in the pages: a line that is not there takes nothing away. `{}` or "" does.
    """
    stays: list[Change] = []
    unsaid = {
        name: getattr(current, name)
        for name in ("time_zone", *PROJECT_OPTIONS)
        if not study.says("project", name) and getattr(current, name) != getattr(study, name)
    }
    parts = [f"{name} {value_in_words(value)}" for name, value in unsaid.items()]
    answers = {
        name: text
        for name, text in current.statement.items()
        if not study.says("statement", name) and name not in study.statement
    }
    if answers:
        parts.append(gettext("of the statement, {answers}").format(answers=", ".join(answers)))
    if parts:
        stays.append(planned_change("leave", study, "project", current.slug, _unchanged_in_words(parts)))
    planned = {batch.name: batch for batch in current.batches}
    batches = []
    for index, spec in enumerate(study.batches):
        existing = planned.get(spec.name, spec)
        more = {
            name: getattr(existing, name)
            for name in changeable()
            if not _is_stated(study, index, name) and getattr(existing, name) != getattr(spec, name)
        }
        if more:
            parts = [f"{BATCH_KEYS[name]} {term_in_words(existing, name)}" for name in more]
            reason = _unchanged_in_words(parts)
            stays.append(planned_change("leave", study, "batch", spec.name, reason, index))
        batches.append(spec.changed(**more))
    completed = dataclasses.replace(
        study, **unsaid, statement={**answers, **study.statement}, batches=tuple(batches)
    )
    return completed, stays


def _is_stated(study: Study, index: int, name: str) -> bool:
    """Whether the file says one of the parts in `BATCH_KEYS` of a batch, for itself or for its kind."""
    path = BATCH_KEYS[name].split(".")
    of_kind = ("kinds", study.batches[index].type, *path)
    return study.says("batches", index, *path) or study.says(*of_kind)


def _unchanged_in_words(parts: Sequence[str]) -> str:
    return gettext("{kept}: not in the file. It stays.").format(kept="; ".join(parts))
