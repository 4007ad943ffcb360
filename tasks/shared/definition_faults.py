"""What is wrong with a definition of a task type: the path of the part, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class DefinitionFault:
    """One thing that is wrong with a definition: the path of the part, and what to do about it."""

    path: Path
    message: str

    def __str__(self) -> str:
        """The path as people write it, counted from 1, and the message: "fields[2].when: …"."""
        where = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in self.path)
        return f"{where.removeprefix('.')}: {self.message}" if where else self.message


class BadDefinition(ValueError):
    """A definition that makes no task type. Carries every fault."""

    def __init__(self, faults: Sequence[DefinitionFault]) -> None:
        self.faults = list(faults)
        super().__init__("\n".join(map(str, faults)))
