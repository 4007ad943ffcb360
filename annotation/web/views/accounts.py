"""A forgotten password, one's own data, and the pages on which administrators look after accounts."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation.access import authorization
from annotation.accounts import erasure, personal_data, rate_limits, sign_up
from annotation.models import Membership, Person
from annotation.platform.public_links import public_link
from annotation.platform.refusals import ActionRefused
from annotation.web.forms.accounts import NewPasswordForm, PasswordField, RegisterForm, require_own_password
from annotation.web.views.pages import (
    PageRequest,
    attachment,
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

# -- a forgotten password ---------------------------------------------------------------------------


class ForgottenForm(forms.Form):
    """The address that one signs in with."""

    email = RegisterForm.base_fields["email"]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponseBase:
    """Ask for a link. The answer is the same whether there is such an account or not."""
    form = ForgottenForm(request.POST or None)
    if form.is_valid():
        email, now = form.cleaned_data["email"], timezone.now()
        with refusals_on(form):
            # As often for an address without an account: the answers must not differ.
            rate_limits.count_attempt(rate_limits.RESET_ACCOUNT, email.strip().lower(), now=now)
            rate_limits.count_failure(rate_limits.RESET_ADDRESS, request, now=now)
            sign_up.ask_for_reset(email=email, site=public_link(request, "/"))
            return redirect(f"{request.path}?asked")
    context = {"form": form, "asked": "asked" in request.GET, "has_mail": sign_up.has_mail()}
    return render(request, "accounts/forgotten.html", context)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reset_password(request: HttpRequest, key: str, token: str) -> HttpResponseBase:
    """Choose a new password by a link. Looking at it uses nothing up."""
    try:
        with count_wrong_links(request):
            person = sign_up.person_of_reset_link(key, token)
        form = NewPasswordForm(request.POST or None, person=person)
        if form.is_valid():
            sign_up.reset_password(
                key=key, token=token, password=form.cleaned_data["new"], now=timezone.now()
            )
            messages.success(
                request,
                gettext(
                    "Your password is changed. You are signed out on all devices, and your API tokens are revoked."
                ),
            )
            return forbid_storing(redirect("sign_in"))
    except ActionRefused as refused:
        gone = render(request, "accounts/gone.html", {"why": refused.detail}, status=refused.status)
        return forbid_storing(with_retry_after(gone, refused))
    return forbid_storing(render(request, "accounts/reset.html", {"form": form, "person": person}))


# -- one's own data ---------------------------------------------------------------------------------


class EraseForm(forms.Form):
    """That it is meant: by the password, or for people without one by a word."""

    sure = forms.CharField(strip=False, max_length=500)

    def __init__(self, *args: Any, by: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.by = by
        sure = self.fields["sure"]
        sure.error_messages["required"] = gettext("Confirm this action.")
        if by.has_usable_password():
            sure.label, sure.widget = gettext("Your password"), PasswordField().widget
        else:
            sure.label = gettext("Type “erase” to confirm")

    def clean_sure(self) -> str:
        confirmation: str = self.cleaned_data["sure"]
        if self.by.has_usable_password():
            require_own_password(self.by, confirmation)
        elif confirmation.strip().casefold() not in ("erase", gettext("erase").casefold()):
            raise ValidationError(gettext("Type the word erase to confirm."))
        return confirmation


@page("GET")
def my_data(request: PageRequest) -> HttpResponse:
    """Everything that is stored about oneself, as a file."""
    return _file(request.user)


@sensitive_post_parameters()
@page("GET", "POST")
def erase_me(request: PageRequest) -> HttpResponse:
    """Say what erasing one's data does, ask, and do it."""
    return _erase(request, request.user, mine=True)


# -- for administrators -----------------------------------------------------------------------------


@page("GET")
def people(request: PageRequest) -> HttpResponse:
    """Every account of the site, found by name or e-mail address."""
    authorization.require_administrator(authorization.actor(request))
    query = request.GET.get("words", "")[:120]
    matches = sign_up.search(query)
    return render(request, "accounts/people.html", {"people": paginate(request, matches), "words": query})


GRAVE = ("revoke", "close", "administrator", "person")
"""Acts on an account that are asked for twice."""


@page("GET", "POST")
def person(request: PageRequest, pk: int) -> HttpResponseBase:
    """One account: where it belongs, a link for a new password (shown once), revoking its access, closing it, its role."""
    account, address = (
        authorization.person(authorization.actor(request), pk),
        reverse("account_of", args=[pk]),
    )
    if request.method == "POST":
        now, action = timezone.now(), request.POST.get("action", "")
        if action in GRAVE and (
            ask := confirmation_page(request, f"account_{action}", address, account.name)
        ):
            return forbid_storing(ask)
        with refusals_to(request):
            if action == "reset":
                link = public_link(request, sign_up.make_reset(person=account, by=request.user, now=now))
                return show_secrets_once(request, address, link=link)
            if action in ("close", "open"):
                sign_up.set_active(person=account, value=action == "open", by=request.user, now=now)
                messages.success(
                    request,
                    gettext("The account is open.")
                    if action == "open"
                    else gettext("The account is closed."),
                )
            elif action == "revoke":
                sign_up.revoke_everything(person=account, by=request.user, now=now)
                messages.success(request, gettext("All sessions, API tokens and the password have ended."))
            elif action in ("administrator", "person"):
                sign_up.set_administrator(
                    person=account, value=action == "administrator", by=request.user, now=now
                )
                messages.success(request, gettext("Saved."))
        return redirect(address)
    memberships = Membership.objects.filter(person=account).select_related("project").order_by("pk")
    context = {
        "person": account,
        "memberships": paginate(request, memberships),
        "link": "",
        **pop_secrets(request),
    }
    return forbid_storing(render(request, "accounts/person.html", context))


@page("GET")
def data_of(request: PageRequest, pk: int) -> HttpResponse:
    """Everything that is stored about a person, for an administrator to pass on."""
    account = authorization.person(authorization.actor(request), pk)
    sign_up.record(person=account, by=request.user, before="", after="data exported", now=timezone.now())
    return _file(account)


@sensitive_post_parameters()
@page("GET", "POST")
def erase(request: PageRequest, pk: int) -> HttpResponse:
    """Say what erasing a person's data does, ask, and do it."""
    return _erase(request, authorization.person(authorization.actor(request), pk), mine=False)


def _file(person: Person) -> HttpResponse:
    data = personal_data.export(person, now=timezone.now())
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    return forbid_storing(attachment(text, "askew-personal-data.json", "application/json; charset=utf-8"))


def _erase(request: PageRequest, person: Person, *, mine: bool) -> HttpResponse:
    form = EraseForm(request.POST or None, by=request.user)
    if form.is_valid():
        with refusals_on(form):
            erasure.erase(person=person, by=request.user, now=timezone.now())
            if mine or person.pk == request.user.pk:
                logout(request)
                messages.success(request, gettext("Your data is erased. Thank you for your work."))
                return redirect("sign_in")
            messages.success(request, gettext("The data is erased."))
            return redirect("account_of", person.pk)
    hindrance = ""
    try:
        erasure.require_erasable(person)
    except ActionRefused as refused:
        hindrance = refused.detail
    context = {
        "person": person,
        "mine": mine,
        "form": form,
        "effect": erasure.effect(person),
        "hindrance": hindrance,
        "texts": [] if mine else erasure.texts_with_parts(person),
        "most_texts": erasure.MOST_TEXTS,
    }
    return render(request, "accounts/erase.html", context)
