"""Questions to the manager: asked here or from an item, answered for all members of the project."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.access.visibility import Fact
from annotation.models import Inquiry, Item
from annotation.quality import annotator_questions
from annotation.web.forms.entry_requirements import AnswerForm, AskForm
from annotation.web.views.pages import PageRequest, page, paginate, refusals_on, refusals_to


@page("GET", "POST")
def inquiries(request: PageRequest, slug: str) -> HttpResponse:
    """Every question that this person may read, those without an answer first; asking, and answering for managers.

    ?assignment= asks about an item in progress.
    """
    actor = authorization.actor(request)
    project = authorization.project(actor, slug)
    may = authorization.permissions_in(actor, project)
    answers, asks = Permission.SET_UP in may, Permission.ANNOTATE in may
    here, now = redirect("inquiries", project.slug), timezone.now()
    action = request.POST.get("action", "")
    if request.method == "POST" and not (answers or asks):
        raise Http404(authorization.NOT_HERE)
    about = None
    if asks and (assignment_id := request.GET.get("assignment")):
        about = authorization.assignment(actor, assignment_id)
        if about.batch.project_id != project.pk:
            raise Http404(authorization.NOT_HERE)
    form = AskForm(request.POST if action == "ask" and asks else None)
    if form.is_valid():
        with refusals_on(form):
            annotator_questions.ask(
                project=project, person=request.user, assignment=about, now=now, **form.cleaned_data
            )
            messages.success(
                request, gettext("Question sent to the managers. Their answer will appear here.")
            )
            return here
    if action.startswith("answer:"):
        inquiry = Inquiry.objects.filter(
            project=project, public_id=action.removeprefix("answer:")[:12]
        ).first()
        answer_form = AnswerForm(request.POST)
        if not answers or inquiry is None:
            raise Http404(authorization.NOT_HERE)
        with refusals_to(request):
            text = (
                answer_form.cleaned_data["answer"]
                if answer_form.is_valid()
                else request.POST.get("answer", "")
            )
            annotator_questions.answer(inquiry=inquiry, text=text, by=request.user, now=now)
            messages.success(request, gettext("Answer saved. Everyone in the project can read it."))
        return here
    page_of_inquiries = paginate(
        request, annotator_questions.readable_inquiries(project, request.user, answers=answers)
    )
    sight = visibility.visibility_of(actor, project)
    items = [listed.assignment.item_id for listed in page_of_inquiries if listed.assignment]
    nameless = Item.objects.filter(pk__in=items).exclude(sight.condition(Fact.NAMES))
    context = {
        "project": project,
        "answers": answers,
        # An adjudicator must not know who had the item.
        "nameless": set(nameless.values_list("pk", flat=True)) if answers and sight.judges else (),
        "new": annotator_questions.mark_read(inquiries=page_of_inquiries, person=request.user, now=now),
        "asks": asks,
        "about": about,
        "form": form,
        "answer_form": AnswerForm(),
        "open": annotator_questions.open_count(project) if answers else 0,
        "inquiries": page_of_inquiries,
    }
    return render(request, "first_day/inquiries.html", context)
