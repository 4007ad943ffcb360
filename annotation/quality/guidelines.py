"""Guidelines with versions: what people read, confirm and see changed, and which version each annotation was made under."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Max
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from annotation.access import audit_log
from annotation.models import Annotation, Event, Guidelines, Membership, Person, Project, Reading
from annotation.platform.refusals import refuse, require_storable
from tasks.contract import TaskType

FROZEN, OPEN = "frozen", "open"
CONTEXT = 1
"""Lines that did not change which are shown before and behind a change."""


def current(project_id: int, task_type: str) -> Guidelines:
    """The newest version of a project's guidelines for a kind; every opened batch has one."""
    return Guidelines.objects.filter(project_id=project_id, task_type=task_type).latest("number")


def version(project_id: int, task_type: str, version_number: int) -> Guidelines:
    """One version of a project's guidelines for a kind."""
    return Guidelines.objects.get(project_id=project_id, task_type=task_type, number=version_number)


def ensure(*, project: Project, task: TaskType, now: datetime) -> Guidelines:
    """The newest version; where the project has none yet, version 1 is the text that comes with the kind."""
    latest = Guidelines.objects.filter(project=project, task_type=task.key).order_by("-number").first()
    first = {"text": task.guidelines(), "made_at": now}
    return (
        latest
        or Guidelines.objects.get_or_create(project=project, task_type=task.key, number=1, defaults=first)[0]
    )


def revise(
    *,
    project: Project,
    task: TaskType,
    text: str,
    person: Person,
    now: datetime,
    translations: Mapping[str, str] | None = None,
) -> Guidelines:
    """A new version, unless nothing changed. Earlier annotations keep the version they were made under.

    `translations` is the text in other languages, by their code; a new text without them has none.
    Raises ActionRefused(invalid_request) where the version there is was frozen.
    """
    require_storable(text, *(translations or {}).values())
    newest = ensure(project=project, task=task, now=now)
    if newest.text == text and (translations is None or dict(translations) == newest.translations):
        return newest
    if is_frozen(newest):
        refuse(
            "invalid_request",
            "Version {number} is frozen for this study. Unfreeze it before you change it.",
            number=newest.number,
        )
    written = {"text": text, "translations": dict(translations or {}), "made_by": person, "made_at": now}
    saved, is_new = Guidelines.objects.get_or_create(
        project=project, task_type=task.key, number=newest.number + 1, defaults=written
    )
    if is_new:
        return saved
    # Another manager was faster: this is the version after theirs.
    return revise(project=project, task=task, text=text, person=person, now=now, translations=translations)


def newest(project: Project, task: TaskType) -> Guidelines | None:
    """The newest version, None where the text that comes with the kind is read."""
    return Guidelines.objects.filter(project=project, task_type=task.key).order_by("-number").first()


@dataclass(frozen=True)
class LocalizedGuidelines:
    """A version as a person reads it: `language` is "" where it is the one that the text was written in.

    `lacking`: the reader has another language, and there is no text in it.
    """

    text: str
    language: str = ""
    lacking: bool = False


def localized_guidelines(version: Guidelines | None, task: TaskType) -> LocalizedGuidelines:
    """A version (None: the text that comes with the kind) in the language of the page, where there is one."""
    written = version.text if version else task.guidelines()
    here = get_language() or settings.LANGUAGE_CODE
    if here == settings.LANGUAGE_CODE:
        return LocalizedGuidelines(written)
    text = str(version.translations.get(here, "")) if version else ""
    if not text and (version is None or version.text == task.guidelines()):
        text = task.guidelines_in(here)
    return LocalizedGuidelines(text, here) if text else LocalizedGuidelines(written, lacking=True)


def localized_html(version: Guidelines | None, task: TaskType) -> SafeString:
    """The guidelines for a reader, as HTML, with a note first where their language is lacking."""
    guidelines_text = localized_guidelines(version, task)
    html = as_html(guidelines_text.text)
    if not guidelines_text.lacking:
        return html
    lacking = gettext("The guidelines are not available in your language. This is the original text.")
    written = settings.LANGUAGE_CODE.split("-")[0]
    return format_html('<p class="soft small">{}</p><div lang="{}">{}</div>', lacking, written, html)


