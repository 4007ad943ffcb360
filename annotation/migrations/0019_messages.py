"""Sentences that are stored as text become messages: a code and values, which are shown in the reader's language.

Texts that match none of the frozen wordings (`_sentences`), such as those that people wrote, stay as they are. For each
column it is printed how many values were turned and how many stay. Backwards, messages become their English sentences.
Immutable rows are changed with `annotation.immutable.writable`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db import migrations
from django.db.models import Q

from annotation import immutable
from annotation.migrations import _sentences

AT_ONCE = 500
TURNED, TEXT = "turned", "text"
Count = Counter[str]
Turn = Callable[[str, Count], Any]
"""From a stored text to what is stored in its place; counts what it does."""


# -- what is in a column ----------------------------------------------------------------------------


def _column(value: str, turn: Turn, count: Count) -> str:
    """A text in a column of text."""
    changed = turn(value, count)
    return value if changed is value else _sentences.packed(changed)


def _member(holder: Any, name: str, turn: Turn, count: Count) -> None:
    """The same of a text in an object of JSON."""
    if isinstance(holder, dict) and isinstance(holder.get(name), str) and holder[name]:
        holder[name] = turn(holder[name], count)


def _detail(value: Any, turn: Turn, count: Count) -> Any:
    _member(value, "reason", turn, count)
    return value


def _result(value: Any, turn: Turn, count: Count) -> Any:
    failed = value.get("failed") if isinstance(value, dict) else None
    for name in failed if isinstance(failed, dict) else ():
        _member(failed, name, turn, count)
    return value


def _inputs(value: Any, turn: Turn, count: Count) -> Any:
    if isinstance(value, dict):
        _member(value.get("evidence"), "from", turn, count)
        for name in ("metric", "people", "samples"):
            _member(value.get(name), "text", turn, count)
        suggestions = value.get("suggestions")
        tables = suggestions.get("tables") if isinstance(suggestions, dict) else None
        for table in tables if isinstance(tables, list) else ():
            _member(table, "why", turn, count)
    return value


def _counts(value: Any, turn: Turn, count: Count) -> Any:
    """Reasons are the keys; two wordings of one become one."""
    for of_kind in value.values() if isinstance(value, dict) else ():
        reasons = of_kind.get("no_op") if isinstance(of_kind, dict) else None
        if isinstance(reasons, dict):
            summed: Counter[str] = Counter()
            for reason, number in reasons.items():
                summed[_column(reason, turn, count)] += number
            of_kind["no_op"] = dict(summed)
    return value


def _forward(text: str, count: Count) -> Any:
    return _turned(text, _sentences.message_of(text), count)


def _forward_list(text: str, count: Count) -> Any:
    return _turned(text, _sentences.message_of_list(text), count)


def _turned(text: str, message: Any, count: Count) -> Any:
    if _sentences.unpacked(text) is not None:
        return text
    if message is None and text.startswith(_sentences.MARK):  # it looks like a message, but is somebody's text
        message = {"code": "text", "values": {"text": text}}
    count[TEXT if message is None else TURNED] += 1
    return text if message is None else message


COLUMNS: tuple[tuple[str, str, Q, Callable[..., Any], Turn], ...] = (
    ("adjudication", "reason", Q(), _column, _forward),
    # What an adjudicator excludes an item for is their own text.
    ("decision", "reason", ~Q(reason="") & (Q(made_by=None) | Q(kind="accepted")), _column, _forward),
    ("event", "detail", Q(thing="item", detail__has_key="reason"), _detail, _forward),
    ("item", "inputs", Q(inputs__has_any_keys=["evidence", "metric", "people", "samples", "suggestions"]), _inputs, _forward),
    ("job", "error", ~Q(error=""), _column, _forward),
    ("job", "result", Q(result__has_key="failed"), _result, _forward),
    ("perturbationrun", "counts", ~Q(counts={}), _counts, _forward),
    # What a language model gives as its reason is its own text.
    ("proposal", "why", ~Q(why="") & Q(source="rules"), _column, _forward_list),
)


def store_messages(apps: Any, editor: Any) -> None:
    for model, field, where, change, turn in COLUMNS:
        count: Count = Counter()
        _change(apps, editor, model, field, where, lambda value: change(value, turn, count))
        if count:
            # Commands that migrate on the way, such as a demo, say other things on the standard output.
            line = f"{model}.{field}: {count[TURNED]} turned into messages, {count[TEXT]} stay text"
            print(f"\n    {line}", end="", file=sys.stderr)


# -- backwards --------------------------------------------------------------------------------------


def _back(value: Any) -> Any:
    """JSON with its messages as texts."""
    if _sentences.is_message(value):
        return _sentences.text_of(value)
    if isinstance(value, dict):
        named = Counter[str]()
        changed: dict[str, Any] = {}
        for key, member in value.items():
            name = _back_text(key)
            named[name] += 1
            both = named[name] > 1 and isinstance(member, int)
            changed[name] = changed[name] + member if both else _back(member)
        return changed
    return [_back(member) for member in value] if isinstance(value, list) else value


def _back_text(text: str) -> str:
    message = _sentences.unpacked(text)
    return text if message is None else _sentences.text_of(message)


def store_texts(apps: Any, editor: Any) -> None:
    for model, field, where, change, _ in COLUMNS:
        _change(apps, editor, model, field, where, _back_text if change is _column else _back)


# -- rows -------------------------------------------------------------------------------------------


def _change(
    apps: Any, editor: Any, name: str, field: str, where: Q, change: Callable[[Any], Any]
) -> None:
    """Change a column, `AT_ONCE` rows in a transaction, so that people can go on annotating meanwhile."""
    model, last = apps.get_model("annotation", name), 0
    rows = model.objects.using(editor.connection.alias).filter(where).order_by("pk")
    while True:
        with immutable.writable(editor.connection):
            some = list(rows.filter(pk__gt=last).select_for_update(no_key=True)[:AT_ONCE])
            changed = []
            for row in some:
                before = repr(getattr(row, field))
                setattr(row, field, change(getattr(row, field)))
                if repr(getattr(row, field)) != before:
                    changed.append(row)
            if changed:
                model.objects.using(editor.connection.alias).bulk_update(changed, [field])
        if not some:
            return
        last = some[-1].pk


class Migration(migrations.Migration):
    atomic = False  # each page of rows is a transaction; run again, it goes on where it stopped
    dependencies = [("annotation", "0018_refuse_replacing")]
    operations = [migrations.RunPython(store_messages, store_texts)]
