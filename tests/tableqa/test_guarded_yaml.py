"""YAML of other people: read within limits of size, depth and aliases, or refused at once with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tableqa.core.guarded_yaml import MAX_DEPTH, MAX_VALUES, YamlError, read
from tableqa.readers import READERS, ReaderError
from tableqa.readers.dataset_card import configurations, features, licence
from tableqa.readers.hub_folder import credit, sentence


def bomb(levels: int, width: int = 8) -> str:
    """A list whose aliases stand for `width` ** `levels` texts."""
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


HOSTILE = {
    "9 levels of aliases": bomb(9),
    "an alias of itself": "&a [*a]",
    "lists in lists": "[" * 200_000,
    "lists in lists on lines": "[\n" * 200_000,
    "mappings in mappings": "{a: " * 100_000,
    "items in items": "- " * 200_000,
    "keys in keys": "? " * 200_000,
    "indented mappings": "".join(" " * depth + "a:\n" for depth in range(1_000)),
    "values": f"[{'a, ' * 1_000_000}]",
    "anchors": f"[{'&a b, ' * 500_000}]",
    "tags": f"[{'!!str a, ' * 300_000}]",
    "directives": "".join(f"%TAG !{number}! a\n" for number in range(100_000)),
    "documents": "---\n" * 500_000,
    "a text that does not end": '"' + "a" * 4_000_000,
    "a key of 4 MB": "a" * 4_000_000 + ": 1",
    "control characters": "\x00" * 1_000,
    "a surrogate": "a: \ud800",
    "more than 4 MB": "a" * (4 * 2**20 + 1),
    "an unknown alias": "*a",
}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_yaml_is_refused_before_more_is_read_than_a_file_may_hold(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    events: list[None] = []
    parse = yaml.parse

    def counted(*args: Any, **options: Any) -> Iterator[Any]:
        for event in parse(*args, **options):
            events.append(None)
            yield event

    monkeypatch.setattr(yaml, "parse", counted)

    with pytest.raises(YamlError) as error:
        read(HOSTILE[text])

    assert error.value.fault.line >= 1
    assert len(events) <= 2 * MAX_VALUES + 10


def test_what_is_within_the_limits_is_read() -> None:
    deep = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    many = "\n".join(f"- {number}" for number in range(MAX_VALUES - 1))

    assert str(read(deep).value) == deep
    assert read(many).value == list(range(MAX_VALUES - 1))
    assert read("a: &x {b: 1}\nc: [*x, *x]").value == {"a": {"b": 1}, "c": [{"b": 1}, {"b": 1}]}
    assert read("# nothing").value is None


def dataset(folder: Path, card: str) -> Path:
    record = {"question": "q", "answers": ["1"], "table": {"header": ["a"], "rows": [["1"]]}}
    (folder / "train.jsonl").write_text(json.dumps(record) + "\n")
    (folder / "README.md").write_text(f"---\n{card}\n---\n# Data\n")
    return folder


@pytest.mark.parametrize(
    "end", ["license: *a8", "configs: [{config_name: *a8, data_files: train.jsonl}]", "dataset_info: *a8"]
)
def test_aliases_of_a_dataset_card_are_refused(tmp_path: Path, end: str) -> None:
    """Written out they are 8 to the power of 9 texts, more than any memory holds."""
    with pytest.raises(ReaderError, match=r"README\.md.*too large"):
        list(READERS["own"](dataset(tmp_path, f"{bomb(9)}\n{end}")))


def test_licences_and_names_of_configurations_are_texts(tmp_path: Path) -> None:
    card = dataset(tmp_path, f"{bomb(3)}\nlicense: *a2\n")
    with pytest.raises(ReaderError, match="license is a list, not a text"):
        credit(card)
    dataset(tmp_path, "configs: [{config_name: {a: b}, data_files: train.jsonl}]")
    with pytest.raises(ReaderError, match="config_name is an object, not a text"):
        sentence(card, "x.zip")
    dataset(tmp_path, "dataset_info: [{config_name: [a], features: []}, {features: []}]")
    with pytest.raises(ReaderError, match="config_name is a list, not a text"):
        features(card)


def test_a_card_says_licences_and_configurations(tmp_path: Path) -> None:
    card = dataset(
        tmp_path,
        "license: [mit, cc-by-4.0]\nlanguage: no\nconfigs:\n- config_name: 2024\n  data_files: train.jsonl",
    )

    assert licence(card) == "MIT AND CC-BY-4.0"
    assert [config["config_name"] for config in configurations(card)] == [2024]
    (card / "README.md").write_text("---\n# a comment\n---  \n")
    assert licence(card) == "NOASSERTION"
    (card / "README.md").write_text("--- \n" * 1 + "-" * 1_000_000)
    assert licence(card) == "NOASSERTION"
