"""People, projects, and who belongs where."""

from __future__ import annotations

import zoneinfo
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.validators import RegexValidator
from django.db import models
from django.utils.crypto import salted_hmac

from annotation.platform.public_ids import new_pseudonym, new_public_id


class People(BaseUserManager["Person"]):
    """Making people, and finding them by the address they sign in with."""

    def create_person(
        self, name: str, email: str | None = None, password: str | None = None, **more: Any
    ) -> Person:
        """A new person; without a password one can only sign in through a link."""
        person = self.model(name=name, email=self.normalize_email(email).lower() if email else None, **more)
        person.set_password(password)
        person.save()
        return person

    def create_superuser(self, email: str, name: str, password: str | None = None) -> Person:
        """An administrator (the name `manage.py createsuperuser` asks for)."""
        return self.create_person(name, email, password, is_administrator=True)

    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(email=(username or "").lower())


class Person(AbstractBaseUser):
    """A person who signs in, or a simulated one. Roles are held per project (Membership).

    `is_external` marks whose labels were made elsewhere and imported; `erased_at` whose own data was erased on request.
    `let_back_in_at` is when the running session was opened by a link from a manager (`crowd_entry.use_return_link`): every
    response from then on is marked, because the manager could have opened that link, too. `unread_answers` counts the
    answers to the person's questions that they have not read (`annotator_questions`; `doctor` recounts), `unread_notices`
    their notices, which they get by mail when `mail_notices` says (`accounts.notices`). `personal_settings`
    holds how pages look and act for the person (`accounts.personal_settings`). `former_names` are names and addresses
    before a change: texts may still have them when the person is erased.
    """

    email = models.EmailField(unique=True, null=True, blank=True)
    name = models.CharField(max_length=120)
    former_names = models.JSONField(default=list, db_default=[], editable=False)
    time_zone = models.CharField(max_length=64, default="UTC")
    session_epoch = models.PositiveIntegerField(default=0)
    is_active = models.BooleanField(default=True)
    is_administrator = models.BooleanField(default=False)
    is_simulated = models.BooleanField(default=False)
    is_external = models.BooleanField(default=False)
    erased_at = models.DateTimeField(null=True, blank=True)
    let_back_in_at = models.DateTimeField(null=True, blank=True)
    personal_settings = models.JSONField(default=dict, db_default={}, editable=False)
    mail_notices = models.CharField(max_length=10, default="never", db_default="never", editable=False)
    unread_notices = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    unread_answers = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[People] = People()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        """The time zone that the person chose; UTC where this machine does not know it."""
        try:
            return zoneinfo.ZoneInfo(self.time_zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            return zoneinfo.ZoneInfo("UTC")

    def change(self, *, name: str, email: str | None) -> None:
        """Change name and address, and keep the former ones. Not saved."""
        names = [*self.former_names, self.name, self.email]
        self.name, self.email = name.strip(), (email or "").strip().lower() or None
        self.former_names = [
            former_name
            for former_name in dict.fromkeys(names)
            if former_name not in ("", None, self.name, self.email)
        ]

    @property
    def has_sign_in(self) -> bool:
        """Whether the person can sign in without a link: by an e-mail address and a password."""
        return bool(self.email) and self.has_usable_password()

    def get_session_auth_hash(self) -> str:
        """Covers password and epoch: raising the epoch ends every session of the person, without a query."""
        return salted_hmac(
            "annotation.Person.session", f"{self.session_epoch}:{self.password}", algorithm="sha256"
        ).hexdigest()

    def get_session_auth_fallback_hash(self) -> Any:
        return iter(())


class ExistingRows(models.Manager[Any]):
    """The rows that were not deleted. Others are kept for what refers to them: the log, and pay."""

    def get_queryset(self) -> models.QuerySet[Any]:
        """Without deleted rows."""
        return super().get_queryset().filter(deleted_at__isnull=True)


class Project(models.Model):
    """A study: sources, people, batches and releases that belong together.

    `consent_number` is that of the consent text people must have agreed to, 0 where there is none. `must_read`:
    guidelines are confirmed as read before the first item, and again after a change. `caps` are limits of all people's
    work a day ({"items_per_day", "hours_per_day"}); `pay` is {"currency", "per_hour" | "per_item"}; `model_budget` is what
    language models may cost ({"usd", "tokens"}, `annotation.models.batch_options.budget`); `release` is what the next
    release starts with ({"formats", "mix", "purpose", "prompts"}, `annotation.releases.creation.options`); `statement` holds
    what only people can say for the data statement, by the names of `annotation.payments.data_statement`. `retention_days`
    after a batch or source was archived, it is deleted; null: never. `restoring_at` is set while a release is restored
    into the project, which is hidden then (`annotation.background.staged_pages`). Of a deleted project only `everything`
    gives the row (`annotation.workflow.deletion`).
    """

    slug = models.SlugField(max_length=60, unique=True, validators=[RegexValidator(r"^[a-z0-9][a-z0-9-]*$")])
    name = models.CharField(max_length=120)
    time_zone = models.CharField(max_length=64, default="UTC")
    consent_number = models.PositiveIntegerField(default=0)
    must_read = models.BooleanField(default=False)
    caps = models.JSONField(default=dict)
    pay = models.JSONField(default=dict)
    model_budget = models.JSONField(default=dict, db_default={})
    release = models.JSONField(default=dict, db_default={})
    statement = models.JSONField(default=dict)
    retention_days = models.PositiveIntegerField(null=True)
    restoring_at = models.DateTimeField(null=True, editable=False)
    archived_at = models.DateTimeField(null=True, editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[models.Manager[Project]] = ExistingRows()
    everything: ClassVar[models.Manager[Project]] = models.Manager()

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's roles and pseudonym in a project. Leaving sets `removed_at`; the row and pseudonym stay.

    `characteristics` are the person's own statements for the data statement.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="memberships")
    person = models.ForeignKey(Person, models.PROTECT, related_name="memberships")
    roles = models.JSONField(default=list)
    pseudonym = models.CharField(max_length=20, default=new_pseudonym)
    characteristics = models.JSONField(default=dict)
    joined_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "person"], name="one_membership_per_person"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="one_person_per_pseudonym"),
        ]

    def __str__(self) -> str:
        return f"{self.person} in {self.project}"


class Invitation(models.Model):
    """A personal link into a project: used once, for 14 days. Only the hash of its token is kept."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="invitations")
    roles = models.JSONField(default=list)
    name = models.CharField(max_length=120, blank=True)
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    accepted_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"invitation to {self.project} ({', '.join(self.roles)})"


class ApiToken(models.Model):
    """A program's key to one project, in one person's name. Only its hash is kept; the prefix tells tokens apart."""

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id)
    person = models.ForeignKey(Person, models.CASCADE, related_name="tokens")
    project = models.ForeignKey(Project, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    token_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
