"""`pressroom backup` and `pressroom restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.loading import compiled
from pressroom.cli.options import Invocation, command_options

if TYPE_CHECKING:
    from pressroom.backup import Manifest


@click.command()
@click.argument("destination", type=click.Path(path_type=Path))
@click.option("--no-files", is_flag=True, help="Leave out stored files, such as generated images.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@command_options
def backup(invocation: Invocation, destination: Path, no_files: bool, force: bool) -> None:
    """Back up the database, the keys and the files while the server is running.

    DESTINATION is a new file, or a folder for a file named after the date. The backup contains secrets; only its
    owner can read it.
    """
    from pressroom.backup import make_backup  # noqa: PLC0415 - SQLAlchemy, which takes time

    settings = invocation.load_config().settings
    with invocation.output.progress("Backing up") as progress:
        created = make_backup(settings, destination, force=force, with_files=not no_files, advance=progress.advance)
    if invocation.json:
        skipped = {"skipped": list(created.skipped)}
        invocation.output.data(
            {"ok": True, "path": str(created.path), "size": created.size, **_data(created.manifest), **skipped}
        )
        return
    invocation.output.line(f"{created.path}: {_size(created.size)}, {_contents(created.manifest)}")
    for text in created.manifest.not_included:
        invocation.output.note(f"Not in the backup: {text}")
    for path in created.skipped:
        invocation.output.note(f"Left out: {path}")
    invocation.output.note("It contains secrets: encrypt it before it leaves this machine.")


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing: check that the backup is complete and fits this server.")
@click.option("--force", is_flag=True, help="Replace existing data.")
@command_options
def restore(invocation: Invocation, source: Path, check: bool, force: bool) -> None:
    """Restore a backup to the database and the data folder of the configuration.

    Stop every server first. The backup is checked before anything is changed. If the restore fails, the error says what
    was changed, if anything.
    """
    from pressroom.backup import restore_backup  # noqa: PLC0415 - SQLAlchemy, which takes time

    host = compiled(invocation)
    with invocation.output.progress("Checking" if check else "Restoring") as progress:
        restored = restore_backup(
            host.settings, host.models(), source, force=force, check=check, advance=progress.advance
        )
    if invocation.json:
        document = {"ok": True, "restored": not check, **_data(restored.manifest), "warnings": list(restored.warnings)}
        invocation.output.data(document)
        return
    verb = "Checked" if check else "Restored"
    invocation.output.line(
        f"{verb} the backup of {restored.manifest.created_at}, made by Pressroom {restored.manifest.version}: "
        f"{_contents(restored.manifest)}"
    )
    for text in restored.warnings:
        invocation.output.note(f"Warning: {text}")
    for text in restored.manifest.not_included:
        invocation.output.note(f"Not in the backup: {text}")
    if not check and restored.manifest.database == "postgresql":
        invocation.output.note("Run `pressroom migrate` before the server starts.")


def _data(manifest: Manifest) -> dict[str, Any]:
    return {
        "created_at": manifest.created_at,
        "version": manifest.version,
        "database": manifest.database,
        "revisions": manifest.revisions,
        "files": len(manifest.files),
        "not_included": manifest.not_included,
    }


def _contents(manifest: Manifest) -> str:
    from pressroom.validation.echo import counted  # noqa: PLC0415 - not needed by --help

    files = len(manifest.files) - 1
    name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[manifest.database]
    return f"{name} database with {counted(len(manifest.tables), 'table')}, {counted(files, 'file')}"


def _size(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"
