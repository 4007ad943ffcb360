"""Commands that print a refusal in one line, with exit status 1 (finding) or 2 (usage error)."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, CommandError, UsageError
from annotation.models import Batch, Person, Project
from annotation.platform.refusals import ActionRefused
from tableqa.core.command_line import manage
from tableqa.readers.labels import DUPLICATES
from tasks.contract import InvalidResponse, UnknownTaskType


class RefusingCommand(BaseCommand):
    """Turns what a journey refuses into a CommandError; `run` is `handle` without that."""

    def run(self, **options: Any) -> None:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except ActionRefused as refused:
            self.write_good(refused.more.get("good"))
            raise CommandError(refused.detail) from None
        except (InvalidResponse, UnknownTaskType) as error:
            raise CommandError(str(error)) from None

    def write_good(self, good: int | None) -> None:
        """Say what an import that was refused can import nevertheless."""
        if good:
            self.stderr.write(f"--good-only imports the {good} records without a problem.")

    def write_rejected(self, rejected: int, rest: Path | None) -> None:
        """Say how many records of an import were left out, and where they are."""
        if rejected:
            written = f"They are in {rest}." if rest else "--rest FILE writes them."
            self.stdout.write(f"Left out because of problems: {rejected}. {written}")

    def project(self, slug: str) -> Project:
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise UsageError(
                f"There is no project {slug!r}. Create it: {manage(f'create_project {slug}')} --name NAME --manager EMAIL"
            )
        return project

    def batch(self, project: Project, name: str) -> Batch:
        batch = Batch.objects.select_related("project").filter(project=project, name=name).first()
        if batch is None:
            names = (
                ", ".join(Batch.objects.filter(project=project).values_list("name", flat=True)) or "none yet"
            )
            raise UsageError(f"{project.slug} has no batch {name!r}. Available: {names}.")
        return batch

    def person(self, email: str) -> Person:
        person = Person.objects.filter(email=email.lower()).first()
        if person is None:
            raise UsageError(f"There is no account with the e-mail address {email}.")
        return person


def add_choices(parser: ArgumentParser, records: str) -> None:
    """Add what leaves out repeated and wrong records of an import: --duplicates, --good-only and --rest."""
    parser.add_argument(
        "--duplicates",
        choices=DUPLICATES,
        help="of several responses of a person to one example, import the first or the latest (default: refuse)",
    )
    parser.add_argument("--good-only", action="store_true", help=f"leave out {records} with a problem")
    parser.add_argument(
        "--rest",
        type=Path,
        metavar="FILE",
        help=f"write {records} with a problem to a file, with the reasons",
    )
