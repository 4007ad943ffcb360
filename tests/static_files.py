"""Static files as `collectstatic` leaves them, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import get_finders

from config.static_files import HashedStaticFilesStorage

OF_OTHERS = ("admin/", "rest_framework/")


class PlainStorage(HashedStaticFilesStorage):
    """The storage of a production build, without the time that compression takes."""

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        return iter(())


def collect(folder: Path) -> Path:
    """Write to the folder what a site ships: with bundles where Node.js is, without the pages of other packages."""
    storage = PlainStorage(location=folder, base_url="/static/")
    sources: dict[str, tuple[Any, str]] = {}
    for path, source in ((path, source) for finder in get_finders() for path, source in finder.list([])):
        if not path.startswith(OF_OTHERS):
            sources[path] = (source, path)
            with source.open(path) as file:
                storage.save(path, file)
    assert not [result for result in storage.post_process(sources) if isinstance(result[2], Exception)]
    return folder
