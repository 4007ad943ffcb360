"""What hatchling asks while it builds a wheel of the platform: dependencies, catalogues and bundles of scripts."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROLLDOWN = Path("node_modules", "rolldown")


class Requirements(MetadataHookInterface):
    """The dependencies are those of requirements.in."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `dependencies`."""
        lines = Path(self.root, "requirements.in").read_text("utf-8").splitlines()
        packages = (line.partition("#")[0].strip() for line in lines)
        metadata["dependencies"] = [package for package in packages if package]


class Files(BuildHookInterface[Any]):
    """Compiles the catalogues and, where Node.js and Rolldown are, bundles the scripts."""

    @property
    def node(self) -> str | None:
        """Node.js, if this machine has all that bundles need."""
        return shutil.which("node") if Path(self.root, ROLLDOWN).is_dir() else None

    def dependencies(self) -> list[str]:
        """What the modules import that name the bundles."""
        return ["django>=5.2.19,<5.3", "google-re2"] if self.node else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files that are not in the repository."""
        root = Path(self.root)
        sys.path.insert(0, self.root)
        from annotation.platform.mo_files import compile_outdated

        compile_outdated(root / "locale")
        if self.node:
            from annotation.templatetags.scripts import bundles

            self.folder = tempfile.TemporaryDirectory(prefix="askew-bundles-")
            folder = Path(self.folder.name)
            for static in (root / "static", *sorted(root.glob("tasks/*/static"))):
                shutil.copytree(static, folder, dirs_exist_ok=True)
            build = subprocess.run(
                [self.node, root / "config" / "bundles.js", folder],
                input=json.dumps(bundles()),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            (folder / "bundles.json").write_text(build.stdout, "utf-8")
            for name in ("bundles", "bundles.json"):
                build_data["force_include"][str(folder / name)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the bundles, which are in the wheel now."""
        if self.node:
            self.folder.cleanup()
