from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation import doctor


class Command(BaseCommand):
    help = "Count everything anew and name every inconsistency."

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(doctor.findings())
        for finding in found:
            self.stderr.write(finding)
        if found:
            raise CommandError(f"{len(found)} inconsistencies.")
        self.stdout.write("Everything adds up.")
