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
from annotation.study_file.current_state import Counts, Pace, Standing, kind_of
from annotation.study_file.schema import (
    GoldItem,
    ItemName,
    Run,
    SourceFile,
    Study,
    Work,
    makers,
    people_needed,
    quoted,
    spelling,
)
from tasks.contract import Invalid, Item, Preparing, TaskType, decision_rules, task_types
from tasks.pace import usual_seconds
from tasks.shared.defined_types import task_of
from tasks.shared.schema_errors import unknown
from tasks.shared.type_definitions import new_faults

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
class Looked:
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
        return tuple(one for one in self.changes if one.verb not in ("leave", "wait", "cannot"))

    @property
    def waits(self) -> tuple[Change, ...]:
        """What is done when the file is applied again, once it can be."""
        return tuple(one for one in self.changes if one.verb == "wait")

    @property
    def cannot(self) -> tuple[Change, ...]:
        """What stands in the way; nothing is applied then."""
        return tuple(one for one in self.changes if one.verb == "cannot")

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
    standing: Standing | None,
    *,
    looked: Mapping[int, Looked] | None = None,
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
        standing = Standing(blank, predictors=predictors or {})
    fresh = bool(changes)
    study, stays = _completed(study, standing.study)
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
    names = {one.name: place for place, one in enumerate(study.batches)}
    found: list[tuple[str, int]] = []

    def add(place: int) -> None:
        if ("batch", place) in found:
            return
        for before in (study.batches[place].feeds_from, study.batches[place].requires):
            if before in names and names[before] != place:
                add(names[before])
        found.append(("batch", place))

    found += [("perturbation", place) for place, run in enumerate(study.runs) if not run.feeds_from]
    for place in range(len(study.batches)):
        add(place)
    return found + [("perturbation", place) for place, run in enumerate(study.runs) if run.feeds_from]


def _completed(study: Study, there: Study) -> tuple[Study, list[Change]]:
    """A study with the terms of the project wherever its file is silent about them, and what stays for that reason.

    Somebody may have set them in the pages: a line that is not there takes nothing away. `{}` or "" does.
    """
    stays: list[Change] = []
    unsaid = {
        name: getattr(there, name)
        for name in ("time_zone", "must_read", "caps", "pay", "model_budget", "release")
        if not study.says("project", name) and getattr(there, name) != getattr(study, name)
    }
    kept = [f"{name} {_value(value)}" for name, value in unsaid.items()]
    answers = {
        name: text
        for name, text in there.statement.items()
        if not study.says("statement", name) and name not in study.statement
    }
    if answers:
        kept.append(gettext("of the statement, {answers}").format(answers=", ".join(answers)))
    if kept:
        stays.append(_change("leave", study, "project", there.slug, _silent(kept)))
    planned = {one.name: one for one in there.batches}
    batches = []
    for place, work in enumerate(study.batches):
        before = planned.get(work.name)
        more = {
            name: getattr(before, name)
            for name in (changeable() if before is not None else ())
            if not _says(study, place, name) and getattr(before, name) != getattr(work, name)
        }
        if more and before is not None:
            kept = [f"{COMPARED[name]} {_of(before, name)}" for name in more]
            stays.append(_change("leave", study, "batch", work.name, _silent(kept), place))
        batches.append(work.changed(**more))
    completed = dataclasses.replace(
        study, **unsaid, statement={**answers, **study.statement}, batches=tuple(batches)
    )
    return completed, stays


def _says(study: Study, place: int, name: str) -> bool:
    """Whether the file says one of the parts in `COMPARED` of a batch, for itself or for its kind."""
    path = COMPARED[name].split(".")
    of_kind = ("kinds", study.batches[place].type, *path)
    return study.says("batches", place, *path) or study.says(*of_kind)


def _silent(kept: Sequence[str]) -> str:
    return gettext("{kept}: not in the file. It stays.").format(kept="; ".join(kept))


def _change(verb: Verb, study: Study, section: str, name: str, words: str, place: int = 0) -> Change:
    at = {"batch": "batches", "gold": "batches", "open": "batches", "source": "sources", "person": "people"}
    at |= {"perturbation": "perturbations", "guideline examples": "batches"}
    line = study.line(at[section], place) if section in at else study.line(section)
    if section == "task type":
        line = study.line("task_types", name)
    return Change(verb, section, name, words, place, line)


def which(one: GoldItem | ItemName, there: Sequence[str], own: Sequence[str]) -> tuple[str, str]:
    """Of the sources that have such an example, the one that is meant; or what is wrong, in words.

    The source that is named, else one of the batch's `own`, else the only one of the project.
    """
    if one.source:
        if one.source in there:
            return one.source, ""
        return "", gettext("The source {source!r} does not contain the example {example!r}.").format(
            source=one.source, example=one.example
        )
    for name in there:
        if name in own:
            return name, ""
    if len(there) > 1:
        return "", gettext("{sources} have an example {example!r}. Choose one with `source`.").format(
            sources=gettext(" and ").join(map(repr, there)), example=one.example
        )
    if not there:
        return "", gettext("No source contains the example {example!r}.").format(example=one.example)
    return there[0], ""


