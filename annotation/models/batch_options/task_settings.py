"""Terms that say what the work is: its purpose, the variant of the task type and the settings of the task type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils.translation import gettext_noop

from annotation.models.batch_options.term import Context, Term
from annotation.platform.refusals import refuse
from tableqa.core.translation import translate_stored

if TYPE_CHECKING:
    from tasks.contract import TaskType


def _check_variant(value: Any, context: Context) -> str:
    task = context.task
    if task.variants and value not in task.variants:
        refuse(
            "invalid_request",
            "{title} needs a variant: {variants}.",
            title=translate_stored(task.title),
            variants=", ".join(task.variants),
        )
    if not task.variants and value:
        refuse("invalid_request", "{title} has no variants.", title=translate_stored(task.title))
    return str(value)


def filled(task: TaskType, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with the defaults of the task type's JSON Schema."""
    properties: Mapping[str, Any] = task.settings_schema.get("properties", {})
    return {name: spec["default"] for name, spec in properties.items() if "default" in spec} | dict(settings)


def _check_settings(value: Any, context: Context) -> dict[str, Any]:
    """The settings with their defaults, validated by the JSON Schema of the task type."""
    import jsonschema

    task, settings = context.task, filled(context.task, value)
    try:
        jsonschema.validate(settings, dict(task.settings_schema))
    except jsonschema.ValidationError as error:
        where = ".".join(str(part) for part in error.absolute_path) or "settings"
        refuse("invalid_request", f"{where}: {error.message}")
    _require_operations(task, context.values.get("variant", ""), settings)
    return settings


def _require_operations(task: TaskType, variant: str, settings: Mapping[str, Any]) -> None:
    """Refuse a contract that leaves no operation to a task type that edits: no response could be submitted."""
    if "allowed" not in (settings.get("contract") or {}):
        return
    from tableqa import Example, Table  # imported on use: the models import this module
    from tasks.contract import Item

    blank = Example(id="blank", question="", table=Table(["a"], [["b"]]), answers=())
    contract = task.contract(Item(blank, variant, settings))
    own = task.contract(Item(blank, variant, {**settings, "contract": {}}))
    if own is not None and contract is not None and contract.allowed == ():
        refuse(
            "invalid_request",
            "contract.allowed: {title} accepts {names}, and the list contains none of them. Add at least one.",
            title=task.title,
            names=", ".join(own.allowed) if own.allowed else "any operation",
        )


class TaskTerms(models.Model):
    """What the work is."""

    class Purpose(models.TextChoices):
        WORK = "work"
        QUALIFICATION = "qualification"
        CALIBRATION = "calibration"

    purpose = Term(
        label=gettext_noop("Purpose"),
        help=gettext_noop("Work batches decide items. Qualification and calibration batches do not."),
        section="quality",
        choices={
            "work": gettext_noop("work: its decisions become the benchmark"),
            "calibration": gettext_noop(
                "calibration: everyone annotates the same items and compares responses"
            ),
            "qualification": gettext_noop("qualification: people who pass may work in other batches"),
        },
    ).of(models.CharField(max_length=15, choices=Purpose, default=Purpose.WORK))
    variant = Term(
        label=gettext_noop("Variant"),
        help=gettext_noop("For task types with variants."),
        section="task",
        check=_check_variant,
        shape={"type": "string", "description": "for task types with variants"},
        is_in_form=False,
    ).of(models.CharField(max_length=60, blank=True))
    settings = Term(
        label=gettext_noop("Task type settings"),
        usual_in_words="of the task type",
        help=gettext_noop("Settings of the task type; `contract` overrides its terms."),
        section="task",
        check=_check_settings,
        per_task_type=True,
        is_in_form=False,
    ).of(models.JSONField(default=dict))

    class Meta:
        abstract = True
