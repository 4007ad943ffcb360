"""The whole addresses of pages, for people to send around."""

from urllib.parse import urljoin

from django.conf import settings
from django.http import HttpRequest


def public_link(request: HttpRequest, path: str) -> str:
    """The whole address of a page: on PUBLIC_URL where that is set."""
    return urljoin(settings.PUBLIC_URL, path) if settings.PUBLIC_URL else request.build_absolute_uri(path)
