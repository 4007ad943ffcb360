"""Labels that people gave somewhere else, read from CSV into a batch: looked at first, then written whole or not at all.

Writing has two steps. Pages of checked labels are committed to tables that only the import reads (`LabelImport`); an import
that is killed goes on behind the last page. One transaction then turns all pages into assignments and annotations.

One line is one person's response to one example. Whoever gave it becomes a person who cannot sign in (`is_external`), with a
pseudonym like everybody else. The responses take planned places, so agreement counts them; exports mark them.
"""

from __future__ import annotations

import csv
import difflib
import hashlib
import itertools
import json
import re
import tempfile
import unicodedata
import weakref
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Case, Count, DateTimeField, F, Value, When
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from annotation import bulk, events
from annotation.bulk import among
from annotation.by_key import in_lists
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Example,
    Exclusion,
    Guidelines,
    Item,
    LabelImport,
    Membership,
    Person,
    Place,
    Source,
    StagedAnnotator,
    StagedLabel,
    Tally,
)
from annotation.quality import guidance
from annotation.refusals import Refused, refuse
from annotation.work import queue
from annotation.work.places import due_at, have_them_counted
from tableqa.foreign_values import NAMES, in_column, normal, printable, unstorable
from tableqa.json_text import read_json
from tableqa.on_disk import database
from tasks import contract
from tasks.contract import Invalid, TaskType

MOST_LINES: Final = 1_000_000
MOST_PROBLEMS: Final = 100
LONGEST_NAME: Final = 120
UNDO_WINDOW: Final = timedelta(seconds=60)
"""As after any submission: until then the item is not resolved."""
ROWS: Final = 1_000
"""Lines that are in memory at once."""
AT_HAND: Final = 1_000_000
"""Bytes of labels that are kept in memory; more lie on disk."""


@dataclass(frozen=True)
class Labelled:
    """One line that holds: who, on which item (by key), with what response as it is stored."""

    line: int
    annotator: str
    item: int
    response: dict[str, Any]
    made_at: datetime | None = None
    origin: dict[str, Any] | None = None
    seconds: float = 0.0
    is_simulated: bool = False


class Kept(NamedTuple):
    """A label that waits to be written: who, on which item (by key), the response as stored, and its fingerprint.

    made_at  time of the response; None: the time of the import
    origin   where the response comes from, as JSON: the detail of its event
    seconds  of active time; 0 where the file has none
    """

    annotator: str
    item: int
    said: int
    made_at: datetime | None
    origin: bulk.Json | None
    seconds: float
    response: bulk.Json


@dataclass(frozen=True)
class Trouble:
    """What is wrong with a line (the header is line 1)."""

    line: int
    message: str


