"""Training on a release of perturbed examples, and what it does to each kind of perturbation: RobuT's Table 4.

    ./run train --architecture tapex --init DIR --data train.tsv --out OUT \\
        --augment RTA=RELEASE --augment LETA=RELEASE --test RELEASE
    ./run train --data WTQ --from TRAINED --out OUT --augment RTA=RELEASE --augment LETA=RELEASE --test RELEASE

Every column of the table is a model: `start`, the weights as they were; `before`, trained on the data alone; and `+NAME`,
trained on the data and on one release, from the same weights with the same plan, seeds and number of steps. All are
asked the same examples, those of `--test`, through the code that a predictor serves. A table, or a question, that the
test asks about is learned from by none of them. Each column is made once: an interrupted run resumes.

RobuT's releases for training are made by rules (RTA) and by a language model (LETA), its test sets by people (section 5).
Who made what is in the records of the release; this module only counts it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from predictor.architectures import Model, ModelError, load, never_stop, weights_sha
from predictor.protocol import Options, Prediction, PredictRequest, ProtocolError
from predictor.training.comparison import Arm, Observation, compare_arms
from tableqa.core.canonical_json import digest, thaw
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.readers import READERS, FilteringReader

START, BEFORE = "start", "before"
ORIGINAL = "original"
"""The row of examples that nothing was done to."""

EVERY = "all perturbed"
PEOPLE, SEEDED = "people", "a seeded program"
AT_ONCE = 16
"""Questions in a batch, at most."""

Say = Callable[[str], None]


# --- what a release holds ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleaseExample:
    """An example of a release: `kind` is "" for an original; `parent` is the id of what it was made of.

    base    digest of the source table, which an edited table no longer tells
    maker   who made it: PEOPLE (what was decided), SEEDED (a program), or what a proposal says, "rules" or a model
    """

    example: Example
    kind: str
    source: str
    parent: str
    base: str
    maker: str

    @property
    def questions(self) -> frozenset[str]:
        """What is asked, now and, where it says so, before."""
        wordings = (self.example.question, str(self.example.meta.get("original_question", "")))
        return frozenset(" ".join(text.lower().split()) for text in wordings if text.strip())


def as_perturbed(example: Example) -> ReleaseExample:
    """What the meta of the readers `askew` and `robut` says about an example's origin."""
    lineage = example.meta.get("lineage") or {}
    is_perturbed = "perturbation" in lineage
    kind = lineage.get("perturbation") if is_perturbed else example.meta.get("perturbation_type")
    return ReleaseExample(
        example,
        kind="" if kind in (None, ORIGINAL) else str(kind),
        source=str(lineage.get("source", "")),
        parent=str(lineage.get("parent") if is_perturbed else example.meta.get("original_id", "")),
        base=str(lineage.get("base") or example.table.digest()),
        maker=str(lineage.get("maker") or (SEEDED if "seed" in lineage else PEOPLE)),
    )


def read_release(folder: Path, form: str = "askew", *, proposals: bool = False) -> list[ReleaseExample]:
    """The examples of a release, as its reader gives them and models are evaluated on them.

    With `proposals`, also those that a release for training holds. Raises ReaderError (a ValueError).
    """
    out = [as_perturbed(entry) for entry in READERS[form](folder)]
    if proposals and form == "askew" and folder.is_dir():
        out += _proposals(folder, [entry for entry in out if "contradicted" not in entry.example.meta])
    return out


def _proposals(folder: Path, entries: Sequence[ReleaseExample]) -> Iterator[ReleaseExample]:
    """The proposals that a release for training holds below training/, but for those that people have taken over.

    In a release of several formats they are below robut/training/.
    """
    originals = {entry.example.id: entry.example for entry in entries if not entry.kind}
    seen = {(entry.example.question, entry.example.table.digest()) for entry in entries}
    patterns = ("training/**/*.json", "training/**/*.jsonl", "robut/training/**/*.json")
    for file in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        for example in READERS["robut"](file):
            kind = example.meta.get("perturbation_type")
            key = (example.question, example.table.digest())
            original = originals.get(str(example.meta.get("original_id", "")))
            if kind in (None, ORIGINAL) or key in seen or original is None:
                continue
            seen.add(key)
            lineage = {
                "perturbation": kind,
                "parent": original.id,
                "base": original.table.digest(),
                "maker": str(example.meta.get("maker", "")),
            }
            yield as_perturbed(replace(example, meta={**thaw(example.meta), "lineage": lineage}))


def exclude_overlap(
    examples: Iterable[ReleaseExample], test: Sequence[ReleaseExample]
) -> list[ReleaseExample]:
    """Those that share neither a source table nor a question with the test."""
    tables = {entry.base for entry in test} | {entry.example.table.digest() for entry in test}
    questions = frozenset().union(*(entry.questions for entry in test))
    return [
        entry
        for entry in examples
        if not {entry.base, entry.example.table.digest()} & tables and not entry.questions & questions
    ]


