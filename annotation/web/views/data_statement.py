"""The data statement: what managers and annotators say for it, and its state."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.models import Batch, Membership
from annotation.payments import data_statement
from annotation.web.views.pages import PageRequest, page, refusals_on
from annotation.workflow import projects
from tableqa.writers import hub


class StatementForm(forms.Form):
    """What is asked of managers."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        for question in data_statement.ASKED:
            self.fields[question.name] = forms.CharField(
                required=False,
                max_length=data_statement.LONGEST,
                label=question.title,
                help_text=f"{gettext(question.help)} ({question.item})",
                widget=forms.Textarea({"rows": 3}),
            )


class AboutMeForm(forms.Form):
    """What an annotator may say of themselves."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        for name, label in data_statement.OF_ONESELF.items():
            self.fields[name] = forms.CharField(required=False, max_length=100, label=label)


@page("GET", "POST")
def statement(request: PageRequest, slug: str) -> HttpResponse:
    """The questions that only people can answer, and below them the statement as a release would have it now."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    form = StatementForm(request.POST or project.statement)
    if request.method == "POST" and form.is_valid():
        with refusals_on(form):
            projects.change_statement(
                project=project, statement=form.cleaned_data, by=request.user, now=timezone.now()
            )
            messages.success(request, gettext("Data statement saved. New releases include it."))
            return redirect("statement", project.slug)
    batches = list(Batch.objects.filter(project=project, opened_at__isnull=False).order_by("pk"))
    conditions = data_statement.uncounted_statement(project, batches, until=timezone.now())
    unanswered = [question for question in data_statement.ASKED if not project.statement.get(question.name)]
    missing = [gettext(question.title) for question in unanswered]
    context = {
        "project": project,
        "form": form,
        "missing": missing,
        "sections": [*hub.conditions(conditions), *hub.uses(conditions)],
    }
    return render(request, "paying/statement.html", context)


@page("GET", "POST")
def about_me(request: PageRequest, slug: str) -> HttpResponse:
    """What the person may say of themselves in this project, what becomes of it, and taking it back."""
    project = authorization.project(authorization.actor(request), slug, Permission.ANNOTATE)
    membership = Membership.objects.get(project=project, person=request.user)
    form = AboutMeForm(request.POST or membership.characteristics)
    if request.method == "POST" and form.is_valid():
        with refusals_on(form):
            projects.set_characteristics(membership=membership, entries=form.cleaned_data)
            messages.success(
                request,
                gettext("Saved.")
                if any(form.cleaned_data.values())
                else gettext("No information about you is stored here."),
            )
            return redirect("about_me", project.slug)
    return render(
        request, "paying/about_me.html", {"project": project, "form": form, "fewest": data_statement.FEWEST}
    )
