"""The settings of a batch on one page: sections that are saved separately, and what is fixed beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.models import Batch, Gold, Guidelines
from annotation.models.batch_options import TERMS
from annotation.platform.refusals import refuse
from annotation.quality import qualification
from annotation.queue import entry_requirements, practice, resolutions
from annotation.web.forms.adjudication import RuleForm
from annotation.web.forms.batch_settings import ChangeForm, NamedChangeForm
from annotation.web.forms.batches import settings_in_words
from annotation.web.views.pages import PageRequest, confirm, page, refusals_on
from annotation.workflow import automatic_decisions, batches
from annotation.workflow import batch_settings as workflow_batch_settings
from tasks.contract import TaskType, decision_rules


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, its title, the sections of `annotation.models.batch_options` in it.

    is_confirmed   a change in an open batch is shown with its effect first
    saved          what the page says after saving
    """

    name: str
    title: str
    terms: tuple[str, ...]
    is_confirmed: bool = True
    saved: str = gettext_noop("Saved.")


FROM_NEXT_ITEM: Final = gettext_noop("Saved. Applies from each person's next item.")

SECTIONS: Final[dict[str, Section]] = {
    section.name: section
    for section in (
        Section("general", gettext_noop("Name and guidelines"), ("people",)),
        Section("rule", gettext_noop("Decision rule"), ("rule",)),
        Section("adjudication", gettext_noop("Adjudication"), ("decision", "adjudication")),
        Section("entry", gettext_noop("Entry requirements"), ("quality",), False, FROM_NEXT_ITEM),
        Section("gold", gettext_noop("Gold answers"), ("gold",), False, FROM_NEXT_ITEM),
        Section("limits", gettext_noop("Limits and pay"), ("limits", "pay", "budget")),
        Section("model", gettext_noop("Model in the loop"), ("loop", "help")),
        Section("fixed", gettext_noop("Sampling and task type"), ("sampling", "fed", "task")),
    )
}


@page("GET", "POST")
def batch_settings(request: PageRequest, public_id: str) -> HttpResponse:
    """All settings of a batch; POST saves the section that it names, after its effect was confirmed."""
    batch = authorization.batch(authorization.actor(request), public_id, Permission.SET_UP)
    counted = visibility.sees_counts(request.user, batch)
    sent = SECTIONS.get(request.POST.get("section", ""))
    forms = {
        name: form
        for name, section in SECTIONS.items()
        if (form := _form(batch, section, request.POST if section == sent else None, counted=counted))
        is not None
    }
    foreseen = None
    if sent is not None and (form := forms.get(sent.name)) is not None and form.is_valid():
        with refusals_on(form):
            if isinstance(form, RuleForm):
                if request.POST.get("action") == "change":
                    return _change_rule(request, batch, form)
                if not counted:
                    refuse("still_involved", visibility.why_no_counts())
                checked = automatic_decisions.checked_rule(batch, form.cleaned_data["checked"])
                foreseen = automatic_decisions.preview_rule(batch, checked)
            else:
                return _change(request, batch, sent, form)
    return render(request, "assigning/settings.html", _context(request, batch, forms, foreseen))


def facts(batch: Batch, task: TaskType) -> dict[str, list[dict[str, str]]]:
    """The terms of a batch that differ from their defaults or are always shown, by section of
    `annotation.models.batch_options`.

    Each is {"name", "label", "value" (in words), "link" ("" or a page)}.
    """
    by_section: dict[str, list[dict[str, str]]] = {}
    for name, term in TERMS.items():
        value = getattr(batch, name)
        always = term.is_always_shown and batch.purpose in term.purposes and term.fits(task)
        if not term.is_in_form or not (always or term.is_set(value)):
            continue
        if name == "overlap" and batch.strategy == "everyone":
            continue  # counted when the batch opens
        if name == "resolve" and not batch.decides:
            continue
        link = reverse("batch", args=[value.public_id]) if isinstance(value, Batch) else ""
        text = term.in_words(value)
        if name == "resolve" and not value and task.rule:
            text = f"{decision_rules.in_words(decision_rules.own_rule(task, batch.settings))} ({text})"
        fact = {"name": name, "label": gettext(term.label), "value": text, "link": link}
        by_section.setdefault(term.section, []).append(fact)
    return by_section


# -- underneath -------------------------------------------------------------------------------------


def _address(batch: Batch, section: str, *, is_saved: bool = False) -> str:
    query = f"?saved={section}" if is_saved else ""
    anchor = f"#{section}" if section else ""
    return f"{reverse('batch_settings', args=[batch.public_id])}{query}{anchor}"


