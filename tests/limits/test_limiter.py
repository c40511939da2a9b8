"""What every limiter does, wherever it counts."""

from __future__ import annotations

import asyncio
import math

import pytest
from limits.aio.strategies import MovingWindowRateLimiter
from pressroom.limits.limiter import MovingWindowLimiter, window_item
from pressroom.sdk import Limiter, LimitStatus, Rate, per_hour, per_minute
from support.clocks import Clock

NASTY_KEYS = [
    "",
    " ",
    "a",
    "a/b",
    "a:b",
    "a/b/c",
    "qr-code-generator/203.0.113.7",
    "qr-code-generator/203.0.113.70",
    "{a}",
    "*",
    "a\0b",
    "a\r\nDEL b",
    "\udc80",
    "ключ",
    "👩‍👩‍👧",
    "x" * 10_000,
    "x" * 10_001,
]


def left(status: LimitStatus) -> tuple[int, float]:
    """Return how many requests are left, and when one more is; to the microsecond."""
    return status.remaining, round(status.reset_at, 6)


async def test_a_limiter_keeps_the_protocol(limiter: MovingWindowLimiter) -> None:
    assert isinstance(limiter, Limiter)


async def test_an_unused_window_is_whole_and_resets_now(limiter: MovingWindowLimiter, clock: Clock) -> None:
    status = await limiter.peek(per_hour(60), "a")
    assert (status.allowed, status.limit, status.remaining, status.reset_at) == (True, 60, 60, clock.seconds())


async def test_each_request_takes_one_until_none_is_left(limiter: MovingWindowLimiter) -> None:
    rate = per_minute(3)
    taken = [await limiter.take(rate, "a", 1) for _ in range(5)]
    assert [(status.allowed, status.remaining) for status in taken] == [
        (True, 2),
        (True, 1),
        (True, 0),
        (False, 0),
        (False, 0),
    ]


async def test_one_more_request_is_free_at_the_reset_and_not_before(limiter: MovingWindowLimiter, clock: Clock) -> None:
    rate, start = per_minute(2), clock.seconds()
    await limiter.take(rate, "a", 1)
    clock.advance(10)
    last = await limiter.take(rate, "a", 1)
    assert last.reset_at == pytest.approx(start + 60, abs=1e-6)

    clock.advance(49.999999)
    refused = await limiter.take(rate, "a", 1)
    assert not refused.allowed
    assert refused.reset_at == pytest.approx(start + 60, abs=1e-6)

    clock.advance_to(refused.reset_at)
    assert (await limiter.take(rate, "a", 1)).allowed
    assert not (await limiter.take(rate, "a", 1)).allowed


async def test_refused_requests_count_nothing(limiter: MovingWindowLimiter, clock: Clock) -> None:
    rate = per_minute(1)
    first = await limiter.take(rate, "a", 1)
    for _ in range(50):
        clock.advance(1)
        assert not (await limiter.take(rate, "a", 1)).allowed
    clock.advance_to(first.reset_at)
    assert (await limiter.take(rate, "a", 1)).allowed


async def test_ten_cached_requests_cost_exactly_one(limiter: MovingWindowLimiter) -> None:
    rate = Rate(1, 60)
    assert all([(await limiter.take(rate, "a", 0.1)).allowed for _ in range(10)])
    assert not (await limiter.take(rate, "a", 0.01)).allowed

    rate = Rate(300, 3600)
    for _ in range(10):
        status = await limiter.take(rate, "a", 0.1)
        assert status.remaining == 299
    assert (await limiter.take(rate, "a", 1)).remaining == 298


@pytest.mark.parametrize("costs", [(0.29, 0.57, 0.14), (0.07, 0.93), (0.55, 0.45), (1 / 3, 0.67), (0.01, 0.99)])
async def test_costs_add_up_without_rounding_errors(limiter: MovingWindowLimiter, costs: tuple[float, ...]) -> None:
    for cost in costs:
        assert (await limiter.take(Rate(1, 60), "a", cost)).allowed
    assert not (await limiter.take(Rate(1, 60), "a", 0.01)).allowed


async def test_a_small_request_fits_where_a_whole_one_does_not(limiter: MovingWindowLimiter) -> None:
    rate = Rate(1, 60)
    await limiter.take(rate, "a", 0.5)
    assert not (await limiter.peek(rate, "a")).allowed
    assert not (await limiter.take(rate, "a", 1)).allowed
    small = await limiter.take(rate, "a", 0.5)
    assert (small.allowed, small.remaining) == (True, 0)


async def test_the_reset_waits_for_as_many_small_requests_as_one_more_needs(
    limiter: MovingWindowLimiter, clock: Clock
) -> None:
    rate, start = Rate(2, 60), clock.seconds()
    for _ in range(9):
        await limiter.take(rate, "a", 0.1)
        clock.advance(1)
    status = await limiter.take(rate, "a", 0.1)
    clock.advance(1)
    assert left(status) == (1, start + 9 + 60)
    # 1.1 are used: as soon as the first tenth has left, one whole request is free again.
    status = await limiter.take(rate, "a", 0.1)
    assert left(status) == (0, start + 60)


async def test_a_request_that_is_given_back_was_never_counted(limiter: MovingWindowLimiter, clock: Clock) -> None:
    rate = per_minute(2)
    await limiter.take(rate, "a", 1)
    status = await limiter.give_back(rate, "a", 1)
    assert (status.allowed, status.remaining, status.reset_at) == (True, 2, clock.seconds())


