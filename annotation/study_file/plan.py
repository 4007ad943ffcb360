"""What applying a study file would change, and what its work costs: a pure comparison of a file and a project.

Nothing is ever taken away: what a project has and the file does not name is left as it is, and said.
"""

import dataclasses
import functools
import operator
from collections import UserDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop, ngettext

import tableqa
from annotation.access.roles import Role
from annotation.assistance import loop_fit, model_accuracy
from annotation.models.batch_options import TERMS, Context, changeable
from annotation.platform.display_text import shown
from annotation.platform.refusals import Refused
from annotation.study_file import guideline_examples
from annotation.study_file.current_state import Counts, Pace, ProjectState, kind_of
from annotation.study_file.schema import (
    BatchSpec,
    GoldItem,
    ItemName,
    Run,
    SourceFile,
    Study,
    makers,
    people_needed,
    quoted,
    spelling,
)
from tasks.contract import InvalidResponse, Item, Preparing, TaskType, decision_rules, task_types
from tasks.pace import usual_seconds
from tasks.shared.defined_types import task_of
from tasks.shared.schema_errors import unknown_value_message
from tasks.shared.type_definitions import new_definition_faults

Verb = Literal["add", "change", "open", "invite", "leave", "wait", "cannot"]

ORDER: Final = (
    "project",
    "consent",
    "task type",
    "guidelines",
    "source",
    "person",
    "perturbation",
    "batch",
    "gold",
    "open",
    gettext_noop("guideline examples"),
)
"""The sections in the order in which they are applied; batches and perturbations as they feed each other."""


MEASURABLE = 20
"""Accepted items from which on the share that goes on is measured; below that, the usual share is expected."""


