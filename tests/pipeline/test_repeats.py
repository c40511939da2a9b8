"""Repeated calls with the same `client_request_id`: in one process, in two, and after failures."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pressroom.columns import new_id
from pressroom.config import Settings
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.pipeline.context import (
    CallRequest,
    IdentifiedCall,
    Outcome,
    RefusedCall,
    StoredResult,
    ValidatedCall,
)
from pressroom.sdk import AudioContent, Caller, EmbeddedResource, ResourceLink, ToolResult
from pressroom.storage.database.tables import ClientRequestRow, UserRow
from pressroom.testing.running import settings_for_test
from sqlalchemy import delete, select, update
from support.databases import KINDS, database_config, migrated
from support.installing import on_path
from support.repeating_plugin import install_diary

QUOTA = 3


@pytest.fixture(params=KINDS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    with ExitStack() as stack:
        stack.enter_context(on_path(install_diary(tmp_path / "site")))
        storage = stack.enter_context(database_config(request.param, tmp_path / "data", tables=True))
        config = {
            "storage": storage,
            "builtin_plugins": False,
            "plugins": {"diary": {}},
            "plans": {"free": {"quotas": {"articles_created": QUOTA}}},
        }
        yield settings_for_test(config, tmp_path / "data")


async def opened(settings: Settings) -> Host:
    host = Host(LoadedApp(settings))
    if settings.storage.database is not None:
        async with migrated(settings):
            pass
    await host.start()
    return host


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[Host]:
    host = await opened(settings)
    yield host
    await host.close()


@pytest.fixture
async def caller(host: Host) -> Caller:
    user = await host.accounts.users.add("ada@example.com")
    return Caller("203.0.113.7", plan="free", subject=user.id)


@pytest.fixture
def diary(settings: Settings) -> Any:
    import acme_diary  # type: ignore[import-not-found]  # noqa: PLC0415

    return acme_diary


async def call(host: Host, caller: Caller, tool: str = "note", **arguments: Any) -> Outcome:
    request = CallRequest(tool, {"text": "tea", **arguments}, "r", "mcp")
    return await host.pipeline(IdentifiedCall(request, caller))


def code(outcome: Outcome) -> str:
    return outcome.error.code if isinstance(outcome, RefusedCall) else "ok"


def message(outcome: Outcome) -> str:
    assert isinstance(outcome, RefusedCall)
    return outcome.error.message


def stored(outcome: Outcome) -> StoredResult:
    assert isinstance(outcome, ValidatedCall)
    assert isinstance(outcome.result, StoredResult)
    return outcome.result


async def used(host: Host, caller: Caller) -> int:
    return (await host.accounts.quotas.used(caller.subject)).get("articles_created", 0)


async def rows(host: Host) -> list[ClientRequestRow]:
    async with host.database.reading() as session:
        return list(await session.scalars(select(ClientRequestRow)))


async def leave_as_a_crash_does(host: Host) -> None:
    """Rewrite the stored calls as if their process had been killed before storing the response."""
    async with host.database.writing() as session:
        past = datetime.now(UTC) - timedelta(seconds=1)
        await session.execute(update(ClientRequestRow).values(until=past, answer=None))


async def test_a_repeated_call_gets_the_whole_result_again(host: Host, caller: Caller, diary: Any) -> None:
    first = await call(host, caller, client_request_id="a")
    assert isinstance(first, ValidatedCall)
    assert isinstance(first.result, ToolResult)
    repeat = stored(await call(host, caller, client_request_id="a"))
    assert repeat.text.startswith(f"This call was made before, on {datetime.now(UTC):%Y-}")
    assert repeat.text.endswith("UTC; nothing was done again. Its result was:\nNoted as 1.")
    assert repeat.data == first.result.data.model_dump_json()
    assert (repeat.images, repeat.content) == (first.result.images, first.result.content)
    assert {type(block) for block in repeat.content} == {AudioContent, EmbeddedResource, ResourceLink}
    assert diary.runs == ["tea"]
    assert await used(host, caller) == 1


async def test_a_result_is_not_in_the_database_in_clear(host: Host, caller: Caller) -> None:
    await call(host, caller, text="the secret recipe", client_request_id="a")
    (row,) = await rows(host)
    assert row.answer
    assert "recipe" not in f"{row.answer}{row.fingerprint}"
    async with host.database.writing() as session:  # a response moved to another call cannot be decrypted there
        await session.execute(update(ClientRequestRow).values(request_id="b"))
    assert "too large to keep" in message(await call(host, caller, text="the secret recipe", client_request_id="b"))


async def test_reusing_a_request_id_with_other_arguments_is_refused(host: Host, caller: Caller, diary: Any) -> None:
    await call(host, caller, client_request_id="a")
    outcome = await call(host, caller, text="coffee", weight=2, client_request_id="a")
    assert code(outcome) == "validation_error"
    assert "with other values of text, weight. Nothing was done." in message(outcome)
    assert "Choose another client_request_id" in message(outcome)
    assert "or use edit_note to change what that call made" in message(outcome)
    assert "Its result was: Noted as 1." in message(outcome)
    assert diary.runs == ["tea"]
    assert await used(host, caller) == 1


async def test_equivalent_arguments_count_as_the_same_call(host: Host, caller: Caller, diary: Any) -> None:
    await call(host, caller, client_request_id="a")
    for arguments in ({"weight": 1}, {"weight": 1.0}, {"way": "do"}, {"way": "do", "weight": 1.0}):
        stored(await call(host, caller, **arguments, client_request_id="a"))
    assert diary.runs == ["tea"]


async def test_a_repeated_call_gets_its_result_when_the_quota_is_used_up(host: Host, caller: Caller) -> None:
    for number in range(QUOTA):
        assert code(await call(host, caller, client_request_id=f"{number}")) == "ok"
    assert code(await call(host, caller, client_request_id="new")) == "quota_exceeded"
    for number in range(QUOTA):
        stored(await call(host, caller, client_request_id=f"{number}"))
    assert code(await call(host, caller, client_request_id="new")) == "quota_exceeded"
    assert len(await rows(host)) == QUOTA
    assert await used(host, caller) == QUOTA


async def test_a_repeat_costs_a_fraction_of_a_request(host: Host, settings: Settings, caller: Caller) -> None:
    tools = settings_for_test({"tools": {"note": {"rate_limit": "2/hour"}}}, settings.storage.path).tools
    limited = await opened(settings.model_copy(update={"tools": tools}))
    try:
        assert code(await call(limited, caller, client_request_id="a")) == "ok"
        for _ in range(5):
            stored(await call(limited, caller, client_request_id="a"))
        assert code(await call(limited, caller, client_request_id="b")) == "rate_limited"
    finally:
        await limited.close()


async def test_a_repeated_call_gets_its_result_when_the_limit_is_used_up(
    host: Host, settings: Settings, caller: Caller
) -> None:
    tools = settings_for_test({"tools": {"note": {"rate_limit": "2/hour"}}}, settings.storage.path).tools
    limited = await opened(settings.model_copy(update={"tools": tools}))
    try:
        for name in ("a", "b"):
            assert code(await call(limited, caller, client_request_id=name)) == "ok"
        assert code(await call(limited, caller, client_request_id="c")) == "rate_limited"
        for name in ("a", "b", "a"):
            stored(await call(limited, caller, client_request_id=name))
        assert code(await call(limited, caller, client_request_id="c")) == "rate_limited"
    finally:
        await limited.close()


@pytest.mark.parametrize(
    ("way", "expected"),
    [("fail", "internal_error"), ("refuse", "validation_error"), ("unwritable", "internal_error")],
)
async def test_a_failed_call_can_be_repeated(host: Host, caller: Caller, diary: Any, way: str, expected: str) -> None:
    for _ in range(2):
        assert code(await call(host, caller, way=way, client_request_id="a")) == expected
    assert diary.runs == ["tea", "tea"]
    assert await rows(host) == []
    assert code(await call(host, caller, client_request_id="a")) == "ok"
    assert await used(host, caller) == 1


async def test_concurrent_repeats_run_once(host: Host, caller: Caller, diary: Any) -> None:
    outcomes = await asyncio.gather(*(call(host, caller, client_request_id="a") for _ in range(6)))
    assert {code(outcome) for outcome in outcomes} == {"ok"}
    assert Counter(isinstance(outcome, ValidatedCall) and outcome.cached for outcome in outcomes) == {True: 5, False: 1}
    assert diary.runs == ["tea"]
    assert await used(host, caller) == 1


async def test_concurrent_repeats_on_two_hosts_run_once(
    host: Host, settings: Settings, caller: Caller, diary: Any
) -> None:
    other = await opened(settings)
    try:
        for number in range(QUOTA):
            calls = [call(server, caller, client_request_id=f"{number}") for server in (host, other) for _ in range(3)]
            assert {code(outcome) for outcome in await asyncio.gather(*calls)} == {"ok"}
    finally:
        await other.close()
    assert len(diary.runs) == QUOTA
    assert await used(host, caller) == QUOTA


async def test_after_a_restart_the_result_is_available(settings: Settings, diary: Any) -> None:
    first = await opened(settings)
    user = await first.accounts.users.add("ada@example.com")
    caller = Caller("203.0.113.7", plan="free", subject=user.id)
    await call(first, caller, client_request_id="a")
    await first.close()
    second = await opened(settings)
    stored(await call(second, caller, client_request_id="a"))
    await second.close()
    assert diary.runs == ["tea"]


async def test_the_call_of_a_disconnected_client_is_completed(host: Host, caller: Caller, diary: Any) -> None:
    waiting = asyncio.create_task(call(host, caller, way="wait", client_request_id="a"))
    await diary.started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    repeat = asyncio.create_task(call(host, caller, way="wait", client_request_id="a"))
    diary.go_on.set()
    assert stored(await repeat).text.endswith("Noted as 1.")
    assert diary.runs == ["tea"]
    assert await used(host, caller) == 1


async def test_disconnected_clients_do_not_raise_the_concurrency_limit(host: Host, caller: Caller, diary: Any) -> None:
    limit = host.settings.mcp.concurrency
    waiting = [
        asyncio.create_task(call(host, caller, "late_note", way="wait", client_request_id=f"{number}"))
        for number in range(limit + 1)
    ]
    await diary.started.wait()
    outcomes = Counter(code(outcome) for outcome in await asyncio.gather(*waiting))
    assert outcomes == {"timeout": limit, "overloaded": 1}
    assert code(await call(host, caller, client_request_id="next")) == "ok"


async def test_a_repeat_does_not_wait_forever(
    host: Host, caller: Caller, diary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressroom.pipeline.stages.repeat.WAIT_SECONDS", 0.1)
    waiting = asyncio.create_task(call(host, caller, way="wait", client_request_id="a"))
    await diary.started.wait()
    outcome = await call(host, caller, way="wait", client_request_id="a")
    assert code(outcome) == "overloaded"
    assert "still under way" in message(outcome)
    assert "Send the same call again in a moment" in message(outcome)
    diary.go_on.set()
    assert code(await waiting) == "ok"


async def test_a_lease_is_renewed_while_the_call_runs(
    host: Host, caller: Caller, diary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("accounts.client_requests", "pipeline.stages.repeat"):
        monkeypatch.setattr(f"pressroom.{module}.LEASE_SECONDS", 0.6)
    waiting = asyncio.create_task(call(host, caller, way="wait", client_request_id="a"))
    await diary.started.wait()
    (claim,) = await rows(host)
    assert claim.until
    while (await rows(host))[0].until == claim.until:  # noqa: ASYNC110 - another task renews it
        await asyncio.sleep(0.05)
    diary.go_on.set()
    assert code(await waiting) == "ok"
    assert diary.runs == ["tea"]


async def test_an_interrupted_call_does_not_run_twice(host: Host, caller: Caller, diary: Any) -> None:
    await call(host, caller, client_request_id="a")
    await leave_as_a_crash_does(host)
    outcome = await call(host, caller, client_request_id="a")
    assert code(outcome) == "validation_error"
    assert "was cut off, and it is unknown whether it took effect" in message(outcome)
    assert diary.runs == ["tea"]


async def test_a_resumable_tool_runs_again_and_is_counted_once(host: Host, caller: Caller, diary: Any) -> None:
    for number in range(QUOTA):
        await call(host, caller, "sure_note", client_request_id=f"{number}")
    await leave_as_a_crash_does(host)
    other = await call(host, caller, "sure_note", text="coffee", client_request_id="1")
    assert "other values of text" in message(other)
    calls = [call(host, caller, "sure_note", client_request_id="1") for _ in range(3)]
    assert {code(outcome) for outcome in await asyncio.gather(*calls)} == {"ok"}
    assert diary.runs == ["tea"] * (QUOTA + 1)
    assert await used(host, caller) == QUOTA


async def test_a_call_that_timed_out_does_not_run_twice(host: Host, caller: Caller, diary: Any) -> None:
    assert code(await call(host, caller, "late_note", way="late", client_request_id="a")) == "timeout"
    assert "was cut off" in message(await call(host, caller, "late_note", way="late", client_request_id="a"))
    assert diary.runs == ["tea"]


async def test_without_the_database_calls_with_a_request_id_are_refused(host: Host, caller: Caller, diary: Any) -> None:
    await call(host, caller, client_request_id="a")
    await host.database.close()
    for request_id in ("a", "b"):
        outcome = await call(host, caller, "late_note", client_request_id=request_id)
        assert (code(outcome), message(outcome)) == (
            "overloaded",
            "earlier calls cannot be looked up at the moment, so nothing was done; try again shortly",
        )
    assert code(await call(host, caller, "late_note")) == "ok"  # a call without a request ID needs no database
    await host.database.open()
    assert code(await call(host, caller, "late_note", client_request_id="b")) == "ok"
    assert diary.runs == ["tea", "tea", "tea"]


async def test_a_database_failure_during_the_call_does_not_lose_its_result(
    host: Host, caller: Caller, diary: Any
) -> None:
    waiting = asyncio.create_task(call(host, caller, way="wait", client_request_id="a"))
    await diary.started.wait()
    await host.database.close()
    diary.go_on.set()
    assert code(await waiting) == "ok"  # the work is done, and the connected client gets the result
    await host.database.open()
    await leave_as_a_crash_does(host)
    assert "was cut off" in message(await call(host, caller, way="wait", client_request_id="a"))
    assert diary.runs == ["tea"]


async def test_a_result_that_is_too_large_is_not_stored(host: Host, caller: Caller, diary: Any) -> None:
    assert code(await call(host, caller, way="large", client_request_id="a")) == "ok"
    (row,) = await rows(host)
    assert row.answer is None
    outcome = await call(host, caller, way="large", client_request_id="a")
    assert "succeeded. Nothing was done again. Its result was too large to keep" in message(outcome)
    assert diary.runs == ["tea"]


async def test_request_ids_are_separate_per_account_and_tool(host: Host, caller: Caller, diary: Any) -> None:
    eve = await host.accounts.users.add("eve@example.com")
    other = Caller("203.0.113.7", plan="free", subject=eve.id)
    for client, tool, text in ((caller, "note", "a"), (other, "note", "b"), (caller, "sure_note", "c")):
        outcome = await call(host, client, tool, text=text, client_request_id="same")
        assert isinstance(outcome, ValidatedCall)
        assert not outcome.cached
    assert diary.runs == ["a", "b", "c"]


async def test_a_caller_without_an_account_is_refused(host: Host, diary: Any) -> None:
    guest = Caller("203.0.113.7", plan="free", subject=new_id("x"))
    outcome = await call(host, guest, "late_note", client_request_id="a")
    assert (code(outcome), message(outcome)) == (
        "forbidden",
        "a client_request_id can be used with an account only; leave it out",
    )
    assert diary.runs == []


async def test_old_requests_are_pruned(host: Host, caller: Caller, diary: Any) -> None:
    for request_id in ("old", "new"):
        await call(host, caller, client_request_id=request_id)
    week = timedelta(seconds=host.settings.mcp.repeat_retention)
    async with host.database.writing() as session:
        old = update(ClientRequestRow).where(ClientRequestRow.request_id == "old")
        await session.execute(old.values(created_at=datetime.now(UTC) - week - timedelta(minutes=1)))
    assert await host.accounts.client_requests.prune() == 1
    assert [row.request_id for row in await rows(host)] == ["new"]
    assert await host.accounts.client_requests.prune() == 0


async def test_the_number_of_stored_requests_is_limited_per_account(
    host: Host, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressroom.accounts.client_requests.MAX_STORED", 2)
    eve = await host.accounts.users.add("eve@example.com")
    other = Caller("203.0.113.7", plan="free", subject=eve.id)
    for number in range(3):
        assert code(await call(host, caller, client_request_id=f"{number}")) == "ok"
        assert await host.accounts.client_requests.prune() == number // 2
        if number < 2:
            assert code(await call(host, other, client_request_id=f"{number}")) == "ok"
    remaining = {(row.user_id, row.request_id) for row in await rows(host)}
    assert remaining == {(eve.id, "0"), (eve.id, "1"), (caller.subject, "1"), (caller.subject, "2")}


async def test_results_are_deleted_with_the_account(host: Host, caller: Caller) -> None:
    await call(host, caller, client_request_id="a")
    async with host.database.writing() as session:
        await session.execute(delete(UserRow).where(UserRow.id == caller.subject))
    assert await rows(host) == []


async def test_after_a_change_of_the_key_nothing_can_be_decrypted(
    host: Host, settings: Settings, caller: Caller, diary: Any
) -> None:
    await call(host, caller, client_request_id="a")
    (row,) = await rows(host)
    requests = host.accounts.client_requests
    vars(requests).pop("_secret")
    vars(requests)["_secret"] = b"another key"
    outcome = await call(host, caller, client_request_id="a")
    assert "before this server's key was changed" in message(outcome)
    assert diary.runs == ["tea"]
    assert row.answer
