"""An option of a batch is declared once, and every surface derives from it: proven with an option that does not exist.

It is added to a copy of the tree, in one file. A process of its own makes the migration and uses the option everywhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = (
    "annotation",
    "config",
    "docs/reference",
    "fixtures",
    "locale",
    "predictor",
    "static",
    "tableqa",
    "tasks",
)
FILES = (
    "manage.py",
    "pyproject.toml",
    "run",
    "tests/__init__.py",
    "tests/annotation/__init__.py",
    "tests/annotation/cast.py",
    "tests/annotation/kept_rows.py",
    "tests/in_flight.py",
    "tests/settings.py",
    "tests/template_variables.py",
)
TERM = """\
    break_after = Term(
        label=gettext_noop("Break after items"),
        help=gettext_noop("Annotators are asked to take a break after this number of items."),
        section="quality",
        changeable=UNTIL_CLOSED,
        effect=gettext_noop("The new number counts from each person's next item."),
        maximum=60,
    ).of(models.PositiveSmallIntegerField(default=0))

    class Meta:
"""
USE = """\
import json, re, sys
from pathlib import Path
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import setup_test_environment

setup_test_environment()
call_command("makemigrations", "annotation", name="break_after", verbosity=0)
[migration] = Path("annotation/migrations").glob("*_break_after.py")
connection.creation.create_test_db(verbosity=0)

from drf_spectacular.generators import SchemaGenerator
from annotation.management import reference_pages as reference
from annotation.models import Batch, Event
from annotation.accounts import item_history as stories
from annotation.study_file import apply as applying
from annotation.study_file import current_state as standing
from annotation.study_file import project_export as writing
from annotation.study_file.parser import parse
from tests.annotation.cast import NOON, make_world

folder = Path(sys.argv[1])
world = make_world(folder)
mara = Client()
mara.force_login(world.mara)


def text_of(address, **query):
    page = mara.get(address, query).content.decode()
    return re.sub(r"\\s+", " ", re.sub(r"<[^>]*>", " ", page))


def post(address, data):
    return mara.post(address, json.dumps(data), content_type="application/json").json()


surfaces = {"migration": migration.read_text()}
new = "/projects/films/batches/new/"
surfaces["form"] = text_of(new, kind="question_type")
fields = {"kind": "question_type", "name": "Breaks", "sources": world.source.public_id, "of": "originals"}
fields |= {"seed": 0, "overlap": 2, "open_at_once": "on"}
surfaces["refusal"] = mara.post(new, {**fields, "break_after": 61}).content.decode()
mara.post(new, {**fields, "break_after": 5})
batch = Batch.objects.get()
surfaces["column"] = batch.break_after
surfaces["batch page"] = text_of(f"/batches/{batch.public_id}/")
surfaces["change page"] = mara.get(f"/batches/{batch.public_id}/settings/").content.decode()
change = f"/api/batches/{batch.public_id}/change/"
surfaces["effect"] = post(change, {"terms": {"break_after": 7}})["effects"]
surfaces["API"] = post(change, {"terms": {"break_after": 7}, "confirmed": True})["changed"]
surfaces["API schema"] = json.dumps(SchemaGenerator().get_schema(request=None, public=True))
surfaces["log"] = stories.detail_in_words(Event.objects.latest("pk").detail)
surfaces["study schema"] = json.loads(writing.published_schema())
exported = writing.export_study(standing.of_project(world.project, now=NOON))
surfaces["export"] = exported
wanted = parse(exported.replace("break_after: 7", "break_after: 9"))
surfaces["plan"] = [str(change) for change in applying.plan_for_project(wanted, world.project, now=NOON).does]
applying.apply(wanted, project=world.project, by=world.mara, now=NOON)
batch.refresh_from_db()
surfaces["applied"] = batch.break_after
reference.write(Path("docs/reference"))
surfaces["docs"] = Path("docs/reference/batch-options.md").read_text()
connection.creation.destroy_test_db("unused", verbosity=0)
print(json.dumps(surfaces))
"""


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What each surface says of the option."""
    folder = tmp_path_factory.mktemp("term")
    copy = folder / "tree"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in (*FILES, "templates"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copied(ROOT / name, copy / name)
    path = copy / "annotation" / "models" / "batch_options" / "entry_requirements.py"
    text = path.read_text(encoding="utf-8")
    assert text.count("    class Meta:\n") == 1
    path.write_text(text.replace("    class Meta:\n", TERM), encoding="utf-8")
    (folder / "data").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"DJANGO_SETTINGS_MODULE": "tests.settings", "ASKEW_TEST_DATA_DIR": str(folder / "data")}
    environment.pop("DATABASE_URL", None)
    process = subprocess.run(
        [sys.executable, "-c", USE, str(folder)],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3_000:]
    return dict(json.loads(process.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("surface", "text"),
    [
        ("migration", "AddField"),
        ("form", "Break after items (optional) Annotators are asked to take a break"),
        ("refusal", "60"),
        ("batch page", "Break after items 5"),
        ("change page", 'name="break_after" value="5"'),
        ("effect", "The new number counts from each person's next item."),
        ("API", "break_after"),
        ("API schema", '"break_after": {"type": "integer", "minimum": 0, "maximum": 60'),
        ("log", "Break after items: 5 → 7"),
        ("export", "break_after: 7"),
        (
            "docs",
            "| Break after items | `break_after` | `break_after` | 0 to 60 | `0` | all |",
        ),
        ("plan", "change batch Breaks: break_after: 7 becomes 9."),
    ],
)
def test_the_option_appears_on_every_surface(surfaces: dict[str, object], surface: str, text: str) -> None:
    assert text in surfaces[surface], surfaces[surface]  # type: ignore[operator]


def test_its_value_is_stored_as_the_form_and_the_study_file_say(surfaces: dict[str, object]) -> None:
    assert (surfaces["column"], surfaces["applied"]) == (5, 9)


def test_a_study_file_may_say_it_within_its_limits(surfaces: dict[str, object]) -> None:
    schema: dict[str, dict[str, dict[str, dict[str, dict[str, object]]]]] = surfaces["study schema"]  # type: ignore[assignment]
    assert schema["properties"]["batches"]["items"]["properties"]["break_after"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 60,
        "description": "annotators are asked to take a break after this number of items",
    }
