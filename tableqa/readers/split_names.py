"""Which split a file of a dataset is of: by its name, or by the folder that it is in, as the Hugging Face Hub does."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from tableqa.core.translation import phrase
from tableqa.readers.interface import ReaderError, any_case

SPLITS = {
    "train": "train", "training": "train",
    "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation",
    "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
}  # fmt: skip
"""Words by which the hub knows splits, and its names for these."""

_PARQUET = [any_case(pattern) for pattern in ("*.parquet", "*/*.parquet", "*/*/*.parquet")]
_SHARD = re.compile(r"(^|[-_.])[0-9]+(-of-[0-9]+)?$")


def is_same_split(first: str, second: str) -> bool:
    """Whether two names are of one split: dev is validation."""
    return SPLITS.get(first.lower(), first) == SPLITS.get(second.lower(), second)


def check_split(path: Path, split: str, names: Sequence[str]) -> None:
    """ReaderError where none of the splits of a dataset is the one that was chosen."""
    if not any(is_same_split(name, split) for name in names):
        what = phrase("there is no split {split!r}", split=split)
        raise ReaderError(path, None, what, phrase("The splits are: {names}", names=", ".join(names)))


def split_of(file: PurePath) -> str:
    """The split of a file by a word of its name, else of its folders, the nearest first; "" without one.

    `file` is below the folder of the dataset. A name with words of several splits has none.
    """
    return next(filter(None, map(_split_in, (file.stem, *reversed(file.parent.parts)))), "")


def _split_in(name: str) -> str:
    splits = {SPLITS[word] for word in re.split(r"[^a-z0-9]+", name.lower()) if word in SPLITS}
    return splits.pop() if len(splits) == 1 else ""


def split_in_name(path: Path) -> str:
    """train, dev or test, where the file's name says so."""
    parts = path.stem.lower().replace("_", "-").split("-")
    return next((word for word in reversed(parts) if word in ("train", "dev", "test", "validation")), "")


def has_parquet(folder: Path) -> bool:
    """Whether a folder has Parquet files at one of the depths where they are looked for."""
    return any(file.is_file() for pattern in _PARQUET for file in folder.glob(pattern))


def parquet_files(folder: Path) -> list[tuple[Path, str]]:
    """The Parquet files of a folder in the order of their paths with the split of each, "" where there is only one.

    A file without a word for a split has its name or its folder's, without the number of a shard. ReaderError where
    several folders have splits of one name: these are configurations of a dataset.
    """
    files = sorted({file for pattern in _PARQUET for file in folder.glob(pattern) if file.is_file()})
    paths = [file.relative_to(folder) for file in files]
    refuse_configurations(folder, paths)
    splits = [
        split_of(path) or _SHARD.sub("", path.stem) or _SHARD.sub("", path.parent.name) for path in paths
    ]
    is_split = len(set(splits)) > 1
    return [(file, split if is_split else "") for file, split in zip(files, splits, strict=True)]


def refuse_configurations(folder: Path, files: list[Path]) -> None:
    """ReaderError where files with a split are in several folders that are none: these are configurations.

    `files` are below `folder`.
    """
    folders = {file.parts[0] for file in files if len(file.parts) > 1 and split_of(file)}
    configurations = sorted(name for name in folders if not _split_in(name))
    if len(configurations) > 1:
        what = phrase("the folder contains several configurations: {names}", names=", ".join(configurations))
        raise ReaderError(folder, None, what, phrase("Give the folder of one of them"))
