"""TAT-QA's derivations as programs: arithmetic text whose numbers are bound to the cells they were copied from.

A derivation (Zhu et al. 2021, section 3) is what an annotator typed beside the answer: "(9,472-7,554)/7,554". The
numbers have only their value. One that is in several cells is bound by the question, by evidence, and by the other
numbers. Results are checked: a program is given only where it yields the gold answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, islice

from tableqa.cells import number_of
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.programs.layout import CellRef, Layout
from tableqa.programs.semantics import run
from tableqa.programs.syntax import (
    Add,
    Cell,
    Choice,
    Divide,
    Expression,
    Minus,
    Multiply,
    Number,
    Percent,
    Pick,
    Program,
    ProgramError,
    RoundedValue,
    Subtract,
)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[$€£]? ?(?:\d[\d,]*)?\.?\d+(?:\.(?!\d))?)(?P<percent> ?%)?"
    r"(?P<scale> ?(?:thousand|million|billion)\b)?|(?P<sign>[-+*/×÷−–()\[\]])|[$€£])",
    re.IGNORECASE,
)
_SIGNS = {"×": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"}

_BINDINGS = 40
"""How many ways of binding the numbers are kept while one number after the other is bound."""

_CANDIDATES = 8
"""How many cells a number may be bound to."""

_GIVEN = 3
"""How many bindings are offered where several yield the gold answer."""

_MOST_LEAVES = 40
_LONGEST = 500


def from_derivation(example: Example, cells: Sequence[CellRef] | None = None) -> list[Program]:
    """The programs that `example.meta["derivation"]` can mean, the likeliest first; every one yields the gold answer.

    `cells` are (row id, column id) of evidence, preferred where a number is in several cells; meta["scale"] says
    whether the answer is in percent. Empty where there is no derivation, where it is prose, where none of its numbers is
    in the table, and where it does not yield the gold answer.
    """
    text = example.meta.get("derivation")
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        return []
    layout = Layout(example.table, example.question, cells or ())
    if re.search(r"[<>]| vs ", text):
        return _comparisons(text, example, layout)
    for style in (_Style(), _Style(brackets=True), _Style(shares=True)):
        try:
            tree = _Parser(text, style).whole()
        except _Prose:
            continue
        if programs := list(islice(_fitting(tree, example, layout), _GIVEN)):
            return programs
    return []


def _fitting(tree: Expression, example: Example, layout: Layout) -> Iterator[Program]:
    """The ways of binding the tree's numbers to cells that yield the gold answer."""
    for bound in _bindings(tree, layout):
        if any(isinstance(node, Cell) for node in bound.walk()):
            program = _program_with_gold_answer(bound, example)
            if program is not None:
                yield program


def _program_with_gold_answer(tree: Expression, example: Example) -> Program | None:
    """The program that yields the gold answer: the tree as it is or in percent, rounded where it divides."""
    ways: list[Expression] = [tree]
    if example.meta.get("scale") == "percent":
        ways.insert(0 if _is_ratio(tree) else 1, Percent(tree))
    gold = [number_of(answer) for answer in example.answers]
    decimals = {number.decimals for number in gold if number is not None and number.decimals <= 12} - {2}
    for way in ways:
        divides = any(isinstance(node, Divide) for node in way.walk())
        # TAT-QA rounds to two places, and leaves out zeros at the end.
        endings = [RoundedValue(way, places) for places in (2, *sorted(decimals))] if divides else [way]
        for program in endings:
            try:
                if compare(run(program, example.table), example.answers).equal:
                    return program
            except ProgramError:
                break
    return None


def _is_ratio(tree: Expression) -> bool:
    """Whether the outermost division is by a quantity and not by a number of terms."""
    while isinstance(tree, Subtract):
        tree = tree.left
    return isinstance(tree, Divide) and not isinstance(tree.right, Number)


# Reading --------------------------------------------------------------------------------------------------------------


class _Prose(ValueError):
    """The derivation is words, not arithmetic."""


@dataclass(frozen=True)
class _Style:
    """brackets: a number alone in brackets is negative; shares: 5% is 0.05."""

    brackets: bool = False
    shares: bool = False


