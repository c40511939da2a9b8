"""`pressroom new`: a new plugin from the template."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click

from pressroom.cli.options import Invocation, command_options
from pressroom.errors import PressroomError

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


@click.command()
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder to make it in.",
    show_default="the current one",
)
@command_options
def new(invocation: Invocation, name: str, into: Path) -> None:
    """Make a plugin called NAME (lower-case words joined by hyphens), ready to test, build and publish."""
    if not _NAME.fullmatch(name) or len(name) > 30:
        raise click.UsageError(f"{name!r} is no name for a plugin: use lower-case words joined by hyphens, at most 30")
    from pressroom.template import render_template  # noqa: PLC0415 - cookiecutter takes time to load

    folder = into / f"pressroom-{name}"
    if folder.exists():
        raise PressroomError(f"{folder} exists already", hint="choose another name, or remove it")
    made = render_template(name, into)
    if invocation.json:
        invocation.output.data({"folder": str(made), "plugin": name.replace("-", "_")})
        return
    invocation.output.line(f"Made {made}. Next:")
    for command in (f"cd {made}", "python -m pip install -e '.[test]'", "python -m pytest"):
        invocation.output.line(f"  {command}")
    id_ = name.replace("-", "_")
    invocation.output.line(f"Then add [plugins.{id_}] to pressroom.toml, and run `pressroom serve`.")
