from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation import doctor


class Command(BaseCommand):
    help = "Count everything anew and name every inconsistency. What heals by itself is named, too, with status 0."

    def handle(self, *args: Any, **options: Any) -> None:
        found = doctor.findings()
        healing = [finding for finding in found if isinstance(finding, doctor.SelfHealing)]
        for finding in found:
            if finding in healing:
                self.stdout.write(f"Heals by itself: {finding}.")
            else:
                self.stderr.write(finding)
        if number := len(found) - len(healing):
            raise CommandError(f"{number} inconsistencies.")
        self.stdout.write("Everything adds up.")
