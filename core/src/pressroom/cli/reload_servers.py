"""The servers of `pressroom serve --reload`, from the perspective of the watching process."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from pressroom.cli.watched_sources import SourcePaths, State, installed_folders, installed_state
from pressroom.errors import PressroomError

_SHUTDOWN_SECONDS: Final = 1
_STOP_SECONDS: Final = 8.0
"""Seconds that a server has to end. Longer than its own shutdown timeout, so that it can clean up."""

_CODE_SECONDS: Final = 2.0
"""Seconds to wait for a server's exit code after its end."""

_SETTINGS: Final = {
    "PRESSROOM_SERVER__SHUTDOWN_TIMEOUT": str(_SHUTDOWN_SECONDS),
    "PRESSROOM_SERVER__SHUTDOWN_DELAY": "0",
    # Plugin processes start slowly, and few changes need one. The first call that does waits for it.
    "PRESSROOM_EXECUTORS__START_PLUGIN_PROCESSES": "false",
}
_ATTEMPTS: Final = 2
_FIRST_MODULES: Final = ("pressroom.cli.serve", "pressroom.host.loaded_app", "pressroom.server.serve")
_START_SIGNAL: Final = b"\n"


class Server(Protocol):
    """A started server."""

    @property
    def loaded(self) -> bool:
        """Whether it is ready to open its stores and listen."""

    @property
    def ended(self) -> bool:
        """Whether its process has ended."""

    @property
    def code(self) -> int | None:
        """The exit code of an ended process; `None` if unknown."""

    def go(self) -> None:
        """Let it open its stores and handle requests, once no other server does."""

    def stop(self) -> None:
        """Stop it, and kill it after `_STOP_SECONDS`. Raises `KeyboardInterrupt` if the command is interrupted."""

    def kill(self) -> None:
        """Kill it and wait for its end."""


