"""The signing key of a site: created, replaced, used. It is in one file outside the database, the data folder and backups.

`settings.SIGNING_KEY` names the file. Beside it, `FILE.pub` has the public keys, the current one first: only this file is
read by web processes. Without the setting, releases are not signed.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from annotation.platform.refusals import refuse
from tableqa.core.canonical_json import canonical
from tableqa.releases.signatures import ALGORITHM, SIGNATURE, fingerprint, key_message, release_message

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def sign(folder: Path, manifest_digest: str) -> None:
    """Write the signature of a release into its folder; nothing without a key. ActionRefused: the key cannot be read."""
    if settings.SIGNING_KEY is None:
        return
    try:
        key, certificates = read(settings.SIGNING_KEY)
    except (OSError, ValueError, LookupError, TypeError) as error:
        refuse(
            "invalid_request",
            "The signing key {path} cannot be read ({error}). Create it with the command signing_key, or restore the file.",
            path=settings.SIGNING_KEY,
            error=type(error).__name__,
        )
    record = {
        "algorithm": ALGORITHM,
        "key": public_key(key),
        "signature": key.sign(release_message(manifest_digest)).hex(),
        "certificates": certificates,
    }
    (folder / SIGNATURE).write_text(canonical(record) + "\n", encoding="utf-8", newline="\n")


def read(path: Path) -> tuple["Ed25519PrivateKey", list[dict[str, str]]]:
    """The private key of a file, and the certificates of the keys since the first. OSError, ValueError, LookupError."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    record = json.loads(path.read_text("utf-8"))
    key: Any = load_pem_private_key(record["private_key"].encode(), password=None)
    return key, list(record["certificates"])


def create(path: Path) -> str:
    """Write a new key to a file that does not exist. Returns its fingerprint. FileExistsError, OSError."""
    if path.exists():
        raise FileExistsError(f"{path} exists. To replace the key, use --rotate")
    return _write(path, _new_key(), [])


def rotate(path: Path) -> str:
    """Replace the key of a file by a new one, which the old one signs. Returns the new fingerprint."""
    old, certificates = read(path)
    new = _new_key()
    signature = old.sign(key_message(public_key(new))).hex()
    link = {"key": public_key(old), "next": public_key(new), "signature": signature}
    return _write(path, new, [*certificates, link])


def public_key(key: "Ed25519PrivateKey") -> str:
    """The 32 bytes of the public key in hexadecimal digits."""
    return key.public_key().public_bytes_raw().hex()


def public_file(path: Path) -> Path:
    """The file with the public keys that belong to the file of a private one."""
    return path.with_name(f"{path.name}.pub")


def _new_key() -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate()


def _write(path: Path, key: "Ed25519PrivateKey", certificates: list[dict[str, str]]) -> str:
    """Write private and public file, each at once. Only the owner can read the private one."""
    from cryptography.hazmat.primitives import serialization as form

    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()).decode()
    _replace(path, canonical({"private_key": private, "certificates": certificates}) + "\n", mode=0o600)
    keys = [public_key(key), *(link["key"] for link in reversed(certificates))]
    _replace(public_file(path), "".join(map(_public_pem, keys)), mode=0o644)
    return fingerprint(public_key(key))


def _replace(path: Path, text: str, *, mode: int) -> None:
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _public_pem(public: str) -> str:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
    pem = key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo).decode()
    return f"{fingerprint(public)}\n{pem}"
