"""How commands are written for people: `./run` in a clone, `askew` where pip installed the program."""

# Standard library only: `./run` imports this before anything is installed.
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def program(root: Path) -> str:
    """The program of the folder that `tableqa` is in. A wheel adds the module of its command to the folder."""
    return "./run" if (root / "run").is_file() and not (root / "__main__.py").is_file() else "askew"


PROGRAM = program(_ROOT)


def manage(command: str) -> str:
    """The command line of a platform command and its arguments."""
    return f"{PROGRAM} manage {command}"
