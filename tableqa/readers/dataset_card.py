"""What the README.md of a dataset on the Hugging Face Hub says in the YAML at its start: files, licence and features."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tableqa.language import phrase
from tableqa.readers.reader import ReaderError, read_text

README = "README.md"
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_LICENCES = {
    "apache-2.0": "Apache-2.0", "mit": "MIT", "odbl": "ODbL-1.0", "odc-by": "ODC-By-1.0", "bsd-3-clause": "BSD-3-Clause",
    "bsd-2-clause": "BSD-2-Clause", "afl-3.0": "AFL-3.0", "gpl-3.0": "GPL-3.0-only", "cc": "", "other": "", "unknown": "",
}  # fmt: skip
"""SPDX identifiers of licence tags of the hub; those of Creative Commons are the tag in capitals."""


def front_matter(folder: Path) -> Mapping[str, Any]:
    """What the YAML at the start of README.md says; {} where there is none. ReaderError where it is damaged."""
    import yaml

    path = folder / README
    if not path.is_file():
        return {}
    match = _FRONT_MATTER.match(read_text(path).replace("\r\n", "\n"))
    if match is None:
        return {}
    try:
        card = yaml.safe_load(match[1])
    except (yaml.YAMLError, RecursionError) as error:
        what = phrase(
            "the YAML at its start cannot be read: {reason}", reason=" ".join(str(error).split())[:200]
        )
        raise ReaderError(path, None, what, phrase("Correct it, or remove the file")) from error
    return card if isinstance(card, dict) else {}


def configurations(folder: Path) -> list[Mapping[str, Any]]:
    """The configurations that name files of the folder; ReaderError."""
    configs = front_matter(folder).get("configs")
    return [
        config
        for config in (configs if isinstance(configs, list) else [])
        if isinstance(config, dict) and config.get("data_files")
    ]


def configuration_name(config: Mapping[str, Any]) -> str:
    """The name of a configuration or of its features."""
    return str(config.get("config_name", "default"))


def licence(folder: Path) -> str:
    """The licences of a dataset as an SPDX expression, NOASSERTION without one; ReaderError."""
    tags = front_matter(folder).get("license", [])
    licences = [spdx for tag in (tags if isinstance(tags, list) else [tags]) if (spdx := _spdx(str(tag)))]
    return " AND ".join(licences) or "NOASSERTION"


def _spdx(tag: str) -> str:
    tag = tag.strip().lower()
    return _LICENCES.get(tag, tag.upper() if tag.startswith("cc") else tag)


def features(folder: Path, config_name: str = "default") -> Any:
    """The features of a configuration, or of the only one, as the YAML has them; None without any. ReaderError."""
    stated = front_matter(folder).get("dataset_info")
    infos = [info for info in (stated if isinstance(stated, list) else [stated]) if isinstance(info, dict)]
    named = [info for info in infos if configuration_name(info) == config_name]
    info = next(iter(named), infos[0] if len(infos) == 1 else {})
    return info.get("features")
