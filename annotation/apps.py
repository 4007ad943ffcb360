from __future__ import annotations

from django.apps import AppConfig
from django.utils import translation

from annotation import words
from tableqa import language


class AnnotationConfig(AppConfig):
    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # What tableqa and the kinds refuse is read on pages, too.
        language.use(
            translation.gettext,
            translation.ngettext,
            words.number,
            words.load_messages,
            lambda: translation.get_language() or "en",
        )
