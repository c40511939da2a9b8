"""Fetch shares: no caller can monopolise the server's outgoing connections or fetch without limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import httpx
import pytest
from pressroom.errors import Overloaded
from pressroom.fetch import GuardedFetcher
from pressroom.fetch.shares import FairSlots, Purpose, Share
from pressroom.sdk import Fetched, publishing
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import HEAD, install_plugin
from support.tcp_server import serving

LOOPBACK = [ip_network("127.0.0.0/8")]


class Origin:
    """Responds with `content`, but holds `/hold` until released. `held` counts the waiting requests."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.held = 0
        self.more = asyncio.Condition()
        self.go = asyncio.Event()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET /hold"):
            async with self.more:
                self.held += 1
                self.more.notify_all()
            await self.go.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(self.content))
        writer.write(self.content)
        await writer.drain()

    async def holds(self, number: int) -> None:
        async with asyncio.timeout(20), self.more:
            await self.more.wait_for(lambda: self.held >= number)


@asynccontextmanager
async def origin(content: bytes = b"here") -> AsyncIterator[Origin]:
    site = Origin(content)
    async with serving(site.serve) as port:
        site.url = f"http://127.0.0.1:{port}"
        yield site


async def get(fetcher: GuardedFetcher, url: str) -> Fetched:
    return await fetcher.get(url, accept="*/*", max_bytes=1_000_000, seconds=20)


async def as_one(owner: str, purpose: Purpose, fetcher: GuardedFetcher, url: str) -> Fetched:
    with Share(owner, purpose):
        return await get(fetcher, url)


@pytest.mark.parametrize(
    ("owners", "purpose", "at_most"),
    [
        (["crawler"], "background", 1),
        (["crawler", "another", "third", "fourth"], "background", 3),
        (["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"], "anonymous", 3),
        (["a", "b", "c", "d", "e"], "call", 6),
    ],
    ids=["one crawl", "many crawls", "anonymous calls", "calls of accounts"],
)
async def test_other_fetches_cannot_delay_publishing(owners: list[str], purpose: Purpose, at_most: int) -> None:
    fetcher = GuardedFetcher(concurrency=8, fair=True, private_networks=LOOPBACK)
    async with origin() as site, fetcher, asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(as_one(owner, purpose, fetcher, f"{site.url}/hold")) for owner in owners for _ in range(8)
        ]
        await site.holds(at_most)
        with Share("author", "call"), publishing():
            published = await get(fetcher, site.url)
        assert published.content == b"here"
        assert site.held == at_most
        site.go.set()
        assert {(await task).content for task in tasks} == {b"here"}


async def test_one_account_cannot_delay_the_fetches_of_another() -> None:
    fetcher = GuardedFetcher(concurrency=8, fair=True, private_networks=LOOPBACK)
    async with origin() as site, fetcher, asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(as_one("greedy", "call", fetcher, f"{site.url}/hold"))
        await site.holds(2)
        assert (await as_one("other", "call", fetcher, site.url)).content == b"here"
        assert site.held == 2
        site.go.set()


async def test_cancelled_waiters_leave_no_slot_taken() -> None:
    fetcher = GuardedFetcher(concurrency=4, fair=True, private_networks=LOOPBACK)
    async with origin() as site, fetcher:
        tasks = [asyncio.create_task(as_one("one", "call", fetcher, f"{site.url}/hold")) for _ in range(6)]
        await site.holds(1)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert (await as_one("one", "call", fetcher, site.url)).content == b"here"


async def test_a_slot_freed_as_its_next_holder_is_cancelled_remains_free() -> None:
    slots = FairSlots(1, fair=True)
    holder = slots.one()
    await holder.__aenter__()
    waiter = asyncio.create_task(slots.one().__aenter__())
    other = asyncio.create_task(slots.one().__aenter__())
    await asyncio.sleep(0)  # both are waiting

    waiter.cancel()
    await holder.__aexit__(None, None, None)

    async with asyncio.timeout(20):
        await asyncio.wait([waiter])
        await other
    assert waiter.cancelled()


async def test_anonymous_fetches_cannot_fill_the_memory() -> None:
    fetcher = GuardedFetcher(concurrency=8, fair=True, private_networks=LOOPBACK, anonymous_bytes=400_000)
    async with origin(b"x" * 90_000) as site, fetcher:
        with Share("192.0.2.1", "anonymous"):
            await get(fetcher, site.url)
            await get(fetcher, site.url)
            with pytest.raises(Overloaded):
                await get(fetcher, site.url)
            # Half of the places are for others, and accounts are not limited by this.
            await as_one("192.0.2.2", "anonymous", fetcher, site.url)
            await as_one("account", "call", fetcher, site.url)
        # A call's places are free again once it has ended.
        await as_one("192.0.2.1", "anonymous", fetcher, site.url)


async def test_exchanges_count_towards_the_anonymous_limit() -> None:
    fetcher = GuardedFetcher(concurrency=8, fair=True, private_networks=LOOPBACK, anonymous_bytes=400_000)
    async with origin(b"x" * 90_000) as site, fetcher:
        with Share("192.0.2.1", "anonymous"):
            for _ in range(2):
                await fetcher.exchange(site.url, accept="*/*", max_bytes=100_000, seconds=20)
            with pytest.raises(Overloaded):
                await fetcher.exchange(site.url, accept="*/*", max_bytes=100_000, seconds=20)


SOURCE = (
    HEAD
    + '''
class ProbeParams(Params):
    url: str = Field(description="What is fetched.")
    text: str = Field(description="What to write.")


async def prepare(params, call):
    """Fetch, and refuse what came."""
    if params.text == "before":
        raise InvalidInput("text", "is refused before anything is fetched")
    await call.plugin.services.fetcher.get(params.url, accept="*/*", max_bytes=1000, seconds=5)
    raise InvalidInput("text", "is refused after something was fetched")


@generator(
    slug="probe", name="Probe", summary="Fetches.", rate_limit=per_hour(100), produces=("text/plain",),
    prepare=prepare, timeout=5, examples=(Example("One", {"url": "/", "text": "before"}),),
)
def probe(params: ProbeParams, call: Call) -> Artifact:
    """Is never run."""
    return Artifact(b"", "text/plain")


@hookimpl
def pressroom_generators():
    return [probe]
'''
)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningHost]:
    installed = install_plugin(tmp_path / "site", "probes", SOURCE)
    config = {"plugins": installed.plugins, "fetch": {"private_networks": ["127.0.0.0/8"]}}
    with on_path(tmp_path / "site"), RunningHost(settings_for_test(config, tmp_path / "data")) as host:
        yield host


def test_anonymous_callers_pay_for_requests_they_cause(running: RunningHost) -> None:
    target = f"{running.url}/healthz"
    responses = [
        httpx.post(f"{running.url}/tools/probe/api/generate", json={"url": target, "text": text}, timeout=30)
        for text in ("before", "after", "before")
    ]
    assert [response.status_code for response in responses] == [400] * 3
    assert [response.headers["ratelimit-remaining"] for response in responses] == ["100", "99", "99"]
