"""Names of people in texts and JSON: how they are looked for, and what erasing writes in their place."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, Final
from unicodedata import east_asian_width
from urllib.parse import unquote_plus

from django.db.models import QuerySet

from annotation.models import (
    Annotation,
    IndexedItem,
    Invitation,
    Job,
    Person,
    SavedView,
    SearchIndex,
    Snapshot,
    StagedAnnotator,
)
from annotation.platform import immutable_rows, inventory
from annotation.platform.bulk_rows import among

NAME: Final = "Erased person"
COLUMNS: Final = ("name", "email", "former_names", "crowd_entry__external_id", "crowd_entry__session_id")
"""What names a person, by the way from the person."""
_BEGIN: Final = r"(?<![^\W_])(?<![^\W_]_)(?<![^\W_]__)"
_END: Final = r"(?!_*[^\W_])"
"""Where a word begins and ends: underscores around it are emphasis in Markdown, and within it part of a word of the code."""
_OF_PEOPLE: Final = re.compile("people|person|annotator")
_CODES: Final = ["what", "currency", "predictor", "reader", "tool", "kind", "state", "task_type", "language"]
"""Keys whose values are always code: jobs depend on them, and pay is computed from them."""
_SETTINGS: Final = ("pay", "time_zone")
"""Changes of the log whose values before and after are code."""
_FREE: Final = ("note", "people")
"""Keys of a job's ids whose values people wrote, as is the name of an evaluation; the job does its work by all others."""
_KEY_OF_CODE: Final = re.compile(r"[a-z]+(_[a-z]+)*")
LONG: Final = 6
"""Ids of a platform that are shorter are looked for if they have letters and digits: others are words of any text."""
_SPELLED_OUT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_ALIKE: Final = dict(zip("’‘ʼ´`′‐‑‒–ıłøđ", "'" * 6 + "-" * 4 + "ilod", strict=True)) | {"æ": "ae", "œ": "oe"}
_UNSEEN: Final = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufeff]")
"""Accents, soft hyphens and other characters without a width."""


class _FoldTable(dict[int, str]):
    """Letters as they are compared, for `str.translate`: without case, accent, width and ligature."""

    def __missing__(self, key: int) -> str:
        letter = unicodedata.normalize("NFKD", _ALIKE.get(chr(key), chr(key))).casefold()
        plain = _UNSEEN.sub("", unicodedata.normalize("NFKD", letter))
        self[key] = unicodedata.normalize("NFC", "".join(_ALIKE.get(part, part) for part in plain))
        return self[key]


_FOLDING: Final = _FoldTable()


