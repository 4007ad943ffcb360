"""What a program means: the answers that it gives on a table, and the cells that they rest on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, DecimalException, localcontext
from typing import Any

from tableqa.core.translation import gettext
from tableqa.data.tables import Table, default_ids
from tableqa.operations import Transpose, replay
from tableqa.programs.cell_readings import (
    CellReading,
    Key,
    amount,
    contains,
    kind_of_column,
    order,
    reading,
    same,
    year_in,
)
from tableqa.programs.syntax import (
    Add,
    Aggregate,
    AllRows,
    Beside,
    Cell,
    Choice,
    Comparison,
    Count,
    CountDifferent,
    Divide,
    Extreme,
    Holds,
    Minus,
    MostCommon,
    Multiply,
    Node,
    Number,
    Percent,
    Pick,
    Place,
    Program,
    ProgramError,
    RoundedValue,
    Rows,
    Select,
    Subtract,
    Those,
    Where,
    Year,
    from_dict,
)

_DECIMALS = 6
"""Digits after the point that a number is given with, unless the program rounds it."""

_ARITHMETIC = Context(prec=50)


def run(program: Program | Mapping[str, Any], table: Table) -> list[str]:
    """The answers that `program` gives on `table`, each once; the program or its JSON.

    Numbers are given in plain digits with at most six after the point, texts as they are in the table. An edit that
    moves rows or columns, renames columns or exchanges rows and columns changes nothing, unless the program asks for
    the order of rows or for the name of a column. (That rows and columns were exchanged is seen by the columns that the
    program names; one that only counts all rows names none.)

    Raises ProgramError with a sentence for the page where the program cannot be run: a cell has been removed or is no
    number any more, nothing fits its conditions, a division by 0.
    """
    return list(_evaluate(program, table)[0])


def attempt(program: Program | Mapping[str, Any], table: Table) -> list[str] | ProgramError:
    """What `run` gives, or the error that it ends with: what `contracts.check` takes as `computed`."""
    try:
        return run(program, table)
    except ProgramError as error:
        return error


def rows_of(rows: Rows, table: Table) -> list[int]:
    """The places, from the top, of the rows that a choice of rows takes on `table`. Raises ProgramError."""
    return _Evaluation(table).rows(rows)


def reads(program: Program | Mapping[str, Any], table: Table) -> frozenset[tuple[str, str]]:
    """(row id, column id) of the cells that the answers rest on: those that must stay where a table is shortened.

    Of a condition, the cells of the rows that meet it; of an aggregation or a superlative, the cells it was taken from;
    of what is selected, the selected cells. Rows that are only counted are stood for by the cells in the first column.
    The header row has its id. Raises ProgramError as `run` does.
    """
    return frozenset(_evaluate(program, table)[1])


def _evaluate(
    program: Program | Mapping[str, Any], table: Table
) -> tuple[tuple[str, ...], set[tuple[str, str]]]:
    if isinstance(program, Mapping):
        program = from_dict(program)
    evaluation = _Evaluation(_as_written(program, table))
    with localcontext(_ARITHMETIC):
        try:
            answers = evaluation.answers(program)
        except DecimalException:
            raise ProgramError("not_a_number", gettext("The numbers are too large to calculate.")) from None
    return tuple(dict.fromkeys(answers)), evaluation.read


def _as_written(program: Program, table: Table) -> Table:
    """The table with its rows and columns the way round that the program knows them."""
    if table.header_rows or table.spans:
        return table  # cannot be transposed, and never was
    columns = {node.column for node in program.walk() if hasattr(node, "column")}
    if columns & set(table.column_ids) or not columns & {*table.row_ids, table.header_id}:
        return table
    return replay(table, [Transpose()])


class _Cells:
    """Access to one table; `read` collects the cells that the answers rest on."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.read: set[tuple[str, str]] = set()
        self._kinds: dict[str, Any] = {}

    def cell(self, node: Cell) -> str:
        self._column(node.column)
        above = default_ids("h", len(self.table.header_rows))
        if node.row in above:
            text = self.table.header_rows[above.index(node.row)][self.table.column_index(node.column)]
        elif node.row in self.table.row_ids or node.row == self.table.header_id:
            text = self.table.cell(node.row, node.column)
        else:
            message = gettext("The program needs {row_name}, which is removed.")
            raise ProgramError("gone", message.format(row_name=_row_name(node.row)))
        self.read.add((node.row, node.column))
        return text

    def _column(self, column: str) -> int:
        if column not in self.table.column_ids:
            message = gettext("The program needs {source_column}, which is removed.")
            raise ProgramError("gone", message.format(source_column=_source_column(column)))
        return self.table.column_index(column)

    def _record_read(self, rows: Iterable[int], column: str) -> None:
        self.read.update((self.table.row_ids[i], column) for i in rows)

    def _place(self, node: Cell) -> str:
        column = column_name(self.table, node.column)
        if node.row not in self.table.row_ids:
            return f"The header, {column},"
        return f"Row {self.table.row_index(node.row) + 1}, {column}"

    def _kind(self, column: str) -> Any:
        if column not in self._kinds:
            j = self._column(column)
            self._kinds[column] = kind_of_column([row[j] for row in self.table.rows])
        return self._kinds[column]


