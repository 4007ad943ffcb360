"""What people agree to before their first item: the text with its versions, agreeing, and taking it back."""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q
from django.utils.translation import gettext_noop

from annotation.access import audit_log
from annotation.models import Assignment, Consent, ConsentText, Person, Project
from annotation.platform.refusals import refuse, require_storable
from annotation.queue import reservations

LONGEST_TEXT = 200_000


def current(project: Project) -> ConsentText | None:
    """The version that counts; None where the project asks for no consent."""
    if not project.consent_number:
        return None
    return ConsentText.objects.get(project=project, number=project.consent_number)


def write(*, project: Project, text: str, by: Person | None, now: datetime) -> ConsentText:
    """A new version, to which all are asked to agree before their next item; the present one, if unchanged.

    Raises ActionRefused(invalid_request) for a text that is empty or longer than `LONGEST_TEXT`.
    """
    require_storable(text)
    text = text.replace("\r\n", "\n").strip("\n") + "\n"
    if not text.strip() or len(text) > LONGEST_TEXT:
        refuse(
            "invalid_request",
            "Enter a consent text of at most {longest_text} characters.",
            longest_text=LONGEST_TEXT,
        )
    with transaction.atomic():
        _lock(project)
        newest = current(project)
        if newest is not None and newest.text == text:
            return newest
        last = ConsentText.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        consent_text = ConsentText.objects.create(
            project=project, number=last + 1, text=text, made_by=by, made_at=now
        )
        _require_consent(project, consent_text.number)
        audit_log.log(consent_text, "", "current", by=by, now=now)
    return consent_text


def stop(*, project: Project, by: Person, now: datetime) -> None:
    """People are not asked any more. Their consent stays on record."""
    with transaction.atomic():
        _lock(project)
        text = current(project)
        if text is not None:
            _require_consent(project, 0)
            audit_log.log(text, "", "not asked", by=by, now=now)


def agree(*, project: Project, person: Person, version: int, now: datetime) -> Consent:
    """The person agrees to the version that they read. Raises ActionRefused(invalid_request) where it is not the current
    one."""
    text = current(project)
    if text is None or text.number != version:
        refuse("invalid_request", "The text changed while you were reading it. Read the new version.")
    try:
        with transaction.atomic():
            consent = Consent.objects.select_for_update().filter(text=text, person=person).first()
            if consent is not None and consent.withdrawn_at is None:
                return consent
            if consent is None:
                consent = Consent.objects.create(text=text, person=person, given_at=now)
            else:
                consent.given_at, consent.withdrawn_at = now, None
                consent.save(update_fields=["given_at", "withdrawn_at"])
            audit_log.log(consent, "", "given", by=person, now=now, project=project.pk)
    except IntegrityError:  # another tab of the same person was faster
        consent = Consent.objects.get(text=text, person=person)
    return consent


def withdraw(*, project: Project, person: Person, now: datetime) -> int:
    """The person takes their consent back: no more items, and those in progress go to others.

    What they submitted before stays; having it erased is asked of the manager. Gives how many items went back.
    """
    consents = Consent.objects.filter(text__project=project, person=person, withdrawn_at__isnull=True)
    leased = Assignment.objects.filter(
        person=person, batch__project=project, state=Assignment.State.LEASED
    ).select_related("batch")
    with transaction.atomic():
        returned = sum(
            reservations.give_back(
                assignment,
                state=Assignment.State.RETURNED,
                reason=gettext_noop("consent withdrawn"),
                now=now,
                actor=person,
            )
            for assignment in list(leased.order_by("pk"))
        )
        for consent in list(consents.select_for_update()):
            consent.withdrawn_at = now
            consent.save(update_fields=["withdrawn_at"])
            audit_log.log(consent, "", "withdrawn", by=person, now=now, project=project.pk)
    return returned


def current_consent(project: Project, person: Person) -> Consent | None:
    """The person's consent to the version that counts, also one that was taken back; None where there is none."""
    return Consent.objects.filter(
        text__project=project, text__number=project.consent_number, person=person
    ).first()


def has_withdrawn(project: Project, person: Person) -> bool:
    """Whether the person once agreed and is not by any version now. Who was never asked took nothing back."""
    consents = Consent.objects.filter(text__project=project, person=person)
    standing = consents.filter(withdrawn_at__isnull=True)
    return consents.exists() and not standing.exists()


@dataclass(frozen=True)
class ConsentTextCounts:
    """A version of the text, with how many people agree to it and how many took their consent back."""

    text: ConsentText
    standing: int
    withdrawn: int


def versions(project: Project) -> list[ConsentTextCounts]:
    """Every version, the newest first; in one query."""
    texts = (
        ConsentText.objects.filter(project=project)
        .select_related("made_by")
        .annotate(
            given=Count("consents", filter=Q(consents__withdrawn_at__isnull=True)),
            withdrawn=Count("consents", filter=Q(consents__withdrawn_at__isnull=False)),
        )
    )
    return [ConsentTextCounts(text, text.given, text.withdrawn) for text in texts.order_by("-number")]


def _lock(project: Project) -> None:
    Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk").first()
    project.refresh_from_db(fields=["consent_number"])


def _require_consent(project: Project, version: int) -> None:
    Project.objects.filter(pk=project.pk).update(consent_number=version)
    project.consent_number = version
