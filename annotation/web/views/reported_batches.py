"""The batches that pages of figures are about, the names of people on them, and filters of their links."""

from collections.abc import Sequence

from annotation.access.roles import Permission
from annotation.explorer.item_access import Reader
from annotation.models import Batch, Item, Membership, PersonBatchCounts, Project
from annotation.quality import compared_responses, rating_tallies
from tasks.contract import Measure


def opened_batches(who: Reader) -> tuple[list[Batch], list[Batch]]:
    """The project's batches of work, newest first, that were opened: those that the reader may look into, and the others."""
    project, hidden = who.project, who.hidden
    counted = compared_responses.counted_batches(
        Batch.objects.filter(project=project, opened_at__isnull=False)
    )
    shown_and_hidden: tuple[list[Batch], list[Batch]] = ([], [])
    for batch in counted.select_related("definition").order_by("-opened_at", "-pk"):
        if batch.installed_task() is not None:
            batch.project = project
            shown_and_hidden[batch.pk in hidden].append(batch)
    return shown_and_hidden


def compared_measures(batch: Batch) -> Sequence[Measure]:
    """The measures of agreement of a batch; none without comparisons."""
    return rating_tallies.measures_of(batch.task(), batch.people_compared)


def started_batches(batches: Sequence[Batch]) -> set[int]:
    """Those of the batches (ids) in which anything was submitted, skipped or returned: of the others nothing can be said."""
    person_counts = PersonBatchCounts.objects.filter(batch__in=batches).exclude(
        submitted=0, skipped=0, returned=0
    )
    return set(person_counts.values_list("batch_id", flat=True).distinct())


def names_of(project: Project, may: frozenset[Permission]) -> dict[str, str]:
    """What people are called on a page, by their keys: by name for managers, by pseudonym for others."""
    columns = ("person_id", "pseudonym", "person__name", "person__is_simulated")
    rows = Membership.objects.filter(project=project).values_list(*columns)
    if Permission.SET_UP not in may:
        return {str(key): pseudonym for key, pseudonym, _, _ in rows}
    mark = " (simulated)"
    return {
        str(key): f"{name.removesuffix(mark)}{mark}" if simulated else name
        for key, _, name, simulated in rows
    }


def gold_filter(batches: Sequence[Batch], *, leads: bool) -> dict[str, str] | None:
    """The filter that leaves gold items out, {} where there are none; None where the reader may not know which they are."""
    if not Item.objects.filter(batch__in=batches, is_gold=True).exists():
        return {}
    return {"gold": "no"} if leads else None