class _Evaluation(_Cells):
    """One run over one table."""

    # Answers

    def answers(self, node: Node) -> list[str]:
        match node:
            case Cell():
                return [self._said(self.cell(node), node)]
            case Select():
                return self._select(node)
            case Year():
                return [self._year(text) for text in self.answers(node.of)]
            case MostCommon():
                return self._most_common(node)
            case Pick():
                return self._pick(node)
            case Those():
                return self._those(node)
            case Holds():
                sign = self._compare(self.number(node.left), self.number(node.right))
                return [node.words[0] if _holds(node.relation, sign) else node.words[1]]
            case Aggregate(function="largest" | "smallest") if self._kind(node.column) != "number":
                i, _ = self._extreme(node.column, node.function, self.rows(node.rows))[0]
                return [self.table.rows[i][self._column(node.column)]]
        return [in_digits(self.number(node))]

    def _said(self, text: str, node: Cell) -> str:
        if not text.strip():
            raise ProgramError("no_value", gettext("{place} is empty.").format(place=self._place(node)))
        return text

    def _select(self, node: Select) -> list[str]:
        j, rows = self._column(node.column), self._require_rows(self.rows(node.rows))
        texts = [self.table.rows[i][j] for i in rows]
        self._record_read(rows, node.column)
        filled_texts = [text for text in texts if text.strip()]
        if not filled_texts:
            raise ProgramError("no_value", gettext("The answer cells are empty."))
        return filled_texts

    def _year(self, text: str) -> str:
        if year := year_in(text):
            return year
        raise ProgramError(
            "no_value", gettext("{quoted} contains no year, or more than one.").format(quoted=_quote(text))
        )

    def _most_common(self, node: MostCommon) -> list[str]:
        j, rows = self._column(node.column), self.rows(node.rows)
        groups: dict[str, list[str]] = {}
        for i in rows:
            seen = reading(self.table.rows[i][j])
            if not seen.silent:
                groups.setdefault(seen.plain, []).append(self.table.rows[i][j])
        self._record_read(rows, node.column)
        if not groups:
            raise ProgramError("no_value", gettext("The cells to count are empty."))
        best = (max if node.which == "largest" else min)(map(len, groups.values()))
        return [texts[0] for texts in groups.values() if len(texts) == best]

    def _pick(self, node: Pick) -> list[str]:
        values = self._keys(node.choices)
        best = max(values) if node.which == "largest" else min(values)
        return [
            self._label(choice) for choice, value in zip(node.choices, values, strict=True) if value == best
        ]

    def _those(self, node: Those) -> list[str]:
        chosen = self._matching_choices(node)
        if not chosen:
            raise ProgramError("no_value", gettext("None of the compared values matches."))
        return [self._label(choice) for choice in chosen]

    def _matching_choices(self, node: Those) -> list[Choice]:
        than = self.number(node.than)
        return [
            choice
            for choice in node.choices
            if _holds(node.relation, self._compare(self.number(choice.value), than))
        ]

    def _label(self, choice: Choice) -> str:
        return self.answers(choice.label)[0]

    def _keys(self, choices: Sequence[Choice]) -> list[Key]:
        """What the choices are compared by: dates or times if all values are cells that hold such, else numbers."""
        cells = [choice.value for choice in choices if isinstance(choice.value, Cell)]
        if len(cells) == len(choices):
            seen = [reading(self.cell(cell)) for cell in cells]
            for kind in ("date", "time"):
                keys = [cell_reading.key(kind) for cell_reading in seen]
                if all(key is not None for key in keys):
                    return [key for key in keys if key is not None]
        return [(self.number(choice.value),) for choice in choices]

    def _compare(self, left_value: Decimal, right_value: Decimal) -> int:
        return (left_value > right_value) - (left_value < right_value)

    # Numbers

    def number(self, node: Node) -> Decimal:
        match node:
            case Number():
                return Decimal(node.value)
            case Cell():
                return self._number_in(node)
            case Add():
                return sum((self.number(term) for term in node.terms), Decimal(0))
            case Multiply():
                product = Decimal(1)
                for term in node.terms:
                    product *= self.number(term)
                return product
            case Subtract():
                return self.number(node.left) - self.number(node.right)
            case Divide():
                dividend, divisor = self.number(node.left), self.number(node.right)
                if not divisor:
                    raise ProgramError("division_by_zero", gettext("The program would divide by 0."))
                return dividend / divisor
            case Minus():
                return -self.number(node.of)
            case Percent():
                return self.number(node.of) * 100
            case RoundedValue():
                return rounded(self.number(node.of), node.places)
            case Count(of=Those() as those):
                return Decimal(len(self._matching_choices(those)))
            case Count():
                return Decimal(self._count(node.of))
            case CountDifferent():
                j, rows = self._column(node.column), self.rows(node.rows)
                self._record_read(rows, node.column)
                seen = [reading(self.table.rows[i][j]) for i in rows]
                return Decimal(len({cell_reading.plain for cell_reading in seen if not cell_reading.silent}))
            case Aggregate(function="largest" | "smallest"):
                rows = self.rows(node.rows)
                return self._extreme(node.column, node.function, rows)[0][1][0]
            case Aggregate():
                return self._sum(node)
        raise ProgramError("bad_program", gettext("{op} is not a number.").format(op=node.op))

    def _number_in(self, node: Cell) -> Decimal:
        text = self.cell(node)
        seen = reading(text)
        if (number := amount(seen)) is not None:
            return number
        message = gettext("{place} contains {quoted}, which is not a number.")
        raise ProgramError("not_a_number", message.format(place=self._place(node), quoted=_quote(text)))

    def _count(self, rows: Node) -> int:
        counted = self.rows(rows)
        if not any(isinstance(node, Where | Extreme) for node in rows.walk()) and self.table.column_ids:
            self._record_read(counted, self.table.column_ids[0])
        return len(counted)

    def _sum(self, node: Aggregate) -> Decimal:
        j = self._column(node.column)
        values = []
        rows = self.rows(node.rows)
        self._record_read(rows, node.column)
        for i in rows:
            text = self.table.rows[i][j]
            seen = reading(text)
            if seen.number is not None:
                values.append(seen.number)
            elif not seen.silent:
                location = gettext("Row {row}, {column}").format(
                    row=i + 1, column=column_name(self.table, node.column)
                )
                message = gettext("{place} contains {quoted}, which is not a number.")
                raise ProgramError("not_a_number", message.format(place=location, quoted=_quote(text)))
        if node.function == "sum":
            return sum(values, Decimal(0))
        if not values:
            raise ProgramError("no_value", gettext("There are no numbers to average."))
        return sum(values, Decimal(0)) / len(values)

    def _extreme(self, column: str, which: str, rows: Sequence[int]) -> list[tuple[int, Key]]:
        """The rows that hold the extreme value of a column, each with it."""
        j, kind = self._column(column), self._kind(column)
        keys = []
        for i in rows:
            key = reading(self.table.rows[i][j]).key(kind) if kind else None
            if key is not None:
                keys.append((i, key))
        if not keys:
            name = column_name(self.table, column)
            message = gettext("{name} contains no number, date or time to compare.")
            raise ProgramError("no_value", message.format(name=name))
        self._record_read([i for i, _ in keys], column)
        values = [key for _, key in keys]
        best = max(values) if which == "largest" else min(values)
        return [(i, key) for i, key in keys if key == best]

    # Rows

    def rows(self, node: Node) -> list[int]:
        """The places of the rows, from the top."""
        match node:
            case AllRows():
                return list(range(len(self.table.rows)))
            case Where():
                return self._where(node)
            case Extreme():
                rows = self._require_rows(self.rows(node.rows))
                return [i for i, _ in self._extreme(node.column, node.which, rows)]
            case Place():
                rows = self._require_rows(self.rows(node.rows))
                return [rows[0] if node.which == "first" else rows[-1]]
            case Beside():
                step = 1 if node.which == "after" else -1
                beside = {i + step for i in self._require_rows(self.rows(node.rows))}
                return sorted(beside & set(range(len(self.table.rows))))
        raise ProgramError("bad_program", gettext("{op} does not select rows.").format(op=node.op))

    def _where(self, node: Where) -> list[int]:
        # One condition after the other, and the cells that were read are those of the rows that meet them all.
        conditions: list[Where] = []
        rest: Node = node
        while isinstance(rest, Where):
            conditions.append(rest)
            rest = rest.rows
        rows = self.rows(rest)
        for condition in reversed(conditions):
            j, fits = self._column(condition.column), self._condition(condition)
            rows = [i for i in rows if fits(reading(self.table.rows[i][j]))]
        for condition in conditions:
            self._record_read(rows, condition.column)
        return rows

    def _condition(self, node: Where) -> Callable[[CellReading], bool]:
        if isinstance(node.value, str):
            value = reading(node.value)
        elif isinstance(node.value, Cell):
            value = reading(self._said(self.cell(node.value), node.value))
        else:
            value = reading(in_digits(self.number(node.value)))
        return meets(node.relation, value)

    def _require_rows(self, rows: list[int]) -> list[int]:
        if not rows:
            raise ProgramError("no_value", gettext("No row matches."))
        return rows


