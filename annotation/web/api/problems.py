"""Errors as problem documents (RFC 9457), the same shape for every refusal."""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as default_handler

from annotation.platform.refusals import ActionRefused
from tableqa.core.foreign_values import printable_in
from tasks.contract import InvalidResponse, UnknownTaskType

CONTENT_TYPE = "application/problem+json"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn what the journeys raise into a problem document; anything unforeseen is for `config.server_errors`."""
    if isinstance(error, ActionRefused):
        refusal = problem(error.status, error.code, error.detail, **error.more)
        if "retry_after" in error.more:
            refusal["Retry-After"] = str(error.more["retry_after"])
        return refusal
    if isinstance(error, InvalidResponse):
        detail = gettext("The response is not valid yet: ") + str(error)
        violations = [violation.to_dict() for violation in error.problems]
        return problem(422, "invalid_response", detail, violations=violations)
    if isinstance(error, UnknownTaskType):
        return problem(501, "unknown_task_type", str(error))
    if isinstance(error, RecursionError):
        return problem(400, "parse_error", "The request is nested too deeply.")
    if isinstance(error, Http404 | PermissionDenied):
        return problem(404, "not_found", gettext("This page is not available to you."))
    if isinstance(error, ValidationError):
        return problem(
            422, "invalid_request", "The request does not have the required form.", errors=error.detail
        )
    handled = default_handler(error, context)
    if handled is None or not isinstance(error, APIException):
        return handled
    codes = error.get_codes()
    response = problem(
        handled.status_code, codes if isinstance(codes, str) else "invalid_request", str(error.detail)
    )
    for name in ("WWW-Authenticate", "Retry-After"):
        if name in handled:
            response[name] = handled[name]
    return response


def problem(status: int, code: str, detail: str, **more: Any) -> Response:
    """A problem document; `more` are members of its own besides the standard ones."""
    return Response(
        printable_in({**document(status, code, detail), **more}), status=status, content_type=CONTENT_TYPE
    )


def document(status: int, code: str, detail: str) -> dict[str, Any]:
    """The members that every problem document has."""
    return {
        "type": f"/problems/{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
