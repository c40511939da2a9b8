"""`pressroom serve --reload`: run a server in a child process and replace it when its sources change.

Sanic's `auto_reload` does not work in a single-process server. A new server loads while the previous one still serves
requests. Then the previous one stops, and the new one opens the stores, which two servers never use at once. The
listening socket stays open, so requests wait in the meantime.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pressroom.cli.output import Output
from pressroom.cli.reload_servers import ForkingLauncher, Launcher, Server, SpawningLauncher
from pressroom.cli.watched_sources import SourcePaths, State, changed, drop_bytecode, state_of, syntax_errors
from pressroom.errors import PressroomError

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")

MIN_POLL_SECONDS: Final = 0.05
MAX_POLL_SECONDS: Final = 0.5
_POLL_FACTOR: Final = 20
"""The pause between scans, as a multiple of the last scan's CPU time: at most 5 % of one core."""

_SETTLE_SECONDS: Final = 0.1
"""Seconds without changes before a restart: editors and version control write several files."""

Prepared = Callable[[Callable[[], None]], tuple[SourcePaths, socket.socket]]


def reload_until_stopped(output: Output, arguments: Sequence[str], prepared: Prepared) -> None:
    """Run `pressroom` with these arguments until SIGINT or SIGTERM, and replace the server when a file changes.

    If a change leaves a syntax error in a Python file or an error in the configuration, the error is reported and the
    server keeps running. A server that exits is started again after the next change.

    Args:
        output: where changes and errors are reported.
        arguments: those of the command, without `--reload`.
        prepared: returns the source paths and the listening socket; called before each start. Its argument stops the
            servers, and must be called before opening another socket. It raises `PressroomError` if the port cannot be
            bound.

    Raises:
        PressroomError: the first server cannot be started.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    launcher: Launcher = ForkingLauncher() if CAN_FORK else SpawningLauncher()
    reloading = _Reloading(output, launcher, arguments, prepared)
    try:
        reloading.begin()
        while True:
            reloading.turn()
    except KeyboardInterrupt:
        reloading.end()


class _Reloading:
    """The current server, its possible successor, and the state of the files that each was started with."""

    def __init__(self, output: Output, launcher: Launcher, arguments: Sequence[str], prepared: Prepared) -> None:
        self._output = output
        self._launcher = launcher
        self._arguments = arguments
        self._prepared = prepared
        self._server: Server | None = None
        self._successor: Server | None = None
        self._sources = SourcePaths(())
        self._last_state: State = {}
        self._started_with: State = {}
        self._changed_at = 0.0
        self._interval = MIN_POLL_SECONDS

    def begin(self) -> None:
        """Start the first server."""
        self._sources, listener = self._prepared(self._stop_all)
        self._last_state = self._state()
        self._start(listener)

    def turn(self) -> None:
        """Run one iteration of the loop: wait, then handle changed files and servers."""
        successor = self._successor
        settling = successor is not None and successor.loaded
        self._launcher.wait(min(self._interval, _SETTLE_SECONDS / 2) if settling else self._interval)
        self._look_at_files()
        self._look_at_servers()

    def end(self) -> None:
        """Stop all servers. A second interrupt kills them."""
        servers = [server for server in (self._successor, self._server) if server is not None]
        try:
            for server in servers:
                server.stop()
        except KeyboardInterrupt:
            for server in servers:
                server.kill()
        finally:
            self._launcher.close()

    def _look_at_files(self) -> None:
        now = self._state()
        if now == self._last_state:
            return
        self._note_change(now)
        if self._successor is not None and self._launcher.early:
            self._successor.kill()  # it has loaded outdated files
            self._successor = None
        files = changed(self._started_with, now)
        errors = list(syntax_errors(files))
        for error in errors:
            self._output.note(f"{error}. {self._retry_note()}")
        if files and not errors:
            self._replace(files)

    def _note_change(self, now: State) -> None:
        files = changed(self._last_state, now)
        self._last_state, self._changed_at = now, time.monotonic()
        self._launcher.changed(files)
        drop_bytecode(files)

    def _replace(self, files: Sequence[Path]) -> None:
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        try:
            if not self._launcher.early:
                self._stop_all()
            sources, listener = self._prepared(self._stop_all)
        except PressroomError as error:
            self._output.note(f"{error}. {self._retry_note()}")
            return
        self._output.note(f"Changed: {files[0]}{more}. Restarting.")
        self._sources = sources
        self._note_change(self._state())  # includes files changed since the last scan
        self._start(listener)

    def _start(self, listener: socket.socket) -> None:
        self._started_with = self._last_state
        self._successor = self._launcher.start(self._arguments, listener, self._sources)

    def _look_at_servers(self) -> None:
        successor, server = self._successor, self._server
        if server is not None and server.ended:
            self._server = None
            self._output.note(f"The server exited ({_exit_code(server)}). {self._retry_note()}")
            server = None
        if successor is None:
            return
        if successor.ended:
            self._successor = None
            label = "server" if server is None else "new server"
            self._output.note(f"The {label} exited ({_exit_code(successor)}). {self._retry_note()}")
        elif successor.loaded and self._is_settled:
            if server is not None:
                server.stop()
            successor.go()
            self._server, self._successor = successor, None

    def _stop_all(self) -> None:
        for server in (self._successor, self._server):
            if server is not None:
                server.stop()
        self._server = self._successor = None

    def _retry_note(self) -> str:
        if self._server is None:
            return "It starts again when a file changes."
        return "The server keeps running unchanged, and tries again after the next change."

    @property
    def _is_settled(self) -> bool:
        return self._server is None or time.monotonic() - self._changed_at >= _SETTLE_SECONDS

    def _state(self) -> State:
        started_at = time.process_time()
        state = state_of(self._sources.watched)
        wait = _POLL_FACTOR * (time.process_time() - started_at)
        self._interval = min(max(wait, MIN_POLL_SECONDS), MAX_POLL_SECONDS)
        return state


def _exit_code(server: Server) -> str:
    return f"exit code {'unknown' if server.code is None else server.code}"
