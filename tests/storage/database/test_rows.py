"""Writing many rows at once, on every database."""

from datetime import UTC, datetime

import pytest
from pressroom.storage.database import SqlDatabase, insert_rows
from pressroom.storage.database.tables import ActivityRow, Base, UserRow
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

TABLE = Base.metadata.tables[ActivityRow.__tablename__]
COLUMNS = (
    "user_id",
    "connection_id",
    "at",
    "tool",
    "code",
    "cached",
    "duration",
    "address",
    "request_id",
    "website_id",
)
AT = 1_795_000_000_123_456


def row(number: int) -> tuple[object, ...]:
    return ("u_1", "c_1", AT + number, f"tool {number} 'ü' %s", "ok", number % 2 == 1, number / 8, "::/64", "?", "$1")


@pytest.fixture
async def database(database: SqlDatabase) -> SqlDatabase:
    async with database.writing() as session:
        session.add(UserRow(id="u_1", email="a@example.com", name="", plan="free", created_at=datetime.now(UTC)))
    return database


async def stored(database: SqlDatabase) -> list[ActivityRow]:
    async with database.reading() as session:
        return list(await session.scalars(select(ActivityRow).order_by(ActivityRow.id)))


@pytest.mark.parametrize("count", [0, 1, 24, 25, 26, 499, 500, 501, 1049])
async def test_every_row_is_written_once_in_its_order(database: SqlDatabase, count: int) -> None:
    async with database.writing() as session:
        await insert_rows(session, TABLE, COLUMNS, [row(number) for number in range(count)])

    found = await stored(database)

    assert [(one.tool, one.cached, one.duration) for one in found] == [
        (f"tool {number} 'ü' %s", number % 2 == 1, number / 8) for number in range(count)
    ]
    assert [one.at.microsecond for one in found] == [(AT + number) % 1_000_000 for number in range(count)]


@pytest.mark.parametrize("position", [0, 510, 599])
async def test_one_bad_row_leaves_none(database: SqlDatabase, position: int) -> None:
    rows = [row(number) for number in range(600)]
    rows[position] = ("u_nobody", *rows[position][1:])

    async def write() -> None:
        async with database.writing() as session:
            await insert_rows(session, TABLE, COLUMNS, rows)

    with pytest.raises(DBAPIError):
        await write()
    assert await stored(database) == []
