"""The activity log: one row for each call."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pressroom.accounts import activity
from pressroom.accounts.activity import BATCH, MAX_WAITING, PRUNE_BATCH, ActivityLog
from pressroom.accounts.records import User
from pressroom.accounts.service import AccountServices
from pressroom.columns import new_id
from pressroom.config import Settings
from pressroom.errors import BackendError, InvalidInput
from pressroom.sdk import Activity, Caller, CallRecord
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ActivityRow, ConnectionRow
from sqlalchemy import func, insert, select


def call(user: User, tool: str = "count_words", **values: Any) -> CallRecord:
    caller = Caller("203.0.113.7", subject=user.id, connection=values.pop("connection", ""))
    record: dict[str, Any] = {
        "request_id": "r1",
        "code": "ok",
        "cached": False,
        "duration": 0.25,
        "interface": "mcp",
        "mcp_name": tool,
    }
    return CallRecord(tool=tool, caller=caller, **(record | values))


async def log_calls(accounts: AccountServices, *records: CallRecord) -> None:
    for record in records:
        accounts.activity_log.observe(record)
    await accounts.activity_log.flush()


async def tools(accounts: AccountServices, user: User, **filters: Any) -> list[str]:
    return [entry.tool for entry in await accounts.activity(user.id, **filters)]


async def test_concurrent_flushes_write_each_call_once(accounts: AccountServices, user: User) -> None:
    log, names = accounts.activity_log, [f"tool_{number}" for number in range(5)]
    for name in names:
        log.observe(call(user, name))
    await asyncio.gather(log.flush(), log.flush(), log.flush())
    assert await tools(accounts, user) == names[::-1]


async def test_flushing_ends_while_calls_keep_arriving(accounts: AccountServices, user: User) -> None:
    log = accounts.activity_log
    log.observe(call(user, "first"))
    writing, later = asyncio.create_task(log.flush()), 0
    await asyncio.sleep(0)
    while not writing.done() and later < MAX_WAITING // 2:
        log.observe(call(user, "later"))
        later += 1
        await asyncio.sleep(0)
    assert writing.done()
    assert await tools(accounts, user) == ["first"]
    await log.flush()
    assert len(await tools(accounts, user, limit=200)) == min(later + 1, 200)


async def test_a_call_is_stored_completely(accounts: AccountServices, user: User) -> None:
    connection, _ = await accounts.api_keys.create(user.id, "laptop")
    record = call(user, connection=connection.id, cached=True, attributes={"website_id": "w_1", "more": "x"})
    before = datetime.now(UTC)
    await log_calls(accounts, record)
    (stored,) = await accounts.activity(user.id)
    assert before <= stored.at <= datetime.now(UTC)
    assert stored == Activity(
        id=stored.id,
        at=stored.at,
        tool="count_words",
        code="ok",
        cached=True,
        duration=0.25,
        connection=connection.id,
        connection_name="laptop",
        client_ip="203.0.113.7",
        request_id="r1",
        website_id="w_1",
    )


async def test_only_calls_by_accounts_through_mcp_are_recorded(accounts: AccountServices, user: User) -> None:
    anonymous = CallRecord("qr", Caller("203.0.113.7"), "r", "ok", False, 0.1, interface="mcp", mcp_name="qr")
    nameless = call(user, "")
    over_http = call(user, "by_http", interface="http")
    await log_calls(accounts, anonymous, nameless, over_http, call(user, "by_mcp"))
    assert await tools(accounts, user) == ["by_mcp"]


async def test_another_account_sees_nothing(accounts: AccountServices, user: User, other: User) -> None:
    await log_calls(accounts, call(user, "mine"), call(other, "theirs"))
    assert await tools(accounts, user) == ["mine"]
    assert await tools(accounts, other) == ["theirs"]


async def test_activity_is_paged_newest_first(accounts: AccountServices, user: User, other: User) -> None:
    await log_calls(accounts, *(call(owner, f"tool_{number}") for number in range(25) for owner in (user, other)))
    names: list[str] = []
    before = None
    while page := await accounts.activity(user.id, limit=10, before=before):
        names += [entry.tool for entry in page]
        before = page[-1].id
    assert names == [f"tool_{number}" for number in reversed(range(25))]


async def test_filters(accounts: AccountServices, user: User) -> None:
    connection, _ = await accounts.api_keys.create(user.id, "one")
    await log_calls(
        accounts,
        call(user, "a", connection=connection.id),
        call(user, "b", code="quota_exceeded"),
        call(user, "a", code="not_found", attributes={"website_id": "w_1"}),
        call(user, "c", attributes={"website_id": "w_2"}),
    )
    assert await tools(accounts, user, tool="a") == ["a", "a"]
    assert await tools(accounts, user, code="ok") == ["c", "a"]
    assert await tools(accounts, user, code="error") == ["a", "b"]
    assert await tools(accounts, user, code="quota_exceeded") == ["b"]
    assert await tools(accounts, user, connection=connection.id) == ["a"]
    assert await tools(accounts, user, website_id="w_2") == ["c"]
    assert await tools(accounts, user, tool="a", code="error") == ["a"]
    assert await tools(accounts, user, since=datetime.now(UTC) + timedelta(hours=1)) == []
    assert len(await tools(accounts, user, since=datetime.now(UTC) - timedelta(hours=1))) == 4


@pytest.mark.parametrize("limit", [0, -1, 201])
async def test_the_page_size_is_limited(accounts: AccountServices, user: User, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        await accounts.activity(user.id, limit=limit)


async def test_last_uses_are_counted_per_connection(accounts: AccountServices, user: User, other: User) -> None:
    connection_id, other_id = new_id("c"), new_id("c")
    await log_calls(accounts, *(call(user, tool, connection=connection_id) for tool in ("draw", "write", "draw")))
    await log_calls(
        accounts, call(user, "publish", connection=other_id), call(other, "publish", connection=connection_id)
    )
    uses = await accounts.activity_log.last_uses(user.id, connection_id)
    latest = {entry.tool: entry.at for entry in reversed(await accounts.activity(user.id, connection=connection_id))}
    assert uses.by_tool == latest
    assert set(uses.by_tool) == {"draw", "write"}
    assert uses.is_complete
    assert (await accounts.activity_log.last_uses(user.id, new_id("c"))).by_tool == {}
    assert (await accounts.activity_log.last_uses(user.id, "")).by_tool == {}


async def test_last_uses_are_marked_incomplete_beyond_their_limit(
    accounts: AccountServices, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "LAST_USES_LIMIT", 3)
    connection_id = new_id("c")
    await log_calls(
        accounts, *(call(user, tool, connection=connection_id) for tool in ("early", "draw", "draw", "draw"))
    )
    uses = await accounts.activity_log.last_uses(user.id, connection_id)
    assert set(uses.by_tool) == {"draw"}
    assert not uses.is_complete


async def test_an_open_service_writes_calls_by_itself(accounts: AccountServices, user: User) -> None:
    await accounts.open()
    try:
        accounts.activity_log.observe(call(user))
        async with asyncio.timeout(60):
            while not await tools(accounts, user):  # noqa: ASYNC110 - no event signals that the row has been written
                await asyncio.sleep(0.05)
    finally:
        await accounts.close()


async def test_closing_writes_pending_calls(accounts: AccountServices, user: User) -> None:
    await accounts.open()
    for number in range(BATCH + 10):
        accounts.activity_log.observe(call(user, f"tool_{number}"))
    await accounts.close()
    assert (await tools(accounts, user, limit=1)) == [f"tool_{BATCH + 9}"]


async def test_an_outage_loses_no_calls_and_preserves_their_order(
    accounts: AccountServices, database: SqlDatabase, user: User
) -> None:
    await database.close()
    with pytest.raises(BackendError):
        await log_calls(accounts, call(user, "one"), call(user, "two"))
    await database.open()
    await log_calls(accounts, call(user, "three"))
    assert await tools(accounts, user) == ["three", "two", "one"]


async def test_the_number_of_pending_calls_is_limited(accounts: AccountServices, user: User) -> None:
    for _ in range(MAX_WAITING):
        accounts.activity_log.observe(call(user))
    with pytest.raises(BackendError, match="too many calls wait"):
        accounts.activity_log.observe(call(user))


async def test_calls_of_a_removed_account_do_not_block_others(
    accounts: AccountServices, user: User, other: User, database: SqlDatabase
) -> None:
    removed_user = User("u_gone", "", "", "free", False, False, user.created_at, None)
    await log_calls(accounts, call(user, "mine"), call(removed_user, "nobodys"), call(other, "theirs"))
    assert await tools(accounts, user) == ["mine"]
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(ActivityRow)) == 2


async def test_old_calls_are_removed(
    database: SqlDatabase, database_settings: Settings, accounts: AccountServices, user: User
) -> None:
    week = timedelta(days=7)
    settings = database_settings.accounts.model_copy(update={"activity_retention": week.total_seconds()})
    log = ActivityLog(database, settings)
    row = {"user_id": user.id, "code": "ok", "duration": 0.1}
    now = datetime.now(UTC)
    old = [row | {"tool": "old", "at": now - week - timedelta(minutes=1)}] * (2 * PRUNE_BATCH + 1)
    async with database.writing() as session:
        await session.execute(insert(ActivityRow), [*old, row | {"tool": "kept", "at": now - timedelta(days=6)}])
    assert await log.prune() == 2 * PRUNE_BATCH + 1
    assert await log.prune() == 0
    assert await tools(accounts, user) == ["kept"]


async def test_a_long_revoked_connection_is_removed(
    database: SqlDatabase, database_settings: Settings, accounts: AccountServices, user: User
) -> None:
    names = {}
    for name, days in (("long ago", 400), ("lately", 1), ("live", None)):
        connection, _ = await accounts.api_keys.create(user.id, name)
        names[connection.id] = name
        if days is not None:
            await accounts.connections.revoke(user.id, connection.id)
            async with database.writing() as session:
                row = await session.get_one(ConnectionRow, connection.id)
                row.revoked_at = datetime.now(UTC) - timedelta(days=days)
    await accounts.activity_log.prune()
    remaining = await accounts.connections.list(user.id, revoked=True)
    assert [names[connection.id] for connection in remaining] == ["live", "lately"]


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\u202e", "x" * 300])
async def test_odd_client_and_plugin_names_do_not_block_writing(
    accounts: AccountServices, user: User, odd: str
) -> None:
    anonymous = CallRecord(
        request_id="r1",
        tool="guest",
        caller=Caller("203.0.113.7", subject=odd, connection=odd),
        code="ok",
        cached=False,
        duration=0.25,
        interface="mcp",
        mcp_name="guest",
    )
    about = call(user, "odd", connection=odd, code="x" * 100, attributes={"website_id": odd})
    await log_calls(accounts, anonymous, about, call(user, "after"))
    assert await tools(accounts, user) == ["after", "odd"]
    assert await tools(accounts, user, website_id=odd) == ["odd"]
    assert await tools(accounts, user, tool=odd) == []
    assert await tools(accounts, user, connection=odd) == []


async def test_a_call_that_cannot_be_stored_loses_no_others(accounts: AccountServices, user: User) -> None:
    records = [call(user, f"tool_{number}") for number in range(5)]
    records[2] = call(user, "broken", duration=["no", "number"])
    await log_calls(accounts, *records)
    assert await tools(accounts, user) == ["tool_4", "tool_3", "tool_1", "tool_0"]
    await log_calls(accounts, call(user, "later"))
    assert (await tools(accounts, user))[0] == "later"
