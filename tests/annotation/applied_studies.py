"""Study files applied with the files of their sources, as the command does it."""

from pathlib import Path
from typing import Any

from annotation.study_file import apply
from annotation.study_file.schema import Study


def apply_with_files(
    study: Study, *, folder: Path, files: dict[str, Path] | None = None, **more: Any
) -> apply.ApplyResult:
    """What applying the study did; `folder` and `files` are those of `apply.probe_sources`."""
    return apply.apply(study, probes=apply.probe_sources(study, folder=folder, files=files), **more)
