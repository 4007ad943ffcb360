from typing import Any

from annotation.management import doctor
from annotation.management.commands._escaping import BaseCommand, CommandError


class Command(BaseCommand):
    help = (
        "Recount everything and list every inconsistency. Inconsistencies that are repaired "
        "automatically do not change the exit status."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        findings = doctor.findings()
        healing = [finding for finding in findings if isinstance(finding, doctor.SelfHealing)]
        for finding in findings:
            if finding in healing:
                self.stdout.write(f"Repaired automatically: {finding}.")
            else:
                self.stderr.write(finding)
        if count := len(findings) - len(healing):
            raise CommandError(f"{count} inconsistencies.")
        self.stdout.write("No inconsistencies.")
