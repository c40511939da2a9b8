"""`pressroom serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.loading import left_out, tell_safe_mode
from pressroom.cli.options import Invocation, command_options, safe_mode_option
from pressroom.errors import BackendError, PluginError

if TYPE_CHECKING:
    from pressroom.host.host import Host
    from pressroom.host.loaded_app import LoadedApp


@click.command()
@click.option("--host", help="IP address or host name to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on.  [default: 8000]")
@click.option("--strict", is_flag=True, help="Do not start if a plugin fails.")
@safe_mode_option
@command_options
def serve(invocation: Invocation, host: str | None, port: int | None, strict: bool) -> None:
    """Start the server; SIGTERM or Ctrl-C stops it."""
    from pressroom.host.loaded_app import LoadedApp  # noqa: PLC0415 - loads plugins, which takes time
    from pressroom.observability.logs import configure_logging  # noqa: PLC0415
    from pressroom.server.serve import bind, serve_until_told  # noqa: PLC0415

    given: dict[str, Any] = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    loaded = invocation.load_config({"server": given} if given else None)
    configure_logging(loaded.settings.logging)
    listener, settings = bind(loaded.settings)
    compiled = LoadedApp(settings, loaded.origins)
    if settings.safe_mode:
        import structlog  # noqa: PLC0415 - not needed by --help

        structlog.get_logger().warning("safe mode: built-in plugins alone are loaded", left_out=left_out(compiled))
    if strict and compiled.plugins.failed:
        names = ", ".join(record.id for record in compiled.plugins.failed)
        raise PluginError(f"these plugins do not work: {names}", hint="`pressroom doctor` says what to do")
    _run(serve_until_told(compiled, listener, lambda running: _announce(invocation, compiled, running)))


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
    endpoint = {"MCP endpoint": f"{base_url}/api/mcp"} if host.settings.mcp.enabled else {}
    urls = {
        "Tools": f"{base_url}/tools",
        "Dashboard": f"{base_url}/dashboard",
        **endpoint,
        "Catalog": f"{base_url}/tools/api",
        "OpenAPI": f"{base_url}/openapi.json",
        "For AI clients": f"{base_url}/llms.txt",
        "Health": f"{base_url}/healthz",
    }
    records = [record for record in compiled.plugins.records if record.status != "available"]
    if invocation.json:
        plugins = [{"id": record.id, "status": record.status, "error": record.error} for record in records]
        document = {"url": base_url, "plugins": plugins, "setupUrl": setup_url}
        invocation.output.data({**document, "safeMode": True} if host.settings.safe_mode else document)
        return
    rows = [(record.id, record.status, record.error or record.brief) for record in records]
    invocation.output.table(["Plugin", "Status", "Contributes"], rows)
    invocation.output.table(["Open", "URL"], list(urls.items()))
    if setup_url is not None:
        # Not in the table: there a terminal would break the URL over lines.
        invocation.output.line("There is no account yet. Create the first one (the link is valid for 24 hours):")
        invocation.output.line(setup_url)
    tell_safe_mode(invocation.output, compiled)
    for record in compiled.plugins.failed:
        invocation.output.note(f"{record.id} does not work: {record.hint}")


async def _setup_url(host: Host) -> str | None:
    """Return a new URL at which the first account is made, once; `None` where there is one already.

    It must not come near the log: whoever reads it owns the server's first account.
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