@dataclass(frozen=True)
class Augmentation:
    """A release to learn from, under its name in the table; `left_out` shared tables or questions with the test."""

    name: str
    folder: Path
    examples: tuple[Example, ...]
    kinds: Mapping[str, int]
    makers: Mapping[str, int]
    left_out: int

    @property
    def place(self) -> str:
        """The folder of its model beneath --out."""
        return f"with-{self.name.removeprefix('+')}"


def _decoding(result: Mapping[str, Any]) -> str:
    beams = result.get("beams", 1)
    return f"with {beams} beams" if beams > 1 else "greedily"


def augmentation(name: str, folder: Path, test: Sequence[ReleaseExample]) -> Augmentation:
    """The perturbed examples of a training release. Raises ModelError where it has none to learn from."""
    examples = [entry for entry in read_release(folder, proposals=True) if entry.kind]
    remaining = exclude_overlap(examples, test)
    if not remaining:
        raise ModelError(
            f"all {len(examples)} perturbed examples of {folder} are on tables or questions of --test"
        )
    return Augmentation(
        name,
        folder,
        tuple(entry.example for entry in remaining),
        dict(sorted(Counter(entry.kind for entry in remaining).items())),
        dict(sorted(Counter(entry.maker for entry in remaining).items())),
        len(examples) - len(remaining),
    )


# --- asking ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelAnswer:
    """What a model answered; `answers` is None where it could not read the example."""

    answers: tuple[str, ...] | None
    right: bool


def ask(model: Model, examples: Sequence[Example], options: Options | None = None) -> list[ModelAnswer]:
    """What a model answers to each example, in batches within its budget."""
    options = options or Options()
    sizes: dict[int, int] = {}
    replies: dict[int, Prediction] = {}
    for index, example in enumerate(examples):
        try:
            sizes[index] = model.tokens(PredictRequest.about(example, options=options))
        except ProtocolError:
            continue  # it cannot read this one: wrong, and counted as unread
    for batch in _batches(sizes, model.budget):
        predictions = model.predict_batch(
            [PredictRequest.about(examples[index], options=options) for index in batch], never_stop
        )
        answered = zip(batch, predictions, strict=True)
        replies |= {index: answer for index, answer in answered if isinstance(answer, Prediction)}
    return [
        _judge(replies[index].answers if index in replies else None, example)
        for index, example in enumerate(examples)
    ]


def _judge(answers: tuple[str, ...] | None, example: Example) -> ModelAnswer:
    return ModelAnswer(answers, answers is not None and compare(list(answers), list(example.answers)).equal)