class _Comparison:
    """A study file next to a project: what both have."""

    def __init__(self, study: Study, standing: Standing, looked: Mapping[int, Looked] | None) -> None:
        self.study, self.standing, self.looked = study, standing, looked
        self.there = standing.study
        self.planned = {one.name: one for one in self.there.batches}
        self.wanted = {one.name: one for one in study.batches}
        self.waiting: set[str] = set()
        self.open: set[str] = set()

    def say(self, verb: Verb, section: str, name: str, words: str, place: int = 0) -> Change:
        return _change(verb, self.study, section, name, words, place)

    def files(self, place: int) -> Looked:
        """What was found of the files of a source."""
        return (self.looked or {}).get(place, Looked())

    def names(
        self, section: str, place: int, name: str, sources: Sequence[str], *batches: str
    ) -> Iterator[Change]:
        """Sources and batches that something names have to be somewhere."""
        there = dict.fromkeys(source.name for source in (*self.study.sources, *self.there.sources))
        for one in sources:
            if one not in there:
                yield self.say("cannot", section, name, unknown(gettext("source"), one, there), place)
        for one in filter(None, batches):
            if one not in self.wanted and one not in self.planned:
                words = unknown(gettext("batch"), one, dict.fromkeys((*self.wanted, *self.planned)))
                yield self.say("cannot", section, name, words, place)

    def holders(self, name: str) -> dict[str, tableqa.Example]:
        """The example of this id in each source that has it, or will once its files are imported."""
        found = dict(self.standing.named.get(name, {}))
        for place, source in enumerate(self.study.sources):
            if name in self.files(place).named:
                found.setdefault(source.name, self.files(place).named[name])
        return found

    def unread_files(self) -> bool:
        """Whether there are sources of which nobody knows the examples yet."""
        there = {one.name for one in self.there.sources}
        return any(
            source.name not in there and not self.files(place).checksum
            for place, source in enumerate(self.study.sources)
        )

    def unread(self, wanted: Work) -> bool:
        """Whether there are examples that nobody knows yet: of files that are not read, or that a run is to make."""
        return self.unread_files() or (wanted.of != "originals" and bool(self.study.runs))

    def annotators(self, *, joining: bool = False) -> int:
        """How many annotate in the project once the people of the file have the roles that it gives them.

        joining: also those who have a link or get one. Each person counts once, by whatever name the file has them.
        """
        annotator, more = Role.ANNOTATOR.value, set()
        for one in (*self.study.people, *(self.there.people if joining else ())):
            has = one.among(self.standing.people)
            comes = one.among(self.standing.invited) or not one.among(self.standing.removed)
            if annotator in one.roles and (joining and comes if has is None else annotator not in has):
                more.add(spelling(one.name if has is None else one.email or one.name))
        return self.standing.annotators + len(more)

    def items(self, wanted: Work, before: Mapping[str, int | None]) -> tuple[int | None, bool]:
        """How many items a new batch will have, and whether that is only the most that there can be; None: nobody knows."""
        most = bool(wanted.task.without)
        drawn: int | None = 0
        if wanted.only:
            drawn = len(wanted.only)
        elif wanted.sources:
            found = [self.examples(name, wanted.of) for name in wanted.sources]
            if wanted.of != "originals" and wanted.name not in self.planned:
                # What is made in between is not counted yet.
                drawn, most = wanted.size, True
            else:
                drawn = sum(found) if wanted.size is None else min(wanted.size, sum(found))
        if not wanted.feeds_from:
            return drawn, most
        fed = before.get(wanted.feeds_from)
        if fed is None or drawn is None:
            return None, True
        return fed + drawn, True

    def number(self, wanted: Work) -> int | None:
        """How many examples there are of those that a batch is drawn from; None where nobody knows yet."""
        if wanted.of == "automatic" or not wanted.sources:
            return None  # runs of the file come first
        return sum(self.examples(name, wanted.of) for name in wanted.sources)

    def examples(self, name: str, of: str) -> int:
        found = self.standing.examples.get((name, of), 0)
        if of == "originals":
            for place, source in enumerate(self.study.sources):
                known = {one.checksum for one in self.there.sources if one.name == name}
                looked = self.files(place)
                if source.name == name and looked.checksum and looked.checksum not in known:
                    found = max(found, looked.examples)
        return found


