"""Loading is authorising: everything that a request touches is loaded here, for a person, or it is a 404.

Not permitted and not existing look the same from outside. A token sees its own project only, and
may do no more than its scopes and its person's roles both allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest
from django.utils.translation import gettext, gettext_noop

from annotation.access.roles import Permission, permissions
from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    Batch,
    Example,
    Invitation,
    Item,
    ItemAction,
    Job,
    Membership,
    Person,
    PersonBatchCounts,
    Project,
    Release,
    ReviewSample,
    Source,
    Upload,
)
from annotation.models.sources import EXAMPLES_SELDOM
from annotation.models.work import AssignmentQuerySet
from annotation.platform.prepared_statements import Select, param_int, param_text
from annotation.platform.refusals import ActionRefused

NOT_HERE = gettext_noop("This page is not available to you.")
BEING_RESTORED = gettext_noop("A release is being restored into this project. It opens when that is done.")


@dataclass(frozen=True)
class Actor:
    """Who asks: a signed-in person, or a token that acts in a person's name within one project."""

    person: Person
    token: ApiToken | None = None
    loaded: Assignment | None = None
    """The person's assignment that came with them (`annotation.access.session_user`)."""


def actor(request: HttpRequest | Any) -> Actor:
    """The actor of an authenticated request (page or API)."""
    token = getattr(request, "auth", None)
    person = request.user
    assert isinstance(person, Person), "views that reach here ask for a signed-in person"  # nosec
    if isinstance(token, ApiToken):
        return Actor(person, token)
    return Actor(person, loaded=getattr(request, "assignment", None))


def permissions_in(actor: Actor, project: Project, *, hidden: bool = False) -> frozenset[Permission]:
    """Everything the actor may do in the project; raises Http404 for a person who does not belong there.

    hidden: also while a release is being restored into it, which is 404 otherwise.
    """
    roles = (
        Membership.objects.filter(project=project, person=actor.person, removed_at__isnull=True)
        .values_list("roles", flat=True)
        .first()
    )
    granted = _granted(actor, project, roles)
    if project.restoring_at is not None and not hidden:
        raise Http404(BEING_RESTORED)
    return granted


def permissions_by_project(actor: Actor, projects: Sequence[Project]) -> dict[int, frozenset[Permission]]:
    """`permissions_in` for several projects (by key), which the actor belongs to, in one query."""
    mine = Membership.objects.filter(person=actor.person, project__in=projects, removed_at__isnull=True)
    roles = dict(mine.values_list("project_id", "roles"))
    return {project.pk: _granted(actor, project, roles.get(project.pk)) for project in projects}


def _require_annotator(actor: Actor, project: Project, roles: list[str] | None) -> None:
    """For what is the actor's own: former annotators learn why, as they know the object exists.

    Raises ActionRefused (no_member); Http404 for a token that may not annotate there.
    """
    if actor.token is None and Permission.ANNOTATE not in permissions(roles or []):
        raise not_a_member(has_left=roles is None)
    if Permission.ANNOTATE not in _granted(actor, project, roles):
        raise Http404(NOT_HERE)


def not_a_member(*, has_left: bool = True) -> ActionRefused:
    """The refusal for a person who annotated in a project and does so no more."""
    sentence = (
        gettext("You are no longer a member of this project.")
        if has_left
        else gettext("You are no longer an annotator in this project.")
    )
    return ActionRefused(
        "no_member", sentence + " " + gettext("Your saved work is kept. Ask a manager if you need access.")
    )


def has_worked_in(actor: Actor, public_id: str) -> bool:
    """Whether the person had items of the batch at this address: then it is no secret to them that there is one."""
    if actor.token is not None or "\0" in public_id:
        return False
    return Assignment.objects.filter(batch__public_id=public_id, person=actor.person).exists()


def _granted(actor: Actor, project: Project, roles: list[str] | None) -> frozenset[Permission]:
    """`permissions_in` with the person's roles, None for a person who is no member."""
    if actor.token is not None and actor.token.project_id != project.pk:
        raise Http404(NOT_HERE)
    if roles is None and not actor.person.is_administrator:
        raise Http404(NOT_HERE)
    granted = permissions(roles or [])
    if actor.person.is_administrator:
        # Labels and decisions carry a pseudonym: who gives them belongs to the project, administrators too.
        granted |= frozenset(Permission) - {Permission.ANNOTATE, Permission.ADJUDICATE}
    return granted if actor.token is None else granted & {Permission(scope) for scope in actor.token.scopes}


