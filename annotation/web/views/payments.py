"""What people are paid, and what the work cost: for managers, as a page and as a sheet."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.charts import work_tables
from annotation.charts.figure import Figure
from annotation.explorer.item_access import Reader
from annotation.explorer.links import complete_url, submitted_between
from annotation.explorer.selection import MOST_VALUES
from annotation.models import Batch, CrowdEntry, Membership, ModelRequest, Person, Project
from annotation.models.batch_options import budget, work_limits
from annotation.payments import costs, earnings
from annotation.queue import metering, workload
from annotation.templatetags.explorer import reader_of
from annotation.web.views.figure_gallery import figure_gallery
from annotation.web.views.pages import PageRequest, attachment, page
from annotation.workflow import projects
from tableqa.writers import report_tables


class PeriodForm(forms.Form):
    """The days that a payment sheet is about."""

    first = forms.DateField(
        required=False, label=gettext_lazy("From"), widget=forms.DateInput({"type": "date"})
    )
    last = forms.DateField(required=False, label=gettext_lazy("To"), widget=forms.DateInput({"type": "date"}))

    def period(self) -> earnings.Period:
        """The period that was asked for; the whole time where nothing, or nothing readable, was."""
        if not self.is_valid():
            return earnings.ALWAYS
        return earnings.Period(self.cleaned_data["first"], self.cleaned_data["last"])

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        first, last = cleaned_data.get("first"), cleaned_data.get("last")
        if first is not None and last is not None and first > last:
            self.add_error("last", gettext("This day is before the first one. Swap them."))
        return cleaned_data


class RatesForm(forms.Form):
    """What a project pays, and how much a person may work a day."""

    currency = forms.CharField(
        required=False,
        max_length=3,
        label=gettext_lazy("Currency"),
        help_text=gettext_lazy("Three capitals, for example EUR."),
    )
    per_hour = forms.FloatField(required=False, label=gettext_lazy("Pay per hour"))
    per_item = forms.FloatField(required=False, label=gettext_lazy("or per item"))
    items_per_day = forms.IntegerField(required=False, label=gettext_lazy("Maximum items per person per day"))
    hours_per_day = forms.FloatField(required=False, label=gettext_lazy("Maximum hours per person per day"))

    PAY = ("currency", "per_hour", "per_item")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(budget.fields())


class CorrectionForm(PeriodForm):
    """A rate that should have held on some days."""

    batch = forms.ModelChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        required=False,
        label=gettext_lazy("Batch"),
        empty_label=gettext_lazy("all without a separate rate"),
    )
    currency, per_hour, per_item = (RatesForm.base_fields[name] for name in RatesForm.PAY)
    reason = forms.CharField(max_length=500, label=gettext_lazy("Reason"))

    def __init__(self, project: Project, data: Any) -> None:
        super().__init__(data, prefix="correction", initial={"currency": project.pay.get("currency", "")})
        self.project = project
        self.fields["batch"].queryset = Batch.objects.filter(project=project).order_by("-pk")  # type: ignore[attr-defined]

    def save(self, request: PageRequest) -> None:
        """Save what a valid form says. Raises ActionRefused."""
        data = self.cleaned_data
        begin, end = self.period().ends(self.project)
        projects.correct_rate(
            project=self.project,
            batch=data["batch"],
            pay={name: data[name] for name in RatesForm.PAY},
            begin=begin,
            end=end,
            reason=data["reason"],
            by=request.user,
            now=timezone.now(),
        )
        messages.success(request, gettext("Rate corrected."))


@page("GET")
def payments(request: PageRequest, slug: str) -> HttpResponse:
    """The payment sheet as a file, of a period if one is given. A wrong period leads to the page with its form."""
    project = authorization.project(authorization.actor(request), slug, Permission.SET_UP)
    period_form = PeriodForm(request.GET if {"first", "last"} & request.GET.keys() else None)
    period = period_form.period()
    if period_form.errors:
        query = urlencode({name: request.GET[name] for name in ("first", "last") if name in request.GET})
        return redirect(f"{reverse('people', args=[project.slug])}?{query}#pay")
    text = report_tables.as_csv(earnings.sheet(project, period))
    response = attachment(text, f"{project.slug}-payments.csv", "text/csv; charset=utf-8")
    response["Cache-Control"] = "no-store"
    return response


def pay_context(
    request: PageRequest,
    project: Project,
    *,
    without_counts: Collection[Batch],
    by_person: Mapping[int, workload.Account],
    more: Sequence[Figure | None] = (),
) -> dict[str, Any]:
    """Who worked how long and earned what in the period of the address, what batches cost; `earned_by`: of all time.

    `without_counts`: batches whose accepted items are not for the reader; `by_person`: the work that is; `more`: further
    figures of the page.
    """
    period_form = PeriodForm(request.GET if {"first", "last"} & request.GET.keys() else None)
    period = period_form.period()
    shares = earnings.shares(project, period)
    always = shares if period == earnings.ALWAYS else earnings.shares(project)
    members = {
        each.person_id: each
        for each in Membership.objects.filter(
            project=project, person__in={share.person_id for share in shares}
        ).select_related("person")
    }
    worked, ends = earnings.shares_by_person(shares), period.ends(project)
    people = [
        {
            "member": member,
            "shares": [(share, _parts(share, *ends)) for share in worked[person]],
            "total": earnings.sum_shares(worked[person]),
        }
        for person, member in sorted(members.items(), key=lambda row: (row[1].person.name, row[0]))
    ]
    found_costs = [cost for cost in earnings.costs_by_batch(always) if cost.batch not in without_counts]
    pay_table, cost_table = _pay_table(people), _cost_table(reader_of(request, project), found_costs)
    earned_by = {
        person: earnings.sum_shares(own) for person, own in earnings.shares_by_person(always).items()
    }
    members_table = _members_table(project, by_person, earned_by)
    model_costs = metering.table(ModelRequest.objects.filter(project=project))
    model_costs_table = work_tables.model_costs(model_costs.rows, model_costs.columns)
    figures = [members_table, pay_table, cost_table, model_costs_table, *more]
    return {
        "asked": period_form,
        "query": urlencode({name: request.GET[name] for name in ("first", "last") if request.GET.get(name)}),
        **submitted_between(*ends),
        "rate": costs.rate_in_words(project.pay),
        "paid": people,
        "paid_people": _paid_people(people),
        "has_simulated_work": not people and _has_simulated_work(by_person),
        "earned_by": earned_by,
        "has_crowd": CrowdEntry.objects.filter(link__project=project).exists(),
        "earned": earnings.sum_shares(shares),
        "model_costs": model_costs,
        "model_costs_table": model_costs_table,
        "model_budget": budget.in_words(project.model_budget) if project.model_budget else "",
        "pay_table": pay_table,
        "cost_table": cost_table,
        "members_table": members_table,
        **figure_gallery(request, "people", project.slug, figures),
    }


def _parts(
    share: earnings.Share, begin: datetime | None, end: datetime | None
) -> list[tuple[earnings.Total, dict[str, str]]]:
    """The parts of the share within a period, each with the filters of its items."""
    return [
        (
            part,
            submitted_between(
                max(filter(None, (since, begin)), default=None),
                min(filter(None, (until, end)), default=None),
            ),
        )
        for (since, until), part in share.parts
    ]


def _has_simulated_work(by_person: Mapping[int, workload.Account]) -> bool:
    """Whether a simulated annotator submitted something, which is not paid."""
    submitted = [person for person, account in by_person.items() if account.submitted]
    return Person.objects.filter(pk__in=submitted, is_simulated=True).exists()


def _paid_people(people: Sequence[Mapping[str, Any]]) -> list[str]:
    """The pseudonyms of people who submitted something; none where they are too many for a selection."""
    pseudonyms = [row["member"].pseudonym for row in people if row["total"].items]
    return pseudonyms if len(pseudonyms) <= MOST_VALUES else []


def _members_table(
    project: Project, by_person: Mapping[int, workload.Account], earned_by: Mapping[int, Any]
) -> Figure | None:
    """All members by pseudonym, with their work and pay of all time."""
    members = Membership.objects.filter(project=project, removed_at__isnull=True).order_by("pseudonym")
    lines = [
        {
            "member": member,
            "account": by_person.get(member.person_id, workload.Account()),
            "total": earned_by.get(member.person_id, earnings.Total()),
        }
        for member in members
    ]
    return work_tables.members(lines)


def _pay_table(people: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Work and pay as a figure, in which people have their pseudonyms: a file may go into a paper."""
    return work_tables.pay(
        [{"member": row["member"], "share": share} for row in people for share, _ in row["shares"]]
    )


def _cost_table(who: Reader, batch_costs: Sequence[earnings.Cost]) -> Figure | None:
    return work_tables.costs(
        [
            {
                "cost": cost,
                "total": cost.total,
                "address": reverse("batch", args=[cost.batch.public_id]),
                "items_address": complete_url(who, batch=cost.batch, state="accepted"),
            }
            for cost in batch_costs
        ]
    )


def rates_form(project: Project, data: Any) -> RatesForm:
    """The form of rates and limits, as they are."""
    return RatesForm(data, initial={**project.pay, **project.caps, **budget.split(project.model_budget)})


def save_rates(request: PageRequest, project: Project, form: RatesForm) -> None:
    """Save what a valid form says. Raises ActionRefused."""
    data = form.cleaned_data
    projects.change_terms(
        project=project,
        pay={name: data[name] for name in RatesForm.PAY},
        caps={name: data[name] for name in work_limits.OF_A_PROJECT},
        model_budget=budget.join(data) if budget.has_language_models() else None,
        by=request.user,
        now=timezone.now(),
    )
    messages.success(request, gettext("Pay and limits saved."))
