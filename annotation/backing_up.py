"""A whole installation in a folder, and back: the database as of one moment and the files it names, with checksums.

    <folder>/manifest.json         what is in it, made when, of which migrations, how many rows
    <folder>/database.sqlite3      or database.dump, as pg_dump writes it
    <folder>/media/...             uploads, releases, evaluations

People go on working while it is made. The database is read as of one moment; files are copied after it, since they are named
once they are there and never change under their name. Uploads, which go as soon as they are read, are copied before it, too:
an import that waited at that moment finds its file. What can be made
again from the database (indexes, zipped releases) is left out. SECRET_KEY is no part of it: it is kept elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from annotation import migration_state

MANIFEST = "manifest.json"
MEDIA = "media"
FORMAT = 1
MADE_AGAIN = ("indexes", "unpacked")
"""Folders below MEDIA_ROOT that are made again from the database or an upload when somebody wants them."""
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
"""Vendor of the database -> the file of a backup that holds it."""


class Impossible(Exception):
    """A backup cannot be made or restored; the message says why and how to mend it."""


@dataclass(frozen=True)
class Backup:
    """What the manifest of a backup says. `rows`: table -> how many; `files`: path -> (sha256, bytes)."""

    engine: str
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    files: dict[str, tuple[str, int]]


def make(folder: Path, *, now: datetime) -> Backup:
    """Back this installation up into a folder that is not there yet. It appears when everything is in it.

    Raises Impossible: the folder is there, pg_dump is not, or the data folder has a link in it.
    """
    if folder.exists():
        raise Impossible(f"{folder} already exists. Name a new folder for each backup.")
    _require_no_links(Path(settings.MEDIA_ROOT))
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True, mode=0o700)  # what is in it is as secret as the database
    try:
        _copy_media(Path(settings.MEDIA_ROOT), part / MEDIA, below="uploads")
        rows, migrations = _databases[connection.vendor].dump(part / DATABASES[connection.vendor])
        _copy_media(Path(settings.MEDIA_ROOT), part / MEDIA)
        files = {path: (_sha256(part / path), (part / path).stat().st_size) for path in _files(part)}
        made = Backup(connection.vendor, now.isoformat(), migrations, rows, files)
        said = {"format": FORMAT, **vars(made)}
        (part / MANIFEST).write_text(json.dumps(said, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        _sync(part)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return made


def read(folder: Path) -> Backup:
    """What a backup says of itself, once every byte of it was compared with that. Raises Impossible."""
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = Backup(
            said["engine"],
            said["made_at"],
            said["migrations"],
            said["rows"],
            {path: (sha256, size) for path, (sha256, size) in said["files"].items()},
        )
        written = said["format"]
    except FileNotFoundError:
        raise Impossible(f"{folder} is not a backup: {MANIFEST} is missing.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Impossible(f"{folder / MANIFEST} is not a readable manifest of a backup.") from None
    if written != FORMAT:
        raise Impossible(f"The backup has format {written}; this version of Askew reads format {FORMAT}.")
    there = set(_files(folder)) - {MANIFEST}
    if missing := sorted(found.files.keys() - there):
        raise Impossible(
            f"{missing[0]} is missing from the backup ({len(missing)} files in total). Nothing was restored."
        )
    if surplus := sorted(there - found.files.keys()):
        raise Impossible(f"{surplus[0]} is not in the manifest of the backup. Nothing was restored.")
    for path, (sha256, size) in found.files.items():
        if (folder / path).stat().st_size != size or _sha256(folder / path) != sha256:
            raise Impossible(f"{path} was changed after the backup was made. Nothing was restored.")
    return found


def restore(folder: Path) -> Backup:
    """Put a backup into an installation that is empty: no tables, no files. Done whole or not at all.

    Raises Impossible: the backup is damaged, of another database, of a version that this one cannot migrate, or
    the place is taken.
    """
    found = read(folder)
    if found.engine != connection.vendor:
        raise Impossible(
            f"The backup is from {found.engine}, but DATABASE_URL names {connection.vendor}. Use a "
            "database of the same kind."
        )
    if reason := migration_state.incompatibility(found.migrations):
        raise Impossible(f"The backup is {reason}.")
    media = Path(settings.MEDIA_ROOT)
    if media.exists() and any(path.is_file() for path in media.rglob("*")):
        raise Impossible(f"{media} contains files. Restore into an empty ASKEW_DATA_DIR.")
    database = _databases[found.engine]
    if database.tables():
        raise Impossible("The database in DATABASE_URL contains tables. Restore into an empty database.")
    try:
        if (folder / MEDIA).exists():
            shutil.copytree(folder / MEDIA, media, dirs_exist_ok=True)
        database.load(folder / DATABASES[found.engine])
    except BaseException:
        shutil.rmtree(media, ignore_errors=True)
        raise
    counted = _rows()
    if counted != found.rows:
        table = min(name for name in found.rows if counted.get(name) != found.rows[name])
        raise Impossible(
            f"{table} has {counted.get(table)} rows after restoring, but {found.rows[table]} in the backup."
        )
    return found


# -- files ------------------------------------------------------------------------------------------


def _copy_media(media: Path, to: Path, below: str = "") -> None:
    for path in _files(media) if media.exists() else ():
        if not path.startswith(below):
            continue
        unfinished = any(name.endswith(".part") for name in path.split("/"))
        if path.split("/")[0] in MADE_AGAIN or unfinished or _zipped_release(path):
            continue
        target = to / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(media / path, target)
        except FileNotFoundError:
            continue  # deleted since: it was never named, or an upload that was copied before, or may be made again


def _require_no_links(media: Path) -> None:
    """Raises Impossible for a link below the data folder: what lies behind it would be missing from the backup."""
    for top, folders, names in os.walk(media, onerror=_unless_it_is_gone):
        if Path(top) == media:
            folders[:] = [name for name in folders if name not in MADE_AGAIN]
        for name in sorted([*folders, *names]):
            path = Path(top) / name
            if path.is_symlink():
                raise Impossible(
                    f"{path} is a link, and a backup does not follow links. Mount the other disk there "
                    "instead, or move the whole data folder and set ASKEW_DATA_DIR."
                )


def _zipped_release(path: str) -> bool:
    return path.startswith("releases/") and path.count("/") == 1 and path.endswith(".zip")


def _files(folder: Path) -> Iterator[str]:
    """Every file below a folder, by its path from there; links are none of ours. A folder may go while it is looked at."""
    walked = os.walk(folder, onerror=_unless_it_is_gone)
    found = (Path(top) / name for top, _, names in walked for name in names)
    for path in sorted(found):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix()


def _unless_it_is_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(folder: Path) -> None:
    """Have everything on the disk before the folder gets its name."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# -- databases --------------------------------------------------------------------------------------


