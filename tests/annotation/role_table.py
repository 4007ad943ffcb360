"""Who may do what, as data: every page and every method of the REST interface, for every role.

The tests in test_role_table.py are made from the addresses: one without a row here fails. Rows of pages are

    "name": (arguments, who may GET, who may POST)        None: the method is not taken at all

and those of the interface {"method": (arguments, body, who may, the scope that a token needs)}. `things` has one of
everything. Whoever is not named finds nothing there: 404 or, not signed in, the way to sign in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.access.roles import Permission, Role
from annotation.accounts import crowd_entry, sign_up
from annotation.background import uploads
from annotation.models import (
    Annotation,
    ApiToken,
    Assignment,
    Batch,
    CrowdEntry,
    CrowdLink,
    Invitation,
    Item,
    ItemAction,
    Job,
    Membership,
    Person,
    Release,
    ReviewEntry,
    ReviewSample,
    SavedView,
    Upload,
)
from annotation.quality import gold
from annotation.queue import resolutions
from annotation.releases import creation
from annotation.workflow import automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World, envelope

# -- who there is -----------------------------------------------------------------------------------

EVERYBODY = {"ada", "bo", "ivo", "rea", "vic", "mara", "root", "zoe", "lea", "otto", "pat"}
"""Everybody who can sign in: two annotators (what is somebody's own is Ada's), adjudicator, researcher, viewer, manager,
administrator; Zoe is in no project, Lea was everything in this one and left, Otto is everything in another one, and Pat
is an annotator who came by a crowd link."""
MEMBERS = EVERYBODY - {"zoe", "lea", "otto"}
ANNOTATE = {"ada", "bo", "pat"}
PROGRESS = {"ivo", "rea", "vic", "mara", "root"}
RELEASE = {"rea", "mara", "root"}
MANAGE = {"mara", "root"}
ANYBODY = EVERYBODY | {"nobody"}


@dataclass
class Things:
    """One of everything that a page can be about."""

    world: World
    batch: Batch
    item: Item
    release: Release
    job: Job
    token: ApiToken
    invitation: str
    assignment: Any
    member: Membership
    annotation: Annotation


def make_things(world: World) -> Things:
    """An open batch with an item that waits for Ivo, one on Ada's desk, a closed batch, and its release."""
    make_people(world)
    world.people["root"] = Person.objects.create_person("Root", "root@example.org", is_administrator=True)
    closed = world.batch(size=1, name="Closed")
    for who in ("ada", "bo", "cy"):
        world.label(closed, who, "extraction")
    batches.close_batch(batch=closed, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=closed, now=NOON)
    release = creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    batch = world.batch(name="Open")
    differ(world, batch)
    assignment = world.take(batch, "ada")
    item = resolutions.waiting(batch).get()
    job = Job.objects.create(
        project=world.project, kind="import", made_by=world.mara, made_at=NOON, heartbeat=NOON
    )
    token, _ = projects.make_token(
        person=world.ada, project=world.project, name="mine", scopes=[Permission.ANNOTATE], now=timezone.now()
    )
    _, invitation = projects.invite(
        project=world.project, roles=[Role.ANNOTATOR], by=world.mara, now=timezone.now()
    )
    member = Membership.objects.get(person=world.cy)
    annotation = Annotation.objects.get(assignment__person=world.ada, assignment__item=item)
    return Things(world, batch, item, release, job, token, invitation, assignment, member, annotation)


def an_upload(things: Things, name: str = "own.csv") -> Upload:
    """A file that waits to be imported."""
    content = SimpleUploadedFile(name, b'question,table\nwho?,"Name\nAnn"\n')
    return uploads.keep(project=things.world.project, file=content, by=things.world.mara, now=NOON)


def a_file_of_responses(things: Things) -> list[str]:
    """A file of Label Studio that waits to be imported."""
    result = '{"from_name": "label", "type": "choices", "value": {"choices": ["extraction"]}}'
    data = '{"question": "who?", "table": "Name\\nAnn"}'
    text = f'[{{"id": 1, "data": {data}, "annotations": [{{"completed_by": 1, "result": [{result}]}}]}}]'
    world = things.world
    content = SimpleUploadedFile("tasks.json", text.encode())
    upload = uploads.keep(project=world.project, file=content, by=world.mara, now=NOON)
    return [world.project.slug, upload.public_id, "label_studio"]


