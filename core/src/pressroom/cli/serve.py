"""`pressroom serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.options import Invocation, command_options
from pressroom.errors import PluginError

if TYPE_CHECKING:
    from pressroom.host import Compiled, Host


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on.  [default: 8000]")
@click.option("--strict", is_flag=True, help="Refuse to start while a plugin does not work.")
@command_options
def serve(invocation: Invocation, host: str | None, port: int | None, strict: bool) -> None:
    """Run the server until it is told to stop (SIGTERM, Ctrl-C)."""
    from pressroom.host import Compiled  # noqa: PLC0415 - loads plugins, which takes time
    from pressroom.observability.logs import configure_logging  # noqa: PLC0415
    from pressroom.server.serve import bind, serve_until_told  # noqa: PLC0415

    given: dict[str, Any] = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    loaded = invocation.load_config({"server": given} if given else None)
    configure_logging(loaded.settings.logging)
    listener, settings = bind(loaded.settings)
    compiled = Compiled(settings, loaded.origins)
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


def _announce(invocation: Invocation, compiled: Compiled, host: Host) -> None:
    base_url = host.settings.public_url
    addresses = {
        "Tools": f"{base_url}/tools",
        "Catalog": f"{base_url}/tools/api",
        "OpenAPI": f"{base_url}/openapi.json",
        "For AI clients": f"{base_url}/llms.txt",
        "Health": f"{base_url}/healthz",
    }
    records = [record for record in compiled.plugins.records if record.status != "available"]
    if invocation.json:
        plugins = [{"id": record.id, "status": record.status, "error": record.error} for record in records]
        invocation.output.data({"url": base_url, "plugins": plugins})
        return
    rows = [(record.id, record.status, record.error or ", ".join(record.contributes)) for record in records]
    invocation.output.table(["Plugin", "Status", "Contributes"], rows)
    invocation.output.table(["Open", "Address"], list(addresses.items()))
    for record in compiled.plugins.failed:
        invocation.output.note(f"{record.id} does not work: {record.hint}")
