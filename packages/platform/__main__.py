"""Askew, installed with pip. The data are in ASKEW_DATA_DIR, by default askew-data/ in the current folder.

  askew demo [--port N]          the platform with its demo world, on this machine only (default port 8000)
  askew predictor [--model DIR]  serve a model that answers questions about tables: the bundled one, or one from a folder
  askew manage COMMAND ...       a platform command; `askew manage help` lists them

Exit status: 0 success, 1 finding or failure (see stderr), 2 usage error.
"""

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

APP = Path(__file__).resolve().parent
COMMANDS = ("demo", "predictor", "manage")


def main() -> int:
    """Run one command as `./run` of the repository does, with the packages that pip installed."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__)
        return 0 if arguments in (["help"], ["-h"], ["--help"]) else 2
    os.environ.setdefault("ASKEW_DATA_DIR", "askew-data")
    sys.path.insert(0, str(APP))
    loader = SourceFileLoader("askew_run", str(APP / "run"))
    run = module_from_spec(spec_from_loader(loader.name, loader))  # type: ignore[arg-type]
    loader.exec_module(run)
    return int(run.main(arguments))


if __name__ == "__main__":
    sys.exit(main())
