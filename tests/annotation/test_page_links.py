"""Links between the pages of a list keep the other query parameters, and scroll to the list."""

from __future__ import annotations

import pytest
from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import reverse
from lxml import html

from annotation.models import Assignment
from tests.annotation.cast import World


def links(query: str, **context: str) -> list[str]:
    request = RequestFactory().get(f"/list/?{query}")
    page = Paginator(range(200), 50).page(2)
    text = render_to_string("site/_pages.html", {"page": page, "what": "items", **context}, request)
    return [str(link) for link in html.fromstring(text).xpath("//a/@href")]


def test_links_keep_filters_and_other_lists_and_replace_only_their_own_parameter() -> None:
    assert links("batch=a&batch=b&flags=3&words=x+%26+y&page=2") == [
        "?batch=a&batch=b&flags=3&words=x+%26+y&page=1",
        "?batch=a&batch=b&flags=3&words=x+%26+y&page=3",
    ]
    assert links("batch=a&page=4", name="flags", at="list") == [
        "?batch=a&page=4&flags=1#list",
        "?batch=a&page=4&flags=3#list",
    ]


@pytest.mark.django_db
def test_a_page_that_a_browser_prefetches_is_not_opened(world: World) -> None:
    batch = world.batch("question_type")
    client = Client()
    client.force_login(world.ada)
    address = reverse("annotate", args=[batch.public_id])

    early = client.get(address, headers={"Sec-Purpose": "prefetch;prerender"})

    assert early.status_code == 503
    assert not Assignment.objects.filter(batch=batch).exists()
    assert client.get(address).status_code == 200
    assert Assignment.objects.filter(batch=batch).exists()
