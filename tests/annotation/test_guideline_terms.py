"""Guidelines say something about every option of their form, by the name that the option has there."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.utils.translation import gettext, override

from annotation.quality import guidelines
from tasks.contract import TaskType, task_types

FLAGS = {
    "answer_check": ("Unanswerable",),
    "relevant_cells": ("Unanswerable",),
    "value_change": ("Unanswerable",),
    "short_table": ("Unanswerable", "The whole table is needed", "The answer is worked out"),
    "header_synonym": ("Does not apply",),
    "header_abbreviation": ("Does not apply",),
    "column_adding": ("Does not apply",),
    "column_extension": ("Does not apply",),
    "column_masking": ("Does not apply",),
}
"""The options that a form has as checkboxes of its own."""


def plain(text: str) -> str:
    """A term as guidelines-terms.js compares it."""
    words = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", text))).strip()
    return re.sub(r"[.:;!?]+$", "", words).lower()


def terms(task: TaskType) -> set[str]:
    html = guidelines.localized_html(None, task)
    return {
        plain(text) for _, text in re.findall(r"<(strong|em|h\d|td|th)\b[^>]*>(.*?)</\1>", html, re.DOTALL)
    }


def options(task: TaskType) -> list[str]:
    """The labels of a form's options, in the language of the page."""
    labels = [gettext(flag) for flag in FLAGS.get(task.key, ())]
    for field in getattr(task, "fields", ()):
        values = [(str(option.value), option.title) for option in getattr(field, "options", ())]
        labels += [value if value.isdigit() else gettext(title) for value, title in values]
    for categories in getattr(task, "levels", {}).values():
        labels += [gettext(category.title) for category in categories]
    return labels


def names(label: str) -> set[str]:
    return {plain(label), plain(re.sub(r"\([^)]*\)", "", label)), plain(label.rpartition(": ")[2])}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("key", sorted(task_types()))
def test_every_option_of_a_form_has_its_part_of_the_guidelines(key: str, language: str) -> None:
    task = task_types()[key]
    with override(language):
        labels = options(task)
        known = terms(task)
    assert labels
    assert [label for label in labels if names(label).isdisjoint(known)] == []
