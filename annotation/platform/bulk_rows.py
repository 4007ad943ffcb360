"""Many rows at once, past the models: COPY where the database is PostgreSQL, one statement run many times elsewhere.

    with transaction.atomic():
        keys = bulk.keys(Item, 1_000)
        bulk.insert(Item, ["id", "batch_id", ...], rows)

What a row must be, the database still checks: keys, constraints, lengths. Nothing else does, so rows are those of checked
data. Making a model of each row, and a statement of them all, takes ten times as long as what the database does with them.
"""

import gc
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import connection, models
from django.db.models import Value

from annotation.platform.keyset import chunks

ROWS = 2_000
"""Rows that are in memory as text at once."""
AT_ONCE = 200
"""Rows of one statement that names their values."""
_PLAIN = (models.CharField, models.TextField)
Texts = Callable[[Sequence[Any]], Iterable[str]]


_COLLECTED = gc.get_threshold()


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Python looks for circles of objects that are garbage after 50,000 new ones, not after 700: rows make none."""
    gc.set_threshold(50_000, *_COLLECTED[1:])
    try:
        yield
    finally:
        gc.set_threshold(*_COLLECTED)


@contextmanager
def large_cache() -> Iterator[None]:
    """A larger cache of SQLite around a large transaction, which else reads and writes pages of indexes again and again."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        (usual,) = cursor.execute("PRAGMA cache_size").fetchone()
        cursor.execute("PRAGMA cache_size = -65536")  # kilobytes
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA cache_size = {usual}")


class Json(str):
    """A JSON value that is written already."""

    __slots__ = ()


