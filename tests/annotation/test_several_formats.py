"""A release carries several formats under one name, each in its own folder, over the same raw records."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Release
from annotation.platform.refusals import ActionRefused
from annotation.releases import (
    benchmark_files,
    creation,
    release_diff,
    verification,
)
from annotation.releases.benchmark_files import FORMATS
from annotation.releases.format_descriptions import DESCRIPTIONS, LOSSES
from annotation.releases.manifest import Manifest
from predictor.training.augment import read_release
from tableqa.core.release_rules import RULES
from tableqa.readers import READERS
from tableqa.releases import record_files, release_records
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import describe
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.older_rules import made_by_rules
from tests.annotation.test_mixing import perturbed_thrice

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def perturbed(tmp_path: Path) -> World:
    """Three accepted perturbations of one question, at different levels."""
    world = make_world(tmp_path)
    perturbed_thrice(world)
    return world


def release(world: World, out: Path, format: str | Sequence[str], mix: int | None = None) -> Path:
    creation.make_release(
        project=world.project, name=out.name, format=format, by=None, now=NOON, out=out, mix=mix
    )
    return out


NAMED = {"README.md", "croissant.json"}
"""Files of the format hf that name the release."""


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def rewrite_manifest(folder: Path, **changes: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8")) | changes
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def test_each_folder_holds_what_a_release_in_its_format_alone_holds(perturbed: World, tmp_path: Path) -> None:
    together = release(perturbed, tmp_path / "together", FORMATS)

    assert verification.verify(together)["decisions"] == 3
    found = contents(together)
    for format in FORMATS:
        alone = contents(release(perturbed, tmp_path / format, format))
        ours = {name.removeprefix(f"{format}/") for name in found if name.startswith(f"{format}/")} - {
            "DATA_STATEMENT.md"
        }
        theirs = {name for name in alone if benchmark_files.is_benchmark(name)} - {"manifest.json"}
        assert ours & NAMED == ({"README.md", "croissant.json"} if format == "hf" else set())
        assert ours == theirs
        for name in ours - NAMED:
            assert found[f"{format}/{name}"] == alone[name], f"{format}: {name}"
        for name in release_records.RAW:
            assert found[name] == alone[name]


def test_the_manifest_lists_the_formats_in_one_order_however_they_were_named(
    perturbed: World, tmp_path: Path
) -> None:
    one = release(perturbed, tmp_path / "one" / "v1", ["hf", "freb_tqa", "askew", "hf"])
    other = release(perturbed, tmp_path / "other" / "v1", ["askew", "freb_tqa", "hf"])

    manifest = release_records.read_manifest(one)

    assert (manifest["layout"], manifest["formats"]) == (2, ["askew", "freb_tqa", "hf"])
    assert "format" not in manifest
    assert contents(one) == contents(other)


def test_a_single_format_keeps_the_layout_it_always_had(perturbed: World, tmp_path: Path) -> None:
    listed = release(perturbed, tmp_path / "listed" / "v1", ["robut"])

    manifest = release_records.read_manifest(listed)

    assert (manifest["layout"], manifest["format"]) == (1, "robut")
    assert contents(listed) == contents(release(perturbed, tmp_path / "named" / "v1", "robut"))


def test_a_changed_record_is_found_in_whichever_format_it_is(perturbed: World, tmp_path: Path) -> None:
    sound = release(perturbed, tmp_path / "sound", ["askew", "robut", "suc", "hf"])
    names = [
        name
        for name in release_records.read_manifest(sound)["files"]
        if "/" in name and not name.endswith((".md", ".parquet", "croissant.json"))
    ]
    assert {name.partition("/")[0] for name in names} == {"askew", "robut", "suc", "hf"}
    for name in names:
        forged = tmp_path / "forged"
        shutil.copytree(sound, forged)
        text = (forged / name).read_text("utf-8")
        (forged / name).write_text(
            text.replace("released", "relaesed").replace("Released", "Relaesed"), "utf-8"
        )
        if (forged / name).read_text("utf-8") == text:
            (forged / name).write_text(text[:-1] + " \n", "utf-8")
        rewrite_manifest(forged, files=describe(forged))
        with pytest.raises(Difference, match=name):
            verification.verify(forged)
        shutil.rmtree(forged)


def test_a_file_that_belongs_to_no_format_is_found(perturbed: World, tmp_path: Path) -> None:
    folder = release(perturbed, tmp_path / "release", ["askew", "robut"])
    (folder / "question_type.json").write_text("{}\n")
    rewrite_manifest(folder, files=describe(folder))

    with pytest.raises(Difference, match=r"question_type\.json: does not match the decisions"):
        verification.verify(folder)


@pytest.mark.parametrize(
    ("formats", "fault"),
    [
        (["askew"], "formats must be two or more of"),
        (["robut", "askew"], "formats must be two or more of"),
        (["askew", "nonsense"], "formats must be two or more of"),
        (["askew", "askew"], "formats must be two or more of"),
        ("askew", "the field 'formats' is not a list"),
        (None, "the field 'formats' is not a list"),
    ],
)
def test_a_manifest_that_lists_formats_wrongly_is_named(
    perturbed: World, tmp_path: Path, formats: list[str] | str | None, fault: str
) -> None:
    folder = release(perturbed, tmp_path / "release", ["askew", "robut"])
    rewrite_manifest(folder, formats=formats)

    with pytest.raises(Difference, match=rf"manifest\.json: {fault}"):
        verification.verify(folder)


def test_mixes_lie_with_the_formats_that_have_a_place_for_them_and_are_imported_again(
    perturbed: World, tmp_path: Path
) -> None:
    folder = release(perturbed, tmp_path / "mixed", ["askew", "freb_tqa", "robut"], mix=7)

    assert verification.verify(folder)
    assert (folder / "askew" / "mix.jsonl").is_file()
    assert (folder / "robut" / "wtq_dev_combined.json").is_file()
    mixed = [one for one in READERS["askew"](folder) if one.id.startswith("nu-0~mix")]
    alone = release(perturbed, tmp_path / "alone", "askew", mix=7)
    assert [one.id for one in READERS["askew"](folder)] == [one.id for one in READERS["askew"](alone)]
    assert len(mixed) == 4
    assert [one.example for one in read_release(folder)] == [one.example for one in read_release(alone)]


def test_mixes_need_one_format_that_has_a_place_for_them(perturbed: World, tmp_path: Path) -> None:
    with pytest.raises(ActionRefused, match="freb_tqa, hf does not support mixes"):
        release(perturbed, tmp_path / "mixed", ["freb_tqa", "hf"], mix=7)


def test_a_release_needs_a_format(perturbed: World, tmp_path: Path) -> None:
    with pytest.raises(ActionRefused, match="Choose at least one format"):
        release(perturbed, tmp_path / "none", [])
    with pytest.raises(ActionRefused, match="There is no format 'csv'"):
        release(perturbed, tmp_path / "none", ["askew", "csv"])


def test_releases_differ_in_their_formats_but_not_in_the_records_of_one_that_both_have(
    perturbed: World, tmp_path: Path
) -> None:
    alone = release(perturbed, tmp_path / "alone", "robut")
    together = release(perturbed, tmp_path / "together", ["robut", "suc"])

    found = release_diff.diff_releases(alone, together)

    assert found.manifest == ("format: robut -> robut, suc",)
    assert {file.name.partition("/")[0] for file in found.files} == {"suc"}
    assert all(file.added and not file.removed for file in found.files)


def test_the_command_takes_a_format_more_than_once(perturbed: World, tmp_path: Path) -> None:
    out, said = tmp_path / "release", StringIO()

    call_command(
        "release",
        *("--project", "films", "--name", "1.0", "--format", "lftqa", "--format", "robut", "--out", str(out)),
        stdout=said,
    )

    assert Release.objects.get().formats == ["robut", "lftqa"]
    assert "the format lftqa has no record for the data of this project" in said.getvalue()
    assert "the format robut has no record" not in said.getvalue()
    checked = StringIO()
    call_command("verify_release", str(out), stdout=checked)
    assert "3 decisions" in checked.getvalue()


def test_the_command_takes_the_formats_of_the_project_where_it_names_none(
    perturbed: World, tmp_path: Path
) -> None:
    terms = creation.options(["robut", "askew"], mix=7, purpose="training")
    creation.change_options(project=perturbed.project, terms=terms, by=None, now=NOON)

    call_command("release", "--project", "films", "--name", "1.0", "--out", str(tmp_path / "release"))

    made = Release.objects.get()
    assert (made.formats, made.mix_seed, made.purpose) == (["askew", "robut"], 7, "training")


def client_of(world: World, who: str) -> Client:
    client = Client()
    client.force_login(world.people[who])
    return client


def test_the_api_takes_one_format_or_a_list(perturbed: World) -> None:
    rea = client_of(perturbed, "rea")

    def post(format: Any, name: str = "v1") -> Any:
        body = json.dumps({"name": name, "format": format})
        return rea.post("/api/projects/films/releases/", body, content_type="application/json")

    assert post("robut").json()["formats"] == ["robut"]
    several = post(["hf", "robut"], "v2").json()
    assert (several["format"], several["formats"]) == ("robut", ["robut", "hf"])
    for wrong in ([], "csv", ["askew", "csv"], None, {"askew": 1}, [["askew"]]):
        assert post(wrong).status_code == 422, wrong


def test_the_page_explains_each_format_and_takes_several(perturbed: World) -> None:
    rea = client_of(perturbed, "rea")

    page = rea.get("/projects/films/releases/").content.decode()

    for format in FORMATS:
        words = f"{DESCRIPTIONS[format]} {LOSSES[format]}".strip()
        assert f"<strong>{format}</strong> <span>{words}</span>" in page
    fields = {"name": "v1", "include_unchecked": "on"}
    assert "Select at least one format" in rea.post("/projects/films/releases/", fields).content.decode()
    assert not Release.objects.exists()
    assert rea.post("/projects/films/releases/", {**fields, "format": ["suc", "askew"]}).status_code == 302
    assert Release.objects.get().formats == ["askew", "suc"]
    assert "askew, suc" in rea.get("/projects/films/releases/").content.decode()


def test_every_format_has_a_sentence() -> None:
    assert tuple(DESCRIPTIONS) == tuple(LOSSES) == FORMATS


def test_a_release_says_what_its_formats_leave_out(perturbed: World, tmp_path: Path) -> None:
    out = StringIO()
    formats = ("--format=robut", "--format=torr", "--format=hf")
    call_command("release", "--project=films", "--name=v1", *formats, f"--out={tmp_path / 'out'}", stdout=out)
    for format in ("robut", "torr"):
        assert f"{format}: {LOSSES[format]} The raw records have them." in out.getvalue()
    address = f"/releases/{Release.objects.get().public_id}/"
    page = client_of(perturbed, "rea").get(address).content.decode()
    assert LOSSES["robut"] in page
    assert LOSSES["torr"] in page
    assert LOSSES["suc"] not in page


def test_what_a_format_leaves_out_is_in_none_of_its_records(perturbed: World, tmp_path: Path) -> None:
    out = release(perturbed, tmp_path / "out", FORMATS)
    (torr, *_), (suc, *_) = (
        list(record_files.records(path))
        for path in (out / "torr/torr/wtq_dev_original.jsonl", out / "suc/tables/wtq_dev.jsonl")
    )
    assert torr["context"].keys() == {"header", "rows"}
    assert not torr.keys() & {"history", "decided", "title"}
    assert suc["table"].keys() == {"header", "rows", "caption"}
    assert not suc.keys() & {"history", "decided"}


def test_json_lines_of_our_own_formats_end_in_jsonl_and_those_of_papers_keep_their_names(
    perturbed: World, tmp_path: Path
) -> None:
    together = release(perturbed, tmp_path / "together", FORMATS, mix=7)
    manifest = release_records.read_manifest(together)
    assert manifest["rules"] == RULES
    endings = {
        format: {
            Path(name).suffix for name in manifest["files"] if Manifest.of(manifest).format_of(name) == format
        }
        for format in FORMATS
    }
    own = {format: {".jsonl"} for format in ("askew", "torr", "suc")}
    assert {format: endings[format] for format in own} == own
    assert endings["freb_tqa"] == endings["robut"] == {".json"}
    assert "askew/mix.jsonl" in manifest["files"]
    mixes = [one for one in READERS["askew"](together) if "parts" in one.meta.get("lineage", {})]
    assert mixes


def test_a_release_by_the_rules_before_keeps_its_file_names(perturbed: World, tmp_path: Path) -> None:
    out = release(perturbed, tmp_path / "before", ("askew", "torr", "suc"), mix=7)
    before = made_by_rules(out, 5)
    own = [name for name in before["files"] if Manifest.of(before).format_of(name)]
    assert {Path(name).suffix for name in own} == {".json"}
    assert verification.verify(out)["decisions"] == 3
    assert any("parts" in one.meta.get("lineage", {}) for one in READERS["askew"](out))
    rewrite_manifest(out, rules=6)
    with pytest.raises(Difference, match="jsonl: missing"):
        verification.verify(out)