class _ProjectComparison(_Comparison):
    """What changes of the project itself, its sources and its people."""

    def project(self, *, fresh: bool) -> Iterator[Change]:
        wanted, there = self.study, self.there
        differ = [
            _becomes(gettext(word), _value(getattr(there, name)), _value(getattr(wanted, name)))
            for name, word in PROJECT_TERMS.items()
            if getattr(wanted, name) != getattr(there, name)
        ]
        if wanted.statement != there.statement:
            differ.append(gettext("data statement"))
        if differ:
            yield self.say("change", "project", there.slug, f"{'; '.join(differ)}.")
        if not wanted.consent and there.consent:
            words = gettext("the project asks for consent; the file does not mention it.")
            yield self.say("leave", "consent", "", words)
        elif wanted.consent and not there.consent:
            yield self.say("add", "consent", "", gettext("a text."))
        elif wanted.consent != there.consent:
            words = gettext("a new version: annotators are asked again before their next item.")
            yield self.say("change", "consent", "", words)
        yield from self.task_types()
        for key, text in wanted.guidelines.items():
            usual = self.usual_guidelines(key)
            before = there.guidelines.get(key, usual)
            if text != before:
                replaced = gettext("replaces the text of the task type.")
                words = gettext("a new version.") if key in there.guidelines else replaced
                if wanted.must_read and not fresh:
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
            if before != data and (faults := new_faults(data)):
                for fault in faults:
                    change = self.say("cannot", "task type", name, str(fault))
                    line = self.study.line("task_types", name, *fault.path)
                    yield dataclasses.replace(change, line=line)
            elif before is None:
                words = gettext("a task type of this project, with {fields}.").format(
                    fields=", ".join(one["name"] for one in data["fields"])
                )
                yield self.say("add", "task type", name, words)
            elif before != data:
                words = gettext("another definition. Batches with responses or gold answers keep theirs.")
                yield self.say("change", "task type", name, words)
        for name in self.there.task_types:
            if name not in self.study.task_types:
                yield self.say("leave", "task type", name, gettext("not in the file."))

    def sources(self) -> Iterator[Change]:
        for place, wanted in enumerate(self.study.sources):
            yield from self.source(place, wanted)
        named = {one.name for one in self.study.sources}
        for name in dict.fromkeys(one.name for one in self.there.sources if one.name not in named):
            yield self.say("leave", "source", name, gettext("not in the file."))

    def source(self, place: int, wanted: SourceFile) -> Iterator[Change]:
        found = [one for one in self.there.sources if one.name == wanted.name]
        verb: Verb = "cannot"
        looked = self.files(place)
        known = wanted.checksum or looked.checksum
        if other := next((one.reader for one in found if one.reader != wanted.reader), ""):
            words = gettext(
                "the source of this name in the project uses the reader {reader}, not {wanted}. Rename "
                "this one."
            ).format(reader=other, wanted=wanted.reader)
        elif found and (looked.wrong or not known):
            return
        elif looked.wrong:
            words = looked.wrong
        elif any(one.checksum == known for one in found):
            return
        elif wanted.checksum and looked.checksum and wanted.checksum != looked.checksum:
            words = gettext("{path} does not contain the data of the study (the checksum differs).").format(
                path=wanted.path
            )
        elif looked.checksum:
            verb, words = (
                "add",
                ngettext(
                    "import {path}, {number} example.", "import {path}, {number} examples.", looked.examples
                ).format(path=wanted.path or wanted.name, number=_n(looked.examples)),
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
            ).format(name=wanted.name if names.count(wanted.name) == 1 else place + 1)
        yield self.say(verb, "source", wanted.name, words, place)

    def people(self) -> Iterator[Change]:
        for place, one in enumerate(self.study.people):
            roles = frozenset(one.roles)
            verb: Verb = "leave"
            standing, words = self.standing, ""
            has, asked = one.among(standing.people), one.among(standing.invited)
            if has is not None and not roles <= has:
                more = _roles(role for role in one.roles if role not in has)
                verb, words = "change", gettext("also {roles}.").format(roles=more)
            elif has is not None and has - roles:
                words = gettext(
                    "also has the roles {roles} in the project; they are not in the file."
                ).format(roles=_roles(sorted(has - roles)))
            elif has is None and asked is None and (gone := one.among(standing.removed)) is not None:
                words = gettext(
                    "removed on {day}. To add this person again, create a link on the page People."
                ).format(day=gone)
            elif has is None and asked is None:
                words = gettext("a personal link to join as {roles}.").format(roles=_roles(one.roles))
                verb = "invite"
            elif has is None and asked is not None and not roles <= asked:
                words = gettext(
                    "the existing link gives {roles}; add more roles after the person has joined."
                ).format(roles=_roles(sorted(asked)))
            if words:
                yield self.say(verb, "person", one.name, words, place)


