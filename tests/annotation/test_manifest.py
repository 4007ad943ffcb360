"""The manifest of a release: its fields are declared once, and a stored release has the bytes that they give."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from annotation.models import Project, Release
from annotation.payments import data_statement
from annotation.releases import raw_records
from annotation.releases.manifest import DECLARATIONS, TYPES, Contents, Manifest, faults
from tableqa.core.canonical_json import canonical
from tableqa.core.release_rules import under
from tableqa.releases import release_records
from tests.annotation.cast import NOON
from tests.annotation.test_a_release_of_november import KEPT

RECORD = release_records.read_manifest(KEPT)
MINIMAL: dict[str, Any] = {
    name: TYPES[name][0]() for name, field in DECLARATIONS.items() if field.is_required and field.is_in(1, 1)
} | {"layout": 1}


def test_a_stored_manifest_is_read_and_written_byte_for_byte() -> None:
    assert f"{canonical(Manifest.of(RECORD).record())}\n" == (KEPT / "manifest.json").read_text("utf-8")


def test_a_release_of_earlier_rules_lacks_no_field() -> None:
    hint = "declare a new field with the value of releases without it (absent), or the rules that it comes with (since)"
    assert list(faults(RECORD)) == [], hint


def test_the_fields_computed_from_stored_records_are_those_of_the_stored_manifest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data_statement, "count_statement", lambda *_, **__: RECORD.get("statement", {}))
    raw, kept = raw_records.load(KEPT), Manifest.of(RECORD)
    contents = Contents(
        release=Release(
            project=Project(slug=kept.project),
            format=kept.format or kept.formats[0],
            more_formats=(kept.formats or [])[1:],
            mix_seed=kept.mix["seed"] if kept.mix else None,
            purpose=kept.purpose,
        ),
        raw=raw,
        batches=[],
        guidelines=kept.guidelines,
        runs=kept.automatic["runs"] if kept.automatic else [],
        waivers=kept.waivers,
        until=NOON,
        dates={},
        predecessor=None,
        changes={},
        deleted=[],
        other_batches=[],
        redacted=0,
        study=defaultdict(list),
    )

    with under(raw.rules):
        computed = Manifest.of_contents(contents).record()

    # This release has the sentences and the statistics of its time, and no field that is newer.
    fields = RECORD.keys() - {"agreement", "files"}
    assert {name: computed[name] for name in fields} == {name: RECORD[name] for name in fields}
    values = {(one["measure"], one["statistic"]): one["value"] for one in computed["agreement"]}
    assert all(values[one["measure"], one["statistic"]] == one["value"] for one in RECORD["agreement"])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"rules": 9, "purpose": "evaluation", "unverified": [], "statement": {}}, None),
        ({"rules": 8, "unverified": []}, "the field 'unverified' is not one of a manifest"),
        ({"unheard_of": 1}, "the field 'unheard_of' is not one of a manifest"),
        ({"formats": ["askew", "hf"]}, "the field 'formats' is not one of a manifest"),
        ({"layout": 2}, "the field 'format' is not one of a manifest"),
        ({"mix": {}, "automatic": None}, None),
        ({"mix": []}, "the field 'mix' is not an object or null"),
        ({"rules": True}, "the field 'rules' is not a number"),
        ({"purpose": None}, "the field 'purpose' is not a text"),
    ],
)
def test_a_field_is_declared_for_the_layout_and_rules_of_the_release_and_has_its_type(
    change: dict[str, Any], fault: str | None
) -> None:
    assert next(faults(MINIMAL | change), None) == fault


@pytest.mark.parametrize("name", sorted(MINIMAL.keys() - {"layout"}))
def test_a_required_field_is_missed_by_name(name: str) -> None:
    record = {key: value for key, value in MINIMAL.items() if key != name}

    assert list(faults(record)) == [f"the field {name!r} is missing"]


def test_optional_fields_have_a_value_where_a_release_does_not_have_them() -> None:
    manifest = Manifest.of(MINIMAL)

    assert (manifest.rules, manifest.purpose, manifest.statement, manifest.unverified) == (1, "", {}, None)
    assert manifest.record() == MINIMAL
