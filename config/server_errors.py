"""What a request is answered with that failed inside: 503 while the database is away, else 500.

Programs get a problem document, people a page; both say when to try again.
"""

import sys
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext

from annotation.platform.database import failures
from annotation.web.api import problems
from config.language import API
from config.logs import request_id


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`: called while the exception is being handled."""
    error = sys.exc_info()[1]
    status, code = HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error"
    detail = gettext("Internal error. Details are in the log.")
    if failures.is_unavailable(error):
        code = "database_unavailable"
        detail = gettext("The database does not respond. Try again in a few seconds.")
        if failures.is_locked(error):
            detail = gettext("The database is locked by another process. Try again in a few seconds.")
        return unavailable(request, code, detail)
    return _error_response(request, status, code, detail)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's `handler400`: a host that is not allowed, or a request that is malformed or too large."""
    detail = gettext("The request is malformed or too large. Nothing was changed.")
    return _error_response(request, HTTPStatus.BAD_REQUEST, "invalid_request", detail)


def unavailable(request: HttpRequest, code: str, detail: str) -> HttpResponse:
    """A response with status 503 that says when to try again."""
    response = _error_response(request, HTTPStatus.SERVICE_UNAVAILABLE, code, detail)
    response["Retry-After"] = str(failures.RETRY_AFTER)
    return response


def _error_response(request: HttpRequest, status: HTTPStatus, code: str, detail: str) -> HttpResponse:
    if request.path_info.startswith(API):
        document = problems.document(status, code, detail)
        return JsonResponse(document, status=status, content_type=problems.CONTENT_TYPE)
    return HttpResponse(
        render_to_string(f"{status.value}.html", {"detail": detail, "number": request_id.get()}),
        status=status,
    )