def as_html(text: str) -> SafeString:
    """Markdown as HTML, its first headings at level 2 of the page that has them.

    HTML in the text is shown as text: guidelines are written by people, not trusted. The renderer escapes it.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if token.attrs.pop("style", "") == "text-align:right":  # of a column; pages allow no inline style
            token.attrSet("class", "n")
    return SafeString(markdown.renderer.render(tokens, markdown.options, {}))  # nosec


# -- reading ----------------------------------------------------------------------------------------


def require_reading(*, project: Project, required: bool, by: Person, now: datetime) -> None:
    """Whether people confirm the guidelines of a kind as read before their first item of it, and after a change."""
    with transaction.atomic():
        changed = Project.objects.filter(pk=project.pk, must_read=not required).update(must_read=required)
        if changed:
            audit_log.log(project, "", "must read" if required else "need not read", by=by, now=now)
    project.must_read = required


def confirm(*, guidelines: Guidelines, person: Person, now: datetime, language: str = "") -> Reading:
    """The person has read this version, in this language ("": as it was written).

    Raises ActionRefused(invalid_request) where a newer one was written meanwhile.
    """
    if current(guidelines.project_id, guidelines.task_type).pk != guidelines.pk:
        refuse("invalid_request", "A newer version was saved while you were reading. Read the new version.")
    try:
        with transaction.atomic():
            reading, is_new = Reading.objects.get_or_create(
                guidelines=guidelines, person=person, defaults={"read_at": now, "language": language}
            )
            if is_new:
                audit_log.log(reading, "", "read", by=person, now=now, project=guidelines.project_id)
    except IntegrityError:  # another tab of the same person was faster
        reading = Reading.objects.get(guidelines=guidelines, person=person)
    return reading


def last_read(project: Project, task_type: str, person: Person) -> Guidelines | None:
    """The newest version that the person has confirmed; None where they never did."""
    return (
        Guidelines.objects.filter(project=project, task_type=task_type, readings__person=person)
        .order_by("-number")
        .first()
    )


@dataclass(frozen=True)
class GuidelinesVersion:
    """A version, with how many annotations (revisions included) were made under it and how many people read it."""

    guidelines: Guidelines
    annotations: int
    readers: int


def versions(project: Project, task_type: str) -> list[GuidelinesVersion]:
    """Every version, the newest first, with what was made under it; in three queries."""
    guidelines = Guidelines.objects.filter(project=project, task_type=task_type).select_related("made_by")
    annotation_counts = _count_by_guidelines(
        Annotation.objects.filter(guidelines__in=guidelines).values_list("guidelines_id")
    )
    read = _count_by_guidelines(
        Reading.objects.filter(guidelines__in=guidelines).values_list("guidelines_id")
    )
    return [
        GuidelinesVersion(row, annotation_counts.get(row.pk, 0), read.get(row.pk, 0))
        for row in guidelines.order_by("-number")
    ]


@dataclass(frozen=True)
class Effect:
    """What a new version would do: how many annotations keep the old one, how many people are asked to read again."""

    annotations: int
    readers: int


def revision_effect(project: Project, task_type: str) -> Effect | None:
    """What writing a new version now would do; None where there is no version yet. In three queries."""
    newest = Guidelines.objects.filter(project=project, task_type=task_type).order_by("-number").first()
    if newest is None:
        return None
    members = Membership.objects.filter(project=project, removed_at__isnull=True).values("person")
    again = Reading.objects.filter(guidelines=newest, person__in=members).count() if project.must_read else 0
    return Effect(Annotation.objects.filter(guidelines=newest).count(), again)


# -- freezing ---------------------------------------------------------------------------------------


def is_frozen(guidelines: Guidelines) -> bool:
    """Whether the version was frozen and not released again: the log says so."""
    last = Event.objects.filter(thing="guidelines", thing_id=guidelines.pk).aggregate(last=Max("pk"))["last"]
    return last is not None and Event.objects.filter(pk=last, after=FROZEN).exists()


def freeze(*, guidelines: Guidelines, frozen: bool, by: Person, now: datetime) -> None:
    """No newer version can be written until this one is released (frozen=False). Idempotent.

    Raises ActionRefused(invalid_request) for a version that is not the newest.
    """
    if current(guidelines.project_id, guidelines.task_type).pk != guidelines.pk:
        refuse("invalid_request", "Only the current version can be frozen.")
    if is_frozen(guidelines) != frozen:
        audit_log.log(guidelines, OPEN if frozen else FROZEN, FROZEN if frozen else OPEN, by=by, now=now)


# -- what changed -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordSpan:
    """A stretch of a line: words that stayed, were added or were taken out."""

    text: str
    what: Literal["same", "added", "removed"]


@dataclass(frozen=True)
class Line:
    """A line of a comparison. A changed line holds its old and its new words one after the other."""

    what: Literal["same", "added", "removed", "changed", "gap"]
    words: tuple[WordSpan, ...] = ()


def diff_lines(before: str, after: str) -> list[Line]:
    """What differs between two texts, line by line and within a line word by word, with a line of context around it.

    Lines left out in between are one `gap`. Joining what was not added gives the old line back, joining what was not
    removed the new one.
    """
    old, new = before.splitlines(), after.splitlines()
    lines: list[Line] = []
    start = 0  # of the old lines, those that are in `lines` or were left out
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        lines += _unchanged_lines(old, start, i1, began=bool(lines))
        lines += _changed_lines(old[i1:i2], new[j1:j2])
        start = i2
    if not lines:
        return []
    behind = old[start : start + CONTEXT]
    lines += [_whole_line(line, "same") for line in behind]
    return [*lines, Line("gap")] if start + len(behind) < len(old) else lines


def _unchanged_lines(old: Sequence[str], start: int, until: int, *, began: bool) -> list[Line]:
    """What did not change since the last change: all of it where that is short, else its ends."""
    behind = CONTEXT if began else 0
    if until - start <= behind + CONTEXT:
        return [_whole_line(line, "same") for line in old[start:until]]
    head = [_whole_line(line, "same") for line in old[start : start + behind]]
    return [*head, Line("gap"), *(_whole_line(line, "same") for line in old[until - CONTEXT : until])]


def _changed_lines(old: Sequence[str], new: Sequence[str]) -> list[Line]:
    """Lines against lines: the nearest pairs word by word, in their order; the rest as taken out or added."""
    pairs: list[tuple[int, int]] = []
    at = 0
    for i, line in enumerate(old):
        tokens = _tokens(line)
        near = [
            (j, difflib.SequenceMatcher(None, tokens, _tokens(new[j]), autojunk=False).ratio())
            for j in range(at, len(new))
        ]
        best = max(near, key=lambda candidate: candidate[1], default=None)
        if best is not None and best[1] >= 0.5:
            pairs.append((i, best[0]))
            at = best[0] + 1
    lines, i, j = [], 0, 0
    for pair in [*pairs, (len(old), len(new))]:
        lines += [_whole_line(line, "removed") for line in old[i : pair[0]]]
        lines += [_whole_line(line, "added") for line in new[j : pair[1]]]
        if pair[0] < len(old):
            lines.append(Line("changed", tuple(_word_spans(old[pair[0]], new[pair[1]]))))
        i, j = pair[0] + 1, pair[1] + 1
    return lines


def _word_spans(old: str, new: str) -> list[WordSpan]:
    before, after = _tokens(old), _tokens(new)
    segments = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            segments.append(WordSpan("".join(before[i1:i2]), "same"))
            continue
        if i1 < i2:
            segments.append(WordSpan("".join(before[i1:i2]), "removed"))
        if j1 < j2:
            segments.append(WordSpan("".join(after[j1:j2]), "added"))
    return segments


def _tokens(line: str) -> list[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", line)


def _whole_line(line: str, what: Literal["same", "added", "removed"]) -> Line:
    return Line(what, (WordSpan(line, what),) if line else ())


def _count_by_guidelines(rows: object) -> dict[int, int]:
    return dict(rows.order_by().annotate(n=Count("pk")))  # type: ignore[attr-defined]  # a query of one column
