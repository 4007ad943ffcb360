"""What a failed statement says about the database: away, locked, or something else."""

from django.db import Error, InterfaceError, OperationalError, connection

RETRY_AFTER = 5
"""Seconds after which a client may try again while the database is away."""

_CANCELED = "57014"
"""What PostgreSQL says of a statement that `statement_timeout` ended."""
_SQLITE = ("locked", "busy", "unable to open", "disk i/o", "full")


def is_unavailable(error: BaseException | None) -> bool:
    """Whether this error, or what it was raised from, says that the database did not answer or could not be used."""
    database_error = _database_error(error)
    if not isinstance(database_error, OperationalError | InterfaceError):
        return False
    # To SQLite a missing table or column is an OperationalError, too.
    return connection.vendor != "sqlite" or any(part in str(database_error).lower() for part in _SQLITE)


def stops_others(error: BaseException | None) -> bool:
    """Whether other work would meet this failure, too: not where a single statement took longer than it may."""
    cause = getattr(_database_error(error), "__cause__", None)
    return is_unavailable(error) and getattr(cause, "pgcode", "") != _CANCELED


def is_locked(error: BaseException | None) -> bool:
    """Whether another process held SQLite's write lock for longer than this one waits."""
    database_error = _database_error(error)
    if not isinstance(database_error, OperationalError) or connection.vendor != "sqlite":
        return False
    return "locked" in str(database_error).lower() or "busy" in str(database_error).lower()


def _database_error(error: BaseException | None) -> Error | None:
    """The first error of the database in the chain of causes."""
    for _ in range(10):
        if error is None or isinstance(error, Error):
            return error
        error = error.__cause__ or error.__context__
    return None
