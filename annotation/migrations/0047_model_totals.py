"""Running totals of requests to language models: what budgets are compared with."""

from decimal import Decimal
from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Sum


def fill(apps: Any, editor: Any) -> None:
    """Sum the requests that are there."""
    requests = apps.get_model("annotation", "ModelRequest").objects.order_by()
    cost = F("prompt_tokens") * F("prompt_price") + F("completion_tokens") * F("completion_price")
    usd = models.ExpressionWrapper(cost, output_field=models.DecimalField(max_digits=30, decimal_places=6))
    sums = {"tokens": Sum(F("prompt_tokens") + F("completion_tokens")), "micro_usd": Sum(usd)}
    total = apps.get_model("annotation", "ModelTotal")
    for row in requests.values("project_id", "batch_id").annotate(**sums):
        total.objects.create(**row)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0046_search_index_ahead")]

    operations = [
        migrations.CreateModel(
            name="ModelTotal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tokens", models.BigIntegerField(default=0)),
                ("micro_usd", models.DecimalField(decimal_places=6, default=Decimal("0"), max_digits=30)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_totals",
                        to="annotation.project",
                    ),
                ),
                (
                    "batch",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.batch",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("batch__isnull", True)),
                        fields=("project",),
                        name="one_model_total_without_a_batch",
                    )
                ]
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
