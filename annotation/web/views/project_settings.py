"""The settings of a project on one page: name, pay and limits, licences of sources, formats of releases, retention."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.models import Project, Source
from annotation.releases import creation
from annotation.web.forms.projects import RenameForm, RetentionForm
from annotation.web.forms.releases import ReleaseOptionsForm
from annotation.web.views import payments
from annotation.web.views.pages import PageRequest, page, refusals_on
from annotation.workflow import deletion, projects


class LicencesForm(forms.Form):
    """The licence of each source of a project, by the id of the source."""

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project) -> None:
        super().__init__(data)
        for source in Source.objects.ready().filter(project=project).order_by("pk"):
            self.fields[source.public_id] = forms.CharField(
                required=False, max_length=projects.LONGEST_LICENCE, label=source.name, initial=source.licence
            )


@page("GET", "POST")
def project_rename(request: PageRequest, slug: str) -> HttpResponse:
    """Each section is a form of its own; a POST saves the one that `section` names."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    section, by, now = request.POST.get("section", "general"), request.user, timezone.now()
    post = {section: request.POST} if request.method == "POST" else {}
    options = ReleaseOptionsForm(post.get("formats"), defaults=project.release)
    options.fields["format"].required = False
    sections: dict[str, Any] = {
        "general": RenameForm(post.get("general"), project=project),
        "pay": payments.rates_form(project, post.get("pay")),
        "licences": LicencesForm(post.get("licences"), project=project),
        "formats": options,
        "retention": RetentionForm(post.get("retention"), initial={"days": project.retention_days}),
    }
    form = sections.get(section)
    if form is not None and form.is_valid():
        data = form.cleaned_data
        with refusals_on(form):
            if section == "pay":
                payments.save_rates(request, project, form)
            elif section == "licences":
                projects.change_licences(project=project, licences=data, by=by, now=now)
                messages.success(request, gettext("Licences saved. Later releases name them."))
            elif section == "formats":
                formats, prompts = data.pop("format"), data.pop("prompts")
                terms = creation.options(formats, prompts=prompts, **data) if formats else {}
                creation.change_options(project=project, terms=terms, by=by, now=now)
                messages.success(request, gettext("Saved. New releases begin with these options."))
            elif section == "retention":
                deletion.change_retention(project=project, **data, by=by, now=now)
                messages.success(request, gettext("Retention period saved."))
            else:
                projects.rename_project(project=project, by=by, now=now, **data)
                messages.success(request, gettext("Saved. The short name in the URL is unchanged."))
            return redirect(f"{reverse('project_rename', args=[slug])}#{section}")
    return render(request, "setting_up/rename.html", {"project": project, **sections})
