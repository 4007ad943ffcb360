"""What an import does not keep, in sentences for people: by the format, and by what its first records hold.

How much of a file is left out is said by the reader itself (`FilteringReader.left_out`).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tableqa.core.translation import gettext_noop

_SPLITS = gettext_noop(
    "Splits: a source has one split, that of the file name. Import the files of other splits, too."
)
_RECORD_SPLITS = gettext_noop(
    "Splits: a source has one split. The split of each record stays in the meta of its example."
)
_FIELDS = gettext_noop("Fields of a record that the published format does not have.")
_LINEAGE = gettext_noop(
    "Lineage: perturbed examples become originals. Names of their originals and perturbations stay in the meta."
)
_RESPONSES = gettext_noop(
    "Responses and people. If the file is of another annotation tool, use the page Import responses."
)
_LABEL_STUDIO = gettext_noop(
    "Responses and people: annotations stay in the meta. The page Import responses brings them in."
)
_RATINGS = gettext_noop("Responses: ratings of people stay in the meta as means, without the people.")
_OTHER_FILES = gettext_noop("Other files of the dataset, such as HTML pages and tagged sentences.")

LOSSES: Mapping[str, tuple[str, ...]] = {
    "wtq": (_SPLITS, _OTHER_FILES),
    "sqa": (
        _SPLITS,
        _FIELDS,
        gettext_noop("Dialogues as units: each question is an example, with its earlier questions."),
    ),
    "wikisql": (_SPLITS, _RECORD_SPLITS, _FIELDS),
    "tat_qa": (
        _SPLITS,
        gettext_noop("Documents as units: each question is an example, with all paragraphs of its document."),
    ),
    "fetaqa": (_SPLITS, _FIELDS),
    "qtsumm": (_SPLITS, _FIELDS),
    "freb_tqa": (_SPLITS, _LINEAGE),
    "robut": (_SPLITS, _LINEAGE),
    "lftqa": (_SPLITS, _FIELDS, _RATINGS, gettext_noop("Empty answers of systems.")),
    "tabfact": (_SPLITS, gettext_noop("Other files of the dataset, such as linked entities.")),
    "suc": (
        _SPLITS,
        gettext_noop(
            "Lineage: the dataset and the example that a record was taken from, unless a field has them."
        ),
    ),
    "own": (_RECORD_SPLITS, _RESPONSES),
    "jsonl": (_SPLITS, _RECORD_SPLITS, _RESPONSES),
    "csv": (_SPLITS, _RECORD_SPLITS, _RESPONSES),
    "parquet": (_RECORD_SPLITS, _RESPONSES),
    "hf": (_RECORD_SPLITS, _RESPONSES),
    "label_studio": (_LABEL_STUDIO,),
    "askew": (
        gettext_noop("Batches, responses, decisions and people. To keep them, restore the release."),
        gettext_noop("Lineage: edited examples become originals. Their edits stay in the meta."),
        _RECORD_SPLITS,
    ),
}
"""All losses that a format can have, by the name of the reader; every reader has an entry."""

_PEOPLE = re.compile(
    "(?:annotator|annotation|worker|rater|rating|coder|labell?er|reviewer|user|session)s?|annotated|completed|responses"
)
"""Words in the names of columns that hold responses, or who gave them."""
_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")
_SIGNS = re.compile(r"[\W_0-9]+")


def losses(reader: str, split: str, columns: Collection[str]) -> tuple[str, ...]:
    """The losses of a format that an import has.

    split    of the source, "" where neither its file nor a person names one
    columns  that stay in the meta of the examples (`columns_of`)
    """
    parts = (part for name in columns for part in _SIGNS.split(_CAPITAL.sub(" ", name).casefold()))
    has_people = any(map(_PEOPLE.fullmatch, parts))
    happens = {
        _SPLITS: bool(split) and "split" not in columns,
        _RECORD_SPLITS: "split" in columns,
        _RESPONSES: has_people,
        _LABEL_STUDIO: has_people,
        _RATINGS: "human" in columns,
    }
    return tuple(loss for loss in LOSSES.get(reader, ()) if happens.get(loss, True))


def columns_of(metas: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names in the meta of examples that hold anything, and "NAME.INNER" for those of the objects in it."""
    return {name for meta in metas for name in _filled_fields(meta)}


def _filled_fields(meta: Mapping[str, Any]) -> Iterator[str]:
    for name, value in meta.items():
        if value not in (None, "", [], (), {}):
            yield name
            if isinstance(value, Mapping):
                yield from (f"{name}.{inner}" for inner in _filled_fields(value))
