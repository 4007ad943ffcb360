"""Verify a release of Askew without Askew: python verifier DIR [--key FILE_OR_FINGERPRINT]

Written from docs/reference/release-format.md. It needs the standard library, and the package cryptography for signatures.
Exit status: 0 consistent, 1 a difference, 2 usage error, 3 consistent, but the signature was not checked.
"""

import argparse
import sys
from pathlib import Path

from figures import check_agreement, check_decisions
from records import Difference, Release, check_files, check_manifest, check_order
from signature import check_signature, trusted_keys
from tables import check_tables

ALWAYS_OPEN = (
    "whether responses meet the contract of their task type",
    "whether originals are those of the public dataset",
    "whether the records are those that people made",
)


def verify(folder: Path, trusted: set[str]) -> tuple[Release, str, bool]:
    """Check everything in order. Raises Difference at the first fault."""
    release = Release(folder)
    check_files(release)
    signed, is_checked = check_signature(release, trusted)
    release.read()
    for check in (check_manifest, check_order, check_tables, check_decisions, check_agreement):
        check(release)
    return release, signed, is_checked


def main(arguments: list[str]) -> int:
    """Print what was checked, what was not, and by whom the release is signed."""
    parser = argparse.ArgumentParser(prog="verifier", description="Verify a release of Askew without Askew.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", default="", metavar="FILE_OR_FINGERPRINT")
    options = parser.parse_args(arguments)
    try:
        trusted = trusted_keys(options.key) if options.key else set()
        release, signed, is_checked = verify(options.folder, trusted)
    except Difference as difference:
        print(f"Difference: {difference}")
        return 1
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OSError) as error:
        print(f"Difference: a record does not have the form of a release ({type(error).__name__}: {error})")
        return 1
    print(
        "Consistent: " + ", ".join(f"{count} {name}" for name, count in sorted(release.checked.items())) + "."
    )
    print("Not checked:")
    for name, count in sorted(release.not_checked.items()):
        print(f"  {name} ({count})")
    for name in ALWAYS_OPEN:
        print(f"  {name}")
    print(signed)
    return 0 if is_checked else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
