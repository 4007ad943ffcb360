"""The parts of a study, and what follows from them alone. Nothing is looked up in a database."""

from __future__ import annotations

import dataclasses
import itertools
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils.translation import gettext

from annotation.access.roles import Role
from annotation.models.batch_options import TERMS
from annotation.study_file.yaml_file import Path
from tasks.contract import TaskType, task_types

EVERYONE = 1
"""The overlap that a batch is planned with where everyone gets everything: it is counted when the batch opens."""

PROJECT_OPTIONS: Final = ("must_read", "caps", "pay", "model_budget", "release")
"""What a file may say of its project beside its names and time zone; each is an attribute of `Study`."""

SAMPLE: Final = ("sources", "size", "only", "by", "of")
BATCH_KEYS: Final = {
    "type": "type",
    "seed": "seed",
    **{name: f"sample.{name}" for name in SAMPLE},
    "feeds_from": "feeds_from",
    **{name: ".".join(term.path) for name, term in TERMS.items()},
}
"""Where a file has the parts of a batch that are frozen with it, by their attributes of `BatchSpec`."""


def sorted_roles(roles: Collection[str]) -> tuple[str, ...]:
    """Roles in their own order, so that the same roles are equal."""
    return tuple(role.value for role in Role if role.value in roles)


@dataclass(frozen=True)
class PersonEntry:
    """A person of the study, by name. The e-mail finds a member of another name; it is never written back."""

    name: str
    roles: tuple[str, ...]
    email: str = ""

    def among(self, by_spelling: Mapping[str, Any]) -> Any:
        """What is known of the person, by `spelling` of the address or the name."""
        spellings = map(spelling, (self.email, self.name))
        return next((by_spelling[name] for name in spellings if name and name in by_spelling), None)


def spelling(name: str) -> str:
    """A name as two spellings of it are compared: in any letter case, space and Unicode normal form."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


@dataclass(frozen=True)
class SourceFile:
    """One import. `path` and `tables` are as the file has them, from its own folder. `checksum` "" takes any files."""

    name: str
    reader: str
    path: str = ""
    tables: str = ""
    split: str = ""
    limit: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    good_only: bool = False
    licence: str = ""
    citation: str = ""
    url: str = ""
    checksum: str = ""


@dataclass(frozen=True)
class Run:
    """Automatic perturbations; `feeds_from` is the batch whose outcomes choose the originals."""

    kinds: tuple[str, ...]
    seeds: tuple[int, ...]
    sources: tuple[str, ...] = ()
    select: str = ""
    rules: str = ""
    feeds_from: str = ""
    feeds_when: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What people call it: a run has no name of its own."""
        return ", ".join(self.kinds)


@dataclass(frozen=True)
class GoldItem:
    """An example whose right response is known.

    `source` says which one it is where several have such an id; without it the batch's own come first. `inputs` are what
    is frozen beside it, in place of what the kind would prepare.
    """

    example: str
    response: Mapping[str, Any]
    why: str = ""
    source: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemName:
    """An item of a batch by the id of its example. `source` says which one it is where several have such an id."""

    example: str
    source: str = ""


@dataclass(frozen=True)
class BatchSpec:
    """A batch. `defined` is its task type where the project defines it.

    `terms` are all of `annotation.models.batch_options.TERMS`, with their defaults; a batch that one requires by its name.

    Every term is an attribute, too: `spec.overlap`.
    """

    name: str
    type: str
    of: str
    terms: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    sources: tuple[str, ...] = ()
    size: int | None = None
    only: tuple[str, ...] = ()
    by: str = ""
    feeds_from: str = ""
    gold: tuple[GoldItem, ...] = ()
    guideline_examples: tuple[ItemName, ...] = ()
    open: bool = False
    defined: TaskType | None = field(default=None, compare=False, repr=False)

    @property
    def task(self) -> TaskType:
        """The task type: the one that the project defines, else the installed one."""
        return self.defined or task_types()[self.type]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["terms"][name]
        except KeyError:
            raise AttributeError(name) from None

    def changed(self, **values: Any) -> BatchSpec:
        """The same batch with other terms, or other parts of its sample."""
        terms = {name: values.pop(name) for name in list(values) if name in TERMS}
        return dataclasses.replace(self, terms={**self.terms, **terms}, **values)


@dataclass(frozen=True)
class Study:
    """A whole study. `task_types` are definitions by name.

    `lines` says where a part is in its file, by (section, position).
    """

    slug: str
    name: str
    time_zone: str = "UTC"
    must_read: bool = False
    caps: Mapping[str, Any] = field(default_factory=dict)
    pay: Mapping[str, Any] = field(default_factory=dict)
    model_budget: Mapping[str, Any] = field(default_factory=dict)
    release: Mapping[str, Any] = field(default_factory=dict)
    consent: str = ""
    statement: Mapping[str, Any] = field(default_factory=dict)
    people: tuple[PersonEntry, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    task_types: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    guidelines: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    batches: tuple[BatchSpec, ...] = ()
    lines: Mapping[Path, int] = field(default_factory=dict, compare=False, repr=False)

    def examples(self) -> frozenset[str]:
        """The ids of all examples that the file names."""
        return frozenset(
            name for spec in self.batches for name in (*spec.only, *(entry.example for entry in spec.gold))
        ) | {entry.example for spec in self.batches for entry in spec.guideline_examples}

    def says(self, *path: str | int) -> bool:
        """Whether the file itself says something there; a study that comes from no file says all that it holds."""
        return not self.lines or path in self.lines

    def line(self, *path: str | int) -> int:
        """The line of a part in its file; 0 for a study that was read from a project."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)


def quoted(names: Iterable[str]) -> str:
    """Names of batches, in a sentence."""
    return gettext(" and ").join(gettext("“{name}”").format(name=name) for name in names)


def people_needed(study: Study) -> int:
    """The smallest number of annotators with whom every item of a study gets its responses.

    Makers of an example, and of a decision that a task type looks into, never get the items that follow from it.
    """
    return max((_people_for(spec, study) for spec in study.batches), default=0)


def _people_for(spec: BatchSpec, study: Study) -> int:
    feeding = itertools.islice(upstream(spec, {batch.name: batch for batch in study.batches}), 1, None)
    looks_into = spec.task.looks_into
    return int(
        spec.overlap
        + sum(batch.overlap for batch in feeding if batch.task.making or batch.type in looks_into)
    )


def upstream(spec: BatchSpec, batches: Mapping[str, BatchSpec]) -> Iterator[BatchSpec]:
    """The batch, then the one that it takes items from, and so on."""
    seen: set[str] = set()
    batch: BatchSpec | None = spec
    while batch is not None and batch.name not in seen:
        yield batch
        seen.add(batch.name)
        batch = batches.get(batch.feeds_from)


def makers(batches: Iterable[BatchSpec], sources: Iterable[str]) -> list[str]:
    """The names of the batches in which people make examples of originals of these sources, also by way of others.

    A batch that is itself drawn from what people made is none: it cannot wait for itself.
    """
    of, source_names = {batch.name: batch for batch in batches}, set(sources)
    return [
        batch.name
        for batch in of.values()
        if batch.task.making and batch.purpose == "work" and source_names & _originals(batch, of)
    ]


def _originals(spec: BatchSpec, batches: Mapping[str, BatchSpec]) -> set[str]:
    """The sources whose originals come to a batch: its own, and those of what feeds it."""
    chain = list(upstream(spec, batches))
    if any(batch.sources and batch.of != "originals" for batch in chain):
        return set()
    return {source for batch in chain for source in batch.sources}