class Names:
    """The names of people as words of their own: in any letter case, accent, width, space and order of their parts."""

    def __init__(self, *people: Iterable[Any]) -> None:
        """`people`: of each the values of `COLUMNS`."""
        forms = {form for person in people for word in _words(*person) for form in _forms_of(word)}
        self.parts = {part for part, _ in forms}
        self.names = [word for name, _, former, *_ in people for word in (name, *former) if word]
        patterns = sorted({pattern for _, pattern in forms}, key=lambda pattern: (-len(pattern), pattern))
        self.pattern = re.compile("|".join(patterns) or r"(?!)")

    def are_in(self, text: str) -> bool:
        folded = _folded(text)
        return any(part in folded for part in self.parts) and bool(self.pattern.search(folded))

    def texts_with_parts(self, projects: Iterable[int]) -> Iterator[str]:
        """Texts that erasing leaves: of responses with a part of a name, of others with one beside the names themselves."""
        parts = Names(*((part, None, ()) for name in self.names for part in name.split() if len(part) > 2))
        responses = Annotation.objects.filter(assignment__batch__project__in=projects, response__isnull=False)
        for response in responses.order_by("pk").values_list("response", flat=True).iterator():
            yield from (text for text in _texts_in((response or {}).get("data")) if parts.are_in(text))
        for column, path in inventory.REPLACED.items():
            table, field = column.split(".")
            if not path or table == "job":
                continue
            rows = (
                inventory.model_of(table)._default_manager.filter(**{f"{path}__in": projects}).order_by("pk")
            )
            for value in rows.exclude(**{f"{field}__isnull": True}).values_list(field, flat=True).iterator():
                yield from (text for text in _texts_in(value) if parts.are_in(self._replaced(text)))

    def replace(self, rows: QuerySet[Any], field: str, by: str | None = None) -> None:
        """Replace the names in a column of text or JSON of these rows; with `by`, replace the whole text."""
        longest = getattr(rows.model._meta.get_field(field), "max_length", None)
        stored = rows.exclude(**{f"{field}__isnull": True}).exclude(**{field: ""}).values_list("pk", field)
        changes: dict[Any, Any] = {}
        for key, value in stored.iterator():
            if (changed := self.without(value) if by is None or not self.are_in(value) else by) != value:
                changes[key] = changed[:longest] if isinstance(changed, str) else changed
        for key, changed in changes.items():
            rows.model._default_manager.filter(pk=key).update(**{field: changed})

    def without(self, value: Any, *, of_people: bool = False) -> Any:
        """A JSON value with the names replaced in its texts and keys.

        A key that is a plain word, such as "to", is one of the code, unless the object has a key for each person.
        """
        if isinstance(value, str):
            return self._replaced(value)
        if isinstance(value, list):
            return [self.without(member) for member in value]
        if isinstance(value, dict):
            codes = [*_CODES, "from", "to"] if value.get("what") in _SETTINGS else _CODES
            return {
                key if _KEY_OF_CODE.fullmatch(key) and not of_people else self.without(key): member
                if key in codes
                else self.without(member, of_people=bool(_OF_PEOPLE.search(key)))
                for key, member in value.items()
            }
        return value

    def _replaced(self, text: str) -> str:
        if not self.are_in(text):
            return text
        ends = list(accumulate(len(letter.translate(_FOLDING)) for letter in text))
        parts, begin = [], 0
        for match in self.pattern.finditer(_folded(text)):
            parts += [text[begin : bisect_right(ends, match.start())], NAME]
            begin = bisect_right(ends, match.end() - 1) + 1
            while begin < len(text) and ends[begin] == ends[begin - 1]:
                begin += 1  # an accent of the last letter
        return "".join(parts) + text[begin:]

    def _free(self, ids: dict[str, Any]) -> dict[str, Any]:
        """The ids of a job that waits or runs, with the names replaced in what people wrote."""
        return {
            key: self._free(value)
            if key == "mapping"
            else self.without(value, of_people=key == "people")
            if key in _FREE or (key == "name" and "release" in ids)
            else value
            for key, value in ids.items()
        }

    def take_out_of(self, projects: Iterable[int]) -> None:
        """Replace the names in all that people of these projects wrote for one another, where it can be changed.

        Invitations that are not accepted yet name a person: in any project, as others may not know of them.
        """
        if not self.parts:
            return
        self.replace(Invitation.objects.all(), "name", by="")
        with immutable_rows.writable():
            for column, path in inventory.REPLACED.items():
                table, field = column.split(".")
                rows = inventory.model_of(table)._default_manager.all()
                rows = rows.filter(**{f"{path}__in": projects}) if path else rows
                if column == "job.ids":
                    for key, ids in rows.exclude(state__in=Job.FINISHED).values_list("pk", "ids"):
                        rows.filter(pk=key).update(ids=self._free(ids))
                    rows = rows.filter(state__in=Job.FINISHED)
                self.replace(rows, field)
        staged = StagedAnnotator.objects.filter(label_import__batch__project__in=projects)
        for annotator in staged.select_related("label_import"):
            if self.are_in(annotator.name):
                annotator.label_import.delete()
        # Labels that the person made elsewhere are those of a person with the same name, who cannot sign in.
        self.replace(Person.objects.filter(is_external=True, memberships__project__in=projects), "name")
        # Figures quote skip reasons, and those of closed batches are never computed again by themselves.
        Snapshot.objects.filter(project__in=projects).delete()
        for view in SavedView.objects.filter(project__in=projects):
            if self.are_in(f"{view.name}\n{unquote_plus(view.query)}"):
                view.delete()
        # The row of the index is locked first: a concurrent indexer has finished, or begins after this.
        states = SearchIndex.objects.filter(project__in=projects).select_for_update(no_key=True)
        for state in states.order_by("pk"):
            indexed = IndexedItem.objects.filter(item__batch__project=state.project_id)
            texts = indexed.values_list("pk", "responded").iterator()
            # The next look at the project indexes them again.
            indexed.filter(among("pk", [key for key, text in texts if self.are_in(text)])).delete()
            state.items_count = indexed.count()
            state.save(update_fields=["items_count"])


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(member)


def _folded(text: str) -> str:
    return text.lower().replace("`", "'") if text.isascii() else text.translate(_FOLDING)


def _forms_of(word: str) -> Iterator[tuple[str, str]]:
    """Forms in which others type a name ("Quandt, Ottilie", "Ottilie+Quandt" in a link; "Mueller"), for folded text.

    Of each the longest part, which is quick to look for, and a pattern.
    """
    composed = unicodedata.normalize("NFC", word)
    typed = (composed, unicodedata.normalize("NFD", word), composed.casefold().translate(_SPELLED_OUT))
    # In Chinese, Japanese and Korean no space is beside a name.
    is_wide = [
        len(composed) > 1 and east_asian_width(letter) == "W" for letter in (composed[0], composed[-1])
    ]
    for folded in map(_folded, typed):
        parts = [re.escape(part).replace(r"\-", r"[-\s]+") for part in re.split(r"[,\s]+", folded) if part]
        for first in range(len(parts)):
            pattern = r"(?:[-,\s+]|%20)+".join(parts[first:] + parts[:first])
            pattern = f"{'' if is_wide[0] else _BEGIN}{pattern}{'' if is_wide[1] else _END}"
            yield max(re.split(r"[\W_]+", folded), key=len), pattern


def _words(name: str, email: str | None, former: Iterable[str], *ids: str | None) -> list[str]:
    own = [name, email, *former]
    for word in ids:
        has_both = re.search(r"\d", word or "") and re.search(r"[^\W\d]", word or "")
        if has_both or len(word or "") >= LONG:
            own.append(word)
    return [word.strip() for word in own if word and re.search(r"[^,\s]", word) and word.strip() != NAME]
