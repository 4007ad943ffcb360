"""Roles as data, and the page that prints them."""

from __future__ import annotations

import re

import pytest
from django.conf import settings

from annotation.access.roles import DESCRIPTIONS, PERMISSIONS, Permission, Role, permissions

PAGE = settings.BASE_DIR / "docs" / "reference" / "roles.md"


def table() -> str:
    """The table of roles as the page has to print it."""
    lines = [
        "| role | what it is for | " + " | ".join(permission.value for permission in Permission) + " |",
        "|---|---|" + "---|" * len(Permission),
    ]
    for role in Role:
        marks = ["yes" if permission in PERMISSIONS[role] else "" for permission in Permission]
        lines.append(f"| {role.value} | {DESCRIPTIONS[role]} | " + " | ".join(marks) + " |")
    return "\n".join(lines)


def test_the_page_prints_the_roles_as_they_are() -> None:
    found = re.search(r"<!-- roles -->\n(.*)\n<!-- /roles -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)

    assert found is not None
    assert found[1] == table(), "docs/reference/roles.md differs from annotation/access/roles.py"


def test_the_page_explains_every_permission() -> None:
    explained = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert explained == [permission.value for permission in Permission]


def test_every_role_is_described_and_a_viewer_changes_nothing() -> None:
    assert set(PERMISSIONS) == set(DESCRIPTIONS) == set(Role)
    assert permissions(["viewer"]) == {Permission.SEE_PROGRESS}


def test_a_role_that_is_unknown_is_an_error_and_not_a_no() -> None:
    with pytest.raises(ValueError, match="owner"):
        permissions(["owner"])
