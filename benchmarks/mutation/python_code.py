"""Mutations of Python: operators, numbers, returned values and order of arguments; no messages or annotations."""

from __future__ import annotations

import ast

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in"}
COMPARISONS |= {"not in": "in", "is": "is not", "is not": "is"}
OPERATORS = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "|": "&", "&": "|"}
NO_BEHAVIOUR = {
    "gettext",
    "gettext_noop",
    "ngettext",
    "sentence",
    "ActionRefused",
    "cast",
    "format",
    "lru_cache",
    "cache",
}
"""Calls whose arguments are messages, types or sizes of caches: a change there changes no behaviour."""


def mutations(source: str) -> list[tuple[int, int, int, str]]:
    """(line from 0, start, end, new text) of every mutation of one line that is not equivalent by its form."""
    tree, lines = ast.parse(source), source.split("\n")
    drawn: list[tuple[int, int, int, str]] = []

    def text(node: ast.expr) -> str:
        return lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()

    def put(line: int, start: int, end: int, new: str) -> None:
        drawn.append((line - 1, start, end, new))

    def between(left: ast.expr, right: ast.expr, table: dict[str, str]) -> None:
        if left.end_lineno != right.lineno or left.end_col_offset is None:
            return
        gap = lines[right.lineno - 1][left.end_col_offset : right.col_offset]
        operator = gap.strip(" ()")
        if operator in table:
            start = left.end_col_offset + gap.index(operator)
            put(right.lineno, start, start + len(operator), table[operator])

    def mutate(node: ast.AST) -> None:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            between(node.left, node.comparators[0], COMPARISONS)
        elif isinstance(node, ast.BinOp):
            between(node.left, node.right, OPERATORS)
        elif isinstance(node, ast.BoolOp):
            between(node.values[0], node.values[1], {"and": "or", "or": "and"})
        elif (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and node.lineno == node.end_lineno
        ):
            put(node.lineno, node.col_offset, node.operand.col_offset, "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            new = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            put(node.lineno, node.col_offset, node.end_col_offset or 0, new)
        elif isinstance(node, ast.Return) and node.value is not None and node.lineno == node.end_lineno:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                put(node.lineno, node.col_offset, node.end_col_offset or 0, "return None")
        elif isinstance(node, ast.Call) and len(node.args) >= 2 and node.lineno == node.end_lineno:
            first, second = text(node.args[0]), text(node.args[1])
            if first != second and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
                start, end = node.args[0].col_offset, node.args[1].end_col_offset or 0
                middle = lines[node.lineno - 1][node.args[0].end_col_offset : node.args[1].col_offset]
                put(node.lineno, start, end, second + middle + first)

    def visit(node: ast.AST) -> None:
        mutate(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.Call) and _name_of(child.func) in NO_BEHAVIOUR:
                    continue
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    visit(child)

    visit(tree)
    return sorted(mutation for mutation in drawn if lines[mutation[0]].isascii())


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
