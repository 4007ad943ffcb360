"""The forms of people and their accounts: signing in, names, roles, tokens, invitations."""

import functools
import zoneinfo
from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.access.roles import DESCRIPTIONS, Permission, Role
from annotation.accounts import invitees, rate_limits
from annotation.models import Person, Project
from annotation.platform.refusals import ActionRefused
from annotation.workflow import projects

SCOPES: dict[Permission, str] = {
    Permission.ANNOTATE: gettext_noop("take items and submit responses"),
    Permission.ADJUDICATE: gettext_noop("decide where annotators disagree"),
    Permission.SEE_PROGRESS: gettext_noop("read progress, releases and jobs"),
    Permission.IMPORT: gettext_noop("import examples"),
    Permission.SET_UP: gettext_noop("plan, open and close batches"),
    Permission.INVITE: gettext_noop("invite people"),
    Permission.RELEASE: gettext_noop("create releases"),
}


@functools.cache
def time_zones() -> list[tuple[str, str]]:
    """The zones of the tz database by their names of place, UTC first."""
    areas = (
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
    )
    named = sorted(
        zone for zone in zoneinfo.available_timezones() if zone.partition("/")[0] in areas and "/" in zone
    )
    return [("UTC", "UTC"), *((zone, zone.replace("_", " ")) for zone in named)]


class TimeZoneField(forms.ChoiceField):
    """A place whose clock is meant. A zone that is stored already stays choosable, under any name."""

    def __init__(self, *, stored: str = "", **kwargs: Any) -> None:
        zones = time_zones()
        stored_choices = [(stored, stored)] if stored and stored not in dict(zones) else []
        super().__init__(choices=[*stored_choices, *zones], initial=stored or "UTC", **kwargs)


def require_own_password(person: Person, password: str) -> None:
    """Raises ValidationError for another password, and where too many were tried: a session may be another person's."""
    whose = str(person.pk)
    try:
        rate_limits.count_attempt(rate_limits.OWN_PASSWORD, whose, now=timezone.now())
    except ActionRefused as refused:
        raise ValidationError(refused.detail) from None
    if not person.check_password(password):
        raise ValidationError(gettext("Wrong password."))
    rate_limits.refund_attempt(rate_limits.OWN_PASSWORD, whose)


class PasswordField(forms.CharField):
    """The password of an account that exists; `new`: one that is chosen here."""

    def __init__(self, *, new: bool = False, **kwargs: Any) -> None:
        widget = forms.PasswordInput(attrs={"autocomplete": f"{'new' if new else 'current'}-password"})
        if new:
            kwargs["help_text"] = gettext_lazy(
                "At least 10 characters, with letters, and not a common password."
            )
        super().__init__(strip=False, max_length=500, widget=widget, **kwargs)


class SignInForm(AuthenticationForm):
    """E-mail and password. Errors do not say which of the two was wrong."""

    username = forms.EmailField(
        label=gettext_lazy("E-mail"),
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    error_messages = {
        "invalid_login": gettext_noop(
            "Wrong e-mail address or password. Check both; passwords are case-sensitive."
        ),
        "inactive": gettext_noop("This account is closed."),
    }


class RegisterForm(forms.Form):
    """An account for a person who holds an invitation."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(
        label=gettext_lazy("E-mail"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = PasswordField(new=True)

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        password = cleaned_data.get("password")
        if password:
            person = Person(name=cleaned_data.get("name", ""), email=cleaned_data.get("email"))
            try:
                password_validation.validate_password(password, person)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned_data


class AccountForm(forms.Form):
    """What a person says of themselves."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = person.name
        self.fields["time_zone"] = TimeZoneField(
            stored=person.time_zone, help_text=gettext_lazy("Times on all pages are shown in this time zone.")
        )


class NewPasswordForm(forms.Form):
    """A new password for a person who came in by a link."""

    new = PasswordField(new=True, label=gettext_lazy("New password"))

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_new(self) -> str:
        new: str = self.cleaned_data["new"]
        password_validation.validate_password(new, self.person)
        return new


class PasswordForm(NewPasswordForm):
    """The old password and a new one."""

    old = PasswordField(label=gettext_lazy("Current password"))
    field_order = ("old", "new")

    def clean_old(self) -> str:
        old: str = self.cleaned_data["old"]
        require_own_password(self.person, old)
        return old


class TokenForm(forms.Form):
    """A key for a program: what it is for, which project it opens, what it may do there."""

    name = forms.CharField(max_length=80, help_text=gettext_lazy("For example: nightly export."))
    project = forms.ModelChoiceField(queryset=Project.objects.none(), to_field_name="slug", empty_label=None)
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Permissions"),
        choices=[(scope.value, gettext_lazy(words)) for scope, words in SCOPES.items()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one permission.")},
        help_text=gettext_lazy("Limited by your roles."),
    )

    def __init__(self, *args: Any, projects: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def clean_scopes(self) -> list[Permission]:
        return [Permission(scope) for scope in self.cleaned_data["scopes"]]


class RolesForm(forms.Form):
    """What a person is in a project."""

    roles = forms.MultipleChoiceField(
        choices=[
            (
                role.value,
                format_lazy(
                    "{}: {}", gettext_lazy(role.value.capitalize()), gettext_lazy(DESCRIPTIONS[role])
                ),
            )
            for role in Role
        ],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one role.")},
    )

    def clean_roles(self) -> list[Role]:
        return [Role(role) for role in self.cleaned_data["roles"]]


class InviteForm(RolesForm):
    """Whom the links are for, what they will do, and how long the links work.

    `cleaned_data["addresses"]` has the people that get a link; without any, `name` labels one link for any person.
    members, repeated   addresses of the list that are members already, and that occur more than once
    """

    addresses = forms.CharField(
        max_length=40_000,
        required=False,
        label=gettext_lazy("E-mail addresses"),
        help_text=gettext_lazy(
            "Paste a list: separated by commas, semicolons or line breaks, with or without names, for example "
            "Ann Lee <ann@example.org>. Each person gets a separate link."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocomplete": "off"}),
    )
    name = forms.CharField(
        max_length=120,
        required=False,
        label=gettext_lazy("Label of a link without an address"),
        help_text=gettext_lazy("Only if you leave the addresses empty. Tells links apart in the list."),
    )
    days = forms.IntegerField(
        label=gettext_lazy("Link valid for (days)"),
        min_value=1,
        max_value=projects.LONGEST_INVITATION.days,
        initial=projects.INVITATION_LIFE.days,
        required=False,
    )
    field_order = ("addresses", "roles", "name", "days")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.members: list[str] = []
        self.repeated: list[str] = []

    def clean_addresses(self) -> list[invitees.Invitee]:
        """The people without present members. Any line that cannot be read refuses the whole list."""
        parsed = invitees.read(self.cleaned_data["addresses"])
        if parsed.problems:
            raise ValidationError(list(parsed.problems))
        members = invitees.members_among(self.project, parsed.people)
        self.members, self.repeated = sorted(members), list(parsed.repeated)
        people = [each for each in parsed.people if each.email not in members]
        if members and not people:
            raise ValidationError(gettext("Everyone in this list is already a member."))
        return people

    def names(self) -> list[str]:
        """A label for each link."""
        return [each.label for each in self.cleaned_data["addresses"]] or [self.cleaned_data["name"]]

    def clean_days(self) -> int:
        return int(self.cleaned_data["days"] or 0) or projects.INVITATION_LIFE.days
