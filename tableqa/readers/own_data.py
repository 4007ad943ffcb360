"""A person's own data as a spreadsheet or a script writes it: columns of any name, any separator, tables inside or beside.

docs/reference/readers.md describes the forms and what is decided for each.
"""

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tableqa.core.disk_collections import Shelf
from tableqa.core.foreign_values import in_column
from tableqa.core.translation import gettext_noop, joined, phrase, word
from tableqa.data.examples import Example
from tableqa.readers import arrow, hub_folder, wikisql
from tableqa.readers.archive import is_archive, unpacked, with_archive_name
from tableqa.readers.cell_tables import highlighted_ids, is_totto, without_question
from tableqa.readers.class_labels import with_label_names
from tableqa.readers.column_names import PARTS, is_header, parts_of
from tableqa.readers.dataset_card import README
from tableqa.readers.delimited import named_rows, read_delimited
from tableqa.readers.example_parts import passage_of
from tableqa.readers.header_rows import check_header_row
from tableqa.readers.interface import Credit, Ids, ReaderError, Rejection, TolerantReader
from tableqa.readers.json_values import plain
from tableqa.readers.mapped_records import check_fields, example_of_columns, text_in
from tableqa.readers.open_document import open_workbook
from tableqa.readers.own_tables import OwnTables
from tableqa.readers.plain_copies import plain_copy
from tableqa.readers.question_files import first_row, is_page, questions_of, rows_of_page, sheets_of_questions
from tableqa.readers.reading_options import READING, offering, option, reading_options, with_options
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.record_forms import (
    gold_in,
    is_json,
    lists_of_gold,
    nested_names,
    part_of_object,
    questions_in,
    records_inside,
    with_nested,
    with_unboxed_texts,
)
from tableqa.readers.record_tables import file_named
from tableqa.readers.records import corrected_record, each_record
from tableqa.readers.repeated_ids import add_id, is_same_question, joined_answers
from tableqa.readers.report import about_columns, note, stripped
from tableqa.readers.split_names import check_split
from tableqa.readers.table_encodings import TableEncoding
from tableqa.readers.text_form import TextForm, check_separator, may_have_row_names, text_form, text_lines
from tableqa.readers.workbook import Sheet, is_open_document, is_workbook, starts_as_zip
from tableqa.writers.hub_features import is_release_record

OPTIONS = ("separator", "encoding", "table_encoding", "answer_separator", "header_row", *READING)
"""What can be said of a file beside the names of its columns."""
ONLY_SPLIT = "only_split"
"""The option of the one split of a dataset that is read."""

REQUIRED = (gettext_noop("question"), gettext_noop("table"))
"""Parts without which there is no example."""
MOST_FOR_ENCODING = 5_000
"""Records whose table files are compared to guess their encoding."""
MOST_COMPARED = 50
"""Records of which the names of fields are collected: those of JSON may differ."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file of questions is laid out: its columns, which of them is which part, and the form of a text file.

    `encoding` and `separator` are "" where the file is not text in columns, `table_encoding` where all table files tell
    theirs.
    """

    columns: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    separator: str = ""
    table_encoding: str = ""


