"""The life cycle of the process: listen, start, serve, finish requests in flight, stop."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog
from sanic.application.state import ApplicationServerInfo
from sanic.http.constants import HTTP
from sanic.http.http1 import Http
from sanic.server.async_server import AsyncioServer

from pressroom.config.models import StorageSettings
from pressroom.errors import BackendError
from pressroom.gate.deadlines import no_exit
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.host.server_status import ServerStatusFile
from pressroom.sdk import FileStore
from pressroom.server.app import create_app
from pressroom.server.connection import ClientConnection
from pressroom.server.supervisor import Supervisor
from pressroom.version import VERSION

log = structlog.get_logger()

_HARD_END_SECONDS: Final = 4.75
"""How many seconds after the time for calls in flight the process is killed: below the documented 5 s."""

_START_END_SECONDS: Final = 3.0
"""How many seconds a process that is told to stop while starting has before it is killed."""

_LEFT_BEHIND_SECONDS: Final = 2.0
"""How many seconds tasks and threads of plugins can delay the end of the process once everything is closed."""

_IDLE_CHECK_SECONDS: Final = 0.05
_ACCEPT_ITERATIONS: Final = 5
"""Turns of the event loop until it has registered a connection that was just accepted; asyncio takes three."""


Started = Callable[[Host], Awaitable[None] | None]


async def serve_until_signalled(compiled: LoadedApp, listener: socket.socket, started: Started) -> None:
    """Serve until SIGTERM or SIGINT; a second signal ends the delay after the first. See `serve`."""
    # On a terminal, Sanic recommends options that this command does not have.
    os.environ.setdefault("SANIC_IGNORE_PRODUCTION_WARNING", "1")
    loop, stop, stop_now = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    supervisor = Supervisor(compiled, loop)
    server = compiled.settings.server
    signals = 0

    # Not a handler of the event loop: it has to work even while the loop is blocked.
    def handle_signal(_number: int, _frame: object) -> None:
        nonlocal signals
        signals += 1
        in_flight = server.shutdown_timeout + _HARD_END_SECONDS + (server.shutdown_delay if signals == 1 else 0)
        supervisor.end_within(_START_END_SECONDS if supervisor.starting else in_flight, 1)
        with suppress(RuntimeError):  # the loop is closed: the process is about to exit
            loop.call_soon_threadsafe((stop if signals == 1 else stop_now).set)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle_signal)
    supervisor.start()

    def announce(host: Host) -> Awaitable[None] | None:
        supervisor.starting = False
        _spare_the_collector()
        return started(host)

    code = 1
    try:
        # A tool that exits the process, which only works in a worker process, fails instead.
        with no_exit():
            await serve(compiled, listener, stop, announce, stop_now)
        code = 0
    finally:
        # Everything of the host is closed by now: anything that still runs is a plugin's abandoned task or thread.
        supervisor.end_within(_LEFT_BEHIND_SECONDS, code)


async def serve(
    compiled: LoadedApp,
    listener: socket.socket,
    stop: asyncio.Event,
    started: Started,
    stop_now: asyncio.Event | None = None,
) -> None:
    """Serve on the socket until `stop` is set, then finish requests in flight and stop.

    For `[server] shutdown_delay` after `stop`, or until `stop_now` is set, `/readyz` reports that the host is about to
    stop, and everything else is served as before. `started` is called once requests are served, and its result is
    awaited meanwhile.

    Raises:
        ConfigError: the configuration refers to something that does not exist.
        BackendError: a store cannot be used.
    """
    settings = compiled.settings
    host = Host(compiled)
    status = ServerStatusFile(compiled, VERSION)
    for record in compiled.plugins.failed:
        log.error("a plugin is left out", plugin=record.id, phase=record.phase, error=record.error, hint=record.hint)
    try:
        if not await _start(host, stop):
            return
        status.open()
        server = await _listen(create_app(host), listener)
        with _metrics_port(host):
            async with _prune_regularly(host.services.files, settings.storage):
                announcement = started(host)
                if announcement is not None:
                    await announcement
                await stop.wait()
                host.leave()
                await _delay(settings.server.shutdown_delay, stop_now or asyncio.Event())
                log.info("shutting down", seconds=settings.server.shutdown_timeout)
                host.drain()
                await _drain(server, listener, host.time_left)
    finally:
        try:
            await host.close()
        finally:
            status.close()
            listener.close()


async def _start(host: Host, stop: asyncio.Event) -> bool:
    """Start the host. Return `False` if the server was told to stop meanwhile."""
    starting = asyncio.create_task(host.start(), name="start")
    stop_requested = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({starting, stop_requested}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting
            return True
        log.info("told to stop while starting")
        starting.cancel()
        await asyncio.wait({starting}, timeout=_START_END_SECONDS)
        return False
    finally:
        stop_requested.cancel()
        starting.cancel()


def _spare_the_collector() -> None:
    """Exclude all existing objects from garbage collection: the catalog, the code, the routes.

    Otherwise every full collection scans all of them, which takes a sixth of the time of a cached call.
    """
    gc.collect()
    gc.freeze()


async def _listen(app: Any, listener: socket.socket) -> AsyncioServer:
    # Sanic removes unused signals and an empty alt-svc header from the handling of every request, but only for a server
    # that it knows of, and only once in a process, since it rewrites its own classes.
    app.config.TOUCHUP = not hasattr(Http, "__touched__")
    app.state.server_info.append(ApplicationServerInfo(settings={"version": HTTP.VERSION_1}))
    server: AsyncioServer | None = await app.create_server(
        sock=listener, protocol=ClientConnection, return_asyncio_server=True
    )
    if server is None:
        raise BackendError("the server could not be created")
    await server.startup()
    await server.before_start()
    await server.start_serving()
    await server.after_start()
    return server


async def _delay(seconds: float, stop_now: asyncio.Event) -> None:
    """Give load balancers time to notice that the host is about to stop."""
    if seconds:
        log.info("about to shut down", seconds=seconds)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop_now.wait(), seconds)


async def _drain(server: AsyncioServer, listener: socket.socket, seconds: float) -> None:
    """Accept no new connections, close idle ones, and give busy ones `seconds` to finish."""
    # If the socket were closed at once, asyncio would lose connections that it has accepted but not registered.
    asyncio.get_running_loop().remove_reader(listener)
    for _ in range(_ACCEPT_ITERATIONS):
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


@asynccontextmanager
async def _prune_regularly(files: FileStore, settings: StorageSettings) -> AsyncIterator[None]:
    """Prune the store in the background, at once and then at the configured interval, until the block ends."""
    task = asyncio.get_running_loop().create_task(_prune_for_ever(files, settings))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _prune_for_ever(files: FileStore, settings: StorageSettings) -> None:
    while True:
        oldest = datetime.now(UTC) - timedelta(seconds=settings.retention)
        try:
            pruned = await files.prune(older_than=oldest, max_bytes=settings.max_total_bytes)
        except BackendError as error:
            log.warning("old files could not be removed", error=error.message, hint=error.hint)
        else:
            if pruned.removed_files:
                log.info("removed old files", files=pruned.removed_files, bytes=pruned.removed_bytes)
        await asyncio.sleep(settings.prune_interval)


@contextmanager
def _metrics_port(host: Host) -> Iterator[None]:
    """Serve the metrics on a separate port, if one is configured."""
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
