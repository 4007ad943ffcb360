"""The first examples of files as an import would read them, and the choices that a person can correct."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

from tableqa.core.foreign_values import printable, printable_in
from tableqa.core.translation import reason_of, with_texts
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers import READERS, FormReportingReader, Reader, ReaderError, Rejection, checked_outcomes
from tableqa.readers import credit as credit_of
from tableqa.readers.column_names import PARTS, guess_columns
from tableqa.readers.doubtful_values import note_doubts
from tableqa.readers.format_detection import detect_reader
from tableqa.readers.ingestion import OF_FILES, ReadRequest, reader_with_fields, unpacking
from tableqa.readers.interface import Credit
from tableqa.readers.omissions import columns_of, losses
from tableqa.readers.own_data import OPTIONS, REQUIRED, Layout, OwnData
from tableqa.readers.reading_options import reading_options
from tableqa.readers.rejections import Problem, describe
from tableqa.readers.report import Report, about_columns, collect_notes, in_record
from tableqa.readers.split_names import split_in_name

SHOWN = 5
"""Examples of a preview."""
MOST_ROWS = 8
"""Rows of the table of an example."""
MOST_READ = 100
"""Records that are read for them and for the report."""
SECONDS_COUNTED = 0.3
"""Processor time in which records of a person's own data are counted."""


@dataclass(frozen=True)
class Preview:
    """What an import would read.

    fields    the names of columns and the options that differ from what is detected; what an import takes
    problems  of the records that were read for the preview
    losses    what the import would not keep
    report    of the first `MOST_READ` records
    rows      of the table of each example: the example has only the first `MOST_ROWS`
    has_ids   whether the records have ids of their own
    continues name of the source whose rejected records the file holds; "" where they have no ids of their own
    """

    reader: str
    layout: Layout = field(default_factory=Layout)
    fields: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Example] = ()
    problems: Sequence[Problem] = ()
    credit: Credit = field(default_factory=lambda: Credit("NOASSERTION", "", ""))
    read_as: str = ""
    has_ids: bool = False
    continues: str = ""
    losses: Sequence[str] = ()
    rows: Sequence[int] = ()
    report: Report = field(default_factory=Report)


@dataclass(frozen=True)
class ChosenColumns:
    """What a person chose for the columns of a file: {part: name} with "" for none, and {option: text}.

    `columns` are those that they chose from; after another separator the file may have others. () takes any.
    """

    parts: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[str] = ()


def preview(request: ReadRequest, progress: Callable[[int], None] = lambda done: None) -> Preview:
    """Read the first examples; a reader without a name is detected. ReaderError where an archive cannot be unpacked."""
    path = Path(request.path)
    with reading_options(request.fields), unpacking(request) as tables:
        name = request.reader
        layout, fields = Layout(), dict(request.fields)
        try:
            name = name or detect_reader(path)
            read = READERS[name]
            if isinstance(read, OwnData):
                read, layout, fields = _with_columns(request, read, path, tables)
            else:
                read = reader_with_fields(name, fields)
            problems, examples, report = _first_outcomes(read, path, tables, request)
            credit = credit_of(read, path, tables)
            read_as = read.read_as(path, tables) if isinstance(read, FormReportingReader) else ""
        except (ReaderError, ValueError) as error:
            problem = (
                describe(error, request.shown, request.by_command)
                if isinstance(error, ReaderError)
                else Problem(path.name, None, "", printable(reason_of(error)), "")
            )
            return Preview(name or "own", layout, fields, problems=(problem,))
        return Preview(
            name,
            layout,
            fields,
            [example.over(first_rows(example.table)) for example in examples],
            problems,
            credit,
            printable(with_texts(read_as or about_columns(report.columns), request.shown)),
            has_ids=not isinstance(read, OwnData) or "id" in layout.parts,
            losses=losses(name, split_in_name(path), _columns_kept(layout, examples)),
            rows=[len(example.table.rows) for example in examples],
            report=report,
        )


def first_rows(table: Table) -> Table:
    """The table with as many rows as a preview shows."""
    if len(table.rows) <= MOST_ROWS:
        return table
    return Table(table.header, table.rows[:MOST_ROWS], table.title, table.caption)