def _form(batch: Batch, section: Section, data: Any, *, counted: bool) -> ChangeForm | RuleForm | None:
    """The form of a section; None where nothing of it can change."""
    if section.name == "rule":
        rules = decision_rules.fitting_rules(batch.task())
        if not rules or not batch.decides:
            return None
        now_is = {name: value for name, value in batch.resolve.items() if name != "rule"}
        return RuleForm(
            data,
            initial={"rule": batch.resolve.get("rule", ""), "options": now_is},
            rules=[(rule.name, f"{gettext(rule.title)}: {gettext(rule.says)}") for rule in rules],
        )
    kind = NamedChangeForm if section.name == "general" else ChangeForm
    form = kind(data, batch=batch, sections=section.terms, counted=counted)
    return form if form.fields else None


def _change(request: PageRequest, batch: Batch, section: Section, form: ChangeForm) -> HttpResponse:
    """Save the section, or ask first where that changes something for people who are at work."""
    new_terms = form.cleaned_data["wanted"]
    if section.is_confirmed and batch.opened_at is not None and "confirmed" not in request.POST:
        counted = visibility.sees_counts(request.user, batch)
        if effects := workflow_batch_settings.effects(batch, new_terms, counted=counted):
            title, verb = gettext("Change {name}?").format(name=batch.name), gettext("Change batch")
            back = _address(batch, section.name)
            return confirm(request, batch.project, batch, title=title, effects=effects, verb=verb, back=back)
    now = timezone.now()
    with transaction.atomic():
        if isinstance(form, NamedChangeForm):
            batches.rename_batch(batch=batch, name=form.cleaned_data["name"], by=request.user, now=now)
        if new_terms:
            workflow_batch_settings.change(batch=batch, changes=new_terms, by=request.user, now=now)
    return redirect(_address(batch, section.name, is_saved=True))


def _change_rule(request: PageRequest, batch: Batch, form: RuleForm) -> HttpResponse:
    rule = form.cleaned_data["checked"]
    job = automatic_decisions.change_rule(batch=batch, rule=rule, by=request.user, now=timezone.now())
    if job is not None:
        return redirect("job", job.public_id)
    return redirect(_address(batch, "rule", is_saved=True))


def _context(request: PageRequest, batch: Batch, forms: Mapping[str, Any], foreseen: Any) -> dict[str, Any]:
    task = batch.task()
    saved = request.GET.get("saved", "")
    facts_by_section = facts(batch, task)
    rows = []
    for name, section in SECTIONS.items():
        form = forms.get(name)
        in_form = set(getattr(form, "terms", ())) | ({"resolve"} if name == "rule" else set())
        fixed = [
            fact
            for of in section.terms
            for fact in facts_by_section.get(of, ())
            if fact["name"] not in in_form
        ]
        if form is None and not fixed and name not in _ALWAYS:
            continue
        rows.append(
            {
                "name": name,
                "title": gettext(section.title),
                "form": form,
                "facts": fixed,
                "template": f"assigning/settings/{name}.html" if name in _OWN_TEMPLATE else "",
                "saved": gettext(section.saved)
                if saved == name and form is not None and not form.is_bound
                else "",
            }
        )
    context = {
        "batch": batch,
        "project": batch.project,
        "task": task,
        "task_settings": settings_in_words(task, batch.settings),
        "sections": rows,
        "foreseen": foreseen,
    }
    return context | _of_rule(request, batch, task) | _of_entry(batch, task) | _of_gold(request, batch)


_ALWAYS: Final = frozenset({"general", "entry", "gold", "fixed"})
_OWN_TEMPLATE: Final = frozenset({"general", "rule", "entry", "gold", "fixed"})


def _of_rule(request: PageRequest, batch: Batch, task: TaskType) -> dict[str, Any]:
    sees_counts = visibility.sees_counts(request.user, batch)
    return {
        "rules": decision_rules.fitting_rules(task),
        "rule": decision_rules.in_words(batch.resolve),
        "own_rule": decision_rules.in_words(decision_rules.own_rule(task, batch.settings))
        if task.rule
        else "",
        "waiting": resolutions.waiting(batch).count() if sees_counts and batch.decides else None,
    }


def _of_entry(batch: Batch, task: TaskType) -> dict[str, Any]:
    is_qualification = batch.purpose == Batch.Purpose.QUALIFICATION
    return {
        "is_qualification": is_qualification,
        "asked": entry_requirements.entry_requirements(batch, task),
        "has_practice": bool(practice.exercises(task, batch.variant)),
        "asking": qualification.batches_requiring(batch) if is_qualification else [],
        "guidelines": Guidelines.objects.filter(project=batch.project, task_type=task.key)
        .order_by("-number")
        .first(),
    }


def _of_gold(request: PageRequest, batch: Batch) -> dict[str, Any]:
    """Annotators of the batch are measured by its gold items and do not see how many there are."""
    sees = visibility.may_see_agreement(request.user, batch)
    return {
        "sees_gold": sees,
        "golds": Gold.objects.filter(item__batch=batch).count() if sees else 0,
    }
