"""Study templates: the shipped study files, offered to projects that bring their own source and people.

A template is a study file with a `template` part. Its batches, perturbations, settings and guidelines come from the file.
Its sources and people, its name and the texts about them are left to the project.
"""

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import get_language, gettext

from annotation.models import Example, Person, Project, Source
from annotation.models.batch_options import TERMS
from annotation.queue import sampling
from annotation.study_file import apply, current_state, yaml_file
from annotation.study_file.comparison import Change
from annotation.study_file.parser import parse
from annotation.study_file.plan import Plan
from annotation.study_file.schema import (
    BATCH_KEYS,
    PROJECT_OPTIONS,
    BatchSpec,
    GoldItem,
    Study,
    people_needed,
    quoted,
    upstream,
)

FOLDER = Path(settings.BASE_DIR) / "fixtures" / "studies"
TEXTS = ("title", "about", "paper")
"""The keys of the part `template` with a text in each language."""


@dataclass(frozen=True)
class Template:
    """A shipped study. `key` is the name of its file; `texts` are its title, sentence and paper in each language."""

    key: str
    texts: Mapping[str, Mapping[str, str]]
    position: int
    study: Study

    @property
    def title(self) -> str:
        return self._text("title")

    @property
    def sentence(self) -> str:
        """What the study does."""
        return self._text("about")

    @property
    def paper(self) -> str:
        """Where the study was published, or ""."""
        return self._text("paper")

    def _text(self, name: str) -> str:
        """A text in the reader's language, or in English."""
        translations = self.texts.get(name, {})
        return translations.get(get_language() or "en", translations.get("en", ""))

    @property
    def people(self) -> int:
        return people_needed(self.study)


@dataclass(frozen=True)
class Draft:
    """What a template would create in a project: its study with the project's source, and its plan.

    notes  what is left out of the template, and why, in sentences
    """

    template: Template
    study: Study
    plan: Plan
    notes: tuple[str, ...]

    @property
    def people(self) -> int:
        return people_needed(self.study)

    @property
    def omits_consent(self) -> bool:
        """Whether the template has a consent text and the project none: it is about the people of the shipped study."""
        return bool(self.template.study.consent) and not self.study.consent

    @property
    def omits_statement(self) -> bool:
        """Whether the template has answers of a data statement and the project none."""
        return bool(self.template.study.statement) and not self.study.statement


@functools.cache
def load_templates() -> Mapping[str, Template]:
    """Every template by its key, in the order in which they are offered."""
    templates = [template for path in FOLDER.glob("*.yaml") if (template := _read(path)) is not None]
    return {entry.key: entry for entry in sorted(templates, key=lambda entry: entry.position)}


def _read(path: Path) -> Template | None:
    text = path.read_text(encoding="utf-8")
    part: dict[str, Any] | None = yaml_file.read(text).value.get("template")
    if part is None:
        return None
    texts = {name: part[name] for name in TEXTS if name in part}
    return Template(path.stem, texts, part["place"], parse(text, folder=path.parent))


def adapt(
    study: Study, *, project: Study, source: str, example_ids: Collection[str]
) -> tuple[Study, list[str]]:
    """The study of a template as part of a project, drawn from one of its sources; and notes on what is left out.

    `project` is the project as a study. `example_ids` are the examples (ids) that the source has of those that the template
    names. Terms that the project has set stay. Batches whose names are taken get a number.
    """
    note = gettext("{batch} is left out: it uses examples that this source does not have.")
    study, notes = omit_batches(
        study,
        {
            spec.name: note.format(batch=quoted([spec.name]))
            for spec in study.batches
            if not set(spec.only) <= set(example_ids)
        },
    )
    batches = [_with_known_gold(spec, example_ids, notes) for spec in study.batches]
    names = _free_names([spec.name for spec in batches], {spec.name for spec in project.batches})
    return (
        replace(
            project,
            **{name: getattr(project, name) or getattr(study, name) for name in PROJECT_OPTIONS},
            people=(),
            sources=(),
            guidelines={**study.guidelines, **project.guidelines},
            runs=tuple(
                replace(run, sources=(source,), feeds_from=names.get(run.feeds_from, ""))
                for run in study.runs
            ),
            batches=tuple(_with_source(spec, names, source) for spec in batches),
            lines={},
        ),
        notes,
    )


def omit_batches(study: Study, reasons: Mapping[str, str]) -> tuple[Study, list[str]]:
    """The study without the batches of `reasons` and without what takes items from them; and a note on each of these.

    `reasons` are notes by the names of batches. An entry requirement that is left out is required no longer.
    """
    by_name = {spec.name: spec for spec in study.batches}
    note = gettext("{batch} is left out: it takes items from {other}.")
    left_out = {
        name: reasons.get(name) or note.format(batch=quoted([name]), other=quoted([spec.feeds_from]))
        for name, spec in by_name.items()
        if any(batch.name in reasons for batch in upstream(spec, by_name))
    }
    notes = list(left_out.values())
    note = gettext("Automatic perturbations are left out: they take items from {other}.")
    notes += [note.format(other=quoted([run.feeds_from])) for run in study.runs if run.feeds_from in left_out]
    relations = [name for name, term in TERMS.items() if term.column.is_relation]
    batches = [
        spec.changed(**{name: None for name in relations if spec.terms[name] in left_out})
        for spec in study.batches
        if spec.name not in left_out
    ]
    runs = [run for run in study.runs if run.feeds_from not in left_out]
    return replace(study, batches=tuple(batches), runs=tuple(runs)), notes


