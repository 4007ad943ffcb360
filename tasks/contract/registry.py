"""The installed task types, by key."""

import functools
import importlib
from importlib.metadata import entry_points
from pathlib import Path

from tableqa.core.translation import gettext
from tasks.contract.task_type import TaskType

ENTRY_POINT_GROUP = "askew.task_types"
HERE = Path(__file__).resolve().parent.parent


class UnknownTaskType(LookupError):
    """No kind of that name is installed. Names the ones that are."""


@functools.cache
def task_types() -> dict[str, TaskType]:
    """Every kind by its key: the folders here, then the packages that announce themselves."""
    types_by_key: dict[str, TaskType] = {}
    modules = [
        f"tasks.{folder.name}.task" for folder in sorted(HERE.iterdir()) if (folder / "task.py").is_file()
    ]
    modules += [entry.value.partition(":")[0] for entry in entry_points(group=ENTRY_POINT_GROUP)]
    for module in modules:
        task: TaskType = importlib.import_module(module).task
        if task.key in types_by_key:
            raise RuntimeError(f"two task types are called {task.key!r}: {module} and another")
        types_by_key[task.key] = task
    return types_by_key


def task_type(key: str) -> TaskType:
    """The kind of that key. Raises `UnknownTaskType`."""
    try:
        return task_types()[key]
    except KeyError:
        known_keys = ", ".join(sorted(task_types()))
        raise UnknownTaskType(
            gettext("unknown task type {key!r}; known: {known}").format(key=key, known=known_keys)
        ) from None
