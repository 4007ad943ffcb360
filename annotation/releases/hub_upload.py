"""Upload of a release to the Hugging Face Hub, as a new dataset repository.

A release in the format hf is a dataset as the Hub lays one out: its README.md is the dataset card with licence tags and
configurations, and croissant.json its metadata. The repository holds the same files as the release, so a download of it
verifies.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from annotation.platform.refusals import refuse
from annotation.releases import perturbation_records
from annotation.releases.manifest import Manifest
from annotation.releases.raw_records import MANIFEST, SOURCES, read_manifest
from annotation.releases.record_files import Difference
from annotation.releases.verification import verify

TOKEN, ENDPOINT = "HF_TOKEN", "HF_ENDPOINT"
"""Environment variables: the access token, and the address of another hub."""
PUBLIC_HUB: Final = "https://huggingface.co"
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True)
class HubFile:
    """A file to upload: its path in the repository and its size in bytes."""

    path: str
    size: int


def files_to_upload(folder: Path, repository: str, personal: Iterable[str]) -> list[HubFile]:
    """The files that an upload of this release sends, after all checks that need no network.

    `personal` are names and e-mail addresses of people of the project; none of them may be in what they wrote. Raises
    ActionRefused(invalid_request): a wrong repository name, a release in another format, a changed release, a personal name.
    """
    if not _REPOSITORY.fullmatch(repository):
        refuse(
            "invalid_request",
            "{repository!r} is not the name of a repository. Write it as ORGANISATION/NAME, with letters, digits, “-”, "
            "“_” and “.”.",
            repository=repository,
        )
    try:
        manifest = Manifest.of(read_manifest(folder))
        if manifest.every_format != ["hf"]:
            refuse(
                "invalid_request",
                "A dataset on the Hub needs a release in the format hf alone; this one has {formats}. Create one with "
                "--format hf.",
                formats=", ".join(manifest.every_format),
            )
        verify(folder)
    except Difference as difference:
        refuse("invalid_request", "The release does not verify: {error}.", error=str(difference))
    names = sorted([*manifest.files, MANIFEST])
    if location := next(_personal_names(folder, names, personal), None):
        refuse(
            "invalid_request",
            "{place} contains the name or e-mail address of a member of the project. Remove it in the project and create "
            "a new release.",
            place=location,
        )
    return [HubFile(name, (folder / name).stat().st_size) for name in names]


def _personal_names(folder: Path, names: Iterable[str], personal: Iterable[str]) -> Iterator[str]:
    """FILE, line N of each line that people of the project wrote and that names one of them.

    Sources are published data, and examples are made of them: a member may have the name of a person in a table.
    """
    patterns = [re.escape(text) for text in personal if "@" in text or " " in text.strip()]
    if not patterns:
        return
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
    for name in names:
        if name in (SOURCES, perturbation_records.LINES) or name.startswith(("data/", "parquet/")):
            continue
        with (folder / name).open(encoding="utf-8") as lines:
            for line_number, line in enumerate(lines, start=1):
                if pattern.search(line):
                    yield f"{name}, line {line_number},"


def upload(
    folder: Path, repository: str, files: Iterable[HubFile], environment: Mapping[str, str] = os.environ
) -> str:
    """Create a private dataset repository and upload the files in one commit. Returns the address of the dataset.

    An upload that failed before its commit leaves an empty repository behind, which the next one uses.

    Raises ActionRefused(invalid_request): no token, the package huggingface_hub is missing, no connection, a name that is
    taken, a token that may not write. No message contains the token.
    """
    token = environment.get(TOKEN, "").strip()
    if not token:
        refuse(
            "invalid_request",
            "There is no token. Create one with write access at https://huggingface.co/settings/tokens, and set the "
            "environment variable {name}.",
            name=TOKEN,
        )
    try:
        import httpx2
        from huggingface_hub import CommitOperationAdd, HfApi
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    except ImportError:
        refuse("invalid_request", "The package huggingface_hub is missing. Install requirements.txt.")
    endpoint = (environment.get(ENDPOINT) or PUBLIC_HUB).rstrip("/")
    api = HfApi(endpoint=endpoint, token=token, library_name="askew")
    try:
        try:
            api.create_repo(repository, repo_type="dataset", private=True)
        except HfHubHTTPError as error:
            is_there = error.response.status_code == 409
            if not is_there or set(api.list_repo_files(repository, repo_type="dataset")) - {".gitattributes"}:
                raise
        api.create_commit(
            repository,
            [CommitOperationAdd(file.path, folder / file.path) for file in files],
            commit_message="Add the release",
            repo_type="dataset",
        )
    except HfHubHTTPError as error:
        _refuse_reply(error.response.status_code, repository, endpoint)
    except (OfflineModeIsEnabled, httpx2.TransportError, OSError):
        refuse(
            "invalid_request",
            "There is no connection to {endpoint}. Check the network and HF_HUB_OFFLINE, then try again.",
            endpoint=endpoint,
        )
    return f"{endpoint}/datasets/{repository}"


def _refuse_reply(status: int, repository: str, endpoint: str) -> Any:
    """What a reply of the hub with an error means."""
    if status == 409:
        refuse(
            "invalid_request",
            "There is already a dataset {repository} on {endpoint}. Choose another name.",
            repository=repository,
            endpoint=endpoint,
        )
    if status in (401, 403):
        refuse(
            "invalid_request",
            "{endpoint} does not accept the token for {repository}. It needs write access to this organisation.",
            endpoint=endpoint,
            repository=repository,
        )
    refuse(
        "invalid_request",
        "{endpoint} answered with the status {status}. Nothing is complete there: check {repository}, then try again.",
        endpoint=endpoint,
        status=status,
        repository=repository,
    )
