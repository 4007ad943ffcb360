"""Requests of a proxy that keeps the path of PUBLIC_URL, such as nginx whose proxy_pass has no slash at its end."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase
from django.urls import is_valid_path


class StripPrefixMiddleware:
    """Middleware that takes the path of PUBLIC_URL off, where the proxy has not. An address of ours stays as it is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response, self.prefix = get_response, settings.FORCE_SCRIPT_NAME
        if not self.prefix:
            raise MiddlewareNotUsed

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        if path.startswith(f"{self.prefix}/") and not is_valid_path(path):
            request.path_info = path.removeprefix(self.prefix)
            request.path = path
        return self.get_response(request)
