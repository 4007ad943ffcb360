import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import CommandError, UsageError, ended_by
from annotation.management.commands._lengths import add_length_options, limit_of
from annotation.management.commands._refusing import RefusingCommand
from annotation.management.commands._sources import HELP, sources_named
from annotation.releases import original_examples
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers import READERS
from tableqa.releases.record_files import Difference
from tableqa.scoring.prompt_files import (
    read_predictions,
    sap_first,
    sap_second,
    suc_prompts,
    torr_prompts,
    unitxt_record,
)
from tableqa.serialisations import SERIALISATIONS, TORR, torr


class Command(RefusingCommand):
    help = (
        "Write prompts with correct answers as JSON Lines. torr: ToRR's 35 configurations of every "
        "example. suc: SUC's seven tasks on every table in every design. sap: self-augmented prompting."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("design", choices=("torr", "suc", "sap"))
        parser.add_argument("--out", type=Path, required=True, metavar="FILE")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG")
        where.add_argument("--release", type=Path, metavar="DIR")
        where.add_argument("--data", type=Path, metavar="PATH", help="published dataset, with --reader")
        parser.add_argument("--name", default="", help="name of the --data dataset; default: file name")
        parser.add_argument(
            "--source", action="append", default=[], metavar="SOURCE", help=f"of the project: {HELP}"
        )
        parser.add_argument("--reader", choices=sorted(READERS))
        parser.add_argument("--tables", type=Path, metavar="DIR")
        parser.add_argument(
            "--limit", type=int, metavar="N", help="at most this number of examples per source"
        )
        parser.add_argument(
            "--most-cells", type=int, metavar="N", help="skip larger tables; ToRR uses at most 200 for WTQ"
        )
        add_length_options(parser)
        of_torr = parser.add_argument_group("torr")
        of_torr.add_argument("--demonstrations", type=int, default=torr.DEMONSTRATIONS, metavar="K")
        of_torr.add_argument(
            "--pool",
            type=Path,
            metavar="PATH",
            help="take demonstrations from this dataset (same --reader); default: other examples of the "
            "source",
        )
        of_torr.add_argument("--instruction", default=torr.INSTRUCTION)
        of_torr.add_argument(
            "--forms", nargs="+", default=list(TORR), choices=sorted(SERIALISATIONS), metavar="FORM"
        )
        of_torr.add_argument(
            "--shuffle",
            action="store_true",
            help="shuffle all rows and all columns, as in ToRR's released recipes; default: swap two",
        )
        of_torr.add_argument(
            "--unitxt",
            nargs="?",
            const="metrics.accuracy",
            metavar="METRIC",
            help="write instances that unitxt evaluates with this metric of its catalog",
        )
        parser.add_argument("--seed", type=int, default=torr.SEED, metavar="N")
        of_sap = parser.add_argument_group("sap")
        of_sap.add_argument(
            "--replies",
            type=Path,
            metavar="FILE",
            help="replies of the model to the first requests; writes the second requests",
        )

    def run(self, **options: Any) -> None:
        self._check(options)
        self._too_long: Counter[str] = Counter()
        self._nothing: Counter[str] = Counter()
        out: Path = options["out"]
        if out.exists():
            raise UsageError(f"{out} already exists. Name a new file.")
        with ended_by(Difference, ValueError), ended_by(LookupError, end=UsageError):
            sources = self._sources(options)
            written = self._write(out, self._records(sources, options))
        counts = ", ".join(f"{len(of)} examples of {name}" for name, of in sources.items())
        self.stdout.write(f"{written} prompts in {out} ({counts}).")
        for name, count in self._too_long.items():
            self.stdout.write(f"Skipped because the table is too large: {count} of {name}.")
        if options["design"] == "suc":
            for name, of in sources.items():
                if not any(example.table.spans for example in of):
                    self.stdout.write(
                        f"No table of {name} has merged cells: the answer to merged_cell_detection is always None."
                    )
        for task, count in self._nothing.items():
            self.stdout.write(f"{task}: {count} tables have no possible question.")

    def _check(self, options: Mapping[str, Any]) -> None:
        if options["data"] is not None and options["reader"] is None:
            raise UsageError("--data needs --reader NAME.")
        if options["pool"] is not None and options["reader"] is None:
            raise UsageError("--pool needs --reader NAME.")
        if options["limit"] is not None and options["limit"] < 1:
            raise UsageError("--limit must be at least 1.")

    def _sources(self, options: Mapping[str, Any]) -> dict[str, list[Example]]:
        """The examples by their source, without those that are too long, as many as were asked for."""
        limit, most_cells, most = limit_of(options), options["most_cells"], options["limit"]
        by_source: dict[str, list[Example]] = {}
        for name, example in self._all(options):
            of_source = by_source.setdefault(name, [])
            if most is not None and len(of_source) >= most:
                continue
            rows, columns = example.table.shape
            if (most_cells is not None and rows * columns > most_cells) or (
                limit is not None and not limit.fits(example)
            ):
                self._too_long[name] += 1
                continue
            of_source.append(example)
        if not any(by_source.values()):
            raise CommandError("There are no examples to write prompts for.")
        return by_source

    def _all(self, options: Mapping[str, Any]) -> Iterable[tuple[str, Example]]:
        if options["project"]:
            project = self.project(options["project"])
            return original_examples.of_sources(sources_named(project, options["source"], self.stderr))
        if options["release"] is not None:
            return original_examples.of_release(options["release"])
        examples = original_examples.of_dataset(options["data"], options["reader"], options["tables"])
        return ((options["name"] or name, example) for name, example in examples)

    def _records(
        self, sources: Mapping[str, list[Example]], options: Mapping[str, Any]
    ) -> Iterator[Mapping[str, Any]]:
        for name, examples in sources.items():
            if options["design"] == "torr":
                yield from self._torr(name, examples, options)
            elif options["design"] == "suc":
                tables = _tables(examples)
                yield from suc_prompts(name, tables, seed=options["seed"], left_out=self._left_out)
            elif options["replies"] is None:
                yield from sap_first(name, examples)
            else:
                yield from sap_second(name, examples, read_predictions(options["replies"]))

    def _torr(
        self, name: str, examples: list[Example], options: Mapping[str, Any]
    ) -> Iterator[Mapping[str, Any]]:
        pool = examples
        if options["pool"] is not None:
            pool = list(READERS[options["reader"]](options["pool"], tables=options["tables"]))
        steps = torr.STRUCTURAL_RELEASED if options["shuffle"] else torr.STRUCTURAL
        records = torr_prompts(
            name,
            examples,
            pool,
            k=options["demonstrations"],
            seed=options["seed"],
            instruction=options["instruction"],
            configurations=torr.configurations(options["forms"], steps),
        )
        for record in records:
            yield record if options["unitxt"] is None else unitxt_record(record, options["unitxt"])

    def _left_out(self, table: str, task: str, why: str) -> None:
        self._nothing[task] += 1

    def _write(self, out: Path, records: Iterator[Mapping[str, Any]]) -> int:
        """Write the records beside the file first, so that a file that is there is whole. Returns how many."""
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(f"{out.name}.part")
        written = 0
        try:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                while chunk := list(islice(records, 1_000)):
                    file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in chunk)
                    written += len(chunk)
            part.rename(out)
        finally:
            part.unlink(missing_ok=True)
        return written


def _tables(examples: Iterable[Example]) -> list[tuple[str, Table]]:
    """Every table once, called after the first example about it."""
    tables: dict[str, tuple[str, Table]] = {}
    for example in examples:
        tables.setdefault(example.table.digest(), (example.id, example.table))
    return list(tables.values())
