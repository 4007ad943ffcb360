"""The version of the rules by which figures, matches and decisions follow from the records of a release.

A release names its version in its manifest and verifies `under` it. Code whose results are in releases asks `version`
before it follows a rule that is newer than some of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

RULES = 12
"""The present version. Raise it when a change moves a figure, a match or a decision that can be in a release.

docs/reference/release-format.md says what each version changed. A manifest without the field `rules` is of 1.
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
