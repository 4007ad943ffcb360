from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.management.commands._escaping import BaseCommand, UsageError, ended_by
from annotation.releases import history, verification
from tableqa.readers.interface import ReaderError
from tableqa.releases import record_files, signatures
from tableqa.releases.public_sources import PublicFiles, compare_source
from tableqa.releases.release_records import ReleaseRecords, read_manifest


class Command(BaseCommand):
    help = (
        "Replay and recompute everything in a release folder. Needs no database. Stops at the "
        "first difference."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument(
            "--key",
            metavar="FILE_OR_FINGERPRINT",
            help="the release must not be signed by any other site: its public keys (/signing-key.pem) or a fingerprint",
        )
        parser.add_argument(
            "--source",
            action="append",
            default=[],
            metavar="NAME=PATH",
            help="read a public dataset again and compare the originals of this source; repeat it for each import",
        )
        parser.add_argument(
            "--tables", type=Path, metavar="DIR", help="the tables of --source, as for import_examples"
        )
        parser.add_argument(
            "--field",
            action="append",
            default=[],
            metavar="PART=FIELD",
            help="field names of --source, as for import_examples",
        )
        parser.add_argument(
            "--require-signature", action="store_true", help="the release must be signed by --key"
        )
        parser.add_argument(
            "--predecessor",
            type=Path,
            metavar="DIR",
            help="folder of the release before: its number, digest and the changes since are verified, too",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder, key, required = options["folder"], options["key"], options["require_signature"]
        if required and not key:
            raise UsageError("--require-signature needs --key: a forger can sign with another key.")
        fields = {part: names[-1] for part, names in _pairs("--field", options["field"]).items()}
        with ended_by(OSError, ValueError, end=UsageError):
            trusted = signatures.trusted_fingerprints(key) if key else frozenset()
        with ended_by(record_files.Difference):
            checked = verification.verify(folder)
            signed = signatures.check_signature(folder, read_manifest(folder), trusted, required=required)
            if (before := options["predecessor"]) is not None:
                history.check_predecessor(folder, before)
                self.stdout.write(f"The predecessor is {before}.")
        self.stdout.write(
            f"Consistent: {checked['files']} files, {checked['annotations']} annotations, "
            f"{checked['decisions']} decisions, {checked['replayed']} tables replayed, "
            f"{checked['made_again']} automatic perturbations recomputed, "
            f"{checked['figures']} agreement figures recomputed."
        )
        if checked["not_compared"]:
            self.stdout.write(
                f"Krippendorff's alpha was not compared with a second opinion ({checked['not_compared']} figures), "
                "because the package krippendorff is not installed. To compare it: pip install krippendorff"
            )
        if checked["croissant_not_compared"]:
            self.stdout.write(
                "croissant.json was compared with its checksum only, because the package mlcroissant is not installed. "
                "To compare it: pip install mlcroissant"
            )
        for name, paths in _pairs("--source", options["source"]).items():
            public = PublicFiles(list(map(Path, paths)), options["tables"], fields)
            with ended_by(record_files.Difference, ReaderError, ValueError):
                count = compare_source(ReleaseRecords.load(folder), name, public)
            self.stdout.write(f"{name}: {count} originals are those of {', '.join(paths)}.")
        self.stdout.write(_sentence(signed))


def _pairs(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """The values of an option NAME=VALUE by their names."""
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} {text}: write NAME=VALUE.")
        values.setdefault(name, []).append(value)
    return values


def _sentence(signed: signatures.SignatureReport) -> str:
    if not signed.fingerprint:
        return "Not signed: nothing shows who made this release."
    if not signed.is_checked:
        return f"Signature by {signed.fingerprint} not checked. To check it: pip install cryptography"
    if not signed.is_trusted:
        return f"Signed by unknown key {signed.fingerprint}. To compare it with the key of a site, use --key."
    return f"Verified: signed by {signed.fingerprint}."
