"""Compiled translations: made from the .po files, whole at every moment, and missed by `manage check` where they lack."""

from __future__ import annotations

import gettext
import os
import subprocess
from pathlib import Path
from typing import Any

import polib
import pytest
from django.core import checks
from django.core.management import CommandError, call_command

from annotation.platform import mo_files
from tests.plugin import ROOT

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'


@pytest.fixture
def po(tmp_path: Path) -> Path:
    path = tmp_path / "locale" / "de" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    path.write_text(f'{HEADER}msgid "Save"\nmsgstr "Speichern"\n')
    return path


@pytest.fixture
def locale(po: Path) -> Path:
    return po.parents[2]


def edit(po: Path, seconds: float = 1) -> None:
    """Change the translation, and the time of the file by more than the resolution of the clock."""
    time = po.stat().st_mtime + seconds
    po.write_text(po.read_text().replace("Speichern", "Sichern"))
    os.utime(po, (time, time))


def translate(locale: Path, message: str) -> str:
    return gettext.GNUTranslations((locale / "de/LC_MESSAGES/django.mo").open("rb")).gettext(message)


def test_no_compiled_file_is_in_the_repository() -> None:
    listed = subprocess.run(["git", "ls-files", "*.mo"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert listed.stdout == ""


def test_a_file_is_compiled_once(po: Path, locale: Path) -> None:
    assert mo_files.outdated(locale) == [po]

    assert mo_files.compile_outdated(locale) == [po.with_suffix(".mo")]

    assert translate(locale, "Save") == "Speichern"
    assert mo_files.outdated(locale) == []
    assert mo_files.compile_outdated(locale) == []


@pytest.mark.parametrize("seconds", [-3600, 3600], ids=["older", "newer"])
def test_another_version_of_a_file_is_compiled_again(po: Path, locale: Path, seconds: int) -> None:
    """Also one with an older time, as the files of an archive or of a former version have."""
    mo_files.compile_outdated(locale)
    edit(po, seconds)

    mo_files.compile_outdated(locale)

    assert translate(locale, "Save") == "Sichern"


def test_an_edit_during_compilation_is_compiled_by_the_next_call(
    po: Path, locale: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = polib.POFile.save_as_mofile

    def edit_and_save(self: Any, path: str) -> None:
        edit(po)
        save(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(polib.POFile, "save_as_mofile", edit_and_save)
        mo_files.compile_outdated(locale)
    assert translate(locale, "Save") == "Speichern"

    mo_files.compile_outdated(locale)

    assert translate(locale, "Save") == "Sichern"


def test_a_compilation_that_is_cut_short_leaves_the_previous_file(
    po: Path, locale: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mo_files.compile_outdated(locale)
    edit(po)

    def fill_the_disk(self: Any, path: str) -> None:
        Path(path).write_bytes(self.to_binary()[:20])
        raise OSError("No space left on device")

    monkeypatch.setattr(polib.POFile, "save_as_mofile", fill_the_disk)
    with pytest.raises(OSError, match="No space"):
        mo_files.compile_outdated(locale)

    assert translate(locale, "Save") == "Speichern"
    assert sorted(path.name for path in po.parent.iterdir()) == ["django.mo", "django.po"]
    assert mo_files.outdated(locale) == [po]


def test_services_can_read_what_root_compiled_with_a_narrow_umask(po: Path, locale: Path) -> None:
    po.chmod(0o644)
    before = os.umask(0o077)
    try:
        mo_files.compile_outdated(locale)
    finally:
        os.umask(before)

    assert po.with_suffix(".mo").stat().st_mode & 0o777 == 0o644


def test_the_system_check_names_the_command_that_compiles(po: Path, locale: Path, settings: Any) -> None:
    settings.LOCALE_PATHS = [locale]
    (warning,) = checks.run_checks(tags=[checks.Tags.translation])
    assert (warning.id, warning.level) == ("annotation.W001", checks.WARNING)
    assert str(po) in warning.msg
    assert "manage.py compilemessages" in str(warning.hint)

    call_command("compilemessages")

    assert checks.run_checks(tags=[checks.Tags.translation]) == []
    assert translate(locale, "Save") == "Speichern"


def test_a_broken_file_is_named_with_its_line(po: Path, settings: Any) -> None:
    settings.LOCALE_PATHS = [po.parents[2]]
    po.write_text(f"{HEADER}<<<<<<< HEAD\n")

    with pytest.raises(CommandError, match=r"django\.po \(?line 4\)"):
        call_command("compilemessages")
