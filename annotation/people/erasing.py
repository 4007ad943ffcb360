"""Erasing a person's data on request, without touching what science rests on.

What says who somebody is goes: name, e-mail address, password, time zone, what they said of themselves, the ids of a crowd
platform, drafts, checks of a model, tokens, and the name in what people wrote (`annotation.inventory`). What they submitted
stays under the random pseudonym, which nothing leads back from: a release made before is verified as before, and one made
after has the same numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote_plus

from django.db import models, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils.translation import gettext

from annotation import immutable, inventory
from annotation.journeys import setting_up
from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    CrowdEntry,
    Draft,
    Flag,
    Handling,
    IndexedItem,
    Inquiry,
    Invitation,
    LabelImport,
    Membership,
    Person,
    Project,
    Release,
    SavedView,
    SearchIndex,
    Snapshot,
    Telling,
    Try,
)
from annotation.people import accounts

NAME = "Erased person"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.@_-]+")


@dataclass(frozen=True)
class Effect:
    """What erasing somebody's data would do, in numbers: said before it is done."""

    projects: int
    leases: int
    drafts: int
    checks: int
    tokens: int
    crowd: bool
    submitted: int
    releases: int
    texts: int


def effect(person: Person) -> Effect:
    """What would go (leases, drafts, checks, tokens, ids of a crowd) and what stays (responses, releases, texts written)."""
    mine = Assignment.objects.filter(person=person)
    projects = Membership.objects.filter(person=person).values("project")
    return Effect(
        projects=Membership.objects.filter(person=person, removed_at__isnull=True).count(),
        leases=mine.filter(state=Assignment.State.LEASED).count(),
        drafts=Draft.objects.filter(assignment__person=person).count(),
        checks=Try.objects.filter(assignment__person=person, kind=Try.Kind.PERSON).count(),
        tokens=ApiToken.objects.filter(person=person).count(),
        crowd=CrowdEntry.objects.filter(person=person).exists(),
        submitted=Annotation.objects.filter(assignment__person=person, response__isnull=False)
        .values("assignment")
        .distinct()
        .count(),
        releases=Release.objects.filter(project__in=projects, ready_at__isnull=False).count(),
        texts=Flag.objects.filter(Q(assignment__person=person) | Q(made_by=person)).count()
        + Inquiry.objects.filter(asked_by=person).count(),
    )


def erase(*, person: Person, by: Person, now: datetime) -> None:
    """Erase what says who the person is, and end their access. Erasing twice is erasing once.

    Raises Refused (still_involved) for the only manager of a project and for the only administrator.
    """
    if by.pk != person.pk and not by.is_administrator:
        raise PermissionError(gettext("only the person or an administrator can erase data"))
    with transaction.atomic():
        if (
            Person.objects.select_for_update(no_key=True).filter(pk=person.pk, erased_at__isnull=True).first()
            is None
        ):
            return
        # Figures that are worked out meanwhile are stored before this, or worked out again.
        list(Project.objects.select_for_update(no_key=True).filter(pk__in=_projects(person)).order_by("pk"))
        accounts.require_another_administrator(person)
        for membership in Membership.objects.filter(person=person).select_related("project").order_by("pk"):
            setting_up.remove_member(membership=membership, by=by, now=now)
        Membership.objects.filter(person=person).update(characteristics={})
        _delete_unsubmitted(person)
        ApiToken.objects.filter(person=person).delete()
        Invitation.objects.filter(accepted_by=person).update(name="")
        LabelImport.objects.filter(
            annotators__name=person.name, batch__project__in=_projects(person)
        ).delete()
        _take_out_of_texts(person)
        # The id makes way for something that is nobody's, and stays one of a kind within its link.
        CrowdEntry.objects.filter(person=person).update(
            external_id=Concat(Value("erased "), Cast(F("pk"), models.CharField())),
            study_id="",
            session_id="",
        )
        accounts.record(person=person, by=by, before="", after="erased", now=now)
        person.refresh_from_db()
        person.name, person.email, person.time_zone = NAME, None, "UTC"
        person.personal_settings = {}
        person.set_unusable_password()
        person.is_active = person.is_administrator = False
        person.last_login = None
        person.erased_at = now
        person.session_epoch += 1
        person.save()