def a_refused_import(things: Things) -> list[str]:
    """An import with problems, of which the good records can be imported."""
    questions, rest = an_upload(things), an_upload(things, "own-rejected.csv")
    job = Job.objects.create(
        project=things.world.project,
        kind="import",
        state=Job.State.FAILED,
        ids={"reader": "own", "questions": questions.pk, "choices": {}},
        result={"problems": [], "rejected": 1, "good": 1, "rest": rest.public_id},
        made_by=things.world.mara,
        made_at=NOON,
        heartbeat=NOON,
    )
    return [job.public_id]


def a_review(things: Things) -> list[str]:
    """A sample of accepted items to review."""
    world = things.world
    sample = ReviewSample.objects.create(
        project=world.project, seed=0, of=1, made_by=world.mara, made_at=NOON
    )
    item = Item.objects.filter(batch__name="Closed").order_by("pk").first() or things.item
    ReviewEntry.objects.create(sample=sample, item=item, position=1)
    return [sample.public_id]


def make_people(world: World) -> None:
    """A viewer, somebody who left, somebody who is everything elsewhere, and somebody of a crowd."""
    people = world.people
    for name in ("vic", "lea", "otto"):
        people[name] = Person.objects.create_person(name.capitalize(), f"{name}@example.org", "tilted tables")
    for who, roles in (("vic", [Role.VIEWER]), ("lea", list(Role))):
        projects.add_member(project=world.project, person=people[who], roles=roles, by=world.mara, now=NOON)
    left = Membership.objects.get(person=people["lea"])
    projects.remove_member(membership=left, by=world.mara, now=NOON)
    people["lea"].refresh_from_db()
    other = projects.create_project(slug="books", name="Books", manager=people["otto"], now=NOON)
    link = crowd_entry.make_link(
        project=world.project,
        name="Crowd",
        parameters=crowd_entry.PARAMETERS["generic"],
        completion_code="DONE",
        screen_out_code="OUT",
        expires_at=timezone.now() + timedelta(days=1),
        by=world.mara,
        now=timezone.now(),
    )
    people["pat"] = crowd_entry.enter(
        link=link, ids=crowd_entry.Ids("first"), person=None, now=timezone.now()
    )
    projects.add_member(project=other, person=people["otto"], roles=list(Role), by=None, now=NOON)


def differ(world: World, batch: Batch) -> None:
    """Three people, three labels: the next item of the batch waits for an adjudicator."""
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)


# -- the pages ----------------------------------------------------------------------------------------

Row = tuple[Callable[[Things], list[Any]], set[str] | None, set[str] | None]


def nothing(things: Things) -> list[Any]:
    return []


def the_project(things: Things) -> list[Any]:
    return [things.world.project.slug]


def the_batch(things: Things) -> list[Any]:
    return [things.batch.public_id]


def the_crowd(things: Things) -> list[Any]:
    return [CrowdLink.objects.get().public_id]


def a_crowd_link(things: Things) -> list[Any]:
    return [things.world.project.slug, CrowdLink.objects.get().public_id]


def a_crowd_entry(things: Things) -> list[Any]:
    return [*a_crowd_link(things), CrowdEntry.objects.get().pk]


def a_way_back(things: Things) -> list[Any]:
    entry = CrowdEntry.objects.select_related("person", "link").get()
    return [crowd_entry.make_return_link(entry=entry, by=things.world.mara, now=NOON)]


def an_item_action(things: Things) -> list[Any]:
    made_by, now = things.world.mara, timezone.now()
    action = ItemAction(project=things.world.project, kind="exclude", made_by=made_by, made_at=now)
    action.save()
    return [action.public_id]


def a_saved_view(things: Things) -> list[Any]:
    project, mara = things.world.project, things.world.mara
    view = SavedView.objects.create(
        project=project, name="To decide", query="", is_shared=True, made_by=mara, made_at=timezone.now()
    )
    return [project.slug, view.public_id]


def somebody(things: Things) -> list[Any]:
    return [things.world.bo.pk]


