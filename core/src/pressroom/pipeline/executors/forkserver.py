"""Create worker processes with the standard library's fork servers.

A fork server is a fresh interpreter that has imported what workers need, and forks one on request. It does not
inherit the server's file descriptors, so no worker ever holds a listening socket.

Each process has two: the workers that run tools and those that work for plugins need different modules. The latter
take seconds and much memory to load, which tools should not have to wait for.
"""

from __future__ import annotations

import contextlib
import multiprocessing.forkserver
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any, ClassVar, Final

UNEXPECTED_EXIT = 70
"""Replaces exit status 0 of a worker (`EX_SOFTWARE` of sysexits.h)."""

_PRELOAD = (
    "pressroom.pipeline.executors.preload",
    "pressroom.pipeline.executors.forkserver",
    "pressroom.pipeline.executors.child",
    "pebble",
)


class ForkServer(multiprocessing.forkserver.ForkServer):
    """A fork server for workers of this process."""

    def preload(self, modules: Sequence[str]) -> None:
        """Set the modules that the fork server imports when it starts, so that workers have them from the beginning.

        Has no effect on a fork server that is already running.
        """
        self.set_forkserver_preload([*_PRELOAD, *modules])


FOR_TOOLS: Final = ForkServer()
FOR_PLUGINS: Final = ForkServer()


class WorkerProcess(ForkServerProcess):
    """A worker process that does not run the server's main script, and that can be killed at any time."""

    fork_server: ClassVar[ForkServer] = FOR_TOOLS

    def start(self) -> None:
        """Start the process. Blocks until the fork server, which may still be importing, has forked it."""
        with _main_hidden(), _asking(self.fork_server):
            super().start()

    def terminate(self) -> None:
        """Kill the process. SIGTERM is for the server, and would wait for a tool that does not return from C code."""
        self.kill()

    @property
    def exitcode(self) -> int | None:
        """The exit status. Workers never exit on their own, so 0 is replaced: a tool that exits with 0 has failed."""
        code = super().exitcode
        return UNEXPECTED_EXIT if code == os.EX_OK else code


class PluginWorkerProcess(WorkerProcess):
    """A worker process that has imported the modules that plugins need besides tools."""

    fork_server = FOR_PLUGINS


class WorkerContext(ForkServerContext):
    """The multiprocessing context of one class of worker processes."""

    def __init__(self, process: type[WorkerProcess]) -> None:
        super().__init__()
        self.Process = process  # type: ignore[misc]  # a class attribute there


_chosen = threading.local()
_connect_to_default = multiprocessing.forkserver.connect_to_new_process


def _connect(fds: Sequence[int]) -> tuple[int, int]:
    """Connect to the fork server that this thread has chosen; `multiprocessing` has no argument for it."""
    server: ForkServer | None = getattr(_chosen, "server", None)
    return server.connect_to_new_process(fds) if server is not None else _connect_to_default(fds)


multiprocessing.forkserver.connect_to_new_process = _connect


@contextlib.contextmanager
def _asking(server: ForkServer) -> Iterator[None]:
    _chosen.server = server
    try:
        yield
    finally:
        del _chosen.server


class _MainModule:
    """The main script, hidden from `multiprocessing` while any thread starts a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starting = 0
        self._hidden: dict[str, Any] = {}

    def hide(self) -> None:
        with self._lock:
            self._starting += 1
            if self._starting > 1:
                return
            main = sys.modules["__main__"]
            namespace = vars(main)
            self._hidden = {name: namespace[name] for name in ("__file__", "__spec__") if name in namespace}
            namespace.pop("__file__", None)
            main.__spec__ = None

    def show(self) -> None:
        with self._lock:
            self._starting -= 1
            if not self._starting:
                vars(sys.modules["__main__"]).update(self._hidden)


_main = _MainModule()


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep multiprocessing from running the main script again in a new process.

    That would import the whole server into every worker; workers import the functions they run by name. Threads that
    start processes do not wait for each other: one of them may be waiting for a fork server that is still importing.
    """
    _main.hide()
    try:
        yield
    finally:
        _main.show()
