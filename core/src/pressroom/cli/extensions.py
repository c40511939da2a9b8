"""`pressroom x`: run commands that plugins contribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, common_options
from pressroom.errors import PressroomError

if TYPE_CHECKING:
    from pressroom.gate import PluginGate
    from pressroom.host.loaded_app import LoadedApp


class PluginCommands(click.Group):
    """A group for each active plugin that contributes commands. Plugins are loaded when the group is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the IDs of the plugins that contribute commands."""
        return sorted(_groups(compiled(ctx.ensure_object(Invocation))))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command group of a plugin, or `None` if it contributes no commands.

        Raises:
            PluginError: the plugin did not load, for example because it failed or is not installed.
        """
        loaded = compiled(ctx.ensure_object(Invocation))
        group = _groups(loaded).get(cmd_name)
        if group is None:
            from pressroom.errors import PluginError  # noqa: PLC0415 - not needed by --help

            for record in loaded.plugins.records:
                if record.id == cmd_name and record.error:
                    raise PluginError(f"the plugin {record.id} is {record.status}: {record.error}", hint=record.hint)
        return group


def _groups(loaded: LoadedApp) -> dict[str, click.Group]:
    groups: dict[str, click.Group] = {}
    for contribution in loaded.plugins.contributions.of(click.Command):
        group = groups.setdefault(contribution.plugin, _PluginGroup(loaded.gate, contribution.plugin))
        group.add_command(contribution.record)
    return groups


_USER_ERRORS: Final = (
    PressroomError,
    click.ClickException,
    click.Abort,
    click.exceptions.Exit,
    KeyboardInterrupt,
    SystemExit,
)
"""Exceptions that pass through unchanged: messages, exit codes, and Ctrl-C."""


class _PluginGroup(click.Group):
    """The commands of one plugin. Unexpected exceptions are attributed to the plugin; those of click reach the user."""

    def __init__(self, gate: PluginGate, plugin: str) -> None:
        super().__init__(plugin, help=f"Commands of {plugin}.")
        self._gate = gate
        self._plugin = plugin

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command.

        Raises:
            PluginError: the command raised an unexpected exception.
        """
        from pressroom.errors import PluginError  # noqa: PLC0415 - not needed by --help
        from pressroom.gate import PluginCall, PluginFailed  # noqa: PLC0415

        self._gate.logs = True  # log the traceback for the plugin's authors
        try:
            with self._gate.calling(PluginCall(self._plugin, "command"), passes=_USER_ERRORS):
                return super().invoke(ctx)
        except PluginFailed as failure:
            raise PluginError(
                f"the command {ctx.invoked_subcommand} of the plugin {self._plugin} failed: {failure.message}",
                hint="report it to the plugin's authors, with the traceback above",
            ) from failure


@click.command(cls=PluginCommands, name="x")
@common_options
def extensions() -> None:
    """Run a command of a plugin: pressroom x PLUGIN COMMAND."""