def _batches(sizes: Mapping[int, int], budget: int) -> Iterator[list[int]]:
    """Places of similar size together, as many as the budget holds when all are as long as the longest."""
    batch: list[int] = []
    for index in sorted(sizes, key=lambda index: sizes[index]):
        if batch and (len(batch) == AT_ONCE or (len(batch) + 1) * sizes[index] > budget):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def results(
    test: Sequence[ReleaseExample],
    arms: Mapping[str, Sequence[Sequence[ModelAnswer]]],
    trained: Sequence[str] = (),
) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by column and kind of perturbation (`comparison`); `arms` has the answers of each column by seed.

    The originals of the test are their own row, and all that was perturbed together is the last. R-ACC is given on
    the originals that the column answered rightly, and on those that all `trained` columns did (default: all).
    """
    originals = {_own_key(entry) for entry in test if not entry.kind}
    observations = [Observation(entry.kind, _original_key(entry, originals)) for entry in test]
    kinds: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(test):
        for name in (entry.kind, EVERY) if entry.kind else (ORIGINAL,):
            kinds[name].append(index)
    order = [
        *(name for name in (ORIGINAL,) if name in kinds),
        *sorted(name for name in kinds if name not in (ORIGINAL, EVERY)),
        *(name for name in (EVERY,) if name in kinds),
    ]
    answers = {
        name: Arm(
            [[entry.right for entry in seed] for seed in seeds],
            [entry.answers is None for entry in seeds[0]],
        )
        for name, seeds in arms.items()
    }
    baseline = BEFORE if BEFORE in answers else None
    return compare_arms(
        observations, answers, baseline, trained or list(answers), {name: kinds[name] for name in order}
    )


def _own_key(entry: ReleaseExample) -> tuple[str, str]:
    lineage = entry.example.meta.get("lineage") or {}
    return entry.source, str(lineage.get("id") or entry.parent or entry.example.id)


def _original_key(entry: ReleaseExample, originals: set[tuple[str, str]]) -> tuple[str, str]:
    """The key of the original that an example is or comes from."""
    if not entry.kind:
        return _own_key(entry)
    key = entry.source, entry.parent
    return key if key in originals else ("", entry.parent)


# --- the columns -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """One column of the table: its name, how many examples its training is given, and how its model comes about.

    make       gives the folder of the model of a seed, None where it cannot be served
    place      the folder beneath --out for what was answered
    trained    whether it differs by seed
    """

    name: str
    given: int
    make: Callable[[int], Path | None]
    place: str = ""
    trained: bool = True


def columns_of(
    releases: Sequence[Augmentation],
    size: int,
    start: Callable[[int], Path | None],
    train: Callable[[str, Sequence[Example], int], Path],
) -> list[Column]:
    """`start`, `before`, and one for each release; `size` examples are learned from without any.

    start   gives the folder of the first weights
    train   makes the model of a folder's name, further examples and a seed
    """
    columns = [Column(START, 0, start, trained=False), Column(BEFORE, size, partial(train, BEFORE, ()))]
    for release in releases:
        train_release = partial(train, release.place, release.examples)
        columns.append(Column(release.name, size + len(release.examples), train_release, release.place))
    return columns


def compare_columns(
    columns: Sequence[Column],
    test: Sequence[ReleaseExample],
    out: Path,
    about: Mapping[str, Any],
    device: str = "cpu",
    say: Say = print,
    seeds: Sequence[int] = (0,),
    beams: int = 1,
) -> dict[str, Any]:
    """Make every column, ask it, and write out/augmented.json and out/augmented.md; the content of the first.

    A trained column is made once for each seed. `beams` of the decoding is the same for all; 1 is greedy.
    """
    test_digest = digest([PredictRequest.about(entry.example).key for entry in test])
    models: dict[str, list[str]] = {}
    answers: dict[str, list[list[ModelAnswer]]] = {}
    for column in columns:
        for seed in seeds if column.trained else seeds[:1]:
            folder = column.make(seed)
            if folder is None:
                say(f"{column.name}: no questions to ask")
                break
            answers_folder = seed_folder(out / (column.place or column.name), seed, seeds)
            predictions = _cached_answers(folder, test, test_digest, answers_folder, device, beams)
            models.setdefault(column.name, []).append(weights_sha(folder))
            answers.setdefault(column.name, []).append(predictions)
            right = sum(entry.right for entry in predictions)
            say(f"{column.name}, seed {seed}: {right} of {len(predictions)} correct")
    trained = [entry.name for entry in columns if entry.trained and entry.name in answers]
    figures = results(test, answers, trained)
    sizes = {entry.name: entry.given for entry in columns}
    result = {
        **about,
        "seeds": list(seeds),
        "beams": beams,
        "asked": test_digest,
        "columns": {
            name: {"models": models[name], "given": sizes[name], "kinds": figures[name]} for name in answers
        },
    }
    (out / "augmented.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "augmented.md").write_text(markdown(result))
    say(markdown(result))
    return result


def seed_folder(folder: Path, seed: int, seeds: Sequence[int]) -> Path:
    """The folder of one seed: the folder itself with a single seed."""
    return folder if len(seeds) == 1 else folder / f"seed-{seed}"


def _cached_answers(
    folder: Path, test: Sequence[ReleaseExample], test_digest: str, out: Path, device: str, beams: int
) -> list[ModelAnswer]:
    """The answers of a folder's model, kept in out/answers.json, so that nothing is asked twice."""
    out.mkdir(parents=True, exist_ok=True)
    key: dict[str, Any] = {"model": weights_sha(folder), "asked": test_digest}
    if beams > 1:
        key["beams"] = beams
    answers_file = out / "answers.json"
    if answers_file.exists() and (stored := json.loads(answers_file.read_text()))["of"] == key:
        return [
            _judge(None if answers is None else tuple(answers), entry.example)
            for answers, entry in zip(stored["answers"], test, strict=True)
        ]
    predictions = ask(load(folder, device), [entry.example for entry in test], Options(beams=beams))
    part = answers_file.with_suffix(".part")
    part.write_text(json.dumps({"of": key, "answers": [entry.answers for entry in predictions]}))
    part.replace(answers_file)
    return predictions


