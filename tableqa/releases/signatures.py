"""Signatures of releases: Ed25519 (RFC 8032) over the digest of the manifest, in a file beside it.

A public key in a release proves nothing, because a forger can sign with another key. Compare the key with
one that you have from elsewhere. A key that replaces another has a certificate by it: the older key has signed the new one.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tableqa.core.canonical_json import digest
from tableqa.releases.record_files import Difference

SIGNATURE: Final = "signature.json"
FIELDS: Final = {"algorithm": str, "key": str, "signature": str, "certificates": list}
CERTIFICATE: Final = {"key", "next", "signature"}
ALGORITHM: Final = "Ed25519"
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}")
_PUBLIC_KEY: Final = re.compile("-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----")


@dataclass(frozen=True)
class SignatureReport:
    """Who signed a release.

    fingerprint     of the key that signed it; "" if the release is not signed
    is_trusted      the key is one of those to compare with, or has certificates from one of them
    is_checked      False if the package cryptography is missing
    """

    fingerprint: str = ""
    is_trusted: bool = False
    is_checked: bool = True


def release_message(manifest_digest: str) -> bytes:
    """What the key of a site signs for a release."""
    return f"askew release {manifest_digest}\n".encode()


def key_message(public_key: str) -> bytes:
    """What a key signs for the key that replaces it. Public keys are 32 bytes in hexadecimal digits."""
    return f"askew key {public_key}\n".encode()


def fingerprint(public_key: str) -> str:
    """The SHA-256 of the 32 bytes of a public key, in hexadecimal digits. ValueError."""
    return sha256(bytes.fromhex(public_key)).hexdigest()


def trusted_fingerprints(key: str | Path) -> frozenset[str]:
    """The fingerprints that a release is compared with: a fingerprint, or a file with public keys (PEM).

    Raises ValueError for anything else, OSError for a file that cannot be read.
    """
    if _FINGERPRINT.fullmatch(str(key).lower()):
        return frozenset({str(key).lower()})
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    keys = [load_pem_public_key(text.encode()) for text in _PUBLIC_KEY.findall(Path(key).read_text("utf-8"))]
    if not keys or not all(isinstance(public, Ed25519PublicKey) for public in keys):
        raise ValueError(f"{key} has no public Ed25519 key (PEM). Fetch /signing-key.pem of the site again")
    return frozenset(fingerprint(public.public_bytes_raw().hex()) for public in keys)  # type: ignore[union-attr]


def check_signature(
    folder: Path, manifest: Mapping[str, Any], trusted: Collection[str] = (), *, required: bool = False
) -> SignatureReport:
    """Check the signature of a release folder, if it has one.

    trusted: fingerprints of keys; required: the release must be signed by one of them. Raises Difference if the signature
    is not one of this manifest, if another key than a trusted one signed it, or if a required one is missing.
    """
    path = folder / SIGNATURE
    if not path.is_file():
        if required:
            raise Difference(f"{SIGNATURE}: missing, so the release is not signed")
        return SignatureReport()
    record = _record_of(path)
    signer = fingerprint(record["key"])
    try:
        valid = _valid([(record["key"], release_message(digest(manifest)), record["signature"])])
        links = record["certificates"]
        valid_links = _valid((link["key"], key_message(link["next"]), link["signature"]) for link in links)
    except ImportError:
        if trusted:
            raise Difference(
                f"{SIGNATURE}: cannot be checked without the package cryptography. Install it: pip install cryptography"
            ) from None
        return SignatureReport(signer, is_checked=False)
    if not all(valid):
        raise Difference(f"{SIGNATURE}: is not a signature of this manifest by the key {signer}")
    accepted = set(trusted)
    for link, is_valid in zip(links, valid_links, strict=True):
        if not is_valid:
            raise Difference(f"{SIGNATURE}: the key {fingerprint(link['next'])} has no valid certificate")
        if fingerprint(link["key"]) in accepted:
            accepted.add(fingerprint(link["next"]))
    if trusted and signer not in accepted:
        raise Difference(
            f"{SIGNATURE}: signed by unknown key {signer}, not by {', '.join(sorted(trusted))}. Do not use this release "
            "as one of that site"
        )
    return SignatureReport(signer, is_trusted=signer in accepted)


def _record_of(path: Path) -> dict[str, Any]:
    """The record of a signature file. Raises Difference where it does not have its form."""
    try:
        record = json.loads(path.read_bytes())
        if {name: type(value) for name, value in record.items()} != FIELDS:
            raise ValueError("its fields are " + ", ".join(FIELDS))
        if record["algorithm"] != ALGORITHM:
            raise ValueError(f"its algorithm is not {ALGORITHM}")
        if any(set(link) != CERTIFICATE for link in record["certificates"]):
            raise ValueError("a certificate has the fields " + ", ".join(sorted(CERTIFICATE)))
        keys = [record["key"], *(link[name] for link in record["certificates"] for name in ("key", "next"))]
        if not all(_FINGERPRINT.fullmatch(key) for key in keys):  # 32 bytes, too
            raise ValueError("a key is 64 hexadecimal digits")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Difference(f"{SIGNATURE}: not the signature of a release ({error})") from None
    return dict(record)


def _valid(signed: Iterable[tuple[str, bytes, str]]) -> list[bool]:
    """Whether each (public key, message, signature) is right. ImportError without the package cryptography."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    results = []
    for key, message, signature in signed:
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), message)
            results.append(True)
        except (InvalidSignature, ValueError, TypeError):
            results.append(False)
    return results
