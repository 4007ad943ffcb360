"""The quality of each annotator's work in a batch: pace, gold, agreement with others, reliability, and what stands out.

Managers read names, everybody else pseudonyms.
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
from annotation.charts.figure import Figure
from annotation.explorer.links import (
    complete_url,
    explorer_url,
)
from annotation.explorer.querysets import Reader
from annotation.explorer.selection import ANY, MOST_VALUES, SEPARATOR
from annotation.models import Batch, Membership
from annotation.platform import display_text
from annotation.quality import qualification, snapshots
from annotation.templatetags.explorer import reader_of
from annotation.web.views.figure_gallery import figure_gallery
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
LACKING = (TOO_FEW.code, TOO_FEW_OF_OTHERS.code)
"""Codes of the sentences that say of a habit that there is not enough data."""


@page("GET")
def quality(request: PageRequest, public_id: str) -> HttpResponse:
    """Everybody who works on a batch: pace, gold, agreement with the others, reliability, and what stands out."""
    return render(request, "dashboards/quality.html", quality_of(request, public_id))


def quality_of(request: PageRequest, public_id: str, *, named: bool = True) -> dict[str, Any]:
    """The context of the page Quality. named: people by their names for those who may read them, else pseudonyms."""
    actor = authorization.actor(request)
    batch = authorization.batch(actor, public_id, Permission.SEE_PROGRESS)
    may = authorization.permissions_in(actor, batch.project)
    sees = visibility.may_see_agreement(actor.person, batch)
    context: dict[str, Any] = {
        "batch": batch,
        "project": batch.project,
        "sees": sees,
        "why_not": "",
        "named": Permission.SET_UP in may,
    }
    who = reader_of(request, batch.project)
    if sees and batch.pk in who.sight.without_people:
        context["why_not"] = visibility.why_no_names()
    elif sees:
        stored_snapshots = snapshots.views_of_batches(
            [batch], ("agreement", "quality", "learning"), now=timezone.now()
        )
        agreement_snapshot, quality_snapshot = (
            stored_snapshots[batch.pk, "agreement"],
            stored_snapshots[batch.pk, "quality"],
        )
        people = _people(
            quality_snapshot.data,
            agreement_snapshot.data,
            names_of(batch.project, may if named else frozenset()),
        )
        rows = Membership.objects.filter(project=batch.project)
        pseudonyms = dict(rows.values_list("person_id", "pseudonym"))
        # The page is ordered by name and files are by pseudonym: in both, a figure has the same number.
        keys = sorted((row["key"] for row in people), key=int)
        numbers = {key: number for number, key in enumerate(keys, start=1)}
        for number, row in enumerate(people, start=1):
            row["anchor"] = f"#person-{number}"
            pseudonym = pseudonyms.get(int(row["key"]), "")
            _link_items(who, batch, pseudonym, row)
            _link_labels(
                who,
                batch,
                pseudonym,
                row,
                quality_snapshot.data["measure"] if quality_snapshot.data is not None else "",
            )
            row["right"] = qualification.share_in_words(batch, row["gold"]) if row["gold"] else ""
            row["confusion"] = _confusion(numbers[row["key"]], row)
        note = _note_of_quality(
            _first_statistic(agreement_snapshot.data), any(row["accuracy"] is None for row in people)
        )
        table = work_tables.people(people, note)
        without_gold = gold_filter([batch], leads=Permission.SET_UP in may)
        curve = stored_snapshots[batch.pk, "learning"].data
        curves = paper_figures.learning(curve) if curve is not None else []
        measures = agreement_snapshot.data["measures"] if agreement_snapshot.data is not None else []
        labels = (
            paper_figures.label_distribution(
                measures[0],
                curve["decided"] if curve else None,
                lambda label: _address_of_label(who, batch, measures[0]["name"], label, without_gold),
                lambda ids: _address_of_items(batch, ids),
            )
            if measures
            else None
        )
        curves = [*([labels] if labels is not None else []), *curves]
        context |= {"shown": quality_snapshot, "people": people, "table": table, "charts": curves}
        context["lacking"] = lacking_habits(people)
        confusions = [row["confusion"] for row in people]
        context |= figure_gallery(request, "quality", public_id, [table, *curves, *confusions])
    return context


def _confusion(number: int, row: Mapping[str, Any]) -> Figure | None:
    """The estimated label confusion of a person; None where there is none."""
    if not row["confusion"]:
        return None
    return work_tables.confusion(number, row["name"], row["labels"], row["confusion"], row["seen"])


def _link_items(who: Reader, batch: Batch, pseudonym: str, row: dict[str, Any]) -> None:
    """Add to a person's row the addresses of their responses, and of the items that they skipped for each reason.

    Whoever reads the page may know who answered which item.
    """
    by = {"person": pseudonym} if pseudonym else {}
    row["items_address"] = complete_url(who, batch=batch, **by)
    row["skipped_address"] = complete_url(who, batch=batch, **by, skipped=ANY)
    for habit in row["habits"]:
        habit["number"] = len(habit.get("items", []))
        habit["address"] = _address_of_items(batch, habit.get("items", []))
    under_review = {item for habit in row["raised"] for item in habit.get("items", [])}
    row["review"] = len(under_review) or len(row["raised"])
    row["review_address"] = _address_of_items(batch, sorted(under_review)) or row["anchor"]
    row["skips"] = [
        (reason, times, complete_url(who, batch=batch, **by, skipped=reason or ANY))
        for reason, times in row["skips"]
    ]


def _link_labels(who: Reader, batch: Batch, pseudonym: str, row: dict[str, Any], measure: str) -> None:
    """Add to each habit that is about a label the address of the person's responses with it."""
    for habit in row["habits"]:
        label = habit.get("label", "")
        chosen = f"{measure}{SEPARATOR}{label}"
        is_listed = pseudonym and measure and label
        habit["label_address"] = (
            complete_url(who, batch=batch, person=pseudonym, label=chosen) if is_listed else ""
        )


