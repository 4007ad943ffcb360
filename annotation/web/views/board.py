"""The board of a project for templates: buttons with addresses, the picture of its flow, and the same as rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.access.roles import Permission
from annotation.charts import flow_diagram, list_tables
from annotation.charts.figure import Figure
from annotation.explorer.links import explorer_url, url_of_batches
from annotation.explorer.selection import MOST_VALUES, STATES
from annotation.models import Batch, PerturbationRun, Project, Release, Source
from annotation.platform.display_text import grouped, show
from annotation.templatetags.explorer import linked
from annotation.web.board import flow, needs
from annotation.web.board.facts import Board
from annotation.web.board.needs import Need
from annotation.web.board.stages import Blockage, Counts, Stage, root_blockages
from annotation.web.views.pages import kind_title

RELEASES: Final = "releases"
BLOCKED_SHOWN: Final = 3
"""Reasons in words on the board; the picture and the table have all."""


@dataclass(frozen=True)
class Button:
    """A need as a link: what it says, where it leads."""

    words: str
    address: str


def context(board: Board, project: Project) -> dict[str, Any]:
    """What needs the person, what is blocked, and how far the project is."""
    waiting, first = board.needs, board.primary
    buttons = [_button(need, project, board) for need in waiting if need != first]
    reasons = root_blockages(board.blockages)
    counts = board.state.counts
    return {
        "first": _button(first, project, board),
        "is_urgent": first.is_urgent,
        "is_quiet": not first.is_urgent,
        "waits_for_others": not first.is_urgent and first in waiting,
        "asks_for_batch": any(need.kind == "batch" for need in waiting),
        "buttons": buttons,
        "blocked": [
            {
                "name": blockage.stage.name,
                "address": _batch_address(blockage.stage),
                "sentence": blockage.sentence,
            }
            for blockage in reasons[:BLOCKED_SHOWN]
        ],
        "more_blocked": max(0, len(reasons) - BLOCKED_SHOWN),
        "table_address": _table_of_batches(project),
        "is_partly_counted": any(not stage.decides for stage in board.state.stages),
        "counts": counts,
        **_addresses(board, project),
        "percent": 100 * counts.decided // counts.items if counts.items else 0,
        "responses": _responses(board, project),
        "people": {"number": board.people, "link": linked(board.people, _people(board, project))},
    }


def _addresses(board: Board, project: Project) -> dict[str, str]:
    """Where the numbers of items lead to; "" where the explorer would list others.

    It has the gold items for people who must not know the gold.
    """
    counts, seen = board.state.counts, _counted_batches(board)
    knows_gold = Permission.SET_UP in board.state.may
    return {
        "accepted_address": _of_batches(board, project, seen, state="accepted") if counts.accepted else "",
        "items_address": _of_batches(board, project, seen, state=list(STATES))
        if counts.items and knows_gold
        else "",
    }


def _counted_batches(board: Board) -> list[Batch]:
    """The batches that the numbers of a project count: those that decide, as far as the person sees their counts."""
    keys = {stage.key for stage in board.state.stages if stage.decides and stage.counts is not None}
    return [batch for batch in board.batches if batch.pk in keys]


def _of_batches(board: Board, project: Project, batches: Sequence[Batch], **filters: str | list[str]) -> str:
    """The address of these items in these batches; "" where fewer are listed, and for more than a selection takes."""
    if any(batch.pk in board.unlisted for batch in batches):
        return ""
    if len(batches) == len(board.batches):
        return explorer_url(project, batch=None, **filters)
    return url_of_batches(project, batches, **filters) if len(batches) <= MOST_VALUES else ""


def _people(board: Board, project: Project) -> str:
    """Where the people of a project are; "" for people who may not see them."""
    return reverse("people", args=[project.slug]) if Permission.INVITE in board.state.may else ""


def _table_of_batches(project: Project, ready: str = "") -> str:
    """The table of batches; with `ready`, of those that are ready for this action (`READY`)."""
    query = urlencode({"table": "", **({"ready": ready} if ready else {})})
    return f"{reverse('project', args=[project.slug])}?{query}#batches"


READY: Final = {"open": "open", "close": "close", "paused": "resume"}
"""The actions on several batches, by the need that they meet."""


def ready_for(board: Board, action: str) -> set[int]:
    """The batches (keys) that are ready for an action on several."""
    need = next((kind for kind, name in READY.items() if name == action), "")
    return {stage.key for stage in needs.ready(board.state, need)}


def _button(need: Need, project: Project, board: Board) -> Button:
    return Button(needs.label(need), _address(need, project, board))


def why_empty(board: Board, batch: Batch) -> dict[str, str] | None:
    """Why a batch has no items yet, with the batch that it waits for; None where it waits for none."""
    blockage = board.blockages.get(batch.pk)
    if blockage is None or blockage.cause.key == batch.pk:
        return None
    return {
        "sentence": blockage.sentence,
        "name": blockage.cause.name,
        "address": _batch_address(blockage.cause),
    }


def _address(need: Need, project: Project, board: Board) -> str:
    """Where a need is met; where it is about several batches, the table that has them."""
    batch = need.stage.public_id if need.stage is not None else ""
    if need.kind in needs.FAILED:
        kind = next(kind for kind in board.jobs if needs.JOBS.get(kind, "failed_job") == need.kind)
        return reverse("job", args=[board.jobs[kind]])
    if need.kind == "adjudication":
        return _of_batches(board, project, board.batches, state="adjudication") or _table_of_batches(project)
    if need.kind in OF_A_BATCH:
        if batch:
            return reverse(OF_A_BATCH[need.kind], args=[batch])
        return _table_of_batches(project, READY.get(need.kind, ""))
    members = (
        "#members" if need.kind == "adjudicators" else ""
    )  # each with a link to their roles, the reader among them
    return reverse(OF_THE_PROJECT[need.kind], args=[project.slug]) + members


OF_A_BATCH: Final = {
    "open": "open_batch",
    "close": "close_batch",
    "paused": "batch",
    "gold": "gold",
}
OF_THE_PROJECT: Final = {
    "import": "import_new",
    "items": "explorer",
    "sources": "sources",
    "adjudicate": "project_adjudication",
    "questions": "inquiries",
    "batch": "batch_new",
    "annotators": "people",
    "adjudicators": "people",
    "unchecked": "releases",
    "release": "releases",
}


def _batch_address(stage: Stage) -> str:
    return reverse("batch", args=[stage.public_id])


def _responses(board: Board, project: Project) -> dict[str, Any]:
    """Submitted responses and slots, with the addresses of their items; of the batches that the dashboard counts."""
    seen = _counted_batches(board)
    counts = [board.progress[batch.pk] for batch in seen]
    totals = {name: sum(of_batch[name] for of_batch in counts) for name in ("submitted", "places")}
    knows_gold = all(_knows_gold(board, of_batch) for of_batch in counts)
    return {
        **totals,
        "address": _of_batches(board, project, seen, answered="yes") if totals["submitted"] else "",
        "places_address": _of_batches(board, project, seen, assignment="planned")
        if totals["places"] and knows_gold
        else "",
    }


# -- rows of the table and of the list ---------------------------------------------------------------


def rows(board: Board, project: Project) -> list[dict[str, Any]]:
    """Every batch, the newest first; `counts` is None where they are hidden, `blocked` is "" where it is not."""
    stages = {stage.key: stage for stage in board.state.stages}
    names = {batch.pk: batch for batch in board.batches}
    reasons = board.blockages
    return [
        {
            "batch": batch,
            "title": kind_title(batch),
            "stage": stages.get(batch.pk),
            "counts": None if batch.pk in board.hidden else board.progress[batch.pk],
            "items": _link_to_all(board, project, batch, "items", state=list(STATES)),
            "places": _link_to_all(board, project, batch, "places", assignment="planned"),
            "takes_from": names.get(batch.feeds_from_id) if batch.feeds_from_id is not None else None,
            "blocked": reasons[batch.pk].sentence if batch.pk in reasons else "",
        }
        for batch in board.batches
    ]


def table(board: Board, project: Project) -> Figure | None:
    """All rows of the table as a figure."""
    return list_tables.flow(rows(board, project))


def _link_to_all(
    board: Board, project: Project, batch: Batch, counted: str, **filters: str | list[str]
) -> SafeString | str:
    """The number of items or slots of a batch, as a link to them where the explorer lists the same; "" where hidden."""
    number = board.progress[batch.pk][counted]
    if batch.pk in board.hidden:
        return ""
    address = explorer_url(project, batch=batch, **filters) if _lists_all(board, batch.pk) else ""
    return linked(number, address)


def _lists_all(board: Board, key: int) -> bool:
    """Whether the explorer lists all items of a batch, and no others, to the person."""
    return key not in board.unlisted and _knows_gold(board, board.progress[key])


def _knows_gold(board: Board, counts: Mapping[str, int]) -> bool:
    """Whether the person may know all gold items of a batch with these counts."""
    return not counts["gold"] or Permission.SET_UP in board.state.may


# -- the picture -------------------------------------------------------------------------------------


def picture(board: Board, project: Project) -> dict[str, Any]:
    """The flow as SVG, as the same in a list for phones, and how many batches are left out."""
    batches, reasons = board.state.stages, board.blockages
    if not batches:
        return {"svg": "", "legend": [], "list": [], "left_out": 0}
    automatic = _automatic(board, project)
    stages = [*batches, *(step.stage for step in automatic.values())]
    layout = flow.arrange(stages, reasons)
    drawn = sorted(
        (stage for stage in stages if stage.key in layout.rows),
        key=lambda stage: (layout.rows[stage.key], layout.columns[stage.key]),
    )
    origins, leaves = _origins(layout, project), list(flow.ends(stages, layout))
    boxes = [
        _box_of_step(automatic[stage.key], layout)
        if stage.key in automatic
        else _box(board, stage, layout, reasons.get(stage.key), project)
        for stage in drawn
    ]
    bars = list(origins)
    if leaves:
        bars.append(_releases(project, [layout.rows[stage.key] for stage in leaves]))
    of_batches = [stage for stage in drawn if stage.key not in automatic]
    arrows = [
        *_inflows(of_batches, layout, origins, board, project),
        *(step.arrow() for key, step in automatic.items() if key in layout.rows),
        *(_outflow(board, stage, project) for stage in leaves if stage.key not in automatic),
        *(automatic[stage.key].outflow() for stage in leaves if stage.key in automatic),
    ]
    title = gettext("Flow of {project}").format(project=project.name)
    svg: SafeString = flow_diagram.draw("flow", title, bars, boxes, arrows)
    by_key = {batch.pk: batch for batch in board.batches}
    as_list = [
        {
            "stage": stage,
            "batch": by_key.get(stage.key),
            "takes_from": by_key.get(stage.takes_from or 0),
            "blocked": reasons.get(stage.key),
            "step": automatic.get(stage.key),
        }
        for stage in drawn
    ]
    left_out = sum(stage.key not in layout.rows for stage in batches)
    return {"svg": svg, "legend": _legend(boxes), "list": as_list, "left_out": left_out}


@dataclass(frozen=True)
class Step:
    """Automatic perturbations of what a batch accepts: a stage of the picture behind it. Its key is that of no batch."""

    stage: Stage
    examples: int
    address: str

    @property
    def words(self) -> str:
        text = ngettext("{number} example", "{number} examples", self.examples)
        return text.format(number=grouped(self.examples))

    def arrow(self) -> flow_diagram.Arrow:
        return flow_diagram.Arrow(str(self.stage.takes_from), str(self.stage.key))

    def outflow(self) -> flow_diagram.Arrow:
        return flow_diagram.Arrow(str(self.stage.key), RELEASES, self.words, address=self.address)


def _automatic(board: Board, project: Project) -> dict[int, Step]:
    """The automatic perturbations of what batches accept, by the key of their stage."""
    seen = {stage.key: stage for stage in board.state.stages if stage.counts is not None}
    runs = PerturbationRun.objects.filter(project=project, feeds_from__in=list(seen))
    examples: Counter[int] = Counter()
    for key, counts in runs.values_list("feeds_from", "counts"):
        if key is not None:
            examples[key] += sum(of_kind["made"] for of_kind in counts.values())
    address = reverse("perturbations", args=[project.slug])
    return {-key: Step(_stage_behind(seen[key]), count, address) for key, count in sorted(examples.items())}


def _stage_behind(stage: Stage) -> Stage:
    name = gettext("Automatic perturbations")
    return Stage(key=-stage.key, public_id="", name=name, title=name, state=stage.state, takes_from=stage.key)


def _box_of_step(step: Step, layout: flow.Flow) -> flow_diagram.Box:
    key = step.stage.key
    return flow_diagram.Box(
        name=str(key),
        column=layout.columns[key],
        row=layout.rows[key],
        title=step.stage.name,
        line=step.words,
        address=step.address,
        description=f"{step.stage.name}. {step.words}",
        kind=step.stage.state,
    )


def _origins(layout: flow.Flow, project: Project) -> list[flow_diagram.End]:
    ids = {public_id for sources, _, _ in layout.origins for public_id in sources}
    names = dict(Source.objects.filter(public_id__in=ids).values_list("public_id", "name")) if ids else {}
    bars = []
    for sources, first, last in layout.origins:
        source_ids = [public_id for public_id in sources if public_id in names]
        if not source_ids:
            continue
        title = ", ".join(names[public_id] for public_id in source_ids[:2])
        if len(source_ids) > 2:
            title = gettext("{number} sources").format(number=len(source_ids))
        address = (
            reverse("source", args=source_ids)
            if len(source_ids) == 1
            else reverse("sources", args=[project.slug])
        )
        bars.append(flow_diagram.End(f"from-{first}", first, last, title, gettext("Source"), address, True))
    return bars


def _releases(project: Project, rows: list[int]) -> flow_diagram.End:
    ready = Release.objects.filter(project=project, ready_at__isnull=False).order_by("-ready_at", "-pk")
    latest = ready.values_list("name", flat=True).first()
    line = gettext("Latest: {name}").format(name=latest) if latest else gettext("None yet")
    address = reverse("releases", args=[project.slug])
    return flow_diagram.End(RELEASES, min(rows), max(rows), gettext("Releases"), line, address, False)


def _items(board: Board, project: Project, stage: Stage, state: str, **filters: str) -> str:
    """The address of the items of a batch in this state; "" where fewer are listed."""
    if stage.key in board.unlisted:
        return ""
    return explorer_url(project, batch=Batch(public_id=stage.public_id), state=state, **filters)


def _box(
    board: Board, stage: Stage, layout: flow.Flow, blockage: Blockage | None, project: Project
) -> flow_diagram.Box:
    counts = stage.counts
    return flow_diagram.Box(
        name=str(stage.key),
        column=layout.columns[stage.key],
        row=layout.rows[stage.key],
        title=stage.name,
        line=_line(stage),
        address=reverse("batch", args=[stage.public_id]),
        description=_description(stage, blockage),
        alert=blockage.brief if blockage is not None else "",
        parts=tuple(_parts(counts)) if counts is not None and counts.items else (),
        drop=_excluded_in_words(counts),
        drop_address=_items(board, project, stage, "excluded"),
        kind=stage.state,
    )


def _line(stage: Stage) -> str:
    """How far a batch is, in a few words; its state where it is not simply open."""
    parts = [show(stage.state) if stage.state != "open" else "", _progress_in_words(stage)]
    return " · ".join(filter(None, parts)) or show(stage.state)


def _progress_in_words(stage: Stage) -> str:
    counts = stage.counts
    if counts is None:
        return gettext("counts hidden")
    if not counts.items:
        return ""
    if not stage.decides:
        return gettext("{number} of {items} complete").format(
            number=grouped(counts.complete), items=grouped(counts.items)
        )
    return gettext("{number} of {items} decided").format(
        number=grouped(counts.decided), items=grouped(counts.items)
    )


def _description(stage: Stage, blockage: Blockage | None) -> str:
    """A box in words, for screen readers."""
    parts = (stage.name, show(stage.state), _progress_in_words(stage), blockage.sentence if blockage else "")
    return ". ".join(part.removesuffix(".") for part in parts if part)


LEGEND = {
    "accepted": gettext_lazy("accepted"),
    "excluded": gettext_lazy("excluded"),
    "adjudication": gettext_lazy("to adjudicate"),
    "complete": gettext_lazy("all responses submitted"),
    "in-progress": gettext_lazy("in progress"),
}
"""The colours of the bar of a batch, in words."""


def _legend(boxes: Iterable[flow_diagram.Box]) -> list[tuple[str, Any]]:
    drawn = {kind for box in boxes for kind, share in box.parts if share}
    return [(kind, text) for kind, text in LEGEND.items() if kind in drawn]


def _parts(counts: Counts) -> Iterator[tuple[str, float]]:
    for kind in ("accepted", "excluded", "adjudication", "complete", "in_progress"):
        yield kind.replace("_", "-"), getattr(counts, kind) / counts.items


def _excluded_in_words(counts: Counts | None) -> str:
    if counts is None or not counts.excluded:
        return ""
    return gettext("{number} excluded").format(number=grouped(counts.excluded))


def _inflows(
    drawn: list[Stage], layout: flow.Flow, origins: list[flow_diagram.End], board: Board, project: Project
) -> Iterator[flow_diagram.Arrow]:
    """The arrows into batches: from sources, from the batch that it takes items from, from its qualification."""
    keys = {stage.key: stage for stage in drawn}
    for stage in drawn:
        row, upstream = layout.rows[stage.key], keys.get(stage.takes_from or 0)
        origin = next((bar for bar in origins if bar.first <= row <= bar.last), None)
        if upstream is not None:
            above = gettext("{number} accepted") if stage.counts else ""
            # The items that the batch took: others were accepted, too, where a filter or a sample selects them.
            address = _address_of_items(board, project, stage)
            yield _inflow(board, str(upstream.key), stage, above, project, address)
        elif origin is not None:
            items = stage.counts.items if stage.counts else 0
            text = ngettext("{number} item", "{number} items", items)
            yield _inflow(board, origin.name, stage, text if stage.counts else "", project)
        if (required := keys.get(stage.requires or 0)) is not None:
            passed = ngettext("{number} passed", "{number} passed", required.passed)
            yield flow_diagram.Arrow(
                str(required.key),
                str(stage.key),
                passed.format(number=grouped(required.passed)),
                is_dashed=True,
            )


def _address_of_items(board: Board, project: Project, stage: Stage) -> str:
    """The address of all items of a batch; "" where the explorer would list others."""
    if stage.counts is None or not stage.counts.items or not _lists_all(board, stage.key):
        return ""
    batch = Batch(public_id=stage.public_id)
    return explorer_url(project, batch=batch, state=list(STATES))


def _inflow(
    board: Board, start: str, stage: Stage, above: str, project: Project, address: str = ""
) -> flow_diagram.Arrow:
    counts = stage.counts or Counts()
    below = (
        (gettext("{number} waiting"), counts.waiting, "no"),
        (gettext("{number} in progress"), counts.in_progress, "yes"),
    )
    return flow_diagram.Arrow(
        start,
        str(stage.key),
        above.format(number=grouped(counts.items)),
        tuple(
            (text.format(number=grouped(count)), _items(board, project, stage, "open", in_progress=value))
            for text, count, value in below
            if count
        ),
        address,
    )


def _outflow(board: Board, stage: Stage, project: Project) -> flow_diagram.Arrow:
    text = gettext("{number} accepted") if stage.counts is not None else ""
    accepted = stage.counts.accepted if stage.counts is not None else 0
    address = _items(board, project, stage, "accepted") if accepted else ""
    return flow_diagram.Arrow(
        str(stage.key), RELEASES, text.format(number=grouped(accepted)), address=address
    )
