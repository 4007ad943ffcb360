"""No regular expression of ours takes more than linear time, whatever text it is given.

Patterns are collected from the code: those that a module keeps, and those that are given to a function of `re`, also by a
loop. A pattern that is made of a text fails the test, for nothing bounds its time. For each pattern long inputs are made
that fit its repeated parts and then fail, and such of beginnings of the pattern whose end is missing, such as "<c <c <c ".
The time for 20,000 characters is compared with that for a tenth of them; for patterns of readers, which meet whole files,
also that for 200,000 characters.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tableqa.data import answer_scales
from tableqa.quality_control import spreadsheet_damage
from tableqa.scoring import replies

compiler, sre, parser = (
    importlib.import_module(f"re._{name}") for name in ("compiler", "constants", "parser")
)
"""The parts of `re` that know of what a pattern is made."""

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("tableqa", "tasks", "predictor", "annotation", "config")
OURS_ONLY = {"annotation/management/catalogues.py", "annotation/releases/model_evaluation/report.py"}
"""They read nothing but this repository."""
MADE = {
    "annotation/background/erased_names.py",
    "annotation/releases/hub_upload.py",
    "tableqa/serialisations/separated_values.py",
}
"""Patterns that a function makes: of people's names as they are (twice), and of a separator, a sign of ours."""
LONG, SHORT = 20_000, 2_000
"""Characters of an input. Linear time takes ten times as long for LONG, quadratic time a hundred times."""
READING = (
    "tableqa/readers/",
    "tableqa/readers/responses/",
    "tableqa/serialisations/",
    "tableqa/core/json_text",
)
"""Modules whose patterns meet files of any length."""
MOST = 40
"""The largest ratio that counts as linear."""
NOTHING = 0.03
"""Seconds of processor time below which no ratio is taken."""


