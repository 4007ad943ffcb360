"""Crowd entry: the participants' way in and out, and the manager's pages about it."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth import login
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.accounts import crowd_entry, rate_limits
from annotation.charts import list_tables
from annotation.models import CrowdEntry, CrowdLink, Person, Project
from annotation.platform.public_links import public_link
from annotation.platform.refusals import ActionRefused
from annotation.web.forms.crowd_entry import CrowdLinkForm
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.pages import (
    PageRequest,
    confirmation_page,
    count_wrong_links,
    forbid_storing,
    page,
    paginate,
    pop_secrets,
    refusals_on,
    refusals_to,
    show_secrets_once,
    with_retry_after,
)
from annotation.workflow import projects

# -- the participants -------------------------------------------------------------------------------


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """The way in. GET shows a button only: platforms and mail programs look at links beforehand."""
    link = crowd_entry.open_link(public_id)
    if link is None:
        raise Http404(authorization.NOT_HERE)
    person = request.user if request.user.is_authenticated else None
    try:
        ids = crowd_entry.ids_of(link, (request.POST if request.method == "POST" else request.GET).dict())
        if request.method == "POST":
            if not _has_entered(person, link) and (address := rate_limits.address_of(request)):
                rate_limits.count_attempt(
                    rate_limits.CROWD_ENTRY, link.public_id, address, now=timezone.now()
                )
            entrant = crowd_entry.enter(link=link, ids=ids, person=person, now=timezone.now())
            if person is None:
                projects.take_time_zone(person=entrant, time_zone=request.POST.get("time_zone", ""))
                login(request, entrant)
            return _limit_referrer(redirect("project", link.project.slug))
        if not _has_entered(person, link):
            crowd_entry.require_open(link, now=timezone.now())
            crowd_entry.require_admitted(link, ids)
    except ActionRefused as refused:
        away = render(
            request,
            "crowd/away.html",
            {"link": link, "why": refused.detail, "again": refused.code == "invalid_request"},
            status=refused.status,
        )
        return _limit_referrer(with_retry_after(away, refused))
    # The ids go on in the form, named as the platform names them; only what is missing is asked for.
    fields = [
        {"name": parameter, "value": getattr(ids, what), "asked": what == "person" and not ids.person}
        for what, parameter in link.parameters.items()
        if parameter
    ]
    fields += [{"name": crowd_entry.SIGNATURE, "value": ids.signature, "asked": False}] * bool(ids.signature)
    return _limit_referrer(render(request, "crowd/enter.html", {"link": link, "fields": fields}))


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def back(request: HttpRequest, token: str) -> HttpResponseBase:
    """A return link, created by a manager for one person, valid once. GET shows a button."""
    try:
        with count_wrong_links(request):
            if request.method == "POST":
                person = crowd_entry.use_return_link(token=token, now=timezone.now())
                login(request, person)
                return forbid_storing(redirect("home"))
            entry = crowd_entry.entry_of_return_link(token=token)
    except ActionRefused as refused:
        context = {"link": None, "why": refused.detail, "again": False}
        away = render(request, "crowd/away.html", context, status=refused.status)
        return forbid_storing(with_retry_after(away, refused))
    return forbid_storing(render(request, "crowd/back.html", {"entry": entry}))


@page("GET", "POST")
def finish(request: PageRequest) -> HttpResponseBase:
    """The state of a crowd worker, and their code once their work is done. POST records the end."""
    entry = CrowdEntry.objects.select_related("link__project", "person").filter(person=request.user).first()
    if entry is None:
        raise Http404(authorization.NOT_HERE)
    if request.method == "POST":
        crowd_entry.finish(entry=entry, now=timezone.now())
        return redirect("crowd_finish")
    end = crowd_entry.completion_state(entry, now=timezone.now())
    return forbid_storing(
        render(request, "crowd/finish.html", {"entry": entry, "end": end, "ended": bool(entry.outcome)})
    )


def _has_entered(person: Person | Any | None, link: CrowdLink) -> bool:
    return person is not None and CrowdEntry.objects.filter(link=link, person=person).exists()


def _limit_referrer(response: HttpResponseBase) -> HttpResponseBase:
    """The address has ids in it: no other address receives it, not even one of this site (whose log may be kept).

    `strict-origin` and not `no-referrer`, with which the form's own Origin would be null and be refused.
    """
    response = forbid_storing(response)
    response["Referrer-Policy"] = "strict-origin"
    return response


# -- the manager ------------------------------------------------------------------------------------


@page("GET", "POST")
def links(request: PageRequest, slug: str) -> HttpResponseBase:
    """The project's crowd links with how many joined by each, and a form for the next one."""
    project = authorization.project(authorization.actor(request), slug, Permission.INVITE)
    form = CrowdLinkForm(request.POST or None)
    if form.is_valid():
        with refusals_on(form):
            link = crowd_entry.make_link(project=project, by=request.user, now=timezone.now(), **form.link())
            messages.success(request, gettext("The link {name} is open.").format(name=link.name))
            return redirect("crowd_link", project.slug, link.public_id)
    page_of_links = paginate(request, _links(project))
    context = {"project": project, "links": page_of_links, "form": form, "now": timezone.now()}
    return render(request, "crowd/links.html", context | figures_of(request, project, page_of_links))


