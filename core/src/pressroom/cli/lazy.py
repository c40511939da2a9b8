"""A click group that imports its commands on demand."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """A group of commands, each imported from its `module:attribute` on first use.

    Commands added in the usual way are listed after the lazy ones.
    """

    def __init__(self, *args: Any, lazy_commands: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy_commands = dict(lazy_commands or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in definition order, not sorted."""
        return [*self.lazy_commands, *(name for name in super().list_commands(ctx) if name not in self.lazy_commands)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing it on first use."""
        if cmd_name in self.lazy_commands and cmd_name not in self.commands:
            module, _, attribute = self.lazy_commands[cmd_name].partition(":")
            self.add_command(getattr(importlib.import_module(module), attribute), cmd_name)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command. For an unknown one, raise `click.UsageError` with the nearest match."""
        name = args[0]
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            from pressroom.validation.echo import nearest  # noqa: PLC0415 - only a typing error needs it

            commands = self.list_commands(ctx)
            suggestion = nearest(name, commands)
            hint = f"Did you mean {suggestion}?" if suggestion else f"There are {', '.join(commands)}."
            raise click.UsageError(f"There is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)
