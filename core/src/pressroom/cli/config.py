"""`pressroom config`: inspect the configuration without starting the server."""

from __future__ import annotations

from typing import Any

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.options import Invocation, command_options, common_options


@click.group(cls=LazyGroup)
@common_options
def config() -> None:
    """Check and show the configuration."""


@config.command()
@command_options
def check(invocation: Invocation) -> None:
    """Check the file and the environment.

    Lists all problems with their positions. The plugins' own configuration is checked
    by `pressroom doctor`.
    """
    loaded = invocation.load_config()
    variables = loaded.origins.variables()
    file = str(loaded.file) if loaded.file else None
    if invocation.json:
        invocation.output.data({"ok": True, "file": file, "variables": variables})
    elif file or variables:
        sources = " and ".join([*([file] if file else []), *([", ".join(variables)] if variables else [])])
        invocation.output.line(f"The configuration is fine ({sources}).")
    else:
        invocation.output.line("No configuration; all settings have their defaults.")


@config.command()
@command_options
def schema(invocation: Invocation) -> None:
    """Print the JSON Schema of the file, for editors."""
    from pressroom.config.display import json_schema  # noqa: PLC0415 - pydantic

    invocation.output.data(json_schema())


@config.command()
@click.option("--origin", is_flag=True, help="Also show where each value comes from.")
@command_options
def show(invocation: Invocation, origin: bool) -> None:
    """Show all settings with their effective values.

    Secrets are masked; so are all texts in the plugins' own configuration, since only a plugin knows which
    of its values are secret.
    """
    from pressroom.config.display import as_data, listed  # noqa: PLC0415 - pydantic

    loaded = invocation.load_config()
    data = as_data(loaded.settings, origins=loaded.origins)
    settings = listed(data)
    if invocation.json:
        document: dict[str, Any] = {"file": str(loaded.file) if loaded.file else None, "settings": data}
        if origin:
            document["origins"] = {setting.key: loaded.origin_of(setting.key).as_data() for setting in settings}
        invocation.output.data(document)
    elif origin:
        rows = [(setting.key, setting.text, loaded.origin_of(setting.key)) for setting in settings]
        invocation.output.table(["Setting", "Value", "Origin"], rows)
    else:
        invocation.output.table(["Setting", "Value"], [(setting.key, setting.text) for setting in settings])
