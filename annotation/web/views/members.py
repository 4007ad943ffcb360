"""The people of a project on one page: members, invitations, allocation, pay and crowd links."""

import itertools
import secrets
from collections.abc import Iterable
from typing import Any, Final

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.charts import list_tables
from annotation.models import CrowdLink, Invitation, Membership, Project
from annotation.platform.public_links import public_link
from annotation.queue import allocation as queue_allocation
from annotation.queue import workload
from annotation.web.forms.accounts import InviteForm, RolesForm
from annotation.web.views import allocation, payments
from annotation.web.views.figure_gallery import pseudonyms
from annotation.web.views.pages import (
    PageRequest,
    forbid_storing,
    page,
    paginate,
    pop_secrets,
    refusals_on,
    refusals_to,
    show_secrets_once,
)
from annotation.workflow import projects
from tableqa.writers.report_tables import NOTHING

CONTENTS: Final = {
    "members": gettext_noop("Members"),
    "invite": gettext_noop("Invitations"),
    "allocation": gettext_noop("Allocation"),
    "pay": gettext_noop("Pay"),
    "rates": gettext_noop("Rates and limits"),
    "crowd": gettext_noop("Crowd workers"),
}
"""The sections of the page, by anchor."""


@page("GET", "POST")
def people(request: PageRequest, slug: str) -> HttpResponseBase:
    """Members with progress and pay, invitations, allocation, rates; POST invites (links are shown once) or saves rates."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.INVITE)
    may_set_up = Permission.SET_UP in authorization.permissions_in(actor, project)
    changes_rates = may_set_up and request.POST.get("section") == "rates"
    rates = payments.rates_form(project, request.POST if changes_rates else None)
    corrects = may_set_up and request.POST.get("section") == "correction"
    correction = payments.CorrectionForm(project, request.POST if corrects else None)
    form = InviteForm(None if changes_rates or corrects else request.POST or None, project=project)
    context: dict[str, Any] = {"form": form, "links": None}
    if changes_rates and rates.is_valid():
        with refusals_on(rates):
            payments.save_rates(request, project, rates)
            return redirect(f"{reverse('people', args=[project.slug])}#rates")
    elif corrects and correction.is_valid():
        with refusals_on(correction):
            correction.save(request)
            return redirect(f"{reverse('people', args=[project.slug])}#pay")
    elif form.is_valid():
        with refusals_on(form):
            return _create_invitations(request, project, form)
    new = pop_secrets(request)
    if new:
        context |= _links(request, project, new)
    context |= {"project": project, "contents": {name: gettext(title) for name, title in CONTENTS.items()}}
    context["invitations"] = paginate(request, _open_invitations(project), "invitations")
    former_members = Membership.objects.filter(project=project, removed_at__isnull=False)
    former_members = former_members.select_related("person").order_by("-removed_at", "pk")
    context["left"] = paginate(request, former_members, "left")
    if may_set_up:
        context |= figures_of(request, project, context["invitations"])
        context |= {"rates": rates, "correction": correction, "corrects": corrects}
        context["crowd_links"] = list(CrowdLink.objects.filter(project=project).order_by("-pk")[:SHOWN])
        context["now"] = timezone.now()
    context["members"] = _members(request, project, context)
    answer = render(request, "people/people.html", context)
    return forbid_storing(answer) if new else answer


def figures_of(
    request: PageRequest, project: Project, invitations: Iterable[Invitation] | None = None
) -> dict[str, Any]:
    """Allocation, pay and costs with their figures, and that of these invitations: those of the page, or all for a file."""
    work = allocation.allocation(request, project)
    called = pseudonyms(project)
    invited = list_tables.invitations(
        [
            {"invitation": invitation, "created_by": called.get(invitation.made_by_id, NOTHING)}
            for invitation in (_open_invitations(project) if invitations is None else invitations)
        ]
    )
    money = payments.pay_context(
        request,
        project,
        without_counts=work["left_out"],
        by_person=work["by_person"],
        more=[work["by_batch_table"], work["by_line_table"], invited],
    )
    return {**work, **money, "invitations_table": invited}


MOST_LISTED: Final = 600
"""Characters of addresses without a new link: a session is a cookie, which holds 4 KB."""
SHOWN: Final = 5
"""Crowd links on the page; their own page has all."""


def _members(request: PageRequest, project: Project, context: dict[str, Any]) -> Any:
    """A page of the members, each with `account` (of the batches whose counts the reader may see) and `earned`."""
    rows = Membership.objects.filter(project=project, removed_at__isnull=True).select_related("person")
    members = paginate(request, rows.order_by("person__name", "pk"))
    for member in members:
        member.account = context.get("by_person", {}).get(member.person_id, workload.Account())
        member.earned = context.get("earned_by", {}).get(member.person_id)
    return members


def _open_invitations(project: Project) -> QuerySet[Invitation]:
    """Neither accepted nor expired, the newest first."""
    waiting = Invitation.objects.filter(
        project=project, accepted_at__isnull=True, expires_at__gt=timezone.now()
    )
    return waiting.select_related("made_by").order_by("-made_at", "pk")


def _create_invitations(request: PageRequest, project: Project, form: InviteForm) -> HttpResponse:
    """Create the links of the form, and go to the page that shows them once: a session holds their seed, no list of them."""
    seed, now = secrets.token_urlsafe(24), timezone.now()
    projects.invite_all(
        project=project,
        names=form.names(),
        roles=form.cleaned_data["roles"],
        days=form.cleaned_data["days"],
        by=request.user,
        now=now,
        seed=seed,
    )
    members, repeated = (
        Truncator(", ".join(each)).chars(MOST_LISTED) for each in (form.members, form.repeated)
    )
    new = {"seed": seed, "made_at": now.isoformat(), "already_members": members, "repeated": repeated}
    return show_secrets_once(request, reverse("people", args=[project.slug]), **new)


def _links(request: PageRequest, project: Project, new: dict[str, str]) -> dict[str, Any]:
    """The links that were created just now."""
    created = Invitation.objects.filter(project=project, made_by=request.user, made_at=new["made_at"])
    tokens = (projects.invitation_token(new["seed"], index) for index in itertools.count())
    links = [
        {"name": invitation.name, "link": public_link(request, reverse("join", args=[token]))}
        for invitation, token in zip(created.order_by("pk"), tokens, strict=False)
    ]
    all_links = "\n".join(f"{each['name']}\t{each['link']}" for each in links)
    return {**new, "links": links, "all_links": all_links}


@page("GET", "POST")
def remove_member(request: PageRequest, pk: int) -> HttpResponse:
    """Ask first, then end a membership."""
    membership = authorization.membership(authorization.actor(request), pk)
    if request.method == "POST":
        with refusals_to(request):
            freed = projects.remove_member(membership=membership, by=request.user, now=timezone.now())
            message = gettext("{name} is no longer in this project.").format(name=membership.person.name)
            messages.success(request, _with_freed(message, freed))
        return redirect("people", membership.project.slug)
    return render(
        request,
        "people/remove_member.html",
        {
            "membership": membership,
            "project": membership.project,
            "kept": queue_allocation.reserved_slots(membership.project, membership.person).count(),
        },
    )


def _with_freed(message: str, freed: int) -> str:
    """A message with how many items were reserved for a person, where there were any."""
    if not freed:
        return message
    more = ngettext(
        "{freed} reserved item is available again.",
        "{freed} reserved items are available again.",
        freed,
    )
    return f"{message} {more.format(freed=freed)}"


@page("GET", "POST")
def change_roles(request: PageRequest, pk: int) -> HttpResponse:
    """What a person is in the project from now on."""
    membership = authorization.membership(authorization.actor(request), pk)
    form = RolesForm(request.POST or None, initial={"roles": membership.roles})
    if form.is_valid():
        with refusals_on(form):
            freed = projects.change_roles(
                membership=membership, roles=form.cleaned_data["roles"], by=request.user, now=timezone.now()
            )
            message = gettext("The roles of {name} are changed.").format(name=membership.person.name)
            messages.success(request, _with_freed(message, freed))
            return redirect("people", membership.project.slug)
    context = {"membership": membership, "project": membership.project, "form": form}
    return render(request, "people/roles.html", context)


@page("POST")
def withdraw(request: PageRequest, pk: int) -> HttpResponse:
    """Take an invitation back."""
    invitation = authorization.invitation(authorization.actor(request), pk)
    projects.withdraw_invitation(invitation=invitation, by=request.user, now=timezone.now())
    messages.success(request, gettext("The invitation is withdrawn. Its link no longer works."))
    return redirect("people", invitation.project.slug)
