"""Redis for tests: the one that runs on this machine, or servers that a test may kill and freeze."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Self
from uuid import uuid4

import redis
from pressroom.storage.redis import RedisConnection

from support.needs import check_allowed, free_port, program
from support.run import REDIS, key_prefix, run_id


class RedisServer:
    """A server of the test's own on a free port, which keeps nothing when it stops."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self._command = [
            program("redis-server"),
            *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", *options),
        ]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Start the server, and return when it accepts connections."""
        process = self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            if "Ready to accept connections" in line:
                return self
            lines.append(line)
        raise RuntimeError("redis-server did not start:\n" + "".join(lines))

    def stop(self) -> None:
        """End the server at once, frozen or not; whatever it held is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def freeze(self) -> None:
        """Let the server keep its connections, accept new ones, and answer nothing."""
        self._signal(signal.SIGSTOP, os.WUNTRACED)

    def thaw(self) -> None:
        """Let a frozen server go on where it stopped."""
        self._signal(signal.SIGCONT, os.WCONTINUED)

    def client(self) -> redis.Redis:
        """Return a plain client of this server."""
        return redis.Redis(port=self.port, socket_timeout=10)

    def _signal(self, number: signal.Signals, wait_for: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        os.waitpid(self._process.pid, wait_for)


@contextlib.contextmanager
def own_redis(folder: Path, *options: str) -> Iterator[RedisServer]:
    """Yield a server of the test's own, with further command line options."""
    server = RedisServer(folder, *options)
    try:
        yield server.start()
    finally:
        server.stop()


@contextlib.contextmanager
def any_redis(folder: Path) -> Iterator[str]:
    """Yield the address of a server: the one that runs on this machine, or else one of the test's own."""
    check_allowed("Redis")
    try:
        with redis.Redis.from_url(REDIS, socket_timeout=5) as client:
            client.ping()
    except redis.RedisError:
        with own_redis(folder) as server:
            yield server.url
    else:
        yield REDIS


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[RedisConnection]:
    """Yield a connection whose keys are the test's own, and remove them afterwards."""
    connection = RedisConnection(url, timeout=5, prefix=f"{key_prefix(run_id())}{uuid4().hex}")
    await connection.open()
    try:
        yield connection
    finally:
        keys = [key async for key in connection.client.scan_iter(f"{connection.prefix}:*", count=1000)]
        if keys:
            await connection.client.delete(*keys)
        await connection.close()
