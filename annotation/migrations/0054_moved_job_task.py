"""Name queued jobs by the present module of their task."""

from typing import Any

from django.db import migrations

BEFORE, AFTER = "annotation.jobs.run_job", "annotation.background.jobs.run_job"


def rename(apps: Any, schema_editor: Any, before: str = BEFORE, after: str = AFTER) -> None:
    apps.get_model("django_tasks_database", "DBTaskResult").objects.filter(task_path=before).update(task_path=after)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0053_crowd_admission"), ("django_tasks_database", "0001_initial")]

    operations = [
        migrations.RunPython(rename, lambda apps, editor: rename(apps, editor, AFTER, BEFORE), elidable=True)
    ]
