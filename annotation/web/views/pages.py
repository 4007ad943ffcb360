"""What every page shares: permission, time zone, messages of refusals, pages of lists."""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from annotation.access import visibility
from annotation.accounts import rate_limits
from annotation.models import Batch, Person, Project
from annotation.platform.refusals import ActionRefused
from annotation.releases.task_records import instruction
from tasks.contract import InvalidResponse, UnknownTaskType

ROWS = 50
"""Rows of a list on one page."""

SHOWN_ONCE = "shown_once"
"""The key of a session under which secrets wait for the page that shows them. Sessions are cookies of the reader alone."""

P = ParamSpec("P")
Response = TypeVar("Response", bound=HttpResponseBase)


class PageRequest(HttpRequest):
    """A request of a person who is signed in, as the views below `page` get it."""

    user: Person
    htmx: HtmxDetails


View = Callable[Concatenate[PageRequest, P], HttpResponseBase]


def page(*methods: str) -> Callable[[View[P]], Callable[Concatenate[HttpRequest, P], HttpResponseBase]]:
    """A page for people who are signed in, read with GET unless `methods` says otherwise; times are in their own zone."""
    methods = methods or ("GET",)
    allowed = require_http_methods([*methods, *(["HEAD"] if "GET" in methods else [])])

    def decorate(view: View[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @functools.wraps(view)
        def guarded_view(request: PageRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                # An address that only takes POST is nowhere to come back to.
                return redirect_to_login(request.get_full_path() if "GET" in methods else reverse("home"))
            if "prefetch" in request.headers.get("Sec-Purpose", ""):
                return HttpResponse(status=503)  # opening an item reserves it: a browser's guess must not
            with timezone.override(request.user.zone):
                try:
                    return view(request, *args, **kwargs)
                except UnknownTaskType as error:
                    return render(request, "site/unknown_kind.html", {"why": error}, status=501)

        return allowed(guarded_view)  # type: ignore[return-value]

    return decorate


class _RefusalHandler:
    """`with` this, a refusal is shown as a message instead of raised, and the code after it runs."""

    def __init__(self, tell: Callable[[str], Any]) -> None:
        self.tell = tell

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, ActionRefused):
            self.tell(error.detail)
            return True
        if isinstance(error, InvalidResponse):
            for problem in error.problems:
                self.tell(problem.message)
            return True
        return False


def refusals_on(form: BaseForm) -> _RefusalHandler:
    """Refusals are on the form, which is shown again with everything that was typed."""
    return _RefusalHandler(lambda detail: form.add_error(None, detail))


def refusals_to(request: HttpRequest) -> _RefusalHandler:
    """Refusals become a message of the next page."""
    return _RefusalHandler(lambda detail: messages.error(request, detail))


def away_from_releases(request: PageRequest, project: Project) -> HttpResponse | None:
    """Where those are sent, with a message, who annotate in an open batch of the project and ask for what its releases say.

    None for others.
    """
    with refusals_to(request):
        visibility.require_no_open_work(request.user, project)
        return None
    return redirect("releases", project.slug)


def confirmation_page(request: HttpRequest, act: str, back: str, name: str = "") -> HttpResponse | None:
    """A page that says what an act does and asks for it again; None if the person has confirmed it."""
    if "confirmed" in request.POST:
        return None
    return render(request, f"confirm/{act}.html", {"back": back, "sent": _sent(request), "name": name})


def confirm(
    request: HttpRequest,
    project: Project,
    batch: Batch | None,
    *,
    title: str,
    effects: Sequence[str],
    verb: str,
    back: str,
) -> HttpResponse:
    """A page that says what a change does, with what was sent as hidden fields; its button adds `confirmed`."""
    context = {
        "project": project,
        "batch": batch,
        "title": title,
        "said": effects,
        "verb": verb,
        "hidden": [*_sent(request), ("confirmed", "yes")],
        "back": back,
    }
    return render(request, "assigning/confirm.html", context)


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    """The fields of a form that was sent, without the token that each page makes anew."""
    lists = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    return [(name, str(value)) for name, values in lists for value in values]


def show_secrets_once(request: HttpRequest, address: str, **secrets: str) -> HttpResponse:
    """Go to a page that shows secrets once (`pop_secrets`): reloading the answer to a form would create others."""
    request.session[SHOWN_ONCE] = {"at": address, **secrets}
    return forbid_storing(redirect(address))


def pop_secrets(request: HttpRequest) -> dict[str, str]:
    """What `show_secrets_once` sends to this page; {} when the page is loaded again."""
    if request.session.get(SHOWN_ONCE, {}).get("at") != request.path:
        return {}
    return dict(request.session.pop(SHOWN_ONCE))


def paginate(
    request: HttpRequest, rows: QuerySet[Any, Any] | list[Any], name: str = "page", size: int = ROWS
) -> Page[Any]:
    """The page of a long list that the query parameter `name` asks for; one that is not there is the nearest."""
    return Paginator(rows, size).get_page(request.GET.get(name))


def paginate_wide(request: HttpRequest, rows: QuerySet[Any, Any]) -> Page[Any]:
    """The same of rows that are joined to much: a database that sorts a long list would carry all of it along.

    The keys come first, then the rows of this page alone: one statement more.
    """
    page_of_rows: Page[Any] = paginate(request, rows.values_list("pk", flat=True))
    whole = {row.pk: row for row in rows.order_by().filter(pk__in=list(page_of_rows.object_list))}
    page_of_rows.object_list = [whole[key] for key in page_of_rows.object_list if key in whole]
    return page_of_rows


def kind_title(batch: Batch) -> str:
    """The title of a batch's kind for lists, which stay readable where a kind is not installed any more."""
    task = batch.installed_task()
    return (
        task.title if task else gettext("{task_type} (not installed here)").format(task_type=batch.task_type)
    )


def kind_instruction(batch: Batch) -> str:
    """What a batch asks people to do, in one line; "" where its kind is not installed any more."""
    task = batch.installed_task()
    if task is None:
        return ""
    return instruction(task, batch.variant, batch.settings, has_model=bool(batch.loop_model))


@contextmanager
def count_wrong_links(request: HttpRequest) -> Iterator[None]:
    """`with` this, a link that does not work counts as an attempt: after too many, that is what is refused."""
    try:
        yield
    except ActionRefused as refused:
        if refused.code == "invitation_expired":
            rate_limits.count_failure(rate_limits.WRONG_LINK, request, now=timezone.now())
        raise


def with_retry_after(response: Response, refused: ActionRefused) -> Response:
    """The response with how long to wait, where that was refused which was tried too often."""
    if "retry_after" in refused.more:
        response["Retry-After"] = str(refused.more["retry_after"])
    return response


def attachment(content: str | bytes, name: str, content_type: str) -> HttpResponse:
    """A file to download."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


def forbid_storing(response: Response) -> Response:
    """For pages whose address or content is a secret: not stored, not indexed, not told to the next site."""
    response["Cache-Control"] = "no-store"
    # Not "no-referrer": with it browsers send "Origin: null" with the form, which the CSRF check has to refuse.
    response["Referrer-Policy"] = "same-origin"
    response["X-Robots-Tag"] = "noindex"
    return response
