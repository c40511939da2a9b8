"""`pressroom plugins`: the installed plugins and their status."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.cli.output import FINE, FOUND_WRONG
from pressroom.errors import NotFound

if TYPE_CHECKING:
    from pressroom.plugins.records import PluginRecord


@click.group(cls=LazyGroup)
@common_options
def plugins() -> None:
    """List the plugins, or show one."""


@plugins.command("list")
@command_options
def list_plugins(invocation: Invocation) -> int:
    """List every installed plugin with its status. The exit code is 1 if one has failed."""
    found = compiled(invocation).plugins
    if invocation.json:
        invocation.output.data([as_data(record) for record in found.records])
    elif not found.records:
        invocation.output.line("No plugin is installed.")
    else:
        rows = [
            (record.id, record.status, f"{record.distribution} {record.version}".strip(), _summary(record))
            for record in found.records
        ]
        invocation.output.table(["Plugin", "Status", "Distribution", "Notes"], rows)
        for record in found.failed:
            invocation.output.note(f"{record.id}: {record.hint}")
    return FOUND_WRONG if found.failed else FINE


@plugins.command()
@click.argument("plugin")
@command_options
def show(invocation: Invocation, plugin: str) -> int:
    """Show the details of one plugin."""
    records = [record for record in compiled(invocation).plugins.records if record.id == plugin]
    if not records:
        raise NotFound(f"no plugin {plugin!r} is installed", hint="`pressroom plugins list` shows those that are")
    if invocation.json:
        invocation.output.data([as_data(record) for record in records])
    else:
        for record in records:
            values = {name: value for name, value in as_data(record).items() if value not in ("", [], None)}
            rows = [
                (name.replace("_", " "), ", ".join(value) if isinstance(value, list) else value)
                for name, value in values.items()
            ]
            invocation.output.table(["Field", "Value"], rows)
    return FOUND_WRONG if any(record.failed for record in records) else FINE


def as_data(record: PluginRecord) -> dict[str, Any]:
    """Return a record as JSON shows it."""
    data = asdict(record)
    data["contributes"] = list(record.contributes)
    data["import_seconds"] = round(record.import_seconds, 3)
    return data


def _summary(record: PluginRecord) -> str:
    if record.failed:
        return f"{record.phase}: {record.error}"
    if record.status in ("available", "disabled") and record.error:
        return record.error
    if record.status == "available":
        return f"add [plugins.{record.id}] to the configuration to use it"
    slow = f" (import took {record.import_seconds:.1f} s)" if record.imported_slowly else ""
    return (record.title or "") + slow
