"""Redis for tests: the server running on this machine, or separate servers that a test can kill and freeze."""

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
    """A private server on a free port, without persistence."""

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
        """Kill the server, frozen or not; its data is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def freeze(self) -> None:
        """Suspend the server: it keeps connections and accepts new ones, but does not respond."""
        self._signal(signal.SIGSTOP, os.WUNTRACED)

    def thaw(self) -> None:
        """Resume a frozen server."""
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
    """Yield a private server, with additional command line options."""
    server = RedisServer(folder, *options)
    try:
        yield server.start()
    finally:
        server.stop()


@contextlib.contextmanager
def any_redis(folder: Path) -> Iterator[str]:
    """Yield the URL of a server: the one running on this machine, or else a private one."""
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
    """Yield a connection with a unique key prefix, and delete its keys afterwards."""
    connection = RedisConnection(url, timeout=5, prefix=f"{key_prefix(run_id())}{uuid4().hex}")
    await connection.open()
    try:
        yield connection
    finally:
        keys = [key async for key in connection.client.scan_iter(f"{connection.prefix}:*", count=1000)]
        if keys:
            await connection.client.delete(*keys)
        await connection.close()
