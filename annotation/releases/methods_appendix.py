"""The methods appendix of a paper: how a benchmark was annotated, from what a release's manifest says.

    about = Study(manifest, exclusions, pictures)
    documents.as_latex(blocks(about)), gaps(about)

`manifest` is that of a release, or what a release made now would have in its place. Missing facts are named as such,
with the page on which to enter it. Everything is in English, as in the data statement. Needs no database.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.charts.study_figures import estimate
from annotation.platform import display_text
from annotation.releases.manifest import Manifest
from annotation.releases.task_records import instruction, task_of_record
from tableqa.core.translation import gettext
from tableqa.statistics.proportions import proportion
from tableqa.writers import hub
from tableqa.writers.documents import Block, Heading, Items, Paragraph, Picture, Quotation, Table
from tableqa.writers.report_tables import Column, Sheet, count, listed, text
from tasks.contract import TaskType, decision_rules, task_types

FOLDER = "pictures"
"""The folder of the pictures beside the document."""
RULES_OF_SENT_BACK = 3
"""Rules of releases from which on responses that were sent back enter agreement in their first version."""
MOST_REASONS = 20
"""Reasons of exclusions that are listed, the most frequent first."""


@dataclass(frozen=True)
class Study:
    """What the appendix is written from.

    name        of the project, and of the release if it is of one
    manifest    of the release, or what a release made now would have
    exclusions  reason -> number of items
    pictures    task types of which there is a picture
    unchecked   edits without a blind answer, and all edits that people made
    """

    name: str
    manifest: Manifest
    exclusions: Mapping[str, int] = field(default_factory=dict)
    pictures: Collection[str] = ()
    unchecked: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Gap:
    """A missing fact: its title, and the page on which to enter it (a key of `PAGES`)."""

    title: str
    page: str


PAGES = {
    "statement": "Data statement",
    "sources": "Sources",
    "agreement": "Batches",
}
"""The pages of a project on which facts are entered -> their names."""


def blocks(study: Study) -> list[Block]:
    """The appendix."""
    return [
        *_overview(study),
        *_people(study),
        *_tasks(study),
        *_agreement(study),
        *_decisions(study),
        *_reproduction(),
    ]


def gaps(study: Study) -> list[Gap]:
    """The facts that the appendix lacks, in its order."""
    return [
        *(Gap(f"Licence of {name}", "sources") for name in _without_licence(study)),
        *(Gap(title, "statement") for title, paragraphs in _conditions(study) if not paragraphs),
        *([] if _defined_figures(study) else [Gap("Agreement", "agreement")]),
    ]


def _missing_fact(page: str) -> Paragraph:
    return Paragraph(
        f"Not recorded. Enter it in Askew on the page “{PAGES[page]}” of the project.", missing=True
    )


# -- data -------------------------------------------------------------------------------------------


def _overview(study: Study) -> Iterator[Block]:
    manifest = study.manifest
    counts = manifest.counts
    yield Heading(f"Annotation of {study.name}")
    yield Paragraph(
        f"{_responses(counts)}; {_count_text(counts['accepted'], 'item')} accepted, {counts['excluded']:,} excluded."
    )
    if simulated := counts["simulated_annotators"]:
        yield Paragraph(
            f"{_count_text(simulated, 'annotator')} simulated. Do not publish these figures.", missing=True
        )
    if not manifest.sources:
        return
    yield Heading("Sources", 2)
    yield Items(tuple(map(_source, manifest.sources)))
    if _without_licence(study):
        yield _missing_fact("sources")
    if manifest.batches:
        yield Heading("Batches", 2)
        yield Table(_batches(study))
    yield from _outside(manifest)


def _outside(manifest: Manifest) -> Iterator[Block]:
    """What the release leaves out, and what was decided after the first response."""
    for heading, lines in hub.selection(
        {**manifest.record(), "exclusions": []}
    ):  # they have their own section
        yield Heading(heading, 2)
        yield Items(tuple(lines))


def _responses(counts: Mapping[str, int]) -> str:
    """How many responses, people and items there are; manifests before rules 7 count revisions alone."""
    names = ("responses", "respondents", "answered_items")
    what = ("response", "responses")
    if "responses" not in counts:
        names, what = (
            ("annotations", "annotators", "items"),
            ("revision of a response", "revisions of responses"),
        )
    responses, people, items = (counts[name] for name in names)
    return f"{_count_text(responses, *what)} by {_count_text(people, 'person', 'people')} on {_count_text(items, 'item')}"


def _source(source: Mapping[str, Any]) -> str:
    split = f", split {source['split']}" if source["split"] else ""
    citation = " ".join(source["citation"].split())
    return f"{source['name']}{split}. Licence: {_licence(source)}. {citation}".rstrip()


def _licence(source: Mapping[str, Any]) -> str:
    return "not stated" if source["licence"] in ("", "NOASSERTION") else str(source["licence"])


def _without_licence(study: Study) -> list[str]:
    return [source["name"] for source in study.manifest.sources if _licence(source) == "not stated"]


def _batches(study: Study) -> Any:
    names = {batch["id"]: batch["name"] for batch in study.manifest.batches}
    rows = [
        (
            batch["name"],
            _title(study, batch["type"])
            + (f" ({batch['variant'].replace('_', ' ')})" if batch["variant"] else ""),
            names.get(batch["feeds_from"], "sources"),
            _rule(study, batch),
            count(batch["overlap"]),
        )
        for batch in study.manifest.batches
    ]
    head = ("Batch", "Task type", "Items from", "Decision rule", "People per item")
    return listed("batches", "Batches", head, rows, texts=4)


def _rule(study: Study, batch: Mapping[str, Any]) -> str:
    """The decision rule of a batch in words: the chosen one, else that of its task type."""
    task = _task(study, batch["type"])
    own = decision_rules.own_rule(task, batch["settings"]) if task is not None else {}
    return decision_rules.in_words(batch.get("resolve") or own)


def _task(study: Study, key: str) -> TaskType | None:
    """The task type of the newest batch of this type; None where it is not installed."""
    batch = next(candidate for candidate in reversed(study.manifest.batches) if candidate["type"] == key)
    return task_of_record(batch) if batch.get("definition") else task_types().get(key)


def _title(study: Study, key: str) -> str:
    task = _task(study, key)
    return gettext(task.title) if task is not None else key


# -- people -----------------------------------------------------------------------------------------


def _conditions(study: Study) -> list[tuple[str, list[str]]]:
    """(title, paragraphs) on people and their work; without paragraphs where nothing is stated."""
    if not study.manifest.statement:
        return [("Annotators", [])]
    return [
        (title, [] if paragraphs == ["Not said."] else paragraphs)
        for title, paragraphs in hub.conditions(study.manifest.statement)
    ]


def _people(study: Study) -> Iterator[Block]:
    yield Heading("Data statement")
    yield Paragraph(
        "The letters in parentheses name the questions of section D of the ACL's responsible NLP checklist."
    )
    if study.manifest.counts["simulated_annotators"]:
        yield Paragraph("Counts in this section leave out simulated people.")
    for title, paragraphs in _conditions(study):
        yield Heading(title, 2)
        if not paragraphs:
            yield _missing_fact("statement")
        for paragraph in paragraphs:
            yield from (Paragraph(line) for line in paragraph.splitlines() if line.strip())


# -- tasks ------------------------------------------------------------------------------------------


def _instructions(study: Study, task: TaskType) -> list[str]:
    """The lines above the items of this task type, each once: variants and settings of batches may change them."""
    batches = [batch for batch in study.manifest.batches if batch["type"] == task.key]
    lines = (
        instruction(task, batch["variant"], batch["settings"], has_model=bool(batch.get("loop_model")))
        for batch in batches
    )
    return list(dict.fromkeys(lines))


def _tasks(study: Study) -> Iterator[Block]:
    yield Heading("Instructions and pages")
    for key in dict.fromkeys(batch["type"] for batch in study.manifest.batches):
        yield Heading(_title(study, key), 2)
        task = _task(study, key)
        if task is not None:
            for line in _instructions(study, task):
                yield Paragraph(f"Instruction above every item: {line}")
        if key in study.pictures:
            yield Picture(
                f"{FOLDER}/{key}.jpg",
                f"The page of the task type {_title(study, key)}, with an example item.",
            )
        else:
            yield Paragraph("No picture of this task type comes with Askew. Add a screenshot.", missing=True)
        versions = [version for version in study.manifest.guidelines if version["type"] == key]
        if not versions:
            yield Paragraph("Nobody has annotated an item of this task type yet.", missing=True)
        for version in versions:
            yield Heading(f"Guidelines, version {version['number']}", 3)
            yield Quotation(version["text"])


# -- quality ----------------------------------------------------------------------------------------


def _defined_figures(study: Study) -> list[Mapping[str, Any]]:
    return [figure for figure in study.manifest.agreement_in_words() if figure["value"] is not None]


def _agreement(study: Study) -> Iterator[Block]:
    yield Heading("Agreement")
    defined = _defined_figures(study)
    if not defined:
        yield Paragraph(
            "Not recorded: no batch has two people's responses to the same items. Let more people annotate.",
            missing=True,
        )
        return
    names = {batch["id"]: batch["name"] for batch in study.manifest.batches}
    rows = [
        (
            text(names[figure["batch"]]),
            text(display_text.measure(figure["measure"])),
            text(display_text.statistic(figure["statistic"])),
            estimate(figure, figure["statistic"]),
            count(figure["raters"]),
        )
        for figure in defined
    ]
    columns = (
        *(Column(title, numeric=False) for title in ("Batch", "Measure", "Statistic")),
        Column("Value", counted="Items"),
        Column("Raters"),
    )
    yield Table(Sheet("agreement", "Agreement", columns, tuple(rows)))
    replicates = max(figure["replicates"] for figure in defined)
    yield Paragraph(
        f"Intervals: 95 % confidence, bootstrap over items ({replicates:,} replicates). {_basis(study)}"
    )
    if undefined_count := len(study.manifest.agreement) - len(defined):
        yield Paragraph(
            f"{_count_text(undefined_count, 'further figure')} undefined for lack of ratings and left out."
        )


def _basis(study: Study) -> str:
    """Which responses the figures of agreement are computed from, by the rules of the release."""
    each = "Figures are computed from each person's newest response on a planned slot, before adjudication."
    if study.manifest.rules < RULES_OF_SENT_BACK:
        return f"{each} Responses that an adjudicator sent back are left out."
    return f"{each} Of a response that an adjudicator sent back, the version before that is used."


def _decisions(study: Study) -> Iterator[Block]:
    counts = study.manifest.counts
    decided = counts["accepted"] + counts["excluded"]
    yield Heading("Adjudication and exclusions")
    if not decided:
        yield Paragraph("No item is decided.", missing=True)
        return
    shares = {
        "decided by an adjudicator; the decision rule of the batch decided the others": counts["adjudicated"],
        "excluded": counts["excluded"],
    }
    of_decided = f"of {_count_text(decided, 'decided item')}"
    yield Items(tuple(f"{_share(value, decided)} {of_decided} {what}." for what, value in shares.items()))
    if contradicted := counts.get("contradicted"):
        yield Paragraph(f"People contradicted the answer of {_count_text(contradicted, 'example')} later.")
    unchecked, edit_count = study.unchecked
    if unchecked:
        have = "has" if unchecked == 1 else "have"
        yield Paragraph(
            f"{unchecked:,} of {_count_text(edit_count, 'edit')} {have} no blind answer by another person."
        )
    reasons = sorted(study.exclusions.items(), key=lambda entry: (-entry[1], entry[0]))
    if reasons:
        yield Paragraph("Items were excluded for these reasons:")
        yield Items(tuple(f"{reason or 'no reason'}: {value:,}" for reason, value in reasons[:MOST_REASONS]))
    if (more := len(reasons) - MOST_REASONS) and more > 0:
        yield Paragraph(f"{_count_text(more, 'further reason')} for one or a few items each.")


def _share(part: int, of: int) -> str:
    share = proportion(part, of)
    return f"{part:,} ({share.percent}; 95 % CI {share.interval}, n = {of:,})"


def _reproduction() -> Iterator[Block]:
    yield Heading("Reproduction")
    yield Paragraph(
        "Raw responses, decisions, guidelines and figures are part of each release of the data. Askew's command "
        "verify_release replays every edit and computes every figure of this appendix again from them."
    )


def _count_text(value: int, singular: str, plural: str = "") -> str:
    return f"{value:,} {singular if value == 1 else plural or singular + 's'}"
