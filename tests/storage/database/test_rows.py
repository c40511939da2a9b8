"""Bulk inserts on every database."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from pressroom.columns import Timestamp
from pressroom.storage.database import SqlDatabase, insert_rows
from pressroom.storage.database.tables import ActivityRow, Base, UserRow
from sqlalchemy import literal, select
from sqlalchemy.exc import DBAPIError, StatementError

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
async def test_every_row_is_written_once_and_in_order(database: SqlDatabase, count: int) -> None:
    async with database.writing() as session:
        await insert_rows(session, TABLE, COLUMNS, [row(number) for number in range(count)])

    rows = await stored(database)

    assert [(stored_row.tool, stored_row.cached, stored_row.duration) for stored_row in rows] == [
        (f"tool {number} 'ü' %s", number % 2 == 1, number / 8) for number in range(count)
    ]
    assert [stored_row.at.microsecond for stored_row in rows] == [(AT + number) % 1_000_000 for number in range(count)]


async def test_a_timestamp_of_a_plugin_is_the_same_on_every_database(database: SqlDatabase) -> None:
    """In any time zone, it is returned in UTC without loss, and sorts chronologically."""
    moments = [
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 3, 29, 3, 30, 0, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(2026, 3, 29, 3, 30, tzinfo=timezone(timedelta(hours=-9))),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ]
    async with database.reading() as session:
        values = [await session.scalar(select(literal(at, Timestamp()))) for at in moments]
        later = [await session.scalar(select(literal(a, Timestamp()) < b)) for a, b in pairwise(moments)]
        assert await session.scalar(select(literal(None, Timestamp()))) is None
    assert values == moments
    assert {at.utcoffset() for at in values if at} == {timedelta()}
    assert all(later)
    with pytest.raises(StatementError, match="a moment needs a time zone"):
        async with database.reading() as session:
            await session.scalar(select(literal(datetime(2026, 1, 1), Timestamp())))  # noqa: DTZ001
    outside = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-9)))
    with pytest.raises(StatementError, match="is not between the years 1 and 9999 in UTC"):
        async with database.reading() as session:
            await session.scalar(select(literal(outside, Timestamp())))


@pytest.mark.parametrize("position", [0, 510, 599])
async def test_one_invalid_row_rolls_back_all(database: SqlDatabase, position: int) -> None:
    rows = [row(number) for number in range(600)]
    rows[position] = ("u_nobody", *rows[position][1:])

    async def write() -> None:
        async with database.writing() as session:
            await insert_rows(session, TABLE, COLUMNS, rows)

    with pytest.raises(DBAPIError):
        await write()
    assert await stored(database) == []
