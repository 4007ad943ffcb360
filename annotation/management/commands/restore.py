from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management import backup
from annotation.management.commands._escaping import BaseCommand, ended_by
from annotation.management.commands.backup import report_lacking
from tableqa.core.command_line import manage


class Command(BaseCommand):
    help = "Restore a backup into an empty database and an empty data folder."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="folder created by `backup`")
        parser.add_argument(
            "--check",
            action="store_true",
            help="only compare every file with the manifest and with what the database names",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with ended_by(backup.BackupError):
            archive = (backup.read if options["check"] else backup.restore)(options["folder"])
        checked = "complete" if archive.named is not None else "as it was made"
        done = checked if options["check"] else "restored"
        self.stdout.write(
            f"{options['folder']}, created {archive.made_at}: {done}, {sum(archive.rows.values()):,} rows."
        )
        if not options["check"]:
            self.stdout.write(f"Next: {manage('migrate')}, then {manage('doctor')}.")
        report_lacking(self, archive, fails=options["check"])