@dataclass(frozen=True)
class SourceProbe:
    """What was found of a source's files: their checksum and how many examples they hold, or why they cannot be read.

    `named` are those of its examples that the study names, by their id; `has_sentences`: most answers are sentences.
    """

    checksum: str = ""
    examples: int = 0
    has_sentences: bool = False
    wrong: str = ""
    named: Mapping[str, tableqa.Example] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One thing that applying does ("leave", "wait" and "cannot": does not do), and in words what and why.

    "wait" is what comes when the file is applied again, once people have made what it is about.

    section and place say which part of the study; place is its position there. `term` is the term of a batch that cannot be
    as the file says; `words` begin with its key.
    """

    verb: Verb
    section: str
    name: str
    words: str
    place: int = 0
    line: int = 0
    term: str = ""

    def __str__(self) -> str:
        return f"{self.verb:<7}{self.section} {self.name}: {self.words}"


@dataclass(frozen=True)
class Cost:
    """The work that a batch asks for: annotations still to be made, seconds each, and what they are paid.

    `measured` is on how many annotations the pace was measured, 0 where it is what such a form usually takes; `ends` are
    those of the interval of the seconds. `most`: the number is not known yet. `bound` says what the number is,
    and pay by the item (`BOUNDS`); hours, and pay `by_hour`, are always "about". `annotations` None: nobody can say yet.
    """

    batch: str
    annotations: int | None
    seconds: float
    measured: int
    most: bool = False
    currency: str = ""
    money: float | None = None
    expected: int | None = None
    ends: tuple[float, float] | None = None
    bound: str = ""
    by_hour: bool = False

    def follows_time(self, name: str) -> bool:
        """Whether hours or pay (a property) are known about as well as the time."""
        return "hours" in name or (self.by_hour and "money" in name)

    @property
    def hours(self) -> float | None:
        return None if self.annotations is None else self.annotations * self.seconds / 3600

    @property
    def expected_hours(self) -> float | None:
        return None if self.expected is None else self.expected * self.seconds / 3600

    @property
    def expected_money(self) -> float | None:
        if self.money is None or not self.annotations or self.expected is None:
            return self.money
        return self.money * self.expected / self.annotations


BOUNDS: Final = ("", gettext_noop("at most"), gettext_noop("about"))
"""Exact, an upper limit, or neither: the rule, more people, gold or several outcomes of an item can add."""


def interval(costs: Iterable[Cost], name: str) -> tuple[float, float] | None:
    """The ends of hours or pay (a property) of batches, added up; None where the pace of one is not measured."""
    low = high = 0.0
    for cost in costs:
        if amount := getattr(cost, name):
            ends = cost.ends if cost.follows_time(name) else (cost.seconds, cost.seconds)
            if ends is None:
                return None
            low, high = low + amount * ends[0] / cost.seconds, high + amount * ends[1] / cost.seconds
    return low, high


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
        """What stands in the way; nothing is applied then."""
        return tuple(change for change in self.changes if change.verb == "cannot")

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
    standing: ProjectState | None,
    *,
    looked: Mapping[int, SourceProbe] | None = None,
    predictors: Mapping[str, Any] | None = None,
) -> Plan:
    """What it takes to bring a project to what a study says. `standing` None: there is no such project yet.

    `looked` is what was found of the files of sources, by their position; None where files cannot be read from here.
    `predictors` are the models there are, for a project that is not there yet.
    """
    changes: list[Change] = []
    if standing is None:
        words = gettext("a new project, “{name}”.").format(name=study.name)
        changes.append(_change("add", study, "project", study.slug, words))
        blank = Study(slug=study.slug, name=study.name, time_zone=study.time_zone)
        standing = ProjectState(blank, predictors=predictors or {})
    fresh = bool(changes)
    study, stays = _with_project_terms(study, standing.study)
    project = _ProjectComparison(study, standing, looked)
    changes += project.project(fresh=fresh)
    changes += project.sources()
    changes += project.people()  # before what is opened: a split is among those who are there
    changes += _WorkComparison(study, standing, looked).work()
    changes += stays
    comparison = _Costs(study, standing, looked)
    people = comparison.people()
    return Plan(study, tuple(changes), tuple(comparison.costs(people)), standing.notes, people)


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


def _with_project_terms(study: Study, current: Study) -> tuple[Study, list[Change]]:
    """A study with the terms of the project wherever its file is silent about them, and what stays for that reason.

    Somebody may have set them in the pages: a line that is not there takes nothing away. `{}` or "" does.
    """
    stays: list[Change] = []
    unsaid = {
        name: getattr(current, name)
        for name in ("time_zone", "must_read", "caps", "pay", "model_budget", "release")
        if not study.says("project", name) and getattr(current, name) != getattr(study, name)
    }
    parts = [f"{name} {_value(value)}" for name, value in unsaid.items()]
    answers = {
        name: text
        for name, text in current.statement.items()
        if not study.says("statement", name) and name not in study.statement
    }
    if answers:
        parts.append(gettext("of the statement, {answers}").format(answers=", ".join(answers)))
    if parts:
        stays.append(_change("leave", study, "project", current.slug, _unchanged_in_words(parts)))
    planned = {batch.name: batch for batch in current.batches}
    batches = []
    for index, work in enumerate(study.batches):
        before = planned.get(work.name)
        more = {
            name: getattr(before, name)
            for name in (changeable() if before is not None else ())
            if not _is_stated(study, index, name) and getattr(before, name) != getattr(work, name)
        }
        if more and before is not None:
            parts = [f"{COMPARED[name]} {_term_in_words(before, name)}" for name in more]
            stays.append(_change("leave", study, "batch", work.name, _unchanged_in_words(parts), index))
        batches.append(work.changed(**more))
    completed = dataclasses.replace(
        study, **unsaid, statement={**answers, **study.statement}, batches=tuple(batches)
    )
    return completed, stays


def _is_stated(study: Study, index: int, name: str) -> bool:
    """Whether the file says one of the parts in `COMPARED` of a batch, for itself or for its kind."""
    path = COMPARED[name].split(".")
    of_kind = ("kinds", study.batches[index].type, *path)
    return study.says("batches", index, *path) or study.says(*of_kind)


def _unchanged_in_words(parts: Sequence[str]) -> str:
    return gettext("{kept}: not in the file. It stays.").format(kept="; ".join(parts))


def _change(verb: Verb, study: Study, section: str, name: str, words: str, index: int = 0) -> Change:
    at = {"batch": "batches", "gold": "batches", "open": "batches", "source": "sources", "person": "people"}
    at |= {"perturbation": "perturbations", "guideline examples": "batches"}
    line = study.line(at[section], index) if section in at else study.line(section)
    if section == "task type":
        line = study.line("task_types", name)
    return Change(verb, section, name, words, index, line)


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


class _Comparison:
    """A study file next to a project: what both have."""

    def __init__(
        self, study: Study, standing: ProjectState, looked: Mapping[int, SourceProbe] | None
    ) -> None:
        self.study, self.standing, self.looked = study, standing, looked
        self.there = standing.study
        self.planned = {batch.name: batch for batch in self.there.batches}
        self.wanted = {batch.name: batch for batch in study.batches}
        self.waiting: set[str] = set()
        self.open: set[str] = set()

    def say(self, verb: Verb, section: str, name: str, words: str, index: int = 0) -> Change:
        return _change(verb, self.study, section, name, words, index)

    def files(self, index: int) -> SourceProbe:
        """What was found of the files of a source."""
        return (self.looked or {}).get(index, SourceProbe())

    def names(
        self, section: str, index: int, name: str, sources: Sequence[str], *batches: str
    ) -> Iterator[Change]:
        """Sources and batches that something names have to be somewhere."""
        source_names = dict.fromkeys(source.name for source in (*self.study.sources, *self.there.sources))
        for reference in sources:
            if reference not in source_names:
                yield self.say(
                    "cannot",
                    section,
                    name,
                    unknown_value_message(gettext("source"), reference, source_names),
                    index,
                )
        for reference in filter(None, batches):
            if reference not in self.wanted and reference not in self.planned:
                words = unknown_value_message(
                    gettext("batch"), reference, dict.fromkeys((*self.wanted, *self.planned))
                )
                yield self.say("cannot", section, name, words, index)

    def holders(self, name: str) -> dict[str, tableqa.Example]:
        """The example of this id in each source that has it, or will once its files are imported."""
        by_source = dict(self.standing.named.get(name, {}))
        for index, source in enumerate(self.study.sources):
            if name in self.files(index).named:
                by_source.setdefault(source.name, self.files(index).named[name])
        return by_source

    def has_unread_files(self) -> bool:
        """Whether there are sources of which nobody knows the examples yet."""
        imported_names = {source_file.name for source_file in self.there.sources}
        return any(
            source.name not in imported_names and not self.files(index).checksum
            for index, source in enumerate(self.study.sources)
        )

    def unread(self, spec: BatchSpec) -> bool:
        """Whether there are examples that nobody knows yet: of files that are not read, or that a run is to make."""
        return self.has_unread_files() or (spec.of != "originals" and bool(self.study.runs))

    def annotators(self, *, joining: bool = False) -> int:
        """How many annotate in the project once the people of the file have the roles that it gives them.

        joining: also those who have a link or get one. Each person counts once, by whatever name the file has them.
        """
        annotator, more = Role.ANNOTATOR.value, set()
        for entry in (*self.study.people, *(self.there.people if joining else ())):
            has = entry.among(self.standing.people)
            comes = entry.among(self.standing.invited) or not entry.among(self.standing.removed)
            if annotator in entry.roles and (joining and comes if has is None else annotator not in has):
                more.add(spelling(entry.name if has is None else entry.email or entry.name))
        return self.standing.annotators + len(more)

    def items(self, spec: BatchSpec, before: Mapping[str, int | None]) -> tuple[int | None, bool]:
        """How many items a new batch will have, and whether that is only the most that there can be; None: nobody knows."""
        most = bool(spec.task.without)
        drawn: int | None = 0
        if spec.only:
            drawn = len(spec.only)
        elif spec.sources:
            counts = [self.examples(name, spec.of) for name in spec.sources]
            if spec.of != "originals" and spec.name not in self.planned:
                # What is made in between is not counted yet.
                drawn, most = spec.size, True
            else:
                drawn = sum(counts) if spec.size is None else min(spec.size, sum(counts))
        if not spec.feeds_from:
            return drawn, most
        fed = before.get(spec.feeds_from)
        if fed is None or drawn is None:
            return None, True
        return fed + drawn, True

    def number(self, spec: BatchSpec) -> int | None:
        """How many examples there are of those that a batch is drawn from; None where nobody knows yet."""
        if spec.of == "automatic" or not spec.sources:
            return None  # runs of the file come first
        return sum(self.examples(name, spec.of) for name in spec.sources)

    def examples(self, name: str, of: str) -> int:
        count = self.standing.examples.get((name, of), 0)
        if of == "originals":
            for index, source in enumerate(self.study.sources):
                checksums = {
                    source_file.checksum for source_file in self.there.sources if source_file.name == name
                }
                looked = self.files(index)
                if source.name == name and looked.checksum and looked.checksum not in checksums:
                    count = max(count, looked.examples)
        return count


class _ProjectComparison(_Comparison):
    """What changes of the project itself, its sources and its people."""

    def project(self, *, fresh: bool) -> Iterator[Change]:
        study, current = self.study, self.there
        differ = [
            _change_in_words(gettext(word), _value(getattr(current, name)), _value(getattr(study, name)))
            for name, word in PROJECT_TERMS.items()
            if getattr(study, name) != getattr(current, name)
        ]
        if study.statement != current.statement:
            differ.append(gettext("data statement"))
        if differ:
            yield self.say("change", "project", current.slug, f"{'; '.join(differ)}.")
        if not study.consent and current.consent:
            words = gettext("the project asks for consent; the file does not mention it.")
            yield self.say("leave", "consent", "", words)
        elif study.consent and not current.consent:
            yield self.say("add", "consent", "", gettext("a text."))
        elif study.consent != current.consent:
            words = gettext("a new version: annotators are asked again before their next item.")
            yield self.say("change", "consent", "", words)
        yield from self.task_types()
        for key, text in study.guidelines.items():
            usual = self.usual_guidelines(key)
            before = current.guidelines.get(key, usual)
            if text != before:
                replaced = gettext("replaces the text of the task type.")
                words = gettext("a new version.") if key in current.guidelines else replaced
                if study.must_read and not fresh:
                    words += " " + gettext("Annotators read them again before their next item.")
                yield self.say("change", "guidelines", key, words)

    def usual_guidelines(self, key: str) -> str:
        """The guidelines that come with a task type; "" where there is none of this name."""
        if (data := self.study.task_types.get(key) or self.there.task_types.get(key)) is not None:
            return task_of(key, data).guidelines()
        return task_types()[key].guidelines() if key in task_types() else ""

    def task_types(self) -> Iterator[Change]:
        """The task types that the study defines."""
        for name, data in self.study.task_types.items():
            before = self.there.task_types.get(name)
            if before != data and (faults := new_definition_faults(data)):
                for fault in faults:
                    change = self.say("cannot", "task type", name, str(fault))
                    line = self.study.line("task_types", name, *fault.path)
                    yield dataclasses.replace(change, line=line)
            elif before is None:
                words = gettext("a task type of this project, with {fields}.").format(
                    fields=", ".join(field_data["name"] for field_data in data["fields"])
                )
                yield self.say("add", "task type", name, words)
            elif before != data:
                words = gettext("another definition. Batches with responses or gold answers keep theirs.")
                yield self.say("change", "task type", name, words)
        for name in self.there.task_types:
            if name not in self.study.task_types:
                yield self.say("leave", "task type", name, gettext("not in the file."))

    def sources(self) -> Iterator[Change]:
        for index, source_file in enumerate(self.study.sources):
            yield from self.source(index, source_file)
        named = {source.name for source in self.study.sources}
        for name in dict.fromkeys(source.name for source in self.there.sources if source.name not in named):
            yield self.say("leave", "source", name, gettext("not in the file."))

    def source(self, index: int, source_file: SourceFile) -> Iterator[Change]:
        imported = [entry for entry in self.there.sources if entry.name == source_file.name]
        verb: Verb = "cannot"
        looked = self.files(index)
        checksum = source_file.checksum or looked.checksum
        if other := next((entry.reader for entry in imported if entry.reader != source_file.reader), ""):
            words = gettext(
                "the source of this name in the project uses the reader {reader}, not {wanted}. Rename "
                "this one."
            ).format(reader=other, wanted=source_file.reader)
        elif imported and (looked.wrong or not checksum):
            return
        elif looked.wrong:
            words = looked.wrong
        elif any(entry.checksum == checksum for entry in imported):
            return
        elif source_file.checksum and looked.checksum and source_file.checksum != looked.checksum:
            words = gettext("{path} does not contain the data of the study (the checksum differs).").format(
                path=source_file.path
            )
        elif looked.checksum:
            verb, words = (
                "add",
                ngettext(
                    "import {path}, {number} example.", "import {path}, {number} examples.", looked.examples
                ).format(path=source_file.path or source_file.name, number=_n(looked.examples)),
            )
        elif self.looked is None:
            words = gettext(
                "not in the project. Import it on the page Sources under this name, then come back."
            )
        else:
            names = [source.name for source in self.study.sources]
            words = gettext(
                "not in the project. Give the path of its files: path in the file, or --source "
                "'{name}=PATH' on the command line."
            ).format(name=source_file.name if names.count(source_file.name) == 1 else index + 1)
        yield self.say(verb, "source", source_file.name, words, index)

    def people(self) -> Iterator[Change]:
        for index, entry in enumerate(self.study.people):
            roles = frozenset(entry.roles)
            verb: Verb = "leave"
            standing, words = self.standing, ""
            has, invited = entry.among(standing.people), entry.among(standing.invited)
            if has is not None and not roles <= has:
                more = _roles(role for role in entry.roles if role not in has)
                verb, words = "change", gettext("also {roles}.").format(roles=more)
            elif has is not None and has - roles:
                words = gettext(
                    "also has the roles {roles} in the project; they are not in the file."
                ).format(roles=_roles(sorted(has - roles)))
            elif has is None and invited is None and (gone := entry.among(standing.removed)) is not None:
                words = gettext(
                    "removed on {day}. To add this person again, create a link on the page People."
                ).format(day=gone)
            elif has is None and invited is None:
                words = gettext("a personal link to join as {roles}.").format(roles=_roles(entry.roles))
                verb = "invite"
            elif has is None and invited is not None and not roles <= invited:
                words = gettext(
                    "the existing link gives {roles}; add more roles after the person has joined."
                ).format(roles=_roles(sorted(invited)))
            if words:
                yield self.say(verb, "person", entry.name, words, index)


class _Supply(_Comparison):
    """Whether the examples that batches are drawn from exist, or will exist."""

    def waits(self, spec: BatchSpec) -> str:
        """What a new batch waits for, in words: another one that waits, or examples that people have yet to make; "" where
        it can be planned."""
        for before in (spec.feeds_from, spec.requires):
            if before in self.waiting:
                return _waits_for(before)
        if self.enough(spec):
            return ""
        open_batches = [name for name in self.makers(spec) if not self.closed(name)]
        if not open_batches:
            return ""
        drawn = gettext("sampled from the examples that people create from {sources} in {batches}.").format(
            sources=", ".join(spec.sources), batches=quoted(open_batches)
        )
        if spec.only:
            again = ngettext(
                "Apply the file again once those examples exist or the batch is closed.",
                "Apply the file again once those examples exist or the batches are closed.",
                len(open_batches),
            )
        elif spec.size is not None:
            again = ngettext(
                "Apply the file again once {size} exist or the batch is closed.",
                "Apply the file again once {size} exist or the batches are closed.",
                len(open_batches),
            ).format(size=_n(spec.size))
        else:
            again = ngettext(
                "Apply the file again once the batch is closed.",
                "Apply the file again once the batches are closed.",
                len(open_batches),
            )
        return f"{drawn} {again}"

    def why_without_examples(self, spec: BatchSpec) -> str:
        """Why a new batch that is drawn from derived examples never gets any; "" where there are some."""
        if spec.only or self.enough(spec) or self.made(spec):
            return ""
        of = ", ".join(spec.sources)
        if spec.of == "automatic":
            if any(_shares_sources(run.sources, spec.sources) for run in self.study.runs):
                return ""
            return gettext(
                "sample.of: there are no automatic perturbations of {of}, and the file creates none. "
                "Add them under `perturbations`, or remove the batch."
            ).format(of=of)
        return gettext(
            "sample.of: no examples from {of} were created by people in this project, and no batch "
            "of the file will create them. Add such a batch, sample from originals, or remove this "
            "batch."
        ).format(of=of)

    def enough(self, spec: BatchSpec) -> bool:
        """Whether there is as much as a batch is drawn from. All that people make is there once nobody makes any more."""
        if spec.of == "originals" or not spec.sources:
            return True
        if spec.only:
            return all(self.holders(example_id).keys() & set(spec.sources) for example_id in spec.only)
        return spec.size is not None and self.made(spec) >= spec.size

    def made(self, spec: BatchSpec) -> int:
        """How many examples there are of those that a batch is drawn from."""
        return sum(self.standing.examples.get((name, spec.of), 0) for name in spec.sources)

    def makers(self, spec: BatchSpec) -> list[str]:
        """The batches, of file and project, from which what a batch is drawn from comes."""
        if spec.of == "automatic":
            runs = [run for run in self.study.runs if _shares_sources(run.sources, spec.sources)]
            return [] if any(not run.feeds_from for run in runs) else [run.feeds_from for run in runs]
        return makers({**self.planned, **self.wanted}.values(), spec.sources)

    def closed(self, name: str) -> bool:
        return name in self.standing.batches and self.standing.batches[name].state == "closed"

    def examples_of(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """The examples that a batch names are there, and what is right of gold is a response of its kind."""
        unread = self.unread(spec)
        existing = self.planned.get(spec.name)
        if existing is None:
            missing = [entry for entry in spec.only if not self.holders(entry).keys() & set(spec.sources)]
            if missing and not (unread if spec.of != "perturbed" else self.has_unread_files()):
                some = ", ".join(map(repr, missing[:10])) + (" …" if len(missing) > 10 else "")
                words = gettext(
                    "sample.only: the sources of the batch ({sources}) do not contain {some}."
                ).format(sources=", ".join(spec.sources), some=some)
                yield self.say("cannot", "batch", spec.name, words, index)
        existing_gold = existing.gold if existing is not None else ()
        task = spec.task
        marked: set[tuple[str, str]] = set()
        for entry in spec.gold:
            meant, _ = resolve_source(entry, list(self.holders(entry.example)), spec.sources)
            if meant and (entry.example, meant) in marked:
                words = gettext(
                    "{example!r} of {source} appears twice among the gold items. Remove one."
                ).format(example=entry.example, source=meant)
                yield self.say("cannot", "gold", spec.name, words, index)
            marked.add((entry.example, meant))
            if any(same_gold(entry, before) for before in existing_gold):
                continue
            holders = self.holders(entry.example)
            name, wrong = resolve_source(entry, list(holders), spec.sources)
            if wrong and (holders or not unread):
                yield self.say("cannot", "gold", spec.name, wrong, index)
            elif name and not task.starts_from:
                wrong = _response_wrong(task, spec, entry, holders[name])
                if wrong:
                    yield self.say("cannot", "gold", spec.name, f"{entry.example}: {wrong}", index)

    def check_qualification_gold(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """A qualification batch opens when the right response to each of its items is known."""
        existing = self.planned.get(spec.name)
        opens = spec.open and (existing is None or not existing.open)
        if spec.purpose != "qualification" or not opens:
            return
        answered_ids = {
            entry.example for entry in (*spec.gold, *(existing.gold if existing is not None else ()))
        }
        number: int | None = len(spec.only)
        if spec.only:
            lacking = len(set(spec.only) - answered_ids)
        else:
            number = self.number(spec)
            if number is None:
                return
            number = number if spec.size is None else min(number, spec.size)
            lacking = number - len(answered_ids)
        if lacking > 0 and not self.unread(spec):
            words = gettext(
                "Items without a gold answer: {lacking} of {number}. Add the answers to gold.items, or "
                "leave the batch planned (without `open`)."
            ).format(lacking=lacking, number=number)
            yield self.say("cannot", "gold", spec.name, words, index)


class _WorkComparison(_Supply):
    """What changes of perturbations and batches, in the order in which they depend on each other."""

    def work(self) -> Iterator[Change]:
        for section, index in in_order(self.study):
            if section == "perturbation":
                yield from self.run(index, self.study.runs[index])
            else:
                yield from self.batch(index, self.study.batches[index])
        for name in self.planned:
            if name not in self.wanted:
                yield self.say("leave", "batch", name, gettext("not in the file."))

    def run(self, index: int, run: Run) -> Iterator[Change]:
        wrong = list(self.names("perturbation", index, run.name, run.sources, run.feeds_from))
        yield from wrong
        if not wrong and run.feeds_from in self.waiting:
            yield self.say("wait", "perturbation", run.name, _waits_for(run.feeds_from), index)
            return
        same = [at for at, existing in enumerate(self.there.runs) if self.same_run(run, existing)]
        if wrong or not self.standing.unfinished.issuperset(same):
            return
        if same:
            words = gettext("unfinished: the run continues where it stopped.")
            yield self.say("add", "perturbation", run.name, words, index)
            return
        if not self.study.sources and not self.there.sources:
            words = gettext("there is no source to perturb.")
            yield self.say("cannot", "perturbation", run.name, words, index)
            return
        yield self.say("add", "perturbation", run.name, _run_in_words(run), index)

    def same_run(self, run: Run, existing: Run) -> bool:
        of = set(run.sources) or {source.name for source in self.there.sources}
        named = set(existing.sources) >= of if not run.sources else set(existing.sources) == of
        same = dataclasses.replace(run, sources=()) == dataclasses.replace(existing, sources=())
        return same and named

    def batch(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        wrong = list(self.names("batch", index, spec.name, spec.sources, spec.feeds_from, spec.requires))
        wrong += self.models(index, spec)
        qualification = self.wanted.get(spec.requires) or self.planned.get(spec.requires)
        if qualification is not None and qualification.purpose != "qualification":
            words = gettext("“{name}” is required, but it is not a qualification batch.").format(
                name=qualification.name
            )
            wrong.append(self.say("cannot", "batch", spec.name, words, index))
        if not spec.sources and not spec.feeds_from:
            words = gettext("it has no items. Name sources in `sample`, or a batch in `feeds_from`.")
            wrong.append(self.say("cannot", "batch", spec.name, words, index))
        existing = self.planned.get(spec.name)
        if not wrong and existing is None and (words := self.waits(spec)):
            self.waiting.add(spec.name)
            wrong = [self.say("wait", "batch", spec.name, words, index)]
        elif not wrong and existing is None and (words := self.why_without_examples(spec)):
            wrong = [self.say("cannot", "batch", spec.name, words, index)]
        if (
            wrong := wrong
            or list(self.examples_of(index, spec))
            or list(self.check_qualification_gold(index, spec))
        ):
            yield from wrong
            return
        if existing is None:
            words = _in_words(spec, self.number(spec), self.correct(spec), self.needed(spec))
            yield self.say("add", "batch", spec.name, words, index)
            if spec.gold:
                yield self.say("add", "gold", spec.name, _gold_in_words(len(spec.gold)), index)
            elif spec.gold_percent:
                yield self.say("leave", "gold", spec.name, gettext(NO_GOLD), index)
            if spec.open:
                yield self.opening(index, spec)
            yield from self.guideline_examples(index, spec)
            return
        state = self.standing.batches[spec.name].state
        differ = differences(spec, existing)
        frozen = [name for name in differ if state == "closed" or name not in changeable()]
        if frozen:
            changes = "; ".join(
                gettext("{what} {there}, not {wanted}").format(
                    what=COMPARED[name],
                    there=_term_in_words(existing, name),
                    wanted=_term_in_words(spec, name),
                )
                for name in frozen
            )
            words = gettext(
                "in the project: {said}. The batch is {state}, so this cannot be changed. Correct the "
                "file, or rename the batch."
            ).format(said=changes, state=gettext(state))
            yield self.say("cannot", "batch", spec.name, words, index)
            return
        if differ:
            changes = "; ".join(
                _change_in_words(COMPARED[name], _term_in_words(existing, name), _term_in_words(spec, name))
                for name in differ
            )
            yield self.say("change", "batch", spec.name, f"{changes}.", index)
        yield from self.gold(index, spec, existing, state)
        if spec.open and not existing.open:
            yield self.opening(index, spec)
        if not spec.open and state != "planned":
            words = gettext("it is {state}; in the file it is planned.").format(state=gettext(state))
            yield self.say("leave", "batch", spec.name, words, index)
        yield from self.guideline_examples(index, spec)

    def guideline_examples(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        existing = self.planned.get(spec.name)
        states = self.standing.items.get(spec.name, {})

        def source_of(entry: ItemName) -> tuple[str, str]:
            here = [name.source for name in states if name.example == entry.example]
            holders = here or list(self.holders(entry.example))
            source, wrong = resolve_source(entry, holders, spec.sources)
            return source, wrong if holders or not self.unread(spec) else ""

        for verb, words in guideline_examples.plan_steps(
            spec,
            is_planned=existing is not None,
            is_closed=existing is not None and self.standing.batches[spec.name].state == "closed",
            existing=existing.guideline_examples if existing is not None else (),
            states=states,
            source_of=source_of,
        ):
            yield self.say(verb, "guideline examples", spec.name, words, index)

    def gold(self, index: int, spec: BatchSpec, existing: BatchSpec, state: str) -> Iterator[Change]:
        new = [entry for entry in spec.gold if not any(same_gold(entry, marked) for marked in existing.gold)]
        if new and state == "closed":
            yield self.say("cannot", "gold", spec.name, gettext("the batch is closed."), index)
        elif new:
            yield self.say("add", "gold", spec.name, _gold_in_words(len(new)), index)
        elif spec.gold_percent and not existing.gold:
            yield self.say("leave", "gold", spec.name, gettext(NO_GOLD), index)
        if gone := len({entry.example for entry in existing.gold} - {entry.example for entry in spec.gold}):
            words = ngettext(
                "{gone} gold item is not in the file.", "{gone} gold items are not in the file.", gone
            ).format(gone=gone)
            yield self.say("leave", "gold", spec.name, words, index)

    def correct(self, spec: BatchSpec) -> tuple[int, int]:
        """How many originals of its sources the model of a batch answers correctly, and how many it was asked about."""
        purpose = model_accuracy.purpose_of(spec.task)
        model = spec.terms["loop_model"]
        counts = [self.standing.correct.get((name, model, purpose), (0, 0)) for name in spec.sources]
        return sum(number for number, _ in counts), sum(total for _, total in counts)

    def needed(self, spec: BatchSpec) -> str:
        """What its language model would use to answer the originals of its sources, in words; "" where that is unknown."""
        purpose, model = model_accuracy.purpose_of(spec.task), spec.terms["loop_model"]
        keys = [(name, model, purpose) for name in spec.sources]
        estimates = [self.standing.needed[key] for key in keys if key in self.standing.needed]
        return functools.reduce(operator.add, estimates).in_words() if estimates else ""

    def opening(self, index: int, spec: BatchSpec) -> Change:
        """Opening a planned batch; a split waits until there are people enough for its shares."""
        here, needed = self.annotators(), spec.overlap
        counts = self.standing.batches.get(spec.name)
        drawn, _ = self.items(dataclasses.replace(spec, feeds_from=""), {})
        items = drawn if counts is None else counts.items - counts.gold
        limit = spec.caps.get("items")
        if limit is not None and items:
            needed = max(needed, -(-items * spec.overlap // limit))
        if spec.strategy != "split" or here >= needed:
            return self.say("open", "open", spec.name, gettext("annotators get its items."), index)
        if needed > spec.overlap:
            words = gettext(
                "its {items} items for {overlap} people each, at most {limit} items per person, need "
                "{needed} annotators; the project has {here}. Apply the file again when they have "
                "joined, or raise the limit."
            ).format(
                items=_n(items or 0), overlap=spec.overlap, limit=_n(limit or 0), needed=needed, here=here
            )
        else:
            words = ngettext(
                "its fixed allocation for {overlap} person per item needs {needed} annotator; the project has "
                "{here}. Apply the file again when they have joined.",
                "its fixed allocation for {overlap} people per item needs {needed} annotators; the project has "
                "{here}. Apply the file again when they have joined.",
                needed,
            ).format(overlap=spec.overlap, needed=needed, here=here)
        return self.say("wait", "open", spec.name, words, index)

    def models(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """Models that terms name exist on this site."""
        values, predictors = dict(spec.terms), self.standing.predictors
        context = Context(spec.task, predictors=predictors, values=values)
        for name in ("loop_model", "help_from"):
            try:
                TERMS[name].checked(values[name], context)
            except Refused as refused:
                yield self.refuse_term(name, refused.detail, spec, index)
        is_new = spec.name not in self.planned
        sources = self.with_sentences(spec) if spec.loop_model and is_new else ()
        if words := loop_fit.obstacle(predictors.get(spec.loop_model), sources):
            yield self.refuse_term("loop_model", words, spec, index)

    def refuse_term(self, term: str, reason: str, spec: BatchSpec, index: int) -> Change:
        """An obstacle that is a term of a batch."""
        change = self.say("cannot", "batch", spec.name, f"{COMPARED[term]}: {reason}", index)
        return dataclasses.replace(change, term=term)

    def with_sentences(self, spec: BatchSpec) -> set[str]:
        """The sources of a batch, or of the batches before it, whose answers are sentences."""
        names = set(spec.sources)
        before, seen = spec.feeds_from, {spec.name}
        while before and before not in seen:
            seen.add(before)
            other = self.wanted.get(before) or self.planned.get(before)
            if other is None:
                break
            names |= set(other.sources)
            before = other.feeds_from
        sources = enumerate(self.study.sources)
        in_files = {source.name for index, source in sources if self.files(index).has_sentences}
        return names & (in_files | self.standing.with_sentences)


class _Costs(_Comparison):
    """The work that the batches of the file ask for."""

    def people(self) -> int:
        """The annotators once everybody has joined; where these are too few for the batches, as many as they need."""
        people = self.annotators(joining=True) - self.standing.simulated
        return max(people, people_needed(self.study))

    def costs(self, people: int) -> Iterator[Cost]:
        """The cost of each batch with this number of annotators."""
        # Of each batch, how many items there will be in all, and how many of these are still to be decided.
        items: dict[str, int | None] = {}
        coming: dict[str, int | None] = {}
        # The same of `coming` as far as can be expected, where labels decide what goes on.
        likely: dict[str, float | None] = {}
        for section, index in in_order(self.study):
            if section != "batch":
                continue
            spec = self.study.batches[index]
            overlap = people if spec.strategy == "everyone" else spec.overlap
            counts = self.standing.batches.get(spec.name)
            remaining: int | None
            if counts is None:
                number, most = self.items(spec, items)
                items[spec.name] = coming[spec.name] = number
                drawn, _ = self.items(dataclasses.replace(spec, feeds_from=""), {})
                likely[spec.name] = self.expected(spec, 0 if drawn is None else drawn, likely)
                remaining, gold = None if number is None else number * overlap, len(spec.gold)
            else:
                most = bool(spec.feeds_from) and counts.state != "closed"
                fed = coming.get(spec.feeds_from) if most else 0
                here = counts.items - counts.gold
                undecided = here if counts.undecided is None else counts.undecided
                items[spec.name] = None if fed is None else here + fed
                coming[spec.name] = None if fed is None else undecided + fed
                likely[spec.name] = self.expected(spec, undecided, likely) if most else undecided
                remaining = (
                    None if fed is None else _remaining_annotations(counts, overlap, spec) + fed * overlap
                )
                gold = max(counts.gold, len(spec.gold))
            if remaining is not None and spec.purpose == "work" and spec.gold_percent:
                # So many percent of each person's turns, and each person has each gold item once.
                turns = round(remaining * spec.gold_percent / (100 - spec.gold_percent))
                remaining += min(turns, max(gold * people - (counts.gold_submitted if counts else 0), 0))
            upper, lower = coming[spec.name], likely[spec.name]
            share = lower / upper if upper and lower is not None else 1.0
            yield self.cost(spec, remaining, most, min(share, 1.0))

    def expected(self, spec: BatchSpec, own: float, likely: Mapping[str, float | None]) -> float | None:
        """How many items are expected to be decided in a batch: its own and those that will go on to it."""
        if not spec.feeds_from:
            return own
        before = likely.get(spec.feeds_from)
        return None if before is None else own + before * self.share(spec)

    def share(self, spec: BatchSpec) -> float:
        """Which share of the accepted items of the batch before goes on: as measured here, else as it usually is."""
        here, before = self.standing.batches.get(spec.name), self.standing.batches.get(spec.feeds_from)
        if here is not None and before is not None and before.accepted >= MEASURABLE:
            return min((here.items - here.gold) / before.accepted, 1.0)
        feeding = self.wanted.get(spec.feeds_from) or self.planned.get(spec.feeds_from)
        usual = feeding.task.usual_shares if feeding is not None else {}
        share = 1.0
        for name, values in spec.feeds_when.items():
            if name in usual:
                share *= min(sum(usual[name].get(value, 0.0) for value in values), 1.0)
        return share

    def cost(self, spec: BatchSpec, annotations: int | None, most: bool, share: float = 1.0) -> Cost:
        kind = kind_of(spec.type, spec.variant, spec.purpose)
        pace = self.standing.paces.get(kind) or Pace(usual_seconds(spec.task), 0)
        pay = spec.pay or self.study.pay
        money = None
        if annotations is not None and pay:
            each = pay.get("per_item")
            money = annotations * (each if each is not None else pay["per_hour"] * pace.seconds / 3600)
        asks_more = decision_rules.max_responses(spec.task, spec.resolve, spec.settings) > spec.overlap
        before = self.wanted.get(spec.feeds_from) or self.planned.get(spec.feeds_from)
        several = before and (before.name in self.open or (before.overlap > 1 and before.task.making))
        if several or asks_more or spec.strategy == "everyone" or spec.gold_percent:
            self.open.add(spec.name)
        bound = "about" if spec.name in self.open else "at most" if most else ""
        expected = None if annotations is None else round(annotations * share)
        work = (spec.name, annotations, pace.seconds, pace.of, most)
        return Cost(*work, str(pay.get("currency", "")), money, expected, pace.ends, bound, "per_hour" in pay)


def _remaining_annotations(counts: Counts, overlap: int, spec: BatchSpec) -> int:
    """How many annotations the items that are there still ask for."""
    if counts.state == "closed":
        return 0
    on_demand = spec.strategy == "everyone" or spec.purpose != "work"
    if counts.left is not None and counts.state != "planned" and not on_demand:
        return counts.left
    return max((counts.items - counts.gold) * overlap - (counts.submitted - counts.gold_submitted), 0)


class _PendingInputs(UserDict[str, Any]):
    """What will be frozen beside an item and is not known yet; it remembers whether anybody asked for it."""

    asked = False

    def __getitem__(self, key: str) -> Any:
        self.asked = True
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked = True
        return super().__contains__(key)


def _response_wrong(task: TaskType, spec: BatchSpec, entry: GoldItem, example: tableqa.Example) -> str:
    """Why what is said to be right is no response to the example; "" where it is one, or where that is not known yet."""
    inputs: Any = entry.inputs
    if isinstance(task, Preparing) and not inputs:
        inputs = _PendingInputs()
    try:
        task.parse(entry.response, Item(example, spec.variant, spec.settings, inputs))
    except InvalidResponse as invalid:
        return "" if isinstance(inputs, _PendingInputs) and inputs.asked else str(invalid)
    except KeyError:
        if not isinstance(inputs, _PendingInputs):
            raise
    return ""


COMPARED: Final = {
    "type": "type",
    "seed": "seed",
    "sources": "sample.sources",
    "of": "sample.of",
    "size": "sample.size",
    "only": "sample.only",
    "by": "sample.by",
    "feeds_from": "feeds_from",
    **{name: ".".join(term.path) for name, term in TERMS.items()},
}
"""The parts of a batch that are frozen with it, by what they are called in a file."""


PROJECT_TERMS: Final = {
    "name": gettext_noop("name"),
    "time_zone": gettext_noop("time zone"),
    "must_read": "must_read",
    "caps": "caps",
    "pay": "pay",
    "model_budget": "model_budget",
    "release": "release",
}
"""The terms of a project that a file may change: words, or what they are called in a file."""

NO_GOLD: Final = gettext_noop("gold.percent needs gold items, and there are none. Mark some first.")


def _gold_in_words(number: int) -> str:
    return ngettext("{number} gold answer.", "{number} gold answers.", number).format(number=number)


def same_gold(entry: GoldItem, existing: GoldItem) -> bool:
    """Whether a gold item is marked as the file says; what is frozen beside it does not change any more."""
    same = (entry.example, entry.response, entry.why) == (existing.example, existing.response, existing.why)
    return same and entry.source in ("", existing.source)


def differences(spec: BatchSpec, existing: BatchSpec) -> list[str]:
    """The names of `COMPARED` in which two batches differ."""
    return [name for name in COMPARED if getattr(spec, name) != getattr(existing, name)]


def _waits_for(name: str) -> str:
    return gettext("it depends on “{name}”, which is waiting. Apply the file again afterwards.").format(
        name=name
    )


def _shares_sources(of: Sequence[str], sources: Sequence[str]) -> bool:
    """Whether a run over these sources, all where none is named, makes something of any of the others."""
    return not of or bool(set(of) & set(sources))


def _in_words(work: BatchSpec, number: int | None, correct: tuple[int, int], needed: str) -> str:
    """A new batch; `number` is how many examples there are of those that it is drawn from, where that is known.

    `correct` counts the originals that its model answers correctly, and those that it was asked about; `needed` is what
    the others would cost.
    """
    task = work.task
    title = shown(task.title)
    kind = f"{title}, {work.variant}" if work.variant else title
    parts = [kind if work.purpose == "work" else f"{gettext(work.purpose)}: {kind}"]
    if work.feeds_from:
        decides = gettext("the decisions of “{batch}”").format(batch=work.feeds_from)
        parts.append(f"{decides}{_filter_in_words(work.feeds_when)}")
    if work.sources:
        parts.append(
            gettext(BY[work.by]).format(
                size=_size(work, number),
                of=gettext(OF[work.of]),
                sources=", ".join(work.sources),
                seed=work.seed,
            )
        )
    if work.terms["loop_right_only"]:
        parts.append(_correct_only(work.terms["loop_model"], *correct, needed))
    if work.strategy == "everyone":
        parts.append(gettext("every annotator gets every item"))
    else:
        parts.append(gettext(OVERLAP[work.strategy]).format(overlap=work.overlap))
    return f"{'; '.join(parts)}."


OF: Final = {
    "originals": gettext_noop("originals"),
    "perturbed": gettext_noop("perturbed by people"),
    "automatic": gettext_noop("automatically perturbed"),
}
BY: Final = {
    "": gettext_noop("{size} {of} of {sources}, seed {seed}"),
    "source": gettext_noop("{size} {of} of {sources} by source, seed {seed}"),
    "difficulty": gettext_noop("{size} {of} of {sources} by difficulty, seed {seed}"),
}
SELECT: Final = {"extraction": gettext_noop("extraction"), "reasoning": gettext_noop("reasoning")}
OVERLAP: Final = {
    "open": gettext_noop("{overlap} people per item, first come first served"),
    "split": gettext_noop("{overlap} people per item, fixed shares"),
}
"""What a file says of a new batch or run under `sample.of`, `sample.by`, `select` and `strategy`, in words."""


def _correct_only(model: str, number: int, total: int, needed: str) -> str:
    """That a batch serves only what its model answers correctly, with the counts where there are answers."""
    if not total:
        words = gettext("only questions that {model} answers correctly; it will be asked")
        return words.format(model=model) + _parenthesised(needed)
    words = gettext("only questions that {model} answers correctly ({number} of {asked} so far)")
    return words.format(model=model, number=_n(number), asked=_n(total)) + _parenthesised(needed)


def _parenthesised(words: str) -> str:
    return f" ({words})" if words else ""


def _size(work: BatchSpec, number: int | None) -> str:
    """How many examples a batch draws."""
    if work.only:
        return gettext("{number} listed").format(number=len(work.only))
    if number is None or (work.size is not None and work.size <= number):
        return gettext("all") if work.size is None else _n(work.size)
    if work.size:
        return gettext("all {number} (fewer than {size} exist)").format(number=_n(number), size=_n(work.size))
    return gettext("all {number}").format(number=_n(number))


def _run_in_words(run: Run) -> str:
    """A new run of automatic perturbations."""
    sources = ", ".join(run.sources)
    if run.select:
        which = (
            gettext("{select} questions of {sources}")
            if sources
            else gettext("{select} questions of every source")
        )
    else:
        which = gettext("originals of {sources}") if sources else gettext("originals of every source")
    parts = [which.format(select=gettext(SELECT[run.select]) if run.select else "", sources=sources)]
    if run.feeds_from:
        decides = gettext("as decided in “{batch}”").format(batch=run.feeds_from)
        parts.append(f"{decides}{_filter_in_words(run.feeds_when)}")
    parts.append(ngettext("{number} seed", "{number} seeds", len(run.seeds)).format(number=len(run.seeds)))
    return f"{', '.join(parts)}."


def _filter_in_words(when: Mapping[str, Sequence[Any]]) -> str:
    conditions = [f"{name} {gettext(' or ').join(map(str, values))}" for name, values in when.items()]
    return f" ({', '.join(conditions)})" if conditions else ""


def _change_in_words(what: str, before: str, after: str) -> str:
    return gettext("{what}: {before} becomes {after}").format(what=what, before=before, after=after)


def _roles(roles: Iterable[str]) -> str:
    return ", ".join(gettext(role) for role in roles)


def _n(number: int) -> str:
    """A number with its thousands apart, as the reader writes it."""
    return number_format(number, force_grouping=True)


def _term_in_words(work: BatchSpec, name: str) -> str:
    """What a batch says under one of the names of `COMPARED`, in a sentence."""
    value = getattr(work, name)
    return _value(TERMS[name].in_file(value) if name in TERMS else value)


def _value(value: Any) -> str:
    """A value in a sentence."""
    if value in ("", (), {}, None):
        return gettext("none")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(element)}" for key, element in value.items()) + "}"
    if isinstance(value, tuple | list):
        text = ", ".join(_value(element) for element in value[:5])
        if len(value) > 5:
            return gettext("{values} and {number} more").format(values=text, number=len(value) - 5)
        return text
    return str(value)
