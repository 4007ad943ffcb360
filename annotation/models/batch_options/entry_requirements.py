"""Terms that people meet before their first item: a qualification, its pass mark, practice."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_noop

from annotation.models.batch_options.term import QUALIFICATION, UNTIL_CLOSED, WITH_ENTRY, Context, Term
from annotation.platform.refusals import refuse
from tableqa.core.translation import translate_stored

ASKED_NEXT = gettext_noop(
    "Entry requirements apply before each person's next item. Responses stay. "
    "People who have already worked here: {people}."
)


def _check_must_practise(value: bool, context: Context) -> bool:
    if value and not context.task.practice(context.values.get("variant", "")):
        refuse("invalid_request", "{title} has no practice set.", title=translate_stored(context.task.title))
    return value


def _check_pass_percent(value: Any, context: Context) -> int:
    if context.purpose == "qualification" and not value:
        refuse(
            "invalid_request", "A qualification batch needs a pass mark from 1 to 100 percent (pass_percent)."
        )
    if context.purpose == "qualification" and context.feeds_from is not None:
        refuse(
            "invalid_request",
            "A qualification cannot take items from another batch, because each item needs a gold "
            "answer before it opens.",
        )
    return int(value)


def _check_requires(value: Any, context: Context) -> Any:
    by_name = context.project is None  # a study file names it; applying the file looks it up
    if not value or (by_name and isinstance(value, str)):
        return value or None
    if not isinstance(value, models.Model):
        refuse("invalid_request", "requires must be the id of a qualification batch, or null.")
    batch: Any = value
    if batch.project_id != context.project.pk or batch.purpose != "qualification":
        refuse("invalid_request", "{name} is not a qualification batch of this project.", name=batch.name)
    return batch


class EntryTerms(models.Model):
    """What comes before the first item."""

    requires = Term(
        label=gettext_noop("Required qualification"),
        help=gettext_noop(
            "People must have passed it. Items of the qualification are left out of this batch."
        ),
        section="quality",
        purposes=WITH_ENTRY,
        changeable=UNTIL_CLOSED,
        effect=ASKED_NEXT,
        check=_check_requires,
        among={"purpose": "qualification"},
    ).of(models.ForeignKey("annotation.Batch", models.PROTECT, null=True, related_name="required_by"))
    pass_percent = Term(
        label=gettext_noop("Pass mark, in percent"),
        help=gettext_noop("Share of correct items that a qualification asks for."),
        section="quality",
        purposes=QUALIFICATION,
        changeable=UNTIL_CLOSED,
        effect=gettext_noop(
            "Existing results do not change. A new pass mark applies to people who finish from now on."
        ),
        check=_check_pass_percent,
        maximum=100,
    ).of(models.PositiveSmallIntegerField(default=0))
    must_practise = Term(
        label=gettext_noop("Practice first"),
        help=gettext_noop("People complete the practice set before their first item."),
        section="quality",
        changeable=UNTIL_CLOSED,
        effect=ASKED_NEXT,
        check=_check_must_practise,
        per_task_type=True,
    ).of(models.BooleanField(default=False))

    class Meta:
        abstract = True
