"""What applying a study file changes of perturbations and batches, in the order in which they depend on each other."""

import dataclasses
import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.assistance import loop_fit, model_accuracy
from annotation.models.batch_options import TERMS, Context, changeable
from annotation.platform.display_text import grouped, show
from annotation.platform.refusals import ActionRefused
from annotation.study_file.batch_examples import ExampleComparison, waits_for
from annotation.study_file.comparison import Change, change_in_words, in_order, term_in_words
from annotation.study_file.schema import BATCH_KEYS, BatchSpec, Run, upstream


class BatchComparison(ExampleComparison):
    """Perturbations and batches, in the file and as they are."""

    def changes(self) -> Iterator[Change]:
        for section, index in in_order(self.study):
            if section == "perturbation":
                yield from self.run(index, self.study.runs[index])
            else:
                yield from self.batch(index, self.study.batches[index])
        for name in self.planned:
            if name not in self.stated:
                yield self.change("leave", "batch", name, gettext("not in the file."))

    def run(self, index: int, run: Run) -> Iterator[Change]:
        wrong = list(self.check_names("perturbation", index, run.name, run.sources, run.feeds_from))
        yield from wrong
        if not wrong and run.feeds_from in self.waiting:
            yield self.change("wait", "perturbation", run.name, waits_for(run.feeds_from), index)
            return
        same = [at for at, existing in enumerate(self.current.runs) if self.is_same_run(run, existing)]
        if wrong or not self.state.unfinished.issuperset(same):
            return
        if same:
            text = gettext("unfinished: the run continues where it stopped.")
            yield self.change("add", "perturbation", run.name, text, index)
        elif not self.study.sources and not self.current.sources:
            text = gettext("there is no source to perturb.")
            yield self.change("cannot", "perturbation", run.name, text, index)
        else:
            yield self.change("add", "perturbation", run.name, _run_in_words(run), index)

    def is_same_run(self, run: Run, existing: Run) -> bool:
        of = set(run.sources) or {source.name for source in self.current.sources}
        has_sources = set(existing.sources) >= of if not run.sources else set(existing.sources) == of
        same = dataclasses.replace(run, sources=()) == dataclasses.replace(existing, sources=())
        return same and has_sources

    def batch(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        existing = self.planned.get(spec.name)
        if obstacles := self.obstacles(index, spec):
            yield from obstacles
            return
        if existing is None:
            text = _batch_in_words(spec, self.available_examples(spec), self.correct(spec), self.needed(spec))
            yield self.change("add", "batch", spec.name, text, index)
        elif differ := [name for name in BATCH_KEYS if getattr(spec, name) != getattr(existing, name)]:
            change = self.changed_batch(index, spec, existing, differ)
            yield change
            if change.verb == "cannot":
                return
        yield from self.gold(index, spec)
        if spec.open and (existing is None or not existing.open):
            yield self.opening(index, spec)
        if existing is not None and not spec.open:
            state = self.state.batches[spec.name].state
            if state != "planned":
                text = gettext("it is {state}; in the file it is planned.").format(state=gettext(state))
                yield self.change("leave", "batch", spec.name, text, index)
        yield from self.guideline_examples(index, spec)

    def obstacles(self, index: int, spec: BatchSpec) -> list[Change]:
        """Why a batch cannot be as the file says, or what it waits for."""
        wrong = list(
            self.check_names("batch", index, spec.name, spec.sources, spec.feeds_from, spec.requires)
        )
        wrong += self.check_models(index, spec)
        qualification = self.batches.get(spec.requires)
        if qualification is not None and qualification.purpose != "qualification":
            text = gettext("“{name}” is required, but it is not a qualification batch.").format(
                name=qualification.name
            )
            wrong.append(self.change("cannot", "batch", spec.name, text, index))
        if not spec.sources and not spec.feeds_from:
            text = gettext("it has no items. Name sources in `sample`, or a batch in `feeds_from`.")
            wrong.append(self.change("cannot", "batch", spec.name, text, index))
        if not wrong and spec.name not in self.planned:
            if text := self.why_waiting(spec):
                self.waiting.add(spec.name)
                wrong = [self.change("wait", "batch", spec.name, text, index)]
            elif text := self.why_without_examples(spec):
                wrong = [self.change("cannot", "batch", spec.name, text, index)]
        return (
            wrong
            or list(self.check_examples(index, spec))
            or list(self.check_qualification_gold(index, spec))
        )

    def changed_batch(
        self, index: int, spec: BatchSpec, existing: BatchSpec, differ: Sequence[str]
    ) -> Change:
        """The change of the terms (names) in which a batch differs, or why these cannot change."""
        state = self.state.batches[spec.name].state
        parts = {name: (term_in_words(existing, name), term_in_words(spec, name)) for name in differ}
        if frozen := [name for name in differ if state == "closed" or name not in changeable()]:
            conflicts = "; ".join(
                gettext("{what} {there}, not {wanted}").format(
                    what=BATCH_KEYS[name], there=parts[name][0], wanted=parts[name][1]
                )
                for name in frozen
            )
            text = gettext(
                "in the project: {said}. The batch is {state}, so this cannot be changed. Correct the "
                "file, or rename the batch."
            ).format(said=conflicts, state=gettext(state))
            return self.change("cannot", "batch", spec.name, text, index)
        text = "; ".join(change_in_words(BATCH_KEYS[name], *parts[name]) for name in differ)
        return self.change("change", "batch", spec.name, f"{text}.", index)

    def correct(self, spec: BatchSpec) -> tuple[int, int]:
        """How many originals of its sources the model of a batch answers correctly, and how many it was asked about."""
        counts = [self.state.correct.get(key, (0, 0)) for key in _accuracy_keys(spec)]
        return sum(right for right, _ in counts), sum(total for _, total in counts)

    def needed(self, spec: BatchSpec) -> str:
        """What its language model would use to answer the originals of its sources, in words; "" where that is unknown."""
        estimates = [self.state.needed[key] for key in _accuracy_keys(spec) if key in self.state.needed]
        return functools.reduce(operator.add, estimates).in_words() if estimates else ""

    def opening(self, index: int, spec: BatchSpec) -> Change:
        """Opening a planned batch; a split waits until there are people enough for its shares."""
        here, needed = self.annotators(), spec.overlap
        counts = self.state.batches.get(spec.name)
        items = self.drawn_items(spec) if counts is None else counts.items - counts.gold
        limit = spec.caps.get("items")
        if limit is not None and items:
            needed = max(needed, -(-items * spec.overlap // limit))
        if spec.strategy != "split" or here >= needed:
            return self.change("open", "open", spec.name, gettext("annotators get its items."), index)
        if needed > spec.overlap:
            text = gettext(
                "its {items} items for {overlap} people each, at most {limit} items per person, need "
                "{needed} annotators; the project has {here}. Apply the file again when they have "
                "joined, or raise the limit."
            ).format(
                items=grouped(items or 0),
                overlap=spec.overlap,
                limit=grouped(limit or 0),
                needed=needed,
                here=here,
            )
        else:
            text = ngettext(
                "its fixed allocation for {overlap} person per item needs {needed} annotator; the project has "
                "{here}. Apply the file again when they have joined.",
                "its fixed allocation for {overlap} people per item needs {needed} annotators; the project has "
                "{here}. Apply the file again when they have joined.",
                needed,
            ).format(overlap=spec.overlap, needed=needed, here=here)
        return self.change("wait", "open", spec.name, text, index)

    def check_models(self, index: int, spec: BatchSpec) -> Iterator[Change]:
        """Models that terms name exist on this site."""
        values, predictors = dict(spec.terms), self.state.predictors
        context = Context(spec.task, predictors=predictors, values=values)
        for name in ("loop_model", "help_from"):
            try:
                TERMS[name].checked(values[name], context)
            except ActionRefused as refused:
                yield self.refuse_term(name, refused.detail, spec, index)
        is_new = spec.name not in self.planned
        sources = self.with_sentences(spec) if spec.loop_model and is_new else ()
        if text := loop_fit.obstacle(predictors.get(spec.loop_model), sources):
            yield self.refuse_term("loop_model", text, spec, index)

    def refuse_term(self, term: str, reason: str, spec: BatchSpec, index: int) -> Change:
        """An obstacle that is a term of a batch."""
        change = self.change("cannot", "batch", spec.name, f"{BATCH_KEYS[term]}: {reason}", index)
        return dataclasses.replace(change, term=term)

    def with_sentences(self, spec: BatchSpec) -> set[str]:
        """The sources of a batch, or of the batches before it, whose answers are sentences."""
        names = {source for batch in upstream(spec, self.batches) for source in batch.sources}
        in_files = {source.name for source, probe in self.files if probe.has_sentences}
        return names & (in_files | self.state.with_sentences)


def _accuracy_keys(spec: BatchSpec) -> list[tuple[str, str, str]]:
    """The keys of `ProjectState.correct` for the sources of a batch."""
    purpose = model_accuracy.purpose_of(spec.task)
    return [(name, spec.loop_model, purpose) for name in spec.sources]


OF: Final = {
    "originals": gettext_noop("originals"),
    "perturbed": gettext_noop("perturbed by people"),
    "automatic": gettext_noop("automatically perturbed"),
}
BY: Final = {
    "": gettext_noop("{size} {of} of {sources}, seed {seed}"),
    "source": gettext_noop("{size} {of} of {sources} by source, seed {seed}"),
    "difficulty": gettext_noop("{size} {of} of {sources} by difficulty, seed {seed}"),
}
SELECT: Final = {"extraction": gettext_noop("extraction"), "reasoning": gettext_noop("reasoning")}
OVERLAP: Final = {
    "open": gettext_noop("{overlap} people per item, first come first served"),
    "split": gettext_noop("{overlap} people per item, fixed shares"),
    "everyone": gettext_noop("every annotator gets every item"),
}
"""What a file says of a new batch or run under `sample.of`, `sample.by`, `select` and `strategy`, in words."""


def _batch_in_words(spec: BatchSpec, available: int | None, correct: tuple[int, int], needed: str) -> str:
    """A new batch; `available` is how many examples there are of those that it is drawn from, where that is known.

    `correct` counts the originals that its model answers correctly, and those it answered; `needed` is what
    the others would cost.
    """
    title = show(spec.task.title)
    kind = f"{title}, {spec.variant}" if spec.variant else title
    parts = [kind if spec.purpose == "work" else f"{gettext(spec.purpose)}: {kind}"]
    if spec.feeds_from:
        decides = gettext("the decisions of “{batch}”").format(batch=spec.feeds_from)
        parts.append(f"{decides}{_filter_in_words(spec.feeds_when)}")
    if spec.sources:
        parts.append(
            gettext(BY[spec.by]).format(
                size=_size(spec, available),
                of=gettext(OF[spec.of]),
                sources=", ".join(spec.sources),
                seed=spec.seed,
            )
        )
    if spec.loop_right_only:
        parts.append(_correct_only(spec.loop_model, *correct, needed))
    parts.append(gettext(OVERLAP[spec.strategy]).format(overlap=spec.overlap))
    return f"{'; '.join(parts)}."


def _correct_only(model: str, right_count: int, total: int, needed: str) -> str:
    """That a batch serves only what its model answers correctly, with the counts where there are answers."""
    if total:
        text = gettext("only questions that {model} answers correctly ({number} of {asked} so far)")
        text = text.format(model=model, number=grouped(right_count), asked=grouped(total))
    else:
        text = gettext("only questions that {model} answers correctly; it will be asked").format(model=model)
    return f"{text} ({needed})" if needed else text


def _size(spec: BatchSpec, available: int | None) -> str:
    """How many examples a batch draws."""
    if spec.only:
        return gettext("{number} listed").format(number=len(spec.only))
    if available is None or (spec.size is not None and spec.size <= available):
        return gettext("all") if spec.size is None else grouped(spec.size)
    if spec.size:
        text = gettext("all {number} (fewer than {size} exist)")
        return text.format(number=grouped(available), size=grouped(spec.size))
    return gettext("all {number}").format(number=grouped(available))


def _run_in_words(run: Run) -> str:
    """A new run of automatic perturbations."""
    sources = ", ".join(run.sources)
    if run.select:
        which = (
            gettext("{select} questions of {sources}")
            if sources
            else gettext("{select} questions of every source")
        )
    else:
        which = gettext("originals of {sources}") if sources else gettext("originals of every source")
    parts = [which.format(select=gettext(SELECT[run.select]) if run.select else "", sources=sources)]
    if run.feeds_from:
        decides = gettext("as decided in “{batch}”").format(batch=run.feeds_from)
        parts.append(f"{decides}{_filter_in_words(run.feeds_when)}")
    parts.append(ngettext("{number} seed", "{number} seeds", len(run.seeds)).format(number=len(run.seeds)))
    return f"{', '.join(parts)}."


def _filter_in_words(when: Mapping[str, Sequence[Any]]) -> str:
    conditions = [f"{name} {gettext(' or ').join(map(str, values))}" for name, values in when.items()]
    return f" ({', '.join(conditions)})" if conditions else ""
