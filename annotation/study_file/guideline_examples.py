"""What applying a study file does with the guideline examples of a batch: a pure decision on each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from django.utils.translation import gettext, ngettext

from annotation.study_file.schema import ItemName, Work

ItemState = Literal["pinned", "accepted", "undecided", "excluded", "gold"]
"""Where an item of a batch stands: a guideline example already, or what keeps it from being one."""
Step = tuple[Literal["add", "wait", "leave", "cannot"], str]
"""What is done, and in words what or why."""


def steps(
    wanted: Work,
    *,
    is_planned: bool,
    is_closed: bool,
    known: Sequence[ItemName],
    states: Mapping[ItemName, ItemState],
    source_of: Callable[[ItemName], tuple[str, str]],
) -> Iterator[Step]:
    """The steps for the guideline examples that a file names in a batch.

    `known` are those that the project has there, `states` the items of the batch that the file names. `source_of` says
    which source has such an example, or what is wrong; ("", "") where nobody knows yet.
    """
    new, waiting = 0, 0
    left: list[str] = []
    for one in wanted.guideline_examples:
        source, wrong = source_of(one)
        state = states.get(ItemName(one.example, source))
        if state is None:
            if not wrong and not _may_come(one, wanted, is_planned, is_closed):
                wrong = gettext(
                    "the batch has no item about {example!r}. Correct the id, or remove the entry."
                ).format(example=one.example)
            if wrong:
                yield "cannot", f"guideline_examples: {wrong}"
            waiting += not wrong
        elif state == "gold":
            words = gettext("{example!r} is a gold item. Annotators must not see its response.")
            yield "cannot", f"guideline_examples: {words.format(example=one.example)}"
        elif state == "excluded":
            left.append(repr(one.example))
        elif state == "accepted" and is_closed:
            new += 1
        elif state != "pinned":
            waiting += 1
    if new:
        words = ngettext(
            "{number} accepted item becomes a guideline example.",
            "{number} accepted items become guideline examples.",
            new,
        )
        yield "add", words.format(number=new)
    if waiting:
        words = ngettext(
            "{number} guideline example waits until the batch is closed and the item is accepted. "
            "Apply the file again then.",
            "{number} guideline examples wait until the batch is closed and the items are accepted. "
            "Apply the file again then.",
            waiting,
        )
        yield "wait", words.format(number=waiting)
    if left:
        words = gettext(
            "{examples}: not accepted in the project. Only accepted items are guideline examples."
        )
        yield "leave", words.format(examples=", ".join(left))
    if gone := sum(not _names(wanted, one) for one in known):
        words = ngettext(
            "{gone} guideline example is not in the file.",
            "{gone} guideline examples are not in the file.",
            gone,
        )
        yield "leave", words.format(gone=gone)


def _may_come(one: ItemName, wanted: Work, is_planned: bool, is_closed: bool) -> bool:
    """Whether the batch may still get an item about this example."""
    if wanted.feeds_from and not is_closed:
        return True
    return not is_planned and (not wanted.only or one.example in wanted.only)


def _names(wanted: Work, one: ItemName) -> bool:
    """Whether the file names this guideline example of the project."""
    named = (ItemName(one.example), one)
    return any(name in named for name in wanted.guideline_examples)
