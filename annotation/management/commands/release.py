from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.management.commands._escaping import CommandError, UsageError
from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Person, Release
from annotation.releases import creation, hub_upload
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.format_descriptions import DESCRIPTIONS, LOSSES
from annotation.releases.manifest import Manifest
from annotation.releases.raw_records import PURPOSES
from annotation.study_file import release_gaps
from tableqa.writers import harness


class Command(RefusingCommand):
    help = "Create a release: benchmark, raw annotations, decisions, agreement and checksums."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", help="name of the release; not needed for a dry run")
        parser.add_argument(
            "--format",
            action="append",
            choices=FORMATS,
            help="release format; repeat it for several under one name; without it, the formats, mix seed and purpose "
            "of the project. "
            + " ".join(
                f"{name}: {sentence} {LOSSES[name]}".rstrip() for name, sentence in DESCRIPTIONS.items()
            ),
        )
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="empty or new folder; not needed for a dry run"
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="write nothing and list what is missing; exit status 1 if anything is",
        )
        parser.add_argument(
            "--mix", type=int, metavar="SEED", help="also compose accepted perturbations of different levels"
        )
        parser.add_argument(
            "--waive",
            action="append",
            default=[],
            metavar="OUTCOME=REASON",
            help="release an outcome that breaks its contract; the reason is published",
        )
        parser.add_argument(
            "--purpose",
            choices=PURPOSES,
            help="evaluation leaves out unverified machine proposals; training adds them, marked",
        )
        parser.add_argument(
            "--prompt-design",
            choices=harness.DESIGNS,
            help="with the format hf: what the prompts of its benchmark ask for, JSON with a list of answers (default) or "
            "plain text",
        )
        parser.add_argument(
            "--serialisation",
            metavar="NAME",
            help="with the format hf: how tables are written in prompts; default: markdown",
        )
        parser.add_argument(
            "--demonstrations",
            metavar="SPLIT",
            help="with the format hf: sources of this split give demonstrations for prompts and no test items",
        )
        parser.add_argument("--allow-simulated", action="store_true")
        parser.add_argument(
            "--push-to-hub",
            metavar="ORG/NAME",
            help="upload the release (format hf) to the Hugging Face Hub as a new dataset; without --yes, only list the "
            "files. A release that exists under this name is uploaded as it is. The token is read from HF_TOKEN",
        )
        parser.add_argument("--yes", action="store_true", help="with --push-to-hub: really upload")

    def run(self, **options: Any) -> None:
        if options["dry_run"]:
            self.dry_run(options["project"])
            return
        project = self.project(options["project"])
        repository = options["push_to_hub"]
        if options["yes"] and repository is None:
            raise UsageError("--yes is only for --push-to-hub ORG/NAME.")
        if repository is not None:
            existing = project.releases.filter(name=options["name"], ready_at__isnull=False).first()
            if existing is not None and options["out"] is None:
                self.push(existing, repository, really=options["yes"])
                return
        defaults = project.release if options["format"] is None else {}
        formats: Any = options["format"] or defaults.get("formats")
        required = {"name": options["name"], "format": formats, "out": options["out"]}
        if missing_options := [f"--{name}" for name, value in required.items() if value is None]:
            raise UsageError(f"Add {', '.join(missing_options)}. Only a dry run works without.")
        release = creation.make_release(
            project=project,
            name=options["name"],
            format=formats,
            allow_simulated=options["allow_simulated"],
            mix=defaults.get("mix") if options["mix"] is None else options["mix"],
            waivers=_waivers(options["waive"]),
            purpose=options["purpose"] or defaults.get("purpose", ""),
            prompts={**defaults.get("prompts", {}), **_prompts(options)},
            out=options["out"],
            by=None,
            now=timezone.now(),
        )
        manifest = Manifest.of(release.manifest)
        counts = manifest.counts
        self.stdout.write(
            f"{release.name}: {counts['responses']} responses by {counts['respondents']} people, "
            f"{counts['accepted']} items accepted, {counts['excluded']} excluded, {_automatic(manifest)}"
            f"{len(manifest.files)} files in {options['out']}."
        )
        written_formats = set(map(manifest.format_of, manifest.files))
        for format in release.formats:
            if LOSSES[format]:
                self.stdout.write(f"{format}: {LOSSES[format]} The raw records have them.")
            if format not in written_formats:
                self.stdout.write(
                    f"There is no benchmark file: the format {format} has no record for the data of this project."
                )
        reasons = Counter(entry["reason"] for entry in manifest.contradicted if entry["left_out"])
        if reasons:
            why = ", ".join(f"{count} {LEFT_OUT[reason]}" for reason, count in sorted(reasons.items()))
            self.stdout.write(f"Left out of the benchmark: {why}. The manifest lists them.")
        if mix := manifest.mix:
            refused = ", ".join(f"{count} {reason}" for reason, count in mix["refused"].items())
            self.stdout.write(f"{mix['made']} mixes created, {refused or 'none'} rejected.")
        if repository is not None:
            self.push(release, repository, really=options["yes"])

    def push(self, release: Release, repository: str, *, really: bool) -> None:
        """Upload a release to the Hub, or list what an upload would send."""
        folder = creation.folder(release)
        people = Person.objects.filter(memberships__project=release.project).values_list("name", "email")
        personal = {text for person in people for text in person if text}
        files = hub_upload.files_to_upload(folder, repository, personal)
        for file in files:
            self.stdout.write(f"{file.size:>12,} bytes  {file.path}")
        total = f"{len(files)} files, {sum(file.size for file in files):,} bytes"
        if not really:
            self.stdout.write(
                f"Dry run: {total} for the dataset {repository}. Nothing was uploaded. Add --yes to upload."
            )
            return
        self.stdout.write(f"Uploaded {total} to {hub_upload.upload(folder, repository, files)}")
        self.stdout.write("The dataset is private. Check it, then make it public in its settings.")

    def dry_run(self, slug: str) -> None:
        gaps = release_gaps.find_gaps(self.project(slug))
        for gap in gaps:
            self.stdout.write(f"Missing from a release now: {gap}")
        if gaps:
            raise CommandError(f"Missing: {len(gaps)}. A release is possible without these.")
        self.stdout.write("Nothing is missing from a release now.")


def _prompts(options: dict[str, Any]) -> dict[str, str]:
    values = {name: options[name] for name in ("serialisation", "demonstrations")}
    named = {"design": options["prompt_design"], **values}
    return {name: value for name, value in named.items() if value is not None}


LEFT_OUT = {
    "excluded": "whose check was excluded",
    "other_answer": "decided with another answer",
    "undecided": "with another answer, waiting for a decision",
    "parent": "based on such",
}


def _automatic(manifest: Manifest) -> str:
    count = manifest.automatic_perturbations
    return f"{count} automatic perturbations, " if count else ""


def _waivers(texts: list[str]) -> dict[str, str]:
    waivers = {}
    for text in texts:
        outcome, _, reason = text.partition("=")
        if not outcome.strip() or not reason.strip():
            raise CommandError(f"--waive {text}: write the id of an outcome and a reason as ID=REASON")
        waivers[outcome.strip()] = reason.strip()
    return waivers
