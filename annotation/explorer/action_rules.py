"""What can be done to several items at once, and to which of them: pure decisions on facts.

refusal("exclude", facts)      None where the item can be excluded, else a `Refusal`
"""

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.platform.display_text import grouped

MOST_ITEMS: Final = 1_000
"""Items of one action."""
LONGEST_NOTE: Final = 500


@dataclass(frozen=True)
class Action:
    """One action: the verb of its button, what its note is for, and the state by which the log names it.

    note         "" where it takes none
    is_managing  it belongs to the set-up of the project, so adjudicators do not have it
    """

    verb: str
    note: str
    note_help: str
    state: str
    is_managing: bool = False


ACTIONS: Final = {
    "exclude": Action(
        gettext_noop("Exclude items"),
        gettext_noop("Reason for exclusion"),
        gettext_noop("An excluded item is in no release. The reason is published."),
        gettext_noop("excluded"),
    ),
    "adjudicate": Action(
        gettext_noop("Move to adjudication"),
        gettext_noop("Reason for adjudication"),
        gettext_noop("Adjudicators see it with the item."),
        gettext_noop("adjudication"),
    ),
    "send_back": Action(
        gettext_noop("Send responses back"),
        gettext_noop("Note to the authors"),
        gettext_noop("The authors see it with their response, which becomes their draft."),
        gettext_noop("sent back"),
    ),
    "flag": Action(
        gettext_noop("Flag items"),
        gettext_noop("Note"),
        gettext_noop("People who may see the responses see it."),
        gettext_noop("flagged"),
    ),
    "example": Action(
        gettext_noop("Add to guideline examples"), "", "", gettext_noop("guideline example"), is_managing=True
    ),
}


CORRECTING: Final = ("exclude", "adjudicate", "send_back")
"""Actions that correct an item whose decision a release contains."""


@dataclass(frozen=True)
class Facts:
    """What a decision about an item needs to know.

    state          of `selection.STATES`
    is_own         the person worked on it, made it, or annotates in its open batch
    is_decidable   it is decided at all: no gold item, none of a qualification, a calibration or a batch set aside
    is_closed      its batch is closed
    submitted      number of responses
    by_person      a person decided it
    release        name of the first release that holds its decision
    is_being_released   a release with its decision is being written
    user           name of the batch whose work rests on its decision; "" where it is something else; None: nothing does
    is_hidden      its state is hidden from the person, who annotates in its open batch
    is_pinned      it is a guideline example
    released_response   a release holds one of its responses
    author_gone    the author of a response is no annotator any more
    """

    state: str
    is_own: bool = False
    is_decidable: bool = True
    is_closed: bool = False
    submitted: int = 0
    by_person: bool = False
    release: str = ""
    is_being_released: bool = False
    user: str | None = None
    released_response: bool = False
    author_gone: bool = False
    is_hidden: bool = False
    is_pinned: bool = False

    @property
    def is_decided(self) -> bool:
        return self.state in ("accepted", "excluded")


@dataclass(frozen=True, order=True)
class Refusal:
    """Why an item cannot be changed: a code of `refused_in_words`, and the name that the sentence mentions."""

    code: str
    name: str = ""


def refusal(action: str, item: Facts, *, tells_gold: bool = True) -> Refusal | None:
    """Why an action cannot be done to an item, None where it can.

    tells_gold: the person may know which items are gold. To others, gold looks like an item that they worked on.
    """
    if action == "flag":
        return Refusal("own") if item.is_own else None
    if action == "example":
        return _example(item)
    if item.is_own or not item.is_decidable:
        if not tells_gold:
            return Refusal("kept")
        return Refusal("own" if item.is_own else "undecidable")
    return {"exclude": _exclude, "adjudicate": _adjudicate, "send_back": _send_back}[action](item)


def _exclude(item: Facts) -> Refusal | None:
    return Refusal("excluded") if item.state == "excluded" else _rests(item)


def _adjudicate(item: Facts) -> Refusal | None:
    if item.state == "adjudication":
        return Refusal("waiting")
    if item.state == "open" or not item.submitted:
        return Refusal("incomplete")
    if item.is_decided and item.by_person and not item.release:
        return Refusal("by_person")
    return _rests(item)