def a_reset(things: Things) -> list[Any]:
    return sign_up.reset_path(things.world.bo).strip("/").split("/")[-2:]


def a_batch_that_tells(things: Things) -> list[Any]:
    Batch.objects.filter(pk=things.batch.pk).update(gold_feedback=True)
    return the_batch(things)


PAGES: dict[str, Row] = {
    # name: (arguments, who may GET, who may POST); None = the method is not taken at all
    "home": (nothing, EVERYBODY, None),
    "job": (lambda t: [t.job.public_id], PROGRESS, None),
    "healthz": (nothing, ANYBODY, None),
    "readyz": (nothing, ANYBODY, None),
    "signing_key": (nothing, ANYBODY, None),
    "words": (lambda t: ["de"], ANYBODY, None),
    "set_language": (nothing, ANYBODY, ANYBODY),
    "sign_in": (nothing, ANYBODY, ANYBODY),
    "sign_out": (nothing, None, ANYBODY),
    "account": (nothing, EVERYBODY, EVERYBODY),
    "notices": (nothing, EVERYBODY, EVERYBODY),
    "change_display": (nothing, None, EVERYBODY),
    "change_password": (nothing, None, EVERYBODY),
    "sign_out_everywhere": (nothing, None, EVERYBODY),
    "make_token": (nothing, None, EVERYBODY),
    "revoke_token": (lambda t: [t.token.public_id], None, {"ada"}),
    "join": (lambda t: [t.invitation], ANYBODY, ANYBODY),
    "forgotten": (nothing, ANYBODY, ANYBODY),
    "reset_password": (a_reset, ANYBODY, ANYBODY),
    # Of the whole site: for administrators, and for no manager.
    "accounts": (nothing, {"root"}, None),
    "account_of": (somebody, {"root"}, {"root"}),
    "data_of": (somebody, {"root"}, None),
    "erase_person": (somebody, {"root"}, {"root"}),
    "my_data": (nothing, EVERYBODY, None),
    "erase_me": (nothing, EVERYBODY, EVERYBODY),
    "people": (the_project, MANAGE, MANAGE),
    "change_roles": (lambda t: [t.member.pk], MANAGE, MANAGE),
    "withdraw_invitation": (lambda t: [Invitation.objects.latest("pk").pk], None, MANAGE),
    "remove_member": (lambda t: [t.member.pk], MANAGE, MANAGE),
    "labels_elsewhere": (the_batch, MANAGE, MANAGE),
    "worked_examples": (the_batch, ANNOTATE, None),
    "project_log": (the_project, PROGRESS, None),
    "redact": (lambda t: [t.item.public_id], MANAGE, MANAGE),
    "item_story": (lambda t: [t.item.public_id], PROGRESS, None),
    "explorer": (the_project, PROGRESS, None),
    "explorer_act": (the_project, None, {"ivo", "mara"}),
    "explorer_undo": (an_item_action, None, {"ivo", "mara"}),
    "save_view": (the_project, None, PROGRESS),
    "delete_view": (a_saved_view, None, MANAGE),
    "batch_items": (lambda t: [t.batch.public_id], PROGRESS, None),
    "explorer_facets": (the_project, PROGRESS, None),
    "explorer_export": (the_project, PROGRESS, None),
    "batch_items_facets": (lambda t: [t.batch.public_id], PROGRESS, None),
    "explorer_item": (lambda t: [t.item.public_id], PROGRESS, None),
    # A way in for people without an account; whoever is signed in is told so (409).
    "crowd_enter": (the_crowd, ANYBODY, ANYBODY),
    "crowd_back": (a_way_back, ANYBODY, ANYBODY),
    "crowd_finish": (nothing, {"pat"}, {"pat"}),
    "crowd_links": (the_project, MANAGE, MANAGE),
    "crowd_link": (a_crowd_link, MANAGE, None),
    "crowd_close": (a_crowd_link, None, MANAGE),
    "crowd_admit": (a_crowd_link, None, MANAGE),
    "crowd_let_back": (a_crowd_entry, None, MANAGE),
    "project_new": (nothing, MANAGE | {"otto"}, MANAGE | {"otto"}),
    "project": (the_project, MEMBERS, None),
    "project_rename": (the_project, MANAGE, MANAGE),
    "archive_project": (the_project, MANAGE, MANAGE),
    "archive_batch": (the_batch, MANAGE, MANAGE),
    "archive_source": (lambda t: [t.world.source.public_id], MANAGE, MANAGE),
    "practice": (lambda t: [t.world.project.slug, "question_type"], MEMBERS, MEMBERS),
    # Whoever annotates confirms them as read; managers write them.
    "guidelines": (lambda t: [t.world.project.slug, "question_type"], MEMBERS, ANNOTATE | MANAGE),
    "consent": (the_project, MEMBERS, ANNOTATE | MANAGE),
    "inquiries": (the_project, MEMBERS, ANNOTATE | MANAGE),
    "gold": (the_batch, MANAGE, MANAGE),
    "gold_new": (the_batch, MANAGE, MANAGE),
    "gold_feedback": (a_batch_that_tells, ANNOTATE, None),
    "calibration": (the_batch, PROGRESS, MANAGE),
    "try_batch": (the_batch, MANAGE, MANAGE),
    "sources": (the_project, PROGRESS, None),
    "import_new": (the_project, MANAGE, MANAGE),
    "import_preview": (lambda t: [t.world.project.slug, an_upload(t).public_id], MANAGE, MANAGE),
    "import_responses": (the_project, MANAGE, MANAGE),
    "responses_preview": (a_file_of_responses, MANAGE, MANAGE),
    "import_good_only": (a_refused_import, None, MANAGE),
    "job_cancel": (a_refused_import, None, MANAGE),
    "import_rest": (a_refused_import, MANAGE, None),
    "source": (lambda t: [t.world.source.public_id], PROGRESS, None),
    "example": (lambda t: [t.world.source.examples.all()[0].public_id], PROGRESS, None),
    "batch_new": (the_project, MANAGE, MANAGE),
    "model_answers": (the_project, MANAGE, MANAGE),
    "batch": (the_batch, PROGRESS, None),
    "open_batch": (the_batch, MANAGE, MANAGE),
    "close_batch": (the_batch, MANAGE, MANAGE),
    "batch_report": (the_batch, PROGRESS, None),
    "batch_people": (the_batch, MANAGE, MANAGE),
    "batch_settings": (the_batch, MANAGE, MANAGE),
    "act_on_batches": (the_project, None, MANAGE),
    "accounting": (the_project, MANAGE, None),
    "agreement": (the_project, PROGRESS, None),
    "dashboard": (the_project, PROGRESS, None),
    "batch_quality": (the_batch, PROGRESS, None),
    "figure_file": (lambda t: ["dashboard", t.world.project.slug, "batches", "csv"], PROGRESS, None),
    "batch_panel": (the_batch, None, MANAGE),
    "batch_propose": (the_batch, None, MANAGE),
    "batch_drawing": (the_batch, MANAGE, MANAGE),
    "payments": (the_project, MANAGE, None),
    "statement": (the_project, MANAGE, MANAGE),
    "about_me": (the_project, ANNOTATE, ANNOTATE),
    "fooling": (the_project, RELEASE, None),
    # Labels carry a pseudonym: an administrator who is no annotator has none to give.
    "annotate": (the_batch, ANNOTATE, ANNOTATE),
    "my_work": (nothing, EVERYBODY, None),
    "resume": (lambda t: [t.assignment.public_id], None, {"ada"}),
    "adjudication": (the_batch, {"ivo"}, {"ivo"}),
    "adjudicate": (lambda t: [t.item.public_id], {"ivo"}, {"ivo"}),
    "own_response": (lambda t: [t.item.public_id], {"ivo"}, {"ivo"}),
    "project_adjudication": (the_project, {"ivo"}, None),
    "reviews": (the_project, {"ivo", "mara"}, {"ivo", "mara"}),
    "review": (a_review, {"ivo", "mara"}, {"ivo", "mara"}),
    "task_types": (the_project, MANAGE, MANAGE),
    "study": (the_project, MANAGE, MANAGE),
    "study_templates": (the_project, MANAGE, MANAGE),
    "perturbations": (the_project, PROGRESS, MANAGE),
    "releases": (the_project, PROGRESS, RELEASE),
    "release": (lambda t: [t.release.public_id], PROGRESS, None),
    "download": (lambda t: [t.release.public_id], PROGRESS, None),
    "methods": (the_project, PROGRESS, None),
    "methods_file": (lambda t: [t.world.project.slug, "zip"], PROGRESS, None),
    "compare_releases": (lambda t: [t.release.public_id], PROGRESS, None),
    "release_robustness": (lambda t: [t.release.public_id], RELEASE, None),
    "release_methods": (lambda t: [t.release.public_id, "tex"], PROGRESS, None),
    "evaluations": (lambda t: [t.release.public_id], RELEASE, RELEASE),
    "evaluations_download": (lambda t: [t.release.public_id], RELEASE, None),
}


