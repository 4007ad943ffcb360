"""Mutations of JavaScript: operators, numbers, conditions, returned values and calls; no texts, comments or imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {"===": "!==", "!==": "===", "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
LOGIC = {"&&": "||", "||": "&&", "??": "&&", "+=": "-=", "-=": "+=", "++": "--", "--": "++"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
LITERALS = {"true": "false", "false": "true"}
BEFORE_EXPRESSION = {"return", "typeof", "case", "in", "of", "await", "else", "void", "delete", "yield"}
"""Names after which `/` begins a regular expression and `+` is a sign."""

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*) | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<number>\d[\w.]*) | (?P<name>[\w$\#]+) | (?P<space>\s+)
    | (?P<mark>===|!==|=>|\.\.\.|&&=|\|\|=|\?\?=|&&|\|\||\?\?|\?\.|\+\+|--|\*\*|<<|>>>?|[-+*/%&|^<>=!]=|.)""",
    re.VERBOSE | re.DOTALL,
)
REGULAR_EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*")
STATEMENT = re.compile(
    r"(?:await )?(?!return\b|if\b|for\b|while\b|switch\b|super\b|import\b)[\w$#.?]+\(.*\);"
)


@dataclass(frozen=True)
class Token:
    """A token that is neither space nor comment."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_operand(self) -> bool:
        if self.kind == "name":
            return self.text not in BEFORE_EXPRESSION
        return self.kind != "mark" or self.text in (")", "]", "}")


def mutations(source: str) -> list[tuple[int, int, int, str]]:
    """(line from 0, start, end, new text) of every mutation of one line, sorted."""
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    lines = source.split("\n")
    numbers = [0] * (len(source) + 1)
    for number, start in enumerate(starts):
        numbers[start : start + len(lines[number]) + 1] = [number] * (len(lines[number]) + 1)
    mutated = set()
    for start, end, new in _changes(list(tokens(source)), source):
        number = numbers[start]
        is_import = re.match(r"import\b|export [{*]|\} from", lines[number])
        if number == numbers[end] and not is_import:
            mutated.add((number, start - starts[number], end - starts[number], new))
    return sorted(mutated)


def tokens(source: str) -> Iterator[Token]:
    """The tokens of a script. A template literal is one token with all that is in it."""
    at, last = 0, Token("mark", ";", 0)
    while at < len(source):
        if source[at] == "`":
            token = Token("template", source[at : _end_of_template(source, at + 1)], at)
        else:
            match = TOKEN.match(source, at)
            assert match is not None
            assert match.lastgroup is not None
            expression = REGULAR_EXPRESSION.match(source, at)
            if match.lastgroup == "mark" and expression and not last.is_operand:
                token = Token("expression", expression[0], at)
            else:
                token = Token(match.lastgroup, match[0], at)
        if token.kind not in ("space", "comment"):
            yield token
            last = token
        at = token.end


def _end_of_template(source: str, at: int) -> int:
    """The offset behind the back quote that closes a template literal, whose content begins here."""
    while source[at] != "`":
        if source[at] == "\\":
            at += 2
        elif source.startswith("${", at):
            depth, at = 1, at + 2
            while depth:
                string = TOKEN.match(source, at)
                if source[at] == "`":
                    at = _end_of_template(source, at + 1)
                elif string is not None and string.lastgroup == "string":
                    at = string.end()
                else:
                    depth += (source[at] == "{") - (source[at] == "}")
                    at += 1
        else:
            at += 1
    return at + 1


def _changes(listed: list[Token], source: str) -> Iterator[tuple[int, int, str]]:
    for number, token in enumerate(listed):
        before = listed[number - 1] if number else Token("mark", ";", 0)
        after = listed[number + 1] if number + 1 < len(listed) else before
        if token.kind == "number" and token.text.isdigit() and before.text != ".":
            yield token.start, token.end, str(int(token.text) + 1)
        elif token.text in LITERALS and before.text != ".":
            yield token.start, token.end, LITERALS[token.text]
        elif token.kind == "mark":
            yield from _changed_operator(token, before, after)
            if token.text == "?":
                yield from _swapped_branches(listed, number, source)
        elif token.text == "return":
            yield from _nothing_returned(listed, number)
        elif token.text == "if" and after.text == "(":
            closing = _closing(listed, number + 1)
            if closing is not None:
                yield after.end, closing.start, f"!({source[after.end : closing.start]})"
        if before.text in ("{", "}", ";", ")", "else", "=>"):
            line = source[token.start :].split("\n", 1)[0]
            if STATEMENT.fullmatch(line) and line.count("(") == line.count(")"):
                yield token.start, token.start + len(line), ";"


def _changed_operator(token: Token, before: Token, after: Token) -> Iterator[tuple[int, int, str]]:
    texts = {"string", "template"}
    if token.text in COMPARISONS:
        yield token.start, token.end, COMPARISONS[token.text]
    elif token.text in LOGIC:
        yield token.start, token.end, LOGIC[token.text]
    elif token.text in ARITHMETIC and before.is_operand and texts.isdisjoint((before.kind, after.kind)):
        yield token.start, token.end, ARITHMETIC[token.text]
    elif token.text == "!":
        yield token.start, token.end, ""


def _swapped_branches(listed: list[Token], number: int, source: str) -> Iterator[tuple[int, int, str]]:
    """The two values of a condition `? :` in each other's place."""
    depth, open_conditions, colon = 0, 0, None
    for token in listed[number + 1 :]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == "?" and depth == 0:
            open_conditions += 1
        elif token.text == ":" and depth == 0 and open_conditions:
            open_conditions -= 1
        elif token.text == ":" and depth == 0 and colon is None:
            colon = token
        elif depth < 0 or (depth == 0 and token.text in (",", ";")):
            if colon is None:
                return
            first = source[listed[number].end : colon.start]
            second = source[colon.end : token.start]
            yield listed[number].end, token.start, f" {second.strip()} : {first.strip()}"
            return


def _nothing_returned(listed: list[Token], number: int) -> Iterator[tuple[int, int, str]]:
    depth = 0
    for token in listed[number + 1 :]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text == ";":
            if listed[number + 1].text not in (";", "null", "undefined"):
                yield listed[number].start, token.start, "return undefined"
            return


def _closing(listed: list[Token], number: int) -> Token | None:
    """The bracket that closes the one with this number."""
    depth = 0
    for token in listed[number:]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            return token
    return None
