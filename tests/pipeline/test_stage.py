"""Quotas in the pipeline: what is counted, what is refunded, and what happens without the database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pressroom.columns import new_id
from pressroom.config import Settings
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.pipeline.context import CallRequest, IdentifiedCall, Outcome, RefusedCall, ValidatedCall
from pressroom.sdk import Caller
from pressroom.testing.running import settings_for_test
from support.databases import KINDS, database_config, migrated
from support.installing import install, on_path

PLUGIN = '''
import asyncio

from pressroom.sdk import *
from pydantic import BaseModel, Field

PLUGIN = Plugin(id="writer", title="Writer", summary="Writes.")
started, go_on = asyncio.Event(), asyncio.Event()
exited = []


class WriteParams(Params):
    way: str = Field(description="How it ends.")


class Written(BaseModel):
    text: str


@mcp_tool(name="write", title="Write", quota="articles_created")
async def write(params: WriteParams, call: Call) -> Written:
    """Writes an article."""
    if params.way == "fail":
        raise RuntimeError("it fails")
    if params.way == "refuse":
        raise InvalidInput("way", "not this one")
    if params.way == "wait":
        started.set()
        await go_on.wait()
    return Written(text="done")


class DrawParams(Params):
    text: str = Field(description="What is drawn.")


@generator(slug="draw", name="Draw", summary="Draws.", rate_limit=per_hour(1000), produces=("text/plain",),
           executor="async", mcp=Mcp("draw", quota="images_generated"), examples=(Example("One", {"text": "x"}),))
async def draw(params: DrawParams, call: Call) -> Artifact:
    """Draws a text."""
    await asyncio.sleep(0.01)
    return Artifact(params.text.encode(), "text/plain")


@hookimpl
def pressroom_mcp_tools():
    return [write]


@hookimpl
def pressroom_generators():
    return [draw]


async def leave(state, record):
    exited.append(record.code)


@hookimpl
def pressroom_call_middleware():
    return [CallMiddleware("exits", exit=leave)]
'''


@pytest.fixture(params=KINDS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    with ExitStack() as stack:
        install(tmp_path / "site", "acme-writer", {"acme_writer.py": PLUGIN}, {"writer": "acme_writer"})
        stack.enter_context(on_path(tmp_path / "site"))
        storage = stack.enter_context(database_config(request.param, tmp_path / "data", tables=True))
        quotas = {"articles_created": 20, "images_generated": 10}
        config = {"storage": storage, "plugins": {"writer": {}}, "plans": {"free": {"quotas": quotas}}}
        yield settings_for_test(config, tmp_path / "data")


@pytest.fixture
async def host(settings: Settings) -> AsyncIterator[Host]:
    compiled = LoadedApp(settings)
    host = Host(compiled)
    if settings.storage.database is not None:
        async with migrated(settings):
            pass
    await host.start()
    yield host
    await host.close()


@pytest.fixture
async def caller(host: Host) -> Caller:
    user = await host.accounts.users.add("ada@example.com")
    return Caller("203.0.113.7", plan="free", subject=user.id)


async def call(host: Host, caller: Caller, tool: str, *, mcp: bool = True, **arguments: Any) -> Outcome:
    request = CallRequest(tool, dict(arguments), "r", "mcp" if mcp else "http")
    return await host.pipeline(IdentifiedCall(request, caller))


def code(outcome: Outcome) -> str:
    return outcome.error.code if isinstance(outcome, RefusedCall) else "ok"


async def used(host: Host, caller: Caller) -> dict[str, int]:
    return dict(await host.accounts.quotas.used(caller.subject))


async def test_fifty_concurrent_calls_do_not_exceed_the_quota(host: Host, caller: Caller) -> None:
    calls = await asyncio.gather(*(call(host, caller, "write", way="do") for _ in range(50)))
    codes = [code(outcome) for outcome in calls]
    assert Counter(codes) == {"ok": 20, "quota_exceeded": 30}
    assert await used(host, caller) == {"articles_created": 20}


@pytest.mark.parametrize(("way", "expected"), [("fail", "internal_error"), ("refuse", "validation_error")])
async def test_a_failed_call_returns_its_quota(host: Host, caller: Caller, way: str, expected: str) -> None:
    assert code(await call(host, caller, "write", way=way)) == expected
    assert await used(host, caller) == {"articles_created": 0}


async def test_a_cancelled_call_returns_its_quota(host: Host, caller: Caller) -> None:
    import acme_writer  # type: ignore[import-not-found]  # noqa: PLC0415

    waiting = asyncio.create_task(call(host, caller, "write", way="wait"))
    await acme_writer.started.wait()
    assert await used(host, caller) == {"articles_created": 1}
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await used(host, caller) == {"articles_created": 0}


async def test_a_call_cancelled_while_its_quota_is_taken_returns_it(
    host: Host, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, go_on = asyncio.Event(), asyncio.Event()
    take = host.accounts.quotas.take

    async def slow(*arguments: Any) -> str:
        month = await take(*arguments)
        counted.set()
        await go_on.wait()
        return month

    monkeypatch.setattr(host.accounts.quotas, "take", slow)
    waiting = asyncio.create_task(call(host, caller, "write", way="do"))
    await counted.wait()
    waiting.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await used(host, caller) == {"articles_created": 0}


async def test_a_call_cancelled_while_its_quota_is_returned_completes_the_return(
    host: Host, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    import acme_writer  # noqa: PLC0415

    returning, go_on = asyncio.Event(), asyncio.Event()
    give_back = host.accounts.quotas.give_back

    async def slow(*arguments: Any) -> None:
        returning.set()
        await go_on.wait()
        await give_back(*arguments)

    monkeypatch.setattr(host.accounts.quotas, "give_back", slow)
    failing = asyncio.create_task(call(host, caller, "write", way="refuse"))
    await returning.wait()
    failing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await failing
    go_on.set()

    assert acme_writer.exited == ["validation_error"]
    await host.accounts.activity_log.flush()
    assert [entry.code for entry in await host.accounts.activity_log.list(caller.subject)] == ["validation_error"]


async def test_invalid_arguments_are_not_counted(host: Host, caller: Caller) -> None:
    assert code(await call(host, caller, "write", road="do")) == "validation_error"
    assert await used(host, caller) == {}


async def test_cached_results_are_free(host: Host, caller: Caller) -> None:
    for _ in range(5):
        assert code(await call(host, caller, "draw", text="same")) == "ok"
    assert await used(host, caller) == {"images_generated": 1}


async def test_concurrent_calls_for_the_same_image_are_counted_once(host: Host, caller: Caller) -> None:
    calls = await asyncio.gather(*(call(host, caller, "draw", text="same") for _ in range(10)))
    assert sorted(outcome.cached for outcome in calls if isinstance(outcome, ValidatedCall)) == [False] + [True] * 9
    assert {code(outcome) for outcome in calls} == {"ok"}
    assert await used(host, caller) == {"images_generated": 1}


async def test_calls_over_http_are_not_counted(host: Host, caller: Caller) -> None:
    for number in range(5):
        assert code(await call(host, caller, "draw", mcp=False, text=f"{number}")) == "ok"
    assert await used(host, caller) == {}


async def test_a_caller_without_an_account_is_refused(host: Host) -> None:
    guest = Caller("203.0.113.7", plan="free", subject=new_id("x"))
    outcome = await call(host, guest, "write", way="do")
    assert isinstance(outcome, RefusedCall)
    assert (outcome.error.code, outcome.error.message) == (
        "forbidden",
        "the quota articles_created of this plan can be used with an account only",
    )


async def test_without_the_database_calls_with_a_quota_are_refused(host: Host, caller: Caller) -> None:
    await host.database.close()
    outcome = await call(host, caller, "write", way="do")
    assert isinstance(outcome, RefusedCall)
    assert (outcome.error.code, outcome.error.message) == (
        "overloaded",
        "quotas are not available right now; try again shortly",
    )
    assert code(await call(host, caller, "draw", mcp=False, text="x")) == "ok"
    await host.database.open()
    assert code(await call(host, caller, "write", way="do")) == "ok"
