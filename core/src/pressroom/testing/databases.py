"""Migrated SQLite databases of test hosts, which are copied instead of being migrated again."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from sqlalchemy import MetaData

from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase

_MAX_TEMPLATES: Final = 32

_Key = tuple[tuple[str, str, str, MetaData], ...]
"""For each plugin: its id, its package of migrations, the hash of its files, and its tables.

Migrations can use these tables; if a plugin is imported again, it has new ones with the same names.
"""

_templates: dict[_Key, bytes] = {}


async def make_database(settings: Settings, models: Sequence[tuple[str, Models]]) -> None:
    """Create the SQLite database of these settings with the tables of `models`, pairs of plugin id and contribution.

    The database is migrated once per process, and copied if the same migrations are needed again. Nothing is done if
    the database exists, the settings configure another one, or a migration fails: the host then reports the error when
    it starts.
    """
    database = SqlDatabase(settings)
    if settings.storage.database is not None or not database.missing:
        return
    with suppress(Exception):  # anything that the migrations, or the search for them, raise
        key = _key(models)
        if key not in _templates:
            template = await _migrated(settings, models)
            if len(_templates) >= _MAX_TEMPLATES:
                del _templates[next(iter(_templates))]
            _templates[key] = template
        _write(Path(str(database.url.database)), _templates[key])


def _key(models: Sequence[tuple[str, Models]]) -> _Key:
    return tuple((plugin, tables.migrations, _hash(tables.migrations), tables.metadata) for plugin, tables in models)


def _hash(package: str) -> str:
    digest = hashlib.sha256()
    with as_file(files(package)) as folder:
        for path in sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


async def _migrated(settings: Settings, models: Sequence[tuple[str, Models]]) -> bytes:
    """Return the content of a newly migrated database. Raises `BackendError` if a migration fails."""
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        storage = settings.storage.model_copy(update={"path": Path(folder)})
        database = SqlDatabase(settings.model_copy(update={"storage": storage}))
        await database.open()
        try:
            await Migrator(database, models).migrate()
        finally:
            await database.close()
        return _content(Path(str(database.url.database)))


def _content(file: Path) -> bytes:
    """Return the complete content of the database, including its write-ahead log."""
    with closing(sqlite3.connect(file)) as connection:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise BackendError("the database is still in use")
    return file.read_bytes()


def _write(file: Path, content: bytes) -> None:
    """Write the file atomically, readable by its owner only, as `SqlDatabase.open` creates it.

    Raises `FileExistsError` if the file exists, and leaves it unchanged.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.") as temporary:
        temporary.write(content)
        temporary.flush()
        os.link(temporary.name, file)