def keys(model: type[models.Model], count: int) -> list[int]:
    """`count` keys that no row has or will get from elsewhere, in order; call it in a transaction. A later one may use
    them, too.
    """
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The lock of a writer, before a key is drawn: `audit_log.wait_for_writers` knows writers by it.
            cursor.execute(f"LOCK TABLE {connection.ops.quote_name(table)} IN ROW EXCLUSIVE MODE")
            cursor.execute(
                # Its name is looked up once, not for each number.
                "WITH named AS MATERIALIZED (SELECT pg_get_serial_sequence(%s, %s)::regclass AS sequence) "
                "SELECT nextval(sequence) FROM named, generate_series(1, %s)",
                [table, column, count],
            )
            return [key for (key,) in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        row = cursor.fetchone()
        last = row[0] if row else 0
        cursor.execute(
            "UPDATE sqlite_sequence SET seq = %s WHERE name = %s"
            if row
            else "INSERT INTO sqlite_sequence (seq, name) VALUES (%s, %s)",
            [last + count, table],
        )
        return list(range(last + 1, last + 1 + count))


class Among(models.Lookup):
    """Whether a whole number is one of many: see `among`."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        lhs, params = self.process_lhs(compiler, connection)
        keys = ",".join(map(str, self.rhs))
        if connection.vendor == "postgresql":
            return f"{lhs} = ANY(%s::bigint[])", (*params, f"{{{keys}}}")
        return f"{lhs} IN (SELECT value FROM json_each(%s))", (*params, f"[{keys}]")  # nosec B608: an expression of the ORM


def among(name: str, keys: Iterable[int]) -> Among:
    """`filter(among("item", keys))`: as `item__in`, for many keys.

    The database is given all of them as one value: naming each costs more than finding its row.
    """
    return Among(models.F(name), list(keys))


def insert(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Add rows of these fields (by attribute, `batch_id`), in the caller's transaction; the others have their defaults.

    Returns how many there were. Raises django.db.IntegrityError as saving each would.
    """
    meta = model._meta
    named_fields = [meta.get_field(name) for name in names]
    rest = [field for field in meta.concrete_fields if field not in named_fields and not field.primary_key]
    # What is drawn for each row (ids that leave the server) is drawn here; the rest is the same for all.
    drawn = [
        field
        for field in rest
        if field.has_default() and callable(field.default) and field.default not in (dict, list)
    ]
    same = [field for field in rest if field not in drawn]
    always = [field.get_default() for field in same]
    makers: list[Callable[[], Any]] = [field.default for field in drawn]

    def columns() -> Iterator[list[Sequence[Any]]]:
        for page in chunks(rows, ROWS):
            yield [
                *zip(*page, strict=True),
                *([make() for _ in page] for make in makers),
                *([value] * len(page) for value in always),
            ]

    fields = [*named_fields, *drawn, *same]
    return (_copy_rows if connection.vendor == "postgresql" else _insert_rows)(model, fields, columns())


def _copy_rows(model: type[models.Model], fields: Sequence[Any], pages: Iterator[list[Sequence[Any]]]) -> int:
    texts = [_copy_text(field) for field in fields]
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    sql = f"COPY {connection.ops.quote_name(model._meta.db_table)} ({columns}) FROM STDIN"
    done = 0
    with connection.cursor() as cursor:
        for page in pages:
            # A column at a time: whether there is anything to escape is asked once for all its values.
            cells = [text(column) for text, column in zip(texts, page, strict=True)]
            lines = "".join(f"{line}\n" for line in map("\t".join, zip(*cells, strict=True)))
            with connection.wrap_database_errors:  # Django does so for statements alone
                cursor.copy_expert(sql, io.BytesIO(lines.encode("utf-8")))
            done += len(page[0])
    return done


def _copy_text(field: Any) -> Texts:
    """How a column of the field's values is written for COPY."""
    field = getattr(field, "target_field", field)
    if isinstance(field, models.JSONField):
        return lambda column: _escaped(
            [value if value is None or isinstance(value, Json) else json.dumps(value) for value in column]
        )
    if isinstance(field, _PLAIN):
        return _escaped
    if isinstance(field, models.BooleanField):
        return lambda column: _texts_of(lambda value: "t" if value else "f", column)
    if isinstance(field, models.DateTimeField):
        return lambda column: _texts_of(_moment, column)
    return lambda column: _texts_of(str, column)


def _texts_of(text: Callable[[Any], str], column: Sequence[Any]) -> Iterable[str]:
    if None in column:
        return ["\\N" if value is None else text(value) for value in column]
    return map(text, column)


@lru_cache(maxsize=16)
def _moment(value: datetime) -> str:
    """A time, as many rows have the same."""
    return value.isoformat()


def _escaped(column: Sequence[str | None]) -> Iterable[str]:
    texts = [text for text in column if text is not None]
    if len(texts) < len(column):
        return ["\\N" if text is None else escaped(text) for text in column]
    whole = "".join(texts)
    return texts if whole.isprintable() and "\\" not in whole else map(escaped, texts)


def escaped(text: str) -> str:
    """A text as a cell of COPY's text form."""
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if text.isprintable():  # neither tabs nor line ends
        return text
    return text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _insert_rows(
    model: type[models.Model], fields: Sequence[Any], pages: Iterator[list[Sequence[Any]]]
) -> int:
    adapt = [_adapter_of(field) for field in fields]
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    sql = (
        f"INSERT INTO {connection.ops.quote_name(model._meta.db_table)} ({columns}) "  # nosec B608
        f"VALUES ({', '.join(['%s'] * len(fields))})"
    )
    done = 0
    with connection.cursor() as cursor:
        for page in pages:
            adapted = (
                [None if value is None else adapter(value) for value in column]
                for adapter, column in zip(adapt, page, strict=True)
            )
            cursor.executemany(sql, list(zip(*adapted, strict=True)))
            done += len(page[0])
    return done


def _adapter_of(field: Any) -> Callable[[Any], Any]:
    field = getattr(field, "target_field", field)
    if isinstance(field, models.JSONField):
        return lambda value: str(value) if isinstance(value, Json) else json.dumps(value)
    if isinstance(field, models.DateTimeField):
        return connection.ops.adapt_datetimefield_value
    return lambda value: value


def insert_from(
    model: type[models.Model], values: Mapping[str, str | Value], source: str, params: Sequence[int]
) -> int:
    """Add a row of the model for each row of `source`, in one statement; how many rows there were.

    `source` is SQL from FROM on, with `params`. `values` says what a field (by attribute) gets: SQL, or a value
    that is the same in every row. The other fields but the primary key get their defaults, also the same in every row.
    """
    meta: Any = model._meta
    expressions = {meta.get_field(name): value for name, value in values.items() if isinstance(value, str)}
    same = {
        field: field.get_default()
        for field in meta.concrete_fields
        if field not in expressions and not field.primary_key
    }
    same |= {meta.get_field(name): value.value for name, value in values.items() if isinstance(value, Value)}
    columns = ", ".join(connection.ops.quote_name(field.column) for field in [*same, *expressions])
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {connection.ops.quote_name(meta.db_table)} ({columns}) "  # nosec B608: names of our own tables
            f"SELECT {', '.join([*['%s'] * len(same), *expressions.values()])} {source}",
            [*(field.get_db_prep_save(value, connection) for field, value in same.items()), *params],
        )
        return int(cursor.rowcount)


def add_missing(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add rows of these fields, which are all there are but the key; those whose unique value is there already stay."""
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    adapt = [_adapter_of(field) for field in fields]
    quote = connection.ops.quote_name
    cast = "::jsonb" if connection.vendor == "postgresql" else ""
    placeholders = ", ".join(f"%s{cast}" if isinstance(field, models.JSONField) else "%s" for field in fields)
    columns = ", ".join(quote(field.column) for field in fields)
    with connection.cursor() as cursor:
        for some in chunks(rows, AT_ONCE):
            cursor.execute(
                f"INSERT INTO {quote(model._meta.db_table)} ({columns}) "
                f"VALUES {', '.join([f'({placeholders})'] * len(some))} ON CONFLICT DO NOTHING",  # nosec B608: names of our own tables
                [adapter(value) for row in some for adapter, value in zip(adapt, row, strict=True)],
            )
