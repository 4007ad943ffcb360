from typing import Any

from django.conf import settings

from annotation.management import reference_pages
from annotation.management.commands._escaping import BaseCommand
from annotation.study_file import project_export


class Command(BaseCommand):
    help = (
        "Write docs/study.schema.json and the tables of docs/reference/. Run it after you change task types, "
        "decision rules, options, commands or fields of the manifest."
    )
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        changed = reference_pages.write(settings.BASE_DIR / "docs" / "reference")
        schema = settings.BASE_DIR / "docs" / "study.schema.json"
        if schema.read_text("utf-8") != (published := project_export.published_schema()):
            schema.write_text(published, encoding="utf-8")
            changed.append(schema)
        for path in changed:
            self.stdout.write(f"{path.relative_to(settings.BASE_DIR)}: written")
        if not changed:
            self.stdout.write("The tables and the schema are up to date.")
