"""Saved views: a name for filters and order, for oneself or, by managers, for the project."""

from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import QueryDict

from annotation.explorer.item_access import Reader
from annotation.explorer.selection import BadSelection, parse, query
from annotation.models import SavedView
from annotation.platform.refusals import refuse

MOST: Final = 30
"""Own views of a person in a project, and shared views of a project."""
LONGEST_NAME: Final = 60
LONGEST_QUERY: Final = 4_000


def visible_views(who: Reader) -> QuerySet[SavedView]:
    """The views that the reader sees in the project: shared ones first, then their own, by name."""
    seen = SavedView.objects.filter(Q(is_shared=True) | Q(made_by=who.actor.person), project=who.project)
    return seen.order_by("-is_shared", "name", "pk")


def save(*, who: Reader, name: str, filters: str, is_shared: bool, now: datetime) -> SavedView:
    """Give the selection of a query string a name. Pages of the list are not part of it.

    Raises ActionRefused: invalid_request for a wrong name, wrong filters, too many views, or a shared view of somebody who
    does not manage the project; name_taken.
    """
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or "\0" in name:
        refuse("invalid_request", "Enter a name of at most {most} characters.", most=LONGEST_NAME)
    if is_shared and not who.leads:
        refuse("invalid_request", "Only managers can share a view with the project.")
    try:
        chosen = canonical_selection(filters)
    except BadSelection:
        refuse("invalid_request", "These filters cannot be saved. Set them again.")
    if len(chosen) > LONGEST_QUERY:
        refuse("invalid_request", "These are too many filters for a saved view.")
    same = SavedView.objects.filter(project=who.project, is_shared=is_shared)
    if not is_shared:
        same = same.filter(made_by=who.actor.person)
    if same.count() >= MOST:
        refuse("invalid_request", "There are {most} saved views already. Delete one first.", most=MOST)
    try:
        with transaction.atomic():
            return SavedView.objects.create(
                project=who.project,
                name=name,
                query=chosen,
                is_shared=is_shared,
                made_by=who.actor.person,
                made_at=now,
            )
    except IntegrityError:
        refuse("name_taken", "A saved view is already called {name}. Choose another name.", name=name)


def canonical_selection(filters: str) -> str:
    """The selection of a query string in its canonical form, without pages of the list. Raises BadSelection."""
    params = {key: values for key, values in QueryDict(filters).lists() if any(values)}
    return query(parse(params).without("after", "before"))


def deletable(who: Reader) -> QuerySet[SavedView]:
    """The views that the reader may delete: their own, and for managers those that are shared."""
    own = Q(made_by=who.actor.person)
    return visible_views(who).filter(own | Q(is_shared=True) if who.leads else own)