def projects(actor: Actor) -> QuerySet[Project]:
    """The projects that the actor belongs to."""
    rows = Project.objects.filter(restoring_at__isnull=True).order_by("name")
    if not actor.person.is_administrator:
        rows = rows.filter(memberships__person=actor.person, memberships__removed_at__isnull=True)
    return rows if actor.token is None else rows.filter(pk=actor.token.project_id)


def archived_projects(actor: Actor) -> QuerySet[Project]:
    """Those of the actor's projects that are archived and that they manage."""
    managed = projects_with_permission(actor, Permission.SET_UP)
    archived = projects(actor).filter(archived_at__isnull=False)
    return archived if actor.person.is_administrator else archived.filter(pk__in=managed)


def former_memberships(actor: Actor) -> QuerySet[Membership]:
    """The memberships of the actor that ended, newest first: they grant nothing, and explain missing access."""
    rows = Membership.objects.filter(person=actor.person, removed_at__isnull=False)
    return rows.select_related("project").order_by("-removed_at", "pk")


def project(actor: Actor, slug: str, permission: Permission | None = None) -> Project:
    """The project at this address, for a person who may do this there."""
    row = _get_or_404(Project.objects.filter(slug=slug))
    _require(actor, row, permission)
    return row


def batch(actor: Actor, public_id: str, permission: Permission | None = None) -> Batch:
    """The batch, for a person who may do this in its project."""
    row = _get_or_404(Batch.objects.select_related("project", "feeds_from").filter(public_id=public_id))
    _require(actor, row.project, permission)
    return row


def batches(actor: Actor) -> QuerySet[Batch]:
    """The batches of the actor's projects: all of them for people who see progress, else the opened ones."""
    rows = Batch.objects.select_related("project").filter(project__in=projects(actor).values("pk"))
    return (
        rows
        if actor.person.is_administrator
        else rows.filter(
            Q(opened_at__isnull=False)
            | Q(project__in=projects_with_permission(actor, Permission.SEE_PROGRESS))
        )
    )


def releases(actor: Actor) -> QuerySet[Release]:
    """The finished releases of the projects in which the actor sees progress."""
    rows = Release.objects.select_related("project", "job").filter(
        ready_at__isnull=False, project__in=projects(actor).values("pk")
    )
    if actor.token is not None and Permission.SEE_PROGRESS not in actor.token.scopes:
        return rows.none()
    return (
        rows
        if actor.person.is_administrator
        else rows.filter(project__in=projects_with_permission(actor, Permission.SEE_PROGRESS))
    )


def assignment(actor: Actor, public_id: str) -> Assignment:
    """The actor's own assignment, with everything that showing or submitting it needs."""
    row: Any = actor.loaded
    if row is None or row.public_id != public_id:
        row = own_assignment(actor.person.pk, public_id)
    if row is None:
        raise Http404(NOT_HERE)
    _require_annotator(actor, row.batch.project, row.roles)
    row.person = actor.person
    return cast("Assignment", row)


def own_assignment(person: int, public_id: str) -> Assignment | None:
    """The assignment at this address where it is the person's (by id), whatever they may do."""
    # A NUL is in no address, and PostgreSQL cannot be asked for one.
    row: Assignment | None = None if "\0" in public_id else _mine.first(id=public_id, person=person)
    # Asked for the person, too, PostgreSQL would read through everything they ever did where it knows too little of the
    # table: of a batch that was just opened.
    return row if row is not None and row.person_id == person else None


def annotation(actor: Actor, public_id: str) -> Annotation:
    """The actor's own annotation."""
    row = _get_or_404(
        Annotation.objects.select_related("assignment__batch__project").filter(
            public_id=public_id, assignment__person=actor.person
        )
    )
    project = row.assignment.batch.project
    here = Membership.objects.filter(project=project, person=actor.person, removed_at__isnull=True)
    _require_annotator(actor, project, here.values_list("roles", flat=True).first())
    return row


