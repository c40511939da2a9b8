"""`pressroom x`: the commands that plugins bring."""

from __future__ import annotations

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, common_options


class PluginCommands(click.Group):
    """A group for each active plugin that brings commands. The plugins are loaded when the group is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the ids of the plugins that bring commands."""
        return sorted(self._groups(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the group of one plugin's commands."""
        return self._groups(ctx).get(cmd_name)

    def _groups(self, ctx: click.Context) -> dict[str, click.Group]:
        groups: dict[str, click.Group] = {}
        for one in compiled(ctx.ensure_object(Invocation)).plugins.contributions.of(click.Command):
            group = groups.setdefault(one.plugin, click.Group(one.plugin, help=f"Commands of {one.plugin}."))
            group.add_command(one.record)
        return groups


@click.command(cls=PluginCommands, name="x")
@common_options
def extensions() -> None:
    """Run a command of a plugin: pressroom x PLUGIN COMMAND."""
