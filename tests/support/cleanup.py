"""Clean up processes, databases and Redis keys of interrupted test runs.

A pytest plugin and a watchdog process. The watchdog waits until the run is over, however it ended (the watchdog's
standard input closes even on SIGKILL), and removes everything that carries the run's id. Every process started by a run
inherits the id in its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from support.run import POSTGRESQL, REDIS, RUN_ID, database_name, key_prefix, run_id

_SECONDS: Final = 60
"""Time limit for ending all processes."""

_GRACE_SECONDS: Final = 5
"""Grace period for processes that end on their own with the run."""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    os.environ.pop(RUN_ID, None)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    # The write end of the pipe closes with this process, however it ends.
    end, _ = os.pipe()
    command = [sys.executable, "-m", "support.cleanup", run_id()]
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    os.posix_spawn(sys.executable, command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, end, 0), *silent])
    os.close(end)


def processes(run: str) -> Iterator[int]:
    """Yield the id of every process of a run; none if the system has no `/proc`."""
    mark = f"{RUN_ID}={run}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # A process without a command line is a zombie.
            if mark in (folder / "environ").read_bytes().split(b"\0") and (folder / "cmdline").read_bytes():
                yield int(folder.name)


def _end_processes(run: str) -> None:
    started = time.monotonic()
    while (remaining := list(processes(run))) and time.monotonic() - started < _SECONDS:
        if time.monotonic() - started > _GRACE_SECONDS:
            for process in remaining:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        time.sleep(0.1)


async def _drop_databases(run: str) -> None:
    import asyncpg  # noqa: PLC0415 - only at the end is it worth its memory

    connection = await asyncpg.connect(POSTGRESQL, timeout=10)
    try:
        like = f"{database_name(run, '')}%"
        for row in await connection.fetch("SELECT datname FROM pg_database WHERE datname LIKE $1", like):
            await connection.execute(f"DROP DATABASE IF EXISTS {row[0]} WITH (FORCE)")
    finally:
        await connection.close()


def _remove_keys(run: str) -> None:
    import redis  # noqa: PLC0415 - likewise

    with redis.Redis.from_url(REDIS, socket_timeout=5) as client:
        keys = list(client.scan_iter(f"{key_prefix(run)}*", count=1000))
        if keys:
            client.delete(*keys)


def _remove(run: str) -> None:
    # If a service is unreachable, tests left nothing in it.
    with contextlib.suppress(Exception):
        asyncio.run(_drop_databases(run))
    with contextlib.suppress(Exception):
        _remove_keys(run)
    for socket in Path(tempfile.gettempdir()).glob(f"pressroom-{run}-*.sock"):
        socket.unlink(missing_ok=True)


def main() -> None:
    """Wait for the end of standard input, then clean up after the run."""
    run = sys.argv[1]
    os.setsid()  # Ctrl+C and the terminal's hang-up are for the run alone
    sys.stdin.read()
    _end_processes(run)
    _remove(run)


if __name__ == "__main__":
    main()
