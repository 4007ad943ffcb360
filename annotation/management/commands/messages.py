from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from annotation.management import catalogues
from annotation.management.commands._escaping import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Collect the messages of pages and scripts and write the .po files in locale/. See docs/translating.md."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if a .po file would change"
        )

    def handle(self, *, check: bool, **options: Any) -> None:
        different = []
        for domain, messages in catalogues.extract(settings.BASE_DIR).items():
            for language in catalogues.languages():
                path = catalogues.po_path(settings.BASE_DIR, language, domain)
                catalogue = catalogues.catalogue(path, language, messages)
                content = str(catalogue).encode()
                if check:
                    different += [path] if not path.exists() or path.read_bytes() != content else []
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                missing = sum(not entry.translated() for entry in catalogue)
                self.stdout.write(f"{language}/{domain}: {len(catalogue)} messages, {missing} not translated")
        if different:
            names = ", ".join(str(path.relative_to(settings.BASE_DIR)) for path in different)
            raise CommandError(
                f"{names}: not as ./run manage messages writes it. Run ./run manage messages, and commit the result."
            )
