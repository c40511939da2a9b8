"""Port takeover by a new server of `pressroom serve --reload`."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pressroom.config.models import Settings

_LOADED: Final = b"loaded\n"


class Takeover:
    """The connection to the watching process, and the socket that successive servers listen on."""

    def __init__(self, control: socket.socket, listener: socket.socket) -> None:
        self._control = control
        self._listener = listener
        self._start_event = threading.Event()
        threading.Thread(target=self._watch, name="pressroom-reload", daemon=True).start()

    def listen(self, settings: Settings) -> tuple[socket.socket, Settings]:
        """Return the socket, and the settings with its port."""
        self._listener.setblocking(False)
        server = settings.server.model_copy(update={"port": self._listener.getsockname()[1]})
        return self._listener, settings.model_copy(update={"server": server})

    def wait_until_started(self) -> None:
        """Report that everything is loaded, and block until the previous server has ended."""
        self._control.sendall(_LOADED)
        self._start_event.wait()

    def report_started(self) -> None:
        """Report that the server handles requests, and which modules it has imported."""
        names = [name for name, module in list(sys.modules.items()) if getattr(module, "__spec__", None) is not None]
        message = json.dumps(names).encode() + b"\n"
        # The watching process may take a while to read this, and requests must not wait for it.
        threading.Thread(target=self._control.sendall, args=(message,), daemon=True).start()

    def _watch(self) -> None:
        """Stop this server when the watching process ends for any reason."""
        with suppress(ConnectionResetError):  # the other end closed with unread data
            while self._control.recv(1):
                self._start_event.set()
        os.kill(os.getpid(), signal.SIGTERM)  # unlike `raise_signal`, interrupts the main thread while it blocks


_current: Takeover | None = None


def begin(control: socket.socket, listener: socket.socket) -> None:
    """Mark this process as a server that takes over the port."""
    global _current  # noqa: PLW0603 - what a process is
    _current = Takeover(control, listener)


def current() -> Takeover | None:
    """Return this process's takeover, or `None` if it binds the port itself."""
    return _current
