"""The headline of an annotator's page: what the task type asks for."""

from typing import Any

from django import template

register = template.Library()


@register.simple_tag(takes_context=True)
def instruction(context: Any) -> str:
    """The imperative line above the question. Reads `task`, `item` and the `loop` of `assignment` from the context."""
    loop = context["assignment"].get("loop") or {}
    return str(context["task"].instruct(context["item"], has_model=bool(loop.get("model"))))
