"""A web process that begins on a database that its code cannot migrate, such as a newer one, serves no page.

One that was there before an upgrade runs until it is reloaded: migrations promise to leave the code before them working
(docs/operations.md, Upgrading).
"""

from collections.abc import Callable

from django.db import Error
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext

from annotation.platform import migration_state
from config.server_errors import unavailable

OPEN = {"/healthz", "/readyz", "/metrics"}
"""What machines ask for: these say by themselves how things are."""


class RefuseIncompatibleDatabase:
    """Middleware: 503 until this process has once found its database compatible with its code."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not migration_state.process.is_fit and request.path_info not in OPEN:
            try:
                migration_state.process.is_fit = not migration_state.incompatibility(
                    migration_state.applied()
                )
            except Error:
                return self.get_response(request)  # which says that the database is away
            if not migration_state.process.is_fit:
                detail = gettext(
                    "The database does not fit this version of Askew. An administrator has to install another version: "
                    "/readyz names it."
                )
                return unavailable(request, "database_incompatible", detail)
        return self.get_response(request)
