from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.management.commands._escaping import BaseCommand, CommandError
from annotation.platform import mo_files


class Command(BaseCommand):
    help = (
        "Compile the .po files in locale/ to the .mo files that Django reads. "
        "Replaces Django's command of this name, which needs gettext."
    )
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        for folder in settings.LOCALE_PATHS:
            try:
                compiled = mo_files.compile_outdated(Path(folder))
            except OSError as error:
                raise CommandError(
                    f"{error}. Check the .po file, and who may write to its folder."
                ) from error
            self.stdout.write(f"{folder}: {len(compiled)} files compiled.")
