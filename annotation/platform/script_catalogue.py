"""The words of the scripts, as their own script in each language."""

import functools
import hashlib
from typing import Any

from django.conf import settings
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JavaScriptCatalog


class _Catalogue(JavaScriptCatalog):
    """Django's own catalogue, of our messages alone and for a language that the address names."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.translation: Any = DjangoTranslation(
            language, domain="djangojs", localedirs=[str(path) for path in settings.LOCALE_PATHS]
        )

    def script(self) -> str:
        """`gettext`, `ngettext` and the messages, under `django`."""
        context = {"catalog": self.get_catalog(), "formats": {}, "plural": self.get_plural()}
        return str(self.render_to_response(context).content.decode())


@functools.cache
def script(language: str) -> str:
    """The words of a language as a script; the same as long as the process lives."""
    return _Catalogue(language).script()


@functools.cache
def digest(language: str) -> str:
    """What changes with the words: part of their address, so that browsers keep them for good."""
    return hashlib.sha256(script(language).encode()).hexdigest()[:12]