def meets(relation: Comparison, value: CellReading) -> Callable[[CellReading], bool]:
    """Whether a cell's reading stands in a relation to a value."""
    if relation == "contains":
        return lambda cell: contains(cell, value)
    if relation == "equals":
        return lambda cell: same(cell, value)
    if relation == "differs":
        return lambda cell: not cell.silent and not same(cell, value)

    def fits(cell: CellReading) -> bool:
        sign = order(cell, value)
        return sign is not None and _holds(relation, sign)

    return fits


def _holds(relation: Comparison, sign: int) -> bool:
    match relation:
        case "greater":
            return sign > 0
        case "less":
            return sign < 0
        case "at_least":
            return sign >= 0
        case "at_most":
            return sign <= 0
        case "differs":
            return sign != 0
    return sign == 0


def rounded(value: Decimal, places: int) -> Decimal:
    """`value` with `places` digits after the point, halves away from 0; a number too large for that stays."""
    if value.adjusted() + places > 45:
        return value
    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def in_digits(value: Decimal) -> str:
    """A number as an answer: plain digits, no sign for thousands, no zeros at its end."""
    short = rounded(value, _DECIMALS).normalize()
    if not short:
        return "0" if not value or abs(value) < Decimal("1e-40") else f"{value.normalize():.6e}"
    return f"{short:f}" if abs(short.adjusted()) < 40 else str(short)


def follows_order(program: Program) -> bool:
    """Whether the program asks for the order of rows, so that moving a row can change its answer."""
    return any(isinstance(node, Place | Beside) for node in program.walk())


def column_name(table: Table, column: str) -> str:
    """What a column is called: by its header if no other has the same, else by its number."""
    if column not in table.column_ids:
        return _source_column(column)
    name = " ".join(table.header[table.column_index(column)].split())
    names = [" ".join(other.split()) for other in table.header]
    if name and names.count(name) == 1:
        return name if len(name) <= 60 else name[:59] + "…"
    return gettext("column {column}").format(column=table.column_index(column) + 1)


def _source_column(column: str) -> str:
    if column[1:].isdigit() and column[0] == "c":
        return gettext("column {column} of the source").format(column=int(column[1:]) + 1)
    return gettext("column {column}").format(column=column)


def _row_name(row: str) -> str:
    if row[1:].isdigit() and row[0] == "r":
        return gettext("row {row} of the source").format(row=int(row[1:]) + 1)
    return gettext("row {row}").format(row=row)


def _quote(text: str) -> str:
    return f"“{text if len(text) <= 60 else text[:59] + '…'}”"