@dataclass(eq=False)
class OwnData(TolerantReader):
    """The reader "own"; see `tableqa.readers.interface.Reader`.

    Which columns are the question, the table and the answers is known by usual names, or said (`with_fields`), as are the
    options `separator`, `encoding`, `table_encoding`, `answer_separator` and `header_row`. A column that no part is made of
    goes into meta. An id that repeats is refused; without a column of ids an example has the number of its record.
    """

    name: str = "own"
    title: str = gettext_noop("Your own data: CSV, Excel, JSON and similar files")
    rest_form: str = ""
    beside: str = gettext_noop("the files of the tables, if a column names them")
    fields: Mapping[str, str] = field(default_factory=dict)

    def with_fields(self, fields: Mapping[str, str]) -> "OwnData":
        """The same reader for columns of these names, {part or option: name}, "" for none; ValueError for an unknown one."""
        check_fields(fields, (*PARTS, *OPTIONS, ONLY_SPLIT))
        separator = (fields.get("separator") or ",").replace("\\t", "\t")
        check_separator(separator)
        check_header_row(fields.get("header_row", ""))
        if fields.get("separator"):
            fields = {**fields, "separator": separator}
        if absent := [part for part in REQUIRED if fields.get(part) == ""]:
            raise ValueError(phrase("a column for the {part} is needed", part=word(absent[0])))
        return dataclasses.replace(self, fields=dict(fields))

    def with_split(self, split: str, path: Path, tables: str | Path | None = None) -> "OwnData":
        """The same reader for one split of the dataset at `path`, or itself where that has no splits; ReaderError."""
        with self._opened(path, tables) as (questions, _):
            names = hub_folder.splits(questions) if hub_folder.is_dataset(questions) else []
        if len(names) < 2:
            return self
        check_split(path, split, names)
        return dataclasses.replace(self, fields={**self.fields, ONLY_SPLIT: split})

    def _every_outcome(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        return with_options(self.fields, self._outcomes(path, tables))

    def _outcomes(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        with (
            self._located(path, tables) as (file, folder),
            self._plain_copy(file, folder) as (questions, beside),
        ):
            if path != file or file.is_dir():
                _refuse_wikisql(file)
            for result in joined_answers(self._of_questions(questions, beside)):
                if isinstance(result, Rejection):
                    result = _with_known_path(result, questions, file, folder, path)
                yield result

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The file of questions, then each table that it names and that is there, or the archive of all; ReaderError."""
        if is_archive(Path(path)):
            yield Path(path)
            return
        with reading_options(self.fields), self._located(Path(path), tables) as (data_path, folder):
            if hub_folder.is_dataset(data_path):
                yield from (file for file, _ in self._data_files(data_path))
            else:
                yield from questions_of(data_path, self._fits) if data_path.is_dir() else [data_path]
            with self._plain_copy(data_path, folder) as (questions, beside):
                yield from self._named_tables(questions, beside, None)

    def _named_tables(self, path: Path, folder: str | Path | None, most: int | None) -> Iterator[Path]:
        """Each table file that the first `most` records name and that is there, once."""
        tables = OwnTables(path, folder, TableEncoding("", lambda: iter(())))
        if tables.has_no_files():
            return
        with suppress(ReaderError):  # reading tells the problems, and those of all records
            for name, line in self._table_names(path, most):
                with suppress(ReaderError):
                    if (file := tables.file(name, line)) is not None:
                        yield file

    def _table_names(self, path: Path, most: int | None) -> Iterator[tuple[str, int]]:
        """Each sheet or file that the first `most` records name as their table, once, and the line that names it."""
        seen: Shelf[str, int] = Shelf()
        for record in islice(self._each_record(path), most):
            with suppress(ReaderError):
                if isinstance(record, Fields):
                    name = file_named(in_column(record.value, _columns(record, self.fields).get("table")))
                    if name is not None and seen.add(name, 1):
                        yield name, record.place.line

    def _table_encoding(self, path: Path, tables: str | Path | None) -> TableEncoding:
        chosen = self.fields.get("table_encoding") or self.fields.get("encoding", "")
        return TableEncoding(chosen, lambda: self._named_tables(path, tables, MOST_FOR_ENCODING))

    def layout(self, path: str | Path, tables: str | Path | None = None) -> Layout:
        """How the file of questions is laid out, as stated, else as detected; ReaderError."""
        with self._opened(Path(path), tables) as (questions, folder):
            values: dict[str, Any] = {}
            for record in islice(self._each_record(questions), MOST_COMPARED):
                values |= (record.record or {}) if isinstance(record, Rejection) else record.value
            names = nested_names(values)
            parts = parts_of(names, self.fields)
            if "context" not in self.fields and _is_no_passage(in_column(values, parts.get("context"))):
                del parts["context"]
            encoding = self._table_encoding(questions, folder)
            of_tables = (encoding.chosen or encoding.shared.encoding) if encoding.shared else ""
            if _kind_of(questions) != "text":
                return Layout(tuple(names), parts, table_encoding=of_tables)
            form = _form(questions, self.fields)
            return Layout(tuple(names), parts, form.encoding, form.separator, of_tables)

    def read_as(self, path: str | Path, tables: str | Path | None = None) -> str:
        """How the file of questions was understood: separator, encoding, and which column is which; ReaderError."""
        with self._opened(Path(path), tables) as (questions, folder):
            name = (Path(path) if questions.is_dir() else questions).name
            form = _sentence(questions, name, self.fields)
            first = next(self._records(questions), None)
            columns = _columns(first, self.fields) if first else {}
            if first and _is_no_passage(in_column(first.value, columns.get("context"))):
                del columns["context"]
            of_tables = self._table_encoding(questions, folder).sentence()
        return joined([form, of_tables, about_columns(columns)])

    def records_count(self, path: Path, tables: str | Path | None, seconds: float) -> tuple[int, bool]:
        """How many records so much processor time counts, in hundreds, and whether these are all; ReaderError."""
        count, until = 0, time.process_time() + seconds
        with self._opened(path, tables) as (questions, _):
            records = self._each_record(questions)
            while hundred := sum(1 for _ in islice(records, 100)):
                count += hundred
                if time.process_time() > until:
                    return count, False
        return count, True

    @contextmanager
    def _opened(self, path: Path, tables: str | Path | None) -> Iterator[tuple[Path, str | Path | None]]:
        """The file of questions or its plain copy, and the folder of the tables where it is another, with the options."""
        with (
            reading_options(self.fields),
            self._located(path, tables) as pair,
            self._plain_copy(*pair) as files,
        ):
            yield files

    @contextmanager
    def _plain_copy(self, path: Path, tables: str | Path | None) -> Iterator[tuple[Path, str | Path | None]]:
        with plain_copy(path, self.fields.get("encoding", "")) as questions:
            yield questions, path.parent if questions != path and tables is None else tables

    @contextmanager
    def _located(self, path: Path, tables: str | Path | None) -> Iterator[tuple[Path, str | Path | None]]:
        """The file of questions, and the folder of the tables where it is another; an archive holds both."""
        with unpacked(path) if is_archive(path) else nullcontext(path) as folder:
            questions = self._questions(folder)
            beside = folder if folder in questions.parent.parents else None
            yield questions, beside if folder != path or tables is None else tables

    def _of_questions(self, path: Path, tables: str | Path | None) -> Iterator[Example | Rejection]:
        ids = Ids(path)
        encoding = self._table_encoding(path, tables)
        own_tables = OwnTables(path, tables, encoding, self.fields.get("header_row", ""))
        lists = lists_of_gold(
            lambda: (record for record in self._each_record(path) if isinstance(record, Fields)),
            lambda record, part: in_column(record.value, _columns(record, self.fields).get(part)),
        )
        record_number = 0
        before: Example | None = None
        parts: set[str] = set()
        for record_number, record in enumerate(self._each_record(path), start=1):
            if isinstance(record, Rejection):
                yield record
                continue
            columns: dict[str, str] = {}
            example_id = ""
            try:
                record = corrected_record(record)
                columns = _columns(record, self.fields)
                record = with_unboxed_texts(record, columns)
                _require_parts(record, columns, parts)
                parts |= columns.keys()
                example_id = _id(record, columns.get("id"), record_number)
                separator = self.fields.get("answer_separator", "")
                answers = gold_in(record, columns, separator, lists)
                read = _example(record, columns, example_id, own_tables, answers)
                is_further = before is not None and is_same_question(before, read)
                if not (is_further and option("rows")):
                    add_id(ids, example_id, record.place, "id" in columns, is_further)
                before = read
                yield read
            except ReaderError as error:
                part_of_object(error, columns, record.value)
                sheets = [] if parts else own_tables.visible_sheets[:10]
                if len(sheets) > 1 and not columns.keys() >= {"question", "table"}:
                    offering(error, "questions", *sheets)
                error.record = example_id if "id" in columns else ""
                yield Rejection(error, record.value)
        if not record_number:
            mend = phrase("Give each question a row or record")
            raise ReaderError(path, None, phrase("the file contains no questions"), mend)

    def _questions(self, path: Path) -> Path:
        """The file of questions itself, the one in a folder, or a folder all of whose files are read; ReaderError."""
        if not path.is_dir():
            return path
        if hub_folder.is_dataset(path):
            beside = [file for file in hub_folder.files_beside_splits(path) if self._fits(file)]
            return _beside_splits(path, beside[0], self._fits) if beside else path
        files = questions_of(path, self._fits)
        return files[0] if len(files) == 1 else path

    def _fits(self, path: Path) -> bool:
        try:
            first = next(self._records(path), None)
            return first is not None and {"question", "table"} <= _columns(first, self.fields).keys()
        except ReaderError:
            return False

    def _records(self, path: Path) -> Iterator[Fields]:
        for record in self._each_record(path):
            if isinstance(record, Rejection):
                raise record.error
            yield record

    def credit(self, path: Path, tables: Path | None = None) -> Credit:
        """The licence and credit that a dataset names, else none; ReaderError."""
        with self._opened(path, tables) as (questions, _):
            if hub_folder.is_dataset(questions):
                return hub_folder.credit(questions)
            if path.is_dir() or is_archive(path):
                folder = questions.parent
                has_card = (folder / README).is_file() or folder == path
                return hub_folder.credit(folder if has_card else folder.parent)
        return Credit(self.licence, self.citation, self.url)

    def _data_files(self, path: Path) -> Iterator[tuple[Path, str]]:
        return hub_folder.data_files(path, self.fields.get(ONLY_SPLIT, ""))

    def _of_dataset(self, path: Path) -> Iterator[Fields | Rejection]:
        """The records of a Parquet file or a folder of a dataset, with the split that they are in."""
        labels = hub_folder.class_labels(path)
        for file, split in self._data_files(path):
            is_binary = file.suffix.lower() in arrow.COLUMNAR
            if is_binary:
                records: Iterator[Fields | Rejection] = (
                    Fields(Location(file, row, record=row), record)
                    for row, record in enumerate(arrow.records_of(file, labels), start=1)
                )
            else:
                records = self._each_record(file)
            for record in records:
                if isinstance(record, Fields):
                    if not is_binary:
                        record = Fields(record.place, with_label_names(record.value, labels))
                    if is_release_record(record.value):
                        mend = phrase("Choose the format hf, or parquet for a single file")
                        raise ReaderError(path, None, phrase("this is a release of Askew"), mend)
                    if split and "split" not in record.value:
                        record = Fields(record.place, {**record.value, "split": split})
                yield record

    def _each_record(self, path: Path) -> Iterator[Fields | Rejection]:
        """Each question with its columns, wherever the file holds it and its table."""
        question, table = self.fields.get("question", ""), self.fields.get("table", "")
        chosen = [name for part, name in self.fields.items() if part in PARTS]
        for record in self._stored_records(path):
            if isinstance(record, Rejection):
                yield record
            else:
                yield from questions_in(with_nested(record, chosen), question, table)

    def _stored_records(self, path: Path) -> Iterator[Fields | Rejection]:
        match _kind_of(path):
            case "dataset":
                return self._of_dataset(path)
            case "folder":
                return chain.from_iterable(map(self._stored_records, questions_of(path, self._fits)))
            case "workbook":
                return _rows_of_workbook(path, self.fields)
            case "page":
                encoding = TableEncoding(self.fields.get("encoding", ""), lambda: iter(())).of(path)
                return named_rows(path, rows_of_page(path, "".join(text_lines(path, encoding))))
            case "json":
                return self._of_json(path)
        form = _form(path, self.fields)
        rows = read_delimited(path, form.separator, form.encoding, True, form.comments)
        return named_rows(path, rows, has_row_names=may_have_row_names(path, form))

    def _of_json(self, path: Path) -> Iterator[Fields | Rejection]:
        if (inner := records_inside(path, self.fields.get("question", ""))) is not None:
            return (Fields(Location(path, 1, record=at), record) for at, record in enumerate(inner, start=1))
        records = each_record(path, is_header=partial(is_header, fields=self.fields))
        return (Rejection(each, {}) if isinstance(each, ReaderError) else each.fields for each in records)


def _kind_of(path: Path) -> str:
    """What holds the questions: "dataset", "folder", "workbook", "page", "json", or "text" in columns."""
    kinds: tuple[tuple[str, Callable[[Path], bool]], ...] = (
        ("dataset", hub_folder.is_dataset),
        ("folder", Path.is_dir),
        ("workbook", is_workbook),
        ("page", is_page),
        ("json", is_json),
    )
    return next((kind for kind, fits in kinds if fits(path)), "text")


def _example(
    record: Fields, columns: Mapping[str, str], example_id: str, tables: OwnTables, answers: tuple[str, ...]
) -> Example:
    """The example of a record whose columns are known; ReaderError."""
    value = record.value
    title, caption = (text_in(record, columns.get(part)) for part in ("title", "caption"))
    table, file = tables.of_record(record, columns["table"], title, caption)
    further: dict[str, Any] = {} if file is None else {"table": file}
    table_value, highlighted = value[columns["table"]], value.get("highlighted_cells")
    if is_totto(table_value) and highlighted is not None:
        further["highlighted_cells"] = highlighted_ids(record.place, table_value, highlighted)
    if "split" in columns and value.get(columns["split"]) is not None:
        further["split"] = plain(value[columns["split"]])
    question = _question(record, columns["question"])
    return example_of_columns(record, columns, example_id, question, table, answers, further)


def _columns(record: Fields, fields: Mapping[str, str]) -> dict[str, str]:
    """Which column is which part: as a person said, else by its name."""
    for name in filter(None, map(fields.get, PARTS)):
        record.required(name)
    return parts_of(record.value, fields)


def _refuse_wikisql(questions: Path) -> None:
    """ReaderError for the files of WikiSQL, whose answers and tables only its own reader knows."""
    folder = questions if questions.is_dir() else questions.parent
    if wikisql.holds_release(folder):
        raise ReaderError(
            folder,
            None,
            phrase("this is WikiSQL"),
            phrase("Choose the format WikiSQL"),
            phrase("Name its reader: --reader wikisql"),
        )


def _beside_splits(folder: Path, questions: Path, fits: Callable[[Path], bool]) -> Path:
    """A file of questions in a dataset, where files named by splits are its tables; ReaderError where they are none."""
    splits = [file.name for file, _ in hub_folder.data_files(folder) if fits(file)]
    if not splits:
        return questions
    if splits[0].lower().endswith(arrow.COLUMNAR):
        return folder
    what = phrase(
        "there are questions in {file} and in files of splits: {names}",
        file=questions.name,
        names=", ".join(splits),
    )
    mend = phrase("Leave out one of them, or name the files in README.md under data_files")
    raise ReaderError(folder, None, what, mend)


def _form(path: Path, fields: Mapping[str, str]) -> TextForm:
    """How a text file is to be read, as stated, else as detected; ReaderError."""
    if path.suffix.lower() == ".xlsx" and starts_as_zip(path):
        mend = phrase("Open it in Excel and save it again as .xlsx")
        raise ReaderError(path, None, phrase("the Excel file is damaged"), mend)
    names = {name for synonyms in PARTS.values() for name in synonyms}
    mapped_names = {fields[part] for part in PARTS if part in fields}
    return text_form(path, fields.get("encoding", ""), fields.get("separator", ""), [*names, *mapped_names])


def _sentence(path: Path, name: str, fields: Mapping[str, str]) -> str:
    """In which form a file or dataset of this name is read; "" for JSON."""
    kind = _kind_of(path)
    if kind == "dataset":
        return hub_folder.sentence(path, name)
    if kind == "workbook":
        sheets = sheets_of_questions(open_workbook(path), fields)
        values = {"file": path.name, "name": ", ".join(sheet.name for sheet in sheets)}
        if is_open_document(path):
            return phrase(
                "{file} was read as an OpenDocument file with its questions in the sheet {name!r}.", **values
            )
        return phrase("{file} was read as an Excel file with its questions in the sheet {name!r}.", **values)
    return _form(path, fields).sentence(path) if kind == "text" else ""


def _is_no_passage(value: object) -> bool:
    """Whether a value can be no context, so that it stays in the meta."""
    return value is not None and passage_of(value) is None


def _with_known_path(
    outcome: Rejection, questions: Path, data_path: Path, tables: str | Path | None, path: Path
) -> Rejection:
    """A rejection with the file or archive that people know, in place of its plain copy and the folder of the archive."""
    error = outcome.error
    if questions != data_path:
        error = with_archive_name(error, str(questions), str(data_path))
    if is_archive(path):
        folder = tables or (data_path if data_path.is_dir() else data_path.parent)
        error = with_archive_name(error, str(folder), path.name)
    return Rejection(error, outcome.record)


def _rows_of_workbook(path: Path, fields: Mapping[str, str]) -> Iterator[Fields | Rejection]:
    workbook = open_workbook(path)
    if hidden := [name for name in workbook.sheet_names if name not in workbook.visible_names]:
        note("hidden_sheets", ", ".join(hidden), len(hidden), line=1)
    for sheet in sheets_of_questions(workbook, fields):
        yield from _rows_of_sheet(path, sheet, first_row(sheet, fields))


def _rows_of_sheet(path: Path, sheet: Sheet, first: int) -> Iterator[Fields | Rejection]:
    """The rows of a sheet of questions from that of its header on; ReaderError for merged cells."""
    sheet.note_doubts()
    sheet.unmerge(first)
    if first:
        note("titles", " ".join(filter(None, chain(*sheet.rows[:first]))), first, line=1)
    return named_rows(path, enumerate(sheet.rows[first:], start=first + 1))


def _require_parts(record: Fields, columns: Mapping[str, str], earlier: Collection[str]) -> None:
    """ReaderError where a record has no question or no table; `earlier` are the parts of the records before it."""
    for part in ("question", "table"):
        if part in columns:
            continue
        if part in earlier:
            what = phrase("this record has no {part}, unlike those before it", part=word(part))
            raise record.place.error(what, phrase("Add it, or leave the record out"))
        if part == "question" and "sentence_annotations" in record.value:
            raise without_question(record)
        column_names = ", ".join(nested_names(record.value)[:12]) or "none"
        what = phrase("Choose its column. The columns are: {there}", there=column_names)
        mend = phrase(
            "Name it: --field {part}=COLUMN. The columns are: {there}", part=part, there=column_names
        )
        raise record.place.error(phrase("no column is known as the {part}", part=word(part)), what, mend)


def _id(record: Fields, column: str | None, record_number: int) -> str:
    if column is None:
        return str(record_number)
    if str(record.value.get(column)).strip() == "":
        mend = phrase("Give each question its own id")
        raise record.error(column, phrase("{field} is empty", field=column), mend)
    return stripped(record.name(column))


def _question(record: Fields, column: str) -> str:
    """The question of a record; ReaderError where it is blank."""
    question = record.text(column)
    if not question.strip():
        mend = phrase("Write the question, or remove the record")
        raise record.error(column, phrase("{field} is empty", field=column), mend)
    return question


READER = OwnData()
