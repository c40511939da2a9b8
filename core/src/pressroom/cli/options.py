"""Options that every command has, and their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from pressroom.cli.output import Output

if TYPE_CHECKING:
    from pressroom.config import LoadedConfig

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True)
class Invocation:
    """Values of the common options, wherever they are on the command line.

    `switched` maps plugin IDs to `True` for `--with` and `False` for `--without`. With `own_process`, the process ends
    with the command, and what it loads stays in memory.
    """

    config_file: Path | None = None
    json: bool = False
    plugins_dir: Path | None = None
    safe_mode: bool = False
    switched: dict[str, bool] = field(default_factory=dict)
    own_process: bool = False

    @property
    def output(self) -> Output:
        """The output that the command writes to."""
        return Output(json=self.json)

    def load_config(self, overrides: Mapping[str, Any] | None = None) -> LoadedConfig:
        """Load the configuration that the command line selects. `overrides` are those of `pressroom.config.load`.

        Raises:
            InvalidConfig: the configuration is invalid.
            click.UsageError: `--with` or `--without` names an unknown plugin.
        """
        from pressroom.config import load  # noqa: PLC0415 - pydantic takes longer to load than --help may take

        merged = {"plugins_dir": self.plugins_dir, "safe_mode": self.safe_mode or None, **(overrides or {})}
        loaded = load(self.config_file, overrides=merged)
        if not self.switched:
            return loaded
        self._check_switched(loaded)
        return load(self.config_file, overrides={**merged, **self._switches()})

    def _switches(self) -> dict[str, bool]:
        return {f"plugins.{plugin}.enabled": on for plugin, on in self.switched.items()}

    def _check_switched(self, loaded: LoadedConfig) -> None:
        from pressroom.plugins.discovery import discover  # noqa: PLC0415 - reads the metadata of all packages
        from pressroom.plugins.folder import FOLDER_ID, discover_folder  # noqa: PLC0415
        from pressroom.validation.echo import nearest  # noqa: PLC0415 - only a typing error needs it

        installed = {plugin.id for plugin in (*discover(), *discover_folder(loaded.settings))} - {FOLDER_ID}
        known = sorted(installed | loaded.settings.plugins.keys())
        for plugin in self.switched:
            if plugin not in known:
                similar = nearest(plugin, known)
                suggestion = f"Did you mean {similar}? " if similar else ""
                raise click.UsageError(f"There is no plugin {plugin!r}. {suggestion}There are {', '.join(known)}.")

    def config_file_path(self) -> Path:
        """Return the path of the configuration file that `load_config` reads, whether or not it exists."""
        from pressroom.config.loading import DEFAULT_FILE, find_file  # noqa: PLC0415 - pydantic

        return find_file(self.config_file, os.environ) or DEFAULT_FILE


def common_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add `--config`, `--plugins-dir` and `--json`, which are accepted before and after the name of a command."""
    json = click.option("--json", "json", is_flag=True, expose_value=False, callback=_set_json, help="Print JSON.")
    config = click.option(
        "--config",
        "config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        expose_value=False,
        callback=_set_config,
        help="Configuration file.  [default: $PRESSROOM_CONFIG, or pressroom.toml if it exists]",
    )
    plugins_dir = click.option(
        "--plugins-dir",
        "plugins_dir",
        metavar="DIR",
        type=click.Path(path_type=Path),
        expose_value=False,
        callback=_set_plugins_dir,
        help="Folder of one-file plugins.  [default: the setting plugins_dir]",
    )
    return config(plugins_dir(json(function)))


def command_options(function: Callable[Concatenate[Invocation, P], R]) -> Callable[P, R]:
    """Add the common options and pass the command its `Invocation` as the first argument."""

    def invoke(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(click.get_current_context().ensure_object(Invocation), *args, **kwargs)

    return common_options(update_wrapper(invoke, function))


def plugin_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add `--safe-mode`, `--without` and `--with`, which override the configuration when plugins are loaded."""
    without, with_ = (
        click.option(
            name,
            multiple=True,
            metavar="PLUGIN",
            expose_value=False,
            callback=partial(_switch, on=on),
            help=f"{text} this plugin, whatever the configuration says; may be repeated.",
        )
        for name, text, on in (("--without", "Leave out", False), ("--with", "Load", True))
    )
    function = without(with_(function))
    return click.option(
        "--safe-mode",
        is_flag=True,
        expose_value=False,
        callback=_set_safe_mode,
        help="Load only built-in plugins.",
    )(function)


def _set_safe_mode(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if value:
        ctx.ensure_object(Invocation).safe_mode = True


def _switch(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...], *, on: bool) -> None:
    switched = ctx.ensure_object(Invocation).switched
    for plugin in value:
        if switched.get(plugin, on) != on:
            raise click.BadParameter(f"{plugin} is named with --with and --without", ctx, parameter)
        switched[plugin] = on


def _set_json(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if value:
        ctx.ensure_object(Invocation).json = True


def _set_config(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    del parameter
    if value is not None:
        ctx.ensure_object(Invocation).config_file = value


def _set_plugins_dir(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    del parameter
    if value is not None:
        ctx.ensure_object(Invocation).plugins_dir = value
