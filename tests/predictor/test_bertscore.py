"""BERTScore is behind an extra: without it a sentence says what to install, with it a model scores."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from predictor.bertscore import bertscore
from tableqa.scoring.answer_ratings import RatedAnswer
from tableqa.scoring.text_metrics import NotInstalled


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(NotInstalled, match=r"requirements/bertscore\.txt"):
        bertscore()


def test_a_tiny_encoder_scores_equal_texts_with_one_and_empty_ones_not_at_all(tmp_path: Path) -> None:
    pytest.importorskip("bert_score")
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "heat", "is", "a", "film", "alien"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(words), **size)).save_pretrained(tmp_path)
    BertTokenizer(str(tmp_path / "vocab.txt"), model_max_length=512).save_pretrained(tmp_path)
    scorer = bertscore(str(tmp_path), layers=2)
    said = [("heat is a film", "heat is a film"), ("", "heat"), ("alien", "heat is a film")]
    same, empty, other = scorer.scores([RatedAnswer("d", "1", "s", text=a, reference=b) for a, b in said])
    assert same == pytest.approx(1.0, abs=1e-5)
    assert empty is None
    assert other is not None
    assert other < 0.99
    assert scorer.implementation.startswith("bert-score 0.3.13: F1 of ")
    with pytest.raises(NotInstalled, match="bertscore-layer"):
        bertscore(str(tmp_path))