METHODS = ("search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
POOL = 'a1 -.,(\n"A\\_|é[/\x00'
"""Characters of which each class of a pattern is tried with those that it has."""


@dataclass(frozen=True)
class PatternUse:
    """A pattern with the file that has it, and how it is used there: from the front ("match", "fullmatch") or anywhere."""

    place: str
    pattern: re.Pattern[str]
    method: str

    def __str__(self) -> str:
        return f"{self.place} {self.method} {self.pattern.pattern[:60]!r}"


def patterns() -> list[PatternUse]:
    """Every pattern of the product with each way in which it is used, once for each file."""
    found: dict[tuple[str, str, int, str], PatternUse] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if "migrations" in path.parts or path.name in ("tests.py", "asgi.py") or place in OURS_ONLY:
                continue
            source = path.read_text("utf-8")
            if re.search(r"^import re$", source, re.MULTILINE):
                for one in of_module(place, source):
                    found.setdefault((place, one.pattern.pattern, one.pattern.flags, one.method), one)
    return list(found.values())


def of_module(place: str, source: str) -> Iterator[PatternUse]:
    """The patterns that a module keeps in its names, and those that stand in calls of `re`."""
    module = importlib.import_module(place.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    for name, value in list(vars(module).items()):
        used = set(re.findall(rf"\b{name}\.({'|'.join(METHODS)})\b", source))
        for pattern in kept(value):
            for method in used or {"search"}:
                yield PatternUse(place, pattern, plain(method))
    for node in calls(ast.parse(source)):
        assert isinstance(node.func, ast.Attribute)
        values = [
            *node.args[1 if node.func.attr == "compile" else 2 :],
            *(word.value for word in node.keywords),
        ]
        flags = {flag for value in values for flag in flags_of(value)}
        for text in texts_of(node.args[0], source, vars(module), place):
            yield PatternUse(place, re.compile(text, sum(flags)), plain(node.func.attr))


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls of functions of `re`; of `re.compile` those within a function, whose result no module keeps."""
    for within in ast.walk(tree):
        if not isinstance(within, ast.FunctionDef | ast.Module):
            continue
        for node in ast.walk(within):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in (METHODS if isinstance(within, ast.Module) else ("compile",))
            ):
                yield node


def texts_of(pattern: ast.expr, source: str, names: Mapping[str, Any], place: str) -> list[str]:
    """The patterns that an argument stands for: itself, or what a loop over something of the module gives it."""
    try:
        return [eval(compile(ast.Expression(pattern), "pattern", "eval"), dict(names))]
    except NameError:
        pass
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.For | ast.comprehension):
            continue
        targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        if not isinstance(pattern, ast.Name) or pattern.id not in [getattr(one, "id", "") for one in targets]:
            continue
        try:
            rows = eval(compile(ast.Expression(node.iter), "rows", "eval"), dict(names))
        except NameError:
            continue
        at = [getattr(one, "id", "") for one in targets].index(pattern.id)
        found += [row[at] if isinstance(node.target, ast.Tuple) else row for row in rows]
    assert found or place in MADE, (
        f"{place} makes {ast.unparse(pattern)} within a function: keep it in the module"
    )
    return found


def plain(method: str) -> str:
    return method if method in ("match", "fullmatch") else "search"


def kept(value: Any, depth: int = 2) -> Iterator[re.Pattern[str]]:
    """The patterns in a value, or in collections of them."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict | list | tuple | set | frozenset):
        for one in value.values() if isinstance(value, dict) else value:
            yield from kept(one, depth - 1)


def flags_of(argument: ast.expr) -> list[int]:
    """The flags that stand in an argument, as in `re.IGNORECASE | re.DOTALL`."""
    names = [node.attr for node in ast.walk(argument) if isinstance(node, ast.Attribute)]
    return [int(flag) for name in names if isinstance(flag := getattr(re, name, None), re.RegexFlag)]


# -- inputs -----------------------------------------------------------------------------------------


def inputs(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """(beginning, what is repeated) for each part of the pattern that repeats without an end, and for some plain signs."""
    parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    seen = {("", one) for one in POOL}
    seen.update(repeats(parsed, "", pattern.flags))
    seen.update(("", text) for text in unended(parsed, "", pattern.flags))
    yield from sorted(seen)


def unended(sequence: Any, before: str, flags: int) -> Iterator[str]:
    """Texts that fit the first parts of a pattern and lack the others. Literals in a row are one part."""
    parts = list(sequence)
    for number, (op, value) in enumerate(parts, start=1):
        following = parts[number][0] if number < len(parts) else None
        if op is not sre.LITERAL or following is not sre.LITERAL:
            yield from {before + text for text in samples(parts[:number], flags)} - {""}
        for _, inner in bodies(op, value):
            yield from unended(inner, before + next(iter(samples(parts[: number - 1], flags)), ""), flags)


def repeats(sequence: Any, before: str, flags: int) -> Iterator[tuple[str, str]]:
    for op, value in sequence:
        for most, inner in bodies(op, value):
            if most > 50:
                for body in samples(inner, flags):
                    yield before, body
                    yield "", before + body
            yield from repeats(inner, before, flags)
        before += next(iter(samples([(op, value)], flags)), "")


def bodies(op: Any, value: Any) -> list[tuple[int, Any]]:
    """The sequences inside of a part, each with how often it may come."""
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return [(int(value[1]), value[2])]
    if op is sre.SUBPATTERN:
        return [(1, value[-1])]
    if op is sre.ATOMIC_GROUP:
        return [(1, value)]
    if op is sre.BRANCH:
        return [(1, branch) for branch in value[1]]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [(1, value[1])]
    return []


def samples(sequence: Any, flags: int) -> list[str]:
    """Up to six texts that fit a sequence, but for what looks around."""
    texts = [""]
    for op, value in sequence:
        if op is sre.LITERAL:
            further = [chr(value)]
        elif op in (sre.IN, sre.NOT_LITERAL, sre.ANY):
            one = compiler.compile(parser.SubPattern(parser.State(), [(op, value)]), flags & re.DOTALL)
            further = [sign for sign in POOL if one.fullmatch(sign)][:4]
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            further = [text * max(1, int(value[0])) for text in samples(value[2], flags)]
        elif op is sre.BRANCH:
            further = [text for branch in value[1] for text in samples(branch, flags)[:2]]
        elif op in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            further = samples(value[-1] if op is sre.SUBPATTERN else value, flags)
        else:
            continue
        texts = (
            [text + more for text, more in zip(cycle(texts), further, strict=False)][:6] if further else texts
        )
    return texts


# -- time -------------------------------------------------------------------------------------------


def growth(found: PatternUse, before: str, body: str, long: int = LONG, short: int = SHORT) -> float:
    """How many times as long the long input takes as the short one; 0 where both take next to nothing."""
    if seconds(found, before, body, short) < NOTHING * long / LONG / 150:
        return 0.0  # a hundred times as long is next to nothing, too
    ratios = []
    for _ in range(3):
        taken = seconds(found, before, body, long)
        if taken < NOTHING * long / LONG:
            return 0.0
        ratios.append(taken / max(seconds(found, before, body, short), 1e-6))
        if ratios[-1] > 4 * MOST:
            break  # that is no accident of a busy machine
    return min(ratios)


def seconds(found: PatternUse, before: str, body: str, length: int) -> float:
    """Processor time for an input of about this length."""
    text: Any = (before + body * (length // len(body)))[:length] + "\x01"
    if isinstance(found.pattern.pattern, bytes):
        text = text.encode()
    began = time.process_time()
    if found.method == "search":
        for _ in found.pattern.finditer(text):
            pass
    else:
        getattr(found.pattern, found.method)(text)
    return time.process_time() - began


def test_every_pattern_takes_linear_time() -> None:
    found = patterns()
    slow = {
        f"{one}: {before!r} + {body!r} * n"
        for one in found
        for before, body in inputs(one.pattern)
        if body and growth(one, before, body) > MOST
    }

    assert len(found) > 200, "the patterns are found"
    assert not slow


@pytest.mark.slow
def test_patterns_of_readers_take_linear_time_for_long_texts() -> None:
    read = [one for one in patterns() if one.place.startswith(READING)]
    slow = {
        f"{one}: {body!r} * n"
        for one in read
        for body in unended(
            parser.parse(one.pattern.pattern, one.pattern.flags & ~re.UNICODE), "", one.pattern.flags
        )
        if growth(one, "", body, 10 * LONG, LONG) > MOST
    }

    assert len(read) > 50, "the patterns are found"
    assert not slow


@pytest.mark.parametrize(
    "pattern",
    [rb"<row\b([^>]*)>", rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</c>)", rb"<meta\s[^>]*charset=([a-z]{1,40})"],
)
def test_a_pattern_that_searches_an_end_from_each_beginning_is_noticed(pattern: Any) -> None:
    found = PatternUse("here", re.compile(pattern, re.DOTALL), "search")

    assert any(growth(found, before, body) > MOST for before, body in inputs(found.pattern))


def test_a_pattern_of_quadratic_time_is_noticed() -> None:
    found = PatternUse("here", re.compile(r"^\W*operation", re.MULTILINE), "search")

    assert growth(found, "", "\n", LONG // 4, SHORT // 4) > MOST


ENTRIES: dict[str, Callable[[str], object]] = {
    "damage": lambda text: spreadsheet_damage.damage("é-" * (len(text) // 2) + "é", text),
    "damage of dashes": lambda text: spreadsheet_damage.damage("–-" * (len(text) // 2), text),
    "answers": replies.read_answers,
    "final reply": replies.final_reply,
    "scaled": lambda text: answer_scales.compare_scaled([text], ["5"], "percent"),
}
"""What compares or reads texts without a pattern of its own, or with many."""
REPEATED = (
    "-",
    "é-",
    "a. ",
    "People give it a, of b: c. ",
    "There is no example. ",
    "There are no examples. ",
    "[",
    '{"answers": ',
    "<think>",
    "5 ",
)


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("repeated", REPEATED)
def test_long_texts_are_read_in_no_time(name: str, repeated: str) -> None:
    """Where time grows faster than the text, these take minutes."""
    text = (repeated * LONG)[:LONG] + "\x01"
    began = time.process_time()
    ENTRIES[name](text)
    ENTRIES[name](text[-4_000:])
    assert time.process_time() - began < 3
