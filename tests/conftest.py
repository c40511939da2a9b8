"""Setup shared by all tests."""

import support.measuring  # noqa: F401 - first: it holds for what is imported after it

# isort: split

import faulthandler
import gc
import os
import ssl
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import certifi
import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG as _HTTP_TIMEOUT
from pressroom.config import Settings
from pressroom.storage.database import SqlDatabase
from structlog.dev import ConsoleRenderer, plain_traceback
from support import databases
from support.logging_state import logging_as_before

# The tests start hundreds of processes: without bytecode files each would recompile the server.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Imported and collected objects live until the end: the garbage collector need not traverse them repeatedly.
gc.disable()

pytest_plugins = (
    "support.cleanup",
    "support.folders",
    "support.hashing",
    "support.missing",
    "support.ordering",
    "support.preloading",
    "support.probes",
    "support.quick",
    "support.routing",
    "support.sizes",
)

_create_context = ssl.create_default_context


@cache
def _public_context(file: str) -> ssl.SSLContext:
    return _create_context(cafile=file)


def _context(*args: Any, **options: Any) -> ssl.SSLContext:
    files = (certifi.where(), os.environ.get("SSL_CERT_FILE"))
    known = not args and list(options) == ["cafile"] and options["cafile"] in files
    return _public_context(options["cafile"]) if known else _create_context(*args, **options)


# Each httpx client reads all certificate authorities from one of these files, which takes longer than many tests: share
# one context.
ssl.create_default_context = _context

# The server logs plain tracebacks. Where nothing is configured, structlog renders the source code and all variables of
# each frame, which takes longer than most tests.
ConsoleRenderer.get_active().exception_formatter = plain_traceback

# httpx's default of five seconds is too short for a server among four workers. Tests that need a limit set their own.
_HTTP_TIMEOUT.read = _HTTP_TIMEOUT.write = _HTTP_TIMEOUT.connect = _HTTP_TIMEOUT.pool = 60.0

TEARDOWN = 300
"""Time limit for a test's teardown in seconds: a few tests stop platforms that they started."""


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    # Collecting garbage among all these objects first would take half a second in each worker.
    gc.freeze()
    # A stopped host leaves reference cycles. With Python's default thresholds the collector would traverse all imported
    # plugins for every third one.
    gc.set_threshold(10_000, 20, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    """Kill the process if a test hangs in teardown, where its own timeout may be used up: the others would wait."""
    faulthandler.dump_traceback_later(TEARDOWN, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    # pytest has just collected all garbage, and does so once more: that would take seconds in each worker.
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _databases() -> Iterator[None]:
    yield
    databases.drop_databases()


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Undo logging changes of a test's command or server, or the next test's lines would go to a stream of this one."""
    with logging_as_before():
        yield


@pytest.fixture(params=databases.KINDS)
def database_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Return settings with a separate database: each test runs once on SQLite, once on PostgreSQL.

    It is empty, unless the test also uses `database`.
    """
    tables = "database" in request.fixturenames
    with databases.database_config(request.param, tmp_path / "data", tables=tables) as storage:
        yield databases.settings_with_database(storage, tmp_path / "data")


@pytest.fixture
async def empty_database(database_settings: Settings) -> AsyncIterator[SqlDatabase]:
    """Return an open database without any tables, on SQLite and on PostgreSQL."""
    database = SqlDatabase(database_settings)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def database(database_settings: Settings) -> AsyncIterator[SqlDatabase]:
    """Return an open database with the host's tables, on SQLite and on PostgreSQL."""
    async with databases.migrated(database_settings) as database:
        yield database
