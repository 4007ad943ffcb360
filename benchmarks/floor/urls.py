"""One address: store the answer, lease the next slot, answer with its item; in one transaction."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.utils import timezone

from benchmarks.floor.models import Answer, Item, Slot

LEASE = """
    UPDATE floor_slot SET person_id = %s, leased_until = %s
    WHERE id = (
        SELECT s.id FROM floor_slot s
        WHERE s.person_id IS NULL
          AND NOT EXISTS (SELECT 1 FROM floor_slot mine WHERE mine.item_id = s.item_id AND mine.person_id = %s)
        ORDER BY s.id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING id, item_id
"""


def submit(request: HttpRequest, slot: int) -> HttpResponse:
    """Slot 0 only asks for an item. 204 when there is none."""
    person: Any = request.user
    if not person.is_authenticated:
        return HttpResponse(status=401)
    with transaction.atomic():
        if slot:
            if not Slot.objects.filter(pk=slot, person=person, done=False).update(done=True):
                return HttpResponse(status=409)
            Answer.objects.create(slot_id=slot, person=person, response=json.loads(request.body)["response"])
        with connection.cursor() as cursor:
            cursor.execute(LEASE, [person.pk, timezone.now() + timedelta(minutes=20), person.pk])
            leased = cursor.fetchone()
    if leased is None:
        return HttpResponse(status=204)
    payload = Item.objects.values_list("payload", flat=True).get(pk=leased[1])
    return JsonResponse({"id": leased[0], "shows": payload})


urlpatterns = [path("submit/<int:slot>/", submit)]
