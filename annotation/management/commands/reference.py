from typing import Any

from django.conf import settings

from annotation.management import reference_pages
from annotation.management.commands._escaping import BaseCommand


class Command(BaseCommand):
    help = (
        "Write the tables of docs/reference/ that list task types, decision rules, options, commands and the fields "
        "of the release manifest. Run it after you add or change one of these."
    )
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        changed = reference_pages.write(settings.BASE_DIR / "docs" / "reference")
        for path in changed:
            self.stdout.write(f"{path.relative_to(settings.BASE_DIR)}: written")
        if not changed:
            self.stdout.write("The tables are up to date.")
