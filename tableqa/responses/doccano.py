"""Responses of doccano's JSON Lines: a file for each annotator, `NAME.jsonl`, in a folder or a zip file.

In the file of a person a line is an example with the labels that this person gave it: the field `label` holds classes or
texts. A single file of a project whose members share annotations has one response per example; its name is the person's.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.language import gettext_noop
from tableqa.readers.records import Fields, plain, read_records
from tableqa.responses.export import GivenResponse, Task, Tool, single_or_several
from tableqa.responses.folder import files, opened

LOSSES = {
    "empty": gettext_noop("examples without a label"),
    "region": gettext_noop("marked spans and relations"),
    "comment": gettext_noop("comments"),
}
_ABOUT = ("label", "labels", "entities", "relations", "Comments")
_MEND = "Export the project as JSONL, and name the zip file or the folder"


def tasks(path: Path) -> Iterator[Task]:
    """The examples of all files, in the order of their first lines; ReaderError."""
    by_id: dict[str, Task] = {}
    with opened(path) as folder:
        for file in files(folder, "*.jsonl", _MEND):
            for record in read_records(file):
                line = record.fields
                id = line.name("id")
                if id not in by_id:
                    shown = {name: value for name, value in line.value.items() if name not in _ABOUT}
                    by_id[id] = Task(id=id, data=Fields(line.place, {**shown, "id": id}))
                if (response := _response(line, file.stem, by_id[id].losses)) is not None:
                    by_id[id].responses.append(response)
    yield from by_id.values()


def _response(line: Fields, person: str, losses: list[str]) -> GivenResponse | None:
    losses += ["region" for name in ("entities", "relations") for _ in line.optional_list(name)]
    losses += ["comment" for _ in line.optional_list("Comments")]
    name = "labels" if "labels" in line else "label"
    given = line.optional_list(name)
    labels: list[Any] = [plain(one) for one in given if isinstance(one, str)]
    losses += ["region"] * (len(given) - len(labels))
    if not labels:
        losses += [] if given else ["empty"]
        return None
    label, nature = single_or_several(labels)
    return GivenResponse(line.place, person, line.name("id"), None, {"label": label}, {"label": nature})


TOOL = Tool("doccano", "doccano", tasks, LOSSES)
