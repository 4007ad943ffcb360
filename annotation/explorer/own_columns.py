"""Own columns of examples and the size of their tables, as the explorer filters, sorts and counts them.

Names are those of `tableqa.data.own_columns` ("meta.domain"), and `TABLE`, `ROWS` and `COLUMNS` of the source table.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from django.db.models import Count, F, Func, IntegerField, Q, QuerySet
from django.db.models.fields.json import KeyTransform
from django.utils.translation import gettext

from annotation.access.visibility import Fact
from annotation.explorer.item_access import Reader
from annotation.explorer.selection import BETWEEN, BadSelection, Selection
from annotation.models import Example, IndexedColumn, IndexedValue, Item, StoredTable
from annotation.platform import bulk_rows
from tableqa.data.own_columns import column_values

TABLE, ROWS, COLUMNS = "table.id", "table.rows", "table.columns"
MOST_COLUMNS: Final = 200
"""Columns of a project that are indexed."""
LONGEST_NAME: Final = 120
LONGEST_VALUE: Final = 200
NO_NUMBER: Final = sys.float_info.max
"""`IndexedValue.number` of a text that is no number."""
TABLE_ID: Final = 12
"""Characters of a table's digest that name it."""


class _Length(Func):
    """How many elements a JSON list has."""

    function, output_field = "json_array_length", IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="jsonb_array_length", **context)


# -- the index --------------------------------------------------------------------------------------


def index_examples(projects: Mapping[int, int]) -> None:
    """Index the values of examples, of those that are not indexed yet. `projects`: by example (key), its project.

    The caller's transaction holds the lock of the index of these projects.
    """
    indexed = IndexedValue.objects.filter(example__in=list(projects), column__name=TABLE)
    missing = projects.keys() - set(indexed.values_list("example_id", flat=True))
    if not missing:
        return
    fields = ("pk", "more", "stored_table_id")
    rows = list(Example.objects.filter(pk__in=missing).order_by("pk").values_list(*fields))
    sizes = _table_sizes({table for *_, table in rows})
    values = {
        key: [*zip((TABLE, ROWS, COLUMNS), sizes[table], strict=True), *column_values(more.get("meta"))]
        for key, more, table in rows
    }
    columns = _column_keys(
        {(projects[key], name[:LONGEST_NAME]): None for key in values for name, _ in values[key]}
    )

    def new_rows() -> Iterator[tuple[int, int, float, str, bool]]:
        for example, pairs in values.items():
            seen: set[int] = set()
            for name, text in dict.fromkeys((name[:LONGEST_NAME], _stored(text)) for name, text in pairs):
                if (column := columns.get((projects[example], name))) is not None and text:
                    yield column, example, number_of(text), text, column not in seen
                    seen.add(column)

    bulk_rows.insert(IndexedValue, ["column_id", "example_id", "number", "value", "is_first"], new_rows())


def _table_sizes(keys: Iterable[int]) -> dict[int, tuple[str, str, str]]:
    """By stored table (key): its id, and how many rows and columns it has."""
    rows, columns = (_Length(KeyTransform(name, "content")) for name in ("rows", "header"))
    tables = StoredTable.objects.filter(pk__in=list(keys)).annotate(n_rows=rows, n_columns=columns)
    return {
        key: (digest[:TABLE_ID], str(n_rows), str(n_columns))
        for key, digest, n_rows, n_columns in tables.values_list("pk", "digest", "n_rows", "n_columns")
    }


def _column_keys(names: Iterable[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """Keys of columns by project and name; new ones are added, up to `MOST_COLUMNS` of a project."""
    names = list(names)
    projects = {project for project, _ in names}
    rows = IndexedColumn.objects.filter(project__in=projects)
    keys = {(project, name): key for project, name, key in rows.values_list("project_id", "name", "pk")}
    for project, name in names:
        if (project, name) not in keys and sum(of == project for of, _ in keys) < MOST_COLUMNS:
            keys[project, name] = IndexedColumn.objects.create(project_id=project, name=name).pk
    return keys


def _stored(text: str) -> str:
    return text.replace("\0", "")[:LONGEST_VALUE]


def number_of(text: str) -> float:
    """The text as a number; `NO_NUMBER` where it is none."""
    try:
        value = float(text)
    except ValueError:
        return NO_NUMBER
    return value if abs(value) < NO_NUMBER and "_" not in text else NO_NUMBER


# -- filter, sort, count ----------------------------------------------------------------------------


def column_key(who: Reader, name: str) -> int:
    """The key of a column. Raises BadSelection where the project has none of this name, or hides them."""
    if name not in who.columns:
        raise BadSelection([gettext("There is no column {name} in this project.").format(name=name)])
    return who.columns[name]


def with_values(who: Reader, chosen: Selection, items: QuerySet[Item]) -> QuerySet[Item]:
    """Those of the items whose examples have one of the values in each column of the selection, and in that of the order."""
    values_by_column: dict[str, list[str]] = {}
    for name, value in chosen.columns:
        values_by_column.setdefault(name, []).append(value)
    for name, values in values_by_column.items():
        condition = Q()
        for value in values:
            condition |= _condition(value)
        rows = IndexedValue.objects.filter(condition, column=column_key(who, name))
        items = items.filter(example__in=rows.values("example"))
    if name := chosen.sort_column:
        rows = IndexedValue.objects.filter(column=column_key(who, name))
        items = items.filter(example__in=rows.values("example"))
    return items.filter(who.sight.condition(Fact.ANSWERS))


def _condition(value: str) -> Q:
    """The rows with this value, or with a number in the range "10~20", "10~" or "~20"."""
    low, between, high = value.partition(BETWEEN)
    ends = {"number__gte": low.strip(), "number__lte": high.strip()}
    limits = {end: number_of(text) for end, text in ends.items() if text}
    if between and limits and NO_NUMBER not in limits.values():
        return Q(number__lt=NO_NUMBER, **limits)
    text = _stored(value)
    return Q(number=number_of(text), value=text)


def by_column(who: Reader, items: QuerySet[Item], sort: str) -> QuerySet[Item]:
    """The items with `place` and `text`, by which a list in the order of a column is sorted."""
    values = "example__indexed_values__"
    rows = items.filter(
        example__indexed_values__column=column_key(who, sort.removeprefix("-")),
        example__indexed_values__is_first=True,
    )
    return rows.annotate(place=F(f"{values}number"), text=F(f"{values}value"))


def value_counts(who: Reader, items: QuerySet[Item], name: str, most: int) -> list[tuple[str, int]]:
    """How many of the items have each value of a column, the `most` frequent ones."""
    visible = items.filter(
        who.sight.condition(Fact.ANSWERS), example__indexed_values__column=column_key(who, name)
    )
    counts = visible.order_by().values_list("example__indexed_values__value").annotate(count=Count("pk"))
    return list(counts.order_by("-count", "example__indexed_values__value")[:most])


def table_names(ids: Sequence[str]) -> dict[str, str]:
    """Titles of tables by their ids, or the names of their columns."""
    condition = Q(pk__in=())
    for table_id in ids:
        condition |= Q(digest__startswith=table_id)
    rows = StoredTable.objects.filter(condition).values_list("digest", "content__title", "content__header")
    return {digest[:TABLE_ID]: title or ", ".join(header) for digest, title, header in rows}
