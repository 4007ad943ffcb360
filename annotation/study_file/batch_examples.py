"""The examples that a batch needs: whether they exist, or will exist, and which are gold and guideline examples."""

from collections import UserDict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.utils.translation import gettext, gettext_noop, ngettext

import tableqa
from annotation.platform.display_text import grouped
from annotation.study_file.comparison import Change, Comparison, resolve_source
from annotation.study_file.schema import BatchSpec, GoldItem, ItemName, makers, quoted
from tasks.contract import InvalidResponse, Item, PreparingTask

NO_GOLD: Final = gettext_noop("gold.percent needs gold items, and there are none. Mark some first.")


class ExampleComparison(Comparison):
    """The examples that batches of a file name or are drawn from, and those of the project."""

    def why_waiting(self, spec: BatchSpec) -> str:
        """What a new batch waits for, in words: another one that waits, or examples that people have yet to make; "" where
        it can be planned."""
        for before in (spec.feeds_from, spec.requires):
            if before in self.waiting:
                return waits_for(before)
        if self.has_enough(spec):
            return ""
        open_batches = [name for name in self.makers(spec) if not self.is_closed(name)]
        if not open_batches:
            return ""
        drawn = gettext("sampled from the examples that people create from {sources} in {batches}.").format(
            sources=", ".join(spec.sources), batches=quoted(open_batches)
        )
        if spec.only:
            again = ngettext(
                "Apply the file again once those examples exist or the batch is closed.",
                "Apply the file again once those examples exist or the batches are closed.",
                len(open_batches),
            )
        elif spec.size is not None:
            again = ngettext(
                "Apply the file again once {size} exist or the batch is closed.",
                "Apply the file again once {size} exist or the batches are closed.",
                len(open_batches),
            ).format(size=grouped(spec.size))
        else:
            again = ngettext(
                "Apply the file again once the batch is closed.",
                "Apply the file again once the batches are closed.",
                len(open_batches),
            )
        return f"{drawn} {again}"

    def why_without_examples(self, spec: BatchSpec) -> str:
        """Why a new batch that is drawn from derived examples never gets any; "" where there are some."""
        if spec.only or self.has_enough(spec) or self.examples(spec):
            return ""
        of = ", ".join(spec.sources)
        if spec.of == "automatic":
            if any(_shares_sources(run.sources, spec.sources) for run in self.study.runs):
                return ""
            return gettext(
                "sample.of: there are no automatic perturbations of {of}, and the file creates none. "
                "Add them under `perturbations`, or remove the batch."
            ).format(of=of)
        return gettext(
            "sample.of: no examples from {of} were created by people in this project, and no batch "
            "of the file will create them. Add such a batch, sample from originals, or remove this "
            "batch."
        ).format(of=of)

    def has_enough(self, spec: BatchSpec) -> bool:
        """Whether there is as much as a batch is drawn from. All that people make is there once no more is being made."""
        if spec.of == "originals" or not spec.sources:
            return True
        if spec.only:
            return all(self.holders(example_id).keys() & set(spec.sources) for example_id in spec.only)
        return spec.size is not None and self.examples(spec) >= spec.size

    def makers(self, spec: BatchSpec) -> list[str]:
        """The batches, of file and project, from which what a batch is drawn from comes."""
        if spec.of == "automatic":
            runs = [run for run in self.study.runs if _shares_sources(run.sources, spec.sources)]
            return [] if any(not run.feeds_from for run in runs) else [run.feeds_from for run in runs]
        return makers(self.batches.values(), spec.sources)

    def check_examples(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """The examples that a batch names are there, and what is right of gold is a response of its kind."""
        is_unread = self.is_unread(spec)
        if spec.name not in self.planned:
            missing = [entry for entry in spec.only if not self.holders(entry).keys() & set(spec.sources)]
            if missing and not (is_unread if spec.of != "perturbed" else self.has_unread_files()):
                some = ", ".join(map(repr, missing[:10])) + (" …" if len(missing) > 10 else "")
                text = gettext(
                    "sample.only: the sources of the batch ({sources}) do not contain {some}."
                ).format(sources=", ".join(spec.sources), some=some)
                yield self.change("cannot", "batch", spec.name, text, index)
        new_gold = self.new_gold(spec)
        marked: set[tuple[str, str]] = set()
        for entry in spec.gold:
            holders = self.holders(entry.example)
            source, wrong = resolve_source(entry, list(holders), spec.sources)
            if source and (entry.example, source) in marked:
                text = gettext(
                    "{example!r} of {source} appears twice among the gold items. Remove one."
                ).format(example=entry.example, source=source)
                yield self.change("cannot", "gold", spec.name, text, index)
            marked.add((entry.example, source))
            if entry not in new_gold:
                continue
            if wrong and (holders or not is_unread):
                yield self.change("cannot", "gold", spec.name, wrong, index)
            elif source and (wrong := _response_wrong(spec, entry, holders[source])):
                yield self.change("cannot", "gold", spec.name, f"{entry.example}: {wrong}", index)

    def check_qualification_gold(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """A qualification batch opens when the right response to each of its items is known."""
        existing = self.planned.get(spec.name)
        opens = spec.open and (existing is None or not existing.open)
        if spec.purpose != "qualification" or not opens:
            return
        answered_ids = {entry.example for entry in (*spec.gold, *self.existing_gold(spec))}
        item_count: int | None = len(spec.only)
        if spec.only:
            lacking = len(set(spec.only) - answered_ids)
        else:
            item_count = self.available_examples(spec)
            if item_count is None:
                return
            item_count = item_count if spec.size is None else min(item_count, spec.size)
            lacking = item_count - len(answered_ids)
        if lacking > 0 and not self.is_unread(spec):
            text = gettext(
                "Items without a gold answer: {lacking} of {number}. Add the answers to gold.items, or "
                "leave the batch planned (without `open`)."
            ).format(lacking=lacking, number=item_count)
            yield self.change("cannot", "gold", spec.name, text, index)

    def existing_gold(self, spec: BatchSpec) -> Sequence[GoldItem]:
        return self.planned[spec.name].gold if spec.name in self.planned else ()

    def new_gold(self, spec: BatchSpec) -> list[GoldItem]:
        """The gold items of the file that are not marked in the project as the file says."""
        existing = self.existing_gold(spec)
        return [entry for entry in spec.gold if not any(_is_same_gold(entry, marked) for marked in existing)]

    def gold(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """The gold items to mark in a batch, and those that stay although the file does not name them."""
        existing, new = self.existing_gold(spec), self.new_gold(spec)
        if new and self.is_closed(spec.name):
            yield self.change("cannot", "gold", spec.name, gettext("the batch is closed."), index)
        elif new:
            text = ngettext("{number} gold answer.", "{number} gold answers.", len(new))
            yield self.change("add", "gold", spec.name, text.format(number=len(new)), index)
        elif spec.gold_percent and not existing:
            yield self.change("leave", "gold", spec.name, gettext(NO_GOLD), index)
        if gone := len({entry.example for entry in existing} - {entry.example for entry in spec.gold}):
            text = ngettext(
                "{gone} gold item is not in the file.", "{gone} gold items are not in the file.", gone
            ).format(gone=gone)
            yield self.change("leave", "gold", spec.name, text, index)

    def guideline_examples(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """The accepted items that become guideline examples, and why the others do not."""
        section = "guideline examples"
        states = self.state.items.get(spec.name, {})
        new, waiting = 0, 0
        excluded: list[str] = []
        for entry in spec.guideline_examples:
            holders = [name.source for name in states if name.example == entry.example]
            holders = holders or list(self.holders(entry.example))
            source, wrong = resolve_source(entry, holders, spec.sources)
            state = states.get(ItemName(entry.example, source))
            if state is None:
                wrong = wrong if holders or not self.is_unread(spec) else ""
                if not wrong and not self.may_get_item(spec, entry.example):
                    wrong = gettext(
                        "the batch has no item about {example!r}. Correct the id, or remove the entry."
                    ).format(example=entry.example)
                if wrong:
                    yield self.change("cannot", section, spec.name, f"guideline_examples: {wrong}", index)
                waiting += not wrong
            elif state == "gold":
                text = gettext("{example!r} is a gold item. Annotators must not see its response.").format(
                    example=entry.example
                )
                yield self.change("cannot", section, spec.name, f"guideline_examples: {text}", index)
            elif state == "excluded":
                excluded.append(repr(entry.example))
            elif state == "accepted" and self.is_closed(spec.name):
                new += 1
            elif state != "pinned":
                waiting += 1
        if new:
            text = ngettext(
                "{number} accepted item becomes a guideline example.",
                "{number} accepted items become guideline examples.",
                new,
            )
            yield self.change("add", section, spec.name, text.format(number=new), index)
        if waiting:
            text = ngettext(
                "{number} guideline example waits until the batch is closed and the item is accepted. "
                "Apply the file again then.",
                "{number} guideline examples wait until the batch is closed and the items are accepted. "
                "Apply the file again then.",
                waiting,
            )
            yield self.change("wait", section, spec.name, text.format(number=waiting), index)
        if excluded:
            text = gettext(
                "{examples}: not accepted in the project. Only accepted items are guideline examples."
            )
            yield self.change("leave", section, spec.name, text.format(examples=", ".join(excluded)), index)
        existing = self.planned[spec.name].guideline_examples if spec.name in self.planned else ()
        if gone := sum(
            entry not in spec.guideline_examples and ItemName(entry.example) not in spec.guideline_examples
            for entry in existing
        ):
            text = ngettext(
                "{gone} guideline example is not in the file.",
                "{gone} guideline examples are not in the file.",
                gone,
            )
            yield self.change("leave", section, spec.name, text.format(gone=gone), index)

    def may_get_item(self, spec: BatchSpec, example_id: str) -> bool:
        """Whether the batch may still get an item about this example."""
        if spec.feeds_from and not self.is_closed(spec.name):
            return True
        return spec.name not in self.planned and (not spec.only or example_id in spec.only)


def waits_for(name: str) -> str:
    """That something is done once a batch that waits exists."""
    return gettext("it depends on “{name}”, which is waiting. Apply the file again afterwards.").format(
        name=name
    )


def _shares_sources(of: Sequence[str], sources: Sequence[str]) -> bool:
    """Whether a run over these sources, all where none is named, makes something of any of the others."""
    return not of or bool(set(of) & set(sources))


def _is_same_gold(entry: GoldItem, existing: GoldItem) -> bool:
    """Whether a gold item is marked as the file says; what is frozen beside it does not change any more."""
    same = (entry.example, entry.response, entry.why) == (existing.example, existing.response, existing.why)
    return same and entry.source in ("", existing.source)


class _PendingInputs(UserDict[str, Any]):
    """What will be frozen beside an item and is not known yet; it remembers whether any person asked for it."""

    is_used = False

    def __getitem__(self, key: str) -> Any:
        self.is_used = True
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.is_used = True
        return super().__contains__(key)


def _response_wrong(spec: BatchSpec, entry: GoldItem, example: tableqa.Example) -> str:
    """Why the gold answer is no response to the example; "" where it is one, or where that is not known yet."""
    if spec.task.starts_from:
        return ""
    inputs: Any = entry.inputs
    if isinstance(spec.task, PreparingTask) and not inputs:
        inputs = _PendingInputs()
    try:
        spec.task.parse(entry.response, Item(example, spec.variant, spec.settings, inputs))
    except InvalidResponse as invalid:
        return "" if isinstance(inputs, _PendingInputs) and inputs.is_used else str(invalid)
    except KeyError:
        if not isinstance(inputs, _PendingInputs):
            raise
    return ""
