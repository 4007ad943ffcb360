"""Redacting a text: a tombstone takes its place in what people wrote about items of an example, and in the example.

It is replaced in all revisions, outcomes, drafts, notes, checks and details of the log, and entries of the search that have
it are deleted. A text of a table is replaced in all examples of the project that share the table, and in the edits of it,
which still fit. Files of releases stay as they are; later releases have the tombstone, and count redactions. What a program
made cannot be redacted: it would make something else of the tombstone.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Cast

from annotation.access import audit_log
from annotation.models import (
    Adjudication,
    AdjudicationRequest,
    Annotation,
    Assignment,
    Decision,
    Draft,
    Event,
    Example,
    Flag,
    Gold,
    IndexedItem,
    IndexedValue,
    Inquiry,
    Item,
    ItemChange,
    ModelAnswer,
    Outcome,
    Person,
    Proposal,
    ReviewEntry,
    RevisionRequest,
    SearchIndex,
    Snapshot,
    StoredTable,
    Try,
)
from annotation.platform import immutable_rows
from annotation.platform.refusals import refuse, require_storable
from annotation.queue import submissions
from annotation.releases.history import REDACTED
from tableqa.data.tables import Table, TableError
from tableqa.operations import OperationError, from_dict, replay
from tasks.contract import InvalidResponse

TOMBSTONE: Final = "[redacted]"
SHORTEST: Final = 3
LONGEST: Final = 2000
_BY_ITEM: Final[Sequence[tuple[type[models.Model], str, tuple[str, ...]]]] = (
    (Item, "pk", ("inputs",)),
    (Gold, "item", ("expected", "why")),
    (Assignment, "item", ("reason",)),
    (Annotation, "assignment__item", ("response",)),
    (Draft, "assignment__item", ("response",)),
    (Try, "assignment__item", ("asked", "response")),
    (Proposal, "item", ("data", "why")),
    (Flag, "item", ("note",)),
    (Inquiry, "assignment__item", ("text", "answer")),
    (RevisionRequest, "assignment__item", ("note",)),
    (Adjudication, "item", ("reason",)),
    (AdjudicationRequest, "item", ("reason",)),
    (Decision, "item", ("reason", "note")),
    (Outcome, "decision__item", ("response",)),
    (ReviewEntry, "item", ("note",)),
    (ItemChange, "item", ("before",)),
    (ModelAnswer, "example__items", ("data",)),
)
"""What people and models wrote about an item, and the way to it."""


def redact(*, item: Item, text: str, reason: str, by: Person, now: datetime, only_count: bool = False) -> int:
    """Redact a text about all items of the item's example and of those that derive from it.

    Returns how many fields had it; with `only_count`, nothing is changed. Raises ActionRefused (invalid_request) where no
    field has it, or where it is in an id, in a label or in what a program made.
    """
    text, reason = text.strip(), reason.strip()
    require_storable(text, reason)
    if not SHORTEST <= len(text) <= LONGEST:
        refuse(
            "invalid_request", "Enter a text of {least} to {most} characters.", least=SHORTEST, most=LONGEST
        )
    if not reason and not only_count:
        refuse("invalid_request", "Enter a reason. It must not contain the text.")
    if text in reason or text in TOMBSTONE:
        refuse("invalid_request", "Enter a reason. It must not contain the text.")
    count = 0
    with suppress(_OnlyCounted), transaction.atomic(), immutable_rows.writable():
        examples = _family(item, text)
        keys = [example.pk for example in examples]
        items = list(Item.objects.select_for_update(no_key=True).filter(example__in=keys).order_by("pk"))
        _require_free(examples, text)
        replacements = {text: TOMBSTONE}
        count = _redact_examples(examples, replacements)
        _require_not_offered(item.batch.project_id, items, replacements)
        count += _redact_items([row.pk for row in items], replacements)
        if not count:
            refuse("invalid_request", "This text is in nothing that can be redacted here.")
        _clear_search(item.batch.project_id, examples, items)
        audit_log.log(item, "", REDACTED, by=by, now=now, detail={"reason": reason, "texts": count})
        if only_count:
            raise _OnlyCounted
    return count


class _OnlyCounted(Exception):
    """Undoes what was done to count."""


def _family(item: Item, text: str) -> list[Example]:
    """The original of an item's example, others of its table where that has the text, and all that derives from them,
    parents first.
    """
    with_tables = Example.objects.select_related("stored_table", "parent")
    example = with_tables.get(pk=item.example_id)
    while example.parent is not None:
        example = example.parent
    generation = [example]
    if any(text in part for part in _strings(example.stored_table.content)):
        of_table = with_tables.filter(parent=None, source__project=item.batch.project_id)
        generation = list(of_table.filter(stored_table=example.stored_table).order_by("pk"))
    family = list(generation)
    while generation := list(with_tables.filter(parent__in=generation).order_by("pk")):
        family += generation
    return family


def _require_free(examples: Sequence[Example], text: str) -> None:
    for example in examples:
        fixed: list[Any] = [example.external_id]
        parent = example.parent if example.seed is not None else None
        if parent is not None:
            # A program made it of another table or question, and would not make it of redacted ones.
            fixed += [example.stored_table.content, example.operations, example.answers]
            fixed += [example.question] if parent.question != example.question else []
        if any(text in part for part in _strings(fixed)):
            refuse(
                "invalid_request",
                "An id or what a program made has this text, so it cannot be redacted. Exclude the items, "
                "or delete their batch and source.",
            )


def _require_not_offered(project: int, items: Sequence[Item], replacements: Mapping[str, str]) -> None:
    """Refuse where items of other examples have cells of a table that was redacted, named by its digest."""
    others = Item.objects.filter(batch__project=project).exclude(pk__in=[item.pk for item in items])
    for digest in list(replacements)[1:]:
        if others.annotate(text=Cast("inputs", models.TextField())).filter(text__contains=digest).exists():
            refuse(
                "invalid_request", "Items of other examples offer columns of this table. Delete their batch."
            )


def _redact_examples(examples: Sequence[Example], replacements: dict[str, str]) -> int:
    """Redact examples and their tables. The digests of changed tables join the replacements, with the new ones."""
    count = 0
    former_tables: set[int] = set()
    for example in examples:
        before = {name: getattr(example, name) for name in _OF_EXAMPLES}
        new = {name: _without(value, replacements) for name, value in before.items()}
        stored = example.stored_table
        content = _without(stored.content, replacements)
        if new == before and content == stored.content:
            continue
        if content != stored.content:
            former_tables.add(stored.pk)
            digest = _table(content, []).digest()
            new["stored_table"], _ = StoredTable.objects.get_or_create(
                digest=digest, defaults={"content": content}
            )
            replacements[stored.digest] = digest
        new["table_digest"] = _table(content, new["operations"]).digest()
        if new["table_digest"] != example.table_digest:
            replacements[example.table_digest] = new["table_digest"]
        Example.objects.filter(pk=example.pk).update(**new)
        count += 1
    used = Exists(Example.objects.filter(stored_table=OuterRef("pk")))
    unused = StoredTable.objects.filter(~used, pk__in=former_tables)
    unused._raw_delete(unused.db)
    return count


_OF_EXAMPLES: Final = ("question", "answers", "operations", "more")


def _table(content: Mapping[str, Any], operations: Sequence[Mapping[str, Any]]) -> Table:
    try:
        return replay(Table.from_dict(content), [from_dict(operation) for operation in operations])
    except (TableError, OperationError):
        refuse("invalid_request", "Without the text, the table or an edit of it is not valid.")


def _redact_items(items: Sequence[int], replacements: Mapping[str, str]) -> int:
    count = 0
    for model, way, fields in _BY_ITEM:
        rows: models.QuerySet[Any] = models.QuerySet(model).filter(**{f"{way}__in": items}).order_by("pk")
        for key, *values in rows.values_list("pk", *fields).distinct():
            new = {name: _without(value, replacements) for name, value in zip(fields, values, strict=True)}
            if list(new.values()) != values:
                for name, value in new.items():
                    longest = getattr(model._meta.get_field(name), "max_length", None)
                    new[name] = value[:longest] if isinstance(value, str) else value
                models.QuerySet(model).filter(pk=key).update(**new)
                count += 1
                if model is Annotation:
                    _check_response(key)
    assignments = Assignment.objects.filter(item__in=items).values("pk")
    about = Q(thing="item", thing_id__in=items) | Q(thing="assignment", thing_id__in=assignments)
    for key, detail in Event.objects.filter(about).exclude(detail=None).values_list("pk", "detail"):
        if (changed := _without(detail, replacements)) != detail:
            Event.objects.filter(pk=key).update(detail=changed)
            count += 1
    return count


def _check_response(key: int) -> None:
    """Refuse where a changed response is not valid; the fingerprint of a valid one is that of the tombstone."""
    row = Annotation.objects.select_related("assignment__batch__definition", "assignment__item__example").get(
        pk=key
    )
    assignment, response = row.assignment, row.response or {}
    if assignment.annotation_id != row.pk:
        return
    try:
        assignment.batch.task().parse(response["data"], assignment.item.plain())
    except InvalidResponse:
        refuse("invalid_request", "The text is a label or a value of a response, so it cannot be redacted.")
    Assignment.objects.filter(pk=assignment.pk, response_fingerprint__isnull=False).update(
        response_fingerprint=submissions.fingerprint(response)
    )


def _clear_search(project: int, examples: Sequence[Example], items: Sequence[Item]) -> None:
    """Delete entries of the search; the next look at the project indexes its items again."""
    # All of them: a value is indexed by its beginning, which can end within the text.
    IndexedValue.objects.filter(example__in=examples).delete()
    state = SearchIndex.objects.filter(project=project).select_for_update(no_key=True).first()
    if state is not None:
        indexed = IndexedItem.objects.filter(item__batch__project=project)
        indexed.filter(item__in=items).delete()
        state.items_count = indexed.count()
        state.save(update_fields=["items_count"])
    Snapshot.objects.filter(project=project).delete()


def _without(value: Any, replacements: Mapping[str, str]) -> Any:
    """A JSON value with the texts replaced in all its strings but the names of operations."""
    if isinstance(value, str):
        for text, new in replacements.items():
            value = value.replace(text, new)
        return value
    if isinstance(value, list):
        return [_without(part, replacements) for part in value]
    if isinstance(value, Mapping):
        return {key: part if key == "op" else _without(part, replacements) for key, part in value.items()}
    return value


def _strings(value: Any) -> list[str]:
    """All strings of a JSON value."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]
