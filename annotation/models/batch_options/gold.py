"""Terms of gold: items with a known answer, mixed into the others."""

from typing import Final

from django.db import models
from django.utils.translation import gettext_noop

from annotation.models.batch_options.term import UNTIL_CLOSED, WORK, Term

MOST_GOLD: Final = 50
FROM_THE_NEXT = gettext_noop("Gold applies from each person's next item. Earlier items stay unchanged.")


class GoldTerms(models.Model):
    """Gold in a batch of work."""

    gold_percent = Term(
        label=gettext_noop("Gold items per person, in percent"),
        help=gettext_noop(
            "Items with a known answer, chosen on the Gold answers page of the batch. Annotators "
            "cannot recognise them, and they are not released."
        ),
        section="gold",
        purposes=WORK,
        changeable=UNTIL_CLOSED,
        effect=FROM_THE_NEXT,
        maximum=MOST_GOLD,
        key="gold.percent",
    ).of(models.PositiveSmallIntegerField(default=0))
    gold_feedback = Term(
        label=gettext_noop("Give feedback on gold items"),
        help=gettext_noop(
            "Annotators see the correct answer afterwards. Only their first answer to a gold item counts."
        ),
        section="gold",
        changeable=UNTIL_CLOSED,
        effect=FROM_THE_NEXT,
        key="gold.feedback",
    ).of(models.BooleanField(default=False))

    class Meta:
        abstract = True
