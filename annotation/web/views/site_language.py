"""The words of the scripts, as their own file, and the person's choice of a language."""

import json

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import condition, require_http_methods, require_safe
from django.views.i18n import set_language

from annotation.platform.script_catalogue import digest, script


def _etag(request: HttpRequest, language: str) -> str | None:
    return json.dumps(digest(language)) if language in dict(settings.LANGUAGES) else None


@require_safe
@condition(etag_func=_etag)
def words(request: HttpRequest, language: str) -> HttpResponse:
    """The catalogue of the scripts; nothing in it depends on who asks."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    response = HttpResponse(script(language), content_type="text/javascript; charset=utf-8")
    is_current = request.GET.get("v") == digest(language)
    response["Cache-Control"] = f"public, max-age={365 * 24 * 3600}, immutable" if is_current else "no-cache"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: HttpRequest) -> HttpResponse:
    """Keep the language that was chosen, and lead back to where it was; to the first page, if unknown."""
    answer: HttpResponse = set_language(request)
    if answer.headers.get("Location") == "/":  # below a path, that is another site
        answer.headers["Location"] = reverse("home")
    return answer
