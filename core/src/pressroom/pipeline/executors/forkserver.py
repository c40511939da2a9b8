"""How worker processes are made: by the standard library's fork server.

The fork server is a fresh interpreter that has imported what workers need, and forks one whenever asked. It is
started without the server's file descriptors, so that no worker ever holds a listening socket.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

UNEXPECTED_EXIT = 70
"""Stands for exit status 0 of a worker (`EX_SOFTWARE` of sysexits.h)."""

_PRELOAD = (
    "pressroom.pipeline.executors.preload",
    "pressroom.pipeline.executors.forkserver",
    "pressroom.pipeline.executors.child",
    "pebble",
)
_hiding = threading.Lock()


def preload(modules: Sequence[str]) -> None:
    """Name the modules that the fork server imports when it starts, so that workers begin with them.

    There is one fork server for the whole process; for one that runs already this comes too late.
    """
    multiprocessing.set_forkserver_preload([*_PRELOAD, *modules])


class WorkerProcess(ForkServerProcess):
    """A worker process that does not run the server's main script, and that can be killed at any moment."""

    def start(self) -> None:
        """Start the process. Blocks until the fork server, which may still be importing, has forked it."""
        with _main_hidden():
            super().start()

    def terminate(self) -> None:
        """Kill the process: SIGTERM is for the server, and would wait for a tool that does not return from C."""
        self.kill()

    @property
    def exitcode(self) -> int | None:
        """The exit status. A worker never ends by itself, so a tool that exits with 0 has failed like any other."""
        code = super().exitcode
        return UNEXPECTED_EXIT if code == os.EX_OK else code


class WorkerContext(ForkServerContext):
    """The multiprocessing context of `WorkerProcess`."""

    Process = WorkerProcess


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Keep multiprocessing from telling a new process to run the main script again.

    It would import the whole server into every worker. What workers run is always imported by name.
    """
    with _hiding:
        main = sys.modules["__main__"]
        namespace = vars(main)
        hidden: dict[str, Any] = {name: namespace[name] for name in ("__file__", "__spec__") if name in namespace}
        namespace.pop("__file__", None)
        main.__spec__ = None
        try:
            yield
        finally:
            namespace.update(hidden)
