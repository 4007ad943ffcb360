"""Django's admin, for administrators: a way to look at every row, and no way around the writers.

Nothing is added, changed or deleted here but the name and the e-mail address of a person, which goes through `accounts`.
What opens doors (hashes of tokens and passwords) is left out, and so are the ids of a crowd platform, which are beside no
person but on the page of their link. An administrator who annotates or adjudicates somewhere sees no responses here.
"""

from typing import Any, Final

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.views import redirect_to_login
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from annotation.access import authorization
from annotation.access.roles import Role
from annotation.accounts import sign_up
from annotation.models import Membership, Person
from annotation.web.views import own_account

LEFT_OUT: Final = frozenset({"crowdentry"})
SECRET: Final = frozenset({"password", "token_hash"})
RESPONSES: Final = frozenset(
    {
        *("annotation", "draft", "outcome", "decision", "adjudication", "gold", "revisionrequest"),
        *(
            "try",
            "verdict",
            "proposal",
            "proposalreaction",
            "proposalimpression",
            "trial",
            "provenance",
            "reply",
            "snapshot",
        ),
    }
)


class Site(admin.AdminSite):
    """The admin behind the site's own sign-in. It exists for administrators only."""

    site_header = site_title = "Askew"
    index_title = "Every row"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        if not request.user.is_authenticated:
            return False
        if not request.user.is_administrator:
            raise Http404(authorization.NOT_HERE)
        return True

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:  # type: ignore[override]
        if request.user.is_authenticated and not self.has_permission(request):
            raise Http404(authorization.NOT_HERE)
        return redirect_to_login(request.GET.get("next") or "/", login_url="sign_in")

    def logout(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:  # type: ignore[override]
        return own_account.sign_out(request)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:  # type: ignore[override]
        return redirect("account")

    def password_change_done(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:  # type: ignore[override]
        return redirect("account")


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """A table to look at."""

    list_select_related = True
    show_full_result_count = False
    list_per_page = 50
    actions = None

    def get_exclude(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in self.opts.get_fields() if field.name in SECRET]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.opts.model_name not in RESPONSES or not _judges(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class PersonAdmin(ReadOnlyAdmin):
    """People; their name and address may be put right."""

    search_fields = ("name", "email")
    list_display = ("name", "email", "is_active", "is_administrator", "erased_at")
    ordering = ("name", "pk")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [
            field.name
            for field in Person._meta.concrete_fields
            if field.name not in {"name", "email", *SECRET}
        ]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or obj.erased_at is None

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        by = request.user
        assert isinstance(by, Person), "the site lets nobody else in"  # nosec
        sign_up.rename(person=obj, name=obj.name, email=obj.email, by=by, now=timezone.now())

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Django's own log, without the name: it stays when the person's data are erased."""
        return LogEntry.objects.create(
            user_id=authorization.actor(request).person.pk,
            content_type=ContentType.objects.get_for_model(Person),
            object_id=str(obj.pk),
            object_repr=f"account {obj.pk}",
            action_flag=CHANGE,
            change_message="name or e-mail address",
        )


def _judges(request: HttpRequest) -> bool:
    """Whether the administrator annotates or adjudicates anywhere: own involvement beats every role."""
    rows = Membership.objects.filter(person=authorization.actor(request).person, removed_at__isnull=True)
    return any(
        role in (Role.ANNOTATOR, Role.ADJUDICATOR)
        for roles in rows.values_list("roles", flat=True)
        for role in roles
    )


def _register(site: Site) -> None:
    for model in apps.get_app_config("annotation").get_models():
        if model._meta.model_name not in LEFT_OUT:
            site.register(model, PersonAdmin if model is Person else _read_only_admin(model))


def _read_only_admin(model: type[models.Model]) -> type[ReadOnlyAdmin]:
    """A class of its own for each table: rows by their own words, the newest first."""
    return type(f"{model.__name__}Admin", (ReadOnlyAdmin,), {"ordering": ("-pk",)})


site = Site(name="admin")
_register(site)