def item(actor: Actor, public_id: str, permission: Permission) -> Item:
    """The item with batch, example, table and source, for a person who may do this in its project."""
    row = _get_or_404(
        Item.objects.select_related(
            "batch__project", "example__stored_table", "example__source", "adjudication"
        ).filter(public_id=public_id)
    )
    _require(actor, row.batch.project, permission)
    return row


def source(actor: Actor, public_id: str) -> Source:
    """A source that is whole, for people who see the project's progress."""
    row = _get_or_404(Source.objects.ready().select_related("project").filter(public_id=public_id))
    _require(actor, row.project, Permission.SEE_PROGRESS)
    return row


def example(actor: Actor, public_id: str) -> Example:
    """An example of a source that is whole, for people who see the project's progress."""
    row = _get_or_404(
        Example.objects.usable().select_related("source__project", "stored_table").filter(public_id=public_id)
    )
    _require(actor, row.source.project, Permission.SEE_PROGRESS)
    return row


def release(actor: Actor, public_id: str, permission: Permission = Permission.SEE_PROGRESS) -> Release:
    """The release, for people who see the project's progress, or who may do this there."""
    row = _get_or_404(Release.objects.select_related("project", "job").filter(public_id=public_id))
    _require(actor, row.project, permission)
    return row


def job(actor: Actor, public_id: str, permission: Permission = Permission.SEE_PROGRESS) -> Job:
    """The job, for people who see the project's progress, or who may do this there."""
    row = _get_or_404(Job.objects.select_related("project").filter(public_id=public_id))
    _require(actor, row.project, permission, hidden=True)
    return row


def upload_to_import(actor: Actor, public_id: str) -> Upload:
    """A file that is being uploaded, for people who may import into its project."""
    row: Upload = _get_or_404(Upload.objects.select_related("project").filter(public_id=public_id))
    _require(actor, row.project, Permission.IMPORT)
    return row


def upload(project: Project, public_id: str) -> Upload:
    """A file that was uploaded for an import into a project that the caller may import into."""
    rows = Upload.objects.select_related("project").filter(project=project, public_id=public_id)
    return _get_or_404(rows)


def token(actor: Actor, public_id: str) -> ApiToken:
    """The actor's own token."""
    return _get_or_404(
        ApiToken.objects.select_related("project").filter(public_id=public_id, person=actor.person)
    )


def membership(actor: Actor, pk: int) -> Membership:
    """A membership, for people who invite and remove people."""
    row = _get_or_404(Membership.objects.select_related("project", "person").filter(pk=pk))
    _require(actor, row.project, Permission.INVITE)
    return row


def member(actor: Actor, slug: str, pseudonym: str) -> Membership:
    """A present member of a project by pseudonym, for people who invite and remove people."""
    here = project(actor, slug, Permission.INVITE)
    rows = Membership.objects.select_related("project", "person").filter(project=here, removed_at=None)
    return cast("Membership", _get_or_404(rows.filter(pseudonym=pseudonym)))


def own_assignments(actor: Actor) -> QuerySet[Assignment]:
    """Everything the actor has in progress or has finished, newest first, also in projects that they left."""
    rows = _assignments().filter(person=actor.person)
    if actor.token is not None:
        rows = rows.filter(batch__project__in=projects(actor).values("pk"))
    rows = rows.select_related("item__example__stored_table")
    return rows.order_by("-seen_at", "-pk")


def projects_with_permission(actor: Actor, permission: Permission) -> list[int]:
    """The projects (ids) in which the person's roles include the permission."""
    mine = Membership.objects.filter(
        person=actor.person, removed_at__isnull=True, project__restoring_at__isnull=True
    ).values_list("project_id", "roles")
    if actor.token is not None and permission not in actor.token.scopes:
        return []
    return [project_id for project_id, roles in mine if permission in permissions(roles)]


def acts_on_items(actor: Actor, project: Project) -> bool:
    """Whether the actor may send back, exclude and flag items and move them to adjudication: managers and adjudicators.

    Decisions carry a pseudonym, so an administrator needs one of these roles. A token does not do it.
    """
    if actor.token is not None:
        return False
    here = (
        projects_with_permission(actor, permission)
        for permission in (Permission.SET_UP, Permission.ADJUDICATE)
    )
    return any(project.pk in keys for keys in here)


def project_to_act_in(actor: Actor, slug: str) -> Project:
    """The project at this address, for a person who may act on its items."""
    row = project(actor, slug, Permission.SEE_PROGRESS)
    if not acts_on_items(actor, row):
        raise Http404(NOT_HERE)
    return row


