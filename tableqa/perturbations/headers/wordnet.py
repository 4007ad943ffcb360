"""WordNet (Fellbaum 1998) as a thesaurus for headers, read through nltk's own corpus reader.

This runs when the shipped file is made, not when suggestions are: nltk and the whole of WordNet take seconds to load.
The file is a zip of three texts, one entry a line, fields parted by tabs:

    senses.tsv   domain, words ("venue:3,locale"; the number is a count of uses), numbers of near senses, definition
    words.tsv    word, then for each class a letter and the numbers of its senses: "venue", "n5120 5121"; sorted
    forms.tsv    irregular form, class, base words
"""

import warnings
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tableqa.perturbations.headers.thesaurus import PARTS, Thesaurus

_LONGEST_DEFINITION = 100
_MOST_NEAR = 3

_OFFENSIVE = ("disparagement.n.01", "ethnic_slur.n.01", "obscenity.n.02")
"""WordNet's usage domains of words that are never suggested."""

_UNMARKED = "blackamoor cripple crippled darkie gimpy mongoloid negress negro negroid spastic"
"""Such words that WordNet does not mark."""


def read_wordnet(nltk_data: Path) -> Thesaurus:
    """The thesaurus of `nltk_data`/corpora/wordnet, a folder as nltk's downloader lays it out.

    Names of single persons, places and events (WordNet's instances) are left out, and so are the examples of the
    definitions, and words that offend. Raises LookupError where the folder contains no WordNet.
    """
    reader = _reader(nltk_data)
    return Thesaurus(_name(reader), **_parts(reader))


def pack(nltk_data: Path, licence: str, target: Path) -> None:
    """Write `target` for `thesaurus`. WordNet's licence asks to be in every copy."""
    reader = _reader(nltk_data)
    parts = _parts(reader)
    texts = {f"{name}.tsv": "\n".join(parts[name]) + "\n" for name in PARTS}
    with zipfile.ZipFile(target, "w") as file:
        for name, text in {"LICENSE": licence, "SOURCE": _name(reader) + "\n", **texts}.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            file.writestr(info, text, zipfile.ZIP_DEFLATED, 9)


def _reader(nltk_data: Path) -> Any:
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    folder = nltk_data.resolve() / "corpora" / "wordnet"
    if not (folder / "data.noun").is_file():
        raise LookupError(f"there is no WordNet in {folder}: it lacks data.noun")
    if str(nltk_data.resolve()) not in nltk.data.path:
        nltk.data.path.insert(0, str(nltk_data.resolve()))  # nltk reads no corpus from elsewhere
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that languages other than English are absent
        return WordNetCorpusReader(str(folder), None)


def _name(reader: Any) -> str:
    return f"WordNet {reader.get_version()}"


def _parts(reader: Any) -> dict[str, Sequence[str]]:
    synsets = [
        synset for synset in reader.all_synsets() if not synset.instance_hypernyms() and _words(synset)
    ]
    synsets.sort(key=lambda synset: (synset.pos().replace("s", "a"), synset.offset()))
    indexes = {_key(synset): index for index, synset in enumerate(synsets)}
    senses = [_sense_line(synset, indexes) for synset in synsets]
    words = {lemma.name().lower().replace("_", " ") for synset in synsets for lemma in _words(synset)}
    lines = [line for word in words if (line := _word_line(word, reader, indexes))]
    return {"senses": senses, "words": sorted(lines), "forms": _form_lines(reader, words)}


def _words(synset: Any) -> list[Any]:
    """The lemmas of a synset without those that offend."""
    if (
        any(domain.name() in _OFFENSIVE for domain in synset.usage_domains())
        or "(ethnic slur)" in synset.definition()
    ):
        return []
    return [
        lemma
        for lemma in synset.lemmas()
        if lemma.name().lower() not in _UNMARKED.split()
        and not any(domain.name() in _OFFENSIVE for domain in lemma.usage_domains())
    ]


def _key(synset: Any) -> tuple[str, int]:
    return synset.pos().replace("s", "a"), synset.offset()


def _sense_line(synset: Any, indexes: dict[tuple[str, int], int]) -> str:
    words = [
        lemma.name().replace("_", " ") + (f":{lemma.count()}" if lemma.count() else "")
        for lemma in _words(synset)
    ]
    near: Iterable[Any] = synset.hypernyms() or synset.similar_tos()
    places = sorted(indexes[_key(other)] for other in near if _key(other) in indexes)[:_MOST_NEAR]
    definition = " ".join(synset.definition().split(";")[0].split())
    if len(definition) > _LONGEST_DEFINITION:
        definition = definition[: _LONGEST_DEFINITION - 1].rsplit(" ", 1)[0] + " …"
    return "\t".join((synset.lexname(), ",".join(words), " ".join(map(str, places)), definition))


def _word_line(word: str, reader: Any, indexes: dict[tuple[str, int], int]) -> str:
    fields = []
    for kind in ("n", "v", "a", "r"):
        # check_exceptions=False and the comparison below: only senses of the word itself, not of what it may be a form of
        synsets = reader.synsets(word.replace(" ", "_"), kind, check_exceptions=False)
        places = [
            indexes[_key(synset)]
            for synset in synsets
            if _key(synset) in indexes
            and word in (lemma.name().lower().replace("_", " ") for lemma in _words(synset))
        ]
        if places:
            fields.append(kind + " ".join(map(str, dict.fromkeys(places))))
    return "\t".join((word, *fields)) if fields else ""


def _form_lines(reader: Any, words: set[str]) -> list[str]:
    lines = []
    for kind in ("n", "v"):
        for form, bases in reader._exception_map[kind].items():
            listed_bases = [
                base.replace("_", " ") for base in bases if base.replace("_", " ") in words and base != form
            ]
            if listed_bases and "_" not in form:
                lines.append("\t".join((form, kind, *listed_bases)))
    return sorted(lines)
