"""A variable that a template reads and nothing set is an error in tests. Django would go on without it.

`{{ unknown }}` renders as nothing, `{% if unknown %}` is false and `{% for row in unknown %}` is empty: a local that is
renamed in a view leaves a hole in its page, and no test fails. Django's option `string_if_invalid` shows only the first.

Templates of other packages rely on this and are exempt. A lookup in None or "", or of a related row that does not
exist, gives nothing: the value is known to be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.template.base import FilterExpression, Origin, Parser, TokenType, Variable, VariableDoesNotExist
from django.template.context import BaseContext, Context
from django.templatetags.i18n import BlockTranslateNode

OPTIONAL: dict[str, set[str]] = {
    "annotating/_programs.html": {"asks"},
    "annotating/_rated_answer.html": {"assignment.same_question"},
    "annotating/_table.html": {"table_label"},
    "assigning/_section.html": {"field.field.needed"},
    "comparing/_merged.html": {"merged_id", "merged_number", "cell.special", "row.left"},
    "dashboards/_chart.html": {"level"},
    "dashboards/dashboard.html": {"addresses.accepted", "addresses.places", "addresses.submitted"},
    "fields/_scores.html": {"field.highest"},
    "site/_field.html": {"needed"},
    "site/_pages.html": {"at", "name"},
}
"""Parameters that an including template may leave out, by template. Add no others: give a default where it is rendered,
by the view or by `{% include ... with name=None %}`."""

DATA = (
    "assignment.shows",
    "data",
    "job.ids",
    "job.result",
    "option",
    "request.GET",
    "run.ids",
    "run.result",
    "shows",
)
"""Variables that hold what was sent or stored as JSON: any of their keys may be missing."""


class UnknownVariable(BaseException):
    """A template reads a variable that its context does not have.

    Not an Exception: an operator in `{% if %}` is false on any of those.
    """


class _StrictVariable(Variable):
    """A variable in a template of this repository."""

    __slots__ = ("template",)

    def __init__(self, name: str, template: str) -> None:
        super().__init__(name)
        self.template = template

    def resolve(self, context: Any) -> Any:
        try:
            return super().resolve(context)
        except VariableDoesNotExist as error:
            name, parent = error.params
            path = self.var[: f".{self.var}.".index(f".{name}.") + len(name)]
            if parent is None or parent == "" or self._may_lack(path, parent):
                raise
            within = "the context" if isinstance(parent, BaseContext) else f"{type(parent).__name__}"
            raise UnknownVariable(f"{self.template}: {self.var}: {path} is not in {within}") from error

    def _may_lack(self, path: str, parent: Any) -> bool:
        is_data = isinstance(parent, Mapping) and any(path.startswith(f"{name}.") for name in DATA)
        return is_data or path in OPTIONAL.get(self.template, ())


def _template(origin: Origin | None) -> str | None:
    """Its name; None if it belongs to another package."""
    if origin is None:
        return "a string"
    return None if "site-packages" in Path(origin.name).parts else str(origin.template_name or "a string")


def raise_on_unknown_variables() -> None:
    """Change Django in this process, before it compiles a template."""
    compile_expression, translate_block = FilterExpression.__init__, BlockTranslateNode.render

    def compile_strictly(self: FilterExpression, token: str, parser: Parser) -> None:
        compile_expression(self, token, parser)
        template = _template(parser.origin)
        if template is None:
            return
        if isinstance(self.var, Variable):
            self.var = _StrictVariable(str(self.var), template)
        self.filters = [
            (
                function,
                [
                    (is_variable, _StrictVariable(str(value), template) if is_variable else value)
                    for is_variable, value in arguments
                ],
            )
            for function, arguments in self.filters
        ]

    def translate_strictly(self: BlockTranslateNode, context: Context, nested: bool = False) -> str:
        if (template := _template(self.origin)) is not None:
            tokens = (*self.singular, *(self.plural or ()))
            for name in {token.contents for token in tokens if token.token_type == TokenType.VAR}:
                if name not in (*self.extra_context, self.countervar) and name not in context:
                    raise UnknownVariable(
                        f"{template}: {name} of {{% blocktranslate %}} is not in the context"
                    )
        return translate_block(self, context, nested)

    FilterExpression.__init__ = compile_strictly  # type: ignore[method-assign]
    BlockTranslateNode.render = translate_strictly  # type: ignore[method-assign]
