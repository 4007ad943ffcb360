"""Folders of small models with random weights, written with the libraries that the real ones come from."""

from __future__ import annotations

import json
import shutil
import string
from pathlib import Path
from typing import Any

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]"]


def vocabulary(folder: Path) -> int:
    """A vocabulary of BERT's kind: every letter and digit, alone and within a word, and a few words."""
    signs = string.ascii_lowercase + string.digits
    words = [*SPECIAL, *signs, *(f"##{sign}" for sign in signs), *string.punctuation]
    words += ["text", "real", "city", "people", "the", "most", "which", "year", "oslo", "norway"]
    words = list(dict.fromkeys(words))
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return len(words)


def bart(folder: Path, tokenizer: Path, **sizes: float) -> None:
    """TAPEX and OmniTab. `config.json` brings a summariser's settings, as the published ones do."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(1)
    small = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    widths = {"encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
    configuration = BartConfig(**{"vocab_size": 8_192, "init_std": 0.5, **small, **heads, **widths, **sizes})
    network = BartForConditionalGeneration(configuration)
    network.save_pretrained(folder)
    said = json.loads((folder / "config.json").read_text())
    said |= {"no_repeat_ngram_size": 3, "num_beams": 4, "forced_bos_token_id": 0, "early_stopping": True}
    (folder / "config.json").write_text(json.dumps(said))
    (folder / "generation_config.json").unlink(missing_ok=True)
    for name in ("vocab.json", "merges.txt"):
        shutil.copyfile(tokenizer / name, folder / name)


def tapas(folder: Path, **settings: Any) -> None:
    """TAPAS with WTQ's four operations and the published loss, unless settings differ."""
    import torch
    from transformers import TapasConfig, TapasForQuestionAnswering, TapasTokenizer

    torch.manual_seed(2)
    words = vocabulary(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    published = {
        "num_aggregation_labels": 4,
        "aggregation_labels": {0: "NONE", 1: "SUM", 2: "AVERAGE", 3: "COUNT"},
        "use_answer_as_supervision": True,
        "answer_loss_cutoff": 0.664694,
        "cell_selection_preference": 0.207951,
        "huber_loss_delta": 0.121194,
        "select_one_column": True,
    }
    configuration = TapasConfig(
        **{"vocab_size": words, "initializer_range": 0.8, **sizes, **published, **settings}
    )
    TapasForQuestionAnswering(configuration).save_pretrained(folder)
    TapasTokenizer(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)


def tabert(folder: Path, rows: int, published: bool = True, **settings: Any) -> dict[str, Any]:
    """TaBERT as published: a bare state dict with what belongs to its pre-training, and a head of ours beside it."""
    import torch
    from safetensors.torch import save_file

    from predictor.architectures.tabert_input import Configuration
    from predictor.architectures.tabert_network import Head, TabertEncoder

    torch.manual_seed(3 + rows)
    said: dict[str, Any] = {
        "base_model_name": "bert-base-uncased",
        "vocab_size": vocabulary(folder),
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "max_cell_len": 5,
        "cell_input_template": ["column", "|", "type", "|", "value"],
        "column_representation": "mean_pool",
    }
    if rows > 1:
        said |= {"num_vertical_layers": 3, "num_vertical_attention_heads": 6, "sample_row_num": rows}
    said |= settings
    (folder / "tb_config.json").write_text(json.dumps(said))
    configuration = Configuration.from_dict(said)
    encoder = TabertEncoder(configuration)
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=settings.get("initializer_range", 0.3))
    state = dict(encoder.state_dict())
    if published:
        hidden = configuration.hidden
        state["_bert_model.bert.pooler.dense.weight"] = torch.zeros(hidden, hidden)
        state["_bert_model.cls.predictions.bias"] = torch.zeros(configuration.vocabulary)
        state["_bert_model.bert.embeddings.position_ids"] = torch.arange(512)[None]
        if rows > 1:
            state["span_based_prediction.dense1.weight"] = torch.zeros(hidden, 2 * hidden)
    torch.save(state, folder / "model.bin")
    head = Head(configuration.hidden)
    for parameter in head.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.5)
    save_file(head.state_dict(), folder / "head.safetensors")
    return said
