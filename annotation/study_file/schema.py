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
from annotation.models.batch_options import TERMS, Term, work_limits
from annotation.models.batch_options import Context as TermContext
from annotation.models.batch_options.budget import budget
from annotation.models.batch_options.task_settings import filled
from annotation.payments import data_statement
from annotation.platform.display_text import shown
from annotation.platform.refusals import Refused
from annotation.queue import sampling
from annotation.releases import creation
from annotation.study_file import json_schema, yaml_file
from annotation.study_file.yaml_file import Fault, ParsedYaml, Path, StudyError
from annotation.workflow.projects import RESERVED_SLUGS
from tableqa.core.foreign_values import faults, unstorable
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.perturbations.question_selection import RULES
from tableqa.readers import READERS
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
    """A person of the study, by name. The e-mail finds a member who goes by another name; it is never written back."""

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
    stands frozen beside it, in place of what the kind would prepare.
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

    `lines` says where a part stands in its file, by (section, position).
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
    originals: set[str] = set()
    seen: set[str] = set()
    at: BatchSpec | None = work
    while at is not None and at.name not in seen:
        if at.sources and at.of != "originals":
            return set()
        seen.add(at.name)
        originals |= set(at.sources)
        at = of.get(at.feeds_from)
    return originals


def parse(text: str | ParsedYaml, *, folder: FilePath | None = None) -> Study:
    """The study that a file describes. `folder` is where the file lies; without it no other file is read.

    Raises `StudyError` with everything that is wrong.
    """
    written = yaml_file.read(text) if isinstance(text, str) else text
    if problems := list(json_schema.faults(written)):
        raise StudyError(problems)
    words = gettext("The text contains {reason}, which cannot be saved. Remove it.")
    if problems := [
        written.fault(path, words.format(reason=why.shown())) for path, why in faults(written.value)
    ]:
        raise StudyError(problems)
    reading = _StudyReader(written, folder)
    study = reading.study()
    if reading.faults:
        raise StudyError(reading.faults)
    return study


