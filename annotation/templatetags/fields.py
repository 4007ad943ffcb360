"""What a draft or response holds for a declared field."""

from collections.abc import Mapping
from typing import Any

from django import template

from tableqa.data.own_columns import PREFIX
from tasks.contract import as_lines

register = template.Library()


@register.filter
def entered(data: Any, name: str) -> str | list[str]:
    """The value of a field as its inputs have it: a text, or a list of texts; "" where there is none."""
    value = data.get(name) if isinstance(data, Mapping) else None
    if isinstance(value, list | tuple):
        return [str(part) for part in value]
    return "" if value is None else str(value)


@register.filter
def start_of(value: Any, source: str) -> str:
    """What is entered in a text, or what it begins with if nothing is: value is the text, or what the item shows."""
    if not isinstance(value, Mapping):
        return str(value or "")
    start = value.get(source) or value.get("meta", {}).get(source.removeprefix(PREFIX)) or ""
    if isinstance(start, Mapping):
        return str(start.get("text", ""))  # a context
    return start if isinstance(start, str) else "\n".join(start)


@register.filter
def lines(answers: Any) -> str:
    """Answers as the text of their field, which has one line for each."""
    return as_lines([str(answer) for answer in answers or ()])


@register.filter
def unique(values: Any) -> list[str]:
    """The texts of a list in their order, each once."""
    return list(dict.fromkeys(map(str, values or ())))


@register.filter
def holds(value: Any, option: str) -> bool:
    """Whether what `entered` gives is this option, or has it among others."""
    return option in value if isinstance(value, list) else value == option


@register.filter
def at(values: Any, index: int) -> str:
    """The text at a place of a list; "" where the list is shorter."""
    return str(values[index]) if isinstance(values, list | tuple) and index < len(values) else ""
