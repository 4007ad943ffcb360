"""Write exports of two annotators with doccano's own code: `make_doccano.py FOLDER`. Needs doccano.

For each type of text project a folder, with the project as doccano's API gives it. A table is in the metadata of each
example; export format JSONL, one file per member, or one of all who share their annotations.
"""

import importlib.util
import json
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
from label_types.models import CategoryType, RelationType, SpanType  # noqa: E402
from labels.models import Category, Relation, Span, TextLabel  # noqa: E402
from projects import models as projects  # noqa: E402
from projects.serializers import ProjectPolymorphicSerializer  # noqa: E402
from rest_framework.renderers import JSONRenderer  # noqa: E402
from roles.models import Role  # noqa: E402

TABLE = [["Film", "Year"], ["Heat", "1995"], ["Alien", "1979"]]
QUESTIONS = ("When was Heat made?", "Which film is older?", "Who made Alien?")
users = {name: get_user_model().objects.create_user(username=name, password=None) for name in ("ada", "bo")}


def made(folder: str, model: type, type: str, **more: bool) -> tuple[projects.Project, list[Example]]:
    """A project with both people, and its examples."""
    project = model.objects.create(name=folder, project_type=type, created_by=users["ada"], **more)
    project.add_admin()
    projects.Member.objects.create(project=project, user=users["bo"], role=Role.objects.get(name="annotator"))
    texts = [Example(project=project, text=text, meta={"table": TABLE}) for text in QUESTIONS]
    for example in texts:
        example.save()
    return project, texts


def exported(folder: str, project: projects.Project) -> None:
    """Write the export and the project. Its times would differ each time."""
    to = Path(sys.argv[1], folder)
    with zipfile.ZipFile(export_dataset(project.pk, "JSONL")) as archive:
        archive.extractall(to)
    time = "2025-05-04T03:02:01Z"
    projects.Project.objects.filter(pk=project.pk).update(created_at=time, updated_at=time)
    fresh = projects.Project.objects.get(pk=project.pk)
    data = json.loads(JSONRenderer().render(ProjectPolymorphicSerializer(fresh).data))
    (to / "project.json").write_text(json.dumps(data, indent=1) + "\n", "utf-8")


def classified(folder: str, by_question: list[dict[str, list[str]]], **more: bool) -> None:
    """Classes of each question, by person. A person without one writes a comment."""
    project, texts = made(folder, projects.TextClassificationProject, "DocumentClassification", **more)
    labels = {
        text: CategoryType.objects.create(project=project, text=text)
        for text in ("read", "computed", "unsure")
    }
    for example, given in zip(texts, by_question, strict=True):
        for name, chosen in given.items():
            for text in chosen:
                Category.objects.create(example=example, user=users[name], label=labels[text])
            if not chosen:
                Comment.objects.create(example=example, user=users[name], text="No column has it.")
    exported(folder, project)


classified(
    "classes",
    [
        {"ada": ["read"], "bo": ["read"]},
        {"ada": ["computed", "unsure"], "bo": ["computed"]},
        {"ada": [], "bo": ["unsure"]},
    ],
)
classified(
    "shared", [{"ada": ["read"]}, {"bo": ["computed"]}, {"ada": ["unsure"]}], collaborative_annotation=True
)

project, texts = made("texts", projects.Seq2seqProject, "Seq2seq")
for name, text in (("ada", "1995"), ("bo", "In 1995."), ("bo", "The year 1995")):
    TextLabel.objects.create(example=texts[0], user=users[name], text=text)
exported("texts", project)

project, texts = made("spans", projects.SequenceLabelingProject, "SequenceLabeling")
film = SpanType.objects.create(project=project, text="FILM")
Span.objects.create(example=texts[0], user=users["ada"], label=film, start_offset=9, end_offset=13)
exported("spans", project)

project, texts = made("relations", projects.SequenceLabelingProject, "SequenceLabeling", use_relation=True)
film = SpanType.objects.create(project=project, text="FILM")
kind = RelationType.objects.create(project=project, text="OF")
ends = [(0, 4), (9, 13)]
parts = [
    Span.objects.create(example=texts[0], user=users["ada"], label=film, start_offset=start, end_offset=end)
    for start, end in ends
]
Relation.objects.create(example=texts[0], user=users["ada"], from_id=parts[0], to_id=parts[1], type=kind)
exported("relations", project)

project, texts = made(
    "intents", projects.IntentDetectionAndSlotFillingProject, "IntentDetectionAndSlotFilling"
)
ask = CategoryType.objects.create(project=project, text="ask")
slot = SpanType.objects.create(project=project, text="FILM")
Category.objects.create(example=texts[0], user=users["ada"], label=ask)
Span.objects.create(example=texts[0], user=users["ada"], label=slot, start_offset=9, end_offset=13)
exported("intents", project)
