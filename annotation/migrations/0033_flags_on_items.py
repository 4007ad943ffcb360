import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0032_item_actions")]

    operations = [
        migrations.AddField(
            "flag",
            "item",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="flags",
                to="annotation.item",
            ),
        ),
        migrations.AddField(
            "flag",
            "made_by",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            "flag",
            "assignment",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="flags",
                to="annotation.assignment",
            ),
        ),
        migrations.AlterField(
            "itemaction",
            "kind",
            models.CharField(
                choices=[
                    ("exclude", "Exclude"),
                    ("adjudicate", "Move to adjudication"),
                    ("send_back", "Send back"),
                    ("flag", "Flag"),
                ],
                max_length=12,
            ),
        ),
    ]
