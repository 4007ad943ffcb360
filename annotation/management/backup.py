"""A whole installation in a folder, and back: the database as of one moment and the files it names, with checksums.

    <folder>/manifest.json         what is in it, made when, of which migrations, how many rows
    <folder>/database.sqlite3      or database.dump, as pg_dump writes it
    <folder>/media/...             uploads, releases, evaluations

People go on working while it is made. The database is read as of one moment; files are copied after it, since they are named
once they are there and never change under their name. Uploads, which go as soon as they are read, are copied before it, too:
an import that waited at that moment finds its file. What the database names, and is not there or differs, is named. What can
be made again (`annotation.platform.inventory`) is left out. SECRET_KEY is no part of it: it is kept elsewhere.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from annotation.background import jobs
from annotation.models import Job, Release, Upload
from annotation.platform import inventory, migration_state
from annotation.releases.model_evaluation import runs
from tableqa.core.canonical_json import canonical, file_digest
from tableqa.releases.release_records import MANIFEST as RELEASE_MANIFEST
from tasks.shared.schema_errors import schema_faults

MANIFEST = "manifest.json"
MEDIA = "media"
FORMAT = 1
REBUILT = inventory.names("rebuilt")
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
"""Vendor of the database -> the file of a backup that holds it."""
SCHEMA: Final = json.loads(Path(__file__).with_name("backup.schema.json").read_text(encoding="utf-8"))
"""Of the manifest."""
AGAIN: Final = "Copy the manifest again from where the backup was made, or use another backup."


class BackupError(Exception):
    """A backup cannot be made or restored; the message says why and how to fix it."""


@dataclass(frozen=True)
class Backup:
    """What the manifest of a backup says. `rows`: table -> how many; `files`: path -> (sha256, bytes).

    `named`: path below the data folder -> sha256 of each file that the database names, or its bytes, or "" where it names
    neither; None: not known, the backup is older than these lists.
    """

    engine: str
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    files: dict[str, tuple[str, int]]
    named: dict[str, str | int] | None

    @property
    def lacking(self) -> list[str]:
        """What the database names and the backup does not have as it is named, in sentences."""
        copies = {path.removeprefix(f"{MEDIA}/"): ("", *copy) for path, copy in self.files.items()}
        named = (self.named or {}).items()
        wrong = {
            path: "is not the file that the database names"
            for path, of in named
            if of not in copies.get(path, ())
        }
        return [f"{path} {wrong[path] if path in copies else 'is missing'}" for path in sorted(wrong)]


def make(folder: Path, *, now: datetime) -> Backup:
    """Back this installation up into a folder that is not there yet. It appears when everything is in it.

    Raises BackupError: the folder is there or among the files, pg_dump is not there, or the data folder has a link in it.
    """
    if folder.exists():
        raise BackupError(f"{folder} already exists. Name a new folder for each backup.")
    media = Path(settings.MEDIA_ROOT)
    if folder.resolve().is_relative_to(media.resolve()):
        raise BackupError(
            f"{folder} is in {media}, so the next backup would contain it. Name another folder."
        )
    _require_no_links(media)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True, mode=0o700)  # what is in it is as secret as the database
    try:
        _copy_media(media, part / MEDIA, below="uploads")
        rows, migrations = _databases[connection.vendor].dump(part / DATABASES[connection.vendor])
        named = named_files()
        _copy_media(media, part / MEDIA)
        files = {path: (file_digest(part / path), (part / path).stat().st_size) for path in _files(part)}
        backup = Backup(connection.vendor, now.isoformat(), migrations, rows, files, named)
        content = {"format": FORMAT, **vars(backup), "lacking": backup.lacking}
        (part / MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        _sync(part)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return backup


def read(folder: Path) -> Backup:
    """What a backup says of itself, once every byte of it was compared with that. Raises BackupError."""
    backup = _manifest(folder / MANIFEST)
    present_files = set(_files(folder)) - {MANIFEST}
    if missing := sorted(backup.files.keys() - present_files):
        raise BackupError(
            f"{missing[0]} is missing from the backup ({len(missing)} files in total). Nothing was restored."
        )
    links = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink()}
    if surplus := sorted(present_files.union(links) - backup.files.keys()):
        raise BackupError(f"{surplus[0]} is not in the manifest of the backup. Nothing was restored.")
    for path, (sha256, size) in backup.files.items():
        if (folder / path).stat().st_size != size or file_digest(folder / path) != sha256:
            raise BackupError(f"{path} was changed after the backup was made. Nothing was restored.")
    return backup


def _manifest(path: Path) -> Backup:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BackupError(f"{path.parent} is not a backup: {MANIFEST} is missing.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BackupError(f"{path} cannot be read as JSON ({error}). {AGAIN}") from None
    written = content.get("format", FORMAT) if isinstance(content, dict) else FORMAT
    if written != FORMAT:
        raise BackupError(f"The backup has format {written}; this version of Askew reads format {FORMAT}.")
    for location, sentence in schema_faults(SCHEMA, content):
        raise BackupError(f"{', '.join([str(path), *map(repr, location)])}: {sentence} {AGAIN}")
    files = {name: (sha256, size) for name, (sha256, size) in content["files"].items()}
    engine = content["engine"]
    if engine in DATABASES and DATABASES[engine] not in files:
        raise BackupError(f"{path}, 'files': the database of {engine!r} is missing. {AGAIN}")
    made_at, migrations, rows = (content[name] for name in ("made_at", "migrations", "rows"))
    return Backup(engine, made_at, migrations, rows, files, content.get("named"))


def restore(folder: Path) -> Backup:
    """Put a backup into an installation that is empty: no tables, no files. Done whole or not at all.

    Raises BackupError: the backup is damaged, of another database, of a version that this one cannot migrate, or
    the place is taken.
    """
    backup = read(folder)
    if backup.engine != connection.vendor:
        raise BackupError(
            f"The backup is from {backup.engine}, but DATABASE_URL names {connection.vendor}. Use a "
            "database of the same kind."
        )
    if reason := migration_state.incompatibility(backup.migrations):
        raise BackupError(f"The backup is {reason}.")
    media = Path(settings.MEDIA_ROOT)
    if media.exists() and any(path.is_file() for path in media.rglob("*")):
        raise BackupError(f"{media} contains files. Restore into an empty ASKEW_DATA_DIR.")
    database = _databases[backup.engine]
    if _tables():
        raise BackupError("The database in DATABASE_URL contains tables. Restore into an empty database.")
    try:
        if (folder / MEDIA).exists():
            shutil.copytree(folder / MEDIA, media, dirs_exist_ok=True)
        database.load(folder / DATABASES[backup.engine])
        _require_rows(backup.rows)
    except BaseException:
        shutil.rmtree(media.resolve(), ignore_errors=True)
        if media.is_symlink():
            media.resolve().mkdir()
        with suppress(DatabaseError):  # it is away: what was loaded was not committed
            database.empty()
        raise
    return backup


def _require_rows(expected: Mapping[str, int]) -> None:
    counted = _rows()
    for table in sorted(counted.keys() | expected):
        if counted.get(table) != expected.get(table):
            raise BackupError(
                f"{table} has {counted.get(table)} rows after restoring, but {expected.get(table)} in the backup. "
                "Nothing was restored."
            )


def named_files() -> dict[str, str | int]:
    """Every file that the database names, by its path below the data folder: its digest or bytes, "" where it names none."""
    digests: dict[str, str | int] = {}
    for release in Release.objects.filter(ready_at__isnull=False).iterator():
        claimed = {name: file["sha256"] for name, file in release.manifest.get("files", {}).items()}
        manifest = hashlib.sha256((canonical(release.manifest) + "\n").encode()).hexdigest()
        for name, sha256 in {RELEASE_MANIFEST: manifest, **claimed}.items():
            digests[f"releases/{release.public_id}/{name}"] = sha256
    for run in Job.objects.filter(kind=runs.KIND):
        digests |= runs.files(run)
    waiting = [upload for _, upload in waiting_uploads() if upload is not None]
    return digests | {str(upload.file.name): "" if upload.size is None else upload.size for upload in waiting}


def waiting_uploads() -> Iterator[tuple[Job, Upload | None]]:
    """The uploads that jobs still have to read, with the job; None for one whose row is gone."""
    for job in jobs.under_way().select_related("project"):
        keys = [job.ids[name] for name in ("questions", "tables", "upload") if job.ids.get(name)]
        uploads_by_key = Upload.objects.in_bulk(keys)
        yield from ((job, uploads_by_key.get(key)) for key in keys)


# -- files ------------------------------------------------------------------------------------------


def _copy_media(media: Path, to: Path, below: str = "") -> None:
    for path in _files(media) if media.exists() else ():
        if ".part/" in f"{path}/" or _is_rebuilt(path) or not path.startswith(below):
            continue  # unfinished, made again, or not asked for
        target = to / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(media / path, target)
        except FileNotFoundError:
            continue  # deleted since: it was never named, or an upload that was copied before, or may be made again


def _require_no_links(media: Path) -> None:
    """Raises BackupError for a link below the data folder: what is behind it would be missing from the backup."""
    for top, folders, names in os.walk(media, onerror=_ignore_missing):
        if Path(top) == media:
            folders[:] = [name for name in folders if not _is_rebuilt(name)]
        for name in sorted([*folders, *names]):
            path = Path(top) / name
            if path.is_symlink():
                raise BackupError(
                    f"{path} is a link, and a backup does not follow links. Mount the other disk there "
                    "instead, or move the whole data folder and set ASKEW_DATA_DIR."
                )


def _is_rebuilt(path: str) -> bool:
    """Whether a path below the data folder is, or is in, what is made again."""
    ways = [Path(path), *Path(path).parents]
    return any(way.match(name) and len(way.parts) == name.count("/") + 1 for way in ways for name in REBUILT)


def _files(folder: Path) -> Iterator[str]:
    """Every file below a folder, by its path from there; links are none of ours. A folder may go while it is looked at."""
    walked = os.walk(folder, onerror=_ignore_missing)
    paths = (Path(top) / name for top, _, names in walked for name in names)
    for path in sorted(paths):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix()


def _ignore_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


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
    counts = {}
    with connection.cursor() as cursor:
        for name in sorted(_tables()):
            if name.startswith("sqlite_"):
                continue  # SQLite's own: statistics of ANALYZE
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # nosec B608
            counts[name] = cursor.fetchone()[0]
    return counts


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        return connection.introspection.table_names(cursor)


# Of one kind of database:
# dump   write it as of one moment; returns the rows of its tables and its migrations then
# load   fill the empty database from what `dump` wrote, whole or not at all
# empty  take out again what `load` put in


class _SQLite:
    def dump(self, path: Path) -> tuple[dict[str, int], list[str]]:
        # A writing transaction would wait for all others; a reading one is a snapshot (journal_mode=WAL).
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

    def empty(self) -> None:
        with closing(sqlite3.connect(":memory:")) as nothing:
            nothing.backup(connection.connection)


class _PostgreSQL:
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
            "pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={_dsn()}", *_PLAIN, str(path)
        )

    def empty(self) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            for table in _tables():
                cursor.execute(f"DROP TABLE {connection.ops.quote_name(table)} CASCADE")
            cursor.execute("DROP FUNCTION IF EXISTS askew_immutable()")

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
            raise BackupError(
                f"{program} is not installed. Install PostgreSQL's client programs (Debian: "
                "postgresql-client)."
            )
        done = subprocess.run(
            [where, *arguments], env=_for_clients(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise BackupError(f"{program} failed: {done.stderr.strip() or done.returncode}")


_PLAIN = ("--no-owner", "--no-privileges", "--no-password")


def _dsn() -> str:
    """The database's name with the limits of a connection: these programs know no variables for all of them."""
    from psycopg2.extensions import make_dsn  # where SQLite is used it need not be there

    options = connection.settings_dict.get("OPTIONS", {})
    limited = ("connect_timeout", "tcp_user_timeout", "keepalives")
    limits = {name: value for name, value in options.items() if name.startswith(limited)}
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
    database_settings: dict[str, Any] = connection.settings_dict
    ssl = {
        name: value for name, value in database_settings.get("OPTIONS", {}).items() if name.startswith("ssl")
    }
    values = {f"PG{name.upper()}": value for name, value in ssl.items()}
    values |= {name: database_settings[key] for key, name in names.items() if database_settings.get(key)}
    return {**os.environ, **{name: str(value) for name, value in values.items()}}


_databases: dict[str, _SQLite | _PostgreSQL] = {"sqlite": _SQLite(), "postgresql": _PostgreSQL()}
