"""Training corpora on disk: another content makes another corpus, the same content none."""

from __future__ import annotations

from pathlib import Path

import pytest

from predictor.training import corpus
from predictor.training.corpus import Corpus, build_corpora
from tableqa import Example
from tests.predictor.bundled.by_hand import MEDALS, tokenizer


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    folder = tmp_path / "encoder"
    folder.mkdir()
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def questions(name: str, number: int = 4, answer: str = "France") -> list[Example]:
    return [
        Example(f"{name}{place}", "which nation has the most gold ?", MEDALS, [answer])
        for place in range(number)
    ]


def made(folder: Path, encoder: Path, examples: list[Example], workers: int = 1) -> list[str]:
    build_corpora(folder, encoder, examples, [MEDALS], synthetic_count=2, seed=1, workers=workers)
    return sorted(item.id for item in Corpus(folder / "answered"))


def test_other_examples_of_the_same_number_make_another_corpus(tmp_path: Path, encoder: Path) -> None:
    assert made(tmp_path / "out", encoder, questions("old")) == ["old0", "old1", "old2", "old3"]
    assert made(tmp_path / "out", encoder, questions("new")) == ["new0", "new1", "new2", "new3"]


@pytest.mark.usefixtures("one_process")
def test_parts_of_more_workers_do_not_stay(tmp_path: Path, encoder: Path) -> None:
    assert len(made(tmp_path / "out", encoder, questions("old"), workers=3)) == 4
    assert made(tmp_path / "out", encoder, questions("new", 3)) == ["new0", "new1", "new2"]


@pytest.mark.parametrize("what", ["answers", "tokenizer", "code", "seed", "nothing", "cut short"])
def test_a_corpus_is_made_again_where_anything_that_it_is_made_of_changes(
    tmp_path: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    out, examples = tmp_path / "out", questions("q")
    made(out, encoder, examples)
    (out / "answered" / "part-00" / "mark").touch()
    if what == "tokenizer":
        (encoder / "tokenizer.json").write_text((encoder / "tokenizer.json").read_text() + " ")
    if what == "code":
        monkeypatch.setattr(corpus, "_code", lambda: "another")
    if what == "cut short":
        (out / "done.json").unlink()
    if what == "answers":
        examples = questions("q", answer="Spain")
    build_corpora(
        out, encoder, examples, [MEDALS], synthetic_count=2, seed=2 if what == "seed" else 1, workers=1
    )
    assert (out / "answered" / "part-00" / "mark").exists() == (what == "nothing")


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are written in this process: another one takes seconds to start."""

    class Here:
        def __init__(self, *arguments: object, **more: object) -> None: ...

        def __enter__(self) -> Here:
            return self

        def __exit__(self, *error: object) -> None: ...

        map = staticmethod(map)

    monkeypatch.setattr(corpus, "ProcessPoolExecutor", Here)
