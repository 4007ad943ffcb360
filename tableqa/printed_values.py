"""Lists and objects as Python and NumPy print them, read without running them.

`ast.literal_eval` is not used for data: it joins texts that stand side by side, as NumPy prints those of an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from tableqa.json_text import DEEPEST

_TOKEN = re.compile(
    r"""(\s*+)(?:(?P<text>'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_][\w.]*+)|(?P<sign>[][(){},:=]))"
)
_ESCAPE = re.compile(r"\\(?:([\\'\"nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final = {
    "None": None, "null": None, "nan": None, "NaN": None, "NaT": None,
    "True": True, "true": True, "False": False, "false": False,
}  # fmt: skip
"""NaN is how pandas and NumPy print a missing value."""
_LISTS = re.compile(r"(?:(?:np|numpy)\.)?array|list|tuple")
_SCALARS = re.compile(r"(?:np|numpy)\.(?:str_|bool_?|u?int\d+|float\d+)|Decimal|Timestamp")
_NO_VALUE = "this is no list or object as JSON, Python or NumPy print it"


def printed_value(text: str, number: Callable[[str], Any] = float) -> Any:
    """The value that a text holds; an array and a tuple are lists. ValueError for anything that is not printed so.

    `number` is given the text of each number.
    """
    return _Parser(text, number).whole()


class _Parser:
    """The tokens of a text, and the place of the next one."""

    def __init__(self, text: str, number: Callable[[str], Any]) -> None:
        self._number = number
        self._tokens: list[re.Match[str]] = []
        self._at = place = 0
        text = text.rstrip()
        while place < len(text):
            token = _TOKEN.match(text, place)
            if token is None:
                raise ValueError(_NO_VALUE)
            self._tokens.append(token)
            place = token.end()

    def whole(self) -> Any:
        value = self._value(0)
        self._check(self._at == len(self._tokens))
        return value

    @staticmethod
    def _check(is_right: object) -> None:
        if not is_right:
            raise ValueError(_NO_VALUE)

    def _next(self) -> re.Match[str]:
        self._check(self._at < len(self._tokens))
        self._at += 1
        return self._tokens[self._at - 1]

    def _takes(self, sign: str) -> bool:
        is_next = self._at < len(self._tokens) and self._tokens[self._at]["sign"] == sign
        self._at += is_next
        return is_next

    def _space(self) -> str:
        self._check(self._at < len(self._tokens) and self._tokens[self._at][1])
        return " "

    def _value(self, depth: int) -> Any:
        self._check(depth <= DEEPEST)
        token = self._next()
        if token["text"]:
            return _unescaped(token["text"][1:-1])
        if token["number"]:
            return self._number(token["number"] + "0" * token["number"].endswith("."))
        if token["name"]:
            return self._named(token["name"], depth)
        if token["sign"] == "{":
            return self._object(depth)
        self._check(token["sign"] in ("[", "("))
        return self._items("]" if token["sign"] == "[" else ")", depth)

    def _items(self, end: str, depth: int) -> list[Any]:
        """The values up to a bracket. All have commas between them, or in square brackets all have spaces as in NumPy."""
        items: list[Any] = []
        separators: set[str] = set()
        while not self._takes(end):
            if items:
                separators.add("," if self._takes(",") else self._space())
                if "," in separators and self._takes(end):
                    break  # the comma of a tuple of one
            items.append(self._value(depth + 1))
        self._check(not items or separators in ([{","}] if end == ")" else [set(), {","}, {" "}]))
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._takes("}"):
            self._check(not members or self._takes(","))
            name = self._value(depth + 1)
            self._check(self._takes(":") and not isinstance(name, list | dict) and str(name) not in members)
            members[str(name)] = self._value(depth + 1)
        return members

    def _named(self, name: str, depth: int) -> Any:
        """The value of a word such as None, or of array([...], dtype=object) and np.float64(1.5)."""
        if name in _WORDS:
            return _WORDS[name]
        is_list = _LISTS.fullmatch(name)
        self._check((is_list or _SCALARS.fullmatch(name)) and self._takes("("))
        value = self._value(depth + 1)
        self._check(isinstance(value, list) if is_list else not isinstance(value, list | dict))
        while is_list and self._takes(","):
            self._check(self._next()[0].strip() in ("dtype", "shape") and self._takes("="))
            if self._next()["sign"] == "(":
                self._items(")", depth)
        self._check(self._takes(")"))
        return value


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        sign, *codes = match.groups()
        if sign:
            return _ESCAPED.get(sign, sign)
        code = int(next(filter(None, codes), "110000"), 16)
        if code > 0x10FFFF:
            raise ValueError(_NO_VALUE)
        return chr(code)

    return _ESCAPE.sub(character, text) if "\\" in text else text