class Labels:
    """The labels that hold, in the order of their lines; on disk, for there may be very many."""

    def __init__(self) -> None:
        self.annotators: Counter[str] = Counter()
        self.simulated: set[str] = set()
        self.given = Given()
        self._hash = hashlib.sha256()
        self._file = tempfile.SpooledTemporaryFile(AT_HAND, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115
        weakref.finalize(self, self._file.close)

    def append(self, label: Labelled) -> None:
        self.annotators[label.annotator] += 1
        if label.is_simulated:
            self.simulated.add(label.annotator)
        # The response comes last, as JSON in one line: it goes into the database as it is.
        name, said = json.dumps(label.annotator), queue.fingerprint(label.response)
        made_at = label.made_at.isoformat() if label.made_at else ""
        origin = json.dumps(label.origin) if label.origin else ""
        times = f"{made_at}\t{origin}\t{label.seconds!r}"
        line = f"{label.item}\t{said}\t{name}\t{times}\t{json.dumps(label.response)}\n"
        self._hash.update(line.encode())
        self._file.write(line)

    @property
    def digest(self) -> str:
        """Equal for the same labels in the same order."""
        return self._hash.hexdigest()

    def __len__(self) -> int:
        return self.annotators.total()

    def __iter__(self) -> Iterator[Kept]:
        self._file.seek(0)
        for line in self._file:
            item, said, name, made_at, origin, seconds, response = line.rstrip("\n").split("\t")
            yield Kept(
                json.loads(name),
                int(item),
                int(said),
                datetime.fromisoformat(made_at) if made_at else None,
                bulk.Json(origin) if origin else None,
                float(seconds),
                bulk.Json(response),
            )

    def pages(self, size: int) -> Iterator[list[Kept]]:
        """All of them in lists of at most `size`."""
        return in_lists(self, size)


class Given:
    """Who gave a response to which item in which line of the file; on disk, for there may be very many."""

    def __init__(self) -> None:
        self._people: dict[str, int] = {}
        self._db = database(
            "CREATE TABLE given (item INTEGER, annotator INTEGER, line INTEGER, new INTEGER, "
            "PRIMARY KEY (item, annotator)) WITHOUT ROWID"
        )
        weakref.finalize(self, self._db.close)

    def add(self, item: int, annotator: str, line: int) -> int:
        """The line in which the person's response to the item (key) was first given: this one, or one before it."""
        who = self._people.setdefault(annotator, len(self._people))
        if self._db.execute("INSERT OR IGNORE INTO given VALUES (?, ?, ?, 0)", (item, who, line)).rowcount:
            return line
        row = self._db.execute("SELECT line FROM given WHERE item = ? AND annotator = ?", (item, who))
        return int(row.fetchone()[0])

    def mark_as_new(self, item: int, annotator: str) -> None:
        """The response is not in the batch yet."""
        who = self._people[annotator]
        self._db.execute("UPDATE given SET new = 1 WHERE item = ? AND annotator = ?", (item, who))

    def new_of(self, item: int) -> int:
        """How many responses to the item are new so far."""
        row = self._db.execute("SELECT count(*) FROM given WHERE item = ? AND new", (item,))
        return int(row.fetchone()[0])

    def items(self) -> Iterator[int]:
        """The items that get new responses, each once, by key."""
        for (item,) in self._db.execute("SELECT DISTINCT item FROM given WHERE new ORDER BY item"):
            yield item


@dataclass
class Preview:
    """What a file would do to a batch. It is written only where `troubles` is empty."""

    labels: Labels = field(default_factory=lambda: Labels())
    troubles: list[Trouble] = field(default_factory=list)
    troubles_left_out: int = 0
    known: int = 0
    has_unnamed_column: bool = False
    """A column without a name has values; they are left out."""

    @property
    def annotators(self) -> dict[str, int]:
        """How many new responses each person has, by name."""
        return dict(sorted(self.labels.annotators.items()))

    @property
    def items(self) -> int:
        return sum(1 for _ in self.labels.given.items())

    def tell(self, line: int, message: str) -> None:
        if len(self.troubles) < MOST_PROBLEMS:
            self.troubles.append(Trouble(line, printable(message)))
        else:
            self.troubles_left_out += 1


@dataclass(frozen=True)
class Columns:
    """Which columns say what. The others are fields of the response; one called `response` is the whole of it as JSON.

    made_at  column with the time of the response (ISO 8601 with a time zone); None where the file has none
    origin   column with where the response comes from, a JSON object for the audit log; None where the file has none
    seconds  column with the seconds of active time; None where the file has none
    simulated  column that says whether the annotator is a program: true, or false, or empty; None where none does

    A column without a name, such as the index that pandas writes, is none of them and no field: it is left out.
    """

    example: str = "example"
    annotator: str = "annotator"
    source: str = "source"
    response: str = "response"
    made_at: str | None = None
    origin: str | None = None
    seconds: str | None = None
    simulated: str | None = "simulated"
    fields: Mapping[str, str] = field(default_factory=dict)
    """Columns that have another name than the field they hold: {"Label": "label"}."""


# -- looking ----------------------------------------------------------------------------------------


@bulk.seldom_collected()
def look(*, batch: Batch, text: str, columns: Columns | None = None) -> Preview:
    """Read the file against the batch and say what it would do, line by line; nothing is written.

    Raises Refused where no line can be read at all: no such columns, or a batch that takes no labels.
    """
    columns = columns or Columns()
    if columns.simulated in {*columns.fields, *(field.name for field in batch.task().fields)}:
        columns = replace(columns, simulated=None)
    return _look(batch, *_lines(text), columns)


@bulk.seldom_collected()
def look_at_rows(
    *, batch: Batch, rows: Iterable[tuple[int, dict[str, str]]], header: Sequence[str], columns: Columns
) -> Preview:
    """The same for rows that come from a file of another form, each with its number. Raises Refused."""
    return _look(batch, header, iter(rows), columns)


def _look(
    batch: Batch, header: Sequence[str], lines: Iterator[tuple[int, dict[str, str]]], columns: Columns
) -> Preview:
    require_takes_labels(batch)
    for name in (columns.example, columns.annotator):
        if name not in header:
            raise _no_column(name, header, columns)
    times = (columns.made_at, columns.origin, columns.seconds)
    about = (columns.example, columns.annotator, columns.source, columns.simulated, *times)
    data = [name for name in header if name and name not in about]
    if not data:
        refuse("import_failed", "The file has no response column, such as 'label'.")
    found = Preview()
    items = _Items(batch)
    task = batch.task()
    given, there = found.labels.given, False
    for line, row in items.loaded(lines, columns.example):
        there = True
        found.has_unnamed_column |= bool(row.get(""))
        try:
            if len(row) > len(header):
                raise _Wrong(
                    ngettext(
                        "The line has {number} cell, the header line {columns}. Put cells that contain a "
                        "comma in quotes.",
                        "The line has {number} cells, the header line {columns}. Put cells that contain a "
                        "comma in quotes.",
                        len(row),
                    ).format(number=len(row), columns=len(header))
                )
            label = _label(line, row, columns, data, items, task)
            if (earlier := given.add(label.item, label.annotator, line)) != line:
                raise _Wrong(
                    gettext("{annotator} already has a response to this example in line {earlier}.").format(
                        annotator=label.annotator, earlier=earlier
                    )
                )
            if items.has(label):
                found.known += 1
            else:
                items.take(label, given.new_of(label.item))
                given.mark_as_new(label.item, label.annotator)
                found.labels.append(label)
        except _Wrong as wrong:
            found.tell(line, str(wrong))
    if not there:
        refuse("import_failed", "The file has a header line but no labels.")
    return found


def require_takes_labels(batch: Batch) -> None:
    """Raises Refused where labels made elsewhere have no place in the batch."""
    if batch.opened_at is None or batch.closed_at is not None:
        refuse(
            "batch_not_open" if batch.closed_at is None else "batch_closed",
            "Labels can only be imported into an open or paused batch. {name} is {state}.",
            name=batch.name,
            state=batch.state,
        )
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        refuse(
            "invalid_request",
            "A qualification batch tests its annotators, so labels cannot be imported into it.",
        )
    if batch.loop_model or batch.help:
        refuse(
            "invalid_request",
            "This batch has a model in the loop or shows proposals. Imported labels were made "
            "without them. Import them into a separate batch.",
        )


def _no_column(name: str, header: Sequence[str], columns: Columns) -> Refused:
    """What to do about a column that is not there: another sign parts the cells, or it has nearly that name."""
    if len(header) == 1:
        for sign, words in (
            (";", gettext("semicolons")),
            ("\t", gettext("tabs")),
            ("|", gettext("vertical bars")),
        ):
            if sign in header[0]:
                return Refused(
                    "import_failed",
                    gettext(
                        "The file uses {words} as separators. Save it with commas: “CSV (comma delimited)”, in "
                        "UTF-8."
                    ).format(words=words),
                )
    said = gettext(
        "Column {name!r} is missing. The columns are: {value}. Required: {example!r}, "
        "{annotator!r}, and the response fields."
    ).format(
        name=name,
        value=", ".join(header) or "none",
        example=columns.example,
        annotator=columns.annotator,
    )
    by_case = {one.casefold(): one for one in header}
    near = difflib.get_close_matches(name.casefold(), by_case, n=1, cutoff=0.7)
    if near:
        said += " " + gettext("Did you mean {name!r}? Rename it to {wanted!r}.").format(
            name=by_case[near[0]], wanted=name
        )
    return Refused("import_failed", said)


class _Wrong(Exception):
    """What is wrong with one line."""


def _lines(text: str) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """The header and the lines that are not empty, with their numbers in the file; one at a time."""
    rows = _rows(text)
    _, first = next(rows, (0, []))
    if not first:
        refuse("import_failed", "The file is empty.")
    header = [name.strip() for name in first]
    if twice := [name for name, number in Counter(header).items() if number > 1]:
        refuse("import_failed", "Column {twice!r} appears twice. Remove one.", twice=twice[0])
    # A short line has empty cells at its end; what a long one has too much stands under names of its own, and is told.
    return header, (
        (number, dict(itertools.zip_longest(names, row, fillvalue="")))
        for number, row in rows
        if "".join(row).strip()
        for names in ([*header, *(f"{place}\0" for place in range(len(header), len(row)))],)
    )


_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV text, each with the number of the line where it ends."""
    lines = (found[0] for found in _LINE.finditer(text, text.startswith("\ufeff")))
    reader = csv.reader(lines, strict=True)
    try:
        for number, row in enumerate(reader):
            if number >= MOST_LINES:
                refuse(
                    "import_failed",
                    "The file has more than {most_lines} lines. Split it.",
                    most_lines=number_format(MOST_LINES, force_grouping=True),
                )
            yield reader.line_num, row
    except csv.Error as error:
        refuse(
            "import_failed",
            "Line {line_num} is not valid CSV ({error}). Save the file as CSV in UTF-8.",
            line_num=reader.line_num,
            error=error,
        )


def _label(
    line: int,
    row: Mapping[str, str],
    columns: Columns,
    data: Sequence[str],
    items: _Items,
    task: TaskType,
) -> Labelled:
    annotator = normal(row[columns.annotator].strip())
    origin = json.loads(in_column(row, columns.origin) or "null")
    if reason := unstorable([row, origin]) or unstorable(annotator, NAMES):
        raise _Wrong(
            gettext("The line contains {reason}, which cannot be saved. Remove it.").format(reason=reason)
        )
    if not annotator:
        raise _Wrong(
            gettext("The annotator (column {annotator!r}) is missing.").format(annotator=columns.annotator)
        )
    if len(annotator) > LONGEST_NAME:
        raise _Wrong(
            gettext("The annotator name is longer than {longest_name} characters.").format(
                longest_name=LONGEST_NAME
            )
        )
    items.require_one_spelling(annotator)
    is_simulated = _truth(in_column(row, columns.simulated, ""), columns.simulated)
    items.require_one_kind(annotator, is_simulated)
    item = items.find(row[columns.example].strip(), row.get(columns.source, "").strip())
    plain = item.plain
    problems: list[str] = []
    # An option may spell an accent in another way than the file.
    for tried in (form for given in _responses(row, columns, data) for form in (given, normal(given))):
        envelope = {
            "type": task.key,
            "variant": plain.variant,
            "version": task.version,
            "base": plain.base,
            "data": tried,
        }
        try:
            response = task.envelope(task.receive(envelope, plain), plain)
        except Invalid as invalid:
            problems = problems or [
                f"{problem.path}: {problem.message}" if problem.path else problem.message
                for problem in invalid.problems
            ]
        else:
            made_at = in_column(row, columns.made_at)
            return Labelled(
                line,
                annotator,
                item.pk,
                response,
                datetime.fromisoformat(made_at) if made_at else None,
                origin,
                float(in_column(row, columns.seconds) or 0),
                is_simulated,
            )
    raise _Wrong(" ".join(problems) or gettext("The response is missing."))


def _responses(row: Mapping[str, str], columns: Columns, data: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What the line may mean: its cells as text, else those that are JSON as what they say (lists, numbers)."""
    if columns.response in data and row[columns.response].strip():
        try:
            whole = read_json(row[columns.response])
        except ValueError:
            raise _Wrong(
                gettext("Column {response!r} is not valid JSON.").format(response=columns.response)
            ) from None
        if not isinstance(whole, dict):
            raise _Wrong(
                gettext("Column {response!r} must be a JSON object with the response fields.").format(
                    response=columns.response
                )
            )
        yield whole
        return
    as_text = {
        columns.fields.get(name, name): row[name]
        for name in data
        if name != columns.response and row[name] != ""
    }
    if not as_text:
        raise _Wrong(gettext("The response is missing."))
    yield as_text
    as_json = {name: _json(cell) for name, cell in as_text.items()}
    if as_json != as_text:
        yield as_json


def _truth(cell: str, column: str | None) -> bool:
    """Whether a cell says true; false and nothing are False."""
    value = cell.strip().lower()
    if value not in ("true", "false", ""):
        raise _Wrong(
            gettext("Column {column!r} must be true or false, not {value!r}.").format(
                column=column, value=cell
            )
        )
    return value == "true"


def _json(cell: str) -> Any:
    try:
        return read_json(cell)
    except ValueError:
        return cell


@dataclass(frozen=True)
class _Item:
    """What a label is judged by, of one item (by key)."""

    pk: int
    example: Example
    is_gold: bool
    inputs: Mapping[str, Any]
    batch: Batch

    @cached_property
    def plain(self) -> contract.Item:
        """The item as its kind sees it, made once for all its labels of a page."""
        return contract.Item(self.example.example(), self.batch.variant, self.batch.settings, self.inputs)


class _Items:
    """The batch's items by example id, with the room that is left on them."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.sources = dict(Source.objects.filter(project=batch.project_id).values_list("pk", "name"))
        self.by_example: dict[str, list[_Item]] = defaultdict(list)
        self.room: Counter[int] = Counter()
        self.decided: set[int] = set()
        self.there: dict[tuple[int, str], Any] = {}
        self.barred: dict[tuple[int, str], bool] = {}
        """Whose the item is not: whether they made what it shows, else they have read what others said of it."""
        self.spelled: dict[str, set[str]] = defaultdict(set)
        self.are_simulated: dict[str, bool] = {}
        people = Person.objects.filter(is_external=True, memberships__project=batch.project_id)
        for name, is_simulated in people.values_list("name", "is_simulated"):
            self.spelled[normal(name).casefold()].add(normal(name))
            self.are_simulated[normal(name)] = is_simulated

    def loaded(
        self, lines: Iterator[tuple[int, dict[str, str]]], column: str
    ) -> Iterator[tuple[int, dict[str, str]]]:
        """The lines again, in each moment with everything here that the line is judged by; some are in memory at once."""
        while some := list(itertools.islice(lines, ROWS)):
            ids = {row[column].strip() for _, row in some} - {""}
            self._load(sorted(id for id in ids if unstorable(id) is None))
            yield from some

    def _load(self, chunk: list[str]) -> None:
        """What there is of the items on these examples, in place of those before."""
        for held in (self.by_example, self.room, self.decided, self.there, self.barred):
            held.clear()
        # Examples are found by source and id, items by example: by indexes, however many items the batch has.
        named = Example.objects.filter(source__in=self.sources, external_id__in=chunk)
        examples = {example.pk: example for example in named.prefetch_related("stored_table")}
        keys = []
        items = Item.objects.filter(among("example", examples), batch=self.batch).order_by("pk")
        for pk, key, is_gold, inputs in items.values_list("pk", "example_id", "is_gold", "inputs"):
            example = examples[key]
            self.by_example[example.external_id].append(_Item(pk, example, is_gold, inputs, self.batch))
            keys.append(pk)
        free = Place.objects.filter(among("item", keys), taken=False, added=False, reserved_for__isnull=True)
        self.room.update(free.values_list("item_id", flat=True))
        self.decided.update(Decision.objects.filter(among("item", keys)).values_list("item_id", flat=True))
        given = Assignment.objects.filter(
            among("item", keys), person__is_external=True, annotation__isnull=False
        )
        for item_id, name, response in given.values_list("item_id", "person__name", "annotation__response"):
            self.there[item_id, normal(name)] = response
        barred = Exclusion.objects.filter(among("item", keys))
        for item_id, name, read_at in barred.values_list("item_id", "person__name", "read_at"):
            self.barred[item_id, normal(name)] = read_at is None

    def require_one_spelling(self, annotator: str) -> None:
        """Names that differ in capital letters only are hardly two people: each would get a place of their own."""
        known = self.spelled[annotator.casefold()]
        if known and annotator not in known:
            raise _Wrong(
                gettext(
                    "{annotator!r} and {other!r} differ only in capital letters. Write each person's name "
                    "in one way, or make the names more distinct."
                ).format(annotator=annotator, other=min(known))
            )
        known.add(annotator)

    def require_one_kind(self, annotator: str, is_simulated: bool) -> None:
        """One name is a person or a program, in this file and in earlier ones."""
        if self.are_simulated.setdefault(annotator, is_simulated) == is_simulated:
            return
        if is_simulated:
            text = gettext(
                "{annotator!r} is simulated in this line, and a person in other lines or in the project. "
                "Give one of them another name."
            )
        else:
            text = gettext(
                "{annotator!r} is a person in this line, and simulated in other lines or in the project. "
                "Give one of them another name."
            )
        raise _Wrong(text.format(annotator=annotator))

    def find(self, example: str, source: str) -> _Item:
        if not example:
            raise _Wrong(gettext("The example is missing."))
        found = [item for item in self.by_example[example] if source in ("", self._source(item))]
        if not found:
            where = gettext(" from the source {source!r}").format(source=source) if source else ""
            raise _Wrong(
                gettext("The batch has no item for example {example!r}{where}.").format(
                    example=example, where=where
                )
            )
        if len(found) > 1:
            names = ", ".join(sorted(map(self._source, found)))
            raise _Wrong(
                gettext(
                    "Several sources have an example {example!r} ({names}). Add a column 'source'."
                ).format(example=example, names=names)
            )
        (item,) = found
        if item.is_gold:
            raise _Wrong(gettext("This is a gold item. Labels cannot be imported for it."))
        return item

    def _source(self, item: _Item) -> str:
        return self.sources[item.example.source_id]

    def has(self, label: Labelled) -> bool:
        """Whether this very response is there already; another one of the same person is refused."""
        if (label.item, label.annotator) not in self.there:
            return False
        if self.there[label.item, label.annotator] != label.response:
            raise _Wrong(
                gettext("{annotator} already has another response to this example.").format(
                    annotator=label.annotator
                )
            )
        return True

    def take(self, label: Labelled, taken: int) -> None:
        """Room for one more label, where so many of the file have been given room on the item."""
        if label.item in self.decided:
            raise _Wrong(gettext("This item has been decided. Responses can no longer be added."))
        if (label.item, label.annotator) in self.barred:
            raise _Wrong(
                gettext("{annotator} created this item and cannot review their own work.").format(
                    annotator=label.annotator
                )
                if self.barred[label.item, label.annotator]
                else gettext("{annotator} has read other responses to this item.").format(
                    annotator=label.annotator
                )
            )
        if self.room[label.item] <= taken:
            raise _Wrong(
                ngettext(
                    "The item has no free slot: its batch plans {overlap} response. Create a batch with "
                    "more people per item.",
                    "The item has no free slot: its batch plans {overlap} responses. Create a batch with "
                    "more people per item.",
                    self.batch.overlap,
                ).format(overlap=self.batch.overlap)
            )


# -- writing ----------------------------------------------------------------------------------------


@bulk.seldom_collected()
def write(
    *, batch: Batch, text: str, by: Person | None, now: datetime, columns: Columns | None = None
) -> Preview:
    """Read the file and write every label of it, or raise Refused and write none. The same file again adds nothing.

    Where the process is killed, nothing of the file is visible; the same file goes on where it stopped.
    """
    found = look(batch=batch, text=text, columns=columns)
    write_found(batch=batch, found=found, by=by, now=now)
    return found


def write_found(*, batch: Batch, found: Preview, by: Person | None, now: datetime) -> None:
    """Write every label that was looked at, or raise Refused and write none."""
    if found.troubles:
        first = found.troubles[0]
        more = len(found.troubles) + found.troubles_left_out - 1
        others = (
            ngettext(" ({more} more line has errors)", " ({more} more lines have errors)", more).format(
                more=more
            )
            if more
            else ""
        )
        refuse(
            "import_failed",
            "Line {line}: {message}{others} No labels were imported.",
            line=first.line,
            message=first.message,
            others=others,
        )
    if found.labels:
        staged = _stage(batch, found.labels, now)
        try:
            _publish(batch, staged, found.labels, by, now)
        except Refused:
            LabelImport.objects.filter(pk=staged.pk).delete()
            raise


def _stage(batch: Batch, labels: Labels, now: datetime) -> LabelImport:
    """Commit the labels page by page, where only the import reads them; an import of the same labels goes on."""
    names = sorted(labels.annotators)
    with transaction.atomic():
        locked = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)
        if locked.version != batch.version:
            refuse(
                "import_failed",
                "The definition of the task type changed during the import. Import the file again.",
            )
        LabelImport.objects.filter(batch=batch).exclude(digest=labels.digest).delete()
        staged, is_new = LabelImport.objects.get_or_create(
            batch=batch, digest=labels.digest, defaults={"started_at": now}
        )
        if is_new:
            rows = ((staged.pk, number, name) for number, name in enumerate(names))
            bulk.insert(StagedAnnotator, ["label_import_id", "number", "name"], rows)
    numbers = {name: number for number, name in enumerate(names)}
    for index, page in enumerate(labels.pages(ROWS)):
        _stage_page(staged, index * ROWS, page, numbers, now)
    return staged


def _stage_page(
    staged: LabelImport, start: int, page: Sequence[Kept], numbers: Mapping[str, int], now: datetime
) -> None:
    """Commit one page, the labels from `start` on, unless it is committed already."""
    with transaction.atomic():
        held = LabelImport.objects.select_for_update().filter(pk=staged.pk).first()
        if held is None:
            refuse(
                "import_failed",
                "Another import of labels into this batch started or ended meanwhile. Import the file "
                "again; existing labels stay unchanged.",
            )
        page = page[max(held.staged - start, 0) :]
        if not page:
            return
        start = held.staged
        assignments, annotations = bulk.keys(Assignment, len(page)), bulk.keys(Annotation, len(page))
        bulk.insert(
            StagedLabel,
            [
                *("label_import_id", "number", "item_key", "annotator", "said", "response"),
                *("made_at", "origin", "active_seconds", "assignment_key", "annotation_key"),
            ],
            (
                (
                    staged.pk,
                    start + place,
                    label.item,
                    numbers[label.annotator],
                    label.said,
                    label.response,
                    label.made_at or now,
                    label.origin,
                    label.seconds,
                    *keys,
                )
                for place, (label, *keys) in enumerate(zip(page, assignments, annotations, strict=True))
            ),
        )
        held.staged = start + len(page)
        held.save(update_fields=["staged"])


def _publish(batch: Batch, staged: LabelImport, labels: Labels, by: Person | None, now: datetime) -> None:
    """Make all labels visible in one transaction, and drop their pages.

    In the order of the queue: items, tallies by person, then assignments and their places. Rows are made of rows by the
    database, so that the transaction is short.
    """
    have_them_counted(StagedLabel)
    with transaction.atomic():
        if LabelImport.objects.select_for_update().filter(pk=staged.pk).first() is None:
            return  # somebody who imported the same file at the same time has made them visible
        guidelines = guidance.ensure(project=batch.project, task=batch.task(), now=now)
        _lock_items(array("q", labels.given.items()))
        people = {
            name: _person(batch, name, name in labels.simulated, now) for name in sorted(labels.annotators)
        }
        for person in sorted(people.values(), key=lambda person: person.pk):
            Tally.objects.get_or_create(batch=batch, person=person)
            Tally.objects.select_for_update(no_key=True).filter(batch=batch, person=person).values_list(
                "pk"
            ).first()
        for name, person in people.items():
            StagedAnnotator.objects.filter(label_import=staged, name=name).update(person_key=person.pk)
        _submit_all(batch, staged, by, guidelines, now)
        rows = StagedLabel.objects.filter(label_import=staged)
        counts = dict(rows.order_by().values_list("item_key").annotate(number=Count("pk")))
        _count(counts, due_at(batch, now + UNDO_WINDOW))
        for name, number in labels.annotators.items():
            Tally.objects.filter(batch=batch, person=people[name]).update(submitted=F("submitted") + number)
        events.log(batch, batch.state, "labels imported", by=by, now=now)
        staged.delete()


def _submit_all(
    batch: Batch, staged: LabelImport, by: Person | None, guidelines: Guidelines, now: datetime
) -> None:
    """Assignments with their events and annotations, each on the first free place of its item."""
    free = Place.objects.filter(batch=batch, taken=False, added=False, reserved_for__isnull=True)
    rows = StagedLabel.objects.filter(label_import=staged)
    locked = free.filter(item__in=rows.values("item_key")).order_by("item", "number")
    list(locked.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    try:
        with transaction.atomic():
            number = bulk.insert_from(
                Assignment,
                {
                    "id": "label.assignment_key",
                    "public_id": "label.assignment_public_id",
                    "batch_id": Value(batch.pk),
                    "item_id": "label.item_key",
                    "place_id": "room.id",
                    "person_id": "who.person_key",
                    "state": Value(Assignment.State.SUBMITTED.value),
                    "reason": Value("made elsewhere"),
                    "annotation_id": "label.annotation_key",
                    "said": "label.said",
                    "active_seconds": "label.active_seconds",
                    **dict.fromkeys(("leased_at", "leased_until", "seen_at", "ended_at"), "label.made_at"),
                },
                _ON_FREE_PLACES,
                [staged.pk, batch.pk],
            )
    except IntegrityError:
        number = 0
    if number != rows.count():
        refuse(
            "place_taken",
            "An annotator took a slot meanwhile. Check the file again. No labels were imported.",
        )
    bulk.insert_from(
        Event,
        {
            "project_id": Value(batch.project_id),
            "actor_id": Value(by.pk if by else None),
            "thing": Value("assignment"),
            "thing_id": "label.assignment_key",
            "after": Value(Assignment.State.SUBMITTED.value),
            "detail": "label.origin",
            "at": Value(now),
        },
        _LABELS + "ORDER BY label.number",
        [staged.pk],
    )
    bulk.insert_from(
        Annotation,
        {
            "id": "label.annotation_key",
            "public_id": "label.annotation_public_id",
            "assignment_id": "label.assignment_key",
            "revision": Value(1),
            "response": "label.response",
            "guidelines_id": Value(guidelines.pk),
            "made_at": "label.made_at",
            "active_seconds": "label.active_seconds",
            "event_id": "event.id",
        },
        _WITH_EVENTS,
        [staged.pk],
    )
    written = Assignment.objects.filter(pk__in=rows.values("assignment_key"))
    Place.objects.filter(pk__in=written.values("place")).update(taken=True)


_LABELS: Final = "FROM annotation_stagedlabel label WHERE label.label_import_id = %s "
_WITH_EVENTS: Final = (
    "FROM annotation_stagedlabel label "
    "JOIN annotation_event event ON event.thing = 'assignment' AND event.thing_id = label.assignment_key "
    "WHERE label.label_import_id = %s ORDER BY label.number"
)
_ON_FREE_PLACES: Final = (
    "FROM (SELECT *, row_number() OVER (PARTITION BY item_key ORDER BY number) AS turn "
    "FROM annotation_stagedlabel WHERE label_import_id = %s) label "
    "JOIN (SELECT id, item_id, row_number() OVER (PARTITION BY item_id ORDER BY number) AS turn "
    "FROM annotation_place WHERE batch_id = %s AND NOT taken AND NOT added AND reserved_for_id IS NULL) room "
    "ON room.item_id = label.item_key AND room.turn = label.turn "
    "JOIN annotation_stagedannotator who "
    "ON who.label_import_id = label.label_import_id AND who.number = label.annotator "
    "ORDER BY label.number"
)
"""The first label of an item gets its first free place, the second the second."""


def _lock_items(keys: Sequence[int]) -> None:
    for start in range(0, len(keys), ROWS):
        locked = Item.objects.select_for_update(no_key=True).filter(among("pk", keys[start : start + ROWS]))
        list(locked.order_by("pk").values_list("pk", flat=True))
    if _decided(keys):
        refuse("decided", "An item was decided meanwhile. Check the file again. No labels were imported.")


def _decided(keys: Sequence[int]) -> bool:
    return any(
        Decision.objects.filter(among("item", keys[start : start + ROWS])).exists()
        for start in range(0, len(keys), ROWS)
    )


def _count(per_item: Mapping[int, int], due: datetime | None) -> None:
    """The items' counters; those that are complete now may be resolved once the time for undo has passed."""
    by_number: dict[int, list[int]] = defaultdict(list)
    for key, number in per_item.items():
        by_number[number].append(key)
    for number, keys in by_number.items():
        for start in range(0, len(keys), ROWS):
            complete = When(places_count__lte=F("submitted_count") + number, then=Value(due))
            Item.objects.filter(among("pk", keys[start : start + ROWS])).update(
                submitted_count=F("submitted_count") + number,
                due_at=Case(complete, default=F("due_at"), output_field=DateTimeField()),
            )


def _person(batch: Batch, name: str, is_simulated: bool, now: datetime) -> Person:
    """The person elsewhere who is called so in this project: the same one for every file."""
    person = Person.objects.filter(
        is_external=True,
        name__in={name, unicodedata.normalize("NFD", name)},
        erased_at__isnull=True,
        memberships__project=batch.project_id,
    ).first()
    if person is None:
        person = Person.objects.create_person(
            name, is_external=True, is_simulated=is_simulated, is_active=False
        )
        membership = Membership.objects.create(project_id=batch.project_id, person=person)
        events.log(membership, "", "labels imported", by=None, now=now, project=batch.project_id)
    return person
