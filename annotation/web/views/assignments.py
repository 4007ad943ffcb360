"""The annotator's page. With scripts it talks to the API; without them this is a plain form, one item a page."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.accounts import work_sessions
from annotation.assistance import draft_checks, impressions, suggestions, visible_verdicts
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    CrowdEntry,
    Draft,
    PersonBatchCounts,
    Qualification,
)
from annotation.payments import earnings
from annotation.platform.refusals import ActionRefused
from annotation.quality import annotator_questions, guidelines, qualification
from annotation.queue import availability, entry_requirements, reservations
from annotation.web.views.pages import PageRequest, kind_title, page
from annotation.web.views.table_comparison import compare_inputs, drawable_operations
from annotation.web.views.tables import in_words, sheet
from annotation.workflow import assignments
from tableqa.operations import (
    InsertColumn,
    InsertRow,
    Operation,
    OperationError,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    normalise,
    replay,
)
from tasks.contract import InvalidResponse, Item, MakingTask, Problem, TaskType
from tasks.shared.error_classes import IN_SHORT

PLAIN = "plain_page"
"""In the session of a person whose browser has scripts and wants, or needs, the page that works without them."""
MOST_ROWS = 1_000
"""Rows up to which a table is written as HTML, too, where scripts paint it from the item's JSON. For a larger one the first
paint would wait for megabytes: people without scripts are led to the plain page, which has all of it."""


@page("GET", "POST")
def annotate(request: PageRequest, public_id: str) -> HttpResponse:
    """GET shows the next item (or the one named by ?assignment=), POST is the form of a browser without scripts."""
    actor = authorization.actor(request)
    try:
        batch = authorization.batch(actor, public_id, Permission.ANNOTATE)
    except Http404:
        if not authorization.has_worked_in(actor, public_id):
            raise
        messages.warning(request, authorization.not_a_member().detail)
        return redirect("my_work")
    if request.method == "POST":
        return _act(request, actor, batch)
    if "plain" in request.GET:
        request.session[PLAIN] = request.GET["plain"] == "1"
    now, refusal = timezone.now(), ""
    try:
        if assignment_id := request.GET.get("assignment"):
            assignment: Assignment | None = assignments.resume(
                assignment=authorization.assignment(actor, assignment_id), now=now
            )
        else:
            assignment = reservations.next_assignment(batch=batch, person=actor.person, now=now)
    except ActionRefused as refused:
        if page := refused.more.get("page"):
            messages.warning(request, refused.detail)
            return redirect(page)
        assignment, refusal = None, refused.detail
    if assignment is None:
        if (result := qualification.result(batch, actor.person)) is not None:
            return _result(request, batch, result)
        return _end_page(request, actor, batch, refusal)
    return _page(request, authorization.assignment(actor, assignment.public_id))


def _result(request: PageRequest, batch: Batch, result: Qualification) -> HttpResponse:
    """The end of a qualification: passed or not, and where the person continues."""
    opened = Batch.objects.filter(project=batch.project_id, opened_at__isnull=False, closed_at__isnull=True)
    running = list(opened.filter(paused_at__isnull=True).exclude(pk=batch.pk).order_by("opened_at", "pk"))
    items_left = availability.left_for(request.user, [other_batch.pk for other_batch in running])
    ahead = entry_requirements.qualifications_ahead(request.user, running)
    following = [
        other_batch for other_batch in running if items_left[other_batch.pk] and other_batch.pk not in ahead
    ]
    # What the qualification was for comes first.
    following.sort(key=lambda other_batch: other_batch.requires_id != batch.pk)
    asking = qualification.batches_requiring(batch)
    context = {
        "batch": batch,
        "result": result,
        "percent": entry_requirements.percent(result.right, result.judged),
        "following": following[0] if following else None,
        "planned": [other_batch for other_batch in asking if other_batch.state == "planned"],
        "asking": [other_batch for other_batch in asking if other_batch.closed_at is None],
        "from_crowd": CrowdEntry.objects.filter(person=request.user).exists(),
    }
    return render(request, "annotating/result.html", context)


def _end_page(request: PageRequest, actor: authorization.Actor, batch: Batch, refusal: str) -> HttpResponse:
    """The end of an ordinary batch, or why it has no item now: what the person did in it, and the batch that comes next."""
    now = timezone.now()
    own = earnings.shares_of_person(actor.person, [batch.project])
    following, items_left = _next_batch(actor, batch)
    context = {
        "batch": batch,
        "task": batch.task(),
        "progress": PersonBatchCounts.objects.filter(batch=batch, person=actor.person).first(),
        "total": earnings.sum_shares(share for share in own if share.batch.pk == batch.pk),
        "session": work_sessions.session(person=actor.person, projects=[batch.project], now=now),
        "checks": work_sessions.checks(batch, actor.person),
        "day": work_sessions.day(batch=batch, person=actor.person, now=now),
        "refusal": refusal,
        "following": following,
        "left": items_left,
        "following_task": kind_title(following) if following else "",
    }
    return render(request, "annotating/done.html", context)


def _next_batch(actor: authorization.Actor, done: Batch) -> tuple[Batch | None, int]:
    """An open batch with items for the person, with their number: one of the same project first, then one they began."""
    person, now = actor.person, timezone.now()
    opened = Batch.objects.filter(
        project__in=authorization.projects_with_permission(actor, Permission.ANNOTATE),
        opened_at__isnull=False,
    )
    running = list(
        opened.filter(closed_at__isnull=True, paused_at__isnull=True)
        .exclude(pk=done.pk)
        .select_related("project")
        .order_by("opened_at", "pk")
    )
    begun = set(
        PersonBatchCounts.objects.filter(person=person, submitted__gt=0).values_list("batch_id", flat=True)
    )
    running.sort(key=lambda batch: (batch.project_id != done.project_id, batch.pk not in begun))
    return availability.first_with_items(person, running, now=now)


@page("POST")
def resume(request: PageRequest, public_id: str) -> HttpResponse:
    """Open an item again: a draft whose lease ran out, or a submission that is withdrawn for it."""
    now = timezone.now()
    try:
        assignment = authorization.assignment(authorization.actor(request), public_id)
        if assignment.state == Assignment.State.SUBMITTED and assignment.annotation is not None:
            assignments.undo(annotation=assignment.annotation, now=now)
        else:
            assignments.resume(assignment=assignment, now=now)
    except ActionRefused as refused:
        messages.warning(request, refused.detail)
        return redirect(refused.more.get("page") or "my_work")
    return redirect(
        f"{reverse('annotate', args=[assignment.batch.public_id])}?assignment={assignment.public_id}"
    )


# -- the page ---------------------------------------------------------------------------------------


def _total(assignment: Assignment, submitted: int) -> int:
    """Items of the batch that the person has submitted or can still have: others and their own edits may be in it, too."""
    batch = assignment.batch_id
    return submitted + availability.left_for(assignment.person, [batch])[batch]


def _page(
    request: HttpRequest,
    assignment: Assignment,
    *,
    problems: Sequence[Problem] = (),
    data: Mapping[str, Any] | None = None,
    seen: visible_verdicts.VisibleVerdict | None = None,
    to_confirm: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    batch = assignment.batch
    task, item = batch.task(), assignment.plain_item
    posted_data, data = data, _draft_data(assignment) if data is None else data
    read = task.with_operations(data)
    operations = drawable_operations(task, read)
    plain = request.session.get(PLAIN, False)
    by_scripts = not plain and "table" in task.shows and len(item.example.table.rows) > MOST_ROWS

    def drawn(done: Sequence[Operation]) -> dict[str, Any] | None:
        if not by_scripts:
            return sheet(task, item, data, done)
        replay(item.example.table, done)  # to check whether they fit
        return None

    try:
        table = drawn(operations)
    except OperationError as error:
        problems, operations = [*problems, Problem("operations", error.code, str(error))], []
        table = drawn(operations)
    last = _last_annotation(batch, assignment.person_id)
    # A response is made under what its person had before them: the version of the day when the item was handed out.
    payload = assignments.payload(assignment)
    payload["progress"]["total"] = _total(assignment, payload["progress"]["submitted"])
    version = guidelines.version(batch.project_id, task.key, payload["guidelines"])
    draft: Draft | None = getattr(assignment, "draft", None)
    draft_response = draft.response if draft is not None and draft.revision else None
    if draft_response and posted_data is None:
        draft_response = {**draft_response, "data": read}
    context = {
        "batch": batch,
        "assignment": payload,
        "task": task,
        "item": item,
        "data": data,
        "unsure": "unsure" in request.POST
        if request.method == "POST"
        else bool(draft_response and draft_response.get("unsure")),
        "violations": problems,
        "to_confirm": to_confirm,
        "found": assignments.validate_draft(draft_response, task, item) if draft_response else None,
        "table": table if "table" in task.shows else None,
        "by_scripts": by_scripts,
        "compared": compare_inputs(task, item),
        "changes": in_words(item.example.table, operations[:MOST_ROWS] if by_scripts else operations),
        # A page without scripts asks for suggestions with a link; one with scripts asks the API once it is shown.
        "suggested": suggestions.suggestions(assignment) if "suggest" in request.GET else None,
        "seen": seen,
        "proposals": impressions.show_proposals(assignment=assignment, now=timezone.now())
        if batch.help
        else [],
        "errors": IN_SHORT,
        "last_annotation": last.public_id if last else "",
        "plain": plain,
        "checks": work_sessions.checks(batch, assignment.person) if batch.gold_feedback else None,
        "is_limited": any(name.endswith("_per_day") for name in (*batch.caps, *batch.project.caps)),
        "changed_guidelines": version.number if last and last.guidelines.number < version.number else None,
        "guidelines_html": guidelines.localized_html(version, task),
    }
    return render(request, "annotating/annotate.html", context, status=status)


def _draft_data(assignment: Assignment) -> dict[str, Any]:
    draft = getattr(assignment, "draft", None)
    data = draft.response.get("data") if draft is not None else None
    return dict(data) if isinstance(data, Mapping) else {}


def _last_annotation(batch: Batch, person_id: int) -> Annotation | None:
    last = (
        Assignment.objects.filter(batch=batch, person_id=person_id)
        .submitted()
        .select_related("annotation__guidelines")
        .order_by("-ended_at", "-pk")
        .first()
    )
    return last.annotation if last else None


# -- the form without scripts -----------------------------------------------------------------------


def _act(request: HttpRequest, actor: authorization.Actor, batch: Batch) -> HttpResponse:
    """One button was pressed. What was typed is always stored as the draft."""
    action = request.POST.get("action", "")
    now = timezone.now()
    here = reverse("annotate", args=[batch.public_id])
    try:
        if action == "undo":
            last = _last_annotation(batch, actor.person.pk)
            if last is None:
                messages.info(request, gettext("You have not submitted a response in this batch yet."))
                return redirect(here)
            with contextlib.suppress(ActionRefused, Http404):  # what is on the page may have ended elsewhere
                _edit(request, authorization.assignment(actor, request.POST.get("assignment", "")), "save")
            undone = assignments.undo(annotation=last, now=now)
            return redirect(f"{here}?assignment={undone.public_id}")
        assignment = authorization.assignment(actor, request.POST.get("assignment", ""))
        if action == "skip":
            reason = request.POST.get("skip_other", "").strip() or request.POST.get("skip_reason", "")
            assignments.skip(assignment=assignment, reason=reason, now=now)
            return redirect(here)
        return _edit(request, assignment, action)
    except ActionRefused as refused:
        messages.warning(request, refused.detail)
        return redirect(refused.more.get("page") or here)


def _version(request: HttpRequest, task: TaskType) -> int:
    """The version of the form that was sent, which may have changed since the page was loaded."""
    version = request.POST.get("version", "")
    return int(version) if version.isdecimal() and len(version) < 10 else task.version


def _edit(request: HttpRequest, assignment: Assignment, action: str) -> HttpResponse:
    task, item = assignment.batch.task(), assignment.plain_item
    now = timezone.now()
    data = task.form_data(request.POST, _draft_data(assignment))
    if action.startswith("take:"):
        proposals = impressions.show_proposals(assignment=assignment, now=now)
        data = next(
            (dict(proposal["data"]) for proposal in proposals if action == f"take:{proposal['id']}"), data
        )
    problems = edit_operations(task, item, data, request.POST, action)
    response = {
        **task.unparsed_envelope(data, item),
        "version": _version(request, task),
        "base": request.POST.get("base") or item.base,
        **({"unsure": True} if "unsure" in request.POST else {}),
    }
    if action != "submit":
        data = response["data"] = dict(task.fill_in(data, item))
    if action == "submit" and not problems:
        try:
            assignments.submit(
                assignment=assignment,
                response=response,
                now=now,
                scripts=False,
                confirmed=request.POST.getlist("confirmed"),
            )
            return redirect("annotate", assignment.batch.public_id)
        except InvalidResponse as invalid:
            problems.extend(invalid.problems)
        except ActionRefused as refused:
            if refused.code == "unmet_conditions":
                return _unmet_page(request, assignment, response, refused)
            unkept = _draft_refusal(assignment, response)
            if unkept is not None and unkept.code == "consent_needed":
                return _unsaved_page(request, assignment, data, unkept)
            raise
    if unkept := _draft_refusal(assignment, response):
        if unkept.code == "consent_needed":
            return _unsaved_page(request, assignment, data, unkept)
        raise unkept
    if acted := re.fullmatch(r"(take|reject):(\w{1,12})(?::(\w{1,40}))?", action):
        act = "took" if acted[1] == "take" else "rejected"
        wrong = [acted[3]] if acted[3] else []
        impressions.record_reaction(assignment=assignment, proposal=acted[2], act=act, errors=wrong, now=now)
    if action == "flag":
        assignments.flag(assignment=assignment, note=request.POST.get("flag_note", ""), now=now)
        messages.success(request, gettext("Note saved. You keep the item."))
    if action == "ask":
        question = request.POST.get("ask_text", "")
        annotator_questions.ask(
            project=assignment.batch.project,
            person=assignment.person,
            text=question,
            assignment=assignment,
            now=now,
        )
        messages.success(request, gettext("Question sent to the managers. You keep the item."))
    if action == "check" and task.predicts and not problems:
        current = authorization.assignment(authorization.actor(request), assignment.public_id)
        seen = draft_checks.check_draft(assignment=current, response=response, kind="try", seq=0, now=now)
        return _page(request, current, data=data, seen=seen)
    if not problems:
        return redirect(_after(action, assignment))
    fresh = authorization.assignment(authorization.actor(request), assignment.public_id)
    return _page(request, fresh, problems=problems, data=data, status=422)


def _after(action: str, assignment: Assignment) -> str:
    """The page that follows a saved draft: the person's earlier work or examples where they asked for it, else the item."""
    batch = assignment.batch.public_id
    if action == "examples":
        return reverse("worked_examples", args=[batch])
    if action == "history":
        return f"{reverse('my_work')}?batch={batch}"
    return f"{reverse('annotate', args=[batch])}?assignment={assignment.public_id}"


