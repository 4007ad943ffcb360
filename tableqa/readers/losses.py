"""What an import of each format does not keep, in sentences for people: known before a file is read.

What depends on the file is said by the reader itself (`Sifting.left_out`).
"""

from collections.abc import Mapping

from tableqa.language import gettext_noop

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
_OTHER_FILES = gettext_noop("Other files of the dataset, such as HTML pages and tagged sentences.")

LOSSES: Mapping[str, tuple[str, ...]] = {
    "wtq": (_SPLITS, _OTHER_FILES),
    "sqa": (
        _SPLITS,
        _FIELDS,
        gettext_noop("Dialogues as units: each question is an example, with its earlier questions."),
    ),
    "wikisql": (_SPLITS, _FIELDS),
    "tat_qa": (
        _SPLITS,
        gettext_noop("Documents as units: each question is an example, with all paragraphs of its document."),
    ),
    "fetaqa": (_SPLITS, _FIELDS),
    "qtsumm": (_SPLITS, _FIELDS),
    "freb_tqa": (_SPLITS, _LINEAGE),
    "robut": (_SPLITS, _LINEAGE),
    "lftqa": (
        _SPLITS,
        _FIELDS,
        gettext_noop("Responses: ratings of people stay in the meta as means, without the people."),
        gettext_noop("Empty answers of systems."),
    ),
    "tabfact": (_SPLITS, gettext_noop("Other files of the dataset, such as linked entities.")),
    "suc": (
        _SPLITS,
        gettext_noop(
            "Lineage: the dataset and the example that a record was taken from, unless a field has them."
        ),
    ),
    "own": (_RECORD_SPLITS, _RESPONSES),
    "jsonl": (_SPLITS, _RESPONSES),
    "csv": (_SPLITS, _RESPONSES),
    "parquet": (_RECORD_SPLITS, _RESPONSES),
    "hf": (_RECORD_SPLITS, _RESPONSES),
    "label_studio": (
        gettext_noop(
            "Responses and people: annotations stay in the meta. The page Import responses brings them in."
        ),
    ),
    "askew": (
        gettext_noop("Batches, responses, decisions and people. To keep them, restore the release."),
        gettext_noop("Lineage: edited examples become originals. Their edits stay in the meta."),
        _RECORD_SPLITS,
    ),
}
"""By the name of the reader; every reader has an entry."""
