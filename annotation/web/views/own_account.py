"""People's pages: signing in and out, their account, following an invitation, and who belongs to a project."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import authorization
from annotation.access.roles import DESCRIPTIONS, Role
from annotation.accounts import notices, personal_settings, rate_limits, sign_up
from annotation.models import ApiToken, Notice, Person, Project
from annotation.platform.refusals import ActionRefused
from annotation.web.forms.accounts import AccountForm, PasswordForm, RegisterForm, SignInForm, TokenForm
from annotation.web.views.pages import (
    PageRequest,
    confirmation_page,
    count_wrong_links,
    forbid_storing,
    page,
    paginate,
    pop_secrets,
    refusals_on,
    show_secrets_once,
    with_retry_after,
)
from annotation.workflow import projects

# -- signing in and out -----------------------------------------------------------------------------


class SignIn(LoginView):
    """E-mail and password, then on to `next` where that is an address of this site."""

    template_name = "people/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True
    extra_context = {"why": ""}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try the password, unless too many were tried; then it is not looked at."""
        account = request.POST.get("username", "")
        try:
            self.succeeded = rate_limits.begin_sign_in(
                account=account, address=rate_limits.address_of(request), now=timezone.now()
            )
        except ActionRefused as refused:
            form = SignInForm(request, initial={"username": account[:254]})
            context = {**self.get_context_data(form=form), "why": refused.detail}
            return with_retry_after(self.render_to_response(context, status=refused.status), refused)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """The password is right: the attempt is none."""
        self.succeeded()
        _take_time_zone(self.request, form.get_user())
        return super().form_valid(form)


def _take_time_zone(request: HttpRequest, person: Person) -> None:
    """Take the time zone that the form's script reported, before the first sign-in is recorded."""
    projects.take_time_zone(person=person, time_zone=request.POST.get("time_zone", ""))


sign_in = require_http_methods(["GET", "HEAD", "POST"])(SignIn.as_view())


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the person's sessions. A session lives in its cookie, so ending one for good means ending all of them.

    A person of a crowd, who cannot sign in again, is asked first.
    """
    if _cannot_come_back(request):
        return render(request, "crowd/sign_out.html", {"everywhere": False})
    if request.user.is_authenticated:
        projects.end_sessions(person=request.user)
    return _sign_out(request, gettext("You are signed out."))


@page("POST")
def sign_out_everywhere(request: PageRequest) -> HttpResponse:
    """End the person's sessions and API tokens, as after the loss of a device."""
    if _cannot_come_back(request):
        return render(request, "crowd/sign_out.html", {"everywhere": True})
    projects.sign_out_everywhere(person=request.user, by=request.user, now=timezone.now())
    return _sign_out(request, gettext("You are signed out on all devices. Your API tokens are revoked."))


def _cannot_come_back(request: HttpRequest) -> bool:
    """Whether signing out would end the only session that the person can have, and they have not confirmed it."""
    person = request.user
    return person.is_authenticated and "confirmed" not in request.POST and projects.must_register(person)


def _sign_out(request: HttpRequest, message: str) -> HttpResponse:
    logout(request)
    messages.success(request, message)
    return redirect("sign_in")


# -- the account ------------------------------------------------------------------------------------


@page("GET", "POST")
def notices_page(request: PageRequest) -> HttpResponse:
    """The person's notices, the newest first; POST marks all as read, or says when they come by mail."""
    person = request.user
    if request.method == "POST":
        if "mail" in request.POST:
            notices.choose_mail(person=person, mail=request.POST["mail"])
            messages.success(request, gettext("Saved."))
        else:
            notices.mark_read(person=person, now=timezone.now())
        return redirect("notices")
    mine = Notice.objects.filter(person=person).select_related("project", "batch")
    rows = paginate(request, mine.order_by("-made_at", "-pk"))
    for notice in rows:
        notice.text, notice.address = notices.text_of(notice), notices.address_of(notice)
    mail = [(value, label, value == person.mail_notices) for value, label in notices.MAIL.items()]
    context = {"notices": rows, "mail": mail, "has_mail": sign_up.has_mail() and person.email}
    return render(request, "people/notices.html", context)


@page("GET", "POST")
def account(request: PageRequest) -> HttpResponseBase:
    """Name and time zone; the page also holds the forms that the next views answer."""
    form = AccountForm(request.POST or None, person=request.user)
    if form.is_valid():
        with refusals_on(form):
            projects.change_person(person=request.user, **form.cleaned_data)
            messages.success(request, gettext("Saved."))
            return redirect("account")
    return forbid_storing(_account(request, about=form, **pop_secrets(request)))


