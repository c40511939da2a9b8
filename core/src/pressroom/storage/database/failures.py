"""Telling outages of the database from statements that are wrong, and saying what is the matter."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

_MAX_REASON_LENGTH: Final = 300

_SQLSTATE_OUTAGES: Final = ("08", "25006", "40", "53", "55P03", "57", "58", "XX")
"""PostgreSQL's classes of errors of which no statement is to blame: connection, read-only, deadlock, resources, lock,
operator, system, internal (PostgreSQL documentation, appendix A)."""

_SQLITE_OUTAGES: Final = frozenset({5, 6, 7, 8, 10, 11, 13, 14, 15, 26})
"""SQLite's primary result codes of which no statement is to blame (https://sqlite.org/rescode.html): busy, locked, out
of memory, read-only, input or output, corrupt, full, cannot open, protocol, no database."""

_CHECK_ADDRESS: Final = "check [storage] database, that the server runs, and that this host can reach it"

_SQLITE_HINTS: Final = {
    5: "another process keeps the database locked; stop it, or raise [storage] database_timeout",
    8: "let the server's user write to the database's folder, [storage] path",
    11: "restore a backup: the file is damaged",
    13: "make room on the disk of [storage] path",
    14: "check [storage] path and its permissions",
    26: "the file is not a database; restore a backup, or name another folder as [storage] path",
}


def is_outage(error: BaseException) -> bool:
    """Tell whether the database could not do its work, rather than the statement being wrong."""
    if not isinstance(error, DBAPIError):
        return isinstance(error, PoolTimeout | OSError | TimeoutError)
    if error.connection_invalidated:
        return True
    code = _sqlite_code(error)
    if code is not None:
        return code in _SQLITE_OUTAGES
    state = _sqlstate(error)
    if state:
        return state.startswith(_SQLSTATE_OUTAGES)
    # asyncpg says so where the connection is gone, but also where a value does not fit, which is a ValueError.
    return type(error).__name__ == "InterfaceError" and not isinstance(_driver_error(error), ValueError)


def reason_of(error: BaseException) -> str:
    """Return what the driver said, in one line without SQL and parameters; empty for a timeout."""
    cause = _driver_error(error)
    lines = str(cause).strip().splitlines()
    if lines:
        return lines[0][:_MAX_REASON_LENGTH]
    return "" if isinstance(cause, TimeoutError) else type(cause).__name__


def hint_for(error: BaseException) -> str:
    """Return what the operator can do about an outage."""
    code = _sqlite_code(error)
    return _CHECK_ADDRESS if code is None else _SQLITE_HINTS.get(code, "check the disk of [storage] path")


def _driver_error(error: BaseException) -> BaseException:
    found = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return getattr(found, "driver_exception", None) or found


def _sqlite_code(error: BaseException) -> int | None:
    """Return the primary result code, without the details in the upper bits."""
    code = getattr(_driver_error(error), "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _sqlstate(error: BaseException) -> str:
    return str(getattr(_driver_error(error), "sqlstate", None) or "")
