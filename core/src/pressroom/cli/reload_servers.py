"""The servers of `pressroom serve --reload`, as the process that watches sees them."""

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

_IN_FLIGHT_SECONDS: Final = 1
_STOP_SECONDS: Final = 8.0
"""How long a server may take to end: longer than it gives itself, so that it removes what it made."""

_CODE_SECONDS: Final = 2.0
"""How long after a server's end its exit code may come."""

_SETTINGS: Final = {
    "PRESSROOM_SERVER__SHUTDOWN_TIMEOUT": str(_IN_FLIGHT_SECONDS),
    "PRESSROOM_SERVER__SHUTDOWN_DELAY": "0",
    # They take longer to start than all else, and few changes need one: the first that does waits for it.
    "PRESSROOM_EXECUTORS__START_PLUGIN_PROCESSES": "false",
}
_ATTEMPTS: Final = 2
_FIRST_MODULES: Final = ("pressroom.cli.serve", "pressroom.host.loaded_app", "pressroom.server.serve")
_GO: Final = b"\n"


class Server(Protocol):
    """A server that was started."""

    @property
    def loaded(self) -> bool:
        """Whether it has nothing left to do but to open its stores and listen."""

    @property
    def ended(self) -> bool:
        """Whether its process has ended."""

    @property
    def code(self) -> int | None:
        """The exit code of a process that has ended; `None` where nobody knows it."""

    def go(self) -> None:
        """Let it open its stores and answer requests: no other server does so now."""

    def stop(self) -> None:
        """End it and wait for it, within some seconds. Raises `KeyboardInterrupt` when the command is told to end."""

    def kill(self) -> None:
        """End it at once, and wait for it."""


class Launcher(Protocol):
    """Starts servers."""

    @property
    def early(self) -> bool:
        """Whether a server may load while another still answers."""

    def start(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        """Start a server with these arguments of the command, which takes the socket over."""

    def wait(self, seconds: float) -> None:
        """Return after so long, or once something has happened to a server."""

    def changed(self, files: Sequence[Path]) -> None:
        """Take note of files that are others than when servers were started before."""

    def close(self) -> None:
        """End all that this has started."""


class ForkingLauncher:
    """Starts servers by forking a process that has imported what does not change.

    That process starts anew, without what has changed, when one of its files did.
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
        self._told: set[str] = set()
        self._fit = True

    def start(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        """See `Launcher`."""
        # Told to end meanwhile, this would not know the server that it has to end.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            return self._started(arguments, listener, sources)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _started(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        if self._installed != installed_state():
            self._drop()
        for _ in range(_ATTEMPTS):
            if self._process is None:
                self._begin(sources)
            own, its = socket.socketpair()
            with its:
                self._tell({"arguments": list(arguments)}, (its.fileno(), listener.fileno()))
            while not self._forked and self._connection is not None:
                self._receive(None)
            if self._forked:
                server = _ForkedServer(self, own, self._forked.pop())
                self._servers.append(server)
                return server
            own.close()
            self._fit = False  # a module that it imported has ended it
        raise PressroomError("the process that starts servers has ended", hint="start the command again")

    def wait(self, seconds: float) -> None:
        """See `Launcher`."""
        sources = [one.control for one in self._servers]
        if self._connection is not None:
            sources.append(self._connection)
        readable, _, _ = select.select(sources, [], [], seconds)
        if self._connection in readable:
            self._receive(0)
        for server in [one for one in self._servers if one.control in readable]:
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
            # It may be importing; servers that it has forked continue.
            self._process.kill()
            self._process.wait()
            self._process = None

    def code_of(self, pid: int) -> int | None:
        """Return the exit code of a server that has ended, if it can be known."""
        end = time.monotonic() + _CODE_SECONDS
        while pid not in self._codes and self._connection is not None and time.monotonic() < end:
            self._receive(end - time.monotonic())
        return self._codes.pop(pid, None)

    def gone(self, server: _ForkedServer) -> None:
        """Forget a server that has ended."""
        self._servers.remove(server)

    def learn(self, modules: Sequence[str]) -> None:
        """Have these modules imported before the next server starts."""
        self._modules |= dict.fromkeys(modules)
        new = [name for name in modules if name not in self._told]
        if new and self._fit and self._process is not None:
            self._tell_modules(new)

    def _begin(self, sources: SourcePaths) -> None:
        self._installed = installed_state()
        self._allowed = [path for path in sources.shared if path not in self._edited]
        own, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(  # noqa: S603 - no shell
                [sys.executable, "-P", str(Path(__file__).with_name("forking.py")), str(its.fileno())],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **_SETTINGS},
                # Ctrl-C reaches this process alone, which ends the server: its workers would write tracebacks.
                process_group=0,
                pass_fds=(its.fileno(),),
            )
        self._connection, self._read, self._told = own, b"", set()
        first = {
            "path": [] if _without_folder() else [str(Path.cwd())],
            "allowed": [str(path) for path in (*installed_folders(), *self._allowed)],
            "excluded": [str(path) for path in sources.foreign],
        }
        self._tell(first)
        if self._fit:
            self._tell_modules(list(self._modules))

    def _tell_modules(self, modules: Sequence[str]) -> None:
        self._told |= set(modules)
        self._tell({"modules": modules})

    def _tell(self, message: dict[str, Any], files: Sequence[int] = ()) -> None:
        if self._connection is None:
            return
        content = json.dumps(message).encode() + b"\n"
        with suppress(BrokenPipeError, ConnectionResetError):
            sent = socket.send_fds(self._connection, [content], files)
            self._connection.sendall(content[sent:])

    def _receive(self, seconds: float | None) -> None:
        """Read what the process says, for which it has that many seconds."""
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
                # What it has imported must not be forked: from now on each server imports everything.
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
        """Read what the server says."""
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
            self.control.sendall(_GO)

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
            left = None if end is None else end - time.monotonic()
            if left is not None and left < 0:
                return
            if select.select([self.control], [], [], left)[0]:
                self.receive()


class SpawningLauncher:
    """Starts servers with a Python of their own, where processes cannot be forked."""

    early = False

    def __init__(self) -> None:
        self._server: _SpawnedServer | None = None

    def start(self, arguments: Sequence[str], listener: socket.socket, sources: SourcePaths) -> Server:
        """See `Launcher`. The server takes the port by itself: the socket is closed meanwhile."""
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
        """It has not waited."""

    def stop(self) -> None:
        if os.name == "nt" and self._process.stdin is not None:
            self._process.stdin.close()  # what `terminate` sends there kills
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
    """Whether this process was started without the current folder on the path: its servers are, too."""
    return "-m" not in sys.orig_argv or bool(sys.flags.safe_path)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def _stop_with_parent() -> None:
    """Stop this server once the process that watches is gone, which closes the pipe, whatever ended it."""
    pipe = sys.stdin.fileno()

    def watch() -> None:
        # Not through `sys.stdin`, whose lock a thread must not hold when the process ends.
        while os.read(pipe, 1):
            pass
        if os.name == "nt":
            signal.raise_signal(signal.SIGTERM)
        else:
            os.kill(os.getpid(), signal.SIGTERM)  # reaches the main thread, wherever it waits

    threading.Thread(target=watch, name="pressroom-reload", daemon=True).start()


if __name__ == "__main__":
    from pressroom.cli import main

    _stop_with_parent()
    sys.exit(main())
