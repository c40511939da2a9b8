"""Revisions: parsing without Alembic gives the same result, and unusual ones are left to Alembic."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from pressroom.config import Settings
from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.migrations import plain_revisions
from sqlalchemy import MetaData
from support.installing import on_path
from support.migrations import revision_source, write_migrations

PLAIN = {
    "one": {"0001": revision_source("0001", "a")},
    "a line": {
        "0003": revision_source("0003", "c", before="0002"),
        "0001": revision_source("0001", "a"),
        "0002": revision_source("0002", "b", before="0001"),
    },
    "annotated": {"0001": "revision: str = '0001'\ndown_revision: str | None = None\nbranch_labels = None\n"},
}

FOR_ALEMBIC = {
    "none": {},
    "computed": {"0001": "revision = '00' + '01'\ndown_revision = None\n"},
    "assigned twice": {"0001": "revision = '0001'\nrevision = '0002'\ndown_revision = None\n"},
    "assigned below": {"0001": "revision = '0001'\ndown_revision = None\nif True:\n    revision = '0002'\n"},
    "imported": {"0001": "revision = '0001'\nfrom os import name as down_revision\n"},
    "star import": {"0001": "revision = '0001'\ndown_revision = None\nfrom os import *\n"},
    "no revision": {"0001": "down_revision = None\n"},
    "no down revision": {"0001": "revision = '0001'\n"},
    "branches": {
        "0001": revision_source("0001", "a"),
        "0002": revision_source("0002", "b", before="0001"),
        "0003": revision_source("0003", "c", before="0001"),
    },
    "two beginnings": {"0001": revision_source("0001", "a"), "0002": revision_source("0002", "b")},
    "a merge": {"0001": "revision = '0001'\ndown_revision = ('0002', '0003')\n"},
    "a label": {"0001": "revision = '0001'\ndown_revision = None\nbranch_labels = ('x',)\n"},
    "a dependency": {"0001": "revision = '0001'\ndown_revision = None\ndepends_on = 'x'\n"},
    "a gap": {"0002": revision_source("0002", "b", before="0001")},
    "a circle": {
        "0001": revision_source("0001", "a"),
        "0002": revision_source("0002", "b", before="0003"),
        "0003": revision_source("0003", "c", before="0002"),
    },
    "the same twice": {"0001": revision_source("0001", "a"), "0001_b": revision_source("0001", "b")},
    "wrong syntax": {"0001": "revision = '0001'\ndown_revision = None\ndef\n"},
    "not a text": {"0001": "revision = 1\ndown_revision = None\n"},
}


def written(folder: Path, revisions: dict[str, str]) -> str:
    return write_migrations(folder, f"migrations_{folder.name.replace('-', '_')}", revisions)


@pytest.mark.parametrize("name", PLAIN)
def test_plain_revisions_are_the_same_as_alembics(tmp_path: Path, name: str) -> None:
    package = written(tmp_path, PLAIN[name])
    with on_path(tmp_path):
        revisions = plain_revisions(package)
    folder = tmp_path / package
    script = ScriptDirectory(str(folder), version_locations=[str(folder / "versions")])
    assert revisions is not None
    assert revisions.known == {revision.revision for revision in script.walk_revisions()}
    assert revisions.heads == tuple(script.get_heads())


@pytest.mark.parametrize("name", FOR_ALEMBIC)
def test_other_revisions_are_left_to_alembic(tmp_path: Path, name: str) -> None:
    package = written(tmp_path, FOR_ALEMBIC[name])
    with on_path(tmp_path):
        assert plain_revisions(package) is None


async def test_branches_are_migrated_and_then_up_to_date(tmp_path: Path, database_settings: Settings) -> None:
    merge = revision_source("0004", "d").replace("down_revision = None", "down_revision = ('0002', '0003')")
    package = written(tmp_path, {**FOR_ALEMBIC["branches"], "0004": merge})
    database = SqlDatabase(database_settings)
    await database.open()
    try:
        with on_path(tmp_path):
            migrator = Migrator(database, [("branched", Models(MetaData(), package))])
            assert (await migrator.state("branched")).wanted == "0004"
            assert [state.current for state in await migrator.migrate()] == [""]
            assert not (await migrator.state("branched")).behind
    finally:
        await database.close()
