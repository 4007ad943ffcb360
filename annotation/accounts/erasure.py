"""Erasing a person's data on request, without touching what science rests on.

Erasure removes what identifies a person (`annotation.platform.inventory`): name, e-mail address, password, time zone,
statements about themselves, ids of a crowd platform, drafts, checks of a model, tokens, and the name in texts. What they
submitted stays under the random pseudonym, which nothing leads back from: a release made before is verified as before, and
one made after has the same numbers.
"""

import json
from datetime import datetime
from itertools import islice
from typing import Final

from django.db import models, transaction
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat
from django.utils.translation import gettext

from annotation.accounts import crowd_entry, sign_up
from annotation.background import jobs
from annotation.background.erased_names import COLUMNS, NAME, Names
from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    CrowdEntry,
    Draft,
    Flag,
    Inquiry,
    Invitation,
    Job,
    Membership,
    Notice,
    Person,
    Project,
    ProposalImpression,
    ProposalReaction,
    Release,
    SavedView,
    Try,
)
from annotation.platform import immutable_rows
from annotation.workflow import projects

MOST_TEXTS: Final = 20


def effect(person: Person) -> dict[str, int]:
    """How much would go (leases, drafts, checks, tokens, ids of a crowd) and stay (responses, releases, texts written)."""
    submitted = Annotation.objects.filter(assignment__person=person, response__isnull=False)
    return {
        "projects": Membership.objects.filter(person=person, removed_at__isnull=True).count(),
        "leases": Assignment.objects.filter(person=person, state=Assignment.State.LEASED).count(),
        "drafts": Draft.objects.filter(assignment__person=person).count(),
        "checks": Try.objects.filter(assignment__person=person, kind=Try.Kind.PERSON).count(),
        "tokens": ApiToken.objects.filter(person=person).count(),
        "crowd": CrowdEntry.objects.filter(person=person).exists(),
        "submitted": submitted.values("assignment").distinct().count(),
        "releases": Release.objects.filter(project__in=_projects(person), ready_at__isnull=False).count(),
        "texts": Flag.objects.filter(Q(assignment__person=person) | Q(made_by=person)).count()
        + Inquiry.objects.filter(asked_by=person).count(),
    }


def texts_with_parts(person: Person) -> list[str]:
    """The first texts that erasing leaves although they have a part of the name, for an administrator to look at."""
    names = Names(list(Person.objects.values_list(*COLUMNS).get(pk=person.pk)))
    return list(islice(names.texts_with_parts(list(_projects(person))), MOST_TEXTS))


def erase(*, person: Person, by: Person, now: datetime) -> None:
    """Erase what says who the person is, and end their access. Erasing twice is erasing once.

    Raises ActionRefused (still_involved) for the only manager of a project and for the only administrator.
    """
    if by.pk != person.pk and not by.is_administrator:
        raise PermissionError(gettext("only the person or an administrator can erase data"))
    with transaction.atomic():
        if (
            Person.objects.select_for_update(no_key=True).filter(pk=person.pk, erased_at__isnull=True).first()
            is None
        ):
            return
        # Figures that are worked out meanwhile are stored before this, or worked out again.
        list(Project.objects.select_for_update(no_key=True).filter(pk__in=_projects(person)).order_by("pk"))
        # A job that ends meanwhile has written its result before this, or finds the names that it has to take out (`jobs`).
        under_way = jobs.under_way(project__in=_projects(person)).order_by("pk")
        list(under_way.select_for_update(no_key=True).values_list("pk"))
        sign_up.require_another_administrator(person)
        for membership in Membership.objects.filter(person=person).select_related("project").order_by("pk"):
            projects.remove_member(membership=membership, by=by, now=now)
        Membership.objects.filter(person=person).update(characteristics={})
        _delete_unsubmitted(person)
        ApiToken.objects.filter(person=person).delete()
        Invitation.objects.filter(accepted_by=person).update(name="")
        names = list(Person.objects.values_list(*COLUMNS).get(pk=person.pk))
        Names(names).take_out_of(list(_projects(person)))
        for entry in CrowdEntry.objects.filter(person=person).select_related("link"):
            crowd_entry.forget_listed(entry)
        # The id becomes a placeholder that is unique within its link.
        CrowdEntry.objects.filter(person=person).update(
            external_id=Concat(Value("erased "), Cast(F("pk"), models.CharField())),
            study_id="",
            session_id="",
        )
        sign_up.record(person=person, by=by, before="", after="erased", now=now)
        person.refresh_from_db()
        person.name, person.email, person.time_zone = NAME, None, "UTC"
        person.personal_settings, person.former_names = {}, []
        person.unread_notices, person.mail_notices = 0, "never"
        person.set_unusable_password()
        person.is_active = person.is_administrator = False
        person.last_login = None
        person.erased_at = now
        person.session_epoch += 1
        person.save()
        for job in under_way:  # one that waits has names only where they are codes that it goes by
            if job.state == Job.State.RUNNING or Names(names).are_in(json.dumps(job.ids, ensure_ascii=False)):
                Job.objects.filter(pk=job.pk).update(erased=[*(job.erased or ()), names])


def _delete_unsubmitted(person: Person) -> None:
    """Delete drafts, own views, the checks that the person asked for, and what they did with proposals on open items."""
    SavedView.objects.filter(made_by=person, is_shared=False).delete()
    Notice.objects.filter(person=person).delete()
    Draft.objects.filter(assignment__person=person).delete()
    impressions = ProposalImpression.objects.filter(assignment__person=person, assignment__annotations=None)
    with immutable_rows.writable():
        Try.objects.filter(assignment__person=person, kind=Try.Kind.PERSON).delete()
        ProposalReaction.objects.filter(impression__in=impressions).delete()
        impressions.delete()


def _projects(person: Person) -> QuerySet[Membership, int]:
    return Membership.objects.filter(person=person).values_list("project_id", flat=True)


def require_erasable(person: Person) -> None:
    """Raises ActionRefused where erasing would leave a project without a manager, or the site without an administrator."""
    sign_up.require_another_administrator(person)
    for membership in Membership.objects.filter(person=person, removed_at__isnull=True).select_related(
        "project"
    ):
        projects.require_another_manager(membership)
