"""Processes that run plugin jobs until they are killed, forked from a process that has imported everything.

As a program, reads JSON requests from standard input, one per line: it forks a process with the given settings, or
waits until one has ended. The response to each request is a line with a process id.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pressroom.host.loaded_app import LoadedApp
from pressroom.testing.running import settings_for_test

from support.installing import on_path
from support.publishing_world import services
from support.standin_plugin import distribution


class Workers:
    """Processes that share one configuration."""

    def __init__(self, forker: Forker, config: dict[str, Any], data: Path) -> None:
        self._forker = forker
        self._request = {"config": config, "data": str(data)}
        self.pids: set[int] = set()

    def start(self) -> int:
        """Start a process, and return its id once it is ready."""
        pid = self._forker.ask(self._request)
        self.pids.add(pid)
        return pid

    def kill(self, pid: int) -> None:
        """Send SIGKILL, and return once the process has ended."""
        os.kill(pid, signal.SIGKILL)
        self.gone(pid)

    def gone(self, pid: int) -> None:
        """Wait until a process has ended."""
        assert self._forker.ask({"wait": pid}) == pid
        self.pids.discard(pid)


class Forker:
    """The client of the fork server."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, question: dict[str, Any]) -> int:
        """Send a request, and return the process id from the response."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(question)}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    @contextmanager
    def workers(self, config: dict[str, Any], data: Path) -> Iterator[Workers]:
        """Yield processes with one configuration, and kill the remaining ones at the end."""
        workers = Workers(self, config, data)
        try:
            yield workers
        finally:
            for pid in list(workers.pids):
                workers.kill(pid)


@contextmanager
def forker(folder: Path) -> Iterator[Forker]:
    """Run a fork server, with the stand-in platform installed into the folder for its processes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "support.job_processes", str(folder)]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Forker(process)
    finally:
        process.communicate("", 20)


def _serve(folder: Path) -> None:
    compiled: dict[str, LoadedApp] = {}
    alive, write_end = os.pipe()
    with on_path(distribution(folder)):
        for line in sys.stdin:
            request = json.loads(line)
            if "wait" in request:
                _reply(os.waitpid(request["wait"], 0)[0])
                continue
            if line not in compiled:
                compiled[line] = _compiled(request["config"], Path(request["data"]))
            ready, ready_writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(ready)
                os.close(write_end)
                os.dup2(2, 1)  # keep log output out of the responses
                asyncio.run(_work(compiled[line], ready_writer, alive))
                os._exit(0)
            os.close(ready_writer)
            os.read(ready, 1)
            os.close(ready)
            _reply(child)


def _compiled(config: dict[str, Any], data: Path) -> LoadedApp:
    settings = settings_for_test(config, data)
    # Import everything once, so that forked processes need not; freezing keeps the collector off shared pages.
    asyncio.run(_try(LoadedApp(settings)))
    app = LoadedApp(settings)
    gc.collect()
    gc.freeze()
    return app


async def _try(compiled: LoadedApp) -> None:
    async with services(compiled, works=False):
        pass


def _reply(pid: int) -> None:
    sys.stdout.write(f"{pid}\n")
    sys.stdout.flush()


async def _work(compiled: LoadedApp, ready_writer: int, alive: int) -> None:
    async with services(compiled, works=True):
        os.write(ready_writer, b".")
        # The pipe closes when the fork server ends, however it ends.
        asyncio.get_running_loop().add_reader(alive, os._exit, 0)
        await asyncio.Event().wait()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
