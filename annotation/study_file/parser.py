"""From a file to a study: every fault is reported at once, and nothing is looked up in a database."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Final

from django.utils.translation import gettext, gettext_noop

from annotation.models.batch_options import work_limits
from annotation.models.batch_options.budget import budget
from annotation.payments import data_statement
from annotation.releases import creation
from annotation.study_file import json_schema, yaml_file
from annotation.study_file.batch_parser import BatchReader, FileReader
from annotation.study_file.schema import PersonEntry, Run, SourceFile, Study, quoted, sorted_roles, spelling
from annotation.study_file.yaml_file import ParsedYaml, Path, StudyError
from annotation.workflow.projects import RESERVED_SLUGS, time_zones
from tableqa.core.foreign_values import faults, unstorable
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.perturbations.question_selection import RULES
from tableqa.readers import READERS
from tasks.contract import TaskType, task_types
from tasks.shared.definition_faults import BadDefinition
from tasks.shared.schema_errors import closest_match, schema_faults, unknown_value_message
from tasks.shared.type_definitions import name_faults

NAMES: Final = {
    "people": (
        gettext_noop("A person needs a name."),
        gettext_noop("The person {name!r} is already on line {line}."),
    ),
    "batches": (
        gettext_noop("A batch needs a name."),
        gettext_noop("The batch {name!r} is already on line {line}."),
    ),
}
"""The faults of a part without a name, and of a repeated name."""

OPTION_CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "caps": lambda caps: work_limits.caps(caps, work_limits.OF_A_PROJECT),
    "pay": work_limits.pay,
    "model_budget": budget,
    "release": lambda options: creation.options(**options) if options else {},
}
"""The checks of `PROJECT_OPTIONS` that are mappings: each returns what the project stores, or raises ActionRefused."""


def parse(text: str | ParsedYaml, *, folder: FilePath | None = None) -> Study:
    """The study that a file describes. `folder` is the folder of the file; without it no other file is read.

    Raises `StudyError` with everything that is wrong.
    """
    written = yaml_file.read(text) if isinstance(text, str) else text
    template = gettext("The text contains {reason}, which cannot be saved. Remove it.")
    problems = list(schema_faults(json_schema.SCHEMA, written.value)) or [
        (path, template.format(reason=why.shown())) for path, why in faults(written.value)
    ]
    if problems:
        raise StudyError([written.fault(path, message) for path, message in problems])
    reader = _StudyReader(written, folder)
    study = reader.study()
    if reader.faults:
        raise StudyError(reader.faults)
    return study


class _StudyReader(FileReader):
    """From plain values that have the right shape to a study; collects what else is wrong."""

    def __init__(self, written: ParsedYaml, folder: FilePath | None) -> None:
        super().__init__(written)
        self.folder = folder

    def study(self) -> Study:
        content = self.written.value
        project = content["project"]
        self.check_project(project)
        self.check_names("people", content.get("people", []))
        sources = tuple(self.source(index, entry) for index, entry in enumerate(content.get("sources", [])))
        self.check_repeated_sources(sources)
        self.check_names("batches", content.get("batches", []))
        definitions = content.get("task_types", {})
        self.tasks |= {
            key: task for key, entry in definitions.items() if (task := self.define_task_type(key, entry))
        }
        for key, defaults in content.get("kinds", {}).items():
            if self.has_task(("kinds", key), key) and "settings" in defaults:
                self.check_settings(self.tasks[key], defaults["settings"], ("kinds", key, "settings"))
        statement = content.get("statement", {})
        batches = tuple(
            BatchReader(self, index, self.tasks[entry["type"]]).spec(sources)
            for index, entry in enumerate(content.get("batches", []))
            if self.has_task(("batches", index, "type"), entry["type"])
        )
        runs = tuple(self.run(index, entry) for index, entry in enumerate(content.get("perturbations", [])))
        options: dict[str, Any] = {
            name: self.checked(("project", name), check, project.get(name, {}))
            for name, check in OPTION_CHECKS.items()
        }
        study = Study(
            slug=project["slug"],
            name=project["name"].strip(),
            time_zone=project.get("time_zone", "UTC"),
            must_read=project.get("must_read", False),
            **options,
            consent=self.consent(content.get("consent", "")),
            statement=self.checked(("statement",), data_statement.clean_answers, statement),
            people=tuple(
                PersonEntry(
                    entry["name"].strip(),
                    sorted_roles(entry["roles"]),
                    entry.get("email", "").strip().lower(),
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
        self.check_references(study)
        self.check_cycles(study)
        return study

    def check_project(self, project: Mapping[str, Any]) -> None:
        if project["slug"] in RESERVED_SLUGS:
            message = gettext("The short name {slug!r} is reserved. Choose another one.")
            self.wrong(("project", "slug"), message.format(slug=project["slug"]))
        time_zone = project.get("time_zone", "UTC")
        if time_zone not in time_zones():
            zones = sorted(time_zones())
            message = gettext("There is no time zone {time_zone!r}.").format(time_zone=time_zone)
            if closest_match(time_zone, zones):
                message = unknown_value_message(gettext("time zone"), time_zone, zones)
            self.wrong(("project", "time_zone"), message)
        if not project["name"].strip():
            self.wrong(("project", "name"), gettext("A project needs a name."))

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

    def check_references(self, study: Study) -> None:
        """Batches that others wait for or ask for are in the file, too."""
        purposes = {batch.name: batch.purpose for batch in study.batches}
        for index, entry in enumerate(self.written.value.get("batches", [])):
            for key in ("feeds_from", "requires"):
                name, path = entry.get(key, "").strip(), ("batches", index, key)
                if not name or not self.is_available(path, gettext("batch"), name, purposes):
                    continue
                if key == "feeds_from":
                    self.check_feeding_batch(path, name, purposes[name])
                elif purposes[name] != "qualification":
                    message = gettext("“{name}” is not a qualification batch.").format(name=name)
                    self.wrong(path, message)
        for index, run in enumerate(study.runs):
            path = ("perturbations", index, "feeds_from")
            if run.feeds_from and self.is_available(path, gettext("batch"), run.feeds_from, purposes):
                self.check_feeding_batch(path, run.feeds_from, purposes[run.feeds_from])

    def check_feeding_batch(self, path: Path, name: str, purpose: str) -> None:
        """Only what is decided makes items elsewhere."""
        if purpose != "work":
            message = gettext("{name} is a {purpose} batch and decides no items, so it cannot pass any on.")
            self.wrong(path, message.format(name=quoted([name]), purpose=gettext(purpose)))

    def consent(self, text: str) -> str:
        """The text as it is kept."""
        if text and not text.strip():
            self.wrong(("consent",), gettext("The consent text is empty."))
        return text.replace("\r\n", "\n").strip("\n") + "\n" if text else ""

    def check_names(self, section: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Every part of a section has its own name."""
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
        """A name may be twice where the second files add to the first; then both say which files they are."""
        for index, source in enumerate(sources):
            same = [entry for entry in sources if entry.name == source.name]
            if len(same) > 1 and len({entry.checksum for entry in same if entry.checksum}) != len(same):
                message = gettext(
                    "{name!r} appears {number} times. Give each entry a different name or checksum."
                ).format(name=source.name, number=len(same))
                self.wrong(("sources", index, "name"), message)

    def source(self, index: int, entry: Mapping[str, Any]) -> SourceFile:
        self.is_available(("sources", index, "reader"), gettext("reader"), entry["reader"], sorted(READERS))
        return SourceFile(**{**entry, "name": entry["name"].strip()})

    def guidelines(self, entries: Mapping[str, Any]) -> dict[str, str]:
        texts = {}
        for key, text in entries.items():
            path = ("guidelines", key)
            self.has_task(path, key)
            if isinstance(text, Mapping):
                text = self.included_text((*path, "file"), text["file"])
            if text is not None and not text.strip():
                self.wrong(path, gettext("The guidelines are empty."))
            texts[key] = text or ""
        return texts

    def included_text(self, path: Path, name: str) -> str | None:
        """The text of a file that is beside the study's."""
        if self.folder is None:
            message = gettext("Files can only be included on the command line. Paste the text here.")
            self.wrong(path, message)
            return None
        try:
            text = (self.folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else gettext("not UTF-8 text")
            self.wrong(path, gettext("{name} cannot be read: {why}.").format(name=name, why=why))
            return None
        if reason := unstorable(text):
            message = gettext("{name} contains {reason}, which cannot be saved. Remove it.")
            self.wrong(path, message.format(name=name, reason=reason))
        return text

    def run(self, index: int, entry: Mapping[str, Any]) -> Run:
        path: Path = ("perturbations", index)
        for at, kind in enumerate(entry["kinds"]):
            self.is_available((*path, "kinds", at), gettext("perturbation"), kind, PERTURBATIONS)
        feeds_from = entry.get("feeds_from", "").strip()
        self.check_filter(path, entry, feeds_from)
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
        waits = {batch.name: {batch.feeds_from, batch.requires} - {"", None} for batch in study.batches}
        for index, batch in enumerate(study.batches):
            reached, front = set[str](), waits[batch.name]
            while front := front - reached:
                reached |= front
                front = {name for before in front for name in waits.get(before, ())}
            if batch.name in reached:
                key = "feeds_from" if batch.feeds_from else "requires"
                message = gettext("{name!r} depends on itself.").format(name=batch.name)
                self.wrong(("batches", index, key), message)
