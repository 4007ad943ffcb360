"""What applying a study file does with the guideline examples of a batch: a pure decision on each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from django.utils.translation import gettext, ngettext

from annotation.study_file.schema import BatchSpec, ItemName

ItemState = Literal["pinned", "accepted", "undecided", "excluded", "gold"]
"""Where an item of a batch stands: a guideline example already, or what keeps it from being one."""
Step = tuple[Literal["add", "wait", "leave", "cannot"], str]
"""What is done, and in words what or why."""


def plan_steps(
    spec: BatchSpec,
    *,
    is_planned: bool,
    is_closed: bool,
    existing: Sequence[ItemName],
    states: Mapping[ItemName, ItemState],
    source_of: Callable[[ItemName], tuple[str, str]],
) -> Iterator[Step]:
    """The steps for the guideline examples that a file names in a batch.

    `existing` are those that the project has there, `states` the items of the batch that the file names. `source_of` says
    which source has such an example, or what is wrong; ("", "") where nobody knows yet.
    """
    new, waiting = 0, 0
    excluded: list[str] = []
    for entry in spec.guideline_examples:
        source, wrong = source_of(entry)
        state = states.get(ItemName(entry.example, source))
        if state is None:
            if not wrong and not _may_get_item(entry, spec, is_planned, is_closed):
                wrong = gettext(
                    "the batch has no item about {example!r}. Correct the id, or remove the entry."
                ).format(example=entry.example)
            if wrong:
                yield "cannot", f"guideline_examples: {wrong}"
            waiting += not wrong
        elif state == "gold":
            words = gettext("{example!r} is a gold item. Annotators must not see its response.")
            yield "cannot", f"guideline_examples: {words.format(example=entry.example)}"
        elif state == "excluded":
            excluded.append(repr(entry.example))
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
    if excluded:
        words = gettext(
            "{examples}: not accepted in the project. Only accepted items are guideline examples."
        )
        yield "leave", words.format(examples=", ".join(excluded))
    if gone := sum(not _is_in_file(spec, entry) for entry in existing):
        words = ngettext(
            "{gone} guideline example is not in the file.",
            "{gone} guideline examples are not in the file.",
            gone,
        )
        yield "leave", words.format(gone=gone)


def _may_get_item(entry: ItemName, spec: BatchSpec, is_planned: bool, is_closed: bool) -> bool:
    """Whether the batch may still get an item about this example."""
    if spec.feeds_from and not is_closed:
        return True
    return not is_planned and (not spec.only or entry.example in spec.only)


def _is_in_file(spec: BatchSpec, entry: ItemName) -> bool:
    """Whether the file names this guideline example of the project."""
    named = (ItemName(entry.example), entry)
    return any(name in named for name in spec.guideline_examples)
