"""What a server of `pressroom serve --reload` does to take the port over from the one before it."""

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
    """The connection to the process that watches, and the socket that all its servers listen on, one after another."""

    def __init__(self, control: socket.socket, listener: socket.socket) -> None:
        self._control = control
        self._listener = listener
        self._turn = threading.Event()
        threading.Thread(target=self._watch, name="pressroom-reload", daemon=True).start()

    def listen(self, settings: Settings) -> tuple[socket.socket, Settings]:
        """Return the socket, and the settings with its port."""
        self._listener.setblocking(False)
        server = settings.server.model_copy(update={"port": self._listener.getsockname()[1]})
        return self._listener, settings.model_copy(update={"server": server})

    def wait_for_turn(self) -> None:
        """Say that everything is loaded, and return once the server before has ended."""
        self._control.sendall(_LOADED)
        self._turn.wait()

    def tell_started(self) -> None:
        """Say that requests are answered, and which modules that took."""
        names = [name for name, module in list(sys.modules.items()) if getattr(module, "__spec__", None) is not None]
        message = json.dumps(names).encode() + b"\n"
        # The watching process reads when it comes to it, and requests must not wait for that.
        threading.Thread(target=self._control.sendall, args=(message,), daemon=True).start()

    def _watch(self) -> None:
        """Stop this server once the process that watches is gone, whatever ended it."""
        with suppress(ConnectionResetError):  # it has left something unread
            while self._control.recv(1):
                self._turn.set()
        os.kill(os.getpid(), signal.SIGTERM)  # reaches the main thread, wherever it waits


_current: Takeover | None = None


def begin(control: socket.socket, listener: socket.socket) -> None:
    """Make this process a server that takes over."""
    global _current  # noqa: PLW0603 - what a process is
    _current = Takeover(control, listener)


def current() -> Takeover | None:
    """Return how this process takes over; `None` for a server of its own."""
    return _current
