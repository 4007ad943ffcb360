"""Applying a study file passes few modules: those whose functions are called with the study or with a part of it."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from annotation.study_file.parser import parse
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.cast import NOON, make_world

STUDY = """\
study: 1
project: {slug: small, name: Small, must_read: true, pay: {per_hour: 14, currency: EUR}}
consent: We store your responses.
statement: {recruitment: By posters.}
people:
  - {name: Ada, roles: [annotator]}
sources:
  - {name: films, reader: wtq, path: films-dev.tsv}
task_types:
  complexity:
    title: {en: Table complexity}
    instruction: {en: How hard is this table to read?}
    shows: [question, table]
    fields:
      - name: level
        type: choice
        label: {en: Level}
        options: [{value: easy, title: {en: Easy}}, {value: hard, title: {en: Hard}}]
    decide: {field: level, rule: majority}
guidelines:
  question_type: Read the question first.
batches:
  - name: Types
    type: question_type
    sample: {size: 3}
    gold: {percent: 20, items: [{example: nu-0, response: {label: extraction}}]}
    open: true
  - name: Hard
    type: complexity
    sample: {size: 2}
  - name: Short
    type: short_table
    feeds_from: Types
    feeds_when: {label: [reasoning]}
    open: true
perturbations:
  - {kinds: [row_shuffle], seeds: [33], sources: [films]}
"""


def modules_passed(call: Any) -> set[str]:
    """The modules with a function that is called with a part of a study while `call` runs.

    The generated methods of dataclasses are left out: they store a study and do nothing with it.
    """
    modules = set()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename != "<string>":
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            values = [frame.f_locals.get(name) for name in arguments]
            if any(type(value).__module__ == "annotation.study_file.schema" for value in values):
                modules.add(frame.f_globals["__name__"])

    previous = sys.getprofile()
    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(previous)
    return {module for module in modules if module.partition(".")[0] in ("annotation", "tableqa", "tasks")}


@pytest.mark.django_db
def test_applying_a_study_file_passes_at_most_eight_modules(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    study = parse(STUDY)
    results = []
    modules = modules_passed(
        lambda: results.append(
            apply_with_files(study, project=None, by=world.mara, now=NOON, folder=tmp_path)
        )
    )
    (result,) = results
    assert result.failed is None, result.why
    assert {change.section for change in result.done} >= {
        "consent",
        "task type",
        "source",
        "batch",
        "gold",
        "open",
    }
    assert "annotation.study_file.apply" in modules
    assert len(modules) <= 8, sorted(modules)
