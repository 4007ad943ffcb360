"""Whether a decision rule that a person wrote fits a task type, and what is wrong with it.

check_rule(task, {"rule": "majority", "most": 5})     # the rule as a batch stores it; or BadRule
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from tableqa.core.translation import gettext
from tasks.contract.decision_rules import RULES, Rule, fitting_rules
from tasks.contract.decisions import DecisionMethods


class BadRule(ValueError):
    """What a person wrote is no rule, or none for this task type. The message says what is wrong and what would do."""


def check_rule(task: DecisionMethods, data: object, *, overlap: int | None = None) -> dict[str, Any]:
    """A rule as a batch keeps it, every option named; {} for the task type's own. Raises `BadRule`.

    overlap: people per item, where it is known: `most` cannot be fewer.
    """
    if not isinstance(data, Mapping):
        raise BadRule(
            gettext(
                'resolve: write an object such as {"rule": "majority", "most": 5}, or {} for the '
                "default rule."
            )
        )
    if not data:
        return {}
    rules = {rule.name: rule for rule in fitting_rules(task)}
    if not rules:
        message = gettext("resolve: {key} has a fixed decision rule. Remove this setting.")
        raise BadRule(message.format(key=task.key))
    name = data.get("rule")
    if name is None:
        message = gettext("resolve.rule: name one of the rules that fit {key}: {rules}.")
        raise BadRule(message.format(key=task.key, rules=", ".join(rules)))
    if not isinstance(name, str) or name not in rules:
        if str(name) in RULES:
            message = gettext("resolve.rule: {name!r} exists, but does not fit {key}.").format(
                name=name, key=task.key
            )
        else:
            message = gettext("resolve.rule: there is no rule {name!r}{perhaps}").format(
                name=name, perhaps=_did_you_mean(str(name), rules)
            )
        fitting = gettext("{message} These fit: {rules}.")
        raise BadRule(fitting.format(message=message, rules=", ".join(rules)))
    rule = rules[name]
    for option in data:
        if option != "rule" and option not in rule.options:
            message = gettext("resolve.{option}: the rule {name} has no such option{perhaps} ")
            perhaps = _did_you_mean(str(option), rule.options)
            available = gettext("Its options: {options}.") if rule.options else gettext("It has no options.")
            available = available.format(options=", ".join(rule.options))
            raise BadRule(message.format(option=option, name=name, perhaps=perhaps) + available)
    _validate(data, rule)
    full_rule = {**rule.defaults, **data}
    if overlap is not None and "most" in full_rule and full_rule["most"] < overlap:
        message = gettext(
            "resolve.most: {found} is less than the {overlap} people per item. Set at least "
            "{overlap} annotators."
        )
        raise BadRule(message.format(found=full_rule["most"], overlap=overlap))
    return dict(sorted(full_rule.items(), key=lambda pair: (pair[0] != "rule", pair[0])))


def _did_you_mean(name: str, candidates: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, candidates, n=1)
    return f"; did you mean {near[0]}?" if near else "."


def _validate(data: Mapping[str, Any], rule: Rule) -> None:
    import jsonschema

    try:
        jsonschema.validate(dict(data), rule.schema)
    except jsonschema.ValidationError as error:
        where = ".".join(str(part) for part in ("resolve", *error.absolute_path))
        raise BadRule(f"{where}: {error.message}.") from None
