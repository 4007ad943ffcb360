"""The language of a request: that of the reader on pages, English for programs.

A person chooses (cookie), else the browser does (Accept-Language), among `settings.LANGUAGES`. The REST interface speaks
English for requests with a token, in any case: programs read its messages. The scripts of the pages
call it without a token, for a person who reads what it refuses, and are answered in the language of the page.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

API = "/api/"


class RequestLanguageMiddleware(LocaleMiddleware):
    """Activates the language of the request."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(API) and "HTTP_AUTHORIZATION" in request.META:
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
        else:
            super().process_request(request)


def language_context(request: HttpRequest) -> dict[str, Any]:
    """What every template knows: the language of the page, and those there are, each by its own name."""
    return {"LANGUAGE_CODE": translation.get_language(), "LANGUAGES": settings.LANGUAGES}
