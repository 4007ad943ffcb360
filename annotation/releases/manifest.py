"""The manifest of a release: each field is declared once, in `Manifest`.

A declaration has the type of a field, its meaning and how its value is computed when a release is written. Writing,
reading, the check of its presence and type, and the table of docs/reference/release-format.md follow; write the table with
`./run manage reference`. `annotation.releases.verification` compares values with the records. A new field is optional
(`absent`), or has the rules from which on releases have it (`since`): earlier releases verify without it.
"""

import dataclasses
import json
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final

from annotation.models import Batch, Release
from annotation.payments import data_statement
from annotation.quality import compared_responses, rating_tallies
from annotation.quality.label_texts import localize_figure
from annotation.releases import mixes as releases_mixes
from annotation.releases import study_history
from annotation.releases.benchmark_files import FORMATS, compose_mixes, is_benchmark
from annotation.releases.raw_records import EVALUATION, Raw
from annotation.releases.task_records import task_of_record
from tableqa.core.release_rules import RULES
from tableqa.releases.release_records import (
    LAYOUT,
    LAYOUT_OF_FORMATS,
    RESPONSES_KEPT,
    RULES_OF_HISTORY,
    perturbed_counts,
)
from tableqa.writers import harness

Record = dict[str, Any]
REQUIRED: Final = object()
RULES_OF_UNVERIFIED = 9
RULES_OF_DELETED = 12
"""The rules from which on releases name deleted batches."""
JSON_TYPES: Final = {int: "a number", str: "a text", list: "a list", dict: "an object", NoneType: "null"}


@dataclass(frozen=True)
class Contents:
    """What the fields of a manifest are computed from.

    batches                    those of the release
    guidelines, runs, waivers  as the manifest has them
    until                      the time of the last event in the release
    dates                      of the first and the last record
    predecessor, changes       the release before, and what changed since (`annotation.releases.history`)
    study                      what happened to the study, by field (`annotation.releases.study_history`)
    """

    release: Release
    raw: Raw
    batches: Sequence[Batch]
    guidelines: list[Record]
    runs: list[Record]
    waivers: list[Record]
    until: datetime
    dates: Record
    predecessor: Record | None
    changes: Record
    deleted: list[Record]
    other_batches: list[Record]
    redacted: int
    study: Record


@dataclass(frozen=True)
class Declaration:
    """What is declared of a field.

    meaning  for the reference page
    value    computes the field when a release is written
    absent   the value in a release without the field; a field without it is required
    since    the rules from which on releases have the field
    layout   the only layout with the field, if not both
    """

    meaning: str
    value: Callable[[Contents], Any]
    absent: Any = REQUIRED
    since: int = 1
    layout: int | None = None

    @property
    def is_required(self) -> bool:
        return self.absent is REQUIRED

    def is_in(self, layout: int, rules: int) -> bool:
        """Whether releases of this layout and these rules may have the field."""
        return self.layout in (None, layout) and self.since <= rules


def manifest_field(meaning: str, value: Callable[[Contents], Any], **more: Any) -> Any:
    """A field of `Manifest` (`Declaration`)."""
    declaration = Declaration(meaning, value, **more)
    return dataclasses.field(
        default_factory=lambda: None if declaration.is_required else declaration.absent,
        metadata={"declaration": declaration},
    )


