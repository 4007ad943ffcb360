"""A batch of a study file as a `BatchSpec`: its sample, its terms, its gold, and everything that is wrong with them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, TypeVar

from django.utils.translation import gettext

from annotation.models.batch_options import TERMS, Context, Term
from annotation.models.batch_options.task_settings import filled
from annotation.platform.display_text import show
from annotation.platform.refusals import ActionRefused
from annotation.queue import sampling
from annotation.study_file.schema import EVERYONE, BatchSpec, GoldItem, ItemName, SourceFile
from annotation.study_file.yaml_file import Fault, ParsedYaml, Path
from tasks.contract import TaskType, task_types
from tasks.shared.schema_errors import schema_faults, unknown_value_message

T = TypeVar("T")

FEEDING: Final = SimpleNamespace(purpose="work")
"""A batch that feeds another one, as far as a file knows it; its purpose is checked by its name."""


class FileReader:
    """The plain values of a file, its task types by name, and the faults of the file so far."""

    def __init__(self, written: ParsedYaml) -> None:
        self.written = written
        self.faults: list[Fault] = []
        self.tasks: dict[str, TaskType] = dict(task_types())

    def wrong(self, path: Path, message: str) -> None:
        self.faults.append(self.written.fault(path, message))

    def is_available(self, path: Path, what: str, name: str, available: Iterable[str]) -> bool:
        """Whether there is such a thing; a fault where there is not."""
        available = list(available)
        if name not in available:
            self.wrong(path, unknown_value_message(what, name, available))
        return name in available

    def has_task(self, path: Path, key: str) -> bool:
        """Whether there is such a task type; a fault where there is not. Faults of a definition are reported there."""
        if key not in self.tasks and key in self.written.value.get("task_types", {}):
            return False
        return self.is_available(path, gettext("task type"), key, self.tasks)

    def checked(self, path: Path, check: Callable[[Any], T], value: Any) -> T | dict[str, Any]:
        """What a check returns; a fault with its words, and nothing, where it refuses."""
        try:
            return check(value)
        except ActionRefused as refused:
            self.wrong(path, refused.detail)
            return {}

    def check_settings(self, task: TaskType, values: Mapping[str, Any], path: Path) -> None:
        settings = filled(task, values)
        for below, message in schema_faults(task.settings_schema, settings, what=gettext("setting")):
            self.wrong((*path, *below), message)

    def check_filter(self, path: Path, entry: Mapping[str, Any], feeds_from: str) -> None:
        """`feeds_when` names a field of what feeds, and values that it can have."""
        conditions = entry.get("feeds_when", {})
        if conditions and not feeds_from:
            message = gettext("This filters the outcomes of a batch. Name that batch in feeds_from.")
            self.wrong((*path, "feeds_when"), message)
        for before in self.written.value.get("batches", []):
            task = self.tasks.get(before["type"])
            if before["name"].strip() == feeds_from and task is not None:
                fields = {
                    task_field.name: [value for value, _ in task_field.choices] for task_field in task.fields
                }
                field_of = gettext("field of {title}").format(title=show(task.title))
                for name, values in conditions.items():
                    at: Path = (*path, "feeds_when", name)
                    if self.is_available(at, field_of, name, fields):
                        for index, value in enumerate(values if fields[name] else ()):
                            self.is_available((*at, index), gettext("value"), value, fields[name])


class BatchReader:
    """From one batch of a file to a `BatchSpec`. Its faults go to the reader of the file."""

    def __init__(self, file: FileReader, index: int, task: TaskType) -> None:
        self.file, self.task = file, task
        self.path: Path = ("batches", index)
        self.entry: Mapping[str, Any] = file.written.value["batches"][index]
        self.defaults: Mapping[str, Any] = file.written.value.get("kinds", {}).get(task.key, {})

    def spec(self, sources: Sequence[SourceFile]) -> BatchSpec:
        """The batch; without sources of its own it draws from the first of `sources`."""
        entry, sample = self.entry, self.entry.get("sample", {})
        feeds_from = entry.get("feeds_from", "").strip()
        drawn = tuple(name.strip() for name in sample.get("sources", ()))
        if not drawn and not feeds_from and sources:
            drawn = (sources[0].name,)  # as a demo world or a small study means it
        of = sample.get("of", self.task.of[0])
        if of not in sampling.example_kinds(self.task):
            message = gettext("{title} takes {of} examples.").format(
                title=show(self.task.title), of=gettext(" or ").join(sampling.example_kinds(self.task))
            )
            self.file.wrong((*self.path, "sample", "of"), message)
        if "only" in sample and "size" in sample:
            message = gettext("`only` lists the examples. Remove `size`.")
            self.file.wrong((*self.path, "sample", "size"), message)
        gold = entry.get("gold", {}).get("items", ())
        self.check_repeated((*self.path, "gold", "items"), gold)
        self.file.check_filter(self.path, entry, feeds_from)
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
        context = Context(self.task, feeds_from=FEEDING if feeds_from else None)
        for name, term in TERMS.items():
            path, value = self.stated(term)
            faults = len(self.file.faults)
            if name == "settings":
                value, path = self.settings()
            elif name == "feeds_when" and not feeds_from:
                value = None  # `check_filter` says so
            try:
                context.values[name] = term.checked(value, context)
            except ActionRefused as refused:
                context.values[name] = term.default_in(context)
                is_reported = name == "settings" and "settings" in self.defaults
                if len(self.file.faults) == faults and not is_reported:
                    self.file.wrong(path, refused.detail)
            if name == "strategy" and context.values[name] == "everyone":
                context.values["overlap"] = EVERYONE
        return context.values

    def stated(self, term: Term) -> tuple[Path, Any]:
        """The value of a term and where the file says it; None, and the batch, where it does not."""
        defaults = self.defaults if term.per_task_type and term.fits(self.task) else {}
        for part, above in ((self.entry, self.path), (defaults, ("kinds", self.task.key))):
            value: Any = part
            for key in term.path:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is not None:
                return (*above, *term.path), term.from_file(value)
        return self.path, None

    def settings(self) -> tuple[dict[str, Any], Path]:
        """Those of the task type below `kinds` with those of the batch. The former are checked there."""
        own = self.entry.get("settings", {})
        values = {**self.defaults.get("settings", {}), **own}
        path: Path = (*self.path, "settings") if own else self.path
        if own:
            self.file.check_settings(self.task, values, path)
        return values, path

    def guideline_examples(self, gold: Sequence[Mapping[str, Any]]) -> tuple[ItemName, ...]:
        """Those of a batch that decides items; none of them is gold."""
        path, entries = (*self.path, "guideline_examples"), self.entry.get("guideline_examples", ())
        purpose = self.entry.get("purpose", "work")
        if entries and purpose != "work":
            message = gettext("A {purpose} batch decides no items, so it has no guideline examples.")
            self.file.wrong(path, message.format(purpose=gettext(purpose)))
        self.check_repeated(path, entries)
        gold_ids = {entry["example"] for entry in gold}
        for index, entry in enumerate(entries):
            if entry["example"] in gold_ids:
                message = gettext("{example!r} is a gold item. Annotators must not see its response.")
                self.file.wrong((*path, index), message.format(example=entry["example"]))
        return tuple(ItemName(**entry) for entry in entries)

    def check_repeated(self, path: Path, items: Sequence[Mapping[str, Any]]) -> None:
        """An example has one right response, and is one guideline example."""
        first: dict[tuple[str, str], int] = {}
        for index, entry in enumerate(items):
            key = (entry["example"], entry.get("source", ""))
            if key in first:
                line = self.file.written.line((*path, first[key]))
                message = gettext("{example!r} is already on line {line}.")
                self.file.wrong((*path, index), message.format(example=entry["example"], line=line))
            first.setdefault(key, index)
