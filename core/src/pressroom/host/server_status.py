"""A running server's status for commands on the same machine: a file in the data folder, locked while it runs."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

import structlog

from pressroom.host.loaded_app import LoadedApp
from pressroom.storage.data_folder import make_private_folder

log = structlog.get_logger()

FOLDER: Final = "servers"
"""The folder of the files in the data folder, one file for each process."""

_MAX_BYTES: Final = 4_194_304
_AS_IT_IS: Final = os.O_NOFOLLOW | os.O_NONBLOCK
"""Flags for opening status files safely: links are not followed, and opening a pipe does not block."""

_WRITE_SECONDS: Final = 0.5
"""How many seconds failures are collected before they are written: a plugin can fail at every call."""


@dataclass(frozen=True, slots=True)
class RunningPlugin:
    """A plugin in a running server: its status, number of failures since the start, and latest failure."""

    id: str
    status: str
    phase: str = ""
    error: str = ""
    hint: str = ""
    failures: int = 0
    latest: str = ""
    latest_at: str = ""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server, as last described by its status file."""

    pid: int
    host: str
    url: str
    started_at: str
    version: str
    plugins: Mapping[str, RunningPlugin] = field(default_factory=dict)


class ServerStatusFile:
    """Keeps the status file of this process up to date. A failure to write it is logged and otherwise ignored."""

    def __init__(self, compiled: LoadedApp, version: str) -> None:
        self._compiled = compiled
        self._version = version
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._path = compiled.settings.storage.path / FOLDER / f"{socket.gethostname()}-{os.getpid()}.json"
        self._file: IO[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pending = False

    def open(self) -> None:
        """Write the file and keep it locked. Failures of plugins then update it, on the running event loop."""
        self._loop = asyncio.get_running_loop()
        try:
            make_private_folder(self._path.parent.parent)
            make_private_folder(self._path.parent)
            # A link or a pipe in its place would let somebody else choose what is overwritten.
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | _AS_IT_IS, 0o600)
            self._file = os.fdopen(descriptor, "r+b", buffering=0)
            _check_file(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            log.warning("the status of the server cannot be written", file=str(self._path), error=error.strerror)
            file, self._file = self._file, None
            if file is not None:
                file.close()
            return
        self._compiled.gate.on_failure = self._changed
        self.write()

    def write(self) -> None:
        """Write the current status."""
        self._pending = False
        if self._file is None:
            return
        content = json.dumps(self._document()).encode()
        with suppress(OSError):  # such as a full disk: commands then show an older status
            os.pwrite(self._file.fileno(), content, 0)
            os.ftruncate(self._file.fileno(), len(content))

    def close(self) -> None:
        """Remove the file: the server is stopping."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                self._path.unlink()
            file.close()

    def _changed(self) -> None:
        # Called from any thread, such as the one that watches the event loop.
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: the process is about to exit
                self._loop.call_soon_threadsafe(self._write_soon)

    def _write_soon(self) -> None:
        if not self._pending and self._loop is not None:
            self._pending = True
            self._loop.call_later(_WRITE_SECONDS, self.write)

    def _document(self) -> dict[str, Any]:
        gate = self._compiled.gate
        counts: dict[str, int] = {}
        for (plugin, _, _), count in list(gate.failures.items()):
            counts[plugin] = counts.get(plugin, 0) + count
        plugins = []
        for record in self._compiled.plugins.records:
            latest = gate.latest.get(record.id)
            plugins.append(
                {
                    "id": record.id,
                    "status": record.status,
                    "phase": record.phase,
                    "error": record.error,
                    "hint": record.hint,
                    "failures": counts.get(record.id, 0),
                    "latest": f"{latest.call}: {latest.error}" if latest else "",
                    "latest_at": latest.at.isoformat(timespec="seconds") if latest else "",
                }
            )
        return {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "url": self._compiled.settings.public_url,
            "started_at": self._started_at,
            "version": self._version,
            "plugins": plugins,
        }


def running_servers(data_folder: Path) -> Iterator[RunningServer]:
    """Yield the running servers that use a data folder. A file without a lock is left over from a killed server."""
    try:
        paths = sorted((data_folder / FOLDER).glob("*.json"))
    except OSError:
        return
    for path in paths:
        try:
            with os.fdopen(os.open(path, os.O_RDWR | os.O_CLOEXEC | _AS_IT_IS), "r+b") as file:
                _check_file(file.fileno())
                if _is_locked(file):
                    yield _server(json.loads(file.read(_MAX_BYTES)))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # it has ended, or is being written at this moment; the next command will read it


def _check_file(descriptor: int) -> None:
    """Raise `OSError` unless the descriptor is a regular file with a single name."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise OSError(errno.EINVAL, "it is not a separate file")


def _is_locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _server(document: Mapping[str, Any]) -> RunningServer:
    plugins = [RunningPlugin(**fields) for fields in document["plugins"]]
    members = {name: document[name] for name in ("pid", "host", "url", "started_at", "version")}
    return RunningServer(**members, plugins={plugin.id: plugin for plugin in plugins})
