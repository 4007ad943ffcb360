"""The memory of a training step, measured before the first one: what the forward pass stores for the backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from predictor.training.learners import Learner
from predictor.training.recipes import Recipe
from tableqa import Example


def autocast(recipe: Recipe, device: str) -> AbstractContextManager[Any]:
    """The context in which losses are computed with the precision of a recipe."""
    if recipe.precision == "float32":
        return nullcontext()
    return torch.autocast(torch.device(device).type, dtype=getattr(torch, recipe.precision))


def stored_bytes(learner: Learner, examples: Sequence[Example], recipe: Recipe, device: str) -> int:
    """Bytes that the forward pass of a batch stores for its backward pass, without the parameters themselves."""
    parameters = {parameter.untyped_storage().data_ptr() for parameter in learner.network.parameters()}
    sizes: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    learner.network.train()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor), autocast(recipe, device):
        loss = learner.loss(examples)  # its graph keeps the tensors, so no address is used twice
    del loss
    return sum(sizes.values())


def activation_bytes(learner: Learner, longest: Example, recipe: Recipe, device: str) -> int:
    """The same for a batch of the recipe in which all examples are like the longest one, from one of them and two."""
    bytes_of_one = stored_bytes(learner, [longest], recipe, device)
    bytes_of_two = stored_bytes(learner, [longest, longest], recipe, device)
    return max(0, 2 * bytes_of_one - bytes_of_two) + recipe.batch * (bytes_of_two - bytes_of_one)