def _send_back(item: Facts) -> Refusal | None:
    if item.is_decided and not item.release:
        return Refusal("decided")
    if item.is_closed:
        return Refusal("closed")
    if not item.submitted:
        return Refusal("unanswered")
    if item.released_response and not item.is_decided:
        return Refusal("released_response")
    return Refusal("author_gone") if item.author_gone else _rests(item)


def _example(item: Facts) -> Refusal | None:
    if item.is_hidden:
        return Refusal("own")
    if not item.is_decidable:
        return Refusal("undecidable")
    if item.state != "accepted":
        return Refusal("unaccepted")
    if not item.is_closed:
        return Refusal("still_open")
    return Refusal("pinned") if item.is_pinned else None


def _rests(item: Facts) -> Refusal | None:
    """What rests on the decision that would have to be taken back."""
    if not item.is_decided:
        return None
    if item.is_being_released:
        return Refusal("being_released")
    if item.user is not None:
        return Refusal("used", item.user) if item.user else Refusal("used_elsewhere")
    return None


def refused_in_words(refused: Refusal, count: int) -> str:
    """How many items cannot be changed, and why, as a sentence."""
    items = ngettext("{number} item", "{number} items", count).format(number=grouped(count))
    why = {
        "kept": gettext("you worked on it or annotate in its open batch, or it is never decided"),
        "own": gettext("you worked on it, or annotate in its open batch"),
        "undecidable": gettext("gold, qualification, calibration or set aside: never decided"),
        "excluded": gettext("already excluded"),
        "waiting": gettext("already needs adjudication"),
        "incomplete": gettext("responses are missing"),
        "by_person": gettext("decided by an adjudicator"),
        "decided": gettext("decided. Move it to adjudication first"),
        "closed": gettext("the batch is closed, so authors cannot submit again"),
        "unanswered": gettext("no responses yet"),
        "released_response": gettext("a release contains a response"),
        "author_gone": gettext("an author is no longer an annotator here"),
        "being_released": gettext("a release is being written. Try again when it is ready"),
        "used": gettext("used in batch {name}").format(name=refused.name),
        "used_elsewhere": gettext("used by other items, examples or models"),
        "unaccepted": gettext("not accepted"),
        "still_open": gettext("the batch is not closed yet"),
        "pinned": gettext("already a guideline example"),
        "changed": gettext("changed meanwhile"),
    }[refused.code]
    return f"{items}: {why}"


def done_in_words(action: str, count: int) -> str:
    """What an action did, as a sentence."""
    sentence = {
        "exclude": ngettext("{number} item excluded.", "{number} items excluded.", count),
        "adjudicate": ngettext(
            "{number} item moved to adjudication.", "{number} items moved to adjudication.", count
        ),
        "send_back": ngettext("{number} item sent back.", "{number} items sent back.", count),
        "flag": ngettext("{number} item flagged.", "{number} items flagged.", count),
        "example": ngettext(
            "{number} item added to the guideline examples.",
            "{number} items added to the guideline examples.",
            count,
        ),
    }[action]
    return sentence.format(number=grouped(count))


def corrected_in_words(name: str, count: int) -> str:
    """That items are corrected which the release `name` contains, as a sentence."""
    sentence = ngettext(
        "{number} item is in release {name}, which stays as it is. The next release publishes the correction with "
        "your reason.",
        "{number} items are in release {name}, which stays as it is. The next release publishes the corrections with "
        "your reason.",
        count,
    )
    return sentence.format(number=grouped(count), name=name)


def planned_in_words(action: str, count: int) -> str:
    """What an action would do, as a sentence."""
    sentence = {
        "exclude": ngettext("{number} item will be excluded.", "{number} items will be excluded.", count),
        "adjudicate": ngettext(
            "{number} item will need adjudication.", "{number} items will need adjudication.", count
        ),
        "send_back": ngettext(
            "The responses to {number} item will go back to their authors.",
            "The responses to {number} items will go back to their authors.",
            count,
        ),
        "flag": ngettext("{number} item will be flagged.", "{number} items will be flagged.", count),
        "example": ngettext(
            "{number} item will be a guideline example. Annotators of its task type see its response without names. It is "
            "hidden while a planned or open batch has an item on the same table.",
            "{number} items will be guideline examples. Annotators of their task type see their responses without names. "
            "Each is hidden while a planned or open batch has an item on the same table.",
            count,
        ),
    }[action]
    return sentence.format(number=grouped(count))