def _unmet_page(
    request: HttpRequest, assignment: Assignment, response: Mapping[str, Any], refused: ActionRefused
) -> HttpResponse:
    """The page with what is unmet; submitting again confirms it."""
    if unkept := _draft_refusal(assignment, response):
        raise unkept
    unmet = [Problem(**problem) for problem in refused.more["unmet"]]
    fresh = authorization.assignment(authorization.actor(request), assignment.public_id)
    return _page(request, fresh, problems=unmet, to_confirm=[problem.code for problem in unmet], status=422)


def _draft_refusal(assignment: Assignment, response: Mapping[str, Any]) -> ActionRefused | None:
    """Why what was typed cannot be kept; None where it is."""
    draft = getattr(assignment, "draft", None)
    try:
        assignments.save_draft(
            assignment=assignment,
            revision=draft.revision if draft else 0,
            response=response,
            now=timezone.now(),
            scripts=False,
        )
    except ActionRefused as refused:
        return refused
    return None


def _unsaved_page(
    request: HttpRequest, assignment: Assignment, data: Mapping[str, Any], refused: ActionRefused
) -> HttpResponse:
    """What was typed and may not be kept is still on the page, with the reason: it is lost only with the page."""
    return _page(
        request,
        assignment,
        problems=[Problem("", refused.code, refused.detail)],
        data=data,
        status=refused.status,
    )


