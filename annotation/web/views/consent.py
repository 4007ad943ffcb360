"""The page of the consent text: people agree to it before their first item, managers write its versions."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.authorization import Actor
from annotation.access.roles import Permission
from annotation.charts import record_tables
from annotation.models import ConsentText, Project
from annotation.quality import consent as quality_consent
from annotation.quality import guidelines
from annotation.web.forms.entry_requirements import ConsentForm
from annotation.web.views.figure_gallery import figure_gallery, pseudonyms
from annotation.web.views.pages import PageRequest, confirmation_page, page, refusals_on, refusals_to


@page("GET", "POST")
def consent(request: PageRequest, slug: str) -> HttpResponse:
    """The current text (or ?version=), with the button of people who are asked, and the versions for managers."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug)
    may = authorization.permissions_in(actor, project)
    if request.method == "POST":
        return _act(request, actor, project, may)
    return _consent_page(request, project, may, ConsentForm(initial=_initial(project)))


def _act(request: PageRequest, actor: Actor, project: Project, may: frozenset[Permission]) -> HttpResponse:
    action, now = request.POST.get("action"), timezone.now()
    here = redirect("consent", project.slug)
    if action in ("agree", "withdraw") and Permission.ANNOTATE in may:
        with refusals_to(request):
            if action == "withdraw":
                if ask := confirmation_page(request, "withdraw_consent", here.url):
                    return ask
                quality_consent.withdraw(project=project, person=request.user, now=now)
                messages.success(
                    request,
                    gettext(
                        "You have withdrawn your consent and will get no more items. You can agree again at "
                        "any time."
                    ),
                )
                return here
            version = version_number(request.POST.get("number"))
            quality_consent.agree(project=project, person=request.user, version=version, now=now)
            messages.success(request, gettext("Thank you. You can read the text you agreed to here."))
            return redirect(back_to(request, actor) or reverse("project", args=[project.slug]))
        return redirect(request.get_full_path())
    if Permission.SET_UP not in may:
        raise Http404(authorization.NOT_HERE)
    if action == "stop":
        if ask := confirmation_page(request, "stop_consent", here.url):
            return ask
        quality_consent.stop(project=project, by=request.user, now=now)
        messages.success(
            request, gettext("The project no longer asks for consent. Earlier consent stays on record.")
        )
        return here
    form = ConsentForm(request.POST)
    if form.is_valid():
        with refusals_on(form):
            saved = quality_consent.write(project=project, by=request.user, now=now, **form.cleaned_data)
            messages.success(
                request,
                gettext("Annotators are now asked to agree to version {number}.").format(number=saved.number),
            )
            return here
    return _consent_page(request, project, may, form)


def _consent_page(
    request: PageRequest, project: Project, may: frozenset[Permission], form: ConsentForm
) -> HttpResponse:
    newest = quality_consent.current(project)
    requested_number = version_number(request.GET.get("version"))
    consent_text = (
        ConsentText.objects.filter(project=project, number=requested_number).first()
        if requested_number
        else newest
    )
    if requested_number and consent_text is None:
        raise Http404(authorization.NOT_HERE)
    manages = Permission.SET_UP in may
    context: dict[str, Any] = {
        **(figures_of(request, project) if manages else {"versions": []}),
        "project": project,
        "newest": newest,
        "shown": consent_text,
        "text": guidelines.as_html(consent_text.text) if consent_text else "",
        "annotates": Permission.ANNOTATE in may,
        "mine": quality_consent.current_consent(project, request.user) if newest else None,
        "manages": manages,
        "form": form,
        "editing": manages and (form.is_bound or "edit" in request.GET),
    }
    return render(request, "first_day/consent.html", context)


def figures_of(request: PageRequest, project: Project) -> dict[str, Any]:
    """The part of the page's context that holds its figure: the versions, for managers."""
    versions, called = quality_consent.versions(project), pseudonyms(project)
    lines = [
        {
            "number": version.text.number,
            "created_by": called.get(version.text.made_by_id, gettext("an administrator"))
            if version.text.made_by_id
            else gettext("study file"),
            "created": version.text.made_at,
            "given": version.standing,
            "withdrawn": version.withdrawn,
        }
        for version in versions
    ]
    counted = {"given": gettext("Agreed"), "withdrawn": gettext("Withdrawn")}
    table = record_tables.versions(lines, counted)
    return {
        "versions": versions,
        "versions_table": table,
        **figure_gallery(request, "consent", project.slug, [table]),
    }


def back_to(request: PageRequest, actor: Actor) -> str:
    """The annotation page that requires consent (?batch=), "" where there is none."""
    if not (public_id := request.GET.get("batch", "")):
        return ""
    try:
        batch = authorization.batch(actor, public_id, Permission.ANNOTATE)
    except Http404:
        return ""
    return reverse("annotate", args=[batch.public_id])


def _initial(project: Project) -> dict[str, str]:
    newest = quality_consent.current(project)
    return {"text": newest.text} if newest else {}


def version_number(text: str | None) -> int:
    """The number of a version as it was sent; 0 where it is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