class _Supply(_Comparison):
    """Whether the examples that batches are drawn from exist, or will exist."""

    def waits(self, wanted: Work) -> str:
        """What a new batch waits for, in words: another one that waits, or examples that people have yet to make; "" where
        it can be planned."""
        for before in (wanted.feeds_from, wanted.requires):
            if before in self.waiting:
                return _comes_after(before)
        if self.enough(wanted):
            return ""
        left = [name for name in self.makers(wanted) if not self.closed(name)]
        if not left:
            return ""
        drawn = gettext("sampled from the examples that people create from {sources} in {batches}.").format(
            sources=", ".join(wanted.sources), batches=quoted(left)
        )
        if wanted.only:
            again = ngettext(
                "Apply the file again once those examples exist or the batch is closed.",
                "Apply the file again once those examples exist or the batches are closed.",
                len(left),
            )
        elif wanted.size is not None:
            again = ngettext(
                "Apply the file again once {size} exist or the batch is closed.",
                "Apply the file again once {size} exist or the batches are closed.",
                len(left),
            ).format(size=_n(wanted.size))
        else:
            again = ngettext(
                "Apply the file again once the batch is closed.",
                "Apply the file again once the batches are closed.",
                len(left),
            )
        return f"{drawn} {again}"

    def nothing_made(self, wanted: Work) -> str:
        """Why a new batch that is drawn from derived examples never gets any; "" where there are some."""
        if wanted.only or self.enough(wanted) or self.made(wanted):
            return ""
        of = ", ".join(wanted.sources)
        if wanted.of == "automatic":
            if any(_about(run.sources, wanted.sources) for run in self.study.runs):
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

    def enough(self, wanted: Work) -> bool:
        """Whether there is as much as a batch is drawn from. All that people make is there once nobody makes any more."""
        if wanted.of == "originals" or not wanted.sources:
            return True
        if wanted.only:
            return all(self.holders(one).keys() & set(wanted.sources) for one in wanted.only)
        return wanted.size is not None and self.made(wanted) >= wanted.size

    def made(self, wanted: Work) -> int:
        """How many examples there are of those that a batch is drawn from."""
        return sum(self.standing.examples.get((name, wanted.of), 0) for name in wanted.sources)

    def makers(self, wanted: Work) -> list[str]:
        """The batches, of file and project, from which what a batch is drawn from comes."""
        if wanted.of == "automatic":
            runs = [run for run in self.study.runs if _about(run.sources, wanted.sources)]
            return [] if any(not run.feeds_from for run in runs) else [run.feeds_from for run in runs]
        return makers({**self.planned, **self.wanted}.values(), wanted.sources)

    def closed(self, name: str) -> bool:
        return name in self.standing.batches and self.standing.batches[name].state == "closed"

    def examples_of(self, place: int, wanted: Work) -> Iterator[Change]:
        """The examples that a batch names are there, and what is right of gold is a response of its kind."""
        unread = self.unread(wanted)
        there = self.planned.get(wanted.name)
        if there is None:
            missing = [one for one in wanted.only if not self.holders(one).keys() & set(wanted.sources)]
            if missing and not (unread if wanted.of != "perturbed" else self.unread_files()):
                some = ", ".join(map(repr, missing[:10])) + (" …" if len(missing) > 10 else "")
                words = gettext(
                    "sample.only: the sources of the batch ({sources}) do not contain {some}."
                ).format(sources=", ".join(wanted.sources), some=some)
                yield self.say("cannot", "batch", wanted.name, words, place)
        known = there.gold if there is not None else ()
        task = wanted.task
        marked: set[tuple[str, str]] = set()
        for one in wanted.gold:
            meant, _ = which(one, list(self.holders(one.example)), wanted.sources)
            if meant and (one.example, meant) in marked:
                words = gettext(
                    "{example!r} of {source} appears twice among the gold items. Remove one."
                ).format(example=one.example, source=meant)
                yield self.say("cannot", "gold", wanted.name, words, place)
            marked.add((one.example, meant))
            if any(same_gold(one, before) for before in known):
                continue
            holders = self.holders(one.example)
            name, wrong = which(one, list(holders), wanted.sources)
            if wrong and (holders or not unread):
                yield self.say("cannot", "gold", wanted.name, wrong, place)
            elif name and not task.starts_from:
                wrong = _response_wrong(task, wanted, one, holders[name])
                if wrong:
                    yield self.say("cannot", "gold", wanted.name, f"{one.example}: {wrong}", place)

    def unknown_of(self, place: int, wanted: Work) -> Iterator[Change]:
        """A qualification batch opens when the right response to each of its items is known."""
        there = self.planned.get(wanted.name)
        opens = wanted.open and (there is None or not there.open)
        if wanted.purpose != "qualification" or not opens:
            return
        known = {one.example for one in (*wanted.gold, *(there.gold if there is not None else ()))}
        number: int | None = len(wanted.only)
        if wanted.only:
            lacking = len(set(wanted.only) - known)
        else:
            number = self.number(wanted)
            if number is None:
                return
            number = number if wanted.size is None else min(number, wanted.size)
            lacking = number - len(known)
        if lacking > 0 and not self.unread(wanted):
            words = gettext(
                "Items without a gold answer: {lacking} of {number}. Add the answers to gold.items, or "
                "leave the batch planned (without `open`)."
            ).format(lacking=lacking, number=number)
            yield self.say("cannot", "gold", wanted.name, words, place)


