"""Saved views of the explorer: save the filters and the order that are set, and delete a view."""

from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.explorer import item_access, saved_views
from annotation.explorer.item_access import Reader
from annotation.explorer.links import with_query
from annotation.explorer.selection import BadSelection
from annotation.web.views.pages import PageRequest, confirmation_page, page, refusals_to

REFUSED_VIEW: Final = "refused_view"
"""Key in the session: the name of a view that was refused and whether it was to be shared, for the form of the next page."""


@page("POST")
def save_view(request: PageRequest, slug: str) -> HttpResponse:
    """Save a selection under a name, then show it; with a message and the form as it was sent where it is refused."""
    who = _reader(request, slug)
    address = reverse("explorer", args=[slug])
    name, filters = request.POST.get("name", ""), request.POST.get("query", "")
    is_shared = "is_shared" in request.POST
    with refusals_to(request):
        view = saved_views.save(who=who, name=name, filters=filters, is_shared=is_shared, now=timezone.now())
        messages.success(request, gettext("View “{name}” saved.").format(name=view.name))
        return redirect(with_query(address, view.query))
    request.session[REFUSED_VIEW] = {"name": name[: saved_views.LONGEST_NAME], "is_shared": is_shared}
    try:
        return redirect(with_query(address, saved_views.canonical_selection(filters)))
    except BadSelection:
        return redirect(address)


@page("POST")
def delete_view(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    """Delete a saved view."""
    view = get_object_or_404(saved_views.deletable(_reader(request, slug)), public_id=public_id)
    if ask := confirmation_page(request, "delete_view", reverse("explorer", args=[slug]), view.name):
        return ask
    view.delete()
    messages.success(request, gettext("View “{name}” deleted.").format(name=view.name))
    return redirect("explorer", slug)


def _reader(request: PageRequest, slug: str) -> Reader:
    actor = authorization.actor(request)
    return item_access.reader(actor, authorization.project(actor, slug, Permission.SEE_PROGRESS))
