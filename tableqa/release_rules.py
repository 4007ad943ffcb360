"""The version of the rules by which figures, matches and decisions follow from the records of a release.

A release names its version in its manifest and verifies `under` it. Code whose results stand in releases asks `version`
before it follows a rule that is newer than some of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

RULES = 10
"""The present version. Raise it when a change moves a figure, a match or a decision that can stand in a release.

A manifest without the field `rules` is of 1: sources of one reader and split shared their files, and FREB-TQA's automatic
perturbations stood without the tables that they are compared with. Up to 2, agreement left out what had been sent back. Up
to 3, FREB-TQA's records named no relevant cells beside question types and edits, what lacks a side of its third part was no
item, and figures had their rounded values alone. Up to 4, the licence tag of a card left out sources without a licence.
Up to 5, files of Askew's own formats ended in `.json`, though they are JSON Lines, and the dataset for Hugging Face had one
configuration. Up to 6, a manifest counted revisions alone, not the responses that are current. Up to 7, a field that is
not asked counted as an empty one for conditions on it, decisions of defined task types kept values of fields that are not
asked beside them, and lists with more than 50 answers that differ in form were different. Up to 8, a release for evaluation
did not list what nobody had verified, records of Askew's own format had neither the id of their example nor its source, a
licence such as "MIT OR Apache-2.0" had one address at SPDX, the header of a card spelt emoji as halves of surrogate pairs,
hours on responses had those that were taken back, hours of skips and returns were one number, and the data statement counted
people of revisions. Up to 9, gold answers had one form, 5/12/2019 was two dates, and (190) bps no number.
"""

_version: ContextVar[int] = ContextVar("rules", default=RULES)


def version() -> int:
    """The version that counts here."""
    return _version.get()


@contextmanager
def under(version: int) -> Iterator[None]:
    """Follow the rules of this version in the block."""
    token = _version.set(version)
    try:
        yield
    finally:
        _version.reset(token)