@page("POST")
def change_display(request: PageRequest) -> HttpResponse:
    """Store the personal settings that the form names, and lead back to where the person was."""
    personal_settings.change(request.user, request.POST.dict())
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if safe else "account")


@sensitive_post_parameters()
@page("POST")
def change_password(request: PageRequest) -> HttpResponse:
    """A new password: every other session ends, this one continues."""
    form = PasswordForm(request.POST, person=request.user, auto_id="password_%s")
    if form.is_valid():
        projects.change_password(person=request.user, password=form.cleaned_data["new"], now=timezone.now())
        update_session_auth_hash(request, request.user)
        messages.success(
            request,
            gettext(
                "Your password is changed. Other devices are signed out, and your API tokens are revoked."
            ),
        )
        return redirect("account")
    return _account(request, password=form)


@page("POST")
def make_token(request: PageRequest) -> HttpResponseBase:
    """A token for the API. The account page shows it once."""
    form = TokenForm(
        request.POST, projects=authorization.projects(authorization.actor(request)), auto_id="token_%s"
    )
    if form.is_valid():
        with refusals_on(form):
            token, secret = projects.make_token(person=request.user, now=timezone.now(), **form.cleaned_data)
            return show_secrets_once(request, reverse("account"), secret=secret, secret_of=token.name)
    return _account(request, token=form)


@page("POST")
def revoke_token(request: PageRequest, public_id: str) -> HttpResponse:
    """End one of one's own tokens."""
    token = authorization.token(authorization.actor(request), public_id)
    if ask := confirmation_page(request, "revoke_token", reverse("account"), token.name):
        return ask
    projects.revoke_token(token=token, by=request.user, now=timezone.now())
    messages.success(request, gettext("The token {name} is revoked.").format(name=token.name))
    return redirect("account")


def _account(request: PageRequest, **refused_forms: Any) -> HttpResponse:
    """The account page with the form that was just refused, if one was, and the others as they are."""
    person, now = request.user, timezone.now()
    projects = authorization.projects(authorization.actor(request))
    tokens = ApiToken.objects.filter(person=person, revoked_at__isnull=True, expires_at__gt=now)
    context = {
        "about": AccountForm(person=person),
        "password": PasswordForm(person=person, auto_id="password_%s"),
        "token": TokenForm(projects=projects, auto_id="token_%s"),
        "tokens": paginate(request, tokens.select_related("project").order_by("-made_at", "-pk")),
        "has_projects": projects.exists(),
        "can_have_password": person.has_usable_password(),
        "secret": "",
    }
    return render(request, "people/account.html", {**context, **refused_forms})


# -- following an invitation ------------------------------------------------------------------------


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponseBase:
    """A personal link into a project. GET only shows what it leads to: link previews must not use it up."""
    try:
        with count_wrong_links(request):
            invitation = projects.open_invitation(token, now=timezone.now())
    except ActionRefused as refused:
        gone = render(request, "people/invitation_gone.html", {"why": refused.detail}, status=refused.status)
        return forbid_storing(with_retry_after(gone, refused))
    person = request.user if request.user.is_authenticated else None
    registers = person is None or projects.must_register(person)
    form = RegisterForm(request.POST if request.method == "POST" and registers else None)
    if request.method == "POST":
        with refusals_on(form):
            if person is not None and not registers:
                projects.accept(invitation=invitation, person=person, now=timezone.now())
                return _welcome(request, invitation.project)
            if form.is_valid():
                rate_limits.count_attempt(rate_limits.REGISTER, str(invitation.pk), now=timezone.now())
                joined = projects.join_as_new(
                    invitation=invitation, person=person, now=timezone.now(), **form.cleaned_data
                )
                _take_time_zone(request, joined)
                login(request, joined)
                return _welcome(request, invitation.project)
    roles = [(role, gettext(DESCRIPTIONS[Role(role)])) for role in invitation.roles]
    context = {
        "invitation": invitation,
        "roles": roles,
        "form": form,
        "here": request.path,
        "registers": registers,
    }
    return forbid_storing(render(request, "people/join.html", context))


def _welcome(request: HttpRequest, project: Project) -> HttpResponse:
    messages.success(request, gettext("Welcome to {name}.").format(name=project.name))
    return redirect("project", project.slug)
