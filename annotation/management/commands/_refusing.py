"""Commands that print a refusal in one line, with exit status 1 (finding) or 2 (usage error)."""

from __future__ import annotations

from typing import Any

from annotation.management.commands._escaping import BaseCommand, CommandError, UsageError
from annotation.models import Batch, Person, Project
from annotation.refusals import Refused
from tasks.contract import Invalid, UnknownTaskType


class RefusingCommand(BaseCommand):
    """Turns what a journey refuses into a CommandError; `run` is `handle` without that."""

    def run(self, **options: Any) -> None:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except Refused as refused:
            raise CommandError(refused.detail) from None
        except (Invalid, UnknownTaskType) as error:
            raise CommandError(str(error)) from None

    def project(self, slug: str) -> Project:
        found = Project.objects.filter(slug=slug).first()
        if found is None:
            raise UsageError(
                f"There is no project {slug!r}. Create it: ./run manage create_project {slug} --name NAME "
                "--manager EMAIL"
            )
        return found

    def batch(self, project: Project, name: str) -> Batch:
        found = Batch.objects.select_related("project").filter(project=project, name=name).first()
        if found is None:
            names = (
                ", ".join(Batch.objects.filter(project=project).values_list("name", flat=True)) or "none yet"
            )
            raise UsageError(f"{project.slug} has no batch {name!r}. Available: {names}.")
        return found

    def person(self, email: str) -> Person:
        found = Person.objects.filter(email=email.lower()).first()
        if found is None:
            raise UsageError(f"There is no account with the e-mail address {email}.")
        return found
