"""What applying a study file changes of the project itself, its sources and its people."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final

from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.platform.display_text import grouped
from annotation.study_file.comparison import (
    Change,
    Comparison,
    SourceProbe,
    Verb,
    change_in_words,
    value_in_words,
)
from annotation.study_file.schema import PROJECT_OPTIONS, PersonEntry, SourceFile
from tasks.contract import task_types
from tasks.shared.defined_types import task_of
from tasks.shared.type_definitions import new_definition_faults

PROJECT_TERMS: Final = {
    "name": gettext_noop("name"),
    "time_zone": gettext_noop("time zone"),
    **{name: name for name in PROJECT_OPTIONS},
}
"""The terms of a project that a file may change: words, or what they are called in a file."""


class ProjectComparison(Comparison):
    """The project, its sources and its people, in the file and as they are."""

    def project(self, *, is_new: bool) -> Iterator[Change]:
        study, current = self.study, self.current
        differ = [
            change_in_words(
                gettext(label), value_in_words(getattr(current, name)), value_in_words(getattr(study, name))
            )
            for name, label in PROJECT_TERMS.items()
            if getattr(study, name) != getattr(current, name)
        ]
        if study.statement != current.statement:
            differ.append(gettext("data statement"))
        if differ:
            yield self.change("change", "project", current.slug, f"{'; '.join(differ)}.")
        if not study.consent and current.consent:
            note = gettext("the project asks for consent; the file does not mention it.")
            yield self.change("leave", "consent", "", note)
        elif study.consent and not current.consent:
            yield self.change("add", "consent", "", gettext("a text."))
        elif study.consent != current.consent:
            note = gettext("a new version: annotators are asked again before their next item.")
            yield self.change("change", "consent", "", note)
        yield from self.task_types()
        for key, text in study.guidelines.items():
            if text != current.guidelines.get(key, self.usual_guidelines(key)):
                replaced = gettext("replaces the text of the task type.")
                note = gettext("a new version.") if key in current.guidelines else replaced
                if study.must_read and not is_new:
                    note += " " + gettext("Annotators read them again before their next item.")
                yield self.change("change", "guidelines", key, note)

    def usual_guidelines(self, key: str) -> str:
        """The guidelines that come with a task type; "" where there is none of this name."""
        if (data := self.study.task_types.get(key) or self.current.task_types.get(key)) is not None:
            return task_of(key, data).guidelines()
        return task_types()[key].guidelines() if key in task_types() else ""

    def task_types(self) -> Iterator[Change]:
        """The task types that the study defines."""
        for name, data in self.study.task_types.items():
            before = self.current.task_types.get(name)
            if before != data and (faults := new_definition_faults(data)):
                for fault in faults:
                    change = self.change("cannot", "task type", name, str(fault))
                    line = self.study.line("task_types", name, *fault.path)
                    yield dataclasses.replace(change, line=line)
            elif before is None:
                text = gettext("a task type of this project, with {fields}.").format(
                    fields=", ".join(field_data["name"] for field_data in data["fields"])
                )
                yield self.change("add", "task type", name, text)
            elif before != data:
                text = gettext("another definition. Batches with responses or gold answers keep theirs.")
                yield self.change("change", "task type", name, text)
        for name in self.current.task_types:
            if name not in self.study.task_types:
                yield self.change("leave", "task type", name, gettext("not in the file."))

    def sources(self) -> Iterator[Change]:
        for index, (entry, probe) in enumerate(self.files):
            yield from self.source(index, entry, probe)
        named = {source.name for source in self.study.sources}
        for name in dict.fromkeys(source.name for source in self.current.sources if source.name not in named):
            yield self.change("leave", "source", name, gettext("not in the file."))

    def source(self, index: int, entry: SourceFile, probe: SourceProbe) -> Iterator[Change]:
        imported = [source for source in self.current.sources if source.name == entry.name]
        verb: Verb = "cannot"
        checksum = entry.checksum or probe.checksum
        if other := next((source.reader for source in imported if source.reader != entry.reader), ""):
            text = gettext(
                "the source of this name in the project uses the reader {reader}, not {wanted}. Rename "
                "this one."
            ).format(reader=other, wanted=entry.reader)
        elif imported and (probe.wrong or not checksum):
            return
        elif probe.wrong:
            text = probe.wrong
        elif any(source.checksum == checksum for source in imported):
            return
        elif entry.checksum and probe.checksum and entry.checksum != probe.checksum:
            text = gettext("{path} does not contain the data of the study (the checksum differs).").format(
                path=entry.path
            )
        elif probe.checksum:
            verb, text = (
                "add",
                ngettext(
                    "import {path}, {number} example.", "import {path}, {number} examples.", probe.examples
                ).format(path=entry.path or entry.name, number=grouped(probe.examples)),
            )
        elif self.probes is None:
            text = gettext(
                "not in the project. Import it on the page Sources under this name, then come back."
            )
        else:
            names = [source.name for source in self.study.sources]
            text = gettext(
                "not in the project. Give the path of its files: path in the file, or --source "
                "'{name}=PATH' on the command line."
            ).format(name=entry.name if names.count(entry.name) == 1 else index + 1)
        yield self.change(verb, "source", entry.name, text, index)

    def people(self) -> Iterator[Change]:
        for index, entry in enumerate(self.study.people):
            if (step := self.person(entry)) is not None:
                verb, text = step
                yield self.change(verb, "person", entry.name, text, index)

    def person(self, entry: PersonEntry) -> tuple[Verb, str] | None:
        """The step for a person, and its description; None without one."""
        roles = frozenset(entry.roles)
        current, invited = entry.among(self.state.people), entry.among(self.state.invited)
        if current is not None:
            if more := [role for role in entry.roles if role not in current]:
                return "change", gettext("also {roles}.").format(roles=_roles(more))
            if more := sorted(current - roles):
                text = gettext("also has the roles {roles} in the project; they are not in the file.")
                return "leave", text.format(roles=_roles(more))
        elif invited is not None:
            if not roles <= invited:
                text = gettext("the existing link gives {roles}; add more roles after the person has joined.")
                return "leave", text.format(roles=_roles(sorted(invited)))
        elif (removed_on := entry.among(self.state.removed)) is not None:
            text = gettext("removed on {day}. To add this person again, create a link on the page People.")
            return "leave", text.format(day=removed_on)
        else:
            text = gettext("a personal link to join as {roles}.").format(roles=_roles(entry.roles))
            return "invite", text
        return None


def _roles(roles: Iterable[str]) -> str:
    return ", ".join(gettext(role) for role in roles)
