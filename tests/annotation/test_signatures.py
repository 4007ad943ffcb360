"""Releases are signed: by which key, verification compares; a forged release is not signed by the key of the site."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.management import doctor
from annotation.models import Release
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, hub_upload, signing, verification
from tableqa import Release as ReleaseFrames
from tableqa.core.canonical_json import digest
from tableqa.releases.record_files import Difference
from tableqa.releases.signatures import SIGNATURE, check_signature, fingerprint, trusted_fingerprints
from tests.annotation.cast import NOON, World
from tests.annotation.test_releasing import rewrite

RELEASE = Path(__file__).parent / "release_of_november"


@pytest.fixture
def key(tmp_path: Path, settings) -> Path:
    """The signing key of the site."""
    settings.SIGNING_KEY = tmp_path / "signing.key"
    signing.create(settings.SIGNING_KEY)
    return settings.SIGNING_KEY


def signed_copy(folder: Path) -> Path:
    """A copy of a release, signed by the key of the site."""
    shutil.copytree(RELEASE, folder)
    signing.sign(folder, digest(ReleaseFrames.load(folder).manifest))
    return folder


def output_of(capsys, *arguments: object) -> str:
    call_command("verify_release", *map(str, arguments))
    return capsys.readouterr().out


def test_a_release_of_a_site_with_a_key_is_signed_by_it(
    world: World, key: Path, tmp_path: Path, capsys
) -> None:
    labels = world.batch("question_type", size=1)
    world.label(labels, "ada", "extraction")
    out = tmp_path / "release"
    release = creation.make_release(
        project=world.project, name="v1", format=["freb_tqa", "hf"], by=world.rea, now=NOON, out=out
    )
    public = signing.public_file(key)
    (trusted,) = trusted_fingerprints(public)

    assert check_signature(out, release.manifest, {trusted}, required=True).is_trusted
    assert f"Verified: signed by {trusted}." in output_of(capsys, out, "--key", public, "--require-signature")
    assert f"Verified: signed by {trusted}." in output_of(capsys, out, "--key", trusted)
    assert (creation.folder(release) / SIGNATURE).read_bytes() == (out / SIGNATURE).read_bytes()
    assert doctor.findings() == []


def test_doctor_names_a_signature_that_was_changed(world: World, key: Path) -> None:
    labels = world.batch("question_type", size=1)
    world.label(labels, "ada", "extraction")
    release = creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    path = creation.folder(release) / SIGNATURE
    path.write_text(path.read_text().replace('"signature":"', '"signature":"00'))

    assert any("signature.json: is not a signature" in line for line in doctor.findings())


def test_without_a_key_to_compare_with_nothing_is_called_verified(key: Path, tmp_path: Path, capsys) -> None:
    signer = fingerprint(signing.public_key(signing.read(key)[0]))

    signed = output_of(capsys, signed_copy(tmp_path / "signed"))
    unsigned = output_of(capsys, RELEASE)

    assert f"Signed by unknown key {signer}." in signed
    assert "Not signed" in unsigned
    assert "Verified" not in signed + unsigned


def test_another_key_is_an_unknown_key(key: Path, tmp_path: Path) -> None:
    folder, public = signed_copy(tmp_path / "forged"), tmp_path / "other.key.pub"
    signing.create(tmp_path / "other.key")

    with pytest.raises(CommandError, match=r"signed by unknown key [0-9a-f]{64}, not by"):
        call_command("verify_release", folder, "--key", public)
    with pytest.raises(Difference, match="unknown key"):
        ReleaseFrames.load(folder).verify(public)
    ReleaseFrames.load(folder).verify(signing.public_file(key))


def test_a_signature_of_another_manifest_is_none(key: Path, tmp_path: Path) -> None:
    folder = signed_copy(tmp_path / "forged")
    rewrite(folder, "annotations.jsonl", lambda lines: lines[0].update(active_seconds=99))

    with pytest.raises(Difference, match=r"signature\.json: is not a signature of this manifest"):
        verification.verify(folder)
    with pytest.raises(Difference, match=r"signature\.json: is not a signature of this manifest"):
        ReleaseFrames.load(folder).verify()


def test_a_signature_that_was_taken_away_is_missed(key: Path, tmp_path: Path, capsys) -> None:
    folder = signed_copy(tmp_path / "stripped")
    (folder / SIGNATURE).unlink()
    public = signing.public_file(key)

    assert "Verified" not in output_of(capsys, folder, "--key", public)
    with pytest.raises(CommandError, match="is not signed"):
        call_command("verify_release", folder, "--key", public, "--require-signature")
    with pytest.raises(CommandError, match="needs --key"):
        call_command("verify_release", folder, "--require-signature")


def test_a_replaced_key_is_trusted_by_who_knows_the_old_one_and_not_the_reverse(
    key: Path, tmp_path: Path
) -> None:
    old_release, old = signed_copy(tmp_path / "old"), trusted_fingerprints(signing.public_file(key))
    for _ in range(2):
        signing.rotate(key)
    new_release, keys = signed_copy(tmp_path / "new"), signing.public_file(key)
    newest = {fingerprint(signing.public_key(signing.read(key)[0]))}
    manifest = ReleaseFrames.load(new_release).manifest

    assert check_signature(new_release, manifest, old, required=True).fingerprint in newest
    assert len(trusted_fingerprints(keys)) == 3
    assert check_signature(old_release, manifest, trusted_fingerprints(keys), required=True).is_trusted
    with pytest.raises(Difference, match="unknown key"):
        check_signature(old_release, manifest, newest)


def test_a_certificate_that_no_key_signed_is_refused(key: Path, tmp_path: Path) -> None:
    old = trusted_fingerprints(signing.public_file(key))
    signing.rotate(key)
    folder = signed_copy(tmp_path / "release")
    record = json.loads((folder / SIGNATURE).read_text())
    record["certificates"][0]["signature"] = record["signature"]
    (folder / SIGNATURE).write_text(json.dumps(record))

    with pytest.raises(Difference, match="has no valid certificate"):
        check_signature(folder, ReleaseFrames.load(folder).manifest, old)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"algorithm": "none"}', "[" * 100_000])
def test_a_file_that_is_no_signature_is_named(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    (folder / SIGNATURE).write_text(text)

    with pytest.raises(Difference, match=r"signature\.json: not the signature of a release"):
        verification.verify(folder)


def test_a_file_beside_the_manifest_of_a_folder_within_is_not_overlooked(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    (folder / "more").mkdir()
    (folder / "more" / "manifest.json").write_text("{}")

    with pytest.raises(Difference, match=r"more/manifest\.json: not in the manifest"):
        verification.verify(folder)


def test_the_site_shows_its_public_keys(key: Path, settings) -> None:
    page = Client().get("/signing-key.pem").content.decode()
    assert page == signing.public_file(key).read_text()
    assert "PRIVATE" not in page
    settings.SIGNING_KEY = None
    assert "does not sign" in Client().get("/signing-key.pem").content.decode()


def test_the_command_makes_a_key_once_that_only_its_owner_reads(settings, tmp_path: Path, capsys) -> None:
    settings.SIGNING_KEY = tmp_path / "signing.key"
    call_command("signing_key")
    first = settings.SIGNING_KEY.read_bytes()

    assert settings.SIGNING_KEY.stat().st_mode & 0o777 == 0o600
    assert str(*trusted_fingerprints(tmp_path / "signing.key.pub")) in capsys.readouterr().out
    with pytest.raises(CommandError, match="exists"):
        call_command("signing_key")
    assert settings.SIGNING_KEY.read_bytes() == first
    call_command("signing_key", "--rotate")
    assert settings.SIGNING_KEY.read_bytes() != first
    settings.SIGNING_KEY = None
    with pytest.raises(CommandError, match="SIGNING_KEY is not set"):
        call_command("signing_key")


def test_a_site_whose_key_is_lost_makes_no_unsigned_release(world: World, key: Path) -> None:
    world.label(world.batch("question_type", size=1), "ada", "extraction")
    key.unlink()

    with pytest.raises(ActionRefused, match=r"signing key .* cannot be read"):
        creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)
    assert not Release.objects.exists()


def test_a_dataset_on_the_hub_has_the_signature(world: World, key: Path) -> None:
    world.label(world.batch("question_type", size=1), "ada", "extraction")
    release = creation.make_release(project=world.project, name="v1", format="hf", by=world.rea, now=NOON)

    files = hub_upload.files_to_upload(creation.folder(release), "team/films", [])
    assert SIGNATURE in {file.path for file in files}


def test_a_key_is_a_fingerprint_or_a_file_with_keys(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("This site does not sign its releases.\n")

    with pytest.raises(CommandError, match="no public Ed25519 key"):
        call_command("verify_release", RELEASE, "--key", tmp_path / "empty.pem")
    with pytest.raises(CommandError, match="No such file"):
        call_command("verify_release", RELEASE, "--key", "0" * 63)
