"""The plugin's tables on every database: created from scratch, and upgraded from an older version."""

from __future__ import annotations

from datetime import UTC, datetime

from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.autogeneration import differences
from pressroom_images.tables import ImagesBase, MediaRow, UploadRow
from sqlalchemy import select
from support.migrations import downgrade, tables_of

FILE = {"user_id": "u_1", "provider": "upload", "filename": "a.png", "media_type": "image/png", "hosting": "either"}
PLUGIN = ("images", Models(ImagesBase.metadata, "pressroom_images.migrations"))


async def test_the_schema_can_be_downgraded_to_nothing_and_upgraded_again(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    assert await differences(empty_database, ImagesBase.metadata) == []
    await downgrade(empty_database, *PLUGIN, "base")
    assert await tables_of(empty_database) == {"schema_version_images"}
    await migrator.migrate()
    assert await differences(empty_database, ImagesBase.metadata) == []


async def test_data_of_an_older_version_is_preserved(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0001")
    assert "images_thumbnails" not in await tables_of(empty_database)
    now = datetime.now(UTC)
    async with empty_database.writing() as session:
        session.add(
            UploadRow(token_hash=b"x" * 32, media_id="m_1", user_id="u_1", filename="", media_type="", expires_at=now)
        )
    await migrator.migrate()
    assert await differences(empty_database, ImagesBase.metadata) == []
    async with empty_database.reading() as session:
        assert list(await session.scalars(select(UploadRow.media_id))) == ["m_1"]


async def test_credits_are_converted_to_plain_text(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0002")
    stored = {
        "own": ("Photo:&#32;Ada&#32;&amp;amp;&#32;Co", {}),
        "licensed": ("AT&amp;T by Ada", {"code": "CC-BY-4.0"}),
        "none": ("", {}),
    }
    async with empty_database.writing() as session:
        for name, (text, license_) in stored.items():
            credit = {"text": text, "html": "x", "markdown": text} if text else {}
            values = {"id": f"m_{name}", "ref": name, "credit": credit, "license": license_}
            session.add(MediaRow(**values, **FILE, created_at=datetime.now(UTC)))

    await migrator.migrate()

    async with empty_database.reading() as session:
        rows = await session.execute(select(MediaRow.ref, MediaRow.credit))
        by_ref = {row.ref: (row.credit.get("text"), row.credit.get("markdown")) for row in rows}
    assert by_ref["own"] == ("Photo: Ada & Co", "Photo: Ada & Co")
    assert by_ref["licensed"] == ("AT&amp;T by Ada", "AT&amp;T by Ada")
    assert by_ref["none"] == (None, None)
