from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.management import backup as management_backup
from annotation.management.commands._escaping import BaseCommand, CommandError, ended_by
from tableqa.core.command_line import manage


class Command(BaseCommand):
    help = "Back up database and files into a new folder, with checksums. People can keep working."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="folder to create")

    def handle(self, *args: Any, **options: Any) -> None:
        with ended_by(management_backup.BackupError):
            archive = management_backup.make(options["folder"], now=timezone.now())
        size = sum(size for _, size in archive.files.values())
        self.stdout.write(
            f"{options['folder']}: {len(archive.files)} files, {size / 2**20:,.1f} MB, "
            f"{sum(archive.rows.values()):,} rows in {len(archive.rows)} tables. SECRET_KEY is not in it: keep it elsewhere."
        )
        report_lacking(self, archive, fails=True)


def report_lacking(command: BaseCommand, backup: management_backup.Backup, *, fails: bool) -> None:
    """Print what the database names and the backup lacks. Raises CommandError if there is something and it `fails`."""
    if backup.named is None:
        command.stderr.write(
            "Not known: whether all files that the database names are in this backup. It is older than the list of "
            f"these files. Restore it, then run {manage('doctor')}."
        )
    for sentence in backup.lacking:
        command.stderr.write(sentence)
    if backup.lacking and fails:
        raise CommandError(
            f"{len(backup.lacking)} files that the database names are not in the backup as they were made. "
            f"Everything else is. Run {manage('doctor')}."
        )
