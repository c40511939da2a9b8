"""`pressroom plugins`: the installed plugins and their status."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.loading import compiled, print_safe_mode
from pressroom.cli.options import Invocation, command_options, common_options, plugin_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE
from pressroom.errors import NotFound
from pressroom.validation.echo import counted

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp
    from pressroom.host.server_status import RunningPlugin, RunningServer
    from pressroom.plugins.discovery import PluginRecord


_MAX_LISTED: Final = 80
"""Maximum characters of a setting's value to show."""


@click.group(
    cls=LazyGroup,
    lazy_commands={
        "check": "pressroom.cli.plugin_check:check",
        "install": "pressroom.cli.plugin_packages:install_packages",
        "uninstall": "pressroom.cli.plugin_packages:uninstall_packages",
    },
)
@common_options
def plugins() -> None:
    """List the plugins, show or check one, install and uninstall them."""


@plugins.command("list")
@click.option(
    "--requirements", is_flag=True, help="Print a requirement file of the plugins that do not come with the server."
)
@plugin_options
@command_options
def list_plugins(invocation: Invocation, requirements: bool) -> int:
    """List every installed plugin with its status. The exit code is 1 if one has failed.

    Where a server runs with this data folder, the plugins that it left out or that failed in it are listed too.
    """
    if requirements:
        return _list_requirements(invocation)
    host = compiled(invocation)
    plugins, servers = host.plugins, _servers(host)
    if invocation.json:
        invocation.output.data([as_data(record, servers) for record in plugins.records])
    elif not plugins.records:
        invocation.output.line("No plugins are installed.")
    else:
        rows = [
            (record.id, record.status, f"{record.distribution} {record.version}".strip(), _summary(record))
            for record in plugins.records
        ]
        invocation.output.table(["Plugin", "Status", "Distribution", "Notes"], rows)
        for record in plugins.failed:
            invocation.output.note(f"{record.id}: {record.hint}")
        for record in plugins.records:
            for warning in record.warnings:
                invocation.output.note(f"{record.id}: {warning}")
        for server in servers:
            _print_running(invocation, server, plugins.records)
    print_safe_mode(invocation.output, host)
    return EXIT_PROBLEMS if plugins.failed or any(_lost(server, plugins.records) for server in servers) else FINE


def _list_requirements(invocation: Invocation) -> int:
    from pressroom.cli.installing import installed_packages, pinned  # noqa: PLC0415 - not needed by --help
    from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS  # noqa: PLC0415

    lines = pinned([name for name in installed_packages() if name not in BUILTIN_DISTRIBUTIONS])
    if invocation.json:
        invocation.output.data(lines)
    for line in lines:
        invocation.output.line(line)
    return FINE


@plugins.command()
@click.argument("plugin")
@command_options
def show(invocation: Invocation, plugin: str) -> int:
    """Show the details of one plugin, with its settings. Values of secrets are masked."""
    host = compiled(invocation)
    records = [record for record in host.plugins.records if record.id == plugin]
    servers = _servers(host)
    if not records:
        raise NotFound(f"no plugin {plugin!r} is installed", hint="`pressroom plugins list` shows those that are")
    if invocation.json:
        documents = [{**as_data(record, servers), "settings": settings_of(host, record)} for record in records]
        invocation.output.data(documents)
    else:
        for record in records:
            values = {name: value for name, value in as_data(record).items() if value not in ("", [], None)}
            rows = [
                (name.replace("_", " "), ", ".join(value) if isinstance(value, list) else value)
                for name, value in values.items()
            ]
            invocation.output.table(["Field", "Value"], rows)
            _print_settings(invocation, record, settings_of(host, record))
        for server in servers:
            _print_running(invocation, server, records)
    lost = any(_lost(server, records) for server in servers)
    return EXIT_PROBLEMS if lost or any(record.failed for record in records) else FINE