class _Parser:
    """Recursive descent over + - * / and brackets, square ones included; the leaves are `Number`s."""

    def __init__(self, text: str, style: _Style) -> None:
        self.style = style
        self.tokens: list[tuple[str, str]] = []
        self.place = 0
        position, text = 0, text.rstrip(" .=")
        while position < len(text):
            match = _TOKEN.match(text, position)
            if not match:
                raise _Prose
            position = match.end()
            if match["number"]:
                self.tokens.append(("number", self._number(match)))
            elif match["sign"]:
                self.tokens.append(("sign", _SIGNS.get(match["sign"], match["sign"])))

    def _number(self, match: re.Match[str]) -> str:
        value = Decimal(re.sub(r"[^\d.]", "", match["number"]).rstrip("."))
        power = {"thousand": 3, "million": 6, "billion": 9}.get((match["scale"] or "").strip().lower(), 0)
        if match["percent"] and self.style.shares:
            power -= 2
        return f"{value.scaleb(power):f}"

    def whole(self) -> Expression:
        if not 0 < sum(kind == "number" for kind, _ in self.tokens) <= _MOST_LEAVES:
            raise _Prose
        tree = self._sum()
        if self.place != len(self.tokens):
            raise _Prose
        return tree

    def _next(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def _accept(self, *signs: str) -> str:
        sign = self._next()
        if sign in signs and self.tokens[self.place][0] == "sign":
            self.place += 1
            return sign
        return ""

    def _sum(self) -> Expression:
        tree = self._product()
        while sign := self._accept("+", "-"):
            right = self._product()
            if sign == "-":
                tree = Subtract(tree, right)
            elif isinstance(tree, Add):
                tree = Add((*tree.terms, right))
            else:
                tree = Add((tree, right))
        return tree

    def _product(self) -> Expression:
        tree = self._signed()
        while sign := self._accept("*", "/"):
            right = self._signed()
            tree = Multiply((tree, right)) if sign == "*" else Divide(tree, right)
        return tree

    def _signed(self) -> Expression:
        if self._accept("+"):
            return self._signed()
        if self._accept("-"):
            return _negative(self._signed())
        if self._accept("("):
            alone = self.place + 1 < len(self.tokens) and self.tokens[self.place + 1] == ("sign", ")")
            tree = self._sum()
            if not self._accept(")"):
                raise _Prose
            return _negative(tree) if alone and self.style.brackets else tree
        if self.place >= len(self.tokens) or self.tokens[self.place][0] != "number":
            raise _Prose
        self.place += 1
        return Number(self.tokens[self.place - 1][1])


def _negative(tree: Expression) -> Expression:
    if isinstance(tree, Number):
        return Number(tree.value[1:] if tree.value.startswith("-") else f"-{tree.value}")
    return Minus(tree)


# Binding --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Leaf:
    """A number of the derivation, and what the tree says of it.

    constant   whether it counts things and is in no cell
    apart, together   places of earlier numbers that it does not, or does, share its cell with
    before     places of earlier numbers that it is subtracted from
    """

    value: Decimal
    constant: bool = False
    apart: tuple[int, ...] = ()
    together: tuple[int, ...] = ()
    before: tuple[int, ...] = ()


def _bindings(tree: Expression, layout: Layout) -> Iterator[Expression]:
    """The tree with its numbers bound to cells, the likeliest way first."""
    leaves = _leaves(tree)
    beam: list[tuple[float, list[CellRef | None]]] = [(0.0, [])]
    for leaf in leaves:
        candidates = _candidates(leaf, layout)
        longer = []
        for score, bound in beam:
            for own, cell in candidates:
                longer.append((score + own + _fit_with_bound(leaf, cell, bound, layout), [*bound, cell]))
        beam = sorted(longer, key=lambda binding: -binding[0])[:_BINDINGS]
    for _, bound in beam:
        yield _rebuild(tree, leaves, iter(zip(bound, leaves, strict=True)), layout)


def _candidates(leaf: _Leaf, layout: Layout) -> list[tuple[float, CellRef | None]]:
    if leaf.constant:
        return [(0.0, None)]
    candidates: list[tuple[float, CellRef | None]] = []
    for cell, value in layout.cells_with(abs(leaf.value)):
        candidates.append((layout.affinity(cell) + (0.5 if value == leaf.value else 0.0), cell))
    return sorted(candidates, key=lambda candidate: -candidate[0])[:_CANDIDATES] or [(0.0, None)]


def _fit_with_bound(
    leaf: _Leaf, cell: CellRef | None, bound: Sequence[CellRef | None], layout: Layout
) -> float:
    """How well a cell goes with those that the numbers before it were bound to."""
    if cell is None:
        return 0.0
    others = [other for other in bound if other is not None]
    score = 0.0
    if others:
        alike = sum((other[0] == cell[0]) + (other[1] == cell[1]) for other in others if other != cell)
        score += 1.5 * alike / len(others)
    score -= sum(4.0 for index in leaf.apart if index < len(bound) and bound[index] == cell)
    score += sum(3.0 if bound[index] == cell else -3.0 for index in leaf.together if index < len(bound))
    for index in leaf.before:
        if index < len(bound) and (other := bound[index]) is not None:
            # A change is the later less the earlier, which decides where both are equal.
            score += 0.3 * layout.later(other, cell)
    return score


def _rebuild(
    tree: Expression,
    leaves: Sequence[_Leaf],
    bound: Iterator[tuple[CellRef | None, _Leaf]],
    layout: Layout,
) -> Expression:
    match tree:
        case Number():
            cell, leaf = next(bound)
            if cell is None:
                return tree
            return Cell(*cell) if layout.value(cell) == leaf.value else Minus(Cell(*cell))
        case Add() | Multiply():
            return replace(tree, terms=tuple(_rebuild(term, leaves, bound, layout) for term in tree.terms))
        case Subtract() | Divide():
            left_side = _rebuild(tree.left, leaves, bound, layout)
            right_side = _rebuild(tree.right, leaves, bound, layout)
            if isinstance(tree, Subtract) and isinstance(right_side, Minus):
                return Add((left_side, right_side.of))
            return replace(tree, left=left_side, right=right_side)
        case Minus():
            return _negate(_rebuild(tree.of, leaves, bound, layout))
    raise TypeError(f"a derivation has no {tree.op}")


def _negate(tree: Expression) -> Expression:
    """Minus `tree`, without two signs that undo each other: -(5 + 7) over (5) and (7) is their sum."""
    if isinstance(tree, Minus):
        return tree.of
    if isinstance(tree, Add) and all(isinstance(term, Minus) for term in tree.terms):
        return Add(tuple(_negate(term) for term in tree.terms))
    return Minus(tree)


def _leaves(tree: Expression) -> list[_Leaf]:
    """The numbers from left to right, with what the tree says of each."""
    numbers: list[Number] = []
    constants: set[int] = set()
    apart: set[tuple[int, int]] = set()
    together: set[tuple[int, int]] = set()
    before: set[tuple[int, int]] = set()

    def visit(node: Expression) -> list[int]:
        match node:
            case Number():
                numbers.append(node)
                return [len(numbers) - 1]
            case Minus():
                return visit(node.of)
            case Add() | Multiply():
                groups = [visit(term) for term in node.terms]
                for first_group, second_group in combinations(groups, 2):
                    apart.update((i, j) for i in first_group for j in second_group)
                for i in (group[0] for group in groups if len(group) == 1):
                    if isinstance(node, Multiply) and abs(Decimal(numbers[i].value)) == 100:
                        constants.add(i)
                return [i for group in groups for i in group]
            case Subtract():
                left_leaves, right_leaves = visit(node.left), visit(node.right)
                apart.update((i, j) for i in left_leaves for j in right_leaves)
                if len(left_leaves) == len(right_leaves) == 1:
                    before.add((left_leaves[0], right_leaves[0]))
                if (
                    isinstance(node.left, Divide)
                    and len(right_leaves) == 1
                    and abs(Decimal(numbers[right_leaves[0]].value)) == 1
                ):
                    constants.add(right_leaves[0])
                return left_leaves + right_leaves
            case Divide():
                left_leaves, right_leaves = visit(node.left), visit(node.right)
                if len(right_leaves) == 1 and _is_constant_divisor(
                    node.left, Decimal(numbers[right_leaves[0]].value)
                ):
                    constants.add(right_leaves[0])
                elif isinstance(node.left, Subtract) and len(right_leaves) == len(left_leaves) - 1 == 1:
                    same = Decimal(numbers[left_leaves[1]].value) == Decimal(numbers[right_leaves[0]].value)
                    if same:
                        together.add((left_leaves[1], right_leaves[0]))
                else:
                    for i in right_leaves:
                        together.update(
                            (j, i)
                            for j in left_leaves
                            if Decimal(numbers[j].value) == Decimal(numbers[i].value)
                            and isinstance(node.left, Subtract)
                        )
                return left_leaves + right_leaves
        raise TypeError(f"a derivation has no {node.op}")

    visit(tree)

    def partners(pairs: set[tuple[int, int]], i: int) -> tuple[int, ...]:
        return tuple(sorted({partner for partner, other in pairs if other == i}))

    return [
        _Leaf(
            Decimal(number.value),
            i in constants,
            partners(apart, i),
            partners(together, i),
            partners(before, i),
        )
        for i, number in enumerate(numbers)
    ]


def _is_constant_divisor(dividend: Expression, divisor: Decimal) -> bool:
    """Whether a divisor is a number of things: an average's, or 100."""
    while isinstance(dividend, Minus):
        dividend = dividend.of
    terms = 1
    while isinstance(dividend, Add | Subtract):
        if isinstance(dividend, Add):
            terms += len(dividend.terms) - 1
            dividend = dividend.terms[0]
        else:
            terms += 1
            dividend = dividend.left
    return abs(divisor) == 100 or (terms > 1 and (divisor == terms or divisor in (2, 3, 4, 5)))


# Comparisons ----------------------------------------------------------------------------------------------------------


def _comparisons(text: str, example: Example, layout: Layout) -> list[Program]:
    """ "3,574>3,497": which of the labels of these cells is the gold answer, the largest or the smallest."""
    numbers = [
        Decimal(("-" if match[1] else "") + match[2].replace(",", ""))
        for match in re.finditer(r"(\(|-)?(?<![\d.])\$? ?(\d[\d,]*(?:\.\d+)?)(?=[\s)%<>,]|$)", text)
    ]
    numbers = list(dict.fromkeys(abs(number) for number in numbers))
    if not 2 <= len(numbers) <= _MOST_LEAVES or len(example.answers) != 1:
        return []
    programs: list[Program] = []
    for found_cells in layout.lines_with(numbers):
        cells = layout.in_order(found_cells)
        for labels in layout.labels(cells):
            choices = tuple(Choice(label, Cell(*cell)) for label, cell in zip(labels, cells, strict=True))
            for which in ("largest", "smallest"):
                program = Pick(which, choices)
                try:
                    if compare(run(program, example.table), example.answers).equal:
                        programs.append(program)
                except ProgramError:
                    continue
    return programs[:_GIVEN]