def _with_known_gold(spec: BatchSpec, example_ids: Collection[str], notes: list[str]) -> BatchSpec:
    gold: tuple[GoldItem, ...] = tuple(
        replace(entry, source="") for entry in spec.gold if entry.example in example_ids
    )
    if len(gold) == len(spec.gold):
        return replace(spec, gold=gold)
    note = gettext("The gold answers of {batch} are left out: this source does not have their examples.")
    notes.append(note.format(batch=quoted([spec.name])))
    return replace(spec, gold=gold).changed(**({} if gold else {"gold_percent": 0}))


def _free_names(batch_names: Collection[str], used_names: Collection[str]) -> dict[str, str]:
    """New names by those of the template: all with the first number under which none of them is taken."""
    for suffix in itertools.count(1):
        names = {name: name if suffix == 1 else f"{name} {suffix}" for name in batch_names}
        if not set(names.values()) & set(used_names):
            break
    return names


def _with_source(spec: BatchSpec, names: Mapping[str, str], source: str) -> BatchSpec:
    placed = replace(
        spec,
        name=names[spec.name],
        sources=(source,) if spec.sources else (),
        feeds_from=names.get(spec.feeds_from, ""),
        guideline_examples=(),
    )
    relations = [name for name, term in TERMS.items() if term.column.is_relation and spec.terms[name]]
    return placed.changed(**{name: names[spec.terms[name]] for name in relations})


def draft(template: Template, *, project: Project, source: Source, now: datetime) -> Draft:
    """What the template would create in the project over this source, with its hours and costs. Writes nothing."""
    named = template.study.examples()
    examples = Example.objects.usable().filter(source=source, external_id__in=named)
    example_ids = frozenset(examples.values_list("external_id", flat=True))
    here = current_state.of_project(project, now=now, derived=False, with_remaining=False)
    study, notes = adapt(template.study, project=here.study, source=source.name, example_ids=example_ids)
    study, plan, more = _without_obstacles(study, project=project, source=source, now=now)
    return Draft(template, study, plan, (*notes, *more))


def _without_obstacles(
    study: Study, *, project: Project, source: Source, now: datetime
) -> tuple[Study, Plan, list[str]]:
    """The part of a study that can be created and its plan; and a note on each batch that is left out.

    If none of its batches can be created, it is the whole study: its plan names all obstacles.
    """
    plan = apply.plan_for_project(study, project, now=now)
    plan = replace(plan, changes=(*plan.changes, *_unsuitable(study, project, source)))
    plan = replace(plan, changes=tuple(_with_label(change) for change in plan.changes))
    text = gettext("{batch} is left out. {reason}")
    reasons: dict[str, str] = {}
    for change in plan.cannot:
        if change.section in ("batch", "gold"):
            note = text.format(batch=quoted([change.name]), reason=change.words)
            reasons.setdefault(change.name, note)
    rest, notes = omit_batches(study, reasons)
    if not reasons or not rest.batches:
        return study, plan, []
    rest, plan, more = _without_obstacles(rest, project=project, source=source, now=now)
    return rest, plan, [*notes, *more]


def _with_label(change: Change) -> Change:
    """The change with the label of its term, where its words begin with the key that the term has in a file."""
    if not change.term:
        return change
    reason = change.words.removeprefix(BATCH_KEYS[change.term])
    return replace(change, words=gettext(TERMS[change.term].label) + reason, term="")


def _unsuitable(study: Study, project: Project, source: Source) -> Iterator[Change]:
    """An obstacle for each new batch over the source that would have no item: what the source lacks, and what to do."""
    for index, spec in enumerate(study.batches):
        if not spec.sources:
            continue
        task = spec.task
        sample = sampling.Sample(
            sources=[source], of=spec.of, size=spec.size, only=list(spec.only) or None, seed=spec.seed
        )
        if not sampling.is_suitable(project=project, task=task, sample=sample):
            text = gettext(
                "None of these examples can become an item: {without} Choose another source, or import one "
                "that has it."
            ).format(without=gettext(task.without))
            yield Change("cannot", "batch", spec.name, text, index)


def create(draft: Draft, *, project: Project, by: Person, now: datetime) -> None:
    """Create everything of a draft in one transaction. Raises ActionRefused, with nothing created."""
    apply.apply_whole(draft.plan, project=project, by=by, now=now)
