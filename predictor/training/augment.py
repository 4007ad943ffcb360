"""Training on a release of perturbed examples, and what it does to each kind of perturbation: RobuT's Table 4.

    ./run train --architecture tapex --init DIR --data train.tsv --out OUT \\
        --augment RTA=RELEASE --augment LETA=RELEASE --test RELEASE
    ./run train --data WTQ --from TRAINED --out OUT --augment RTA=RELEASE --augment LETA=RELEASE --test RELEASE

Every column of the table is a model: `start`, the weights as they were; `before`, trained on the data alone; and `+NAME`,
trained on the data and on one release, from the same weights with the same plan, seeds and number of steps. All are
asked the same examples, those of `--test`, through the code that a predictor serves. A table, or a question, that the
test asks about is learned from by none of them. Each column is made once: an interrupted run resumes.

RobuT's releases for training are made by rules (RTA) and by a language model (LETA), its test sets by people (section 5).
Who made what stands in the records of the release; this module only counts it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from predictor.architectures import Model, ModelError, load, never, weights_sha
from predictor.protocol import Options, Prediction, PredictRequest, ProtocolError
from predictor.training.comparison import Arm, Observation, compare_arms
from tableqa.core.canonical_json import digest, thaw
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.readers import READERS, Sifting

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
class Perturbed:
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
        asked = (self.example.question, str(self.example.meta.get("original_question", "")))
        return frozenset(" ".join(text.lower().split()) for text in asked if text.strip())


def perturbed(example: Example) -> Perturbed:
    """What the meta of the readers `askew` and `robut` says about an example's origin."""
    lineage = example.meta.get("lineage") or {}
    is_perturbed = "perturbation" in lineage
    kind = lineage.get("perturbation") if is_perturbed else example.meta.get("perturbation_type")
    return Perturbed(
        example,
        kind="" if kind in (None, ORIGINAL) else str(kind),
        source=str(lineage.get("source", "")),
        parent=str(lineage.get("parent") if is_perturbed else example.meta.get("original_id", "")),
        base=str(lineage.get("base") or example.table.digest()),
        maker=str(lineage.get("maker") or (SEEDED if "seed" in lineage else PEOPLE)),
    )


def read_release(folder: Path, form: str = "askew", *, proposals: bool = False) -> list[Perturbed]:
    """The examples of a release, as its reader gives them and models are evaluated on them.

    With `proposals`, also those that a release for training holds. Raises ReaderError (a ValueError).
    """
    out = [perturbed(one) for one in READERS[form](folder)]
    if proposals and form == "askew" and folder.is_dir():
        out += _proposals(folder, [one for one in out if "contradicted" not in one.example.meta])
    return out


def _proposals(folder: Path, known: Sequence[Perturbed]) -> Iterator[Perturbed]:
    """The proposals that a release for training holds below training/, but for those that people have taken over.

    In a release of several formats they lie below robut/training/.
    """
    originals = {one.example.id: one.example for one in known if not one.kind}
    seen = {(one.example.question, one.example.table.digest()) for one in known}
    places = ("training/**/*.json", "training/**/*.jsonl", "robut/training/**/*.json")
    for file in sorted(path for place in places for path in folder.glob(place)):
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
            yield perturbed(replace(example, meta={**thaw(example.meta), "lineage": lineage}))