class Launcher(Protocol):
    """Starts servers."""

    @property
    def early(self) -> bool:
        """Whether a server can load while the previous one still serves requests."""

    def start(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        """Start a server with these command-line arguments. It takes over the socket."""

    def wait(self, seconds: float) -> None:
        """Wait up to this many seconds, or until the status of a server changes."""

    def changed(self, files: Sequence[Path]) -> None:
        """Handle changed source files."""

    def close(self) -> None:
        """Kill all servers and helper processes."""


class ForkingLauncher:
    """Starts servers by forking a process that has imported modules which rarely change.

    If one of its files changes, that process is restarted and no longer imports from the changed folder.
    """

    early = True

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._read = b""
        self._forked: list[int] = []
        self._codes: dict[int, int] = {}
        self._servers: list[_ForkedServer] = []
        self._installed: State = {}
        self._edited: set[Path] = set()
        self._allowed: list[Path] = []
        self._modules = dict.fromkeys(_FIRST_MODULES)
        self._reported_paths: set[str] = set()
        self._fit = True

    def start(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        """See `Launcher`."""
        # An interrupt before the server is recorded would leave it running.
        previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            return self._started(arguments, listener, sources)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)

    def _started(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        if self._installed != installed_state():
            self._drop()
        for _ in range(_ATTEMPTS):
            if self._process is None:
                self._begin(sources)
            parent_end, child_end = socket.socketpair()
            with child_end:
                self._send({"arguments": list(arguments)}, (child_end.fileno(), listener.fileno()))
            while not self._forked and self._connection is not None:
                self._receive(None)
            if self._forked:
                server = _ForkedServer(self, parent_end, self._forked.pop())
                self._servers.append(server)
                return server
            parent_end.close()
            self._fit = False  # an imported module has ended the process
        raise PressroomError("the process that starts servers has ended", hint="start the command again")

    def wait(self, seconds: float) -> None:
        """See `Launcher`."""
        sources = [server.control for server in self._servers]
        if self._connection is not None:
            sources.append(self._connection)
        readable, _, _ = select.select(sources, [], [], seconds)
        if self._connection in readable:
            self._receive(0)
        for server in [server for server in self._servers if server.control in readable]:
            server.receive()

    def changed(self, files: Sequence[Path]) -> None:
        """See `Launcher`."""
        imported = [path for path in self._allowed for file in files if file.is_relative_to(path)]
        if imported:
            self._edited |= set(imported)
            self._drop()

    def close(self) -> None:
        """See `Launcher`."""
        for server in list(self._servers):
            server.kill()
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            # It may be importing; its forked servers keep running.
            self._process.kill()
            self._process.wait()
            self._process = None

    def code_of(self, pid: int) -> int | None:
        """Return the exit code of an ended server, or `None` if it is unknown."""
        end = time.monotonic() + _CODE_SECONDS
        while pid not in self._codes and self._connection is not None and time.monotonic() < end:
            self._receive(end - time.monotonic())
        return self._codes.pop(pid, None)

    def gone(self, server: _ForkedServer) -> None:
        """Forget an ended server."""
        self._servers.remove(server)

    def learn(self, modules: Sequence[str]) -> None:
        """Import these modules before the next server starts."""
        self._modules |= dict.fromkeys(modules)
        new = [name for name in modules if name not in self._reported_paths]
        if new and self._fit and self._process is not None:
            self._send_modules(new)

    def _begin(self, sources: SourcePaths) -> None:
        self._installed = installed_state()
        self._allowed = [path for path in sources.shared if path not in self._edited]
        parent_end, child_end = socket.socketpair()
        with child_end:
            self._process = subprocess.Popen(  # noqa: S603 - no shell
                [sys.executable, "-P", str(Path(__file__).with_name("forking.py")), str(child_end.fileno())],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **_SETTINGS},
                # Ctrl-C must reach only this process, which then stops the server: workers would print tracebacks.
                process_group=0,
                pass_fds=(child_end.fileno(),),
            )
        self._connection, self._read, self._reported_paths = parent_end, b"", set()
        first = {
            "path": [] if _without_folder() else [str(Path.cwd())],
            "allowed": [str(path) for path in (*installed_folders(), *self._allowed)],
            "excluded": [str(path) for path in sources.foreign],
        }
        self._send(first)
        if self._fit:
            self._send_modules(list(self._modules))

    def _send_modules(self, modules: Sequence[str]) -> None:
        self._reported_paths |= set(modules)
        self._send({"modules": modules})

    def _send(self, message: dict[str, Any], files: Sequence[int] = ()) -> None:
        if self._connection is None:
            return
        content = json.dumps(message).encode() + b"\n"
        with suppress(BrokenPipeError, ConnectionResetError):
            sent = socket.send_fds(self._connection, [content], files)
            self._connection.sendall(content[sent:])

    def _receive(self, seconds: float | None) -> None:
        """Read messages of the forking process. Wait up to `seconds` for one, or without limit if `None`."""
        if self._connection is None or not select.select([self._connection], [], [], seconds)[0]:
            return
        try:
            content = self._connection.recv(1 << 16)
        except ConnectionResetError:
            content = b""
        if not content:
            self._drop()
            return
        *lines, self._read = (self._read + content).split(b"\n")
        for message in map(json.loads, lines):
            if "forked" in message:
                self._forked.append(message["forked"])
            elif "ended" in message:
                self._codes[message["ended"]] = message["code"]
            else:
                # A module that it imported is not safe to fork, so each server now imports everything itself.
                self._fit = False
                self._drop()


class _ForkedServer:
    def __init__(self, launcher: ForkingLauncher, control: socket.socket, pid: int) -> None:
        self.control = control
        self.loaded = self.ended = False
        self.code: int | None = None
        self._launcher = launcher
        self._pid = pid
        self._read = b""

    def receive(self) -> None:
        """Read the server's messages, or note its end."""
        try:
            content = self.control.recv(1 << 16)
        except ConnectionResetError:
            content = b""
        if not content:
            self._launcher.gone(self)
            self.control.close()
            self.ended = True
            self.code = self._launcher.code_of(self._pid)
            return
        *lines, self._read = (self._read + content).split(b"\n")
        for line in lines:
            if line == b"loaded":
                self.loaded = True
            else:
                self._launcher.learn(json.loads(line))

    def go(self) -> None:
        with suppress(BrokenPipeError):
            self.control.sendall(_START_SIGNAL)

    def stop(self) -> None:
        self._end(signal.SIGTERM, _STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        self._end(signal.SIGKILL, None)

    def _end(self, number: signal.Signals, seconds: float | None) -> None:
        if not self.ended:
            with suppress(ProcessLookupError):
                os.kill(self._pid, number)
        end = None if seconds is None else time.monotonic() + seconds
        while not self.ended:
            remaining = None if end is None else end - time.monotonic()
            if remaining is not None and remaining < 0:
                return
            if select.select([self.control], [], [], remaining)[0]:
                self.receive()


class SpawningLauncher:
    """Starts each server as a new Python process, for platforms without `fork`."""

    early = False

    def __init__(self) -> None:
        self._server: _SpawnedServer | None = None

    def start(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        """See `Launcher`. The socket is closed, and the server binds the port itself."""
        del sources
        arguments = [*arguments, "--port", str(listener.getsockname()[1])]
        listener.close()
        path = ["-P"] if _without_folder() else []
        self._server = _SpawnedServer(
            subprocess.Popen(  # noqa: S603 - no shell
                [sys.executable, *path, "-m", "pressroom.cli.reload_servers", *arguments],
                stdin=subprocess.PIPE,
                env={**os.environ, **_SETTINGS},
                process_group=0 if os.name == "posix" else None,
            )
        )
        return self._server

    def wait(self, seconds: float) -> None:
        """See `Launcher`."""
        if self._server is None or self._server.ended:
            _pause(seconds)
        else:
            self._server.wait(seconds)

    def changed(self, files: Sequence[Path]) -> None:
        """See `Launcher`."""

    def close(self) -> None:
        """See `Launcher`."""
        if self._server is not None and not self._server.ended:
            self._server.kill()


class _SpawnedServer:
    loaded = True

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.ended = False
        self._process = process

    @property
    def code(self) -> int | None:
        return self._process.returncode

    def wait(self, seconds: float | None) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            self.ended = True

    def go(self) -> None:
        """Do nothing: the server does not wait."""

    def stop(self) -> None:
        if os.name == "nt" and self._process.stdin is not None:
            self._process.stdin.close()  # on Windows, `terminate` would kill the process
        else:
            self._process.terminate()
        self.wait(_STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        self._process.kill()
        self.wait(None)
        if self._process.stdin is not None:
            self._process.stdin.close()


def _without_folder() -> bool:
    """Return whether the current folder was left off this process's `sys.path`; its servers do the same."""
    return "-m" not in sys.orig_argv or bool(sys.flags.safe_path)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def _stop_with_parent() -> None:
    """Stop this server when the watching process ends for any reason, which closes the pipe."""
    pipe = sys.stdin.fileno()

    def watch() -> None:
        # Not through `sys.stdin`: a thread that holds its lock would block the interpreter's shutdown.
        while os.read(pipe, 1):
            pass
        if os.name == "nt":
            signal.raise_signal(signal.SIGTERM)
        else:
            os.kill(os.getpid(), signal.SIGTERM)  # unlike `raise_signal`, interrupts the main thread while it blocks

    threading.Thread(target=watch, name="pressroom-reload", daemon=True).start()


if __name__ == "__main__":
    from pressroom.cli import main

    _stop_with_parent()
    sys.exit(main())
