"""Folders as they are published, with a `.bin`, answer as the reference implementation does."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path

import pytest

from predictor.architectures import Model, load, never_stop
from predictor.protocol import Options, Prediction, PredictRequest
from tableqa import Example
from tableqa.readers import READERS

pytestmark = pytest.mark.usefixtures("deep_learning")


@pytest.fixture(scope="module")
def examples(test_data: Path) -> list[Example]:
    read = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    return list(islice((one for one in read if len(one.table.rows) <= 12), 6))


def published(folder: Path, out: Path) -> Path:
    """The folder with its weights as a state dict in pytorch_model.bin."""
    import torch
    from safetensors.torch import load_file

    shutil.copytree(folder, out)
    torch.save(load_file(out / "model.safetensors"), out / "pytorch_model.bin")
    (out / "model.safetensors").unlink()
    return out


def answer(model: Model, example: Example, options: Options) -> Prediction:
    (prediction,) = model.predict_batch([PredictRequest.about(example, options=options)], never_stop)
    assert isinstance(prediction, Prediction)
    return prediction


@pytest.mark.parametrize("name", ["tapex", "omnitab"])
@pytest.mark.parametrize("beams", [1, 5])
def test_answers_are_those_that_transformers_generates(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path, name: str, beams: int
) -> None:
    import torch
    from transformers import BartForConditionalGeneration, GenerationConfig

    from predictor.architectures.tapex import flatten, tokenizer_of

    folder = published(folders[name], tmp_path / name)
    model, tokenizer = load(folder), tokenizer_of(folder)
    reference = BartForConditionalGeneration.from_pretrained(folder).eval()
    settings = GenerationConfig(
        num_beams=beams,
        max_new_tokens=12,
        do_sample=False,
        early_stopping=True,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    reference.generation_config = settings
    for example in examples:
        ids = torch.tensor([flatten(tokenizer, example.question, example.table).ids])
        with torch.inference_mode():
            (written,) = reference.generate(ids, generation_config=settings).tolist()
        text = tokenizer.decode([one for one in written if one > 2]).strip()
        assert answer(model, example, Options(beams=beams, max_new_tokens=12)).text == text


def test_a_published_tapas_has_the_logits_of_transformers(
    folders: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    import torch
    from transformers import TapasForQuestionAnswering

    from predictor.architectures.tapas import Tapas, inputs_of, scores_of, selected_logits

    folder = published(folders["tapas"], tmp_path / "tapas")
    model = load(folder)
    assert isinstance(model, Tapas)
    reference = TapasForQuestionAnswering.from_pretrained(folder).eval()
    encoded = [model._encoded(PredictRequest.about(one)) for one in examples]
    ids, mask, types = inputs_of(encoded, "cpu", 0)
    with torch.inference_mode():
        scores = scores_of(model.network, ids, mask, types)
        expected = reference(input_ids=ids, attention_mask=mask, token_type_ids=types)
    torch.testing.assert_close(selected_logits(scores), expected.logits, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(scores.operations, expected.logits_aggregation)
