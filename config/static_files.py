"""Static files of a production build: our own without comments and blanks, all compressed and named by their contents."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rcssmin
import rjsmin
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

OURS = "askew/"


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Ships our scripts and style sheets light, and rewrites the imports between our modules and those of the kinds, so
    that each is loaded once and under one name.

    Scripts of others are left as they are: some name files that they do not ship.
    """

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Put what is shipped in the place of what was copied, before it is named and compressed."""
        for name, (storage, path) in list(paths.items()) if not dry_run else ():
            if text := _own_text(name, storage, path):
                self.delete(name)
                self._save(name, ContentFile(minified(name, text).encode()))
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)
        if not dry_run:
            _make_world_readable(Path(self.location))

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """How a reference inside the file `name` is rewritten."""
        convert: Any = super().url_converter(name, hashed_files, template)

        def converted(match: re.Match[str]) -> str:
            ours = not name.endswith(".js") or name.startswith(OURS) or f"/{OURS}" in match[0]
            return str(convert(match)) if ours else match[0]

        return converted


def _make_world_readable(folder: Path) -> None:
    """A proxy that serves the folder is another user than Askew. With any umask: what is here is for all users."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def minified(name: str, text: str) -> str:
    """A script or style sheet of ours as a site ships it. Nothing is renamed: what is shipped does what was tested."""
    less = rjsmin.jsmin(text) if name.endswith(".js") else rcssmin.cssmin(text)
    return f"{less}\n"


def _own_text(name: str, storage: Any, path: str) -> str:
    """The text of a file of ours, or of a kind's script, which imports ours; "" for one of others."""
    if not name.endswith((".js", ".css")) or name.startswith(("admin/", "rest_framework/")):
        return ""
    if not name.startswith(OURS) and not name.endswith(".js"):
        return ""
    with storage.open(path) as file:
        text: str = file.read().decode("utf-8", errors="replace")
    return text if name.startswith(OURS) or f'"../{OURS}' in text else ""
