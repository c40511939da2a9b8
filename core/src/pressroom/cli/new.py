"""`pressroom new`: create a plugin from the template."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pressroom.cli.options import Invocation, command_options


@click.command()
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder to create it in.",
    show_default="the current one",
)
@click.option(
    "--kind",
    type=click.Choice(["generator", "tools", "connector", "backend"]),
    default="generator",
    help="Files over HTTP and MCP, tools with a table, a platform to publish to, or a store.",
    show_default=True,
)
@command_options
def new(invocation: Invocation, name: str, into: Path, kind: str) -> None:
    """Create a plugin called NAME (lower-case words joined by hyphens), ready to test, build and publish."""
    from pressroom.cli.scaffolding import InvalidName, plugin_id, render_template  # noqa: PLC0415 - pydantic takes time to load

    try:
        folder = render_template(name, into, kind)
    except InvalidName as error:
        raise click.UsageError(f"{error.message}: {error.hint}") from error
    if invocation.json:
        invocation.output.data({"folder": str(folder), "plugin": plugin_id(name)})
        return
    invocation.output.line(f"Created {folder}. Next:")
    for command in (
        f"cd {shlex.quote(str(folder))}",
        "python -m pip install -e '.[test]'",
        "python -m pytest",
        "pressroom serve",
    ):
        invocation.output.line(f"  {command}")
    invocation.output.line(f"To use it elsewhere, add [plugins.{plugin_id(name)}] to the configuration there.")
