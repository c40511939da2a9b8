"""A Redis outage: what callers of the limiter and the cache index notice, and what operators see in the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from pressroom.errors import BackendError
from pressroom.limits.limiter import MovingWindowLimiter
from pressroom.limits.redis import RedisWindows
from pressroom.sdk import CacheEntry, per_hour
from pressroom.storage.cache.redis import RedisCacheIndex
from pressroom.storage.redis import RedisConnection
from pressroom.testing.clock import FrozenClock
from structlog.typing import EventDict
from support.needs import free_port
from support.redis import RedisServer, own_redis

RATE = per_hour(100_000)
TIMEOUT = 0.5
ENTRY = CacheEntry("qr-code-generator/0123.png", "image/png", 1234, b'{"size":512}')


@dataclass
class Host:
    """A host's limiter and cache index, which share a connection, and its log."""

    connection: RedisConnection
    limiter: MovingWindowLimiter
    cache: RedisCacheIndex
    clock: FrozenClock
    log: list[EventDict]

    async def failures(self, calls: int) -> int:
        failed = 0
        for number in range(calls):
            try:
                await (self.cache.get("a") if number % 2 else self.limiter.take(RATE, "a", 1))
            except BackendError:
                failed += 1
        return failed

    def events(self) -> list[tuple[str, str]]:
        return [(event["log_level"], event["event"]) for event in self.log]


@pytest.fixture
async def host(server: RedisServer) -> AsyncIterator[Host]:
    clock = FrozenClock()
    connection = RedisConnection(server.url, timeout=TIMEOUT, clock=clock.seconds)
    limiter, cache = MovingWindowLimiter(RedisWindows(connection)), RedisCacheIndex(connection)
    with structlog.testing.capture_logs() as log:
        await limiter.open()
        await cache.open()
        await limiter.take(RATE, "a", 1)
        yield Host(connection, limiter, cache, clock, log)
        await cache.close()
        await limiter.close()


def is_available(connection: RedisConnection) -> bool:
    return connection.available


BEGIN, END = ("warning", "server is unavailable"), ("info", "server is available again")


async def test_a_stopped_server_is_an_error_and_one_log_line(server: RedisServer, host: Host) -> None:
    server.stop()
    assert await host.failures(1000) == 1000
    assert host.events() == [BEGIN]
    assert host.log[0]["server"] == f"Redis at 127.0.0.1:{server.port}"
    assert host.log[0]["reason"]


async def test_a_frozen_server_costs_one_timeout_and_one_log_line(server: RedisServer, host: Host) -> None:
    server.freeze()
    async with asyncio.timeout(60):  # one timeout per call would take 500 seconds
        assert await host.failures(1000) == 1000
    assert host.events() == [BEGIN]
    assert f"{TIMEOUT} s" in host.log[0]["reason"]


async def test_calls_fail_immediately_after_the_first_failure(server: RedisServer, host: Host) -> None:
    server.freeze()
    with pytest.raises(BackendError, match=f"unavailable: no response within {TIMEOUT} s"):
        await host.cache.get("a")
    for call in (host.limiter.take(RATE, "a", 1), host.cache.get("a"), host.limiter.give_back(RATE, "a", 1)):
        with pytest.raises(BackendError, match="unavailable"):
            call.send(None)  # a coroutine that suspends would return here


async def test_concurrent_calls_to_a_frozen_server_fail_together(server: RedisServer, host: Host) -> None:
    server.freeze()
    async with asyncio.timeout(30):  # sequential timeouts would take 50 seconds
        statuses = await asyncio.gather(*(host.limiter.take(RATE, "a", 1) for _ in range(2000)), return_exceptions=True)
    assert all(isinstance(status, BackendError) for status in statuses)
    assert host.events() == [BEGIN]


async def test_counting_resumes_once_the_server_is_back(server: RedisServer, host: Host) -> None:
    server.stop()
    assert await host.failures(10) == 10
    server.start()
    assert await host.failures(10) == 10

    host.clock.advance(1)
    status = await host.limiter.take(RATE, "a", 1)
    assert (status.allowed, status.remaining) == (True, RATE.requests - 1)
    assert host.events() == [BEGIN, END]
    assert (host.log[1]["failed_calls"], host.log[1]["seconds"]) == (20, 1)
    assert await host.failures(10) == 0


async def test_counting_resumes_once_a_frozen_server_thaws_and_probes_are_not_counted(
    server: RedisServer, host: Host
) -> None:
    server.freeze()
    for _ in range(5):
        host.clock.advance(1)
        assert await host.failures(3) == 3
    server.thaw()
    host.clock.advance(1)
    status = await host.limiter.take(RATE, "a", 1)
    # It counts the call before the freeze, this one, and at most the one whose timeout started the outage.
    assert RATE.requests - status.remaining in (2, 3)
    assert host.events() == [BEGIN, END]


async def test_each_outage_is_logged(server: RedisServer, host: Host) -> None:
    for _ in range(3):
        server.stop()
        assert await host.failures(5) == 5
        server.start()
        host.clock.advance(1)
        assert await host.failures(5) == 0
    assert host.events() == [BEGIN, END] * 3


async def test_restarts_between_calls_go_unnoticed(server: RedisServer, host: Host) -> None:
    await asyncio.gather(*(host.cache.get("a") for _ in range(100)))
    server.stop()
    server.start()
    for _ in range(3):  # lets the event loop notice that the idle connections were closed
        await asyncio.sleep(0)
    assert await host.failures(200) == 0
    assert host.events() == []


