"""What hatchling asks while it builds a wheel of the platform: dependencies, catalogues and bundles of scripts."""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


def requirements(root: str) -> list[str]:
    """The lines of requirements.in without comments."""
    lines = Path(root, "requirements.in").read_text("utf-8").splitlines()
    return list(filter(None, (line.partition("#")[0].strip() for line in lines)))


class Requirements(MetadataHookInterface):
    """The dependencies are those of requirements.in."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `dependencies`."""
        metadata["dependencies"] = requirements(self.root)


class Files(BuildHookInterface[Any]):
    """Compiles the catalogues and, where Node.js and Rolldown are, bundles the scripts."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        sys.path.insert(0, self.root)
        from config import bundler

        self.bundler = bundler if bundler.node() else None

    def dependencies(self) -> list[str]:
        """What the modules import that name the bundles."""
        imported = ("django>", "google-re2")
        return [line for line in requirements(self.root) if line.startswith(imported)] if self.bundler else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files that are not in the repository."""
        root = Path(self.root)
        from annotation.platform.mo_files import compile_outdated

        compile_outdated(root / "locale")
        if self.bundler:
            from annotation.templatetags.scripts import bundles

            self.folder = tempfile.TemporaryDirectory(prefix="askew-bundles-")
            folder = Path(self.folder.name)
            for static in (root / "static", *sorted(root.glob("tasks/*/static"))):
                shutil.copytree(static, folder, dirs_exist_ok=True)
            files = self.bundler.write_bundles(folder, bundles())
            (folder / "bundles.json").write_text(json.dumps(files), "utf-8")
            for name in ("bundles", "bundles.json"):
                build_data["force_include"][str(folder / name)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the bundles, which are in the wheel now."""
        if self.bundler:
            self.folder.cleanup()
