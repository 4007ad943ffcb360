"""Coming to a page as somebody would: signed in, and looking before pressing a key."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Batch, Person
from tests import in_flight
from tests.waiting import wait_until

TIMEOUT = 15.0
"""Seconds; a shared machine is slow now and then."""

expect.set_options(timeout=TIMEOUT * 1000)


def takes_keys(page: Page) -> None:
    """Wait for the scripts of a page of annotating: what is pressed before them goes nowhere."""
    expect(page.locator("askew-annotate[data-ready]")).to_be_attached()


def takes_digits(page: Page) -> None:
    """Wait until digits act again after they have changed their meaning."""
    expect(page.locator("askew-annotate:not([data-rekeyed])")).to_be_attached()


def signed_in(
    new_context: Callable[..., BrowserContext], base: str, person: Person, **options: Any
) -> BrowserContext:
    """A browser in which this person is signed in."""
    client = Client()
    client.force_login(person)
    context = new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": base}])
    return context


def annotating(
    new_context: Callable[..., BrowserContext], base: str, person: Person, batch: Batch, **options: Any
) -> Page:
    """The person's page of annotating in a batch, ready for keys, with the next item fetched ahead."""
    page = signed_in(new_context, base, person, **options).new_page()
    page.set_default_timeout(15_000)
    begin_batch(page, base, batch)
    return page


def begin_batch(page: Page, base: str, batch: Batch) -> None:
    """Go to the page of annotating in a batch, ready for keys, with the next item fetched ahead."""
    with page.expect_response(f"**/batches/{batch.public_id}/next/"):
        page.goto(f"{base}/batches/{batch.public_id}/annotate/")
        takes_keys(page)


def passes(page: Page, milliseconds: int) -> None:
    """Let time pass for the timers of the page, of which `page.clock.install()` has been told, and what they cause."""
    page.clock.run_for(milliseconds)
    settled(page)


def settled(page: Page) -> None:
    """Return once the page has drawn what is decided, and the server has answered what was asked."""
    wait_until(lambda: not in_flight.count(), "the server has answered")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def intercept(page: Page, pattern: str, handler: Callable[[Route], Any], **more: Any) -> None:
    """`page.route`, in force at return also on a page that is loaded: Chromium says so a moment before it is.

    Requests of the page itself tell: they are sent until the first one is intercepted.
    """
    page.route(pattern, handler, **more)
    if page.url == "about:blank":
        return  # from its first request on
    caught: list[Route] = []

    def catch(route: Route) -> None:
        caught.append(route)
        route.fulfill(body="")

    page.route(_PROBE, catch)
    while not caught:
        page.evaluate("fetch('/healthz?probe').then(() => null)")
    page.unroute(_PROBE)


_PROBE = re.compile(r"/healthz\?probe$")


class _PassedOn(list[Route]):
    """Takes routes and lets them go."""

    def append(self, route: Route) -> None:
        route.continue_()


class HeldRequests:
    """Requests of a page that wait until the test lets them be answered or fail."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.page = page
        self.routes: list[Route] = []
        intercept(page, pattern, lambda route: self.routes.append(route))

    def take(self) -> Route:
        """The oldest held request, once there is one: the event of a request comes before it can be answered."""
        deadline = time.monotonic() + TIMEOUT
        while not self.routes:
            assert time.monotonic() < deadline, "no request to hold"
            self.page.evaluate("null")  # takes in what the browser has sent meanwhile
        return self.routes.pop(0)

    def let_go(self) -> None:
        """Those that are held are answered, and those that come."""
        held, self.routes = self.routes, _PassedOn()
        for route in held:
            route.continue_()

    def answer(self) -> None:
        self.take().continue_()

    def fail(self) -> None:
        self.take().abort()
