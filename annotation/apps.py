from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.utils import translation

from annotation.platform import display_text, mo_files
from tableqa.core import translation as core_translation


class AnnotationConfig(AppConfig):
    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # What tableqa and the kinds refuse is read on pages, too.
        core_translation.set_translator(
            translation.gettext,
            translation.ngettext,
            display_text.number,
            display_text.load_messages,
            lambda: translation.get_language() or "en",
        )


@checks.register(checks.Tags.translation)
def check_translations(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """Warn of translations that are not compiled: without a message, pages would be in English."""
    return [
        checks.Warning(
            f"{po} is not compiled, or was compiled from another version: pages may be in English.",
            hint="Run manage.py compilemessages as the owner of this file.",
            id="annotation.W001",
        )
        for folder in settings.LOCALE_PATHS
        for po in mo_files.outdated(Path(folder))
    ]
