import json
from argparse import ArgumentParser
from typing import Any

from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Batch
from annotation.quality import agreement_report, compared_responses
from tableqa.statistics.zero_width_intervals import interval_of


class Command(RefusingCommand):
    help = (
        "Show the agreement of a project's work batches with 95 % CI, as on its pages. Use "
        "--batch for other batches and for those set aside."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--batch", metavar="NAME")
        parser.add_argument(
            "--people",
            action="store_true",
            help="intervals that hold for other annotators, too (labels and scales)",
        )
        parser.add_argument("--json", action="store_true")

    def run(self, **options: Any) -> None:
        project = self.project(options["project"])
        if options["batch"]:
            batches = [self.batch(project, options["batch"])]
        else:
            batches = list(
                compared_responses.counted_batches(Batch.objects.filter(project=project)).order_by("pk")
            )
        figures_of = (
            agreement_report.figures_over_people if options["people"] else agreement_report.batch_figures
        )
        rows = [
            {"batch": batch.name, **_with_honest_interval(figure.to_dict())}
            for batch in batches
            for figure in figures_of(batch)
        ]
        if options["json"]:
            self.stdout.write(json.dumps({"agreement": rows}, indent=1))
            return
        for row in rows:
            counts = f"n = {row['units']}, {row['raters']} raters"
            if row["value"] is None:
                figure = f"undefined ({counts}): {row['reason']}"
            elif row["low"] is None or row["high"] is None:
                figure = f"{row['value']:.3f} ({'; '.join(filter(None, (row['no_interval'], counts)))})"
            else:
                interval = f"95 % CI {row['low']:.3f} to {row['high']:.3f}"
                figure = f"{row['value']:.3f} ({interval}, {counts})"
            self.stdout.write(f"{row['batch']}  {row['measure']}  {row['statistic']}  {figure}")
            if row["note"]:
                self.stdout.write(f"    {row['note']}")


def _with_honest_interval(figure: dict[str, Any]) -> dict[str, Any]:
    """The figure with the interval that pages show (`zero_width_intervals`), or `no_interval`, the reason for none."""
    interval = interval_of(figure, figure["statistic"])
    return {
        **figure,
        "low": interval.low,
        "high": interval.high,
        "no_interval": f"{interval.reason}".rstrip("."),
    }
