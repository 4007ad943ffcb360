import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Person
from annotation.workflow import projects
from tableqa.core.command_line import manage


class Command(RefusingCommand):
    help = "Create a project with its first manager. Creates an account if the manager has none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug")
        parser.add_argument("--name", required=True)
        parser.add_argument("--manager", required=True, metavar="EMAIL")
        parser.add_argument("--time-zone", default="UTC")

    def run(self, **options: Any) -> None:
        email = options["manager"].lower()
        manager = Person.objects.filter(email=email).first()
        if manager is None:
            # Without a terminal no password can be typed; the account then waits for one (manage.py changepassword).
            password = _prompt_password(email) if sys.stdin.isatty() else None
            manager = projects.register(name=email.partition("@")[0], email=email, password=password)
        project = projects.create_project(
            slug=options["slug"],
            name=options["name"],
            manager=manager,
            time_zone=options["time_zone"],
            now=timezone.now(),
        )
        self.stdout.write(f"{project.name} ({project.slug}), managed by {manager.email}.")
        if not manager.has_usable_password():
            self.stdout.write(f"Set a password: {manage(f'changepassword {manager.email}')}")


def _prompt_password(email: str) -> str:
    """A password typed twice, because it is not shown while typing."""
    while True:
        password = getpass.getpass(f"Password for {email}: ")
        if password == getpass.getpass("Repeat the password: "):
            return password
        sys.stderr.write("The passwords differ. Try again.\n")
