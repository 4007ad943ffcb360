from argparse import ArgumentParser
from typing import Any

from django.db.models import Q
from django.utils import timezone

from annotation.management.commands._escaping import UsageError
from annotation.management.commands._refusing import RefusingCommand
from annotation.models import Item
from annotation.queue.explanations import explain


class Command(RefusingCommand):
    help = "Say whether an item is served to a person, after how many others, and why."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("batch", help="id of the batch, in the address of its page")
        parser.add_argument("item", help="id of the item, or of its example")
        parser.add_argument("person", help="e-mail address of the person")

    def run(self, **options: Any) -> None:
        items = Item.objects.filter(batch__public_id=options["batch"]).select_related("batch__project")
        has_id = Q(public_id=options["item"]) | Q(example__external_id=options["item"])
        item = items.filter(has_id).order_by("pk").first()
        if item is None:
            raise UsageError(f"There is no batch {options['batch']} with an item {options['item']!r}.")
        explanation = explain(item, self.person(options["person"]), now=timezone.now())
        self.stdout.write("Served." if explanation.is_served else "Not served.")
        for reason in explanation.reasons:
            self.stdout.write(f"{reason.code}: {reason.message}")
