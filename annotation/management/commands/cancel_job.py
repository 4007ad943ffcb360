from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.background import jobs
from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Job


class Command(RefusingCommand):
    help = "Cancel an import, a check or a restoration that waits or runs. Nothing of it stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", help="id of the job, at the end of the address of its page")

    def run(self, **options: Any) -> None:
        job = Job.objects.filter(public_id=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no job {options['job']}.")
        jobs.cancel(job)
        self.stdout.write("Cancelled.")
