"""How long an example is for a model: the tokens of its table in a form, and the filter that FREB-TQA calls for.

    limit = Limit(512, tokenizer, SERIALISATIONS["indexed_row_major_tapex"], question=True)
    limit.fits(example)          whether it is put to the model
    limit.to_dict()              what a report says about it

FREB-TQA (Zhou et al. 2024, section 5) evaluates only what fits into 512 tokens of the model's tokenizer. A tokenizer is
passed in: `predictor.tokenizing.read_tokenizer(FOLDER)` makes one from a folder with a tokenizer.json.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tableqa.data.examples import Example
from tableqa.serialisations import Serialisation


@dataclass(frozen=True)
class Tokenizer:
    """Something that counts the tokens of a text.

    name      what a report calls it: the name of its folder
    sha256    of its tokenizer.json, so that equal names of different files can be distinguished
    count     the number of tokens of a text, with the marks that the tokenizer itself puts around one
    """

    name: str
    sha256: str
    count: Callable[[str], int] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Limit:
    """At most this number of tokens of a tokenizer.

    most            the most tokens that fit
    serialisation   how the table is written (a member of `tableqa.serialisations.SERIALISATIONS`)
    question        whether the question counts, before the table and parted from it by a blank, as sequence models
                    read it; else the table alone is counted
    """

    most: int
    tokenizer: Tokenizer
    serialisation: Serialisation
    question: bool = False

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ValueError(f"the longest length is {self.most}; it must be 1 or more")

    def length(self, example: Example) -> int:
        """The tokens of the example's table, with its question where that counts."""
        text = self.serialisation.dumps(example.table)
        return self.tokenizer.count(f"{example.question} {text}" if self.question else text)

    def fits(self, example: Example) -> bool:
        """Whether the example has no more tokens than the limit."""
        return self.length(example) <= self.most

    def to_dict(self) -> Mapping[str, Any]:
        """What a report says: {"most", "tokenizer", "tokenizer_sha256", "serialisation", "question"}."""
        return {
            "most": self.most,
            "tokenizer": self.tokenizer.name,
            "tokenizer_sha256": self.tokenizer.sha256,
            "serialisation": self.serialisation.name,
            "question": self.question,
        }
