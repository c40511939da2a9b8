"""`pressroom serve`."""

from __future__ import annotations

import gc
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from pressroom.cli.loading import left_out, print_safe_mode
from pressroom.cli.options import Invocation, command_options, plugin_options
from pressroom.cli.takeover import current
from pressroom.errors import BackendError, PluginError
from pressroom.host.collector import collector_paused

if TYPE_CHECKING:
    import socket

    from pressroom.config.models import Settings
    from pressroom.host.host import Host
    from pressroom.host.loaded_app import LoadedApp


@click.command()
@click.option("--host", help="IP address or host name to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on.  [default: 8000]")
@click.option("--strict", is_flag=True, help="Do not start if a plugin fails.")
@click.option("--reload", is_flag=True, help="For development: restart when source code or the configuration changes.")
@plugin_options
@command_options
def serve(invocation: Invocation, host: str | None, port: int | None, strict: bool, reload: bool) -> None:
    """Start the server; SIGTERM or Ctrl-C stops it."""
    if reload:
        _serve_and_reload(invocation, host, port, strict=strict)
        return
    with collector_paused():
        from pressroom.host.loaded_app import LoadedApp  # noqa: PLC0415 - loads plugins, which takes time
        from pressroom.observability.logs import configure_logging  # noqa: PLC0415
        from pressroom.server.listening import bind  # noqa: PLC0415
        from pressroom.server.serve import serve_until_signalled  # noqa: PLC0415

        server_options: dict[str, Any] = {
            name: value for name, value in (("host", host), ("port", port)) if value is not None
        }
        loaded = invocation.load_config({"server": server_options} if server_options else None)
        configure_logging(loaded.settings.logging)
        takeover = current()
        listener, settings = takeover.listen(loaded.settings) if takeover else bind(loaded.settings)
        compiled = LoadedApp(settings, loaded.origins)
        if invocation.own_process:
            gc.freeze()
    if settings.safe_mode:
        import structlog  # noqa: PLC0415 - not needed by --help

        structlog.get_logger().warning("safe mode: only built-in plugins are loaded", left_out=left_out(compiled))
    if strict and compiled.plugins.failed:
        names = ", ".join(record.id for record in compiled.plugins.failed)
        raise PluginError(f"these plugins failed: {names}", hint="run `pressroom doctor` for advice")
    if takeover is not None:
        takeover.wait_until_started()

    async def announce(running: Host) -> None:
        await _announce(invocation, compiled, running)
        if takeover is not None:
            takeover.report_started()

    _run(serve_until_signalled(compiled, listener, announce))


def _serve_and_reload(invocation: Invocation, host: str | None, port: int | None, *, strict: bool) -> None:
    from pressroom.cli.reloading import reload_until_stopped  # noqa: PLC0415 - few servers need it
    from pressroom.cli.watched_sources import SourcePaths, source_paths  # noqa: PLC0415
    from pressroom.config import InvalidConfig  # noqa: PLC0415 - pydantic takes longer to load than --help may take
    from pressroom.server.listening import bind  # noqa: PLC0415

    server_options = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    overrides = {"server": server_options} if server_options else None
    options = {
        "--host": host,
        "--port": port,
        "--config": invocation.config_file,
        "--plugins-dir": invocation.plugins_dir,
    }
    flags = {"--strict": strict, "--safe-mode": invocation.safe_mode, "--json": invocation.json}
    arguments = ["serve", *(name for name, on in flags.items() if on)]
    for name, value in options.items():
        arguments += [name, str(value)] if value is not None else []
    for plugin, on in invocation.switched.items():
        arguments += ["--with" if on else "--without", plugin]
    settings = invocation.load_config(overrides).settings
    listener, bound = bind(settings)

    def prepared(stop: Callable[[], None]) -> tuple[SourcePaths, socket.socket]:
        nonlocal settings, listener, bound
        with suppress(InvalidConfig):  # the new server reports the error
            now = invocation.load_config(overrides).settings
            if _bind_address(now) != _bind_address(settings):
                stop()
                listener.close()
                listener, bound = bind(now)
            settings = now
        if listener.fileno() == _CLOSED:
            listener, bound = bind(bound)
        branding_files = settings.branding.templates, settings.branding.stylesheet
        return source_paths(invocation.config_file_path(), settings.plugins_dir, *branding_files), listener

    reload_until_stopped(invocation.output, arguments, prepared)


_CLOSED: Final = -1


def _bind_address(settings: Settings) -> tuple[str, int]:
    return settings.server.host, settings.server.port


def _run(main: Any) -> None:
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    try:
        import uvloop  # noqa: PLC0415 - comes with Sanic where the platform has it
    except ImportError:
        asyncio.run(main)
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main)


async def _announce(invocation: Invocation, compiled: LoadedApp, host: Host) -> None:
    base_url = host.settings.public_url
    setup_url = await _setup_url(host)
    records = [record for record in compiled.plugins.records if record.status != "available"]
    if invocation.json:
        plugins = [{"id": record.id, "status": record.status, "error": record.error} for record in records]
        document = {"url": base_url, "plugins": plugins, "setupUrl": setup_url}
        invocation.output.data({**document, "safeMode": True} if host.settings.safe_mode else document)
        return
    rows = [(record.id, record.status, record.error or record.brief) for record in records]
    invocation.output.table(["Plugin", "Status", "What it adds"], rows)
    invocation.output.line()
    for title, value in _next_steps(host):
        # Not a table, in which a terminal would wrap the URLs.
        invocation.output.line(f"{title:12}  {value}")
    if setup_url is not None:
        invocation.output.line("There is no account yet. Create the first one (the link is valid for 24 hours):")
        invocation.output.line(setup_url)
    print_safe_mode(invocation.output, compiled)
    for record in compiled.plugins.failed:
        invocation.output.note(f"{record.id} does not work: {record.hint}")


def _next_steps(host: Host) -> Iterator[tuple[str, str]]:
    """Yield the URLs that an operator needs next, the command that connects a client, and the data folder."""
    settings, branding = host.settings, host.compiled.branding
    base_url = settings.public_url
    yield "Tools", f"{base_url}/tools"
    yield "Dashboard", f"{base_url}/dashboard"
    if settings.mcp.enabled:
        yield "MCP endpoint", branding.mcp_url
        name = re.sub(r"[^a-z0-9]+", "-", branding.name.lower()).strip("-") or "pressroom"
        yield "", f"claude mcp add --transport http {name} {shlex.quote(branding.mcp_url)}"
    has_docs = branding.docs_url != f"{base_url}/tools"
    yield "Docs", branding.docs_url if has_docs else f"{base_url}/openapi.json (HTTP API), {base_url}/llms.txt (index)"
    yield "Data", str(settings.storage.path)


async def _setup_url(host: Host) -> str | None:
    """Return a single-use URL for creating the first account, or `None` if an account exists or the URL cannot be made.

    Never log it: anyone who reads it can claim the server's first account.
    """
    accounts = host.accounts
    try:
        if not host.settings.accounts.password_sign_in or await accounts.users.any():
            return None
        return f"{host.settings.public_url}/setup?token={await accounts.setup_links.create()}"
    except BackendError as error:
        import structlog  # noqa: PLC0415 - not needed by --help

        structlog.get_logger().warning("the link for the first account could not be made", error=str(error))
        return None
