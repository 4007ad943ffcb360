"""The signature of a release, checked with the package cryptography."""

import json
import re
from hashlib import sha256
from pathlib import Path

from records import Record, Release, digest, require

PEM = re.compile("-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----")
FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def fingerprint(key: str) -> str:
    """The SHA-256 of a public key of 32 bytes, both in hexadecimal digits."""
    return sha256(bytes.fromhex(key)).hexdigest()


def check_signature(release: Release, trusted: set[str]) -> tuple[str, bool]:
    """What to say of the signature, and whether it was checked. Difference where it is wrong."""
    path = release.folder / "signature.json"
    if not path.is_file():
        return "Not signed: nothing shows who made this release.", True
    record: Record = json.loads(path.read_bytes())
    signer = fingerprint(record["key"])
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return f"signature not checked (by {signer}). To check it: pip install cryptography", False

    def is_valid(key: str, message: str, signature: str) -> bool:
        try:
            public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
            public.verify(bytes.fromhex(signature), message.encode())
        except (InvalidSignature, ValueError):
            return False
        return True

    message = f"askew release {digest(release.manifest)}\n"
    require(
        is_valid(record["key"], message, record["signature"]), "signature.json: is not one of this manifest"
    )
    accepted = set(trusted)
    for link in record["certificates"]:
        valid = is_valid(link["key"], f"askew key {link['next']}\n", link["signature"])
        require(valid, "signature.json: a certificate is not valid")
        if fingerprint(link["key"]) in accepted:
            accepted.add(fingerprint(link["next"]))
    require(not trusted or signer in accepted, f"signature.json: signed by unknown key {signer}")
    return (f"Verified: signed by {signer}." if trusted else f"Signed by unknown key {signer}."), True


def trusted_keys(key: str) -> set[str]:
    """The fingerprints of a file with public keys (PEM), or the fingerprint itself."""
    if FINGERPRINT.fullmatch(key.lower()):
        return {key.lower()}
    from base64 import b64decode

    # The last 32 bytes of the DER form are the key itself.
    keys = [b64decode("".join(text.split()))[-32:] for text in PEM.findall(Path(key).read_text("utf-8"))]
    require(keys, f"{key} has no public key (PEM)")
    return {sha256(public).hexdigest() for public in keys}