def edit_operations(
    task: TaskType, item: Item, data: dict[str, Any], post: Mapping[str, str], action: str
) -> list[Problem]:
    """Do what a button of a page without scripts does to the operations in `data`. Returns what was wrong with it."""
    edit = EDITS.get(action) or (task.form_edits().get(action) if isinstance(task, MakingTask) else None)
    if edit is None or not task.operations_field:
        return []
    try:
        operations = edit(post, item, drawable_operations(task, data))
        data[task.operations_field] = [
            operation.to_dict() for operation in normalise(operations, item.example.table)
        ]
    except OperationError as error:
        return [Problem("operations", error.code, str(error))]
    return []


def _apply(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    table = replay(item.example.table, operations)
    row, column = post.get("row", ""), post.get("column", "")
    if row not in table.row_ids or column not in table.column_ids:
        raise OperationError("unknown_row", gettext("Choose a row and a column of the table."))
    base = item.example.table
    is_in_base = row in base.row_ids and column in base.column_ids
    at = (base.row_index(row), base.column_index(column)) if is_in_base else None
    new = post.get("value", "").replace("\r\n", "\n")
    return [*operations, SetCell(row=row, column=column, at=at, old=table.cell(row, column), new=new)]


def _remove_row(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    table = replay(item.example.table, operations)
    row = post.get("row", "")
    if row not in table.row_ids:
        raise OperationError("unknown_row", gettext("Choose a row of the table."))
    at = item.example.table.row_index(row) if row in item.example.table.row_ids else None
    return [*operations, RemoveRow(row=row, at=at, old=table.rows[table.row_index(row)])]


def _insert_row(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    table = replay(item.example.table, operations)
    after = post.get("row") if post.get("row") in table.row_ids else None
    used_ids = {*table.row_ids, *(getattr(operation, "row", "") for operation in operations)}
    name = next(name for name in (f"n{suffix}" for suffix in range(1, 10_000)) if name not in used_ids)
    at = table.row_index(after) + 1 if after else 0
    return [*operations, InsertRow(row=name, after=after, at=at, cells=("",) * len(table.header))]


def _put_row_back(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    base, table = item.example.table, replay(item.example.table, operations)
    row = post.get("row", "")
    if row not in base.row_ids or row in table.row_ids:
        raise OperationError("unknown_row", gettext("Choose a removed row."))
    cells = dict(zip(base.column_ids, base.rows[base.row_index(row)], strict=True))
    texts = tuple(cells.get(column, "") for column in table.column_ids)
    return [*operations, InsertRow(row=row, after=_before(row, base.row_ids, table.row_ids), cells=texts)]


def _remove_column(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    table = replay(item.example.table, operations)
    column = _column(post, table.column_ids)
    texts = (table.cell(table.header_id, column), *table.column(column))
    at = item.example.table.column_index(column) if column in item.example.table.column_ids else None
    return [*operations, RemoveColumn(column=column, at=at, old=texts)]


def _put_column_back(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    base, table = item.example.table, replay(item.example.table, operations)
    column = post.get("column", "")
    if column not in base.column_ids or column in table.column_ids:
        raise OperationError("unknown_column", gettext("Choose a removed column."))
    at = base.column_index(column)
    texts = dict(zip(base.row_ids, base.column(column), strict=True))
    back = InsertColumn(
        column=column,
        after=_before(column, base.column_ids, table.column_ids),
        header=base.header[at],
        cells=tuple(texts.get(row, "") for row in table.row_ids),
        above=tuple(line[at] for line in base.header_rows),
    )
    return [*operations, back]


def _rename_header(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    table = replay(item.example.table, operations)
    column = _column(post, table.column_ids)
    at = item.example.table.column_index(column) if column in item.example.table.column_ids else None
    old, new = table.cell(table.header_id, column), post.get("value", "").replace("\r\n", "\n")
    return [*operations, RenameHeader(column=column, at=at, old=old, new=new)]


def _column(post: Mapping[str, str], columns: Sequence[str]) -> str:
    column = post.get("column", "")
    if column not in columns:
        raise OperationError("unknown_column", gettext("Choose a column of the table."))
    return column


def _before(id: str, before: Sequence[str], after: Sequence[str]) -> str | None:
    """What was before it and is still there; None where it belongs in front."""
    return next(
        (earlier_id for earlier_id in reversed(before[: before.index(id)]) if earlier_id in after), None
    )


EDITS = {
    "apply": _apply,
    "remove_row": _remove_row,
    "put_row_back": _put_row_back,
    "insert_row": _insert_row,
    "remove_column": _remove_column,
    "put_column_back": _put_column_back,
    "rename_header": _rename_header,
    "restore": lambda post, item, operations: operations[:-1],
}
"""What the buttons of a page without scripts do to the operations of a draft."""
