"""Signing in to the demo world by a link. Routed only where settings hold the demo's secret, which only ./run demo draws."""

import ipaddress

from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access.authorization import NOT_HERE
from annotation.management import demo_world
from annotation.web.views.pages import forbid_storing

FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_REAL_IP", "HTTP_VIA")


@require_http_methods(["GET", "HEAD", "POST"])
def demo_sign_in(request: HttpRequest, token: str) -> HttpResponseBase:
    """GET shows a button, POST signs in: a link that is merely fetched does not sign in."""
    person = demo_world.person_for(token) if _from_this_machine(request) else None
    if person is None:
        raise Http404(NOT_HERE)
    if request.method == "POST":
        login(request, person)
        return forbid_storing(redirect("home"))
    answer: HttpResponse = render(request, "site/demo_sign_in.html", {"person": person})
    return forbid_storing(answer)


def _from_this_machine(request: HttpRequest) -> bool:
    """Whether the browser runs here: a request from a proxy comes from anywhere."""
    if any(name in request.META for name in FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
