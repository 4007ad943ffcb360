"""The form field of an uploaded text file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from tableqa.readers.reader import START, ReaderError, check_is_text


class TextFileField(forms.FileField):
    """A text file in UTF-8 of at most `most` bytes. The cleaned value is its name and its text, None without a file."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most = most

    def clean(self, data: Any, initial: Any = None) -> tuple[str, str] | None:
        file = super().clean(data, initial)
        if not file:
            return None
        if file.size > self.most:
            message = gettext("{name} is larger than {value} MB. Split it.")
            raise ValidationError(message.format(name=file.name, value=self.most // 2**20))
        content = file.read()
        try:
            check_is_text(Path(file.name), content[:START])
            return file.name, content.decode("utf-8-sig")
        except ReaderError as error:
            raise ValidationError(str(error)) from None
        except UnicodeDecodeError:
            message = gettext("{name} is not UTF-8 text. Save it as UTF-8.")
            raise ValidationError(message.format(name=file.name)) from None
