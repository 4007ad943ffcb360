"""Redacting a text: a tombstone takes its place in what people wrote about items of an example, and in the example.

It is replaced in all revisions, outcomes, drafts, notes, checks and details of the log, and entries of the search that have
it are deleted. Files of releases stay as they are; later releases have the tombstone, and count redactions. What a table, an
answer or an edit says cannot be redacted: other records follow from it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from django.db import models, transaction
from django.db.models import Q

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
    Outcome,
    Person,
    Proposal,
    ReviewEntry,
    RevisionRequest,
    SearchIndex,
    Snapshot,
    Try,
)
from annotation.platform import immutable_rows
from annotation.platform.refusals import refuse, require_storable
from annotation.queue import submissions
from annotation.releases.history import REDACTED
from tableqa.core.canonical_json import canonical
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
)
"""What people and models wrote about an item, and the way to it."""


def redact(*, item: Item, text: str, reason: str, by: Person, now: datetime, only_count: bool = False) -> int:
    """Redact a text about all items of the item's example and of those that derive from it.

    Returns how many fields had it; with `only_count`, nothing is changed. Raises ActionRefused (invalid_request) where no
    field has it, or where it is in a table, an answer, an edit or a label.
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
        examples = _family(item.example)
        items = list(Item.objects.select_for_update(no_key=True).filter(example__in=examples).order_by("pk"))
        _require_free(examples, text)
        count = _redact_examples(examples, text) + _redact_items([row.pk for row in items], text)
        if not count:
            refuse("invalid_request", "This text is in nothing that can be redacted here.")
        _clear_search(item.batch.project_id, examples, items)
        audit_log.log(item, "", REDACTED, by=by, now=now, detail={"reason": reason, "texts": count})
        if only_count:
            raise _OnlyCounted
    return count


class _OnlyCounted(Exception):
    """Undoes what was done to count."""


def _family(example: Example) -> list[Example]:
    """The original of an example, and all that derives from it, parents first."""
    while example.parent is not None:
        example = example.parent
    family, generation = [example], [example]
    while generation := list(Example.objects.filter(parent__in=generation).select_related("stored_table")):
        family += generation
    return family


def _require_free(examples: Sequence[Example], text: str) -> None:
    for example in examples:
        fixed = [example.stored_table.content, example.operations, example.answers, example.external_id]
        # A program made it of another question, and would not make it of a redacted one.
        parent = example.parent if example.seed is not None else None
        if parent is not None and parent.question != example.question:
            fixed.append(example.question)
        if any(text in part for part in _strings(fixed)):
            refuse(
                "invalid_request",
                "A table, an answer, an edit or an id has this text, so it cannot be redacted. Exclude the items, "
                "or delete their batch and source.",
            )


def _redact_examples(examples: Sequence[Example], text: str) -> int:
    count = 0
    for example in examples:
        new = {name: _without(getattr(example, name), text) for name in ("question", "more")}
        if new != {name: getattr(example, name) for name in new}:
            Example.objects.filter(pk=example.pk).update(**new)
            count += 1
    return count


def _redact_items(items: Sequence[int], text: str) -> int:
    count = 0
    for model, way, fields in _BY_ITEM:
        rows: models.QuerySet[Any] = models.QuerySet(model).filter(**{f"{way}__in": items}).order_by("pk")
        for key, *values in rows.values_list("pk", *fields):
            new = {name: _without(value, text) for name, value in zip(fields, values, strict=True)}
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
        if (changed := _without(detail, text)) != detail:
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


def _without(value: Any, text: str) -> Any:
    """A JSON value with the text replaced in all its strings but those of an edit, which refuse."""
    if isinstance(value, str):
        return value.replace(text, TOMBSTONE)
    if isinstance(value, list):
        return [_without(part, text) for part in value]
    if isinstance(value, Mapping):
        if "op" in value and text in canonical(value):
            refuse("invalid_request", "An edit of a table has this text, so it cannot be redacted.")
        return {key: _without(part, text) for key, part in value.items()}
    return value


def _strings(value: Any) -> list[str]:
    """All strings of a JSON value."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]
