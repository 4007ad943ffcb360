"""Which examples the benchmark files of a release hold, and by which ids: what models are asked, and how they may name it.

The formats `askew`, `torr`, `suc` and `hf` hold every example (originals of Askew's own are in `sources.jsonl`). The others
hold what their publication has a place for, by its ids: in `robut`, `nu-1-sentence` is `nu-1~sentence-1`; second edits end
in `#2`; and edits in FREB-TQA's third part have the ids of their originals.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from annotation.releases import benchmark_files, mixes
from annotation.releases.freb_tqa_parts import FOLDER as PART_THREE
from annotation.releases.manifest import Manifest
from annotation.releases.raw_records import Raw
from tableqa.core.command_line import manage
from tableqa.core.release_rules import under
from tableqa.releases import perturbation_records
from tableqa.releases.record_files import records
from tableqa.scoring.matching import ORIGINAL
from tableqa.scoring.predictions import EvaluationError, read_predictions
from tableqa.writers import whole_examples
from tableqa.writers.robut import robut_id

WITHOUT_GOLD = "lftqa"
"""The format that holds ratings of answers, and no gold answers."""


def with_gold(formats: Collection[str]) -> set[str]:
    """The formats that hold gold answers. Raises EvaluationError where there is none."""
    if gold_formats := set(formats) - {WITHOUT_GOLD}:
        return gold_formats
    raise EvaluationError(
        f"The format {WITHOUT_GOLD} holds no gold answers. Evaluate a release in another format, and compare ratings "
        f"with {manage('metrics')}."
    )


class Benchmark:
    """What the benchmark files of some formats of a release hold, of all its formats where none is named.

    mix    the seed of the mixes in the files, None where they hold none
    names  what files call an example, where that is not its id: (source, id in a file), in FREB-TQA's third part
           (source, id, kind, 0) -> id of the example; None where files call two examples the same

    Raises EvaluationError where no format holds gold answers, or the release has not got one.
    """

    def __init__(self, raw: Raw, formats: Collection[str] = (), manifest: Manifest | None = None) -> None:
        self.raw = raw
        manifest = manifest or Manifest.of(raw.manifest)
        released = manifest.every_format
        if unknown := set(formats) - set(released):
            raise EvaluationError(
                f"This release has no files in the format {min(unknown)!r}. Available: {', '.join(released)}."
            )
        chosen = with_gold(formats or released)
        mix = manifest.mix if chosen & set(mixes.FORMATS) else None
        self.mix: int | None = mix["seed"] if mix else None
        self._holds_all = bool(chosen & {"askew", *whole_examples.FORMATS})
        self._examples: set[tuple[str, str]] = set()
        self.names: dict[Any, str | None] = {}
        own_ids = (
            {"askew", *whole_examples.FORMATS}
            if raw.rules >= benchmark_files.RULES_OF_OWN_IDS
            else set(whole_examples.FORMATS)
        )
        with under(raw.rules):
            for format in chosen - own_ids:
                self._note_decided(format)
                self._note_perturbed(format)

    def _note_decided(self, format: str) -> None:
        for path, record, source, example in benchmark_files.accepted_records(self.raw, format):
            derived_record = self.raw.derived.get((source, example)) if path.startswith(PART_THREE) else None
            self._note(
                source,
                record["id"],
                example,
                *((derived_record["perturbation"], 0) if derived_record else ()),
            )

    def _note_perturbed(self, format: str) -> None:
        path = self.raw.folder / perturbation_records.LINES
        for line in records(path) if path.exists() else ():
            source, id, original = line["source"], perturbation_records.id_of(line), line["original"]
            if (
                "digest" in line
                and perturbation_records.supports_kind(format, line["kind"])
                and self._note(source, id, id)
            ):
                self._note(source, robut_id(original, ORIGINAL) if format == "robut" else original, original)

    def _note(self, source: str, name: str, example: str, *kind: str | int) -> bool:
        """Note an example, and what a file calls it. False where it is left out: what people said of it has its record."""
        if (source, example) in self.raw.excluded:
            return False
        self._examples.add((source, example))
        key: Any = (source, name, *kind)
        if name != example and key not in self.raw.originals and key not in self.raw.derived:
            self.names[key] = example if self.names.get(key, example) == example else None
        return True

    def holds(self, source: str, id: str) -> bool:
        """Whether the files hold an original, an edit or an automatic perturbation."""
        return (source, id) not in self.raw.excluded and (self._holds_all or (source, id) in self._examples)

    def predictions(self, path: Path) -> dict[Any, Any]:
        """Predictions from a file, by the ids of examples, whether they name these or ids of files. EvaluationError."""
        predictions: dict[Any, Any] = dict(read_predictions(path, self.raw.datasets))
        for name in self.names.keys() & predictions.keys():
            if (example := self.names[name]) is not None:
                predictions.setdefault((name[0], example), predictions.pop(name))
        return predictions