def markdown(result: Mapping[str, Any]) -> str:
    """Tables of accuracy, differences and R-ACC with intervals, and what the columns are."""
    columns: Mapping[str, Any] = result["columns"]
    kinds = list(next(iter(columns.values()))["kinds"])
    perturbations = [kind for kind in kinds if kind != ORIGINAL]

    def table(figure: str, rows: Sequence[str], count: str, names: Sequence[str], label: str) -> list[str]:
        lines = [f"| perturbation | {label} | " + " | ".join(names) + " |"]
        lines.append("|---|--:|" + "--:|" * len(names))
        for kind in rows:
            cells = [columns[name]["kinds"][kind] for name in names]
            intervals = (_interval(cell, figure) for cell in cells)
            lines.append(f"| {kind} | {cells[0][count]} | " + " | ".join(intervals) + " |")
        return lines

    release = [
        f"* {name}: {summary['examples']} examples ({', '.join(f'{kind} {n}' for kind, n in summary['kinds'].items())}), "
        f"made by {', '.join(f'{maker} {n}' for maker, n in summary['makers'].items())}; "
        f"{summary['left_out']} left out, whose table or question is asked about"
        for name, summary in result["releases"].items()
    ]
    columns_are = (
        f"{START}: {result['start']}. {BEFORE}: trained on the data alone. Every other column: and on one release, from "
        f"the same weights with the same plan and number of steps. Answers are decoded {_decoding(result)}."
    )
    seeds = len(result["seeds"])
    first = (
        f"Right answers in per cent, by `tableqa.data.answers.compare`, mean of {seeds} seed{'s' if seeds > 1 else ''}; "
        "in brackets 95 % intervals over originals (bootstrap; where all originals are equal, from Wilson's):"
    )
    before = "right before" if seeds == 1 else f"right before, sum of {seeds} seeds"
    arms = [name for name in columns if name not in (START, BEFORE)]
    differences: list[str] = []
    if BEFORE in columns and arms:
        differences = [
            f"Difference from `{BEFORE}` in points, paired by question:",
            "",
            *table("difference", kinds, "examples", arms, "examples"),
            "",
        ]
    return "\n".join(
        [
            first,
            "",
            *table("accuracy", kinds, "examples", list(columns), "examples"),
            "",
            *differences,
            "R-ACC: of the perturbed examples whose original every trained column answered rightly, how many still are:",
            "",
            *table("common_r_acc", perturbations, "common", list(columns), before),
            "",
            columns_are,
            "",
            *release,
            "",
        ]
    )


def _interval(figures: Mapping[str, Any], name: str) -> str:
    """ "51.2 [40.1, 62.0]" in per cent, or a dash."""
    if figures[name] is None:
        return "—"
    value, low, high = (
        round(100 * figures[key], 1) + 0.0 for key in (name, f"{name}_low", f"{name}_high")
    )  # + 0.0: without a negative zero
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"


# --- the command line --------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--augment, --test, --test-format and --seeds, which both commands have."""
    parser.add_argument(
        "--seeds",
        type=int,
        default=1,
        help="with --augment: number of seeds per column (the first is --seed)",
    )
    parser.add_argument(
        "--augment",
        action="append",
        default=[],
        metavar="NAME=DIR",
        help="additional release to learn from; repeatable; results are compared in a table (needs --test)",
    )
    parser.add_argument("--test", type=Path, metavar="DIR", help="release to test on")
    parser.add_argument(
        "--test-format",
        choices=["askew", "robut"],
        default="askew",
        help="reader of --test (default askew)",
    )


@dataclass(frozen=True)
class AugmentationRequest:
    """What the options ask for, read."""

    test: tuple[ReleaseExample, ...]
    releases: tuple[Augmentation, ...]

    def about(self, **more: Any) -> dict[str, Any]:
        """What the results say of it."""
        releases = {
            release.name: {
                "folder": str(release.folder),
                "examples": len(release.examples),
                "kinds": dict(release.kinds),
                "makers": dict(release.makers),
                "left_out": release.left_out,
            }
            for release in self.releases
        }
        return {**more, "releases": releases}

    def unseen(self, examples: Iterable[Example]) -> list[Example]:
        """The training examples that share neither a table nor a question with the test."""
        return [entry.example for entry in exclude_overlap(map(as_perturbed, examples), self.test)]


def read_augmentation_request(options: argparse.Namespace) -> AugmentationRequest:
    """Read the releases that the options name. Raises ModelError, ReaderError (a ValueError)."""
    if options.test is None:
        raise ModelError("--augment needs --test: the release with the perturbations to count")
    named: dict[str, Path] = {}
    for text in options.augment:
        name, _, folder = text.rpartition("=")
        path = Path(folder)
        name = name or path.resolve().name
        if not name.replace("-", "").replace("_", "").isalnum() or f"+{name}" in named:
            raise ModelError(f"--augment {text}: before = write a unique name of letters, digits, - and _")
        named[f"+{name}"] = path
    test = tuple(read_release(options.test, options.test_format))
    reader = READERS[options.test_format]
    if isinstance(reader, FilteringReader) and (note := reader.left_out(options.test)):
        print(f"train: {options.test}: {note}", file=sys.stderr)
    if not any(entry.kind for entry in test):
        raise ModelError(f"{options.test} has no perturbed examples to ask about")
    return AugmentationRequest(test, tuple(augmentation(name, path, test) for name, path in named.items()))
