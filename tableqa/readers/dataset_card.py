"""What the README.md of a dataset on the Hugging Face Hub says in the YAML at its start: files, licence and features."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tableqa.core.translation import phrase
from tableqa.readers.interface import ReaderError, read_text
from tableqa.readers.json_values import kind

README = "README.md"
_LICENCES = {
    "apache-2.0": "Apache-2.0", "mit": "MIT", "odbl": "ODbL-1.0", "odc-by": "ODC-By-1.0", "bsd-3-clause": "BSD-3-Clause",
    "bsd-2-clause": "BSD-2-Clause", "afl-3.0": "AFL-3.0", "gpl-3.0": "GPL-3.0-only", "cc": "", "other": "", "unknown": "",
}  # fmt: skip
"""SPDX identifiers of licence tags of the hub; those of Creative Commons are the tag in capitals."""


def front_matter(folder: Path) -> Mapping[str, Any]:
    """What the YAML at the start of README.md says; {} where there is none. ReaderError where it is damaged."""
    path = folder / README
    if not path.is_file():
        return {}
    lines = read_text(path).replace("\r\n", "\n").split("\n")
    marks = [index for index, line in enumerate(lines) if line.rstrip(" \t") == "---"][:2]
    if len(marks) < 2 or marks[0] > 0:
        return {}
    from tableqa.core import guarded_yaml

    try:
        card = guarded_yaml.read("\n".join(lines[1 : marks[1]])).value
    except guarded_yaml.YamlError as error:
        what = phrase(
            "the YAML at its start cannot be read: {reason}", reason=error.fault.message[:200].rstrip(".")
        )
        mend = phrase("Correct it, or remove the file")
        raise ReaderError(path, error.fault.line + 1, what, mend) from error
    return card if isinstance(card, dict) else {}


def _text(folder: Path, field: str, value: object) -> str:
    """A value that is a text or number, as a text; ReaderError for a list or mapping."""
    if isinstance(value, list | dict):
        what = phrase("{field} is {kind}, not a text", field=field, kind=kind(value))
        raise ReaderError(folder / README, None, what, phrase("Correct it, or remove the file"))
    return "" if value is None else str(value)


def configurations(folder: Path) -> list[Mapping[str, Any]]:
    """The configurations that name files of the folder; ReaderError."""
    configs = front_matter(folder).get("configs")
    return [
        config
        for config in (configs if isinstance(configs, list) else [])
        if isinstance(config, dict) and config.get("data_files")
    ]


def configuration_name(folder: Path, config: Mapping[str, Any]) -> str:
    """The name of a configuration or of its features; ReaderError where it is no text."""
    return _text(folder, "config_name", config.get("config_name", "default"))


def licence(folder: Path) -> str:
    """The licences of a dataset as an SPDX expression, NOASSERTION without one; ReaderError."""
    tags = front_matter(folder).get("license", [])
    texts = [_text(folder, "license", tag) for tag in (tags if isinstance(tags, list) else [tags])]
    return " AND ".join(spdx for text in texts if (spdx := _spdx(text))) or "NOASSERTION"


def _spdx(tag: str) -> str:
    tag = tag.strip().lower()
    return _LICENCES.get(tag, tag.upper() if tag.startswith("cc") else tag)


def features(folder: Path, config_name: str = "default") -> Any:
    """The features of a configuration, or of the only one, as the YAML has them; None without any. ReaderError."""
    stated = front_matter(folder).get("dataset_info")
    infos = [info for info in (stated if isinstance(stated, list) else [stated]) if isinstance(info, dict)]
    named = [info for info in infos if configuration_name(folder, info) == config_name]
    info = next(iter(named), infos[0] if len(infos) == 1 else {})
    return info.get("features")
