"""Static files of a production build: scripts in bundles, all compressed and named by their contents."""

import json
import logging
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import starmap
from pathlib import Path
from typing import Any

import rcssmin
from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage

from annotation.templatetags.scripts import bundles, sheet_bundles
from config.bundler import node, write_bundles

OURS = "askew/"
STYLE = re.compile(r"askew/[\w-]+\.css")
IMPORT = re.compile(r'@import url\("([^"]+)"\)(?: layer\((\w+)\))?;')
log = logging.getLogger(__name__)


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Ships our scripts and style sheets light, and rewrites the imports between our modules and those of the kinds, so
    that each is loaded once and under one name.

    Scripts of others are left as they are: some name files that they do not ship.
    """

    support_js_module_import_aggregation = True
    max_post_process_passes = 20  # each settles the importers of what the one before has named

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """Make bundles of modules and sheets, and replace each sheet of ours by its minified form, before it is named."""
        collected = {name: modules for name, modules in bundles().items() if paths.keys() >= {*modules}}
        bundled = _write_bundles(self.location, collected) if collected and not dry_run else {}
        sheets = (
            {} if dry_run else {name: [name] for name in filter(STYLE.fullmatch, paths)} | sheet_bundles()
        )
        texts = {
            name: "".join(_whole(Path(self.path(part))).strip() for part in parts)
            for name, parts in sheets.items()
            if paths.keys() >= {*parts}
        }
        for name, text in texts.items():
            path = Path(self.path(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)
        if bundled:
            self.hashed_files |= bundled
            self.save_manifest()
            yield from ((name, path, True) for name, path in self.compress_files(bundled.values()))
        if not dry_run:
            _make_world_readable(Path(self.location))

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """How a reference inside the file `name` is rewritten; types in comments, which import in circles, are not."""
        convert: Any = super().url_converter(name, hashed_files, template)

        def converted(match: re.Match[str]) -> str:
            ours = not name.endswith(".js") or name.startswith(OURS) or f"/{OURS}" in match[0]
            before = match.string[: match.start("url")]  # a match can begin with the word in a comment
            in_comment = before.rfind("/*") > before.rfind("*/")
            return str(convert(match)) if ours and not in_comment else match[0]

        return converted


def _whole(path: Path) -> str:
    """A style sheet as a site ships it, with those that it imports: a page asks for one file, not for one after the other.

    Each is minified by itself: within a layer rcssmin takes the blank of `nav li :where(a)` away.
    """

    def imported(name: str, layer: str) -> str:
        sheet = _whole(path.parent / name).removeprefix('@charset "UTF-8";').strip()
        return f"@layer {layer}{{{sheet}}}" if layer else sheet

    text = path.read_text("utf-8")
    return "".join(starmap(imported, IMPORT.findall(text))) + minified(IMPORT.sub("", text))


def _write_bundles(folder: str, collected: dict[str, list[str]]) -> dict[str, str]:
    """Write bundles of the modules in the folder; returns their files by path. Without Node.js: none, and a warning.

    A wheel has them already.
    """
    if (shipped := settings.BASE_DIR / "bundles.json").exists():
        shutil.copytree(settings.BASE_DIR / "bundles", Path(folder, "bundles"), dirs_exist_ok=True)
        return dict(json.loads(shipped.read_text("utf-8")))
    if not node():
        log.warning(
            "Scripts are not bundled: install Node.js, run `npm ci --omit=dev`, then collectstatic again."
        )
        return {}
    return write_bundles(Path(folder), collected)


def _make_world_readable(folder: Path) -> None:
    """A proxy that serves the folder is another user than Askew. With any umask: what is here is for all users."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def minified(text: str) -> str:
    """A style sheet of ours as a site ships it."""
    return f"{rcssmin.cssmin(text)}\n"
