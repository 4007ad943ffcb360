"""The first examples of uploaded files as an import would read them, and the choices that a person can correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import tableqa
from annotation import uploads
from annotation.models import Project, Source, Upload
from annotation.work import continued_sources
from tableqa.language import reason_of, with_texts
from tableqa.readers import READERS, Describing, Mapped, Reader, ReaderError, Rejected, checked
from tableqa.readers import credit as credit_of
from tableqa.readers.detection import detected
from tableqa.readers.losses import columns_of, losses
from tableqa.readers.own_data import ONLY_SPLIT, OPTIONS, PARTS, REQUIRED, Layout, OwnData, guessed
from tableqa.readers.reader import Credit
from tableqa.readers.rejections import Problem, described
from tableqa.readers.split_names import split_in_name

SHOWN = 5
"""Examples of a preview."""
MOST_READ = 200
"""Records that are read for them, where many have problems."""


@dataclass(frozen=True)
class Preview:
    """What an import would read.

    fields    the names of columns and the options that differ from what is detected; what an import takes
    problems  of the records that were read for the preview
    losses    what the import would not keep
    continues name of the source whose rejected records the file holds; "" where they have no ids of their own
    """

    reader: str
    layout: Layout = field(default_factory=Layout)
    fields: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[tableqa.Example, ...] = ()
    problems: tuple[Problem, ...] = ()
    credit: Credit = field(default_factory=lambda: Credit("NOASSERTION", "", ""))
    read_as: str = ""
    continues: str = ""
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """What a person chose for the columns of a file: {part: name} with "" for none, and {option: text}.

    `columns` are those that they chose from; after another separator the file may have others. () takes any.
    """

    parts: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


def preview(
    *,
    project: Project,
    questions: Upload,
    tables: Upload | None,
    reader: str = "",
    chosen: Chosen | None = None,
    named: Mapping[str, str] | None = None,
) -> Preview:
    """Read the first examples of uploaded files. Raises Refused(import_failed) where a file is gone or no archive.

    reader: "" detects it. chosen: for the reader own; None takes the columns of the last import of a file with the same
    ones. named: names of fields for other readers with custom names.
    """
    with uploads.on_disk(questions, tables, whole=False) as files:
        path = files.questions
        name = reader
        layout, fields = Layout(), dict(named or {})
        try:
            name = reader or detected(path)
            read = READERS[name]
            if isinstance(read, OwnData):
                read, layout, fields = _with_columns(project, read, path, files.tables, chosen)
            elif isinstance(read, Mapped) and fields:
                read = read.with_fields(fields)
            problems, examples = _first(read, path, files.tables, files.shown)
            credit = credit_of(read, path, files.tables)
            read_as = read.read_as(path, files.tables) if isinstance(read, Describing) else ""
            source = continued_sources.continued(project, Path(questions.name).stem, name, path)
            if source is not None:
                credit = continued_sources.inherited_credit(credit, source)
        except (ReaderError, ValueError) as error:
            problem = (
                described(error, files.shown)
                if isinstance(error, ReaderError)
                else Problem(questions.name, None, "", reason_of(error), "")
            )
            return Preview(name or "own", layout, fields, problems=(problem,))
        shown = with_texts(read_as, files.shown)
        has_ids = not isinstance(read, OwnData) or "id" in layout.parts
        continues = source.name if source is not None and has_ids else ""
        split = split_in_name(Path(questions.name))
        not_kept = losses(name, split, _columns_kept(layout, examples))
        return Preview(name, layout, fields, examples, problems, credit, shown, continues, not_kept)


def _columns_kept(layout: Layout, examples: Sequence[tableqa.Example]) -> set[str]:
    """The columns that stay in the meta, by the layout of a file and the first examples."""
    own = {name for name in layout.columns if name not in layout.parts.values()}
    split = {"split"} & layout.parts.keys()
    return own | split | columns_of(example.meta for example in examples)


def _first(
    read: Reader, path: Path, tables: Path, shown: Callable[[str], str]
) -> tuple[tuple[Problem, ...], tuple[tableqa.Example, ...]]:
    """The problems and the examples of the first records."""
    problems: list[Problem] = []
    examples: list[tableqa.Example] = []
    for outcome in islice(checked(read, path, tables, SHOWN), MOST_READ):
        if isinstance(outcome, Rejected):
            problems.append(described(outcome.error, shown))
        else:
            examples.append(outcome)
        if len(examples) == SHOWN:
            break
    return tuple(problems), tuple(examples)


def _with_columns(
    project: Project, own: OwnData, path: Path, tables: Path, chosen: Chosen | None
) -> tuple[OwnData, Layout, dict[str, str]]:
    """The reader with the columns that were chosen, the layout by it, and what differs from what is detected."""
    options = _differing_options(own, path, tables, chosen.options if chosen else {})
    columns = own.with_fields(options).layout(path, tables).columns
    parts: Mapping[str, str] = chosen.parts if chosen and chosen.columns in ((), columns) else {}
    if chosen is None:
        earlier = remembered(project, columns)
        options |= {name: earlier.pop(name) for name in OPTIONS if name in earlier}
        parts = earlier
    fields = {**differing(parts, columns), **options}
    read = own.with_fields(fields)
    return read, read.layout(path, tables), fields


def _differing_options(own: OwnData, path: Path, tables: Path, options: Mapping[str, str]) -> dict[str, str]:
    """The options that have to be said because they are not what is detected."""
    if not options:
        return {}
    usual = {"answer_separator": "|"}
    with suppress(ReaderError):  # what cannot be detected is said
        layout = own.layout(path, tables)
        separator = layout.separator.replace("\t", "\\t")
        encoding = layout.encoding.replace("utf-8-sig", "utf-8")
        usual |= {"separator": separator, "encoding": encoding, "table_encoding": layout.table_encoding}
    differing = {name: text for name, text in options.items() if text and text != usual.get(name)}
    if "encoding" in differing and options.get("table_encoding"):
        differing["table_encoding"] = options[
            "table_encoding"
        ]  # that of the questions is also that of tables
    return differing


def differing(parts: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """The columns of parts that have to be said because they are not guessed; names that no column has are left out."""
    known = {
        part: name for part, name in parts.items() if name in columns or (not name and part not in REQUIRED)
    }
    guess = guessed(columns, {})
    fields = {part: name for part, name in known.items() if name != guess.get(part, "")}
    taken = {**guessed(columns, fields), **fields}
    if any(taken.get(part, "") != name for part, name in known.items()):
        return known  # one choice changes the guess for another part
    return fields


def remembered(project: Project, columns: Sequence[str]) -> dict[str, str]:
    """The columns that were chosen in the last import of files with these columns, from its source; {} if none were."""
    sources = Source.objects.ready().filter(project=project, reader="own").order_by("-pk")
    for how in sources.values_list("how", flat=True)[:20]:
        fields: dict[str, str] = how.get("fields", {})
        named = [name for part, name in fields.items() if part in PARTS and name]
        if fields and all(name in columns for name in named):
            # The form of a file is detected for each file.
            of_files = ("separator", "encoding", "table_encoding", ONLY_SPLIT)
            return {part: name for part, name in fields.items() if part not in of_files}
    return {}
