"""Write the export of two annotators with doccano's own code: `make_doccano.py FOLDER`. Needs doccano.

A project of text classification with a table in the metadata of each example; export format JSONL, one file per member.
"""

import importlib.util
import os
import sys
import tempfile
import zipfile
from pathlib import Path

spec = importlib.util.find_spec("backend")
assert spec is not None
assert spec.origin is not None
sys.path.insert(0, str(Path(spec.origin).parent))
home = tempfile.mkdtemp(prefix="doccano-")
os.environ |= {
    "STANDALONE": "True",
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "DATABASE_URL": f"sqlite:///{home}/db.sqlite3",
    "MEDIA_ROOT": f"{home}/media",
    "SECRET_KEY": "only for this file",
}

import django  # noqa: E402

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402

call_command("migrate", verbosity=0)
call_command("create_roles")

from data_export.celery_tasks import export_dataset  # noqa: E402
from examples.models import Comment, Example  # noqa: E402
from label_types.models import CategoryType  # noqa: E402
from labels.models import Category  # noqa: E402
from projects.models import Member, TextClassificationProject  # noqa: E402
from roles.models import Role  # noqa: E402

users = {name: get_user_model().objects.create_user(username=name, password=None) for name in ("ada", "bo")}
project = TextClassificationProject.objects.create(
    name="films", project_type="DocumentClassification", created_by=users["ada"]
)
project.add_admin()
Member.objects.create(project=project, user=users["bo"], role=Role.objects.get(name="annotator"))
labels = {
    text: CategoryType.objects.create(project=project, text=text) for text in ("read", "computed", "unsure")
}
for question, given in (
    ("When was Heat made?", {"ada": ["read"], "bo": ["read"]}),
    ("Which film is older?", {"ada": ["computed", "unsure"], "bo": ["computed"]}),
    ("Who made Alien?", {"ada": [], "bo": ["unsure"]}),
):
    table = [["Film", "Year"], ["Heat", "1995"], ["Alien", "1979"]]
    example = Example.objects.create(project=project, text=question, meta={"table": table})
    for name, chosen in given.items():
        for text in chosen:
            Category.objects.create(example=example, user=users[name], label=labels[text])
    if not given["ada"]:
        Comment.objects.create(example=example, user=users["ada"], text="No column has it.")

with zipfile.ZipFile(export_dataset(project.pk, "JSONL")) as archive:
    archive.extractall(sys.argv[1])
