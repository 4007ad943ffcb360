"""`--source` of commands: sources of a project by name or id, and those of a study file by name or number."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from django.core.management.base import OutputWrapper

from annotation.management.commands._escaping import UsageError
from annotation.models import Project, Source
from annotation.study_file.schema import Study

HELP = "name or id of a source; default: all sources"


def sources_named(project: Project, names: Iterable[str], notes: OutputWrapper) -> list[Source]:
    """The sources of these names or ids, each once, in the order of their imports; all where none is named.

    Several imports of one name are all meant by it, and `notes` says so with their ids. CommandError.
    """
    every_source = list(Source.objects.ready().filter(project=project).order_by("pk"))
    chosen: set[int] = set()
    for name in names:
        matches = [source for source in every_source if source.name == name]
        matches = matches or [source for source in every_source if source.public_id == name]
        if not matches:
            described = (
                f"{candidate.name} ({candidate.public_id}, {_counted(candidate)})"
                for candidate in every_source
            )
            available = ", ".join(described) or "none yet"
            raise UsageError(f"{project.slug} has no source {name!r}. Available: {available}.")
        if len(matches) > 1:
            ids = ", ".join(f"{source.public_id} ({_counted(source)})" for source in matches)
            notes.write(
                f"{name} is the name of {len(matches)} sources, and all are used: {ids}. "
                "To use one, give its id as --source."
            )
        chosen.update(source.pk for source in matches)
    return [source for source in every_source if not names or source.pk in chosen]


def _counted(source: Source) -> str:
    count = source.examples_count
    return f"{count} example" if count == 1 else f"{count} examples"


def files_of_study(study: Study, named: Sequence[tuple[str, Path]]) -> dict[int, Path]:
    """The paths by the position of their source in a study file.

    A source is named by its name or its number from 1. CommandError for a name that none or several have.
    """
    listed = [f"{position} ({source.name})" for position, source in enumerate(study.sources, start=1)]
    files: dict[int, Path] = {}
    for name, path in named:
        positions = [at for at, source in enumerate(study.sources) if source.name == name]
        positions = positions or [at for at in range(len(study.sources)) if str(at + 1) == name]
        if not positions:
            available = ", ".join(listed) or "none"
            raise UsageError(f"The file has no source {name!r}. Its sources: {available}.")
        if len(positions) > 1:
            positions_text = ", ".join(str(at + 1) for at in positions)
            raise UsageError(
                f"{name} is the name of {len(positions)} sources of the file, numbers {positions_text}. "
                f"Give the number: --source {positions[0] + 1}=PATH."
            )
        files[positions[0]] = path
    return files