def without(examples: Iterable[Perturbed], test: Sequence[Perturbed]) -> list[Perturbed]:
    """Those that share neither a source table nor a question with the test."""
    tables = {one.base for one in test} | {one.example.table.digest() for one in test}
    questions = frozenset().union(*(one.questions for one in test))
    return [
        one
        for one in examples
        if not {one.base, one.example.table.digest()} & tables and not one.questions & questions
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


def augmentation(name: str, folder: Path, test: Sequence[Perturbed]) -> Augmentation:
    """The perturbed examples of a training release. Raises ModelError where it has none to learn from."""
    examples = [one for one in read_release(folder, proposals=True) if one.kind]
    kept = without(examples, test)
    if not kept:
        raise ModelError(
            f"all {len(examples)} perturbed examples of {folder} are on tables or questions of --test"
        )
    return Augmentation(
        name,
        folder,
        tuple(one.example for one in kept),
        dict(sorted(Counter(one.kind for one in kept).items())),
        dict(sorted(Counter(one.maker for one in kept).items())),
        len(examples) - len(kept),
    )


# --- asking ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """What a model answered; `answers` is None where it could not read the example."""

    answers: tuple[str, ...] | None
    right: bool


def ask(model: Model, examples: Sequence[Example], options: Options | None = None) -> list[Given]:
    """What a model answers to each example, in batches within its budget."""
    options = options or Options()
    sizes: dict[int, int] = {}
    replies: dict[int, Prediction] = {}
    for place, example in enumerate(examples):
        try:
            sizes[place] = model.tokens(PredictRequest.about(example, options=options))
        except ProtocolError:
            continue  # it cannot read this one: wrong, and counted as unread
    for batch in _batches(sizes, model.budget):
        predictions = model.predict_batch(
            [PredictRequest.about(examples[one], options=options) for one in batch], never
        )
        answered = zip(batch, predictions, strict=True)
        replies |= {one: answer for one, answer in answered if isinstance(answer, Prediction)}
    return [
        Given(replies[place].answers, compare(list(replies[place].answers), list(example.answers)).equal)
        if place in replies
        else Given(None, False)
        for place, example in enumerate(examples)
    ]


def _batches(sizes: Mapping[int, int], budget: int) -> Iterator[list[int]]:
    """Places of similar size together, as many as the budget holds when all are as long as the longest."""
    batch: list[int] = []
    for place in sorted(sizes, key=lambda one: sizes[one]):
        if batch and (len(batch) == AT_ONCE or (len(batch) + 1) * sizes[place] > budget):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def results(
    test: Sequence[Perturbed], arms: Mapping[str, Sequence[Sequence[Given]]], trained: Sequence[str] = ()
) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by column and kind of perturbation (`comparison`); `arms` has the answers of each column by seed.

    The originals of the test are a row of their own, and all that was perturbed together is the last. R-ACC is given on
    the originals that the column answered rightly, and on those that all `trained` columns did (default: all).
    """
    originals = {_own_key(one) for one in test if not one.kind}
    observations = [Observation(one.kind, _original_key(one, originals)) for one in test]
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(test):
        for name in (one.kind, EVERY) if one.kind else (ORIGINAL,):
            kinds[name].append(place)
    order = [
        *(name for name in (ORIGINAL,) if name in kinds),
        *sorted(name for name in kinds if name not in (ORIGINAL, EVERY)),
        *(name for name in (EVERY,) if name in kinds),
    ]
    answers = {
        name: Arm(
            [[one.right for one in seed] for seed in seeds],
            [one.answers is None for one in seeds[0]],
        )
        for name, seeds in arms.items()
    }
    baseline = BEFORE if BEFORE in answers else None
    return compare_arms(
        observations, answers, baseline, trained or list(answers), {name: kinds[name] for name in order}
    )


def _own_key(one: Perturbed) -> tuple[str, str]:
    lineage = one.example.meta.get("lineage") or {}
    return one.source, str(lineage.get("id") or one.parent or one.example.id)


def _original_key(one: Perturbed, originals: set[tuple[str, str]]) -> tuple[str, str]:
    """The key of the original that an example is or comes from."""
    if not one.kind:
        return _own_key(one)
    key = one.source, one.parent
    return key if key in originals else ("", one.parent)


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


def compare_columns(
    columns: Sequence[Column],
    test: Sequence[Perturbed],
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
    asked = digest([PredictRequest.about(one.example).key for one in test])
    models: dict[str, list[str]] = {}
    answers: dict[str, list[list[Given]]] = {}
    for column in columns:
        for seed in seeds if column.trained else seeds[:1]:
            folder = column.make(seed)
            if folder is None:
                say(f"{column.name}: no questions to ask")
                break
            place = seed_folder(out / (column.place or column.name), seed, seeds)
            predictions = _given(folder, test, asked, place, device, beams)
            models.setdefault(column.name, []).append(weights_sha(folder))
            answers.setdefault(column.name, []).append(predictions)
            right = sum(one.right for one in predictions)
            say(f"{column.name}, seed {seed}: {right} of {len(predictions)} correct")
    trained = [one.name for one in columns if one.trained and one.name in answers]
    figures = results(test, answers, trained)
    sizes = {one.name: one.given for one in columns}
    result = {
        **about,
        "seeds": list(seeds),
        "beams": beams,
        "asked": asked,
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


def _given(
    folder: Path, test: Sequence[Perturbed], asked: str, out: Path, device: str, beams: int
) -> list[Given]:
    """The answers of a folder's model, kept in out/answers.json, so that nothing is asked twice."""
    out.mkdir(parents=True, exist_ok=True)
    key: dict[str, Any] = {"model": weights_sha(folder), "asked": asked}
    if beams > 1:
        key["beams"] = beams
    kept = out / "answers.json"
    if kept.exists() and (stored := json.loads(kept.read_text()))["of"] == key:
        answers = [None if one is None else tuple(one) for one in stored["answers"]]
        return [
            Given(one, one is not None and compare(list(one), list(asked_one.example.answers)).equal)
            for one, asked_one in zip(answers, test, strict=True)
        ]
    predictions = ask(load(folder, device), [one.example for one in test], Options(beams=beams))
    part = kept.with_suffix(".part")
    part.write_text(json.dumps({"of": key, "answers": [one.answers for one in predictions]}))
    part.replace(kept)
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
            shown = (_interval(one, figure) for one in cells)
            lines.append(f"| {kind} | {cells[0][count]} | " + " | ".join(shown) + " |")
        return lines

    release = [
        f"* {name}: {one['examples']} examples ({', '.join(f'{kind} {n}' for kind, n in one['kinds'].items())}), "
        f"made by {', '.join(f'{maker} {n}' for maker, n in one['makers'].items())}; "
        f"{one['left_out']} left out, whose table or question is asked about"
        for name, one in result["releases"].items()
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
class Wanted:
    """What the options ask for, read."""

    test: tuple[Perturbed, ...]
    releases: tuple[Augmentation, ...]

    def about(self, **more: Any) -> dict[str, Any]:
        """What the results say of it."""
        releases = {
            one.name: {
                "folder": str(one.folder),
                "examples": len(one.examples),
                "kinds": dict(one.kinds),
                "makers": dict(one.makers),
                "left_out": one.left_out,
            }
            for one in self.releases
        }
        return {**more, "releases": releases}

    def unseen(self, examples: Iterable[Example]) -> list[Example]:
        """The training examples that share neither a table nor a question with the test."""
        return [one.example for one in without(map(perturbed, examples), self.test)]


def wanted(options: argparse.Namespace) -> Wanted:
    """Read the releases that the options name. Raises ModelError, ReaderError (a ValueError)."""
    if options.test is None:
        raise ModelError("--augment needs --test: the release with the perturbations to count")
    named: dict[str, Path] = {}
    for text in options.augment:
        name, _, folder = text.rpartition("=")
        place = Path(folder)
        name = name or place.resolve().name
        if not name.replace("-", "").replace("_", "").isalnum() or f"+{name}" in named:
            raise ModelError(f"--augment {text}: before = write a unique name of letters, digits, - and _")
        named[f"+{name}"] = place
    test = tuple(read_release(options.test, options.test_format))
    reader = READERS[options.test_format]
    if isinstance(reader, Sifting) and (words := reader.left_out(options.test)):
        print(f"train: {options.test}: {words}", file=sys.stderr)
    if not any(one.kind for one in test):
        raise ModelError(f"{options.test} has no perturbed examples to ask about")
    return Wanted(test, tuple(augmentation(name, place, test) for name, place in named.items()))