class _WorkComparison(_Supply):
    """What changes of perturbations and batches, in the order in which they depend on each other."""

    def work(self) -> Iterator[Change]:
        for section, place in in_order(self.study):
            if section == "perturbation":
                yield from self.run(place, self.study.runs[place])
            else:
                yield from self.batch(place, self.study.batches[place])
        for name in self.planned:
            if name not in self.wanted:
                yield self.say("leave", "batch", name, gettext("not in the file."))

    def run(self, place: int, run: Run) -> Iterator[Change]:
        wrong = list(self.names("perturbation", place, run.name, run.sources, run.feeds_from))
        yield from wrong
        if not wrong and run.feeds_from in self.waiting:
            yield self.say("wait", "perturbation", run.name, _comes_after(run.feeds_from), place)
            return
        same = [at for at, one in enumerate(self.there.runs) if self.same_run(run, one)]
        if wrong or not self.standing.unfinished.issuperset(same):
            return
        if same:
            words = gettext("unfinished: the run continues where it stopped.")
            yield self.say("add", "perturbation", run.name, words, place)
            return
        if not self.study.sources and not self.there.sources:
            words = gettext("there is no source to perturb.")
            yield self.say("cannot", "perturbation", run.name, words, place)
            return
        yield self.say("add", "perturbation", run.name, _run_in_words(run), place)

    def same_run(self, wanted: Run, there: Run) -> bool:
        of = set(wanted.sources) or {one.name for one in self.there.sources}
        named = set(there.sources) >= of if not wanted.sources else set(there.sources) == of
        same = dataclasses.replace(wanted, sources=()) == dataclasses.replace(there, sources=())
        return same and named

    def batch(self, place: int, wanted: Work) -> Iterator[Change]:
        wrong = list(
            self.names("batch", place, wanted.name, wanted.sources, wanted.feeds_from, wanted.requires)
        )
        wrong += self.models(place, wanted)
        asked = self.wanted.get(wanted.requires) or self.planned.get(wanted.requires)
        if asked is not None and asked.purpose != "qualification":
            words = gettext("“{name}” is required, but it is not a qualification batch.").format(
                name=asked.name
            )
            wrong.append(self.say("cannot", "batch", wanted.name, words, place))
        if not wanted.sources and not wanted.feeds_from:
            words = gettext("it has no items. Name sources in `sample`, or a batch in `feeds_from`.")
            wrong.append(self.say("cannot", "batch", wanted.name, words, place))
        there = self.planned.get(wanted.name)
        if not wrong and there is None and (words := self.waits(wanted)):
            self.waiting.add(wanted.name)
            wrong = [self.say("wait", "batch", wanted.name, words, place)]
        elif not wrong and there is None and (words := self.nothing_made(wanted)):
            wrong = [self.say("cannot", "batch", wanted.name, words, place)]
        if wrong := wrong or list(self.examples_of(place, wanted)) or list(self.unknown_of(place, wanted)):
            yield from wrong
            return
        if there is None:
            words = _in_words(wanted, self.number(wanted), self.correct(wanted), self.needed(wanted))
            yield self.say("add", "batch", wanted.name, words, place)
            if wanted.gold:
                yield self.say("add", "gold", wanted.name, _right(len(wanted.gold)), place)
            elif wanted.gold_percent:
                yield self.say("leave", "gold", wanted.name, gettext(NO_GOLD), place)
            if wanted.open:
                yield self.opening(place, wanted)
            yield from self.guideline_examples(place, wanted)
            return
        state = self.standing.batches[wanted.name].state
        differ = differences(wanted, there)
        frozen = [name for name in differ if state == "closed" or name not in changeable()]
        if frozen:
            said = "; ".join(
                gettext("{what} {there}, not {wanted}").format(
                    what=COMPARED[name], there=_of(there, name), wanted=_of(wanted, name)
                )
                for name in frozen
            )
            words = gettext(
                "in the project: {said}. The batch is {state}, so this cannot be changed. Correct the "
                "file, or rename the batch."
            ).format(said=said, state=gettext(state))
            yield self.say("cannot", "batch", wanted.name, words, place)
            return
        if differ:
            said = "; ".join(_becomes(COMPARED[name], _of(there, name), _of(wanted, name)) for name in differ)
            yield self.say("change", "batch", wanted.name, f"{said}.", place)
        yield from self.gold(place, wanted, there, state)
        if wanted.open and not there.open:
            yield self.opening(place, wanted)
        if not wanted.open and state != "planned":
            words = gettext("it is {state}; in the file it is planned.").format(state=gettext(state))
            yield self.say("leave", "batch", wanted.name, words, place)
        yield from self.guideline_examples(place, wanted)

    def guideline_examples(self, place: int, wanted: Work) -> Iterator[Change]:
        there = self.planned.get(wanted.name)
        states = self.standing.items.get(wanted.name, {})

        def source_of(one: ItemName) -> tuple[str, str]:
            here = [name.source for name in states if name.example == one.example]
            holders = here or list(self.holders(one.example))
            source, wrong = which(one, holders, wanted.sources)
            return source, wrong if holders or not self.unread(wanted) else ""

        for verb, words in guideline_examples.steps(
            wanted,
            is_planned=there is not None,
            is_closed=there is not None and self.standing.batches[wanted.name].state == "closed",
            known=there.guideline_examples if there is not None else (),
            states=states,
            source_of=source_of,
        ):
            yield self.say(verb, "guideline examples", wanted.name, words, place)

    def gold(self, place: int, wanted: Work, there: Work, state: str) -> Iterator[Change]:
        new = [one for one in wanted.gold if not any(same_gold(one, known) for known in there.gold)]
        if new and state == "closed":
            yield self.say("cannot", "gold", wanted.name, gettext("the batch is closed."), place)
        elif new:
            yield self.say("add", "gold", wanted.name, _right(len(new)), place)
        elif wanted.gold_percent and not there.gold:
            yield self.say("leave", "gold", wanted.name, gettext(NO_GOLD), place)
        if gone := len({one.example for one in there.gold} - {one.example for one in wanted.gold}):
            words = ngettext(
                "{gone} gold item is not in the file.", "{gone} gold items are not in the file.", gone
            ).format(gone=gone)
            yield self.say("leave", "gold", wanted.name, words, place)

    def correct(self, wanted: Work) -> tuple[int, int]:
        """How many originals of its sources the model of a batch answers correctly, and how many it was asked about."""
        purpose = model_accuracy.purpose_of(wanted.task)
        model = wanted.terms["loop_model"]
        counts = [self.standing.correct.get((name, model, purpose), (0, 0)) for name in wanted.sources]
        return sum(number for number, _ in counts), sum(asked for _, asked in counts)

    def needed(self, wanted: Work) -> str:
        """What its language model would use to answer the originals of its sources, in words; "" where that is unknown."""
        purpose, model = model_accuracy.purpose_of(wanted.task), wanted.terms["loop_model"]
        keys = [(name, model, purpose) for name in wanted.sources]
        estimates = [self.standing.needed[key] for key in keys if key in self.standing.needed]
        return functools.reduce(operator.add, estimates).in_words() if estimates else ""

    def opening(self, place: int, wanted: Work) -> Change:
        """Opening a planned batch; a split waits until there are people enough for its shares."""
        here, needed = self.annotators(), wanted.overlap
        counts = self.standing.batches.get(wanted.name)
        drawn, _ = self.items(dataclasses.replace(wanted, feeds_from=""), {})
        items = drawn if counts is None else counts.items - counts.gold
        limit = wanted.caps.get("items")
        if limit is not None and items:
            needed = max(needed, -(-items * wanted.overlap // limit))
        if wanted.strategy != "split" or here >= needed:
            return self.say("open", "open", wanted.name, gettext("annotators get its items."), place)
        if needed > wanted.overlap:
            words = gettext(
                "its {items} items for {overlap} people each, at most {limit} items per person, need "
                "{needed} annotators; the project has {here}. Apply the file again when they have "
                "joined, or raise the limit."
            ).format(
                items=_n(items or 0), overlap=wanted.overlap, limit=_n(limit or 0), needed=needed, here=here
            )
        else:
            words = ngettext(
                "its fixed allocation for {overlap} person per item needs {needed} annotator; the project has "
                "{here}. Apply the file again when they have joined.",
                "its fixed allocation for {overlap} people per item needs {needed} annotators; the project has "
                "{here}. Apply the file again when they have joined.",
                needed,
            ).format(overlap=wanted.overlap, needed=needed, here=here)
        return self.say("wait", "open", wanted.name, words, place)

    def models(self, place: int, wanted: Work) -> Iterator[Change]:
        """Models that terms name exist on this site."""
        values, predictors = dict(wanted.terms), self.standing.predictors
        context = Context(wanted.task, predictors=predictors, values=values)
        for name in ("loop_model", "help_from"):
            try:
                TERMS[name].checked(values[name], context)
            except Refused as refused:
                yield self.refuse_term(name, refused.detail, wanted, place)
        is_new = wanted.name not in self.planned
        sources = self.with_sentences(wanted) if wanted.loop_model and is_new else ()
        if words := loop_fit.obstacle(predictors.get(wanted.loop_model), sources):
            yield self.refuse_term("loop_model", words, wanted, place)

    def refuse_term(self, term: str, reason: str, wanted: Work, place: int) -> Change:
        """An obstacle that is a term of a batch."""
        change = self.say("cannot", "batch", wanted.name, f"{COMPARED[term]}: {reason}", place)
        return dataclasses.replace(change, term=term)

    def with_sentences(self, wanted: Work) -> set[str]:
        """The sources of a batch, or of the batches before it, whose answers are sentences."""
        names = set(wanted.sources)
        before, seen = wanted.feeds_from, {wanted.name}
        while before and before not in seen:
            seen.add(before)
            other = self.wanted.get(before) or self.planned.get(before)
            if other is None:
                break
            names |= set(other.sources)
            before = other.feeds_from
        sources = enumerate(self.study.sources)
        in_files = {source.name for place, source in sources if self.files(place).has_sentences}
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
        for section, place in in_order(self.study):
            if section != "batch":
                continue
            wanted = self.study.batches[place]
            overlap = people if wanted.strategy == "everyone" else wanted.overlap
            counts = self.standing.batches.get(wanted.name)
            left: int | None
            if counts is None:
                number, most = self.items(wanted, items)
                items[wanted.name] = coming[wanted.name] = number
                drawn, _ = self.items(dataclasses.replace(wanted, feeds_from=""), {})
                likely[wanted.name] = self.expected(wanted, 0 if drawn is None else drawn, likely)
                left, gold = None if number is None else number * overlap, len(wanted.gold)
            else:
                most = bool(wanted.feeds_from) and counts.state != "closed"
                fed = coming.get(wanted.feeds_from) if most else 0
                here = counts.items - counts.gold
                undecided = here if counts.undecided is None else counts.undecided
                items[wanted.name] = None if fed is None else here + fed
                coming[wanted.name] = None if fed is None else undecided + fed
                likely[wanted.name] = self.expected(wanted, undecided, likely) if most else undecided
                left = None if fed is None else _left(counts, overlap, wanted) + fed * overlap
                gold = max(counts.gold, len(wanted.gold))
            if left is not None and wanted.purpose == "work" and wanted.gold_percent:
                # So many percent of each person's turns, and each person has each gold item once.
                turns = round(left * wanted.gold_percent / (100 - wanted.gold_percent))
                left += min(turns, max(gold * people - (counts.gold_submitted if counts else 0), 0))
            upper, lower = coming[wanted.name], likely[wanted.name]
            share = lower / upper if upper and lower is not None else 1.0
            yield self.cost(wanted, left, most, min(share, 1.0))

    def expected(self, wanted: Work, own: float, likely: Mapping[str, float | None]) -> float | None:
        """How many items are expected to be decided in a batch: its own and those that will go on to it."""
        if not wanted.feeds_from:
            return own
        before = likely.get(wanted.feeds_from)
        return None if before is None else own + before * self.share(wanted)

    def share(self, wanted: Work) -> float:
        """Which share of the accepted items of the batch before goes on: as measured here, else as it usually is."""
        here, before = self.standing.batches.get(wanted.name), self.standing.batches.get(wanted.feeds_from)
        if here is not None and before is not None and before.accepted >= MEASURABLE:
            return min((here.items - here.gold) / before.accepted, 1.0)
        feeding = self.wanted.get(wanted.feeds_from) or self.planned.get(wanted.feeds_from)
        usual = feeding.task.usual_shares if feeding is not None else {}
        share = 1.0
        for name, values in wanted.feeds_when.items():
            if name in usual:
                share *= min(sum(usual[name].get(value, 0.0) for value in values), 1.0)
        return share

    def cost(self, wanted: Work, annotations: int | None, most: bool, share: float = 1.0) -> Cost:
        kind = kind_of(wanted.type, wanted.variant, wanted.purpose)
        pace = self.standing.paces.get(kind) or Pace(usual_seconds(wanted.task), 0)
        pay = wanted.pay or self.study.pay
        money = None
        if annotations is not None and pay:
            each = pay.get("per_item")
            money = annotations * (each if each is not None else pay["per_hour"] * pace.seconds / 3600)
        asks_more = decision_rules.most(wanted.task, wanted.resolve, wanted.settings) > wanted.overlap
        before = self.wanted.get(wanted.feeds_from) or self.planned.get(wanted.feeds_from)
        several = before and (before.name in self.open or (before.overlap > 1 and before.task.making))
        if several or asks_more or wanted.strategy == "everyone" or wanted.gold_percent:
            self.open.add(wanted.name)
        bound = "about" if wanted.name in self.open else "at most" if most else ""
        expected = None if annotations is None else round(annotations * share)
        work = (wanted.name, annotations, pace.seconds, pace.of, most)
        return Cost(*work, str(pay.get("currency", "")), money, expected, pace.ends, bound, "per_hour" in pay)


def _left(counts: Counts, overlap: int, wanted: Work) -> int:
    """How many annotations the items that are there still ask for."""
    if counts.state == "closed":
        return 0
    on_demand = wanted.strategy == "everyone" or wanted.purpose != "work"
    if counts.left is not None and counts.state != "planned" and not on_demand:
        return counts.left
    return max((counts.items - counts.gold) * overlap - (counts.submitted - counts.gold_submitted), 0)


class _NotYet(UserDict[str, Any]):
    """What will be frozen beside an item and is not known yet; it remembers whether anybody asked for it."""

    asked = False

    def __getitem__(self, key: str) -> Any:
        self.asked = True
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked = True
        return super().__contains__(key)


def _response_wrong(task: TaskType, wanted: Work, one: GoldItem, example: tableqa.Example) -> str:
    """Why what is said to be right is no response to the example; "" where it is one, or where that is not known yet."""
    inputs: Any = one.inputs
    if isinstance(task, Preparing) and not inputs:
        inputs = _NotYet()
    try:
        task.parse(one.response, Item(example, wanted.variant, wanted.settings, inputs))
    except Invalid as invalid:
        return "" if isinstance(inputs, _NotYet) and inputs.asked else str(invalid)
    except KeyError:
        if not isinstance(inputs, _NotYet):
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


def _right(number: int) -> str:
    return ngettext("{number} gold answer.", "{number} gold answers.", number).format(number=number)


def same_gold(wanted: GoldItem, there: GoldItem) -> bool:
    """Whether a gold item is marked as the file says; what is frozen beside it does not change any more."""
    same = (wanted.example, wanted.response, wanted.why) == (there.example, there.response, there.why)
    return same and wanted.source in ("", there.source)


def differences(wanted: Work, there: Work) -> list[str]:
    """The names of `COMPARED` in which two batches differ."""
    return [name for name in COMPARED if getattr(wanted, name) != getattr(there, name)]


def _comes_after(name: str) -> str:
    return gettext("it depends on “{name}”, which is waiting. Apply the file again afterwards.").format(
        name=name
    )


def _about(of: Sequence[str], sources: Sequence[str]) -> bool:
    """Whether a run over these sources, all where none is named, makes something of any of the others."""
    return not of or bool(set(of) & set(sources))


def _in_words(work: Work, number: int | None, correct: tuple[int, int], needed: str) -> str:
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
        parts.append(f"{decides}{_when(work.feeds_when)}")
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


def _correct_only(model: str, number: int, asked: int, needed: str) -> str:
    """That a batch serves only what its model answers correctly, with the counts where there are answers."""
    if not asked:
        words = gettext("only questions that {model} answers correctly; it will be asked")
        return words.format(model=model) + _parenthesised(needed)
    words = gettext("only questions that {model} answers correctly ({number} of {asked} so far)")
    return words.format(model=model, number=_n(number), asked=_n(asked)) + _parenthesised(needed)


def _parenthesised(words: str) -> str:
    return f" ({words})" if words else ""


def _size(work: Work, number: int | None) -> str:
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
        parts.append(f"{decides}{_when(run.feeds_when)}")
    parts.append(ngettext("{number} seed", "{number} seeds", len(run.seeds)).format(number=len(run.seeds)))
    return f"{', '.join(parts)}."


def _when(when: Mapping[str, Sequence[Any]]) -> str:
    said = [f"{name} {gettext(' or ').join(map(str, values))}" for name, values in when.items()]
    return f" ({', '.join(said)})" if said else ""


def _becomes(what: str, before: str, after: str) -> str:
    return gettext("{what}: {before} becomes {after}").format(what=what, before=before, after=after)


def _roles(roles: Iterable[str]) -> str:
    return ", ".join(gettext(role) for role in roles)


def _n(number: int) -> str:
    """A number with its thousands apart, as the reader writes it."""
    return number_format(number, force_grouping=True)


def _of(work: Work, name: str) -> str:
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
        return "{" + ", ".join(f"{key}: {_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple | list):
        said = ", ".join(_value(one) for one in value[:5])
        if len(value) > 5:
            return gettext("{values} and {number} more").format(values=said, number=len(value) - 5)
        return said
    return str(value)
