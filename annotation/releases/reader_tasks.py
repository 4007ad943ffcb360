"""Tasks of `tableqa.readers.worker_process` on releases. They need Django's models as classes, and have no database."""

import posixpath
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tableqa.readers.archive import UNREADABLE, is_archive
from tableqa.readers.ingestion import ReadRequest
from tableqa.readers.preview import preview
from tableqa.readers.workbook import names_in_archive
from tableqa.releases.record_files import MOST_BYTES


def check_release(request: ReadRequest, progress: Callable[[int], None]) -> Any:
    """`checked_release.check` in a process without a database."""
    set_up()
    from annotation.releases import checked_release

    return checked_release.check(request, progress)


def preview_upload(request: ReadRequest, progress: Callable[[int], None]) -> Any:
    """The first examples of a file (`preview`); of a release in a zip archive what it would restore."""
    if request.tables_in or not (content := manifest_in(Path(request.path))):
        return preview(request, progress)
    set_up()
    from annotation.releases import checked_release

    return checked_release.summarise(content, Path(request.rows).parent / "release")


def manifest_in(path: Path) -> bytes:
    """The manifest of an archive that is a release; b"" for other files, whose preview says what is wrong with them."""
    try:
        names = names_in_archive(path) if is_archive(path) else ()
        manifest = min((name for name in names if posixpath.basename(name) == "manifest.json"), default="")
        if not manifest or posixpath.join(posixpath.dirname(manifest), "annotations.jsonl") not in names:
            return b""
        with zipfile.ZipFile(path) as members, members.open(manifest) as file:
            content = file.read(MOST_BYTES + 1)
    except UNREADABLE:
        return b""
    return content if len(content) <= MOST_BYTES else b""


def set_up() -> None:
    """Set Django up without a database: a query raises ImproperlyConfigured. Elsewhere it is set up already."""
    import django
    import django_stubs_ext
    from django.conf import settings

    if not settings.configured:
        django_stubs_ext.monkeypatch()
        apps = ["django.contrib.contenttypes", "django.contrib.auth", "annotation"]
        settings.configure(INSTALLED_APPS=apps, AUTH_USER_MODEL="annotation.Person", USE_TZ=True)
        django.setup()