async def test_an_unavailable_server_at_start_up_is_not_an_error(server: RedisServer) -> None:
    server.stop()
    clock = FrozenClock()
    connection = RedisConnection(server.url, timeout=TIMEOUT, clock=clock.seconds)
    limiter, cache = MovingWindowLimiter(RedisWindows(connection)), RedisCacheIndex(connection)
    with structlog.testing.capture_logs() as log:
        await limiter.open()
        await cache.open()
    assert [event["event"] for event in log] == ["server is unavailable"]
    assert not is_available(connection)

    server.start()
    clock.advance(1)
    assert (await limiter.take(RATE, "a", 1)).allowed
    assert is_available(connection)
    await limiter.close()
    await cache.close()


async def test_many_concurrent_calls_to_a_healthy_server_are_not_an_outage(host: Host) -> None:
    results = await asyncio.gather(
        *(host.limiter.take(RATE, "a", 1) for _ in range(3000)), *(host.cache.get("a") for _ in range(1000))
    )
    assert len(results) == 4000
    assert host.events() == []


async def test_a_process_too_busy_to_connect_is_not_an_outage(server: RedisServer) -> None:
    connection = RedisConnection(server.url, timeout=0.02)
    with structlog.testing.capture_logs() as log:
        connecting = asyncio.create_task(connection.open())
        for _ in range(3):
            await asyncio.sleep(0)
            time.sleep(0.3)  # noqa: ASYNC251 - the point: the response stays unread for many times the timeout
        await connecting
    assert log == []
    await connection.close()


async def test_callers_that_leave_do_not_mix_up_the_responses_of_others(server: RedisServer, host: Host) -> None:
    entries = {f"id{n}": CacheEntry(f"tool/{n}.png", "image/png", n, b"{}") for n in range(100)}
    for content_id, entry in entries.items():
        await host.cache.put(content_id, entry, seconds=60)

    async def get(content_id: str) -> tuple[str, CacheEntry | None]:
        return content_id, await host.cache.get(content_id)

    for _ in range(5):
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(get(content_id)) for content_id in entries]
        for steps, task in enumerate(tasks[::2]):
            for _ in range(steps % 7):
                await asyncio.sleep(0)
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(result, BaseException):
                content_id, entry = result
                assert entry == entries[content_id]
            else:
                assert isinstance(result, asyncio.CancelledError)
    assert host.events() == []


async def test_a_cancelled_probe_is_left_to_the_next_caller(server: RedisServer, host: Host) -> None:
    server.freeze()
    assert await host.failures(1) == 1
    host.clock.advance(1)
    probing = asyncio.create_task(host.cache.get("a"))
    await asyncio.sleep(0)
    with pytest.raises(BackendError):
        host.cache.get("a").send(None)
    probing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probing
    server.thaw()
    assert await host.cache.get("a") is None
    assert host.events() == [BEGIN, END]


async def test_a_server_out_of_memory_refuses_to_count_and_still_responds(server: RedisServer, host: Host) -> None:
    await host.cache.put("a", ENTRY, seconds=60)
    with server.client() as admin:
        admin.config_set("maxmemory", 1)
        for _ in range(100):
            with pytest.raises(BackendError, match=r"refused limits\.take: .*maxmemory"):
                await host.limiter.take(RATE, "b", 1)
            assert await host.cache.get("a") == ENTRY
        assert host.events() == [("warning", "server refuses calls")]

        admin.config_set("maxmemory", 0)
    assert (await host.limiter.take(RATE, "b", 1)).remaining == RATE.requests - 1
    assert host.events() == [("warning", "server refuses calls"), ("info", "server accepts calls again")]


async def test_a_connection_that_is_closed_can_be_opened_again(host: Host) -> None:
    await host.limiter.close()
    await host.cache.close()
    await host.limiter.open()
    await host.cache.open()
    assert (await host.limiter.take(RATE, "a", 1)).remaining == RATE.requests - 2


async def test_the_connection_is_open_until_its_last_user_closes_it(server: RedisServer, host: Host) -> None:
    def connections() -> int:
        with server.client() as admin:
            return len(admin.client_list()) - 1

    await host.limiter.close()
    assert connections() == 1
    assert await host.cache.get("a") is None
    await host.cache.close()
    assert connections() == 0
    await host.limiter.open()
    await host.cache.open()


@pytest.mark.services
@pytest.mark.parametrize("host_part", ["wrong-password@127.0.0.1", ":wrong-password@127.0.0.1"])
async def test_a_wrong_password_is_an_outage_and_is_not_shown(
    tmp_path_factory: pytest.TempPathFactory, host_part: str
) -> None:
    with own_redis(tmp_path_factory.mktemp("redis"), "--requirepass", "right-password") as server:
        connection = RedisConnection(f"redis://{host_part}:{server.port}", timeout=TIMEOUT)
        with structlog.testing.capture_logs() as log:
            with pytest.raises(BackendError) as caught:
                await RedisCacheIndex(connection).get("a")
            await connection.open()
            await connection.close()
    assert [event["event"] for event in log] == ["server is unavailable"]
    assert "wrong-password" not in f"{log} {caught.value} {caught.value.__cause__} {connection}"


async def test_a_host_without_a_listener_is_named_by_its_address() -> None:
    port = free_port()
    connection = RedisConnection(f"redis://127.0.0.1:{port}", timeout=TIMEOUT)
    with structlog.testing.capture_logs(), pytest.raises(BackendError, match=f"Redis at 127.0.0.1:{port}") as caught:
        await RedisCacheIndex(connection).get("a")
    assert caught.value.hint
    await connection.close()
