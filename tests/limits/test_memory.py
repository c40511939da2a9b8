"""The in-memory limiter: eviction of old keys."""

from __future__ import annotations

import pytest
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter
from pressroom.sdk import Rate, per_hour, per_minute
from pressroom.testing.clock import FrozenClock


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


def limiter_of(windows: MemoryWindows, clock: FrozenClock) -> MovingWindowLimiter:
    return MovingWindowLimiter(windows, clock=clock.seconds)


async def test_the_number_of_keys_is_limited(clock: FrozenClock) -> None:
    windows = MemoryWindows(max_keys=100, clock=clock.micros)
    limiter = limiter_of(windows, clock)
    for number in range(1000):
        await limiter.take(per_hour(5), f"client {number}", 1)
        assert len(windows) <= 100
    assert len(windows) == 100


async def test_an_active_client_is_not_evicted(clock: FrozenClock) -> None:
    limiter = limiter_of(MemoryWindows(max_keys=10, clock=clock.micros), clock)
    await limiter.take(per_hour(1), "busy", 1)
    for number in range(200):
        await limiter.take(per_hour(1), f"client {number}", 1)
        assert not (await limiter.take(per_hour(1), "busy", 1)).allowed


async def test_the_client_with_the_oldest_request_is_forgotten_first(clock: FrozenClock) -> None:
    limiter = limiter_of(MemoryWindows(max_keys=3, clock=clock.micros), clock)
    for key in ("a", "b", "c", "a", "d"):
        await limiter.take(per_hour(2), key, 1)
    remaining = [(await limiter.peek(per_hour(2), key)).remaining for key in ("a", "b", "c", "d")]
    assert remaining == [0, 2, 1, 1]


async def test_expired_windows_make_room_for_new_ones(clock: FrozenClock) -> None:
    windows = MemoryWindows(max_keys=1000, clock=clock.micros)
    limiter = limiter_of(windows, clock)
    for number in range(1000):
        await limiter.take(per_minute(5), f"client {number}", 1)
    clock.advance(60)
    for number in range(1000):
        await limiter.take(per_minute(5), f"later client {number % 10}", 1)
    for number in range(490):
        await limiter.take(per_minute(5), f"still later client {number}", 1)
    assert len(windows) == 500


async def test_peeking_stores_no_clients(clock: FrozenClock) -> None:
    windows = MemoryWindows(max_keys=1000, clock=clock.micros)
    limiter = limiter_of(windows, clock)
    for number in range(50):
        await limiter.peek(per_hour(5), f"client {number}")
        await limiter.give_back(per_hour(5), f"client {number}", 1)
    assert len(windows) == 0


async def test_an_empty_window_is_removed(clock: FrozenClock) -> None:
    windows = MemoryWindows(max_keys=1000, clock=clock.micros)
    limiter = limiter_of(windows, clock)
    await limiter.take(per_hour(5), "a", 1)
    await limiter.give_back(per_hour(5), "a", 1)
    assert len(windows) == 0


async def test_a_long_used_window_does_not_grow(clock: FrozenClock) -> None:
    windows = MemoryWindows(max_keys=1000, clock=clock.micros)
    limiter = limiter_of(windows, clock)
    for _ in range(20_000):
        await limiter.take(Rate(100, 60), "a", 1)
        clock.advance(0.3)
    [window] = windows._windows.values()
    assert len(window.times) == len(window.amounts) <= 2 * 100 + 20


async def test_reset_removes_every_window(clock: FrozenClock) -> None:
    windows = MemoryWindows(max_keys=1000, clock=clock.micros)
    limiter = limiter_of(windows, clock)
    for number in range(50):
        await limiter.take(per_hour(5), f"client {number}", 1)
    assert await windows.reset() == 50
    assert (await limiter.peek(per_hour(5), "client 1")).remaining == 5


async def test_windows_are_measured_in_seconds_by_default() -> None:
    limiter = MovingWindowLimiter(MemoryWindows(max_keys=10))
    before = await limiter.peek(per_minute(2), "a")
    taken = await limiter.take(per_minute(2), "a", 1)
    after = await limiter.peek(per_minute(3), "a")
    assert before.reset_at + 60 - 1e-5 <= taken.reset_at <= after.reset_at + 60 + 1e-5


async def test_an_invalid_storage_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a storage"):
        MovingWindowLimiter(object())  # type: ignore[arg-type]  # the point of the test
