"""The items of a project with their responses, filtered as on the page Explorer."""

from functools import partial
from typing import Any, Final

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.explorer import export, index, item_access, querysets, result_counts, result_pages
from annotation.explorer.links import list_url
from annotation.explorer.rows import items_to_decide, rows
from annotation.explorer.selection import PARAMETERS, SEVERAL, BadSelection, parse
from annotation.platform.refusals import refuse
from annotation.queue import candidates
from annotation.web.api.pagination import ByNewest

PAGE_SIZE: Final = "page_size"


class ItemResponseShape(serializers.Serializer[Any]):
    """What a person (pseudonym or letter) did with an item: a response, or null and the reason of a skipped item."""

    person = serializers.CharField()
    response_state = serializers.CharField()
    response = serializers.JSONField(allow_null=True)
    words = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField(allow_null=True)
    unsure = serializers.BooleanField()
    added = serializers.BooleanField()
    active_seconds = serializers.FloatField()
    submitted_at = serializers.DateTimeField(allow_null=True)


class ListedItemShape(serializers.Serializer[Any]):
    """An item. `state` is "" where it is hidden from you, `responses` is empty there."""

    item = serializers.CharField()
    batch = serializers.CharField()
    batch_name = serializers.CharField()
    task_type = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field of ours, not the one of the base
    example = serializers.CharField()
    question = serializers.CharField()
    answers = serializers.ListField(child=serializers.CharField())
    meta = serializers.DictField(child=serializers.CharField())
    state = serializers.CharField(allow_blank=True)
    differs = serializers.BooleanField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())
    responses = ItemResponseShape(many=True)


class ItemsShape(serializers.Serializer[Any]):
    """A page of items. `count` is at most 10,001; `is_behind`: the newest work is not in the search index yet."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    count = serializers.IntegerField()
    is_behind = serializers.BooleanField()
    results = ListedItemShape(many=True)


class Items(APIView):
    """The items of a project."""

    @extend_schema(
        responses=ItemsShape,
        parameters=[
            OpenApiParameter(name, OpenApiTypes.STR, many=name in SEVERAL, explode=True)
            for name in PARAMETERS
        ]
        + [OpenApiParameter(PAGE_SIZE, OpenApiTypes.INT)],
    )
    def get(self, request: Request, slug: str) -> Response:
        """List items with their responses. Filters and order are those of the explorer."""
        actor, now = authorization.actor(request), timezone.now()
        project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
        who = item_access.reader(actor, project)
        is_behind = index.refresh(project, now=now)
        params = {name: values for name, values in request.query_params.lists() if any(values)}
        size = _size(params.pop(PAGE_SIZE, [""])[0])
        try:
            chosen = parse(params)
            page = result_pages.page(who, chosen, size)
            count = result_counts.count_up_to_limit(querysets.matching(who, chosen))
        except BadSelection as bad:
            refuse("invalid_request", "{problems}", problems=" ".join(bad.problems))
        listed_rows = rows(who, page.keys)
        if read := items_to_decide(listed_rows):
            candidates.record_reading(read, by=actor.person, now=now)
        people = {key: name for name, key in who.people.items()}
        turn = partial(list_url, reverse("api_items", args=[slug]), chosen, page_size=str(size))
        following = turn(after=listed_rows[-1].item.public_id) if page.has_next else None
        previous = turn(before=listed_rows[0].item.public_id) if page.has_previous and listed_rows else None
        return Response(
            {
                "next": following and request.build_absolute_uri(following),
                "previous": previous and request.build_absolute_uri(previous),
                "count": count,
                "is_behind": is_behind,
                "results": [
                    export.of_item(who, row)
                    | {"responses": [export.of_response(response, people) for response in row.responses]}
                    for row in listed_rows
                ],
            }
        )


def _size(value: str) -> int:
    """Items of a page, as `ByNewest` has them. Raises ActionRefused (invalid_request) for what is no number."""
    if not value:
        return ByNewest.page_size
    if not value.isdecimal() or not int(value[:9]):
        refuse("invalid_request", "{name}: write a number from 1 to {most}.", name=PAGE_SIZE, most=200)
    return min(int(value[:9]), ByNewest.max_page_size)
