"""The quality of each annotator's work in a batch: pace, gold, agreement with others, reliability, and conspicuous patterns.

Managers read names, others pseudonyms.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation.access import authorization, visibility
from annotation.access.roles import Permission
from annotation.charts import paper_figures, study_figures, work_tables
from annotation.explorer.item_access import Reader
from annotation.explorer.links import complete_url, explorer_url
from annotation.explorer.selection import ANY, MOST_VALUES, SEPARATOR
from annotation.models import Batch
from annotation.platform import display_text
from annotation.quality import qualification, snapshots
from annotation.templatetags.explorer import reader_of
from annotation.web.views.figure_gallery import figure_gallery, pseudonyms
from annotation.web.views.pages import PageRequest, page
from annotation.web.views.reported_batches import gold_filter, names_of
from tableqa.quality_control.careless_responding import FEWEST, TOO_FEW, TOO_FEW_OF_OTHERS
from tableqa.statistics.median_intervals import FEWEST as FEWEST_FOR_MEDIAN
from tableqa.statistics.proportions import proportion

HABITS = {
    "too_fast": "Time",
    "sped_up": gettext_noop("Change of pace"),
    "always_the_same": gettext_noop("One label"),
    "copy_paste": gettext_noop("Repeated texts"),
}
NEEDED = {
    "too_fast": gettext_noop("At least {fewest} timed items of the person are needed."),
    "sped_up": gettext_noop("At least {fewest} timed items of the person are needed."),
    "always_the_same": gettext_noop(
        "At least {fewest} labels of the person and {fewest} of the others together are needed."
    ),
}
"""What must be there to say something of a habit. The time alone is compared with the least for the task type."""
UNLINKED = {"labelled": 0, "accuracy": None, "accuracy_ends": (None, None), "confusion": None}
"""The reliability of a person who shares too few items with others."""
LACKING = (TOO_FEW.code, TOO_FEW_OF_OTHERS.code)
"""Codes of the sentences that say of a habit that there is not enough data."""


@page("GET")
def quality(request: PageRequest, public_id: str) -> HttpResponse:
    """All who work on a batch: pace, gold, agreement with the others, reliability, and conspicuous patterns."""
    return render(request, "dashboards/quality.html", quality_of(request, public_id))


def quality_of(request: PageRequest, public_id: str, *, named: bool = True) -> dict[str, Any]:
    """The context of the page Quality. named: people by their names for people who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    batch = authorization.batch(actor, public_id, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, batch.project)
    sees = visibility.may_see_agreement(actor.person, batch)
    context: dict[str, Any] = {"batch": batch, "project": batch.project, "sees": sees, "why_not": ""}
    who = reader_of(request, batch.project)
    if not sees:
        return context
    if batch.pk in who.sight.without_people:
        return context | {"why_not": visibility.why_no_names()}
    parts = ("agreement", "quality", "learning")
    stored_snapshots = snapshots.views_of_batches([batch], parts, now=timezone.now())
    agreement, work, curve = (stored_snapshots[batch.pk, part].data for part in parts)
    first = agreement["measures"][0] if agreement is not None and agreement["measures"] else None
    people = _people(work, first, names_of(batch.project, may if named else frozenset()))
    member_pseudonyms = pseudonyms(batch.project)
    for position, row in enumerate(people, start=1):
        row["anchor"] = f"#person-{position}"
        pseudonym = member_pseudonyms.get(int(row["key"]), "")
        _add_links(who, batch, pseudonym, row, work["measure"] if work is not None else "")
        row["right"] = qualification.share_in_words(batch, row["gold"]) if row["gold"] else ""
    table = work_tables.people(
        people, _note_of_quality(first, any(row["accuracy"] is None for row in people))
    )
    charts = paper_figures.learning(curve) if curve is not None else []
    if first is not None:
        without_gold = gold_filter([batch], leads=Permission.SET_UP in may)
        labels = paper_figures.label_distribution(
            first,
            curve["decided"] if curve else None,
            lambda label: _address_of_label(who, batch, first["name"], label, without_gold),
            lambda ids: _address_of_items(batch, ids),
        )
        charts = [*([labels] if labels is not None else []), *charts]
    snapshot = stored_snapshots[batch.pk, "quality"]
    context |= {"shown": snapshot, "people": people, "table": table, "charts": charts}
    context["lacking"] = lacking_habits(people)
    confusions = [row["confusion"] for row in people]
    return context | figure_gallery(request, "quality", public_id, [table, *charts, *confusions])


def _add_links(who: Reader, batch: Batch, pseudonym: str, row: dict[str, Any], measure: str) -> None:
    """Add to a person's row the addresses of their responses, also with a label of a habit, and of the items that they
    skipped for each reason. Readers of the page may know who answered which item.
    """
    by = {"person": pseudonym} if pseudonym else {}
    row["items_address"] = complete_url(who, batch=batch, **by)
    row["skipped_address"] = complete_url(who, batch=batch, **by, skipped=ANY)
    for habit in row["habits"]:
        habit["number"] = len(habit.get("items", []))
        habit["address"] = _address_of_items(batch, habit.get("items", []))
        label = f"{measure}{SEPARATOR}{habit['label']}" if by and measure and habit.get("label") else ""
        habit["label_address"] = complete_url(who, batch=batch, **by, label=label) if label else ""
    under_review = {item for habit in row["raised"] for item in habit.get("items", [])}
    row["review"] = len(under_review) or len(row["raised"])
    row["review_address"] = _address_of_items(batch, sorted(under_review)) or row["anchor"]
    row["skips"] = [
        (reason, times, complete_url(who, batch=batch, **by, skipped=reason or ANY))
        for reason, times in row["skips"]
    ]


