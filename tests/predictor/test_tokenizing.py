"""A tokenizer from a folder: what it counts, and what is said of a folder that has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from predictor.tokenizing import NoTokenizer, read_tokenizer


def folder_with_words(folder: Path) -> Path:
    made = Tokenizer(models.WordLevel({"[UNK]": 0, "heat": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.enable_truncation(2)
    made.enable_padding(length=8)
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    return folder


def test_a_text_is_counted_whole_whatever_the_file_says_of_cutting_and_filling(tmp_path: Path) -> None:
    found = read_tokenizer(folder_with_words(tmp_path / "tiny"))
    assert found.name == "tiny"
    assert found.count("heat is a film") == 4
    assert found.count("") == 0
    assert read_tokenizer(tmp_path / "tiny" / "tokenizer.json") == found
    assert len(found.sha256) == 64


def test_a_folder_without_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoTokenizer, match=r"tokenizer\.json cannot be opened"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": "none"}), encoding="utf-8")
    with pytest.raises(NoTokenizer, match="is not a tokenizer"):
        read_tokenizer(tmp_path)
