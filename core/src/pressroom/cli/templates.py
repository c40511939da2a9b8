"""`pressroom templates`: list, show and copy page templates that operators can replace."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.errors import ConfigError, NotFound, PressroomError
from pressroom.version import VERSION

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp


@click.group()
@common_options
def templates() -> None:
    """List page templates, and copy them to customise them."""


@templates.command("list")
@command_options
def list_templates(invocation: Invocation) -> None:
    """List the templates that can be replaced, and the files that replace them."""
    rows = [(name, replacement) for name, _, replacement in compiled(invocation).templates.originals()]
    if invocation.json:
        invocation.output.data([{"template": name, "replacedBy": replacement} for name, replacement in rows])
        return
    invocation.output.table(["Template", "Replaced by"], rows)


@templates.command()
@click.argument("template")
@command_options
def show(invocation: Invocation, template: str) -> None:
    """Print the original of TEMPLATE from the server or a plugin."""
    source = _original(compiled(invocation), template).read_text("utf-8")
    if invocation.json:
        invocation.output.data({"template": template, "source": source})
        return
    click.echo(source, nl=False)


@templates.command()
@click.argument("template")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@command_options
def copy(invocation: Invocation, template: str, force: bool) -> None:
    """Copy TEMPLATE into the folder of [branding] templates, where you can change it.

    The first line of the copy names the original, so that `pressroom doctor` can tell when the original has changed.
    """
    from pressroom.plugins.template_folder import fingerprint  # noqa: PLC0415 - pydantic

    host = compiled(invocation)
    folder = host.settings.branding.templates
    if folder is None:
        raise ConfigError(
            "[branding] templates is not set", hint="name a folder for your templates there, and make that folder"
        )
    source = _original(host, template).read_text("utf-8")
    head = f"{{# Copied from {template} of pressroom {VERSION}, {fingerprint(source)} #}}\n"
    target = folder / template
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if force:
            _replace(target, head + source)
        else:
            _create(target, head + source)
    except FileExistsError:
        raise PressroomError(f"there is a file {target}", hint="add --force to replace it") from None
    except OSError as error:
        raise PressroomError(
            f"{target} cannot be written: {error.strerror}", hint="check that the folder is there, and its permissions"
        ) from error
    if invocation.json:
        invocation.output.data({"template": template, "file": str(target)})
        return
    invocation.output.line(f"Copied {template} to {target}. Restart the server once you have changed it.")


def _create(file: Path, text: str) -> None:
    # O_EXCL also refuses an existing symbolic link.
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w", encoding="utf-8") as opened:
        opened.write(text)


def _replace(file: Path, text: str) -> None:
    """Replace a file, or a symbolic link itself instead of what it points to."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        _create(temporary, text)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _original(host: LoadedApp, template: str) -> Path:
    from pressroom.validation.echo import nearest  # noqa: PLC0415 - only a typing error needs it

    originals = {name: path for name, path, _ in host.templates.originals()}
    if template in originals:
        return originals[template]
    similar = nearest(template, originals)
    raise NotFound(
        f"there is no template {template!r}; "
        + (f"did you mean {similar}?" if similar else "`pressroom templates list` names them")
    )
