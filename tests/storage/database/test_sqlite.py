"""SQLite connections: they return what `aiosqlite` returns, with one step on the connection's thread per statement."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pressroom.storage.database.sqlite import FIRST_ROWS, connect_to_sqlite
from sqlalchemy import Column, Integer, MetaData, String, Table, event, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

ROWS = [0, 1, FIRST_ROWS - 1, FIRST_ROWS, FIRST_ROWS + 1, 5 * FIRST_ROWS]

notes = Table("notes", MetaData(), Column("id", Integer, primary_key=True), Column("text", String, unique=True))


def engine_of(path: Path) -> AsyncEngine:
    return create_async_engine(
        f"sqlite+aiosqlite:///{path}", connect_args={"async_creator_fn": connect_to_sqlite}, pool_size=1, max_overflow=0
    )


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[AsyncConnection]:
    engine = engine_of(tmp_path / "notes.sqlite")
    async with engine.connect() as connection:
        await connection.run_sync(notes.metadata.create_all)
        await connection.commit()
        yield connection
    await engine.dispose()


async def fill(connection: AsyncConnection, count: int) -> None:
    if count:
        await connection.execute(insert(notes), [{"text": f"note {number}"} for number in range(count)])


@pytest.mark.parametrize("count", ROWS)
async def test_all_rows_arrive_in_order(connection: AsyncConnection, count: int) -> None:
    await fill(connection, count)
    result = await connection.execute(select(notes.c.text).order_by(notes.c.id))
    assert result.scalars().all() == [f"note {number}" for number in range(count)]


@pytest.mark.parametrize("count", ROWS)
async def test_streamed_rows_arrive_in_order(connection: AsyncConnection, count: int) -> None:
    await fill(connection, count)
    streamed = await connection.stream(select(notes.c.id).order_by(notes.c.id))
    assert [row.id async for row in streamed] == list(range(1, count + 1))


async def test_an_abandoned_stream_returns_its_connection(connection: AsyncConnection) -> None:
    await fill(connection, 3 * FIRST_ROWS)
    await connection.commit()
    async for row in await connection.stream(select(notes.c.id).order_by(notes.c.id)):
        if row.id == 2 * FIRST_ROWS:
            break
    await connection.rollback()
    assert await connection.scalar(select(func.count()).select_from(notes)) == 3 * FIRST_ROWS


@pytest.mark.parametrize("count", ROWS)
async def test_the_count_of_changed_rows_is_known(connection: AsyncConnection, count: int) -> None:
    await fill(connection, count)
    assert (await connection.execute(update(notes).values(text="seen: " + notes.c.text))).rowcount == count


@pytest.mark.parametrize("count", ROWS)
async def test_every_changed_row_is_returned(connection: AsyncConnection, count: int) -> None:
    await fill(connection, count)
    changed = await connection.execute(update(notes).values(text="seen: " + notes.c.text).returning(notes.c.text))
    assert sorted(changed.scalars()) == sorted(f"seen: note {number}" for number in range(count))


async def test_a_new_row_has_its_key(connection: AsyncConnection) -> None:
    for expected in (1, 2):
        result = await connection.execute(insert(notes), {"text": f"note {expected}"})
        assert result.inserted_primary_key == (expected,)


async def test_after_a_failed_statement_the_next_one_works(connection: AsyncConnection) -> None:
    await fill(connection, 1)
    with pytest.raises(IntegrityError, match="UNIQUE"):
        await connection.execute(insert(notes), {"text": "note 0"})
    with pytest.raises(OperationalError, match="no such table: missing"):
        await connection.execute(text("SELECT * FROM missing"))
    assert await connection.scalar(select(notes.c.text)) == "note 0"


async def test_a_failure_in_the_middle_of_the_rows_is_raised(connection: AsyncConnection) -> None:
    await fill(connection, FIRST_ROWS + 10)
    late = text(f"SELECT CASE WHEN id > {FIRST_ROWS + 5} THEN abs(-9223372036854775807 - 1) ELSE id END FROM notes")
    with pytest.raises(OperationalError, match="integer overflow"):
        await connection.execute(late)
    assert await connection.scalar(select(func.count()).select_from(notes)) == FIRST_ROWS + 10


async def test_a_caller_who_leaves_does_not_affect_the_next(tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "notes.sqlite")
    loop, running, release = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def hold() -> int:
        loop.call_soon_threadsafe(running.set)
        release.wait(30)
        return 1

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        connection.create_function("hold", 0, hold)

    async def leave() -> None:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT hold()"))

    leaving = asyncio.create_task(leave())
    await running.wait()
    leaving.cancel()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT 41 + 1")) == 42
    await engine.dispose()


@pytest.mark.parametrize("count", [0, FIRST_ROWS - 1])
async def test_a_statement_takes_one_step_of_the_thread(
    connection: AsyncConnection, caplog: pytest.LogCaptureFixture, count: int
) -> None:
    await fill(connection, count)
    caplog.set_level(logging.DEBUG, "aiosqlite")
    caplog.clear()
    result = await connection.execute(select(notes))
    assert len(result.all()) == count
    assert sum(record.message.startswith("executing") for record in caplog.records) == 1