@dataclass(frozen=True)
class Manifest:
    """What a release says of itself."""

    layout: int = manifest_field(
        "1 for one format, 2 for several",
        lambda contents: LAYOUT if len(contents.release.formats) == 1 else LAYOUT_OF_FORMATS,
    )
    rules: int = manifest_field(
        f"version of the rules that derive benchmark files and figures from the raw records: {RULES}. Releases without "
        "this field use rules 1",
        lambda contents: contents.raw.rules,
        absent=1,
    )
    format: str = manifest_field(
        f"one of {', '.join(f'`{name}`' for name in FORMATS)}",
        lambda contents: contents.release.format,
        layout=LAYOUT,
    )
    formats: list[str] = manifest_field(
        "two or more of these formats, in this order",
        lambda contents: contents.release.formats,
        layout=LAYOUT_OF_FORMATS,
    )
    project: str = manifest_field("the project's short name", lambda contents: contents.release.project.slug)
    title: str = manifest_field(
        "the name of the project", lambda contents: contents.release.project.name, since=RULES_OF_HISTORY
    )
    name: str = manifest_field(
        "the name of the release", lambda contents: contents.release.name, since=RULES_OF_HISTORY
    )
    number: int = manifest_field(
        "the number of the release in its project, from 1",
        lambda contents: contents.release.number,
        since=RULES_OF_HISTORY,
    )
    dates: Record = manifest_field(
        "`first` and `last`: when the first and the last annotation or decision was made, without any of these the last "
        "import or perturbation run. UTC",
        lambda contents: contents.dates,
        since=RULES_OF_HISTORY,
    )
    predecessor: Record | None = manifest_field(
        "`number`, `name` and `digest` of the release before, if there is one. `files` is `missing` if they were lost, so "
        "that changes and errata are unknown",
        lambda contents: contents.predecessor,
        absent=None,
        since=RULES_OF_HISTORY,
    )
    changes: Record = manifest_field(
        "what changed in the raw records since the predecessor: file → number of records `added`, `removed`, `changed`",
        lambda contents: contents.changes,
        absent={},
        since=RULES_OF_HISTORY,
    )
    deleted: list[Record] = manifest_field(
        "batches that were deleted before this release: `type`, numbers of `responses` and `people`, `reason`, `role` of "
        "the person who did it, `date`. Earlier releases keep their records",
        lambda contents: contents.deleted,
        absent=[],
        since=RULES_OF_DELETED,
    )
    other_batches: list[Record] = manifest_field(
        "opened batches that are not part of the release: `id`, `name`, `type`, `purpose`, numbers of `responses` and "
        "`people`, `agreement` (`measure`, `statistic`, `value`, `low`, `high`, `units`). `set_aside`: `reason`, `role` of "
        "the person who did it, `date`",
        lambda contents: contents.other_batches,
        absent=[],
        since=RULES_OF_DELETED,
    )
    preregistration: Record | None = manifest_field(
        "the frozen study file, if there is one: `digest` ([study files](study.md#preregistration)), `at`, "
        "`before_first_response`",
        lambda contents: contents.study["preregistration"],
        absent=None,
        since=RULES_OF_DELETED,
    )
    origin: Record | None = manifest_field(
        "where the project comes from, if it was `copied` from another `project` or `restored` from a release: `kind`, "
        "`project`; of a release its `release` (name), `number` and `digest`",
        lambda contents: contents.study["origin"],
        absent=None,
        since=RULES_OF_DELETED,
    )
    same_study: list[Record] = manifest_field(
        "other projects of the site with the same frozen study and one of the same sources, each with its number of "
        "`responses`. Projects of other servers are not known",
        lambda contents: contents.study["same_study"],
        absent=[],
        since=RULES_OF_DELETED,
    )
    deviations: list[Record] = manifest_field(
        "what was changed after the study was frozen, at the latest from the first response on: `at`, `what` (an option or "
        "the name of a batch, a setting of the project, or `batch added` to a study that was frozen before its first "
        "response), `from`, `to`, `role` of the person who did it. Of a batch: `batch` (id), `name`, `responses` that it "
        "had then. Of a decision rule (`resolve`): `differ`, the number of decided items that the earlier rule decides in "
        "another way",
        lambda contents: contents.study["deviations"],
        absent=[],
        since=RULES_OF_DELETED,
    )
    exclusions: list[Record] = manifest_field(
        "numbers of excluded `items`, by `batch`, `reason`, and `by` whom: `rule` or `adjudicator`",
        lambda contents: study_history.exclusions(contents.raw),
        absent=[],
        since=RULES_OF_DELETED,
    )
    removed_people: list[Record] = manifest_field(
        "people with responses who left the project: `annotator` (pseudonym), `responses` (which stay in the release), "
        "`date`, `role` of the person who ended their membership (`annotator`: themselves)",
        lambda contents: contents.study["removed_people"],
        absent=[],
        since=RULES_OF_DELETED,
    )
    redacted: int = manifest_field(
        "how often a text was [redacted](../assigning.md#redact-a-text) in the project before this release. Earlier "
        "releases keep it",
        lambda contents: contents.redacted,
        absent=0,
        since=RULES_OF_DELETED,
    )
    sources: list[Record] = manifest_field(
        "the source records of `sources.jsonl`: licence, credit, checksums",
        lambda contents: [record for _, record in sorted(contents.raw.sources.items())],
    )
    batches: list[Record] = manifest_field(
        "`id`, `name`, `type`, `version`, `variant`, `settings`, `settings_digest`, `overlap`, `seed`, `feeds_from` (a "
        "batch id or null). Optional: `definition`, of a [task type of the project](project-task-types.md), with the "
        "`response_schema` of its responses; `places`, the highest number of a planned slot with a response, if it is "
        "above the overlap (people joined a batch for everyone, or the overlap was changed); `resolve`, the decision "
        "rule if it is not the default; `help`: `shown`, `from`, `unhelped`; with a model, the fields below "
        "[`tries.jsonl`](#triesjsonl)",
        lambda contents: list(contents.raw.batches.values()),
    )
    guidelines: list[Record] = manifest_field(
        "`type`, `number`, `text` of every version that annotations were made under",
        lambda contents: contents.guidelines,
    )
    statement: Record = manifest_field(
        "the counted part of the [data statement](#data-statement), and the answers of managers",
        lambda contents: data_statement.count_statement(
            contents.release.project,
            contents.batches,
            watermark=contents.release.watermark,
            until=contents.until,
        ),
        absent={},
    )
    counts: dict[str, int] = manifest_field(
        "of current responses (the newest revision of a person to an item, unless withdrawn; from rules 7 on): "
        "`responses`, `respondents`, `answered_items`, `undecided_items` (answered, without a decision). Of all "
        "revisions, withdrawn ones included: `annotations`, `annotators`, `simulated_annotators`, `items`. Of "
        "decisions: `accepted`, `excluded`, `adjudicated`, `outcomes`, `contradicted`",
        lambda contents: contents.raw.counts(),
    )
    agreement: list[Record] = manifest_field(
        "one record per batch, measure and statistic, below",
        lambda contents: figures(contents.raw, exact=True),
    )
    mix: Record | None = manifest_field(
        "null, or for composed perturbations (`askew`: `mix.jsonl`, `robut`: `{reader}_{split}_combined.json`): "
        "`seed`, `made`, `refused` (reason → number)",
        lambda contents: mixes(contents.raw, contents.release.mix_seed),
    )
    automatic: Record | None = manifest_field(
        "null, or for automatic perturbations: `runs` (`sources`, `kinds`, `seeds`, `choice`), and `counts` (kind → "
        "`made`, `no_op` by reason, `refused` by code)",
        lambda contents: (
            {"runs": contents.runs, "counts": perturbed_counts(contents.raw)} if contents.runs else None
        ),
    )
    waivers: list[Record] = manifest_field(
        "released outcomes that break their contract under the current checks: `outcome`, `reason`, `violations`. A "
        "release is refused if such an outcome has no waiver, or if a waiver names any other outcome",
        lambda contents: contents.waivers,
    )
    contradicted: list[Record] = manifest_field(
        "examples whose answer people contradicted later, below: `source`, `id`, `reason`, `item` (of the decision), "
        "`left_out`",
        lambda contents: contents.raw.contradicted,
    )
    unverified: list[Record] | None = manifest_field(
        "only with the purpose `evaluation`: the unverified examples by a machine, and examples made from them: "
        "`source`, `id`. They are in no benchmark file",
        lambda contents: unverified(contents.raw),
        absent=None,
        since=RULES_OF_UNVERIFIED,
    )
    purpose: str = manifest_field(
        "`training` or `evaluation`; absent if the release has no purpose ([proposals](crafting.md))",
        lambda contents: contents.release.purpose,
        absent="",
    )
    prompts: Record = manifest_field(
        "only with the format `hf`: how the prompts of the [runnable benchmark](#runnable-benchmark) are written: `design`, "
        "`serialisation` and, if there are any, `demonstrations` (the split that they come from)",
        lambda contents: (
            {**harness.DEFAULT_PROMPTS, **contents.release.manifest.get("prompts", {})}
            if "hf" in contents.release.formats
            else {}
        ),
        absent={},
        since=RULES_OF_HISTORY,
    )
    files: dict[str, Record] = manifest_field(
        "path → `sha256`, `bytes`, `records` of every other file",
        lambda contents: {},  # set when all of them are written
    )

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Manifest":
        """The manifest that a release has as JSON. `faults` says what is wrong with its fields."""
        return cls(**{name: record[name] for name in DECLARATIONS if name in record})

    @classmethod
    def of_contents(cls, contents: Contents) -> "Manifest":
        """The manifest of a release that is written, without its files."""
        layout = DECLARATIONS["layout"].value(contents)
        of_layout = {name: field for name, field in DECLARATIONS.items() if field.layout in (None, layout)}
        return cls(**{name: field.value(contents) for name, field in of_layout.items()})

    def record(self) -> Record:
        """The manifest as JSON, without optional fields that are absent."""
        return {
            name: value
            for name, field in DECLARATIONS.items()
            if field.is_in(self.layout, self.rules) and (value := getattr(self, name)) != field.absent
        }

    @property
    def every_format(self) -> list[str]:
        """The formats of a release of either layout."""
        return list(self.formats or [self.format])

    def format_of(self, path: str) -> str:
        """The format that a file of the release belongs to; "" for raw records and the data statement."""
        if not is_benchmark(path):
            return ""
        return self.format or path.partition("/")[0]

    @property
    def automatic_perturbations(self) -> int:
        """How many automatic perturbations the release has."""
        return sum(of_kind["made"] for of_kind in self.automatic["counts"].values()) if self.automatic else 0

    def agreement_in_words(self) -> list[Record]:
        """The figures of agreement, with the texts of their measures (`annotation.quality.label_texts`)."""
        tasks = {batch["id"]: task_of_record(batch) for batch in self.batches if "definition" in batch}
        return [
            localize_figure(tasks[figure["batch"]], figure) if figure["batch"] in tasks else dict(figure)
            for figure in self.agreement
        ]


