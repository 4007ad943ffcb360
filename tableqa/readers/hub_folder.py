"""Datasets as Hugging Face lays them out: Parquet files, folders of save_to_disk, folders whose README.md names files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tableqa.core.translation import joined, phrase
from tableqa.readers import arrow
from tableqa.readers.class_labels import names_in_card
from tableqa.readers.dataset_card import (
    README,
    configuration_name,
    configurations,
    features,
    front_matter,
    licence,
)
from tableqa.readers.interface import Credit, ReaderError
from tableqa.readers.split_names import SPLITS, has_parquet, is_same_split, refuse_configurations, split_of

_TEXTS = (".jsonl", ".json", ".csv", ".tsv")
_DATA = (*arrow.COLUMNAR, *_TEXTS)
_SAVED = ("dataset_dict.json", "state.json")


def is_dataset(path: Path) -> bool:
    """Whether a path is an Arrow or Parquet file, or a folder that is laid out as a dataset."""
    if not path.is_dir():
        return path.suffix.lower() in arrow.COLUMNAR and path.is_file()
    return _has_form_of_arrow(path) or bool(_config(path)) or bool(_split_files(path))


def _split_files(folder: Path) -> list[tuple[Path, str]]:
    """The text files of a folder whose names or folders have a split; [] where it is no dataset by them."""
    return _by_names(folder)[0]


def files_beside_splits(folder: Path) -> list[Path]:
    """The text files without a split beside those by which a folder is a dataset; ReaderError."""
    if _config(folder) or any((folder / name).is_file() for name in _SAVED):
        return []
    in_folder = (file for file in sorted(folder.glob("*")) if file.suffix.lower() in _TEXTS)
    return list(in_folder) if has_parquet(folder) else _by_names(folder)[1]


def _has_form_of_arrow(folder: Path) -> bool:
    return has_parquet(folder) or any((folder / name).is_file() for name in _SAVED)


def _by_names(folder: Path) -> tuple[list[tuple[Path, str]], list[Path]]:
    """The text files with a split in their names or folders, and those beside them; none where it is no dataset by them.

    They are in the folder or its folder "data", else in folders in these. Without a README.md that starts with YAML, there
    have to be several splits and no other data files beside them. ReaderError for several configurations.
    """
    has_files = False
    for pattern in ("*", "data/*", "*/*", "data/*/*"):
        if has_files and pattern.endswith("*/*"):
            break  # questions with their tables in folders
        files = [
            file for file in sorted(folder.glob(pattern)) if file.suffix.lower() in _TEXTS and file.is_file()
        ]
        has_files = has_files or bool(files)
        named = [(file, split) for file in files if (split := split_of(file.relative_to(folder)))]
        if not named:
            continue
        splits_of = _each_split_once(named)
        if front_matter(folder) or (len({split for _, split in named}) > 1 and len(splits_of) == len(files)):
            refuse_configurations(folder, [file.relative_to(folder) for file, _ in named])
            others = [file for file in files if file not in dict(named)]
            order = list(SPLITS.values())
            return sorted(splits_of, key=lambda entry: order.index(entry[1])), others
    return [], []


def _each_split_once(named: list[tuple[Path, str]]) -> list[tuple[Path, str]]:
    """The files of the most usual suffix, and those of others only for splits that these do not have."""
    suffixes = [file.suffix.lower() for file, _ in named]
    by_suffix = sorted(_TEXTS, key=suffixes.count, reverse=True)
    pairs = {(file.suffix.lower(), split) for file, split in named}
    suffix_of = {
        split: next(suffix for suffix in by_suffix if (suffix, split) in pairs) for _, split in pairs
    }
    return [(file, split) for file, split in named if file.suffix.lower() == suffix_of[split]]


def splits(path: Path) -> list[str]:
    """The names of the splits of a dataset; ReaderError."""
    return list(dict.fromkeys(split for _, split in data_files(path) if split))


def data_files(path: Path, only_split: str = "") -> Iterator[tuple[Path, str]]:
    """The files of records with their splits, "" where there is only one; those of one split alone. ReaderError."""
    for file, split in _data_files(path):
        if not only_split or is_same_split(split, only_split):
            yield file, split


def _data_files(path: Path) -> Iterator[tuple[Path, str]]:
    config = _config(path) if path.is_dir() else None
    if config is None:
        is_of_arrow = not path.is_dir() or _has_form_of_arrow(path)
        yield from arrow.dataset_files(path) if is_of_arrow else _split_files(path)
        return
    for split, pattern in _patterns(path / README, config.get("data_files")):
        files = sorted(
            file
            for file in path.glob(pattern)
            if file.suffix.lower() in _DATA and file.resolve().is_relative_to(path.resolve())
        )
        if not files:
            what = phrase(
                "no data file is at {pattern!r}, which the configuration {name} names",
                pattern=pattern,
                name=configuration_name(path, config),
            )
            raise ReaderError(path / README, None, what, phrase("Download the dataset with all of its files"))
        for file in files:
            yield file, split


def class_labels(path: Path) -> Mapping[str, Any]:
    """The names of class labels by column that the README.md of a folder states for what is read of it; ReaderError."""
    if not path.is_dir():
        return {}
    config = _config(path)
    return names_in_card(features(path, configuration_name(path, config)) if config else features(path))


def sentence(path: Path, name: str) -> str:
    """In which form a dataset is read; `name` is that of the folder, or of the archive that holds it."""
    if not path.is_dir():
        form = "Parquet" if path.suffix.lower() == ".parquet" else "Arrow"
        return phrase("{file} was read as {form}.", file=path.name, form=form)
    text: str = phrase("{file} was read as a Hugging Face dataset.", file=name)
    if len(splits_read := splits(path)) > 1:
        text = joined([text, phrase("Its splits are {names}.", names=", ".join(splits_read))])
    names = [configuration_name(path, config) for config in configurations(path)]
    config = _config(path)
    if len(names) > 1 and config is not None:
        further = phrase(
            "It has the configurations {names}; {name} was read.",
            names=", ".join(names),
            name=configuration_name(path, config),
        )
        return joined([text, further])
    return text


def credit(path: Path) -> Credit:
    """Licence and credit of a dataset: those of croissant.json or dataset_info.json, else the licence of its README.md."""
    if not path.is_dir():
        return Credit("NOASSERTION", "", "")
    named = arrow.credit_of_folder(path)
    if named is not None and named.licence:
        return named
    return Credit(licence(path), named.citation if named else "", named.url if named else "")


def _config(folder: Path) -> Mapping[str, Any] | None:
    """The configuration of a README.md that is read: the default one, else the first; None where it names no files."""
    configs = configurations(folder)
    return next((config for config in configs if config.get("default")), configs[0] if configs else None)


def _patterns(readme: Path, data_files_entry: Any) -> Iterator[tuple[str, str]]:
    """The split and the pattern of each group of files; ReaderError for a pattern that leads out of the folder."""
    for entry in data_files_entry if isinstance(data_files_entry, list) else [data_files_entry]:
        split = str(entry.get("split", "")) if isinstance(entry, dict) else ""
        paths = entry.get("path", []) if isinstance(entry, dict) else entry
        for pattern in paths if isinstance(paths, list) else [paths]:
            if not isinstance(pattern, str) or not pattern or pattern.startswith("/") or ".." in pattern:
                what = phrase(
                    "the path {pattern!r} of data_files is not one below this folder",
                    pattern=str(pattern)[:80],
                )
                raise ReaderError(readme, None, what, phrase("Correct it"))
            yield split, pattern
