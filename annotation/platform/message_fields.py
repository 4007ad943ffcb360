"""Columns that hold messages: sentences stored as a code and values, shown in the reader's language.

Reading gives a `tableqa.core.translation.Message`, which is the English sentence as a `str`; texts that people wrote
stay plain texts. The columns themselves are ordinary ones, so migrations see the base field.
"""

import json
from typing import Any

from django.db import models

from tableqa.core.translation import pack, pack_all, unpack, unpack_object

_decoder = json.JSONDecoder(object_hook=unpack_object)


class MessageField(models.TextField):
    """A column of text that holds messages and plain texts."""

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        return pack(value) if isinstance(value, str) else super().get_prep_value(value)

    def from_db_value(self, value: str | None, expression: object, connection: object) -> str | None:
        return value and unpack(value)


class MessagesField(models.JSONField):
    """A column of JSON that has messages in it, as values or as keys of objects."""

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(value if hasattr(value, "resolve_expression") else pack_all(value))

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        # Without a message in it: the annotators' loop reads many.
        if not isinstance(value, str) or "code" not in value:
            return super().from_db_value(value, expression, connection)
        return _decoder.decode(value)
