"""Bind the port that the server listens on."""

from __future__ import annotations

import errno
import socket
from typing import Final

from pressroom.config.models import Settings
from pressroom.errors import BackendError

_BACKLOG: Final = 1024


def bind(settings: Settings) -> tuple[socket.socket, Settings]:
    """Bind the port, and return the socket and the settings with the actual port in place of port 0.

    Raises:
        BackendError: the port or IP address cannot be used; the message has the reason.
    """
    host, port = settings.server.host, settings.server.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise BackendError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}",
            hint=_advice(error),
        ) from error
    listener.setblocking(False)
    server = settings.server.model_copy(update={"port": listener.getsockname()[1]})
    return listener, settings.model_copy(update={"server": server})


def _advice(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "stop what uses the port, or choose another with --port"
        case errno.EACCES:
            return "choose a port above 1023 with --port, or let a proxy take this one"
        case _:
            return "choose an IP address of this machine with --host, such as 127.0.0.1"