def _rows() -> dict[str, int]:
    """How many rows each table has, as this transaction sees it."""
    found = {}
    with connection.cursor() as cursor:
        for name in sorted(connection.introspection.table_names(cursor)):
            if name.startswith("sqlite_"):
                continue  # SQLite's own: statistics of ANALYZE
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # nosec B608
            found[name] = cursor.fetchone()[0]
    return found


class _Database:
    """What is done with one kind of database."""

    def tables(self) -> list[str]:
        with connection.cursor() as cursor:
            return connection.introspection.table_names(cursor)

    def dump(self, path: Path) -> tuple[dict[str, int], list[str]]:
        """Write the database as of one moment; the rows of its tables and its migrations then."""
        raise NotImplementedError

    def load(self, path: Path) -> None:
        """Fill the empty database from what `dump` wrote, whole or not at all."""
        raise NotImplementedError


class _SQLite(_Database):
    def dump(self, path: Path) -> tuple[dict[str, int], list[str]]:
        # A writing transaction would wait for everybody; reading one is a snapshot (journal_mode=WAL).
        connection.ensure_connection()
        with closing(sqlite3.connect(path)) as copy:
            connection.connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, that needs no other beside it
            rows = {
                name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # nosec B608
                for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                if not name.startswith("sqlite_")
            }
            applied = copy.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
        return rows, sorted(f"{app}.{name}" for app, name in applied)

    def load(self, path: Path) -> None:
        connection.ensure_connection()
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as copy:
            copy.backup(connection.connection)


class _PostgreSQL(_Database):
    def dump(self, path: Path) -> tuple[dict[str, int], list[str]]:
        with self._snapshot() as name:
            rows, migrations = _rows(), migration_state.applied()
            self._run(
                "pg_dump",
                "--format=custom",
                f"--snapshot={name}",
                f"--file={path}",
                f"--dbname={_dsn()}",
                *_PLAIN,
            )
        return rows, migrations

    def load(self, path: Path) -> None:
        self._run(
            "pg_restore",
            "--exit-on-error",
            "--single-transaction",
            f"--dbname={_dsn()}",
            *_PLAIN,
            str(path),
        )

    @contextmanager
    def _snapshot(self) -> Iterator[str]:
        """One moment of the database, for this connection and, by its name, for others."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            yield cursor.fetchone()[0]

    def _run(self, program: str, *arguments: str) -> None:
        where = shutil.which(program)
        if where is None:
            raise Impossible(
                f"{program} is not installed. Install PostgreSQL's client programs (Debian: "
                "postgresql-client)."
            )
        done = subprocess.run(
            [where, *arguments], env=_for_clients(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Impossible(f"{program} failed: {done.stderr.strip() or done.returncode}")


_PLAIN = ("--no-owner", "--no-privileges", "--no-password")


def _dsn() -> str:
    """The database's name with the limits of a connection: these programs know no variables for all of them."""
    from psycopg2.extensions import make_dsn  # where SQLite is used it need not be there

    options = connection.settings_dict.get("OPTIONS", {})
    names = ("connect_timeout", "tcp_user_timeout")
    limits = {
        name: value for name, value in options.items() if name in names or name.startswith("keepalives")
    }
    return str(make_dsn(dbname=str(connection.settings_dict["NAME"]), **limits))


def _for_clients() -> dict[str, str]:
    """The environment that leads PostgreSQL's programs to this database: a password is never an argument."""
    names = {
        "HOST": "PGHOST",
        "PORT": "PGPORT",
        "USER": "PGUSER",
        "PASSWORD": "PGPASSWORD",
        "NAME": "PGDATABASE",
    }
    told: dict[str, Any] = connection.settings_dict
    options = {
        f"PG{name.upper()}": str(value)
        for name, value in told.get("OPTIONS", {}).items()
        if name.startswith("ssl")
    }
    return {**os.environ, **options, **{name: str(told[key]) for key, name in names.items() if told.get(key)}}


_databases: dict[str, _Database] = {"sqlite": _SQLite(), "postgresql": _PostgreSQL()}