def _links(project: Project) -> Any:
    return _with_counts(CrowdLink.objects.filter(project=project)).order_by("-made_at", "-pk")


def figures_of(request: PageRequest, project: Project, links: Iterable[Any] | None = None) -> dict[str, Any]:
    """The part of the page's context that holds its figures: how many people came by each of these links, or by all."""
    table = list_tables.crowd_links(_links(project) if links is None else links)
    return {"links_table": table, **figure_gallery(request, "crowd", project.slug, [table])}


@page("GET")
def link(request: PageRequest, slug: str, public_id: str) -> HttpResponseBase:
    """One link: its address for the platform, who joined by it, and how their work ended. No names, no pseudonyms."""
    return forbid_storing(_link_page(request, _link(request, slug, public_id), **pop_secrets(request)))


@page("POST")
def close(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    """Close the link: new people cannot join."""
    crowd_link = _link(request, slug, public_id)
    if ask := confirmation_page(request, "close_link", reverse("crowd_link", args=[slug, public_id])):
        return ask
    crowd_entry.close_link(link=crowd_link, by=request.user, now=timezone.now())
    text = gettext("The link {name} is closed. People who already joined can finish.")
    messages.success(request, text.format(name=crowd_link.name))
    return redirect("crowd_link", slug, public_id)


@page("POST")
def admit(request: PageRequest, slug: str, public_id: str) -> HttpResponseBase:
    """Let only signed or listed ids enter. A new key is shown once; a key or list is not ended without asking."""
    crowd_link, by, now = _link(request, slug, public_id), request.user, timezone.now()
    listing, signed = "participants" in request.POST, request.POST.get("signed", "")
    back = reverse("crowd_link", args=[slug, public_id])
    ends = crowd_link.is_limited if listing else signed and crowd_link.is_signed
    if ends and (ask := confirmation_page(request, "replace_list" if listing else "end_key", back, signed)):
        return forbid_storing(ask)
    with refusals_to(request):
        if listing:
            ids = str(request.POST["participants"]).split("\n")
            count = crowd_entry.limit_to(link=crowd_link, participants=ids, by=by, now=now)
            text = gettext("Crowd workers who may enter: {number}").format(number=count)
            empty = gettext("The list of IDs is empty: all may enter.")
            messages.success(request, text if count else empty)
        elif signed and (
            key := crowd_entry.require_signatures(
                link=crowd_link, by=by, now=now, is_required=signed == "yes"
            )
        ):
            return show_secrets_once(request, back, key=key)
    return redirect(back)


@page("POST")
def let_back(request: PageRequest, slug: str, public_id: str, pk: int) -> HttpResponseBase:
    """A return link for one of them. It is shown once."""
    crowd_link, shown_at = _link(request, slug, public_id), reverse("crowd_link", args=[slug, public_id])
    entry = CrowdEntry.objects.select_related("person", "link").filter(link=crowd_link, pk=pk).first()
    if entry is None:
        raise Http404(authorization.NOT_HERE)
    with refusals_to(request):
        token = crowd_entry.make_return_link(entry=entry, by=request.user, now=timezone.now())
        way = public_link(request, reverse("crowd_back", args=[token]))
        return show_secrets_once(request, shown_at, way=way, whose=entry.external_id)
    return redirect(shown_at)


def _link(request: PageRequest, slug: str, public_id: str) -> CrowdLink:
    project = authorization.project(authorization.actor(request), slug, Permission.INVITE)
    if "\0" in public_id:
        raise Http404(authorization.NOT_HERE)
    crowd_link = _with_counts(CrowdLink.objects.filter(project=project, public_id=public_id)).first()
    if crowd_link is None:
        raise Http404(authorization.NOT_HERE)
    return crowd_link


def _with_counts(crowd_links: Any) -> Any:
    return crowd_links.select_related("project").annotate(
        entered=Count("entries"),
        completed=Count("entries", filter=Q(entries__outcome=CrowdEntry.Outcome.COMPLETED)),
        screened=Count("entries", filter=Q(entries__outcome=CrowdEntry.Outcome.SCREENED_OUT)),
    )


def _link_page(request: PageRequest, crowd_link: Any, **more: Any) -> HttpResponse:
    address = public_link(request, reverse("crowd_enter", args=[crowd_link.public_id]))
    if "PROLIFIC_PID" in crowd_link.parameters.values():
        # Prolific fills these in where a study's address has them.
        address += "?" + "&".join(
            f"{name}={{{{%{name}%}}}}" for name in crowd_link.parameters.values() if name
        )
    if crowd_link.is_signed:
        address += f"{'&' if '?' in address else '?'}{crowd_entry.SIGNATURE}=HMAC"
    entries = (
        CrowdEntry.objects.filter(link=crowd_link).select_related("person").order_by("-entered_at", "-pk")
    )
    context = {
        "project": crowd_link.project,
        "link": crowd_link,
        "address": address,
        "key": "",
        "way": "",
        "entries": paginate(request, entries),
        "listed": crowd_link.listed.count() if crowd_link.is_limited else 0,
        "open": crowd_link.closed_at is None and timezone.now() < crowd_link.expires_at,
    }
    return render(request, "crowd/link.html", {**context, **more})
