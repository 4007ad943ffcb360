"""Statements of the annotators' loop, made once and run many times.

Django writes the SQL of a query again whenever it is asked; in the loop from item to item that took four fifths of the time.
A query is therefore written as always, with places for what differs between two runs, and Django is asked for its SQL
once a process. The result is that of the query: models with what they are joined to, or tuples.
PostgreSQL, too, plans each statement once a connection (three quarters of its work on a submit was planning).

    CLOSED = Select(lambda: Batch.objects.filter(project_id=param_int("project"), closed_at__lte=param_time("until")))
    CLOSED(project=7, until=now)

Several without an awaited answer go to PostgreSQL together with one whose answer a person does (`pipeline`): it was
the way there and back that took longest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, Func
from django.db.models.query import QuerySet, get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery

M = TypeVar("M", bound=models.Model)

# What stands for a value while Django writes the SQL: distinct, and valid in every column of its type. Values that a
# query has for itself are never among them.
_NUMBERS = 2_000_000_000
_TEXT = "\ue000"
_MOMENT = datetime(1900, 1, 1, tzinfo=UTC)
_names: list[str] = []

_suffixes = itertools.count()
_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
"""The statements that each of PostgreSQL's connections has prepared."""


def _placeholder_index(name: str) -> int:
    if name not in _names:
        _names.append(name)
    return _names.index(name)


def param_int(name: str) -> int:
    """A place for a whole number, such as a key."""
    return _NUMBERS + _placeholder_index(name)


def param_float(name: str) -> float:
    """A place for a number that need not be whole, such as seconds."""
    return float(param_int(name))


def param_text(name: str) -> str:
    """A place for a text."""
    return f"{_TEXT}{name}"


def param_time(name: str) -> datetime:
    """A place for a point in time."""
    return _MOMENT.replace(microsecond=_placeholder_index(name))


class _Placeholder(NamedTuple):
    """Where in the parameters a value goes, how the database wants it, and its type for PostgreSQL."""

    at: int
    name: str
    adapt: Callable[[Any], Any]
    type: str


