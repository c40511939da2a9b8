"""The Redis limiter."""

from __future__ import annotations

import time

import pytest
from pressroom.limits.limiter import MovingWindowLimiter
from pressroom.limits.redis import RedisWindows
from pressroom.sdk import Rate, per_hour, per_minute
from pressroom.storage.redis import RedisConnection
from support.redis import RedisServer, connected


async def keys_of(connection: RedisConnection) -> list[bytes]:
    return [key async for key in connection.client.scan_iter(f"{connection.prefix}:*", count=1000)]


async def test_the_reset_is_one_window_away_by_default(connection: RedisConnection) -> None:
    limiter = MovingWindowLimiter(RedisWindows(connection))
    before = time.time()
    status = await limiter.take(per_minute(1), "a", 1)
    refused = await limiter.take(per_minute(1), "a", 1)
    after = time.time()
    assert before + 60 <= status.reset_at + 1e-6
    assert refused.reset_at <= after + 60 + 1e-6
    assert status.allowed
    assert not refused.allowed


async def test_hosts_with_different_clocks_share_their_counts(connection: RedisConnection) -> None:
    rate = Rate(3, 3600)
    slow = MovingWindowLimiter(RedisWindows(connection), clock=lambda: 1000.0)
    fast = MovingWindowLimiter(RedisWindows(connection), clock=lambda: 1_000_000.0)
    assert (await slow.take(rate, "a", 1)).remaining == 2
    assert (await fast.take(rate, "a", 1)).remaining == 1
    assert (await slow.take(rate, "a", 1)).remaining == 0
    refused = await fast.take(rate, "a", 1)
    assert not refused.allowed
    # Each host reports times on its own clock.
    assert 0 < refused.reset_at - 1_000_000 <= 3600
    assert 0 < (await slow.peek(rate, "a")).reset_at - 1000 <= 3600


async def test_keys_expire_with_their_window(connection: RedisConnection) -> None:
    limiter = MovingWindowLimiter(RedisWindows(connection))
    await limiter.take(per_minute(5), "a", 1)
    [key] = await keys_of(connection)
    assert 0 < await connection.client.pttl(key) <= 60_000

    await limiter.give_back(per_minute(5), "a", 1)
    await limiter.peek(per_minute(5), "b")
    assert await keys_of(connection) == []


async def test_keys_do_not_contain_the_clients_ip_address(connection: RedisConnection) -> None:
    limiter = MovingWindowLimiter(RedisWindows(connection))
    await limiter.take(per_hour(5), "qr-code-generator/203.0.113.7", 1)
    [key] = await keys_of(connection)
    assert b"203.0.113.7" not in key
    assert len(key) < 120


async def test_a_full_window_is_small(connection: RedisConnection) -> None:
    limiter = MovingWindowLimiter(RedisWindows(connection))
    for _ in range(400):
        await limiter.take(per_hour(300), "a", 1)
    [key] = await keys_of(connection)
    assert await connection.client.llen(key) == 1 + 2 * 300
    assert (await connection.client.memory_usage(key, samples=0) or 0) in range(1, 300 * 20)


async def test_a_request_is_counted_with_one_command(server: RedisServer) -> None:
    async with connected(server.url) as connection:
        limiter = MovingWindowLimiter(RedisWindows(connection))
        await limiter.take(per_hour(100), "a", 1)
        before = await connection.client.info("commandstats")
        for _ in range(50):
            await limiter.take(per_hour(100), "a", 1)
        after = await connection.client.info("commandstats")
    assert after["cmdstat_evalsha"]["calls"] - before["cmdstat_evalsha"]["calls"] == 50
    for other in ("cmdstat_script|load", "cmdstat_eval"):
        assert after.get(other) == before.get(other)


async def test_lost_scripts_are_reloaded(server: RedisServer) -> None:
    async with connected(server.url) as connection:
        limiter = MovingWindowLimiter(RedisWindows(connection))
        await limiter.take(per_hour(100), "a", 1)
        await connection.client.script_flush()
        assert (await limiter.take(per_hour(100), "a", 1)).remaining == 98


@pytest.mark.parametrize("foreign", ["text", "list", "empty count", "hash"])
async def test_an_invalid_window_is_replaced(connection: RedisConnection, foreign: str) -> None:
    limiter = MovingWindowLimiter(RedisWindows(connection))
    await limiter.take(per_hour(10), "a", 1)
    [key] = await keys_of(connection)
    await connection.client.delete(key)
    match foreign:
        case "text":
            await connection.client.set(key, "something else")
        case "list":
            await connection.client.rpush(key, "something", "else")
        case "empty count":
            await connection.client.rpush(key, "0", "x", "y")
        case _:
            await connection.client.hset(key, "something", "else")

    assert (await limiter.take(per_hour(10), "a", 1)).remaining == 9
    assert (await limiter.take(per_hour(10), "a", 1)).remaining == 8
