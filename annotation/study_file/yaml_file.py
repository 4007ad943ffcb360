"""YAML of study files: read by `tableqa.core.guarded_yaml`, and written in the same form."""

import re
from typing import Any

import yaml
from django.utils.translation import gettext
from yaml.nodes import ScalarNode

from tableqa.core import guarded_yaml
from tableqa.core.foreign_values import printable
from tableqa.core.guarded_yaml import Fault, ParsedYaml, Path, YamlError, spell
from tableqa.core.translation import Message
from tasks.shared.schema_errors import MAX_FAULTS

__all__ = ["Fault", "ParsedYaml", "Path", "StudyError", "read", "spell", "write"]


class StudyError(Exception):
    """A study file that cannot be used. Carries the first faults, in the order of lines, at most `MAX_FAULTS`."""

    def __init__(self, faults: list[Fault]) -> None:
        first = sorted(faults, key=lambda fault: fault.line)[:MAX_FAULTS]
        self.faults = [
            Fault(problem.line, printable(problem.where), printable(problem.message)) for problem in first
        ]
        super().__init__("\n".join(map(str, self.faults)))


def read(text: str) -> ParsedYaml:
    """The value of a YAML text with its lines. Raises `StudyError`."""
    try:
        content = guarded_yaml.read(text)
    except YamlError as error:
        raise StudyError([error.fault]) from None
    if not content.lines:
        raise StudyError([Fault(1, "", gettext("The file is empty."))])
    return content


class _Dumper(yaml.SafeDumper):
    """Long texts as they read, lists set in."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


# A text that would be read as a number is written in quotation marks.
_Dumper.add_implicit_resolver("plain", re.compile(f"(?:{guarded_yaml.PLAIN.pattern})$"), None)


def _text(dumper: yaml.SafeDumper, text: str) -> ScalarNode:
    # YAML's plain and single-quoted texts fold line ends of every script; escapes keep them.
    strange = any(not (c.isprintable() or c == "\n") for c in text)
    style = '"' if strange else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Message, _text)


def write(value: Any) -> str:
    """A value as YAML that `read` reads back equal."""
    return str(
        yaml.dump(
            value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
        )
    )