def _columns_kept(layout: Layout, examples: Sequence[Example]) -> set[str]:
    """The columns that stay in the meta, by the layout of a file and the first examples."""
    own = {name for name in layout.columns if name not in layout.parts.values()}
    split = {"split"} & layout.parts.keys()
    return own | split | columns_of(example.meta for example in examples)


def _first_outcomes(
    read: Reader, path: Path, tables: Path | None, request: ReadRequest
) -> tuple[tuple[Problem, ...], tuple[Example, ...], Report]:
    """The problems of the first records, the first examples, and the report of these records."""
    problems: list[Problem] = []
    examples: list[Example] = []
    seen: set[str] = set()
    good = 0
    with collect_notes() as notes:
        outcomes = checked_outcomes(read, path, tables)
        for outcome in islice(outcomes, MOST_READ):
            if isinstance(outcome, Rejection):
                in_record(outcome.error.line or 0, "")
                problems.append(describe(outcome.error, request.shown, request.by_command))
                continue
            good += 1
            note_doubts(outcome, outcome.table.digest() not in seen)
            seen.add(outcome.table.digest())
            if len(examples) < SHOWN:
                examples.append(outcome)
    report = notes.report(good, len(problems))
    if report.records == MOST_READ and isinstance(read, OwnData):
        report.records, report.is_counted = read.records_count(path, tables, SECONDS_COUNTED)
    elif next(outcomes, None) is not None:
        report.records, report.is_counted = report.records + 1, False
    return tuple(problems), tuple(examples), report


def _with_columns(
    request: ReadRequest, own: OwnData, path: Path, tables: Path | None
) -> tuple[OwnData, Layout, dict[str, str]]:
    """The reader with the columns that were chosen, the layout by it, and what differs from what is detected."""
    chosen = ChosenColumns(**request.chosen) if request.chosen is not None else None
    options = _differing_options(own, path, tables, chosen.options if chosen else {})
    columns = own.with_fields(options).layout(path, tables).columns
    parts: Mapping[str, str] = chosen.parts if chosen and tuple(chosen.columns) in ((), columns) else {}
    if chosen is None:
        earlier = dict(request.fields) or _columns_of_last_import(request.earlier, columns)
        options |= {name: earlier.pop(name) for name in OPTIONS if name in earlier}
        parts = earlier
    fields = {**unguessed_columns(parts, columns), **options}
    read = own.with_fields(fields)
    layout = read.layout(path, tables)
    # A name that cannot be stored is shown escaped. Its records have a problem, so it cannot be chosen.
    return read, Layout(**printable_in(asdict(layout))), fields


def _differing_options(
    own: OwnData, path: Path, tables: Path | None, options: Mapping[str, str]
) -> dict[str, str]:
    """The options that have to be said because they are not what is detected."""
    if not options:
        return {}
    usual = {"answer_separator": "|", "header_row": "1"}
    with suppress(ReaderError):  # undetected parts are reported
        layout = own.layout(path, tables)
        separator = layout.separator.replace("\t", "\\t")
        encoding = layout.encoding.replace("utf-8-sig", "utf-8")
        usual |= {"separator": separator, "encoding": encoding, "table_encoding": layout.table_encoding}
    differing = {name: text for name, text in options.items() if text and text != usual.get(name)}
    if "encoding" in differing and options.get("table_encoding"):
        # That of the questions is also that of tables.
        differing["table_encoding"] = options["table_encoding"]
    return differing


def unguessed_columns(parts: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """The columns of parts that have to be said because they are not guessed; names that no column has are left out."""
    present_parts = {
        part: name for part, name in parts.items() if name in columns or (not name and part not in REQUIRED)
    }
    guess = guess_columns(columns, {})
    fields = {part: name for part, name in present_parts.items() if name != guess.get(part, "")}
    resolved_parts = {**guess_columns(columns, fields), **fields}
    if any(resolved_parts.get(part, "") != name for part, name in present_parts.items()):
        return present_parts  # one choice changes the guess for another part
    return fields


def _columns_of_last_import(earlier: Sequence[Mapping[str, str]], columns: Sequence[str]) -> dict[str, str]:
    """The columns that were chosen in the last import of files with these columns; {} if none were."""
    for fields in earlier:
        named = [name for part, name in fields.items() if part in PARTS and name]
        if fields and all(name in columns for name in named):
            # The form of a file is detected for each file.
            return {part: name for part, name in fields.items() if part not in (*OF_FILES, "table_encoding")}
    return {}
