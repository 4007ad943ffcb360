"""The largest request that is taken, said before anything of it is read into memory."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse

MEGABYTE = 1024 * 1024
# So much of a refused request is still read and thrown away: a browser that cannot send on never shows the answer.
DRAINED = 1024 * MEGABYTE


class RequestSizeLimit:
    """Middleware that answers 413 to a body of more than MAX_UPLOAD_BYTES with files of a person who is signed in, and of
    more than DATA_UPLOAD_MAX_MEMORY_SIZE else; Django's own limit does not cover what the API's parsers read.

    A web server in front passes a Content-Length on or ends the body where it says, so the header can be relied on.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with_files = request.content_type == "multipart/form-data"
        size, limit = int(request.META.get("CONTENT_LENGTH") or 0), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if size > limit and with_files and request.user.is_authenticated:
            limit = settings.MAX_UPLOAD_BYTES
        if size <= limit:
            return self.get_response(request)
        return self._refusal(request, size, limit)

    def _refusal(self, request: HttpRequest, size: int, limit: int) -> HttpResponseBase:
        remaining = DRAINED
        while remaining > 0 and (piece := request.read(min(remaining, MEGABYTE))):
            remaining -= len(piece)
        detail = (
            f"This request has {size / MEGABYTE:.1f} MB; the maximum is {limit / MEGABYTE:.1f} MB. "
            "Nothing was stored."
        )
        if not request.path_info.startswith("/api/"):
            return HttpResponse(detail, status=413, content_type="text/plain; charset=utf-8")
        problem = {
            "type": "/problems/request_too_large",
            "title": "The request is too large",
            "status": 413,
            "detail": detail,
            "code": "request_too_large",
        }
        return JsonResponse(problem, status=413, content_type="application/problem+json")
