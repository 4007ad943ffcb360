"""Upload of a release to the Hugging Face Hub, as a new dataset repository.

A release in the format hf is a dataset as the Hub lays one out: its README.md is the dataset card with licence tags and
configurations, and croissant.json its metadata, to which the upload adds the address of the dataset. The repository holds
the same files as the release, so a download of it verifies. Of a release in several formats it holds the folder `hf`, with
data statement, citation and errata.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from annotation.platform.refusals import refuse
from annotation.releases.benchmark_files import ERRATA, folders
from annotation.releases.manifest import Manifest
from annotation.releases.verification import verify
from tableqa.releases import perturbation_records
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import MANIFEST, SOURCES, read_manifest
from tableqa.releases.signatures import SIGNATURE
from tableqa.writers import croissant, hub
from tableqa.writers.whole_examples import DECISIONS, RESPONSES

TOKEN, ENDPOINT = "HF_TOKEN", "HF_ENDPOINT"
"""Environment variables: the access token, and the address of another hub."""
PUBLIC_HUB: Final = "https://huggingface.co"
_PUBLISHED = ("data/", "parquet/", "harness/items/")
"""Folders of examples, which are made of published sources."""
_WRITTEN = (f"data/{RESPONSES}/", f"data/{DECISIONS}/")
"""Folders of records that people of the project wrote."""
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True)
class HubFile:
    """A file to upload: its path in the repository, its path in the release and its size in bytes."""

    path: str
    name: str
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
        if "hf" not in manifest.every_format:
            refuse(
                "invalid_request",
                "A dataset on the Hub needs a release with the format hf; this one has {formats}. Create one with "
                "--format hf.",
                formats=", ".join(manifest.every_format),
            )
        verify(folder)
    except Difference as difference:
        refuse("invalid_request", "The release does not verify: {error}.", error=str(difference))
    files = [HubFile(path, name, (folder / name).stat().st_size) for path, name in _paths(folder, manifest)]
    published = set(hub.creators(manifest.record()))
    if location := next(_personal_names(folder, files, set(personal) - published), None):
        refuse(
            "invalid_request",
            "{place} contains the name or e-mail address of a member of the project. Remove it in the project and create "
            "a new release.",
            place=location,
        )
    return files


def _paths(folder: Path, manifest: Manifest) -> list[tuple[str, str]]:
    """Path in the repository and path in the release of each file to upload, by the first."""
    if len(manifest.every_format) == 1:
        signature = {SIGNATURE} & {path.name for path in folder.iterdir()}
        return sorted((name, name) for name in (*manifest.files, MANIFEST, *signature))
    prefix = folders(manifest.every_format)["hf"]
    beside = (hub.STATEMENT, hub.CITATION, ERRATA)
    return sorted(
        (name.removeprefix(prefix), name)
        for name in manifest.files
        if name.startswith(prefix) or name in beside
    )


def _personal_names(folder: Path, files: Iterable[HubFile], personal: Iterable[str]) -> Iterator[str]:
    """FILE, line N of each line that people of the project wrote and that names one of them.

    Sources are published data, and examples are made of them: a member may have the name of a person in a table.
    """
    patterns = [re.escape(text) for text in personal if "@" in text or " " in text.strip()]
    if not patterns:
        return
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
    for file in files:
        is_published = file.path.startswith(_PUBLISHED) and not file.path.startswith(_WRITTEN)
        if is_published or file.path in (SOURCES, perturbation_records.LINES):
            continue
        with (folder / file.name).open(encoding="utf-8") as lines:
            for line_number, line in enumerate(lines, start=1):
                if pattern.search(line):
                    yield f"{file.name}, line {line_number},"


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
    address = f"{endpoint}/datasets/{repository}"
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
            [CommitOperationAdd(file.path, _content(folder, file, address)) for file in files],
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
    return address


def _content(folder: Path, file: HubFile, address: str) -> Path | bytes:
    """What is uploaded of a file: croissant.json gets the address of the dataset."""
    path = folder / file.name
    return croissant.with_url(path.read_bytes(), address) if file.path == hub.CROISSANT else path


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
