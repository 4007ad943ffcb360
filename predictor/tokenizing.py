"""The tokenizer of a folder, for counting how long an example is (`tableqa.serialisations.token_lengths`)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tableqa.serialisations.token_lengths import Tokenizer

FILE = "tokenizer.json"


class NoTokenizer(ValueError):
    """The folder holds no tokenizer that can be read; the message names what was expected."""


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in FOLDER/tokenizer.json, as Hugging Face's models have one; the file itself may be named, too.

    Its settings of truncation and padding are ignored: a text is counted whole. Raises NoTokenizer.
    """
    path = folder / FILE if folder.is_dir() else folder
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NoTokenizer(
            f"{path} cannot be opened ({error.strerror}). Name a folder with a {FILE}."
        ) from None
    from tokenizers import Tokenizer as Read  # a library that only this needs

    try:
        tokenizer = Read.from_buffer(data)
    except Exception as error:  # the library raises no class of its own
        raise NoTokenizer(f"{path} is not a tokenizer: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    name = path.resolve().parent.name if path.name == FILE else path.stem
    return Tokenizer(name, hashlib.sha256(data).hexdigest(), lambda text: len(tokenizer.encode(text).ids))
