from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from annotation import catalogues


class Command(BaseCommand):
    help = (
        "Collect the messages of pages and scripts and write the .po files in locale/. "
        "See docs/translating.md."
    )
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        found = catalogues.find(settings.BASE_DIR)
        for language in catalogues.languages():
            for domain, messages in found.items():
                made = catalogues.update(settings.BASE_DIR, language, domain, messages)
                catalogues.write(settings.BASE_DIR, language, domain, made)
                missing = sum(not entry.translated() for entry in made)
                self.stdout.write(f"{language}/{domain}: {len(made)} messages, {missing} not translated")
