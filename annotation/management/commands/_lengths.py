"""The options of commands that leave out what is too long for a model: --longest N --tokenizer FOLDER --as FORM."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import UsageError, ended_by
from predictor.tokenizing import read_tokenizer
from tableqa.serialisations import SERIALISATIONS
from tableqa.serialisations.token_lengths import Limit


def add_length_options(parser: ArgumentParser) -> None:
    """Add the options that `limit_of` reads."""
    parser.add_argument(
        "--longest", type=int, metavar="N", help="leave out examples whose table has more tokens than this"
    )
    parser.add_argument(
        "--tokenizer", type=Path, metavar="FOLDER", help="folder with a tokenizer.json (for --longest)"
    )
    parser.add_argument(
        "--as",
        "--serialisation",
        dest="counted_as",
        choices=sorted(SERIALISATIONS),
        metavar="SERIALISATION",
        help="table serialisation used for counting (for --longest)",
    )
    parser.add_argument("--with-question", action="store_true", help="count the question too (for --longest)")


def limit_of(options: Mapping[str, Any]) -> Limit | None:
    """The limit that the options name, None where they name none; CommandError where they are incomplete."""
    most, folder, form = options["longest"], options["tokenizer"], options["counted_as"]
    if most is None:
        if folder is not None or form is not None or options["with_question"]:
            raise UsageError("--tokenizer, --as and --with-question need --longest N.")
        return None
    if folder is None or form is None:
        raise UsageError("--longest needs --tokenizer FOLDER and --as SERIALISATION.")
    with ended_by(ValueError, end=UsageError):
        return Limit(most, read_tokenizer(folder), SERIALISATIONS[form], options["with_question"])
