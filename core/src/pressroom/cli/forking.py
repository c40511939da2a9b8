"""A zygote for `pressroom serve --reload`: imports modules that rarely change, and forks for each server.

It runs as a script and does not import Pressroom itself, because Pressroom's developers reload that too. Each message
is a line of JSON; the first lists the folders from which modules can be imported.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_FILES_OF_A_SERVER = 2


class _ModuleNotAllowed(BaseException):
    """A module must not be imported here. Not an `ImportError`, which some code handles by going without the module."""


class _AllowedOnly:
    """A finder that delegates to the other finders but accepts only modules in certain folders."""

    def __init__(self, allowed: Sequence[str], excluded: Sequence[str]) -> None:
        self._allowed = [os.path.realpath(path) for path in allowed]
        self._excluded = [os.path.realpath(path) for path in excluded]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module, or `None`. Raises `_ModuleNotAllowed` if its location is not allowed."""
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                locations = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
                if not all(self._may_come_from(location) for location in locations if location):
                    raise _ModuleNotAllowed(name)
                return spec
        return None

    def _may_come_from(self, location: str) -> bool:
        resolved = os.path.realpath(location)
        return _is_in(resolved, self._allowed) and not _is_in(resolved, self._excluded)


def _is_in(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


class _Forking:
    """The connection to the watching process, and the forked servers."""

    def __init__(self, parent: socket.socket) -> None:
        self._parent = parent
        self._read = b""
        self._files: list[int] = []
        self._servers: set[int] = set()
        self._finder: _AllowedOnly | None = None
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the watching process handles Ctrl-C

    def serve(self) -> Callable[[], int] | None:
        """Handle messages until the connection ends, then return `None`. Return the main function in a fork."""
        while True:
            watched: list[Any] = [self._parent, self._woken]
            readable = select.select(watched, [], [])[0]
            if self._woken in readable:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                self._report_ended()
            if self._parent in readable:
                try:
                    content, files, _, _ = socket.recv_fds(self._parent, 1 << 16, 2 * _FILES_OF_A_SERVER)
                except ConnectionResetError:
                    return None
                if not content:
                    return None
                self._files += files
                *lines, self._read = (self._read + content).split(b"\n")
                for line in lines:
                    server = self._follow(json.loads(line))
                    if server is not None:
                        return server

    def _follow(self, message: dict[str, Any]) -> Callable[[], int] | None:
        if "path" in message:
            sys.path[:0] = message["path"]
            self._finder = _AllowedOnly(message["allowed"], message["excluded"])
            sys.meta_path.insert(0, self._finder)
        elif "modules" in message:
            self._import(message["modules"])
        else:
            return self._fork(message["arguments"])
        return None

    def _import(self, modules: Sequence[str]) -> None:
        """Import modules. Those that cannot be imported are left to the servers."""
        open_before = _open_files()
        gc.disable()
        for name in modules:
            if name not in sys.modules:
                with suppress(Exception, _ModuleNotAllowed, SystemExit):
                    importlib.import_module(name)
                self._report_ended()
        gc.collect()
        gc.freeze()
        gc.enable()
        if _threads() > 1:
            self._send(unfit="a module that was imported has started a thread")
        elif _open_files() - open_before:
            self._send(unfit="a module that was imported keeps a file or a connection open")

    def _fork(self, arguments: Sequence[str]) -> Callable[[], int] | None:
        control, listener = self._files[:_FILES_OF_A_SERVER]
        del self._files[:_FILES_OF_A_SERVER]
        server = os.fork()
        if server == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for end in (self._woken, self._wake):
                os.close(end)
            self._parent.close()
            if self._finder in sys.meta_path:
                sys.meta_path.remove(self._finder)
            return lambda: _serve(arguments, control, listener)
        self._servers.add(server)
        os.close(control)
        os.close(listener)
        self._send(forked=server)
        return None

    def _report_ended(self) -> None:
        while self._servers:
            server, status = os.waitpid(-1, os.WNOHANG)
            if server == 0:
                return
            self._servers.discard(server)
            self._send(ended=server, code=os.waitstatus_to_exitcode(status))

    def _send(self, **message: Any) -> None:
        with suppress(BrokenPipeError):
            self._parent.sendall(json.dumps(message).encode() + b"\n")


def _threads() -> int:
    tasks = Path("/proc/self/task")  # includes threads that libraries started outside Python
    return len(list(tasks.iterdir())) if tasks.is_dir() else threading.active_count()


def _open_files() -> set[int]:
    return {int(name) for name in os.listdir("/dev/fd") if _is_open(int(name))}  # noqa: PTH208 - numbers, no paths


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False  # the descriptor of the directory listing
    return True


def _serve(arguments: Sequence[str], control: int, listener: int) -> int:
    """Run a server in the forked process and return its exit code."""
    for end in (control, listener):
        os.set_inheritable(end, False)
    importlib.invalidate_caches()
    sys.argv = ["pressroom", *arguments]
    from pressroom.cli import main, takeover  # noqa: PLC0415 - the newest code

    takeover.begin(socket.socket(fileno=control), socket.socket(fileno=listener))
    return main()


if __name__ == "__main__":
    # The watching process blocks these signals while it starts this one.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    server = _Forking(socket.socket(fileno=int(sys.argv[1]))).serve()
    sys.exit(server() if server is not None else 0)
