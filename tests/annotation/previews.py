"""Somebody who sees previews: a worker reads the file while they wait."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.test import Client

from annotation.background import jobs
from annotation.models import Job, Person
from tests.undone import savepoint


class Importer(Client):
    """A client that gets to the preview at once where a request leads to one."""

    def request(self, **request: Any) -> Any:
        answer = super().request(**request)
        path, _, query = answer.headers.get("Location", "").partition("?")
        if answer.status_code != 302 or "preview" not in QueryDict(query):
            return answer
        read_previews()
        body = ("wsgi.input", "CONTENT_TYPE", "CONTENT_LENGTH")
        environ = {name: value for name, value in request.items() if name not in body}
        return super().request(
            **environ | {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query}
        )


def importer(person: Person) -> Importer:
    """A client of this person."""
    client = Importer()
    client.force_login(person)
    return client


def read_previews() -> None:
    """Do what a worker does with the previews that wait."""
    for job in Job.objects.filter(kind__in=jobs.OF_PREVIEWS, state=Job.State.QUEUED):
        with savepoint():
            jobs.run(job.pk)
