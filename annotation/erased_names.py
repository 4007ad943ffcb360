"""Names of people in texts and JSON: how they are looked for, and what erasing writes in their place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, Final
from unicodedata import east_asian_width
from urllib.parse import unquote_plus

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Cast

from annotation import immutable, inventory
from annotation.models import (
    IndexedItem,
    Invitation,
    Person,
    SavedView,
    SearchIndex,
    Snapshot,
    StagedAnnotator,
)

NAME: Final = "Erased person"
COLUMNS: Final = ("name", "email", "crowd_entry__external_id", "crowd_entry__session_id")
"""What names a person, by the way from the person."""
_NOT_PLAIN: Final = re.compile(r"(?i:[^a-z0-9.@_]|ss)+", re.ASCII)
_ALIKE: Final = {"(?i:ß|ss)": "(?:ß|ss)", "['’]": "['’]", r"\\?[-‐‑]": "[-‐‑]"}
"""How the same name is typed: escaped text of it -> what is looked for."""
_BEGIN: Final = r"(?<![^\W_])(?<![^\W_]_)(?<![^\W_]__)"
_END: Final = r"(?!_*[^\W_])"
"""Where a word begins and ends: underscores around it are emphasis in Markdown, and within it part of a word of the code."""
_OF_PEOPLE: Final = re.compile("people|person|annotator")
_CODES: Final = ("what", "currency")
"""Keys whose values are code wherever they stand: pay is worked out from them."""
_KEY_OF_CODE: Final = re.compile(r"[a-z]+(_[a-z]+)*")
LONG: Final = 6
"""Ids of a platform that are shorter are looked for if they have letters and digits: others are words of any text."""


class Names:
    """The names of people as words of their own: in any letter case, space and Unicode normal form."""

    def __init__(self, *people: Iterable[str | None]) -> None:
        """`people`: of each the values of `COLUMNS`."""
        self.words = [word for person in people for word in _words(*person)]
        forms = sorted({unicodedata.normalize(form, word) for word in self.words for form in ("NFC", "NFD")})
        self.pattern = re.compile("|".join(map(_pattern_of, forms)) or r"(?!)", re.IGNORECASE)

    def named(self, field: str) -> Q:
        """Texts that may hold a name; `pattern` is exact.

        The query asks for the longest part that every database compares in the same way, and that JSON writes as it is.
        """
        named = Q()
        for word in self.words:
            plain = _NOT_PLAIN.split(unicodedata.normalize("NFC", word))
            named |= Q(**{f"{field}__icontains": max(plain, key=len)})
        return named

    def replace(self, rows: QuerySet[Any], field: str, by: str | None = None) -> None:
        """Replace the names in a column of text or JSON of these rows; with `by`, replace the whole text."""
        longest = getattr(rows.model._meta.get_field(field), "max_length", None)
        rows = rows.annotate(as_text=Cast(field, models.TextField()))
        for key, value in list(rows.filter(self.named("as_text")).values_list("pk", field)):
            changed = self.without(value) if by is None or not self.pattern.search(value) else by
            if changed != value:
                changed = changed[:longest] if isinstance(changed, str) else changed
                rows.model._default_manager.filter(pk=key).update(**{field: changed})

    def without(self, value: Any, *, of_people: bool = False) -> Any:
        """A JSON value with the names replaced in its texts and keys.

        A key that is a plain word, such as "to", is one of the code, unless the object has a key for each person.
        """
        if isinstance(value, str):
            return self.pattern.sub(NAME, value) if self.pattern.search(value) else value
        if isinstance(value, list):
            return [self.without(member) for member in value]
        if isinstance(value, dict):
            return {
                key if _KEY_OF_CODE.fullmatch(key) and not of_people else self.without(key): self.without(
                    member, of_people=bool(_OF_PEOPLE.search(key))
                )
                if key not in _CODES
                else member
                for key, member in value.items()
            }
        return value

    def take_out_of(self, projects: Iterable[int]) -> None:
        """Replace the names in all that people of these projects wrote for one another, wherever it can be changed.

        Invitations that nobody has accepted name whom they are for: of any project, for nobody else may know of them.
        """
        if not self.words:
            return
        self.replace(Invitation.objects.all(), "name", by="")
        with immutable.writable():
            for column, path in inventory.REPLACED.items():
                table, field = column.split(".")
                rows = inventory.model_of(table)._default_manager.all()
                self.replace(rows.filter(**{f"{path}__in": projects}) if path else rows, field)
        staged = StagedAnnotator.objects.filter(label_import__batch__project__in=projects)
        for annotator in staged.select_related("label_import"):
            if self.pattern.search(annotator.name):
                annotator.label_import.delete()
        # Labels that the person made elsewhere are those of somebody with the same name, who cannot sign in.
        self.replace(Person.objects.filter(is_external=True, memberships__project__in=projects), "name")
        # Figures quote skip reasons, and those of closed batches are never computed again by themselves.
        Snapshot.objects.filter(project__in=projects).delete()
        for view in SavedView.objects.filter(project__in=projects):
            if self.pattern.search(f"{view.name}\n{unquote_plus(view.query)}"):
                view.delete()
        # The row of the index is locked first: whoever indexes at the same time has finished, or begins after this.
        states = SearchIndex.objects.filter(project__in=projects).select_for_update(no_key=True)
        for state in states.order_by("pk"):
            indexed = IndexedItem.objects.filter(item__batch__project=state.project_id)
            indexed.filter(self.named("responded")).delete()  # the next look at the project indexes them anew
            state.items_count = indexed.count()
            state.save(update_fields=["items_count"])


def members(**of: Any) -> dict[int, tuple[str | None, ...]]:
    """The names of people who are not erased, for a job to know when it ends whom it had read of."""
    rows = Person.objects.filter(erased_at=None, **of).values_list("pk", *COLUMNS)
    return {key: names for key, *names in rows}


def _pattern_of(word: str) -> str:
    pattern = r"\s+".join(map(re.escape, word.split()))
    for text, alike in _ALIKE.items():
        pattern = re.sub(text, alike, pattern)
    # In Chinese, Japanese and Korean no space is beside a name.
    is_wide = [len(word) > 1 and east_asian_width(letter) == "W" for letter in (word[0], word[-1])]
    return f"{'' if is_wide[0] else _BEGIN}{pattern}{'' if is_wide[1] else _END}"


def _words(name: str | None, email: str | None, *ids: str | None) -> list[str]:
    own = [word.strip() for word in (name, email) if word]
    for word in ids:
        has_both = re.search(r"\d", word or "") and re.search(r"[^\W\d]", word or "")
        if word and (has_both or len(word) >= LONG):
            own.append(word.strip())
    return [word for word in own if word and word != NAME]