class _Statement:
    """SQL of which some parameters, by their place, are given again with each run; the types are PostgreSQL's."""

    def __init__(self, sql: str, params: list[Any], types: Mapping[int, str], vendor: str) -> None:
        self.sql = sql
        self.params = params
        self.types = types
        self.prepares = vendor == "postgresql"
        self.name = f"askew_{next(_suffixes)}"
        self.execute = f"EXECUTE {self.name}" + (f" ({', '.join(['%s'] * len(types))})" if types else "")

    def run(self, cursor: Any, values: Sequence[Any]) -> None:
        cursor.execute(*self.ready(cursor, values))

    def ready(self, cursor: Any, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """What to send, with its parameters; PostgreSQL has the statement prepared then."""
        # Behind a pooler that gives each transaction another connection, a statement cannot be prepared.
        if self.prepares and not cursor.db.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
            prepared_names = _prepared.setdefault(cursor.db.connection, set())
            if self.name not in prepared_names:
                self._prepare(cursor)
                prepared_names.add(self.name)
            return self.execute, values
        params = list(self.params)
        for at, value in zip(self.types, values, strict=True):
            params[at] = value
        return self.sql, params

    def _prepare(self, cursor: Any) -> None:
        from psycopg2.extensions import AsIs  # where SQLite is used it need not be there

        params = list(self.params)
        for position, at in enumerate(self.types, start=1):
            params[at] = AsIs(f"${position}")
        types = f" ({', '.join(self.types.values())})" if self.types else ""
        cursor.execute(f"PREPARE {self.name}{types} AS {self.sql}", params)


def _placeholders(params: Sequence[Any]) -> list[_Placeholder]:
    """The places among the parameters of a statement."""
    adapt_moment = connection.ops.adapt_datetimefield_value
    moments = {str(adapt_moment(param_time(name))): name for name in _names}
    slots = []
    for at, value in enumerate(params):
        if isinstance(value, str) and value.startswith(_TEXT):
            slots.append(_Placeholder(at, value.removeprefix(_TEXT), _identity, "text"))
        elif isinstance(value, int) and 0 <= value - _NUMBERS < len(_names):
            slots.append(_Placeholder(at, _names[value - _NUMBERS], _identity, "bigint"))
        elif isinstance(value, float) and 0 <= value - _NUMBERS < len(_names):
            slots.append(_Placeholder(at, _names[int(value) - _NUMBERS], _identity, "double precision"))
        elif str(value) in moments:
            slots.append(_Placeholder(at, moments[str(value)], adapt_moment, "timestamptz"))
    return slots


class _PreparedSql:
    """SQL with its parameters, some of them places."""

    def __init__(self, sql: str, params: Any) -> None:
        self.slots = _placeholders(params)
        self.wanted = {slot.name for slot in self.slots}
        types = {slot.at: slot.type for slot in self.slots}
        self.statement = _Statement(sql, list(params), types, connection.vendor)

    def step(self, values: Mapping[str, Any], read: Callable[[Any], Any]) -> Step:
        if values.keys() != self.wanted:
            raise TypeError(f"wants {sorted(self.wanted)}, was given {sorted(values)}")
        return Step(self.statement, [slot.adapt(values[slot.name]) for slot in self.slots], read)


@dataclass(frozen=True)
class Step:
    """A statement with its values, ready to run, and what reads its answer from the cursor."""

    statement: _Statement
    values: Sequence[Any]
    read: Callable[[Any], Any]

    def run(self) -> Any:
        with _connection().cursor() as cursor:
            self.statement.run(cursor, self.values)
            return self.read(cursor)


def pipeline(*steps: Step) -> Any:
    """Run one after the other, in this order, and give what the last one answers; the results of others are dropped.

    PostgreSQL is sent all of them at once. To be called in a transaction: an error in one leaves nothing of the others.
    """
    here = _connection()
    if here.vendor != "postgresql":
        return [step.run() for step in steps][-1]
    with here.cursor() as cursor:
        ready = [step.statement.ready(cursor, step.values) for step in steps]
        cursor.execute("; ".join(sql for sql, _ in ready), [value for _, values in ready for value in values])
        return steps[-1].read(cursor)


def _run_read(step: Step) -> Any:
    """Run what only reads. The first of a request finds out by itself whether the connection is still alive: Django would
    ask the database for it before, with every request.
    """
    here: Any = _connection()  # the stubs know nothing of its checks
    unsure = here.health_check_enabled and not here.health_check_done
    if not unsure or here.connection is None or here.in_atomic_block:
        return step.run()
    here.health_check_done = True
    try:
        return step.run()
    except (OperationalError, InterfaceError):
        if here.is_usable():
            raise
        here.close()
        return step.run()


class LastKey(Func):
    """The key of the row that this connection added last, which was one of this model: for a statement that points at it."""

    output_field = BigIntegerField()

    def __init__(self, model: type[models.Model]) -> None:
        super().__init__()
        self.model = model

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        meta = self.model._meta
        return f"currval(pg_get_serial_sequence('{meta.db_table}', '{meta.pk.column}'))", ()

    def as_sqlite(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, tuple[str | int, ...]]:
        return "last_insert_rowid()", ()


class Select:
    """A query that reads. Called with a value for each place it gives the list that the query would give."""

    def __init__(self, make: Callable[[], QuerySet[Any, Any]]) -> None:
        self.make = make
        self._made: tuple[_PreparedSql, Any, Any, Callable[[Any], Any]] | None = None

    def __call__(self, **values: Any) -> list[Any]:
        rows: list[Any] = _run_read(self.step(**values))
        return rows

    def step(self, **values: Any) -> Step:
        """The same as a step of several."""
        prepared, compiler, converters, build = self._made or self._prepared()

        def read(cursor: Any) -> list[Any]:
            rows = cursor.fetchall()
            if converters:
                rows = compiler.apply_converters(rows, converters)
            return [build(row) for row in rows]

        return prepared.step(values, read)

    def first(self, **values: Any) -> Any:
        """The first row, or None."""
        return next(iter(self(**values)), None)

    def _prepared(self) -> tuple[_PreparedSql, Any, Any, Callable[[Any], Any]]:
        queryset: Any = self.make()
        compiler = queryset.query.get_compiler(connection=connection)
        prepared = _PreparedSql(*compiler.as_sql())
        converters = compiler.get_converters([column[0] for column in compiler.select])
        build = _builder(compiler) if queryset._fields is None else tuple
        self._made = (prepared, compiler, converters, build)
        return self._made


class Update:
    """A query that changes rows. Called with a value for each place it gives, for every row that changed, `returning`."""

    def __init__(
        self, make: Callable[[], QuerySet[Any, Any]], *, returning: Sequence[str] = ("pk",), **changes: Any
    ) -> None:
        self.make = make
        self.returning = returning
        self.changes = changes
        self._made: _PreparedSql | None = None

    def __call__(self, **values: Any) -> list[tuple[Any, ...]]:
        changed: list[tuple[Any, ...]] = self.step(**values).run()
        return changed

    def step(self, **values: Any) -> Step:
        """The same as a step of several."""
        if self._made is None:
            self._made = self._prepared()
        return self._made.step(values, _all)

    def _prepared(self) -> _PreparedSql:
        queryset = self.make()
        query: Any = queryset.query.chain(UpdateQuery)
        query.add_update_values(self.changes)
        sql, params = query.get_compiler(connection=connection).as_sql()
        meta = queryset.model._meta
        fields = [meta.pk if name == "pk" else meta.get_field(name) for name in self.returning]
        columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
        return _PreparedSql(f"{sql} RETURNING {columns}", params)


class Insert(Generic[M]):
    """Adds a row. Called with a value for each field (by attribute, `person_id`) that has no default; gives the model.

    `worked_out` are fields that the database works out by an expression, with places of its own if need be; what it came
    to is read back where the field is one of `returning`, and is otherwise fetched when a person asks the model for it.
    """

    def __init__(self, model: type[M], *, returning: Sequence[str] = (), **worked_out: Any) -> None:
        self.model = model
        self.returning = returning
        self.worked_out = worked_out
        self.fields = [field for field in model._meta.concrete_fields if not field.primary_key]
        self.value_fields = [field for field in self.fields if field.attname not in worked_out]
        self.key = str(model._meta.pk.attname)
        self._made: tuple[_Statement, list[Any]] | None = None

    def __call__(self, **values: Any) -> M:
        key, *rest = self._step(values).run()
        return self.model_of(values, key, *rest)

    def only(self, **values: Any) -> Any:
        """The key of the new row alone, without a model."""
        return self._step(values).run()[0]

    def step(self, **values: Any) -> Step:
        """The same as a step of several."""
        return self._step(values)

    def model_of(self, values: Mapping[str, Any], key: Any, *returned: Any) -> M:
        """The model of a row that was added with these values, and what is `returning`."""
        values = {**values, **dict(zip(self.returning, returned, strict=True)), self.key: key}
        field_names = [field.attname for field in self.model._meta.concrete_fields if field.attname in values]
        return self.model.from_db(DEFAULT_DB_ALIAS, field_names, [values[name] for name in field_names])

    def _step(self, values: dict[str, Any]) -> Step:
        """Those of the places are taken out of the values; defaults of fields come in."""
        statement, parts = self._made or self._prepared()
        if len(values) < len(parts):
            self._complete(values)
        here = _connection()
        params = [
            part.adapt(values.pop(part.name))
            if isinstance(part, _Placeholder)
            else _adapt(part, values[part.attname], here)
            for part in parts
        ]
        if len(values) > len(self.value_fields):
            raise TypeError(f"{self.model.__name__} was given {sorted(values)}")
        return Step(statement, params, _first)

    def _complete(self, values: dict[str, Any]) -> None:
        for field in self.value_fields:
            if field.attname not in values:
                values[field.attname] = field.get_default()
                if values[field.attname] is None and not field.null:
                    raise TypeError(f"{self.model.__name__} wants {field.attname}")

    def _prepared(self) -> tuple[_Statement, list[Any]]:
        """The statement, and what each of its values is: that of a field, or of a place in an expression."""
        query = InsertQuery(self.model)
        query.insert_values(self.fields, [self.model(**self.worked_out)])
        compiler: Any = query.get_compiler(connection=connection)
        meta = self.model._meta
        compiler.returning_fields = [meta.pk, *map(meta.get_field, self.returning)]
        ((sql, _),) = compiler.as_sql()
        params: list[Any] = []
        types: dict[int, str] = {}
        parts: list[Any] = []
        for field in self.fields:
            if field.attname in self.worked_out:
                expression = self.worked_out[field.attname].resolve_expression(query, for_save=True)
                of_expression = list(compiler.compile(expression)[1])
                for slot in _placeholders(of_expression):
                    types[len(params) + slot.at] = slot.type
                    parts.append(slot)
                params += of_expression
            else:
                types[len(params)] = "unknown"  # the column's
                params.append(None)
                parts.append(field)
        self._made = (_Statement(sql, params, types, connection.vendor), parts)
        return self._made


def _adapt(field: Any, value: Any, here: BaseDatabaseWrapper) -> Any:
    """The value as the database wants it; keys, numbers and texts are wanted as they are."""
    return value if type(value) in (int, str, float) else field.get_db_prep_save(value, here)


def _connection() -> BaseDatabaseWrapper:
    """This thread's connection itself: the name that Django gives it looks it up again for every attribute."""
    return connections[DEFAULT_DB_ALIAS]


def _builder(compiler: Any) -> Callable[[Any], Any]:
    """What makes of a row the model that the query set would, with its relations and annotations."""
    info = compiler.klass_info
    select, names = compiler.select, compiler.annotation_col_map
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    attributes = [column[0].target.attname for column in select[start:end]]
    related = get_related_populators(info, select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # the stubs are Django 6.1's

    def build(row: Any) -> Any:
        instance = info["model"].from_db(DEFAULT_DB_ALIAS, attributes, row[start:end])
        for populator in related:
            populator.populate(row, instance)
        for name, at in (names or {}).items():
            setattr(instance, name, row[at])
        return instance

    return build


def _all(cursor: Any) -> list[Any]:
    return list(cursor.fetchall())


def _first(cursor: Any) -> Any:
    return cursor.fetchone()


def _identity(value: Any) -> Any:
    return value