def _delete_unsubmitted(person: Person) -> None:
    """Delete drafts, the checks that the person asked for, and what they did with proposals for items never submitted."""
    Draft.objects.filter(assignment__person=person).delete()
    shown = Telling.objects.filter(assignment__person=person, assignment__annotations=None)
    with immutable.writable():
        Try.objects.filter(assignment__person=person, kind=Try.Kind.PERSON).delete()
        Handling.objects.filter(telling__in=shown).delete()
        shown.delete()


def _projects(person: Person) -> QuerySet[Membership, int]:
    return Membership.objects.filter(person=person).values_list("project_id", flat=True)


def _take_out_of_texts(person: Person) -> None:
    """Replace the person's name and e-mail address in what people wrote for one another, wherever it can be changed.

    Invitations that nobody has accepted name whom they are for: of any project, for nobody else may know of them.
    """
    if not _words(person):
        return
    projects = _projects(person)
    _replace(Invitation.objects.all(), "name", person, by="")
    with immutable.writable():
        for column, path in inventory.REPLACED.items():
            table, field = column.split(".")
            rows = inventory.model_of(table)._default_manager.all()
            _replace(rows.filter(**{f"{path}__in": projects}) if path else rows, field, person)
    # Figures quote skip reasons, and those of closed batches are never computed again by themselves.
    Snapshot.objects.filter(project__in=projects).delete()
    _take_out_of_views(person)
    _take_out_of_index(person)


def _take_out_of_views(person: Person) -> None:
    """Delete the person's own views of the explorer, and views that name or look for them."""
    own = Q(made_by=person, is_shared=False)
    for view in SavedView.objects.filter(own | Q(project__in=_projects(person))):
        named = _pattern(person).search(f"{view.name}\n{unquote_plus(view.query)}")
        if named or (view.made_by_id == person.pk and not view.is_shared):
            view.delete()


def _replace(rows: QuerySet[Any], field: str, person: Person, by: str | None = None) -> None:
    """Replace the name in a column of text or JSON of these rows; with `by`, replace the whole text."""
    column, pattern = rows.model._meta.get_field(field), _pattern(person)
    longest = getattr(column, "max_length", None)
    rows = rows.annotate(as_text=Cast(field, models.TextField()))
    for key, value in list(rows.filter(_named("as_text", person)).values_list("pk", field)):
        changed = _without(pattern, value) if by is None or not pattern.search(value) else by
        if changed != value:
            changed = changed[:longest] if isinstance(changed, str) else changed
            rows.model._default_manager.filter(pk=key).update(**{field: changed})


def _take_out_of_index(person: Person) -> None:
    """Delete what the search index holds of texts that name the person; the next look at the project indexes them anew.

    The row of the index is locked first: whoever indexes at the same time has finished, or begins after the erasure.
    """
    projects = SearchIndex.objects.filter(project__in=_projects(person))
    for state in projects.select_for_update(no_key=True).order_by("pk"):
        indexed = IndexedItem.objects.filter(item__batch__project=state.project_id)
        indexed.filter(_named("responded", person)).delete()
        state.items_count = indexed.count()
        state.save(update_fields=["items_count"])


def _without(pattern: re.Pattern[str], value: Any) -> Any:
    """A JSON value with the name replaced in its texts; the keys of objects are the log's own words."""
    if isinstance(value, str):
        return pattern.sub(NAME, value) if pattern.search(value) else value
    if isinstance(value, list):
        return [_without(pattern, member) for member in value]
    if isinstance(value, dict):
        return {key: _without(pattern, member) for key, member in value.items()}
    return value


def _named(field: str, person: Person) -> Q:
    """Texts that may hold the name or the address; `_pattern` is exact.

    The query asks for the longest part that every database compares in the same way, and that JSON writes as it is.
    """
    named = Q()
    for word in _words(person):
        named |= Q(**{f"{field}__icontains": max(_NOT_PLAIN.split(word), key=len)})
    return named


def _words(person: Person) -> list[str]:
    return [word for word in (person.name.strip(), person.email or "") if word and word != NAME]


def _pattern(person: Person) -> re.Pattern[str]:
    """The name or the address as words of their own, in capital letters or not, with any space between them."""
    spaced = (r"\s+".join(map(re.escape, word.split())) for word in _words(person))
    return re.compile("|".join(rf"(?<!\w){word}(?!\w)" for word in spaced), re.IGNORECASE)


def require_erasable(person: Person) -> None:
    """Raises Refused where erasing would leave a project without a manager, or the site without an administrator."""
    accounts.require_another_administrator(person)
    for membership in Membership.objects.filter(person=person, removed_at__isnull=True).select_related(
        "project"
    ):
        setting_up.require_another_manager(membership)