class _StudyReader:
    """From plain values that have the right shape to a study; collects what else is wrong."""

    def __init__(self, written: ParsedYaml, folder: FilePath | None) -> None:
        self.written = written
        self.folder = folder
        self.faults: list[Fault] = []
        self.tasks: dict[str, TaskType] = dict(task_types())

    def wrong(self, path: Path, message: str) -> None:
        self.faults.append(self.written.fault(path, message))

    def known(self, path: Path, what: str, name: str, available: Iterable[str]) -> bool:
        """Whether there is such a thing; a fault where there is not."""
        available = list(available)
        if name not in available:
            self.wrong(path, unknown_value_message(what, name, available))
        return name in available

    def has_task(self, path: Path, key: str) -> bool:
        """Whether there is such a task type; a fault where there is not. What is wrong with a definition is said there."""
        if key not in self.tasks and key in self.written.value.get("task_types", {}):
            return False
        return self.known(path, gettext("task type"), key, self.tasks)

    def define_task_type(self, name: str, data: Mapping[str, Any]) -> TaskType | None:
        """The task type that a definition makes; None, and a fault for everything that is wrong with it."""
        from tasks.shared.defined_types import task_of  # after Django is set up

        problems = list(name_faults(name, list(task_types())))
        if not problems:
            try:
                return task_of(name, data)
            except BadDefinition as bad:
                problems = bad.faults
        for fault in problems:
            self.wrong(("task_types", name, *fault.path), fault.message)
        return None

    def told(self, path: Path, check: Callable[[], Any]) -> Any:
        """What a check returns; a fault with its words where it refuses."""
        try:
            return check()
        except Refused as refused:
            self.wrong(path, refused.detail)
            return {}

    def study(self) -> Study:
        content = self.written.value
        project = content["project"]
        if project["slug"] in RESERVED_SLUGS:
            words = gettext("The short name {slug!r} is reserved. Choose another one.")
            self.wrong(("project", "slug"), words.format(slug=project["slug"]))
        time_zone = project.get("time_zone", "UTC")
        if time_zone not in zoneinfo.available_timezones():
            zones = sorted(zoneinfo.available_timezones())
            words = gettext("There is no time zone {time_zone!r}.").format(time_zone=time_zone)
            if closest_match(time_zone, zones):
                words = unknown_value_message(gettext("time zone"), time_zone, zones)
            self.wrong(("project", "time_zone"), words)
        if not project["name"].strip():
            self.wrong(("project", "name"), gettext("A project needs a name."))
        self.unique("people", content.get("people", []))
        sources = tuple(self.source(index, entry) for index, entry in enumerate(content.get("sources", [])))
        self.check_repeated_sources(sources)
        self.unique("batches", content.get("batches", []))
        definitions = content.get("task_types", {})
        self.tasks |= {
            key: task for key, entry in definitions.items() if (task := self.define_task_type(key, entry))
        }
        kinds = content.get("kinds", {})
        for key, mapping in kinds.items():
            if self.has_task(("kinds", key), key) and "settings" in mapping:
                self.settings(self.tasks[key], mapping["settings"], ("kinds", key, "settings"))
        caps, terms = project.get("caps", {}), project.get("release")
        batches = tuple(
            _BatchReader(self, index, self.tasks[mapping["type"]]).work(sources)
            for index, mapping in enumerate(content.get("batches", []))
            if self.has_task(("batches", index, "type"), mapping["type"])
        )
        runs = tuple(self.run(index, entry) for index, entry in enumerate(content.get("perturbations", [])))
        study = Study(
            slug=project["slug"],
            name=project["name"].strip(),
            time_zone=time_zone,
            must_read=project.get("must_read", False),
            caps=self.told(("project", "caps"), lambda: work_limits.caps(caps, work_limits.OF_A_PROJECT)),
            pay=self.told(("project", "pay"), lambda: work_limits.pay(project.get("pay", {}))),
            model_budget=self.told(
                ("project", "model_budget"), lambda: budget(project.get("model_budget", {}))
            ),
            release=self.told(("project", "release"), lambda: creation.options(**terms) if terms else {}),
            consent=self.consent(content.get("consent", "")),
            statement=self.told(
                ("statement",), lambda: data_statement.clean_answers(content.get("statement", {}))
            ),
            people=tuple(
                PersonEntry(
                    entry["name"].strip(), _roles(entry["roles"]), entry.get("email", "").strip().lower()
                )
                for entry in content.get("people", [])
            ),
            sources=sources,
            task_types=definitions,
            guidelines=self.guidelines(content.get("guidelines", {})),
            runs=runs,
            batches=batches,
            lines=self.written.lines,
        )
        self.named(study)
        self.check_cycles(study)
        return study

    def named(self, study: Study) -> None:
        """Batches that others wait for or ask for stand in the file, too."""
        purposes = {batch.name: batch.purpose for batch in study.batches}
        for index, entry in enumerate(self.written.value.get("batches", [])):
            for key in ("feeds_from", "requires"):
                name = entry.get(key, "").strip()
                is_known = not name or self.known(("batches", index, key), gettext("batch"), name, purposes)
                if name and is_known and key == "requires" and purposes[name] != "qualification":
                    words = gettext("“{name}” is not a qualification batch.").format(name=name)
                    self.wrong(("batches", index, key), words)
                if name and is_known and key == "feeds_from":
                    self.check_feeding_batch(("batches", index, key), name, purposes[name])
        for index, run in enumerate(study.runs):
            path: Path = ("perturbations", index, "feeds_from")
            if run.feeds_from and self.known(path, gettext("batch"), run.feeds_from, purposes):
                self.check_feeding_batch(path, run.feeds_from, purposes[run.feeds_from])

    def check_feeding_batch(self, path: Path, name: str, purpose: str) -> None:
        """Only what is decided makes items elsewhere."""
        if purpose != "work":
            words = gettext("{name} is a {purpose} batch and decides no items, so it cannot pass any on.")
            self.wrong(path, words.format(name=quoted([name]), purpose=gettext(purpose)))

    def consent(self, text: str) -> str:
        """The text as it is kept."""
        if text and not text.strip():
            self.wrong(("consent",), gettext("The consent text is empty."))
        return text.replace("\r\n", "\n").strip("\n") + "\n" if text else ""

    def unique(self, section: str, entries: Sequence[Mapping[str, Any]]) -> None:
        nameless, twice = NAMES[section]
        first: dict[str, int] = {}
        for index, entry in enumerate(entries):
            name = entry["name"].strip()
            same = spelling(name) if section == "people" else name
            if not name:
                self.wrong((section, index, "name"), gettext(nameless))
            elif same in first:
                line = self.written.line((section, first[same], "name"))
                self.wrong((section, index, "name"), gettext(twice).format(name=name, line=line))
            first.setdefault(same, index)

    def check_repeated_sources(self, sources: Sequence[SourceFile]) -> None:
        """A name may stand twice where the second files add to the first; then both say which files they are."""
        for index, source in enumerate(sources):
            same = [entry for entry in sources if entry.name == source.name]
            if len(same) > 1 and len({entry.checksum for entry in same if entry.checksum}) != len(same):
                words = gettext(
                    "{name!r} appears {number} times. Give each entry a different name or checksum."
                ).format(name=source.name, number=len(same))
                self.wrong(("sources", index, "name"), words)

    def source(self, index: int, entry: Mapping[str, Any]) -> SourceFile:
        self.known(("sources", index, "reader"), gettext("reader"), entry["reader"], sorted(READERS))
        return SourceFile(**{**entry, "name": entry["name"].strip()})

    def guidelines(self, entries: Mapping[str, Any]) -> dict[str, str]:
        texts = {}
        for key, text in entries.items():
            path = ("guidelines", key)
            self.has_task(path, key)
            if isinstance(text, Mapping):
                text = self.beside((*path, "file"), text["file"])
            if text is not None and not text.strip():
                self.wrong(path, gettext("The guidelines are empty."))
            texts[key] = text or ""
        return texts

    def beside(self, path: Path, name: str) -> str | None:
        """The text of a file that lies beside the study's."""
        if self.folder is None:
            words = gettext("Files can only be included on the command line. Paste the text here.")
            self.wrong(path, words)
            return None
        try:
            text = (self.folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else gettext("not UTF-8 text")
            self.wrong(path, gettext("{name} cannot be read: {why}.").format(name=name, why=why))
            return None
        if reason := unstorable(text):
            words = gettext("{name} contains {reason}, which cannot be saved. Remove it.")
            self.wrong(path, words.format(name=name, reason=reason))
        return text

    def settings(self, task: TaskType, values: Mapping[str, Any], path: Path) -> dict[str, Any]:
        settings = filled(task, values)
        for below, message in schema_faults(task.settings_schema, settings, what=gettext("setting")):
            self.wrong((*path, *below), message)
        return settings

    def when(self, path: Path, entry: Mapping[str, Any], feeds_from: str) -> None:
        """`feeds_when` names a field of what feeds, and values that it can have."""
        conditions = entry.get("feeds_when", {})
        if conditions and not feeds_from:
            words = gettext("This filters the outcomes of a batch. Name that batch in feeds_from.")
            self.wrong((*path, "feeds_when"), words)
        for before in self.written.value.get("batches", []):
            task = self.tasks.get(before["type"])
            if before["name"].strip() == feeds_from and task is not None:
                fields = {
                    task_field.name: [value for value, _ in task_field.choices] for task_field in task.fields
                }
                field_of = gettext("field of {title}").format(title=shown(task.title))
                for name, values in conditions.items():
                    if self.known((*path, "feeds_when", name), field_of, name, fields):
                        for at, value in enumerate(values if fields[name] else ()):
                            self.known((*path, "feeds_when", name, at), gettext("value"), value, fields[name])

    def run(self, index: int, entry: Mapping[str, Any]) -> Run:
        path: Path = ("perturbations", index)
        for at, kind in enumerate(entry["kinds"]):
            self.known((*path, "kinds", at), gettext("perturbation"), kind, PERTURBATIONS)
        feeds_from = entry.get("feeds_from", "").strip()
        self.when(path, entry, feeds_from)
        if "rules" in entry and "select" not in entry:
            self.wrong((*path, "rules"), gettext("Rules need a question category. Add `select`."))
        return Run(
            kinds=tuple(entry["kinds"]),
            seeds=tuple(entry.get("seeds", SEEDS)),
            sources=tuple(name.strip() for name in entry.get("sources", ())),
            select=entry.get("select", ""),
            rules=entry.get("rules", RULES[0]) if "select" in entry else "",
            feeds_from=feeds_from,
            feeds_when=entry.get("feeds_when", {}),
        )

    def check_cycles(self, study: Study) -> None:
        """A batch that, in the end, waits for itself never begins."""
        waits = {
            batch.name: [name for name in (batch.feeds_from, batch.requires) if name]
            for batch in study.batches
        }
        for index, batch in enumerate(study.batches):
            seen: set[str] = set()
            front = list(waits[batch.name])
            while front:
                name = front.pop()
                if name == batch.name:
                    key = "feeds_from" if batch.feeds_from else "requires"
                    words = gettext("{name!r} depends on itself.").format(name=batch.name)
                    self.wrong(("batches", index, key), words)
                    break
                if name not in seen:
                    seen.add(name)
                    front += waits.get(name, ())


class _BatchReader:
    """From one batch of a file to a `BatchSpec`: its sample, its terms and its gold."""

    def __init__(self, reading: _StudyReader, index: int, task: TaskType) -> None:
        self.reading, self.task = reading, task
        self.path: Path = ("batches", index)
        self.given: Mapping[str, Any] = reading.written.value["batches"][index]
        self.usual: Mapping[str, Any] = reading.written.value.get("kinds", {}).get(task.key, {})

    def work(self, sources: Sequence[SourceFile]) -> BatchSpec:
        """The batch; without sources of its own it draws from the first of `sources`."""
        entry, sample = self.given, self.given.get("sample", {})
        feeds_from = entry.get("feeds_from", "").strip()
        drawn = tuple(name.strip() for name in sample.get("sources", ()))
        if not drawn and not feeds_from and sources:
            drawn = (sources[0].name,)  # as a demo world or a small study means it
        of = sample.get("of", self.task.of[0])
        if of not in sampling.example_kinds(self.task):
            words = gettext("{title} takes {of} examples.").format(
                title=shown(self.task.title), of=gettext(" or ").join(sampling.example_kinds(self.task))
            )
            self.reading.wrong((*self.path, "sample", "of"), words)
        if "only" in sample and "size" in sample:
            words = gettext("`only` lists the examples. Remove `size`.")
            self.reading.wrong((*self.path, "sample", "size"), words)
        gold = entry.get("gold", {}).get("items", ())
        self.repeated((*self.path, "gold", "items"), gold)
        self.reading.when(self.path, entry, feeds_from)
        return BatchSpec(
            name=entry["name"].strip(),
            type=self.task.key,
            defined=None if self.task.key in task_types() else self.task,
            of=of,
            terms=self.terms(feeds_from),
            seed=entry.get("seed", 0),
            sources=drawn,
            size=sample.get("size"),
            only=tuple(sample.get("only", ())),
            by=sample.get("by", ""),
            feeds_from=feeds_from,
            gold=tuple(GoldItem(**gold_entry) for gold_entry in gold),
            guideline_examples=self.guideline_examples(gold),
            open=entry.get("open", False),
        )

    def terms(self, feeds_from: str) -> dict[str, Any]:
        """Every term: as the batch says it, as its task type says it below `kinds`, or its default."""
        context = TermContext(self.task, feeds_from=FEEDING if feeds_from else None)
        for name, term in TERMS.items():
            path, value = self.said(term)
            faults = len(self.reading.faults)
            if name == "settings":
                value, path = self.settings()
            elif name == "feeds_when" and not feeds_from:
                value = None  # `when` says so
            try:
                context.values[name] = term.checked(value, context)
            except Refused as refused:
                context.values[name] = term.default_in(context)
                if len(self.reading.faults) == faults and not (
                    name == "settings" and "settings" in self.usual
                ):
                    self.reading.wrong(path, refused.detail)
            if name == "strategy" and context.values[name] == "everyone":
                context.values["overlap"] = EVERYONE
        return context.values

    def said(self, term: Term) -> tuple[Path, Any]:
        """The value of a term and where the file says it; None, and the batch, where it does not."""
        usual = self.usual if term.per_task_type and term.fits(self.task) else {}
        for part, above in ((self.given, self.path), (usual, ("kinds", self.task.key))):
            value: Any = part
            for key in term.path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is not None:
                return (*above, *term.path), term.from_file(value)
        return self.path, None

    def settings(self) -> tuple[dict[str, Any], Path]:
        """Those of the task type below `kinds` with those of the batch. The former are checked there."""
        usual, own = self.usual.get("settings", {}), self.given.get("settings", {})
        path: Path = (*self.path, "settings") if own else self.path
        if own:
            self.reading.settings(self.task, {**usual, **own}, path)
        return {**usual, **own}, path

    def guideline_examples(self, gold: Sequence[Mapping[str, Any]]) -> tuple[ItemName, ...]:
        """Those of a batch that decides items; none of them is gold."""
        path, entries = (*self.path, "guideline_examples"), self.given.get("guideline_examples", ())
        purpose = self.given.get("purpose", "work")
        if entries and purpose != "work":
            words = gettext("A {purpose} batch decides no items, so it has no guideline examples.")
            self.reading.wrong(path, words.format(purpose=gettext(purpose)))
        self.repeated(path, entries)
        right = {entry["example"] for entry in gold}
        for index, entry in enumerate(entries):
            if entry["example"] in right:
                words = gettext("{example!r} is a gold item. Annotators must not see its response.")
                self.reading.wrong((*path, index), words.format(example=entry["example"]))
        return tuple(ItemName(**entry) for entry in entries)

    def repeated(self, path: Path, items: Sequence[Mapping[str, Any]]) -> None:
        """An example has one right response, and is one guideline example."""
        first: dict[tuple[str, str], int] = {}
        for index, entry in enumerate(items):
            key = (entry["example"], entry.get("source", ""))
            if key in first:
                line = self.reading.written.line((*path, first[key]))
                words = gettext("{example!r} is already on line {line}.")
                self.reading.wrong((*path, index), words.format(example=entry["example"], line=line))
            first.setdefault(key, index)


def _roles(names: Iterable[str]) -> tuple[str, ...]:
    """Roles in their own order, so that the same roles are equal."""
    return tuple(role.value for role in Role if role.value in set(names))


# -- and back ---------------------------------------------------------------------------------------


def document(study: Study) -> dict[str, Any]:
    """The study as the plain value of a file: what goes without saying is not said. `parse` gives it back equal.

    What databases keep as JSON comes back from them in different orders: here it has one.
    """
    study = _with_sorted_keys(study)
    project: dict[str, Any] = {"slug": study.slug, "name": study.name}
    if study.time_zone != "UTC":
        project["time_zone"] = study.time_zone
    project |= _without_empty(
        {
            "must_read": study.must_read,
            "caps": study.caps,
            "pay": study.pay,
            "model_budget": study.model_budget,
            "release": study.release,
        }
    )
    content: dict[str, Any] = {"study": json_schema.VERSION, "project": project}
    content |= _without_empty({"consent": study.consent, "statement": study.statement})
    if study.task_types:
        content["task_types"] = {name: in_order(data) for name, data in study.task_types.items()}
    sections = {
        "people": [
            _without_empty({"name": p.name, "roles": list(p.roles), "email": p.email}) for p in study.people
        ],
        "sources": [_without_empty(dataclasses.asdict(source)) for source in study.sources],
        "guidelines": dict(study.guidelines),
        "perturbations": [_run(run) for run in study.runs],
        "batches": [_work(work) for work in study.batches],
    }
    return content | _without_empty(sections)


def _run(run: Run) -> dict[str, Any]:
    content = _without_empty({**dataclasses.asdict(run), "rules": run.rules if run.select else ""})
    return {key: list(value) if isinstance(value, tuple) else value for key, value in content.items()}


def _work(work: BatchSpec) -> dict[str, Any]:
    sample = {"sources": list(work.sources), "size": work.size, "only": list(work.only), "by": work.by}
    if work.sources:
        sample["of"] = work.of
    batch: dict[str, Any] = {"name": work.name, "type": work.type}
    batch |= _without_empty(
        {"sample": _without_empty(sample), "seed": work.seed, "feeds_from": work.feeds_from}
    )
    context = TermContext(work.task, values=dict(work.terms))
    for name, term in TERMS.items():
        value = work.terms[name]
        if name == "overlap" and work.strategy == "everyone":
            continue  # counted when the batch opens
        if term.is_always_written or value != term.default_in(context):
            *above, key = term.path
            part = batch
            for group in above:
                part = part.setdefault(group, {})
            part[key] = term.in_file(value)
    if work.gold:
        batch.setdefault("gold", {})["items"] = [
            _without_empty(dataclasses.asdict(entry)) for entry in work.gold
        ]
    examples = [_without_empty(dataclasses.asdict(entry)) for entry in work.guideline_examples]
    batch |= _without_empty({"guideline_examples": examples})
    ordered = {key: batch[key] for key in EXPORT_ORDER if key in batch}
    return ordered | batch | _without_empty({"open": work.open})


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty, 0 or false: every such value is what holds where nothing is said."""
    return {key: value for key, value in values.items() if value or key == "response"}


def _with_sorted_keys(value: Any) -> Any:
    """A part of a study with every mapping in it in the order of its keys."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {
            data_field.name: _with_sorted_keys(getattr(value, data_field.name))
            for data_field in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **{name: part for name, part in parts.items() if name != "lines"})
    if isinstance(value, Mapping):
        return {key: _with_sorted_keys(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return type(value)(map(_with_sorted_keys, value))
    return value
