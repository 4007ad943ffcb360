from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Event, Membership, Person
from annotation.platform import immutable_rows
from annotation.releases import restoration
from annotation.workflow import projects


class Command(RefusingCommand):
    help = "Restore a project from one of its releases, with batches, responses and decisions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("release", type=Path, help="a release: a folder or a zip file")
        parser.add_argument("slug", help="short name of the new project")
        parser.add_argument("--name", required=True)
        parser.add_argument("--manager", required=True, metavar="EMAIL")
        parser.add_argument("--time-zone", default="UTC")

    def run(self, **options: Any) -> None:
        email, now = options["manager"].lower(), timezone.now()
        names = {name: options[name] for name in ("slug", "name", "time_zone")}
        with transaction.atomic():
            manager = Person.objects.filter(email=email).first()
            is_new = manager is None
            if manager is None:
                manager = projects.register(name=email.partition("@")[0], email=email, password=None)
            project = projects.create_project(manager=manager, now=now, **names)
        try:
            restored = restoration.restore(project=project, folder=options["release"], by=manager, now=now)
        except BaseException:
            with immutable_rows.writable():
                for model in (Event, Membership):
                    model.objects.filter(project=project).delete()
                project.delete()
                if is_new:
                    manager.delete()
            raise
        self.stdout.write(
            f"{project.slug}: {restored.batches} batches with {restored.items} items, "
            f"{restored.annotations} responses of {restored.people} people, {restored.decisions} decisions."
        )
        if restored.has_new_ids:
            self.stdout.write(
                "The original project is on this server. Batches, items and responses of the copy have new ids."
            )
        if restored.without_batch:
            self.stdout.write(
                f"{restored.without_batch} examples are in no batch: an older release does not name their items."
            )
        self.stdout.write("Not restored, because a release does not contain it:")
        for loss in restoration.LOSSES:
            self.stdout.write(f"  {loss}")