DECLARATIONS: Final[Mapping[str, Declaration]] = {
    field.name: field.metadata["declaration"] for field in dataclasses.fields(Manifest)
}
"""The declarations of the fields, by name."""
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    name: tuple(
        typing.get_origin(allowed) or allowed
        for allowed in (typing.get_args(hint) if type(hint) is UnionType else [hint])
    )
    for name, hint in typing.get_type_hints(Manifest).items()
}
"""The types of the fields as JSON, by name: `dict` and `NoneType` of `Record | None`."""


def faults(record: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the fields of a manifest as JSON: missing, not declared, or of another type."""
    layout, rules = record["layout"], record.get("rules", 1)
    names = {name for name, field in DECLARATIONS.items() if field.is_in(layout, rules)}
    for name in sorted(record.keys() | names):
        if name not in names:
            yield f"the field {name!r} is not one of a manifest"
        elif name not in record and DECLARATIONS[name].is_required:
            yield f"the field {name!r} is missing"
        elif name in record and type(record[name]) not in TYPES[name]:
            yield f"the field {name!r} is not {' or '.join(JSON_TYPES[allowed] for allowed in TYPES[name])}"


# -- values -----------------------------------------------------------------------------------------


def figures(
    raw: Raw, only: Collection[tuple[str, str, str]] | None = None, *, exact: bool = False
) -> list[dict[str, Any]]:
    """Agreement of every batch from the raw responses: newest revisions, planned places.

    `only` names figures (batch, measure, statistic): a release made when kinds had fewer statistics is held to its own.
    With `exact`, each has its value and its interval in full precision as well.
    """
    figures_of_batches = []
    for batch in raw.batches:
        for tally in tallies(raw, batch):
            for statistic in rating_tallies.statistics_of(tally.measure):
                if only is None or (batch, tally.measure.name, statistic) in only:
                    agreement_value = tally.agreement(statistic)
                    figure = {
                        "batch": batch,
                        **rating_tallies.rounded_figure(tally.measure, statistic, agreement_value).to_dict(),
                    }
                    full = {name: getattr(agreement_value, name) for name in ("value", "low", "high")}
                    figures_of_batches.append({**figure, "exact": full} if exact else figure)
    return figures_of_batches


def tallies(raw: Raw, batch: str) -> list[rating_tallies.RatingTally]:
    """The ratings of a batch by measure."""
    task = task_of_record(raw.batches[batch])

    @lru_cache(maxsize=RESPONSES_KEPT)
    def restored(text: str) -> Any:
        return compared_responses.restore_response(task, json.loads(text))

    rows = ((item, annotator, restored(response_text)) for item, annotator, response_text in raw.blind(batch))
    return rating_tallies.tallies(task, rows, raw.shapes(batch), raw.batches[batch].get("overlap", 1))


def unverified(raw: Raw) -> list[Record] | None:
    """The unverified examples that a release for evaluation lists; None in other releases."""
    is_listed = raw.purpose == EVALUATION and raw.rules >= RULES_OF_UNVERIFIED
    return raw.unverified if is_listed else None


def mixes(raw: Raw, seed: int | None) -> Record | None:
    """What the manifest says of mixes; None without a seed."""
    return releases_mixes.summary(compose_mixes(raw, seed), seed) if seed is not None else None