async def test_the_newest_request_of_that_cost_is_given_back(limiter: MovingWindowLimiter, clock: Clock) -> None:
    rate, start = Rate(2, 60), clock.seconds()
    await limiter.take(rate, "a", 1)
    clock.advance(5)
    await limiter.take(rate, "a", 0.5)
    clock.advance(5)
    await limiter.take(rate, "a", 0.1)
    clock.advance(5)
    await limiter.take(rate, "a", 0.1)

    status = await limiter.give_back(rate, "a", 0.5)
    assert left(status) == (0, start + 60)
    status = await limiter.give_back(rate, "a", 1)
    assert left(status) == (1, start + 15 + 60)
    status = await limiter.give_back(rate, "a", 0.1)
    assert left(status) == (1, start + 10 + 60)


async def test_what_was_never_counted_cannot_be_given_back(limiter: MovingWindowLimiter, clock: Clock) -> None:
    rate = per_minute(2)
    assert (await limiter.give_back(rate, "a", 1)).remaining == 2
    await limiter.take(rate, "a", 0.5)
    assert (await limiter.give_back(rate, "a", 1)).remaining == 1
    clock.advance(60)
    assert (await limiter.give_back(rate, "a", 0.5)).remaining == 2
    assert (await limiter.take(rate, "a", 1)).remaining == 1


async def test_requests_that_fail_for_ever_leave_nothing_behind(limiter: MovingWindowLimiter) -> None:
    rate = Rate(3, 60)
    await limiter.take(rate, "a", 1)
    for _ in range(200):
        await limiter.take(rate, "a", 0.1)
        assert (await limiter.give_back(rate, "a", 0.1)).remaining == 2


async def test_looking_counts_nothing(limiter: MovingWindowLimiter) -> None:
    rate = per_minute(1)
    for _ in range(5):
        assert (await limiter.peek(rate, "a")).allowed
    await limiter.take(rate, "a", 1)
    for _ in range(5):
        status = await limiter.peek(rate, "a")
        assert (status.allowed, status.remaining) == (False, 0)


async def test_keys_are_counted_apart(limiter: MovingWindowLimiter) -> None:
    rate = per_minute(1)
    for key in NASTY_KEYS:
        assert (await limiter.take(rate, key, 1)).allowed, key
    for key in NASTY_KEYS:
        assert not (await limiter.take(rate, key, 1)).allowed, key


async def test_rates_on_one_key_are_counted_apart(limiter: MovingWindowLimiter) -> None:
    rates = [Rate(1, 60), Rate(1, 600), Rate(2, 60), Rate(16, 1), Rate(1, 61)]
    for rate in rates:
        assert (await limiter.take(rate, "a", 1)).remaining == rate.requests - 1


async def test_a_crowd_gets_no_more_than_the_limit(limiter: MovingWindowLimiter) -> None:
    rate = per_hour(300)
    taken = await asyncio.gather(*(limiter.take(rate, "a", 1) for _ in range(1000)))
    assert sum(status.allowed for status in taken) == 300
    assert sorted(status.remaining for status in taken if status.allowed) == list(range(300))


async def test_a_crowd_of_cached_requests_gets_no_more_than_the_limit(limiter: MovingWindowLimiter) -> None:
    rate = per_hour(30)
    taken = await asyncio.gather(*(limiter.take(rate, "a", 0.1) for _ in range(500)))
    assert sum(status.allowed for status in taken) == 300


async def test_a_crowd_that_gives_everything_back_leaves_the_window_whole(limiter: MovingWindowLimiter) -> None:
    rate = per_hour(50)

    async def fail(cost: float) -> None:
        if (await limiter.take(rate, "a", cost)).allowed:
            await limiter.give_back(rate, "a", cost)

    await asyncio.gather(*(fail(cost) for cost in (1, 0.1, 0.01) * 100))
    assert (await limiter.peek(rate, "a")).remaining == 50


async def test_a_window_in_long_use_counts_the_last_requests_only(limiter: MovingWindowLimiter, clock: Clock) -> None:
    rate = Rate(20, 60)
    for _ in range(300):
        assert (await limiter.take(rate, "a", 1)).allowed
        clock.advance(3)
    assert (await limiter.peek(rate, "a")).remaining == 1
    clock.advance(3600)
    assert (await limiter.peek(rate, "a")).remaining == 20


@pytest.mark.parametrize("cost", [0, -1, 0.001, 1.01, 100, math.nan, math.inf])
async def test_costs_out_of_bounds_are_refused(limiter: MovingWindowLimiter, cost: float) -> None:
    with pytest.raises(ValueError, match=r"from 0\.01 to 1"):
        await limiter.take(per_hour(10), "a", cost)
    with pytest.raises(ValueError, match=r"from 0\.01 to 1"):
        await limiter.give_back(per_hour(10), "a", cost)


async def test_strategies_of_the_limits_package_see_the_same_windows(
    limiter: MovingWindowLimiter, clock: Clock
) -> None:
    rate, item = Rate(2, 60), window_item(2, 60)
    strategy = MovingWindowRateLimiter(limiter.storage)
    await limiter.take(rate, "a", 1)
    assert await strategy.hit(item, "a", cost=60)
    assert not await strategy.hit(item, "a", cost=60)
    assert not await strategy.test(item, "a", cost=41)
    assert (await strategy.get_window_stats(item, "a")).remaining == 40
    assert (await limiter.peek(rate, "a")).remaining == 0
    await strategy.clear(item, "a")
    assert (await limiter.peek(rate, "a")).remaining == 2
