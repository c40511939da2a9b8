"""The life of the process: listen, start, serve, finish what is in flight, stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
from sanic.application.state import ApplicationServerInfo
from sanic.http.constants import HTTP
from sanic.http.http1 import Http
from sanic.server.async_server import AsyncioServer

from pressroom.compiled import Compiled
from pressroom.config.models import Settings
from pressroom.errors import BackendError
from pressroom.host import Host
from pressroom.server.app import create_app
from pressroom.storage.maintenance import prune_regularly

log = structlog.get_logger()

_BACKLOG: Final = 1024
_IDLE_CHECK_SECONDS: Final = 0.05
_ACCEPT_TURNS: Final = 5
"""Turns of the event loop until it knows a connection that it has just accepted; asyncio takes three."""


def bind(settings: Settings) -> tuple[socket.socket, Settings]:
    """Take the port, and return the socket with the settings as they are then: port 0 has become a real one.

    Raises:
        BackendError: the address cannot be listened on; the message says why.
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
            return "choose an address of this machine with --host, such as 127.0.0.1"


Started = Callable[[Host], Awaitable[None] | None]


async def serve_until_told(compiled: Compiled, listener: socket.socket, started: Started) -> None:
    """Serve until SIGTERM or SIGINT. See `serve`."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def announce(host: Host) -> Awaitable[None] | None:
        _spare_the_collector()
        return started(host)

    await serve(compiled, listener, stop, announce)


async def serve(compiled: Compiled, listener: socket.socket, stop: asyncio.Event, started: Started) -> None:
    """Serve on the socket until `stop` is set, then finish what is in flight and stop.

    `started` is called once requests are answered; what it returns is awaited while they are.

    Raises:
        ConfigError: the configuration names something that is not there.
        BackendError: a store cannot be used.
    """
    settings = compiled.settings
    host = Host(compiled)
    try:
        await host.start()
        server = await _listen(create_app(host), listener)
        with _metrics_port(host):
            async with prune_regularly(host.services.files, settings.storage):
                announcement = started(host)
                if announcement is not None:
                    await announcement
                await stop.wait()
                log.info("shutting down", seconds=settings.server.shutdown_timeout)
                host.drain()
                await _drain(server, listener, host.time_left)
    finally:
        try:
            await host.close()
        finally:
            listener.close()


def _spare_the_collector() -> None:
    """Tell the garbage collector that what exists now stays: the catalog, the code, the routes.

    Otherwise every full collection walks all of it, which takes a sixth of the time of a cached call.
    """
    gc.collect()
    gc.freeze()


async def _listen(app: Any, listener: socket.socket) -> AsyncioServer:
    # Sanic takes its unused signals and an empty alt-svc header out of the path of every request: for a server that it
    # knows of, and once in a process, since it rewrites its own classes.
    app.config.TOUCHUP = not hasattr(Http, "__touched__")
    app.state.server_info.append(ApplicationServerInfo(settings={"version": HTTP.VERSION_1}))
    server: AsyncioServer | None = await app.create_server(sock=listener, return_asyncio_server=True)
    if server is None:
        raise BackendError("the server could not be created")
    await server.startup()
    await server.before_start()
    await server.start_serving()
    await server.after_start()
    return server


async def _drain(server: AsyncioServer, listener: socket.socket, seconds: float) -> None:
    """Take no new connection, close idle ones, and give the busy ones their time."""
    # Closed at once, asyncio would lose the connections that it has accepted and does not serve yet.
    asyncio.get_running_loop().remove_reader(listener)
    for _ in range(_ACCEPT_TURNS):
        await asyncio.sleep(0)
    server.close()
    deadline = time.monotonic() + seconds
    while server.connections and time.monotonic() < deadline:
        for connection in list(server.connections):
            connection.close_if_idle()
        await asyncio.sleep(_IDLE_CHECK_SECONDS)
    for connection in list(server.connections):
        connection.abort()
    await server.before_stop()
    await server.after_stop()


@contextmanager
def _metrics_port(host: Host) -> Iterator[None]:
    """Serve the metrics on their own port, where the operator wants one."""
    settings = host.settings
    if settings.metrics.port is None:
        yield
        return
    from prometheus_client import start_http_server  # noqa: PLC0415 - brings an HTTP server that few need

    try:
        server, thread = start_http_server(
            settings.metrics.port, settings.server.host, registry=host.services.metrics.registry
        )
    except OSError as error:
        raise BackendError(
            f"cannot serve metrics on port {settings.metrics.port}: {error.strerror or error}",
            hint="choose another [metrics] port",
        ) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
