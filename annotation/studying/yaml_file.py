"""YAML as study files use it: plain values, each with the line it stands on.

A subset that says what it looks like: true and false, numbers in decimal, null, texts. `no`, `on`, dates and times are
texts (YAML 1.1 reads them as something else, which has cost people their country codes). A key that stands twice is an
error, not the last one's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from django.utils.translation import gettext
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tableqa.foreign_values import printable
from tableqa.language import Message

MOST_BYTES = 4 * 1024 * 1024
MOST_VALUES = 200_000
"""Values after aliases are written out: a few lines of aliases of aliases can stand for billions."""
DEEPEST = 60

TAGS = frozenset({"map", "seq", "str", "bool", "null", "int", "float"})

Path = tuple[str | int, ...]
"""The way to a value from the top: keys and positions."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a study file: where, and what to do about it."""

    line: int
    where: str
    message: str

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return gettext("line {line}: {message}").format(line=self.line, message=f"{where}{self.message}")


class StudyError(Exception):
    """A study file that cannot be used. Carries every fault that was found, in the order of lines."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = sorted(
            (Fault(fault.line, printable(fault.where), printable(fault.message)) for fault in faults),
            key=lambda fault: fault.line,
        )
        super().__init__("\n".join(map(str, self.faults)))


@dataclass(frozen=True)
class Written:
    """What a file holds: its value, and the line on which each part of it begins. A key's line is that of its name."""

    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """The line of a part; of what it would stand in where it is not there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, message: str) -> Fault:
        return Fault(self.line(path), spell(path), message)


def spell(path: Path) -> str:
    """A path as people write it: batches[2].overlap. Positions count from 1, as people do."""
    said = ""
    for part in path:
        said += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if said else part
    return said


def read(text: str) -> Written:
    """The value of a YAML text with its lines. Raises `StudyError`."""
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        words = gettext("The file is larger than {value} MB. Split it.").format(value=MOST_BYTES // 2**20)
        raise StudyError([Fault(1, "", words)])
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is None:
            raise StudyError([Fault(1, "", gettext("The file is empty."))])
        reading = _Reading()
        return Written(reading.value(node, ()), reading.lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark is not None and re.match(r" *\t", "".join(text.splitlines()[mark.line :][:1])):
            message = gettext("The line begins with a tab. Indent with spaces.")
            raise StudyError([Fault(mark.line + 1, "", message)]) from None
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise StudyError([Fault(mark.line + 1 if mark else 1, "", _not_yaml(problem))]) from None
    except yaml.YAMLError as error:
        raise StudyError([Fault(1, "", _not_yaml(str(error).splitlines()[0]))]) from None
    except RecursionError:
        raise StudyError([Fault(1, "", gettext("The file is nested too deeply."))]) from None


def _not_yaml(problem: str) -> str:
    sentence = gettext(
        "This is not valid YAML: {said}. Put texts that contain , : ? {{ }} [ ] or # in quotation marks."
    )
    return sentence.format(said=problem)


class _Loader(yaml.SafeLoader):
    """Finds out of which kind a plain scalar is; everything else stays as PyYAML has it."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


class _Dumper(yaml.SafeDumper):
    """Long texts as they read, lists set in."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    for _side in (_Loader, _Dumper):  # a text that would be read as a number is written in quotation marks
        _side.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), list(_first))


class _Reading:
    """From nodes to values, with their lines and a limit on how many there are."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.count = 0

    def value(self, node: Node, path: Path) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        self.count += 1
        if self.count > MOST_VALUES or len(path) > DEEPEST:
            words = gettext("The file is too large, or an entry refers to itself.")
            raise StudyError([Fault(line, spell(path[:4]), words)])
        if node.tag.rpartition(":")[2] not in TAGS:
            message = gettext("{tag} is not supported in study files. Remove it.").format(tag=node.tag)
            raise StudyError([Fault(line, spell(path), message)])
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(one, (*path, place)) for place, one in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                words = gettext("A key must be a word, not a list or a mapping.")
                raise StudyError([Fault(line, spell(path), words)])
            name = str(key.value)
            if name in found:
                first = self.lines[(*path, name)]
                message = gettext("{name!r} appears twice, first on line {first}. Remove one.").format(
                    name=name, first=first
                )
                raise StudyError([Fault(line, spell((*path, name)), message)])
            self.lines[(*path, name)] = line
            found[name] = self.value(value, (*path, name))
        return found

    def _scalar(self, node: Node, path: Path) -> Any:
        text, tag = str(node.value), str(node.tag).rpartition(":")[2]
        if tag == "bool":
            return text.lower() == "true"
        if tag == "null":
            return None
        if tag in ("int", "float"):
            try:
                return int(text) if tag == "int" else float(text)
            except ValueError:  # more digits than Python reads
                pass
        return text


# -- writing ----------------------------------------------------------------------------------------


def _text(dumper: yaml.SafeDumper, text: str) -> ScalarNode:
    # YAML's plain and single-quoted texts fold line ends of every script; escapes keep them.
    strange = any(not (c.isprintable() or c == "\n") for c in text)
    style = '"' if strange else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Message, _text)


def write(value: Any) -> str:
    """A value of JSON as YAML that `read` reads back equal."""
    return str(
        yaml.dump(
            value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
        )
    )
