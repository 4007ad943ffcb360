"""YAML of other people: plain values, each with the line that it is on, within limits of size, depth and aliases.

A subset that says what it looks like: true and false, numbers in decimal, null, texts. `no`, `on`, dates and times are
texts (YAML 1.1 reads them as something else, which has cost people their country codes). A key that is twice is an
error, not the last one's. Every limit is checked while libyaml reads: it takes quadratic time for deep files, and PyYAML's
own composer crashes on them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from tableqa.core.translation import gettext

MAX_BYTES = 4 * 1024 * 1024
MAX_VALUES = 50_000
"""Values after aliases are written out: a few lines of aliases of aliases can expand to billions."""
MAX_DEPTH = 60
MAX_DIRECTIVES = 20

_TAGS = frozenset({"map", "seq", "str", "bool", "null", "int", "float"})
PLAIN = re.compile(
    "(?P<bool>true|True|TRUE|false|False|FALSE)|(?P<null>~|null|Null|NULL|)|(?P<int>[-+]?(?:0|[1-9][0-9]*))"
    r"|(?P<float>[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
)
"""What a text without quotes is by its look."""

Path = tuple[str | int, ...]
"""The way to a value from the top: keys and positions."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a file: where, and what to do about it."""

    line: int
    where: str
    message: str

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return gettext("line {line}: {message}").format(line=self.line, message=f"{where}{self.message}")


class YamlError(ValueError):
    """A text that cannot be read, with the first fault."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(str(fault))


@dataclass(frozen=True)
class ParsedYaml:
    """What a file holds: its value, and the line on which each part of it begins. A key's line is that of its name."""

    value: Any
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """The line of a part; of what it would be in where it is not there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, message: str) -> Fault:
        return Fault(self.line(path), spell(path), message)


def spell(path: Path) -> str:
    """A path as people write it: batches[2].overlap. Positions count from 1, as people do."""
    spelled = ""
    for part in path:
        spelled += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if spelled else part
    return spelled


def read(text: str) -> ParsedYaml:
    """The value of a YAML text with its lines; None, and no lines, where it is empty. Raises `YamlError`."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = gettext("The file is larger than {value} MB. Split it.")
        raise _error(1, message.format(value=MAX_BYTES // 2**20))
    if text.count("%TAG") > MAX_DIRECTIVES:  # libyaml compares each with all before
        raise _too_large(1)
    try:
        node = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        lines = text.splitlines()
        line = min(mark.line, len(lines) - 1) + 1 if mark else 1  # libyaml names the line behind the last one
        if re.match(r" *\t", "".join(lines[line - 1 : line])):
            raise _error(line, gettext("The line begins with a tab. Indent with spaces.")) from None
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise _not_yaml(line, problem) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise _not_yaml(1, str(error).splitlines()[0]) from None
    reading = _Reader()
    return ParsedYaml(None if node is None else reading.value(node, ()), reading.lines)


def _error(line: int, message: str, path: Path = ()) -> YamlError:
    return YamlError(Fault(line, spell(path), message))


def _not_yaml(line: int, problem: str) -> YamlError:
    sentence = gettext(
        "This is not valid YAML: {said}. Put texts that contain , : ? {{ }} [ ] or # in quotation marks."
    )
    return _error(line, sentence.format(said=problem))


def _too_large(line: int, path: Path = ()) -> YamlError:
    return _error(line, gettext("The file is too large, or an entry refers to itself."), path[:4])


@dataclass(slots=True)
class _Node:
    """A scalar, or a list or mapping with its parts: keys and values by turns."""

    line: int
    tag: str
    text: str | None
    parts: list[_Node]


def _compose(text: str) -> _Node | None:
    """The tree of a text, in which an alias is its node; None for an empty text."""
    root: _Node | None = None
    above: list[_Node] = []
    anchors: dict[str, _Node] = {}
    count = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, ScalarEvent | SequenceStartEvent | MappingStartEvent):
            node = _Node(line, *_content(event), [])
            if event.anchor:
                anchors[event.anchor] = node
        elif isinstance(event, AliasEvent):
            if event.anchor not in anchors:
                raise _not_yaml(line, f"found undefined alias {event.anchor!r}")
            node = anchors[event.anchor]
        else:
            if isinstance(event, SequenceEndEvent | MappingEndEvent):
                above.pop()
            elif isinstance(event, DocumentStartEvent) and root is not None:
                raise _not_yaml(line, "expected a single document in the stream")
            continue
        if above:
            above[-1].parts.append(node)
        else:
            root = node
        count += 1
        if count > 2 * MAX_VALUES:  # with the keys
            raise _too_large(node.line)
        if isinstance(event, SequenceStartEvent | MappingStartEvent):
            above.append(node)
            if len(above) > MAX_DEPTH:
                raise _error(node.line, gettext("The file is nested too deeply."))
    return root


def _content(event: ScalarEvent | SequenceStartEvent | MappingStartEvent) -> tuple[str, str | None]:
    """The tag of a node, by its look where none is written, and the text of a scalar."""
    tag = "" if event.tag in (None, "!") else str(event.tag)
    if not isinstance(event, ScalarEvent):
        return tag or ("map" if isinstance(event, MappingStartEvent) else "seq"), None
    if not tag and event.implicit[0]:
        matched = PLAIN.fullmatch(event.value)
        tag = (matched.lastgroup or "") if matched else ""
    return tag or "str", event.value


class _Reader:
    """From nodes to values, with their lines and a limit on how many there are."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.count = 0

    def value(self, node: _Node, path: Path) -> Any:
        self.lines.setdefault(path, node.line)
        self.count += 1
        if self.count > MAX_VALUES or len(path) > MAX_DEPTH:
            raise _too_large(node.line, path)
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind not in _TAGS:
            message = gettext("{tag} is not supported in study files. Remove it.").format(tag=node.tag)
            raise _error(node.line, message, path)
        if node.text is not None:
            return _scalar(node.text, kind)
        if kind == "map":
            return self._mapping(node, path)
        return [self.value(part, (*path, position)) for position, part in enumerate(node.parts)]

    def _mapping(self, node: _Node, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in zip(node.parts[::2], node.parts[1::2], strict=True):
            name = key.text
            if name is None:
                raise _error(key.line, gettext("A key must be a word, not a list or a mapping."), path)
            if name in values:
                first = self.lines[(*path, name)]
                message = gettext("{name!r} appears twice, first on line {first}. Remove one.")
                raise _error(key.line, message.format(name=name, first=first), (*path, name))
            self.lines[(*path, name)] = key.line
            values[name] = self.value(value, (*path, name))
        return values


def _scalar(text: str, kind: str) -> str | int | float | bool | None:
    if kind == "bool":
        return text.lower() == "true"
    if kind == "null":
        return None
    if kind in ("int", "float"):
        try:
            return int(text) if kind == "int" else float(text)
        except ValueError:  # more digits than Python reads
            pass
    return text
