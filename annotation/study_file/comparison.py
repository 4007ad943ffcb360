"""A study file next to a project: the changes that lead from one to the other, and what both know of a batch.

Nothing is ever taken away: what a project has and the file does not name stays as it is, and a change says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from django.utils.translation import gettext, gettext_noop

import tableqa
from annotation.access.roles import Role
from annotation.models.batch_options import TERMS
from annotation.study_file.current_state import ProjectState
from annotation.study_file.schema import BatchSpec, GoldItem, ItemName, Study, spelling
from tasks.shared.schema_errors import unknown_value_message

Verb = Literal["add", "change", "open", "invite", "leave", "wait", "cannot"]

SECTIONS: Final = {
    "project": "project",
    "consent": "consent",
    "task type": "task_types",
    "guidelines": "guidelines",
    "source": "sources",
    "person": "people",
    "perturbation": "perturbations",
    "batch": "batches",
    "gold": "batches",
    "open": "batches",
    gettext_noop("guideline examples"): "batches",
}
"""The sections of a plan in the order in which they are applied, and where a file has what they are about."""


@dataclass(frozen=True)
class SourceProbe:
    """What was found of a source's files: their checksum and how many examples they hold, or why they cannot be read.

    `named` are those of its examples that the study names, by their id; `has_sentences`: most answers are sentences.
    `path` and `tables` are the files.
    """

    checksum: str = ""
    examples: int = 0
    has_sentences: bool = False
    wrong: str = ""
    named: Mapping[str, tableqa.Example] = field(default_factory=dict)
    path: Path | None = None
    tables: Path | None = None


@dataclass(frozen=True)
class Change:
    """One thing that applying does ("leave", "wait" and "cannot": does not do), and in words what and why.

    "wait" means: done when the file is applied again, once people have made what it is about.

    section and index are the part of the study that it is about. `term` is the term of a batch that cannot be
    as the file says; `words` begin with its key.
    """

    verb: Verb
    section: str
    name: str
    words: str
    index: int = 0
    line: int = 0
    term: str = ""

    def __str__(self) -> str:
        return f"{self.verb:<7}{self.section} {self.name}: {self.words}"

    def with_line(self) -> str:
        line = f"line {self.line}: " if self.line else ""
        return f"{line}{self.section} {self.name}: {self.words}"


def planned_change(verb: Verb, study: Study, section: str, name: str, text: str, index: int = 0) -> Change:
    """A change with its line in the file; `index` is the position of what it is about."""
    line = study.line(SECTIONS[section], name if section == "task type" else index)
    return Change(verb, section, name, text, index, line)


def in_order(study: Study) -> list[tuple[str, int]]:
    """Perturbations and batches, each after what it is fed by or asks for: ("batch", position), as the file has them.

    Runs over all examples of sources come first: batches may be about what they make.
    """
    names = {batch.name: index for index, batch in enumerate(study.batches)}
    ordered: list[tuple[str, int]] = []

    def add(index: int) -> None:
        if ("batch", index) in ordered:
            return
        for before in (study.batches[index].feeds_from, study.batches[index].requires):
            if before in names and names[before] != index:
                add(names[before])
        ordered.append(("batch", index))

    ordered += [("perturbation", index) for index, run in enumerate(study.runs) if not run.feeds_from]
    for index in range(len(study.batches)):
        add(index)
    return ordered + [("perturbation", index) for index, run in enumerate(study.runs) if run.feeds_from]


def resolve_source(entry: GoldItem | ItemName, holders: Sequence[str], own: Sequence[str]) -> tuple[str, str]:
    """Of the sources that have such an example, the one that is meant; or what is wrong, in words.

    The source that is named, else one of the batch's `own`, else the only one of the project.
    """
    if entry.source:
        if entry.source in holders:
            return entry.source, ""
        return "", gettext("The source {source!r} does not contain the example {example!r}.").format(
            source=entry.source, example=entry.example
        )
    for name in holders:
        if name in own:
            return name, ""
    if len(holders) > 1:
        return "", gettext("{sources} have an example {example!r}. Choose one with `source`.").format(
            sources=gettext(" and ").join(map(repr, holders)), example=entry.example
        )
    if not holders:
        return "", gettext("No source contains the example {example!r}.").format(example=entry.example)
    return holders[0], ""


def change_in_words(what: str, before: str, after: str) -> str:
    """A change of a term, in a sentence."""
    return gettext("{what}: {before} becomes {after}").format(what=what, before=before, after=after)


def term_in_words(spec: BatchSpec, name: str) -> str:
    """What a batch says under one of the names of `BATCH_KEYS`, in a sentence."""
    value = getattr(spec, name)
    return value_in_words(TERMS[name].in_file(value) if name in TERMS else value)


def value_in_words(value: Any) -> str:
    """A value in a sentence."""
    if value in ("", (), {}, None):
        return gettext("none")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value_in_words(element)}" for key, element in value.items()) + "}"
    if isinstance(value, tuple | list):
        text = ", ".join(value_in_words(element) for element in value[:5])
        if len(value) > 5:
            return gettext("{values} and {number} more").format(values=text, number=len(value) - 5)
        return text
    return str(value)


class Comparison:
    """A study file next to a project: what both have.

    `files` are the sources of the file, each with what was found of its files. `planned` and `stated` are the batches of the
    project and of the file by name, `batches` those of both; `waiting` are names of those that cannot be created yet.
    """

    def __init__(self, study: Study, state: ProjectState, probes: Mapping[int, SourceProbe] | None) -> None:
        self.study, self.state, self.probes = study, state, probes
        self.current = state.study
        probe_of = probes or {}
        self.files = [
            (source, probe_of.get(index, SourceProbe())) for index, source in enumerate(study.sources)
        ]
        self.planned = {batch.name: batch for batch in self.current.batches}
        self.stated = {batch.name: batch for batch in study.batches}
        self.batches = {**self.planned, **self.stated}
        self.waiting: set[str] = set()

    def change(self, verb: Verb, section: str, name: str, text: str, index: int = 0) -> Change:
        return planned_change(verb, self.study, section, name, text, index)

    def check_names(
        self, section: str, index: int, name: str, sources: Sequence[str], *batches: str
    ) -> Iterator[Change]:
        """Sources and batches that something names have to be somewhere."""
        source_names = {source.name: source for source in (*self.study.sources, *self.current.sources)}
        references: list[tuple[str, str, Mapping[str, Any]]] = [
            (gettext("source"), reference, source_names) for reference in sources
        ]
        references += [(gettext("batch"), reference, self.batches) for reference in batches if reference]
        for what, reference, available in references:
            if reference not in available:
                text = unknown_value_message(what, reference, available)
                yield self.change("cannot", section, name, text, index)

    def holders(self, name: str) -> dict[str, tableqa.Example]:
        """The example of this id in each source that has it, or will once its files are imported."""
        by_source = dict(self.state.named.get(name, {}))
        for source, probe in self.files:
            if name in probe.named:
                by_source.setdefault(source.name, probe.named[name])
        return by_source

    def has_unread_files(self) -> bool:
        """Whether there are sources whose examples are unknown yet."""
        imported_names = {source_file.name for source_file in self.current.sources}
        return any(source.name not in imported_names and not probe.checksum for source, probe in self.files)

    def is_unread(self, spec: BatchSpec) -> bool:
        """Whether there are examples that are not known yet: of files that are not read, or that a run is to make."""
        return self.has_unread_files() or (spec.of != "originals" and bool(self.study.runs))

    def is_closed(self, name: str) -> bool:
        return name in self.state.batches and self.state.batches[name].state == "closed"

    def annotators(self, *, joining: bool = False) -> int:
        """How many annotate in the project once the people of the file have the roles that it gives them.

        joining: also people with a link. Each person counts once, under any name in the file.
        """
        annotator, more = Role.ANNOTATOR.value, set()
        for entry in (*self.study.people, *(self.current.people if joining else ())):
            has = entry.among(self.state.people)
            comes = entry.among(self.state.invited) or not entry.among(self.state.removed)
            if annotator in entry.roles and (joining and comes if has is None else annotator not in has):
                more.add(spelling(entry.name if has is None else entry.email or entry.name))
        return self.state.annotators + len(more)

    def drawn_items(self, spec: BatchSpec) -> int | None:
        """How many items a new batch draws from its sources, at most; None: unknown."""
        if spec.only:
            return len(spec.only)
        if not spec.sources:
            return 0
        if self.draws_future_examples(spec):
            return spec.size
        return self.examples(spec) if spec.size is None else min(spec.size, self.examples(spec))

    def draws_future_examples(self, spec: BatchSpec) -> bool:
        """Whether a new batch is drawn from examples that are created in between, which cannot be counted yet."""
        is_derived = bool(spec.sources) and not spec.only and spec.of != "originals"
        return is_derived and spec.name not in self.planned

    def examples(self, spec: BatchSpec) -> int:
        """How many examples there are of those that a batch is drawn from, with those of files that are not imported."""
        return sum(self._examples_of(name, spec.of) for name in spec.sources)

    def _examples_of(self, source: str, of: str) -> int:
        count = self.state.examples.get((source, of), 0)
        if of != "originals":
            return count
        checksums = {entry.checksum for entry in self.current.sources if entry.name == source}
        for entry, probe in self.files:
            if entry.name == source and probe.checksum and probe.checksum not in checksums:
                count = max(count, probe.examples)
        return count

    def available_examples(self, spec: BatchSpec) -> int | None:
        """How many examples there are of those that a batch is drawn from; None if unknown yet."""
        if spec.of == "automatic" or not spec.sources:
            return None  # runs of the file come first
        return self.examples(spec)