def as_data(record: PluginRecord, servers: Sequence[RunningServer] = ()) -> dict[str, Any]:
    """Return a record as JSON data, with its status in each running server."""
    data = asdict(record)
    data["contributes"] = list(record.contributes)
    data["warnings"] = list(record.warnings)
    data["wrapped_by"] = list(record.wrapped_by)
    data["import_seconds"] = round(record.import_seconds, 3)
    data["running"] = [
        {"pid": server.pid, "host": server.host, "url": server.url, **asdict(server.plugins[record.id])}
        for server in servers
        if record.id in server.plugins
    ]
    return data


def settings_of(host: LoadedApp, record: PluginRecord) -> list[dict[str, Any]]:
    """Return the name, value, default and description of each setting of an active plugin. Secrets are masked."""
    from pydantic import BaseModel  # noqa: PLC0415 - not needed by --help
    from pydantic_core import PydanticUndefined, to_jsonable_python  # noqa: PLC0415

    from pressroom.config.display import MASK  # noqa: PLC0415

    context = host.plugins.contexts.get(record.id) if record.status == "active" else None
    if context is None or not isinstance(context.config, BaseModel):
        return []
    values = context.config.model_dump(mode="json")
    settings = []
    for name, field in type(context.config).model_fields.items():
        plain = field.default_factory is None or field.default_factory_takes_validated_data
        default = field.get_default() if plain else field.get_default(call_default_factory=True)
        settings.append(
            {
                "name": name,
                "value": MASK if host.origins.hides(f"plugins.{record.id}.config.{name}") else values[name],
                "default": None if default is PydanticUndefined else to_jsonable_python(default, fallback=str),
                "required": field.is_required(),
                "description": field.description or "",
            }
        )
    return settings


def _print_settings(invocation: Invocation, record: PluginRecord, settings: Sequence[dict[str, Any]]) -> None:
    if not settings:
        return
    rows = [
        (
            setting["name"],
            _short(setting["value"]),
            "required" if setting["required"] else _short(setting["default"]),
            setting["description"],
        )
        for setting in settings
    ]
    invocation.output.line()
    invocation.output.table(["Setting", "Value", "Default", "What it is"], rows)
    variable = f"PRESSROOM_PLUGINS__{record.id.upper()}__CONFIG__{settings[0]['name'].upper()}"
    invocation.output.note(f"Set them in [plugins.{record.id}.config], or in the environment, such as {variable}.")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_LISTED else f"{text[: _MAX_LISTED - 1]}…"


def _servers(host: LoadedApp) -> list[RunningServer]:
    from pressroom.host.server_status import running_servers  # noqa: PLC0415 - not needed by --help

    return list(running_servers(host.settings.storage.path))


def _lost(server: RunningServer, records: Iterable[PluginRecord]) -> list[RunningPlugin]:
    """Return the plugins that load in this process but have failed in a running server."""
    active = [record.id for record in records if record.status == "active"]
    running = [server.plugins[id_] for id_ in active if id_ in server.plugins]
    return [plugin for plugin in running if plugin.status in ("broken", "conflict", "incompatible")]


def _print_running(invocation: Invocation, server: RunningServer, records: Iterable[PluginRecord]) -> None:
    records = list(records)
    name = f"The running server (process {server.pid}, {server.url})"
    for plugin in _lost(server, records):
        invocation.output.note(f"{name} has left out {plugin.id}: {plugin.error}. {plugin.hint}")
    for record in records:
        running = server.plugins.get(record.id)
        if running is not None and running.failures and running.status == "active":
            times = counted(running.failures, "failure")
            invocation.output.note(f"{name} counts {times} of {record.id}, the last: {running.latest}")


def _summary(record: PluginRecord) -> str:
    if record.failed:
        return f"{record.phase}: {record.error}"
    if record.status in ("available", "disabled") and record.error:
        return record.error
    if record.status == "available":
        return f"add [plugins.{record.id}] to the configuration to use it"
    slow = f" (import took {record.import_seconds:.1f} s)" if record.imported_slowly else ""
    return (record.title or "") + slow
