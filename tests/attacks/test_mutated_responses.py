"""Responses of every kind with values changed at random, and any JSON at all: `parse` takes them or says InvalidResponse.

`ASKEW_FUZZ=20000 ./run test tests/attacks/test_mutated_responses.py -s` for more, ASKEW_FUZZ_SEED for others.
"""

from __future__ import annotations

import json
import os
import random
import traceback
from collections import Counter
from typing import Any

import pytest

from tasks.contract import InvalidResponse, Item, MakingTask, TaskType, response_data, task_types
from tests.attacks import LONG_RUN
from tests.attacks.changed import changed, drawn
from tests.tasks.test_contract import sample

SEED = int(os.environ.get("ASKEW_FUZZ_SEED", "20261122"))
TIMES = max(1, LONG_RUN // 16) if LONG_RUN else 150
"""Responses of each kind."""
KINDS = list(task_types().values())


def arrived(data: Any) -> Any:
    """The data as the server gets them: what JSON cannot say does not arrive."""
    return json.loads(json.dumps(data))


def envelope_of(task: TaskType, item: Item, data: Any) -> dict[str, Any]:
    return {
        "type": task.key,
        "variant": item.variant,
        "version": task.version,
        "base": item.base,
        "data": data,
    }


@pytest.mark.parametrize("task", KINDS, ids=[task.key for task in KINDS])
def test_any_response_is_taken_or_refused_as_invalid(task: TaskType) -> None:
    rng = random.Random(f"{SEED}:{task.key}")
    found = sample(task)
    begin = [*found["good"], *found["bad"]]
    counted: Counter[str] = Counter()
    for number in range(TIMES):
        one = rng.choice(begin)
        item = found["items"][one["item"]]
        data = arrived(drawn(rng) if rng.random() < 0.1 else changed(one["data"], rng))
        said = json.dumps(data)[:1500]
        try:
            task.parse(data, item)
            response = task.read(envelope_of(task, item, data), item)
            counted["taken"] += 1
            # What is taken can be stored, read again, told, resolved and shown.
            again = task.restore(json.loads(json.dumps(response_data(response))))
            assert again == response
            task.describe(response, item)
            task.resolve([response], item)
            task.perturb(item, response)
        except InvalidResponse as invalid:
            assert all(problem.message.strip() for problem in invalid.problems)  # noqa: PT017
            counted["refused"] += 1
        except Exception:
            pytest.fail(
                f"{task.key}, number {number} (seed {SEED}): {traceback.format_exc(limit=-5)}\n{said}"
            )
        try:
            if isinstance(task, MakingTask):
                task.preview(data, item)
        except Exception:
            pytest.fail(f"preview of {task.key}, number {number}: {traceback.format_exc(limit=-5)}\n{said}")
        sent = arrived(changed(envelope_of(task, item, data), rng))
        try:
            task.read(sent, item)
        except InvalidResponse:
            counted["envelopes refused"] += 1
        except Exception:
            pytest.fail(
                f"envelope of {task.key}, number {number}: {traceback.format_exc(limit=-5)}\n{sent}"[:4000]
            )
    print(f"\n{task.key}: {dict(counted)} (seed {SEED})")
    assert counted["refused"] > 0