OPEN_BY_DESIGN = {
    "api/": "what is under no address of the interface: a 404 as problem+json, for everybody",
    "metrics": "figures for Prometheus: no names, no ids; behind METRICS_TOKEN or the loopback address (test_metrics.py)",
}
"""Addresses that have no row, and why: everybody gets the same there. Of those below admin/ the test takes every one."""
SENT = {
    "annotate": {"action": "undo"},
    "guidelines": {"action": "confirm"},
    "consent": {"action": "agree"},
}
"""What a page without a form of fields is sent: one of its buttons."""


# -- the REST interface -------------------------------------------------------------------------------

Call = tuple[Callable[[Things], list[Any]], Any, set[str], Permission | None]


def the_assignment(things: Things) -> list[Any]:
    return [things.assignment.public_id]


def an_edit(things: Things) -> list[Any]:
    """An item on Ada's desk at which a model looks along."""
    return [Assignment.objects.get(batch=_batch_of_edits(things)).public_id]


def _batch_of_edits(things: Things) -> Batch:
    batch = Batch.objects.filter(name="Edits").first()
    if batch is None:
        batch = things.world.batch("value_change", variant="answer_changes", name="Edits", size=1)
        things.world.take(batch, "ada")
    return batch


def a_member(things: Things) -> list[Any]:
    return [things.world.project.slug, things.member.pseudonym]


