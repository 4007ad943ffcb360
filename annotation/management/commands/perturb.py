from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.utils import timezone

from annotation.management.commands._refusing import RefusingCommand
from annotation.management.commands._sources import HELP, sources_named
from annotation.workflow import perturbation_runs
from tableqa.perturbations import PERTURBATIONS, SEEDS, Counts
from tableqa.perturbations.question_selection import KINDS, RULES


class Command(RefusingCommand):
    help = (
        "Perturb the examples of a project automatically. Continues an interrupted run and skips "
        "existing perturbations."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--kinds", required=True, type=_names, metavar="K,K", help=f"one of {', '.join(PERTURBATIONS)}"
        )
        seeds = ",".join(map(str, SEEDS))
        parser.add_argument(
            "--seeds", type=_numbers, default=list(SEEDS), metavar="N,N", help=f"default: {seeds}"
        )
        parser.add_argument("--source", action="append", default=[], metavar="SOURCE", help=HELP)
        parser.add_argument(
            "--select", choices=KINDS, default="", help="only these questions, by FREB-TQA's rules"
        )
        parser.add_argument("--rules", choices=RULES, default=RULES[0], help="version of the rules")
        parser.add_argument(
            "--decided",
            default="",
            metavar="KIND.FIELD=VALUE",
            help="only examples with this decision in a batch",
        )
        parser.add_argument("--dry-run", action="store_true", help="count and write nothing")

    def run(self, **options: Any) -> None:
        project = self.project(options["project"])
        sources = sources_named(project, options["source"], self.stderr) if options["source"] else []
        params = {key: options[key] for key in ("kinds", "seeds", "select", "rules", "decided")}
        if options["dry_run"]:
            counts = perturbation_runs.dry_run(project=project, sources=sources, **params)
        else:
            run = perturbation_runs.plan_run(project=project, sources=sources, now=timezone.now(), **params)
            run = perturbation_runs.perform(run, progress=self.show_progress)
            counts = run.counts
        for line in table(counts):
            self.stdout.write(line)


def table(counts: Counts) -> list[str]:
    """The counts as lines to read: a kind each, and under it why nothing was made."""
    lines = []
    for kind, of_kind in counts.items():
        no_ops, refused = sum(of_kind["no_op"].values()), sum(of_kind["refused"].values())
        lines.append(f"{kind:<22}{of_kind['made']:>8} made{no_ops:>8} no-ops{refused:>8} refused")
        lines += [
            f"    {n:>6}  {why}" for why, n in sorted(of_kind["no_op"].items(), key=lambda pair: -pair[1])
        ]
        lines += [f"    {n:>6}  breaks {code}" for code, n in sorted(of_kind["refused"].items())]
    return lines


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentTypeError("write numbers separated by commas, for example 33,16") from None
