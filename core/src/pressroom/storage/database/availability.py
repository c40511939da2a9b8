"""Availability of the database: distinguish outages from faulty statements, and probe it in the background."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from traceback import walk_tb
from typing import Final

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pressroom.errors import BackendError

_MAX_REASON_LENGTH: Final = 300

_SQLSTATE_OUTAGES: Final = ("08", "25006", "40", "53", "55P03", "57", "58", "XX")
"""PostgreSQL error classes that no statement is to blame for: connection, read-only, deadlock, resources, lock,
operator, system, internal (PostgreSQL documentation, appendix A)."""

_SQLITE_OUTAGES: Final = frozenset({5, 6, 7, 8, 10, 11, 13, 14, 15, 26})
"""SQLite primary result codes that no statement is to blame for (https://sqlite.org/rescode.html): busy, locked, out
of memory, read-only, I/O, corrupt, full, cannot open, protocol, not a database."""

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
    """Return whether the error is an outage of the database rather than a faulty statement."""
    if not isinstance(error, DBAPIError):
        # Inside a transaction, other code can fail too, such as to open a file.
        return isinstance(error, PoolTimeout | TimeoutError) or (isinstance(error, OSError) and _is_of_driver(error))
    if error.connection_invalidated:
        return True
    code = _sqlite_code(error)
    if code is not None:
        return code in _SQLITE_OUTAGES
    state = _sqlstate(error)
    if state:
        return state.startswith(_SQLSTATE_OUTAGES)
    # asyncpg raises it if the connection is gone, but also for a value of the wrong type, which is a ValueError.
    return type(error).__name__ == "InterfaceError" and not isinstance(_driver_error(error), ValueError)


def reason_of(error: BaseException) -> str:
    """Return the first line of the driver's error, without SQL and parameters; empty for a timeout."""
    cause = _driver_error(error)
    lines = str(cause).strip().splitlines()
    if lines:
        return lines[0][:_MAX_REASON_LENGTH]
    return "" if isinstance(cause, TimeoutError) else type(cause).__name__


def hint_for(error: BaseException) -> str:
    """Return advice for the operator about an outage."""
    code = _sqlite_code(error)
    return _CHECK_ADDRESS if code is None else _SQLITE_HINTS.get(code, "check the disk of [storage] path")


def _is_of_driver(error: BaseException) -> bool:
    """Return whether the error was raised while a driver worked for SQLAlchemy."""
    modules = (frame.f_globals.get("__name__", "") for frame, _line in walk_tb(error.__traceback__))
    return any(module.partition(".")[0] == "sqlalchemy" for module in modules)


def _driver_error(error: BaseException) -> BaseException:
    driver_error = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return getattr(driver_error, "driver_exception", None) or driver_error


def _sqlite_code(error: BaseException) -> int | None:
    """Return the primary result code, without the extended bits."""
    code = getattr(_driver_error(error), "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else None


def _sqlstate(error: BaseException) -> str:
    return str(getattr(_driver_error(error), "sqlstate", None) or "")


log = structlog.get_logger()

FRESH_SECONDS: Final = 1.0
"""How long a result is fresh, in seconds: the database is queried at most once in this time."""

RESPONSE_SECONDS: Final = 2.0
"""How long the database can take to respond before it counts as down, in seconds."""

WATCH_SECONDS: Final = 5.0
"""The interval of background probes, which keep the metrics up to date, in seconds."""

_PARTS: Final = 4
"""Number of parts that the wait is split into: a busy event loop may not have read a response that has arrived."""


class DatabaseProbe:
    """Probes whether the database responds. Only one probe runs at a time, and callers wait for a limited time.

    Args:
        ask: queries the database, has its own timeout, and raises `BackendError` if there is no response.
        name: the database's name in the log, without credentials.
    """

    def __init__(self, ask: Callable[[], Awaitable[None]], name: str) -> None:
        self._ask = ask
        self._name = name
        self._asking: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._probed_at = -FRESH_SECONDS
        self._up = True

    @property
    def up(self) -> bool:
        """Whether the database responded to the last probe. Can be read from any thread."""
        return self._up

    async def open(self) -> None:
        """Start the background probes."""
        self._watching = asyncio.create_task(self._watch(), name="checking that the database responds")

    async def close(self) -> None:
        """Stop probing. A running probe gets time to finish: cancelling it can leave a connection half open."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        task = self._asking
        if task is not None:
            await asyncio.wait({task}, timeout=RESPONSE_SECONDS)
            task.cancel()
            await asyncio.wait({task})

    async def responds(self) -> bool:
        """Return whether the database responds, within `RESPONSE_SECONDS`."""
        now = time.monotonic()
        if self._asking is None and now - self._probed_at >= FRESH_SECONDS:
            self._probed_at = now
            self._asking = asyncio.create_task(self._probe_once())
        task = self._asking
        if task is not None:
            part = max(0.0, self._probed_at + RESPONSE_SECONDS - now) / _PARTS
            for _ in range(_PARTS):
                # `wait` does not cancel the probe when a caller is cancelled, unlike awaiting its result.
                await asyncio.wait({task}, timeout=part)
                if task.done():
                    break
            else:
                self._note(up=False, reason=f"no response within {RESPONSE_SECONDS:g} s")
        return self._up

    async def _watch(self) -> None:
        while True:
            await self.responds()
            await asyncio.sleep(WATCH_SECONDS)

    async def _probe_once(self) -> None:
        try:
            await self._ask()
        except BackendError as error:
            self._note(up=False, reason=error.message)
        else:
            self._note(up=True)
        finally:
            self._asking = None

    def _note(self, *, up: bool, reason: str = "") -> None:
        if up == self._up:
            return
        self._up = up
        if up:
            log.info("the database responds again", server=self._name)
        else:
            log.warning("the database does not respond", server=self._name, reason=reason)