def _address_of_items(batch: Batch, items: Sequence[str]) -> str:
    """The address of these items; "" for none, and for more than a selection can name."""
    return explorer_url(batch.project, batch=batch, item=list(items)) if 0 < len(items) <= MOST_VALUES else ""


def _address_of_label(
    who: Reader, batch: Batch, measure: str, label: str, without_gold: dict[str, str] | None
) -> str:
    """The address of the items to which somebody gave this label; "" where the explorer would list others."""
    if not label or without_gold is None:
        return ""
    return complete_url(who, batch=batch, label=f"{measure}{SEPARATOR}{label}", **without_gold)


def _note_of_quality(statistic: str, has_unlinked: bool) -> str:
    """What has to be known to read the table of people."""
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


def _first_statistic(agreement_data: dict[str, Any] | None) -> str:
    if agreement_data is None or not agreement_data["measures"]:
        return ""
    first = agreement_data["measures"][0]
    return f"{display_text.measure(first['name'])}, {display_text.statistic(first['statistic'])}"


def _people(
    quality_data: dict[str, Any] | None, agreement_data: dict[str, Any] | None, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Everybody's figures for the table, by name; their reliability and agreement on the first measure."""
    if quality_data is None:
        return []
    agreeing = {
        entry["person"]: entry
        for entry in (
            agreement_data["measures"][0]["people"]
            if agreement_data is not None and agreement_data["measures"]
            else ()
        )
    }
    reliable = quality_data["reliability"][0] if quality_data["reliability"] else None
    rows = []
    for key, entry in quality_data["people"].items():
        with_others = agreeing.get(key)
        person = reliable["people"].get(key) if reliable is not None else None
        habits = [{**habit, "name": gettext(HABITS[habit["kind"]])} for habit in entry["habits"]]
        rows.append(
            {
                **entry,
                "key": key,
                "name": study_figures.person_name(names, key),
                "hourly": 3600 * entry["timed"] / entry["seconds"] if entry["seconds"] else None,
                "gold": proportion(*entry["gold"]) if entry["gold"] else None,
                "agreement": study_figures.estimate(
                    with_others, agreement_data["measures"][0]["statistic"], with_others["items"]
                )
                if with_others and agreement_data is not None
                else None,
                "labelled": person["labels"] if person else 0,
                "habits": [habit for habit in habits if not _lacks_data(habit)],
                "all_habits": habits,
                "raised": [habit for habit in habits if habit["raised"]],
                "accuracy": person["accuracy"] if person else None,
                "accuracy_ends": (person.get("low"), person.get("high")) if person else (None, None),
                "labels": list(map(display_text.shown, reliable["labels"]))
                if reliable is not None and person
                else [],
                "confusion": person["confusion"] if person else [],
                "seen": person["seen"] if person else [],
            }
        )
    return sorted(rows, key=lambda row: (row["name"].casefold(), row["name"]))