def _address_of_items(batch: Batch, items: Sequence[str]) -> str:
    """The address of these items; "" for none, and for more than a selection can name."""
    return explorer_url(batch.project, batch=batch, item=list(items)) if 0 < len(items) <= MOST_VALUES else ""


def _address_of_label(
    who: Reader, batch: Batch, measure: str, label: str, without_gold: dict[str, str] | None
) -> str:
    """The address of the items to which a person gave this label; "" where the explorer would list others."""
    if not label or without_gold is None:
        return ""
    return complete_url(who, batch=batch, label=f"{measure}{SEPARATOR}{label}", **without_gold)


def _note_of_quality(measure: dict[str, Any] | None, has_unlinked: bool) -> str:
    """What has to be known to read the table of people."""
    statistic = ""
    if measure is not None:
        statistic = f"{display_text.measure(measure['name'])}, {display_text.statistic(measure['statistic'])}"
    sentences = [
        gettext(
            "Seconds per item: median of active time. Gold accuracy: share of gold items answered correctly."
        ),
        gettext(
            "If times differ, seconds per item has an interval from {fewest} timed items on, items per hour from 2 on."
        ).format(fewest=FEWEST_FOR_MEDIAN),
        gettext(
            "Agreement with others: {statistic} over all pairs with a response of another annotator. Interval: "
            "bootstrap over items."
        ).format(statistic=statistic)
        if statistic
        else "",
        gettext(
            "Reliability: probability that the next label is correct, estimated with the Dawid-Skene model. It cannot "
            "detect mistakes that all annotators share. Its interval takes the estimated labels as known. "
            "Intervals: 95 %."
        ),
        gettext(
            "No reliability is shown for annotators with too few shared items: the model needs three annotators who "
            "share items."
        )
        if has_unlinked
        else "",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _lacks_data(habit: Mapping[str, Any]) -> bool:
    return getattr(habit["sentence"], "code", "") in LACKING


def lacking_habits(people: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What the page says once of habits without enough data: name, what is needed, and people with how much they have."""
    lines: dict[str, list[str]] = {}
    for row in people:
        for habit in filter(_lacks_data, row["all_habits"]):
            sentence = habit["sentence"]
            whose = gettext("{name} (n = {n})")
            if sentence.code == TOO_FEW_OF_OTHERS.code:
                whose = gettext("{name} (others: n = {n})")
            person = whose.format(name=row["name"], n=sentence.values["items"])
            lines.setdefault(habit["kind"], []).append(person)
    return [
        {
            "name": gettext(HABITS[kind]),
            "needed": gettext(NEEDED[kind]).format(fewest=FEWEST),
            "people": ", ".join(whose),
        }
        for kind, whose in lines.items()
    ]


def _people(
    work: dict[str, Any] | None, measure: dict[str, Any] | None, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """All people's figures for the table, by name; their reliability and agreement on the first measure."""
    if work is None:
        return []
    agreement = {entry["person"]: entry for entry in measure["people"]} if measure is not None else {}
    reliability = work["reliability"][0] if work["reliability"] else {"people": {}, "labels": []}
    labels = [display_text.show(label) for label in reliability["labels"]]
    rows = []
    # The page is ordered by name and files are by pseudonym: in both, a figure has the same number.
    for person_number, key in enumerate(sorted(work["people"], key=int), start=1):
        entry, name = work["people"][key], study_figures.person_name(names, key)
        with_others = agreement.get(key)
        person = reliability["people"].get(key)
        habits = [{**habit, "name": gettext(HABITS[habit["kind"]])} for habit in entry["habits"]]
        row = {
            **entry,
            "key": key,
            "name": name,
            "hourly": 3600 * entry["timed"] / entry["seconds"] if entry["seconds"] else None,
            "gold": proportion(*entry["gold"]) if entry["gold"] else None,
            "agreement": None,
            "habits": [habit for habit in habits if not _lacks_data(habit)],
            "all_habits": habits,
            "raised": [habit for habit in habits if habit["raised"]],
            **UNLINKED,
        }
        if measure is not None and with_others:
            row["agreement"] = study_figures.estimate(with_others, measure["statistic"], with_others["items"])
        if person:
            row |= {
                "labelled": person["labels"],
                "accuracy": person["accuracy"],
                "accuracy_ends": (person.get("low"), person.get("high")),
            }
            if person["confusion"]:
                row["confusion"] = work_tables.confusion(
                    person_number, name, labels, person["confusion"], person["seen"]
                )
        rows.append(row)
    return sorted(rows, key=lambda row: (row["name"].casefold(), row["name"]))
