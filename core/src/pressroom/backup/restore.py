"""Restore a backup. Everything is checked and prepared before anything is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pressroom.backup import databases as postgresql
from pressroom.backup import databases as sqlite
from pressroom.backup.archive import (
    DATA,
    POSTGRESQL,
    SQLITE,
    Advance,
    Archive,
    Manifest,
    disk_failures,
    fingerprint,
    open_archive,
)
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.sdk import Models
from pressroom.storage.data_folder import PreparedRestore, finish_prepared, make_private_folder, restore_lock
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.engine import FILE_NAME as SQLITE_FILE
from pressroom.storage.database.migrations import known_revisions
from pressroom.storage.files.signing import FILE_NAME as SECRET_FILE

_DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@dataclass(frozen=True, slots=True)
class RestoredBackup:
    """A backup that was restored, or only checked. `warnings` are for the operator."""

    manifest: Manifest
    warnings: tuple[str, ...]


def restore_backup(
    settings: Settings,
    models: Iterable[tuple[str, Models]],
    source: Path,
    *,
    force: bool = False,
    check: bool = False,
    advance: Advance,
) -> RestoredBackup:
    """Restore a backup to the locations in the settings, completely or not at all.

    Args:
        settings: the server's settings.
        source: the archive.
        models: the tables of this server's version, as pairs of plugin id and contribution.
        force: whether existing data can be replaced.
        check: whether to stop before anything is changed.
        advance: called with the number of bytes processed since the last call.

    Raises `BackendError`, which says what was changed, if anything.
    """
    with disk_failures("nothing was restored", settings.storage.path), open_archive(source) as archive:
        manifest = archive.manifest
        warnings = list(_check_versions(settings, manifest, dict(models)))
        archive.verify(advance)
        warnings += _secret_warnings(settings, archive)
        if not check:
            make_private_folder(settings.storage.path)
            with restore_lock(settings.storage.path):
                finish_prepared(settings.storage.path)
                _restore(settings, archive, force=force, advance=advance)
    return RestoredBackup(manifest, tuple(warnings))


def _restore(settings: Settings, archive: Archive, *, force: bool, advance: Advance) -> None:
    manifest = archive.manifest
    facts = postgresql.facts(settings) if manifest.database == "postgresql" else None
    if facts is not None:
        _check_server(manifest, facts, force=force)
        postgresql.find_program("pg_restore", facts.version)
    _check_folder(settings, manifest, force=force)
    prepared = PreparedRestore(settings.storage.path)
    prepared.begin()
    try:
        for file in archive.manifest.files:
            target = "postgresql.dump" if file.name == POSTGRESQL else _target_path(file.name)
            archive.copy(file, prepared.new / target, advance)
        if facts is not None:
            prepared.database_begins()
            dump = prepared.new / "postgresql.dump"
            postgresql.restore(settings, dump, facts, schema=manifest.database_schema)
    except BaseException:
        prepared.abandon()
        raise
    action = "nothing was restored"
    if facts is not None:
        action = "the database was restored, the data folder was not; run `pressroom restore` again with --force"
    with disk_failures(action, settings.storage.path):
        (prepared.new / "postgresql.dump").unlink(missing_ok=True)
        if manifest.with_files:
            (prepared.new / "files").mkdir(mode=0o700, exist_ok=True)
        prepared.commit()
    with disk_failures("the backup was restored, but not moved into place; the next start does it", prepared.new):
        finish_prepared(settings.storage.path)


def _target_path(name: str) -> str:
    """Return the path of a file of the archive relative to the data folder."""
    return SQLITE_FILE if name == SQLITE else name.removeprefix(DATA)


def _check_versions(settings: Settings, manifest: Manifest, models: dict[str, Models]) -> Iterator[str]:
    """Yield warnings. Raises `BackendError` if this server cannot use the backup."""
    dialect = SqlDatabase(settings).dialect
    if manifest.database != dialect:
        raise BackendError(
            f"the backup is of {_DATABASES[manifest.database]}, and the configuration names {_DATABASES[dialect]}",
            hint="Set [storage] database as it was when the backup was made.",
        )
    expected_path = settings.storage.path / SQLITE_FILE
    if dialect == "sqlite" and Path(str(SqlDatabase(settings).url.database)) != expected_path:
        raise BackendError(
            "[storage] database names a separate SQLite file, and a backup is restored into [storage] path",
            hint=f"Leave [storage] database out, restore, and move {expected_path} to where the file belongs.",
        )
    for plugin, revision in manifest.revisions.items():
        if plugin not in models:
            yield f"The tables of the plugin {plugin} are in the backup, but the plugin is not active here."
            continue
        unknown = set(filter(None, revision.split(", "))) - known_revisions(plugin, models[plugin]).known
        if unknown:
            raise BackendError(
                f"the backup was made by Pressroom {manifest.version}: it has the tables of {plugin} at revision "
                f"{revision}, which this version does not know",
                hint=f"Install Pressroom {manifest.version} or newer, and its plugins, then restore.",
            )


def _secret_warnings(settings: Settings, archive: Archive) -> Iterator[str]:
    secret = _secret_after(settings, archive)
    if archive.manifest.secret_key and archive.manifest.secret_key != (secret and fingerprint(secret)):
        yield (
            "secret_key is not the one that the backup was made with: AI clients have to connect again, and signed "
            "links stop working. Set the same secret_key before the server starts."
        )


def _secret_after(settings: Settings, archive: Archive) -> bytes | None:
    """Return the secret key that the server will have after the restore."""
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    for file in archive.manifest.files:
        if file.name == DATA + SECRET_FILE:
            try:
                return bytes.fromhex(b"".join(archive.blocks(file)).decode().strip())
            except ValueError:
                return None
    return None


def _check_server(manifest: Manifest, facts: postgresql.DatabaseFacts, *, force: bool) -> None:
    if facts.version < manifest.database_version:
        raise BackendError(
            f"the backup is of PostgreSQL {manifest.database_version}, the database here is PostgreSQL {facts.version}",
            hint=f"Restore it into PostgreSQL {manifest.database_version} or newer.",
        )
    if facts.tables and not force:
        raise BackendError(
            f"the database is not empty: it has {len(facts.tables)} tables",
            hint="Create an empty database and name it in [storage] database, or replace these tables with --force.",
        )
    extra_tables = sorted(set(facts.tables) - set(manifest.tables))
    if extra_tables:
        listed = ", ".join(extra_tables[:3]) + (", …" if len(extra_tables) > 3 else "")
        raise BackendError(
            f"the database has tables that the backup does not have: {listed}",
            hint="Create an empty database, name it in [storage] database, and restore into that.",
        )


def _check_folder(settings: Settings, manifest: Manifest, *, force: bool) -> None:
    folder = settings.storage.path
    replaced = {_target_path(file.name).partition("/")[0] for file in manifest.files if file.name != POSTGRESQL}
    if manifest.with_files:
        replaced.add("files")
    existing = sorted(name for name in replaced if _holds_something(folder / name))
    if existing and not force:
        raise BackendError(
            f"{folder} is not empty: {', '.join(existing)} would be replaced",
            hint="Name another folder as [storage] path, or replace what is there with --force.",
        )
    database = folder / SQLITE_FILE
    if manifest.database == "sqlite" and database.exists() and sqlite.is_in_use(database):
        raise BackendError(f"{database} is in use", hint="Stop the server, and try again.")


def _holds_something(path: Path) -> bool:
    return any(child.is_file() for child in path.rglob("*")) if path.is_dir() else path.exists()