def a_gold_item(things: Things) -> list[Any]:
    """A gold item of another batch, which no annotator has had."""
    world = things.world
    batch = Batch.objects.filter(name="Gold").first() or world.batch(name="Gold", open=False)
    example = world.source.examples.all()[0]
    row = gold.set_gold(batch=batch, example=example, data={"label": "extraction"}, by=world.mara, now=NOON)
    return [batch.public_id, row.item.public_id]


def in_practice(things: Things) -> list[Any]:
    return [things.world.project.slug, "question_type"]


def _respond(things: Things) -> dict[str, Any]:
    return envelope(things.assignment, {"label": "extraction"})


API: dict[str, dict[str, Call]] = {
    "schema": {"get": (nothing, None, ANYBODY, None)},
    "api_projects": {
        "get": (nothing, None, EVERYBODY, None),
        "post": (nothing, {"slug": "new-one", "name": "New one"}, MANAGE | {"otto"}, Permission.SET_UP),
    },
    "api_study": {
        "get": (the_project, None, MANAGE, Permission.SET_UP),
        "post": (the_project, {"study": "study: 1"}, MANAGE, Permission.SET_UP),
    },
    "api_members": {
        "get": (the_project, None, MANAGE, Permission.INVITE),
        "post": (the_project, {"names": ["Dee"], "roles": ["annotator"]}, MANAGE, Permission.INVITE),
    },
    "api_member": {
        "patch": (a_member, {"roles": ["viewer"]}, MANAGE, Permission.INVITE),
        "delete": (a_member, {}, MANAGE, Permission.INVITE),
    },
    "api_events": {"get": (the_project, None, PROGRESS, Permission.SEE_PROGRESS)},
    "api_plan_batch": {
        "post": (
            the_project,
            lambda t: {
                "name": "Planned",
                "type": "question_type",
                "sources": [t.world.source.public_id],
            },
            MANAGE,
            Permission.SET_UP,
        )
    },
    "api_project_adjudication": {"get": (the_project, None, {"ivo"}, Permission.ADJUDICATE)},
    "api_agreement": {"get": (the_batch, None, PROGRESS, Permission.SEE_PROGRESS)},
    "api_gold": {
        "get": (the_batch, None, MANAGE, Permission.SET_UP),
        "post": (the_batch, {"example": "none", "response": {}}, MANAGE, Permission.SET_UP),
    },
    "api_gold_item": {"delete": (a_gold_item, {}, MANAGE, Permission.SET_UP)},
    "api_simulation": {"post": (the_batch, {"annotators": 1}, MANAGE, Permission.SET_UP)},
    "api_download": {"get": (lambda t: [t.release.public_id], None, PROGRESS, Permission.SEE_PROGRESS)},
    "api_batches": {"get": (nothing, None, EVERYBODY, None)},
    "api_task_types": {"get": (nothing, None, EVERYBODY, None)},
    "api_releases": {"get": (nothing, None, EVERYBODY, None)},
    "api_work_out": {"post": (lambda t: ["question_type"], {"question": {}}, EVERYBODY, None)},
    "api_project_task_types": {
        "get": (the_project, None, MANAGE, Permission.SET_UP),
        "post": (the_project, {"name": "Bad", "definition": {}}, MANAGE, Permission.SET_UP),
    },
    "api_practice": {
        "post": (in_practice, lambda t: {"number": 1, "variant": "", "response": _respond(t)}, MEMBERS, None)
    },
    "api_practice_predictions": {
        # A kind that knows no model has no such address for anybody.
        "post": (
            lambda t: [t.world.project.slug, "value_change"],
            {"number": 1, "variant": "answer_changes", "response": {}, "kind": "preview", "seq": 1},
            MEMBERS,
            None,
        )
    },
    "api_make_release": {
        "post": (the_project, {"name": "v2", "format": "askew"}, RELEASE, Permission.RELEASE)
    },
    "api_next": {"post": (the_batch, {"holding": []}, ANNOTATE, Permission.ANNOTATE)},
    "api_past_items": {"get": (the_batch, None, ANNOTATE, Permission.ANNOTATE)},
    "api_worked_examples": {"get": (the_batch, None, ANNOTATE, Permission.ANNOTATE)},
    "api_read_answers": {"post": (the_batch, {"answers": []}, ANNOTATE, Permission.ANNOTATE)},
    "api_session": {"get": (the_batch, None, ANNOTATE, Permission.ANNOTATE)},
    "api_past_response": {
        "get": (
            lambda t: [t.annotation.assignment.public_id],
            None,
            {"ada"},
            Permission.ANNOTATE,
        )
    },
    "api_adjudication": {"get": (the_batch, None, {"ivo"}, Permission.ADJUDICATE)},
    "api_draft": {
        "put": (
            the_assignment,
            lambda t: {"revision": 0, "response": _respond(t)},
            {"ada"},
            Permission.ANNOTATE,
        )
    },
    "api_submit": {
        "post": (the_assignment, lambda t: {"response": _respond(t)}, {"ada"}, Permission.ANNOTATE)
    },
    "api_skip": {"post": (the_assignment, {"reason": "torn"}, {"ada"}, Permission.ANNOTATE)},
    "api_ask": {"post": (the_assignment, {"text": "Why?"}, {"ada"}, Permission.ANNOTATE)},
    "api_try": {
        "post": (the_batch, lambda t: {"number": 1, "response": _respond(t)}, MANAGE, Permission.SET_UP)
    },
    "api_try_predictions": {
        "post": (
            lambda t: [_batch_of_edits(t).public_id],
            {"number": 1, "variant": "answer_changes", "response": {}, "kind": "preview", "seq": 1},
            MANAGE,
            Permission.SET_UP,
        )
    },
    "api_flag": {"post": (the_assignment, {"note": "odd"}, {"ada"}, Permission.ANNOTATE)},
    "api_return": {"post": (the_assignment, {}, {"ada"}, Permission.ANNOTATE)},
    "api_ping": {"post": (the_assignment, {}, {"ada"}, Permission.ANNOTATE)},
    "api_suggestions": {"get": (the_assignment, None, {"ada"}, Permission.ANNOTATE)},
    "api_proposals": {"post": (the_assignment, {}, {"ada"}, Permission.ANNOTATE)},
    "api_handle": {
        "post": (the_assignment, {"proposal": "nowhere", "state": "took"}, {"ada"}, Permission.ANNOTATE)
    },
    "api_predictions": {
        "post": (
            an_edit,
            {"response": {}, "kind": "preview", "seq": 1},
            {"ada"},
            Permission.ANNOTATE,
        )
    },
    "api_ticket": {"post": (an_edit, {}, {"ada"}, Permission.ANNOTATE)},
    "api_undo": {"post": (lambda t: [t.annotation.public_id], {}, {"ada"}, Permission.ANNOTATE)},
    "api_decide": {
        "post": (
            lambda t: [t.item.public_id],
            {"note": "because", "choose": ["A"]},
            {"ivo"},
            Permission.ADJUDICATE,
        )
    },
    "api_undo_decision": {
        "post": (lambda t: [t.item.public_id], {}, {"ivo"}, Permission.ADJUDICATE),
    },
    "api_send_back": {
        "post": (
            lambda t: [t.item.public_id],
            {"note": "look again", "choose": "A"},
            {"ivo"},
            Permission.ADJUDICATE,
        )
    },
    "api_batch_rule": {
        "get": (the_batch, None, MANAGE, Permission.SET_UP),
        "put": (the_batch, {"rule": {}}, MANAGE, Permission.SET_UP),
    },
    "api_model_answers": {
        "post": (
            the_project,
            lambda t: {"type": "value_change", "predictor": "none", "sources": [t.world.source.public_id]},
            MANAGE,
            Permission.SET_UP,
        )
    },
    "api_batch_state": {"post": (the_batch, {"action": "pause"}, MANAGE, Permission.SET_UP)},
    "api_batch_change": {"post": (the_batch, {"terms": {"overlap": 4}}, MANAGE, Permission.SET_UP)},
    "api_items": {"get": (the_project, None, PROGRESS, Permission.SEE_PROGRESS)},
    "api_sources": {"get": (the_project, None, PROGRESS, Permission.SEE_PROGRESS)},
    "api_batch_accounts": {"get": (the_batch, None, MANAGE, Permission.SET_UP)},
    "api_explain": {
        "get": (
            lambda t: [t.item.public_id],
            lambda t: {"annotator": Membership.objects.get(person=t.world.ada).pseudonym},
            MANAGE,
            Permission.SET_UP,
        )
    },
    "api_batch_shares": {
        "post": (
            the_batch,
            lambda t: {"annotator": Membership.objects.get(person=t.world.ada).pseudonym, "leases": True},
            MANAGE,
            Permission.SET_UP,
        )
    },
    "api_crowd_admission": {
        "post": (a_crowd_link, {"participants": ["ann"]}, MANAGE, Permission.INVITE),
    },
    "api_uploads": {
        "post": (the_project, {"name": "own.csv", "size": 3}, MANAGE, Permission.IMPORT),
    },
    "api_upload": {
        "get": (lambda t: [an_upload(t).public_id], None, MANAGE, Permission.IMPORT),
        "put": (lambda t: [an_upload(t).public_id], b"", MANAGE, Permission.IMPORT),
    },
    "api_imports": {
        "post": (the_project, lambda t: {"questions": an_upload(t).public_id}, MANAGE, Permission.IMPORT),
    },
    "api_import_responses": {
        "post": (
            the_project,
            lambda t: {"upload": an_upload(t).public_id, "tool": "label_studio"},
            MANAGE,
            Permission.IMPORT,
        ),
    },
    "api_import_labels": {
        "post": (the_batch, lambda t: {"upload": an_upload(t).public_id}, MANAGE, Permission.IMPORT),
    },
    "api_restore": {
        "post": (the_project, lambda t: {"release": an_upload(t).public_id}, MANAGE, Permission.IMPORT),
    },
    "api_job": {"get": (lambda t: [t.job.public_id], None, PROGRESS, Permission.SEE_PROGRESS)},
    "api_job_cancel": {"post": (a_refused_import, {}, MANAGE, Permission.IMPORT)},
}
