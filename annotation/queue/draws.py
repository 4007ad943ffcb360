"""Unpredictable draws: which turn brings a gold item, in which order items come, who works without proposals.

They come from a random key of the batch, which is stored with it and in no page, payload, log, export or release. So
a person who knows the code, all that they are sent and every public id computes none of them. A batch from before there
were keys has its public id as one, and draws as it did. Draws that a release repeats have public seeds instead.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.utils.crypto import salted_hmac

from annotation.models import Batch, Item

T = TypeVar("T")


def generator(batch: Batch, purpose: str, *of: object) -> random.Random:
    """The random numbers for one draw of a batch: the same whenever it is made."""
    return random.Random(":".join(map(str, (purpose, batch.draw_key or batch.public_id, *of))))


def start_of(batch: Batch, person: int) -> int:
    """The position from which a person (by id) gets the items of a shuffled batch."""
    return generator(batch, "start", person).randrange(max(1, batch.items_count))


def order_of_slots(batch: Batch, person: int, turn: int, window: Callable[..., Sequence[T]]) -> Iterator[T]:
    """Free slots of a shuffled batch as a person tries them at a turn; `window(position=)` gives those from there on."""
    rng = generator(batch, "order", person, turn)
    for position in (start_of(batch, person), 0):
        slots = list(window(position=position))
        rng.shuffle(slots)
        yield from slots


def order_of_gold(batch: Batch, person: int, turn: int, golds: Sequence[T]) -> list[T]:
    """The gold items that a person never had, as they are tried at a gold turn."""
    order = list(golds)
    generator(batch, "gold", person, turn).shuffle(order)
    return order


def letters(item: Item) -> random.Random:
    """The random numbers for the letters of an item's responses. Wants its batch loaded."""
    if item.batch.draw_key:
        return generator(item.batch, "letters", item.public_id)
    # Batches without a key had the installation's for this: notes of adjudicators name their letters.
    return random.Random(
        salted_hmac("annotation.adjudication", item.public_id, algorithm="sha256").hexdigest()
    )


@dataclass(frozen=True, slots=True)
class GoldTurns:
    """Which turns of a person (by id) in a batch, counted from 0, are for gold items.

    Of every 100 / `gold_percent` turns one is: the rate holds from the first item on. People who get feedback know that one
    has been, and what is left of such a stretch: there each turn is drawn on its own.
    """

    batch: Batch
    person: int

    @property
    def are_independent(self) -> bool:
        return self.batch.gold_feedback and bool(self.batch.draw_key)

    def __contains__(self, turn: int) -> bool:
        if self.are_independent:
            drawn = generator(self.batch, "gold turn", self.person, turn)
            return drawn.random() * 100 < self.batch.gold_percent
        return turn == self._of_stretch(turn * self.batch.gold_percent // 100)

    def ahead(self, turn: int, *, ordinary: int, golds: int) -> int:
        """How many gold items the turns bring from this one on, until `ordinary` items are used up.

        There are `golds` of them left for the person; after that every turn is an ordinary one. Where turns are independent
        it is the expected number: the exact one would reveal what is next, once few are left.
        """
        percent = self.batch.gold_percent
        if self.are_independent:
            return min(golds, round(ordinary * percent / (100 - percent)))
        gold_count, stretch = 0, turn * percent // 100
        while gold_count < golds:
            at = self._of_stretch(stretch)
            if at >= turn:
                if at - turn > ordinary:
                    break
                ordinary -= at - turn
                gold_count, turn = gold_count + 1, at + 1
            stretch += 1
        return gold_count

    def _of_stretch(self, stretch: int) -> int:
        """The gold turn in a stretch of turns, by the stretch's number."""
        percent = self.batch.gold_percent
        first, behind = -(-stretch * 100 // percent), -(-(stretch + 1) * 100 // percent)
        return generator(self.batch, "gold", self.person, stretch).randrange(first, behind)
