"""Migrating while people work: it is the migration that waits and begins again, and never a person's request."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg2

from tests.temp_postgres import temporary_postgres

ROOT = Path(__file__).resolve().parents[2]
CHANGE = """
import django; django.setup()
from django.core.management import call_command
from django.db import migrations
from django.db.migrations.loader import MigrationLoader
load = MigrationLoader.load_disk
def with_one_more(self):
    load(self)
    class Migration(migrations.Migration):
        dependencies = [max(key for key in self.disk_migrations if key[0] == "annotation")]
        operations = [
            migrations.RunSQL("ALTER TABLE annotation_batch ADD COLUMN spare_b integer"),
            migrations.RunSQL("ALTER TABLE annotation_item ADD COLUMN spare_i integer"),
        ]
    self.disk_migrations["annotation", "9999_spare"] = Migration("9999_spare", "annotation")
MigrationLoader.load_disk = with_one_more
call_command("migrate", "annotation", verbosity=1)
"""


def test_a_migration_gives_way_to_somebody_who_holds_the_tables_the_other_way_round(tmp_path: Path) -> None:
    """The queue locks an item and then its batch; a migration that alters batches and then items would be its deadlock."""
    with temporary_postgres() as url:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": url,
            "SECRET_KEY": "k" * 60,
            "ASKEW_DATA_DIR": str(tmp_path),
        }
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=ROOT,
            env=environment,
            check=True,
        )
        stop, waits, failures = threading.Event(), list[float](), list[str]()
        host = url.partition("host=")[2]

        def submit() -> None:
            connection = psycopg2.connect(host=host, user="postgres", dbname="postgres")
            while not stop.is_set():
                began = time.monotonic()
                try:
                    with connection, connection.cursor() as cursor:
                        cursor.execute("LOCK TABLE annotation_item IN ROW EXCLUSIVE MODE")
                        stop.wait(0.05)  # a submission takes its time
                        cursor.execute("LOCK TABLE annotation_batch IN ROW EXCLUSIVE MODE")
                except psycopg2.Error as error:
                    failures.append(str(error))
                waits.append(time.monotonic() - began)
            connection.close()

        people = [threading.Thread(target=submit) for _ in range(3)]
        for person in people:
            person.start()
        done = subprocess.run(
            [sys.executable, "-c", CHANGE],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        stop.set()
        for person in people:
            person.join()

    assert done.returncode == 0, done.stderr[-2000:]
    assert "9999_spare... OK" in done.stdout
    assert failures == []
    assert max(waits) < 3
