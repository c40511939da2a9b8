"""The options that every command has, and what they were set to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
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
    """What the common options were set to, anywhere on the command line.

    `own_process` tells that the process ends with the command: what is loaded stays in it.
    """

    config_file: Path | None = None
    json: bool = False
    plugins_dir: Path | None = None
    safe_mode: bool = False
    own_process: bool = False

    @property
    def output(self) -> Output:
        """Where the command writes to."""
        return Output(json=self.json)

    def load_config(self, overrides: Mapping[str, Any] | None = None) -> LoadedConfig:
        """Load the configuration that the command line names. `overrides` are as for `pressroom.config.load`.

        Raises:
            InvalidConfig: something is wrong with it.
        """
        from pressroom.config import load  # noqa: PLC0415 - pydantic takes longer to load than --help may take

        own = {"plugins_dir": self.plugins_dir, "safe_mode": self.safe_mode or None}
        return load(self.config_file, overrides={**own, **(overrides or {})})

    def config_file_path(self) -> Path:
        """Return the configuration file that `load_config` reads, or would read if it were there."""
        from pressroom.config.loading import DEFAULT_FILE, find_file  # noqa: PLC0415 - pydantic

        return find_file(self.config_file, os.environ) or DEFAULT_FILE


def common_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add `--config`, `--plugins-dir` and `--json`, which may be before and after the name of a command."""
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
    """Add the common options, and give the command their `Invocation` as its first argument."""

    def invoke(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(click.get_current_context().ensure_object(Invocation), *args, **kwargs)

    return common_options(update_wrapper(invoke, function))


def safe_mode_option(function: Callable[P, R]) -> Callable[P, R]:
    """Add `--safe-mode`, which goes for whatever the command loads."""
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
