"""The explorer: the items of a project or a batch with what people said of them, filtered, and one of them in detail."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import authorization
from annotation.access.roles import Permission
from annotation.accounts.item_history import Names
from annotation.explorer import (
    export,
    index,
    item_access,
    querysets,
    result_counts,
    result_pages,
    saved_views,
)
from annotation.explorer.item_access import Reader
from annotation.explorer.links import list_url, with_query
from annotation.explorer.rows import Row, items_to_decide, rows
from annotation.explorer.selection import MOST_SAMPLED, STATES, BadSelection, Selection, parse, query
from annotation.models import Batch, Gold, Item, Project
from annotation.platform.keyset import chunks
from annotation.platform.refusals import ActionRefused
from annotation.quality import compared_responses
from annotation.queue import candidates
from annotation.web.views import filters
from annotation.web.views.item_actions import address_of, menu
from annotation.web.views.pages import ROWS, PageRequest, kind_title, page
from annotation.web.views.saved_views import REFUSED_VIEW
from annotation.web.views.table_comparison import contrast_table, for_scripts, thumbnail, variants_of
from annotation.web.views.tables import pointed_at
from tableqa.data.own_columns import column_text
from tableqa.operations import OperationError

OPEN = "open"
"""Query parameter: the item that is shown beside the list."""
FACET = "facet"
"""Query parameter: the own column whose values are counted."""
FORMAT = "format"
"""Query parameter: the format of an export."""
SAMPLED = 20
"""Items of a random sample, unless another number is entered."""
SMALL_RESPONSES = 4
"""Responses to an item that a line of the list shows."""


@page("GET")
def explorer(request: PageRequest, slug: str = "", public_id: str = "") -> HttpResponse:
    """The items of a project, or of a batch: the same page with this batch as a filter that stays."""
    return _explorer_page(request, *_project_and_batch(request, slug, public_id))


@page("GET")
def explorer_facets(request: PageRequest, slug: str = "", public_id: str = "") -> HttpResponse:
    """How many items of the selection have each state, label, …; or each value of an own column (?facet=)."""
    project, batch = _project_and_batch(request, slug, public_id)
    actor = authorization.actor(request)
    who = item_access.reader(actor, project)
    index.refresh(project, now=timezone.now())
    address = address_of(project, batch)
    try:
        written = chosen = parse(_params(request), ignore=(OPEN, FACET))
        if batch is not None:
            chosen = chosen.of_batch(batch.public_id)
        if name := request.GET.get(FACET):
            context = {"column": filters.column(who, chosen, name, address, batch=batch)}
            return render(request, "explorer/_column.html", context)
        facets = filters.facets(who, chosen, Names(actor, project), address, batch=batch)
    except BadSelection as bad:
        return HttpResponse(" ".join(bad.problems), status=400, content_type="text/plain")
    columns = filters.columns(who, f"{address}facets/", query(written.without("after", "before")))
    return render(request, "explorer/_facets.html", {"facets": facets, "columns": columns})


@page("GET")
def explorer_item(request: PageRequest, public_id: str) -> HttpResponse:
    """One item in detail, for beside the list."""
    actor = authorization.actor(request)
    item = authorization.item(actor, public_id, Permission.SEE_PROGRESS)
    who = item_access.reader(actor, item.batch.project)
    context = {"detail": _detail(request, who, item), "project": item.batch.project, "batch": None}
    return render(request, "explorer/_detail.html", context)


@page("GET")
def explorer_export(request: PageRequest, slug: str) -> HttpResponse | FileResponse:
    """The responses of a selection as a file (?format=, ?batch=)."""
    actor = authorization.actor(request)
    project = authorization.project(actor, slug, Permission.SEE_PROGRESS)
    who = item_access.reader(actor, project)
    index.refresh(project, now=timezone.now())
    address = reverse("explorer", args=[project.slug])
    try:
        chosen = parse(_params(request), ignore=(OPEN, FORMAT))
        records = export.records(who, chosen)
        write, media_type = export.FORMATS[request.GET.get(FORMAT, "csv")]
    except (BadSelection, KeyError, ActionRefused) as bad:
        why = [gettext("There is no such format.")] if isinstance(bad, KeyError) else _why(bad)
        context = {"project": project, "batch": None, "address": address, "chosen": Selection()}
        return render(request, "explorer/explorer.html", {**context, "problems": why}, status=400)
    file = write(_read_records(request, records), export.columns(who))
    file.seek(0)
    name = f"{project.slug}-items.{request.GET.get(FORMAT, 'csv')}"
    return FileResponse(file, as_attachment=True, filename=name, content_type=media_type)


def _why(bad: BadSelection | ActionRefused) -> list[str]:
    return [bad.detail] if isinstance(bad, ActionRefused) else list(bad.problems)


def _read_records(
    request: PageRequest, rows_with_records: Iterator[tuple[Row, list[export.Record]]]
) -> Iterator[export.Record]:
    """The records; that their responses were read is noted."""
    for some in chunks(rows_with_records, export.PAGE):
        _note_reading(request, [row for row, _ in some])
        for _, several in some:
            yield from several


def _project_and_batch(request: PageRequest, slug: str, public_id: str) -> tuple[Project, Batch | None]:
    """The project with this slug, or the batch with this id and its project."""
    actor = authorization.actor(request)
    if not public_id:
        return authorization.project(actor, slug, Permission.SEE_PROGRESS), None
    batch = authorization.batch(actor, public_id, Permission.SEE_PROGRESS)
    return batch.project, batch


def _explorer_page(request: PageRequest, project: Project, batch: Batch | None) -> HttpResponse:
    sent = dict(request.GET.lists())
    if (
        params := filters.normalised_params(sent)
    ) != sent:  # a form sends what is empty: the address names what is chosen
        return redirect(with_query(request.path, urlencode(params, doseq=True)))
    actor, now = authorization.actor(request), timezone.now()
    who = item_access.reader(actor, project)
    is_behind = index.refresh(project, now=now)
    address = address_of(project, batch)
    context: dict[str, Any] = {"project": project, "batch": batch, "address": address, "is_behind": is_behind}
    context |= {"reader": who, "refused_view": request.session.pop(REFUSED_VIEW, None), "problems": ()}
    try:
        chosen = parse(_params(request), ignore=(OPEN,))
        if batch is not None:
            chosen = chosen.of_batch(batch.public_id)
        page_of_keys = result_pages.page(who, chosen, ROWS)
        count = result_counts.count_up_to_limit(querysets.matching(who, chosen))
    except BadSelection as bad:
        context |= {"problems": bad.problems, "chosen": Selection()}
        return render(request, "explorer/explorer.html", context, status=400)
    names = Names(actor, project)
    listed_rows = rows(who, page_of_keys.keys)
    _note_reading(request, listed_rows)
    written = chosen if batch is None else replace(chosen, batches=())
    columns = list(dict.fromkeys([*(name for name, _ in chosen.columns), chosen.sort_column]))
    opened = _open_item(request, who)
    selected = query(chosen.without("after", "before"))
    export_address = reverse("explorer_export", args=[project.slug])
    context |= {
        "chosen": chosen,
        "lines": [_line(row, names, address, query(written), columns) for row in listed_rows],
        "number": count,
        "counted": filters.counts_in_words(who, chosen, count),
        "many": count > result_counts.MOST_COUNTED,
        "most": result_counts.MOST_COUNTED,
        "random": list_url(
            address, replace(written, sample=written.sample or SAMPLED, seed=_next_seed(written))
        ),
        "combinations": filters.combinations(written, address),
        "chips": filters.chips(who, written, names, address),
        "form": filters.form(who, written, names, batch),
        "previous": list_url(address, written, before=listed_rows[0].item.public_id)
        if listed_rows and page_of_keys.has_previous
        else "",
        "next": list_url(address, written, after=listed_rows[-1].item.public_id)
        if listed_rows and page_of_keys.has_next
        else "",
        "detail": _detail(request, who, opened) if opened is not None else None,
        "views": _views(who, selected),
        "view_query": selected,
        "hidden": any(key in who.hidden for key in _keys(who, chosen)),
        "judges": who.judges,
        "actions": menu(actor, project),
        "query": query(written),
        "facets_address": with_query(f"{address}facets/", query(written.without("after", "before"))),
        "formats": [(name, with_query(export_address, selected, format=name)) for name in export.FORMATS],
    }
    return render(request, "explorer/explorer.html", context)


def _next_seed(chosen: Selection) -> int | None:
    """The seed of another random sample; None for a first one."""
    return (chosen.seed or 1) % MOST_SAMPLED + 1 if chosen.sample else None


def _views(who: Reader, current_query: str) -> dict[str, Any]:
    """The saved views, and those of them that the reader may delete. `current`: the one whose selection is shown."""
    address = reverse("explorer", args=[who.project.slug])
    views = list(saved_views.visible_views(who))
    deletable = set(saved_views.deletable(who).values_list("pk", flat=True)) if views else set()
    return {
        "listed": [(view, with_query(address, view.query), view.query == current_query) for view in views],
        "deletable": [view for view in views if view.pk in deletable],
        "longest": saved_views.LONGEST_NAME,
    }


def _params(request: PageRequest) -> dict[str, list[str]]:
    """The query parameters, without those that a form leaves empty."""
    return {
        name: filled
        for name, values in request.GET.lists()
        if (filled := [value for value in values if value])
    }


def _keys(who: Reader, chosen: Selection) -> list[int]:
    return [
        key for key, batch in who.batches.items() if not chosen.batches or batch.public_id in chosen.batches
    ]


def _note_reading(request: PageRequest, listed_rows: Sequence[Row]) -> None:
    """People who read responses to an item here never get it as an annotator."""
    if read := items_to_decide(listed_rows):
        candidates.record_reading(read, by=request.user, now=timezone.now())


def _line(row: Row, names: Names, address: str, chosen: str, columns: Sequence[str]) -> dict[str, Any]:
    """A row with what is drawn of it: the changed cells, the responses under names, and its values in own columns."""
    submitted = [response for response in row.responses if response.state == "submitted"]
    return {
        "row": row,
        "item": row.item,
        "kind": kind_title(row.item.batch),
        "state": STATES.get(row.state, ""),
        "address": with_query(address, chosen, **{OPEN: row.item.public_id}),
        "thumbnail": _thumbnail(row),
        "responses": [
            (response.letter or names(response.person), response)
            for response in row.responses[:SMALL_RESPONSES]
        ],
        "values": [
            (filters.column_title(name), value)
            for name in columns
            if (value := column_text(row.item.example.more.get("meta"), name))
        ],
        "more": max(len(row.responses) - SMALL_RESPONSES, 0),
        "seconds": sum(response.seconds for response in submitted),
        "at": max((response.at for response in row.responses if response.at), default=None),
    }


def _thumbnail(row: Row) -> dict[str, Any] | None:
    if row.task is None or row.plain is None or row.task.operations_field is None:
        return None
    letters = candidates.letters(len(row.responses))
    variants = variants_of(letters, row.task, [response.data for response in row.responses])
    try:
        return thumbnail(row.plain.example.table, variants)
    except OperationError:  # of a response from elsewhere
        return None


# -- one item ---------------------------------------------------------------------------------------


def _open_item(request: PageRequest, who: Reader) -> Item | None:
    """The item that is shown beside the list, where there is one."""
    public_id = request.GET.get(OPEN, "").replace("\0", "")
    if not public_id:
        return None
    return (
        Item.objects.filter(batch__in=who.listed, public_id=public_id)
        .select_related("batch__project")
        .first()
    )


def _detail(request: PageRequest, who: Reader, item: Item) -> dict[str, Any]:
    """What is shown of one item beside the list: its question, all responses in one table, and what was decided."""
    names = Names(who.actor, who.project)
    row = next(iter(rows(who, [item.pk])))
    _note_reading(request, [row])
    letters = candidates.letters(len(row.responses))
    decision = getattr(row.item, "decision", None) if row.is_readable else None
    gold = Gold.objects.filter(item=item).first() if row.is_gold else None
    contrast = _contrast(row, letters)
    hidden_names = letters if contrast["contrast"] is None else [""] * len(letters)
    return {
        "row": row,
        "item": row.item,
        "judges": who.judges,
        "invites": Permission.INVITE in who.acts,
        "kind": kind_title(row.item.batch),
        "state": STATES.get(row.state, ""),
        **contrast,
        "said": [
            (letter, hidden if entry.letter else names(entry.person), entry)
            for letter, hidden, entry in zip(letters, hidden_names, row.responses, strict=True)
        ],
        "decision": decision,
        "by": names(decision.made_by_id) if decision is not None else "",
        "gold": _words(row, gold.expected) if gold is not None else [],
        "outcomes": [
            line for entry in decision.outcomes.order_by("number") for line in _words(row, entry.response)
        ]
        if decision is not None
        else [],
    }


def _words(row: Row, response: Mapping[str, Any]) -> list[str]:
    if row.task is None or row.plain is None:
        return []
    return list(row.task.describe(compared_responses.restore_response(row.task, dict(response)), row.plain))


def _contrast(row: Row, letters: Sequence[str]) -> dict[str, Any]:
    """`contrast`, the table with what each response did to it (as given where none changed it), and `comparison`,
    the same for scripts.
    """
    if row.task is None or row.plain is None or "table" not in row.task.shows:
        return {"contrast": None, "comparison": None}
    table, pointed = row.plain.example.table, pointed_at(row.task, row.plain)
    did = variants_of(letters, row.task, [response.data for response in row.responses])
    try:
        contrast = contrast_table(table, did, pointed=pointed, whole=12)
    except OperationError:
        contrast = None
    return {
        "contrast": contrast,
        "comparison": for_scripts(table, did, pointed=pointed) if contrast is not None else None,
    }