def item_action(actor: Actor, public_id: str) -> ItemAction:
    """An action on several items, for a person who may act on items of its project."""
    row = _get_or_404(ItemAction.objects.select_related("project").filter(public_id=public_id))
    _require(actor, row.project, Permission.SEE_PROGRESS)
    if not acts_on_items(actor, row.project):
        raise Http404(NOT_HERE)
    return cast("ItemAction", row)


def review_sample(actor: Actor, public_id: str) -> ReviewSample:
    """A review sample, for a person who may act on items of its project."""
    row = _get_or_404(ReviewSample.objects.select_related("project").filter(public_id=public_id))
    _require(actor, row.project, Permission.SEE_PROGRESS)
    if not acts_on_items(actor, row.project):
        raise Http404(NOT_HERE)
    return cast("ReviewSample", row)


def may_make_projects(actor: Actor) -> bool:
    """Administrators, and people who manage a project already. The first project comes from an administrator.

    A token needs the scope, too.
    """
    if actor.token is not None and Permission.SET_UP not in actor.token.scopes:
        return False
    return actor.person.is_administrator or bool(projects_with_permission(actor, Permission.SET_UP))


def require_may_make_projects(actor: Actor) -> None:
    """Http404 for people who may not make projects."""
    if not may_make_projects(actor):
        raise Http404(NOT_HERE)


def require_administrator(actor: Actor) -> None:
    """Http404 for people who do not run the site, and for every token."""
    if actor.token is not None or not actor.person.is_administrator:
        raise Http404(NOT_HERE)


def person(actor: Actor, pk: int) -> Person:
    """An account, for administrators."""
    require_administrator(actor)
    return cast("Person", _get_or_404(Person.objects.filter(pk=pk)))


def invitation(actor: Actor, pk: int) -> Invitation:
    """An invitation, for people who invite and remove people."""
    row = _get_or_404(Invitation.objects.select_related("project").filter(pk=pk))
    _require(actor, row.project, Permission.INVITE)
    return cast("Invitation", row)


def _assignments() -> AssignmentQuerySet:
    rows = Assignment.objects.with_guidelines()
    related = ("batch__project", "batch__definition", "item__example", "annotation", "draft")
    return rows.select_related(*related)


_SELDOM = (
    *(
        "batch__" + name
        for name in ("settings_digest", "help_from", "sampling", "feeds_when", "resolve", "pay")
    ),
    *("batch__" + name for name in ("accepted_count", "excluded_count", "slots_count", "pass_percent")),
    *("batch__" + name for name in ("made_by", "made_at", "set_aside_at", "set_aside_because")),
    *("batch__project__" + name for name in ("time_zone", "pay", "statement", "created_at")),
    *("item__example__" + name for name in EXAMPLES_SELDOM),
    *("person__" + name for name in ("last_login", "time_zone", "erased_at", "created_at")),
)
"""Columns that nothing asks for on the way from item to item; each is loaded where it is asked for all the same."""

_mine = Select(
    lambda: (
        _assignments()
        .select_related("person")
        .defer(*_SELDOM)
        .filter(public_id=param_text("id"))
        .annotate(
            roles=Subquery(
                Membership.objects.filter(
                    person_id=param_int("person"), project=OuterRef("batch__project"), removed_at__isnull=True
                ).values("roles")
            ),
            submitted_before=Subquery(
                PersonBatchCounts.objects.filter(
                    person_id=param_int("person"), batch=OuterRef("batch")
                ).values("submitted")
            ),
            ended_before=Subquery(
                PersonBatchCounts.objects.filter(
                    person_id=param_int("person"), batch=OuterRef("batch")
                ).values("ended_at")
            ),
        )
    )
)


def _get_or_404(rows: QuerySet[Any, Any]) -> Any:
    try:
        row = rows.first()
    except ValueError:  # a NUL in an address, which PostgreSQL cannot be asked for
        row = None
    if row is None:
        raise Http404(NOT_HERE)
    return row


def _require(actor: Actor, project: Project, permission: Permission | None, *, hidden: bool = False) -> None:
    granted = permissions_in(actor, project, hidden=hidden)
    if permission is not None and permission not in granted:
        raise Http404(NOT_HERE)
