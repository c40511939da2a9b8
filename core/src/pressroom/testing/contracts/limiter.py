"""The contract of a limiter (`pressroom.sdk.Limiter`), with a frozen clock or in real time."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from pressroom.sdk import Limiter, LimitStatus, Rate
from pressroom.testing.clock import FrozenClock
from pressroom.testing.contracts.backends import opened
from pressroom.testing.contracts.suite import (
    ContractSuite,
    ContractTests,
    Finding,
    Promise,
    PromiseBroken,
    expect,
    expect_error,
    run_apart,
)

MakeLimiter: TypeAlias = Callable[[FrozenClock], Limiter | AbstractAsyncContextManager[Limiter]]
"""Returns a limiter that reads the given clock and is not open yet, or a context manager of an open one."""

FROZEN_CLOCK: Final = "frozen clock"
_TOLERANCE: Final = 1e-5
_KEYS: Final = (
    *("", " ", "a", "a/b", "a:b", "a/b/c", "qr-code-generator/203.0.113.7", "qr-code-generator/203.0.113.70"),
    *("{a}", "*", "a\0b", "a\r\nDEL b", "\udc80", "ключ", "👩‍👩‍👧", "x" * 10_000, "x" * 10_001),
)


@dataclass(frozen=True, slots=True)
class LimiterInTime:
    """An open limiter, the clock that it reads (`None`: real time), and a unique key."""

    limiter: Limiter
    clock: FrozenClock | None
    key: str = field(default_factory=lambda: f"contract/{secrets.token_hex(8)}")

    @property
    def frozen(self) -> FrozenClock:
        """The clock, for promises that need it. Raises `RuntimeError` in real time."""
        if self.clock is None:
            raise RuntimeError("this promise needs a frozen clock")
        return self.clock

    def seconds(self) -> float:
        """Return the Unix time that the limiter reads."""
        return self.clock.seconds() if self.clock is not None else time.time()

    async def advance_to(self, seconds: float) -> None:
        """Move the clock to a Unix time in seconds, or wait until then in real time."""
        if self.clock is not None:
            self.clock.advance_to(seconds)
        else:
            await asyncio.sleep(max(0.0, seconds - time.time()) + 0.05)

    async def take(self, rate: Rate, cost: float = 1) -> LimitStatus:
        """Take from the window of `key`."""
        return await self.limiter.take(rate, self.key, cost)


def opening_limiter(make: MakeLimiter, *, real_time: bool) -> Callable[[], AbstractAsyncContextManager[LimiterInTime]]:
    """Return a function that opens the subject of `LIMITER`."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[LimiterInTime]:
        clock = FrozenClock()
        async with opened(lambda: make(clock)) as limiter:
            yield LimiterInTime(limiter, None if real_time else clock)

    return opening


def check_limiter(
    make: MakeLimiter, *, real_time: bool = False, where: str = "", excluded: Collection[str] = ()
) -> list[Finding]:
    """Check a limiter against the contract, and return the findings.

    Args:
        make: returns a limiter that reads the given clock.
        real_time: whether the limiter reads its own clock. The check then takes some seconds, and skips the promises
            that need a frozen clock.
        where: the name of the limiter in findings.
        excluded: names of promises to skip.
    """
    opening = opening_limiter(make, real_time=real_time)
    has = () if real_time else (FROZEN_CLOCK,)
    return run_apart(lambda: LIMITER.check(opening, where=where, has=has, excluded=excluded))


class LimiterContract(ContractTests[LimiterInTime]):
    """Runs the contract of a limiter with pytest.

    A subclass defines the fixture `make_limiter`, which returns a function that takes a `FrozenClock` and returns a
    limiter. With `has = ()`, the limiter does not have to read that clock.
    """

    suite: ClassVar[ContractSuite[Any]]
    has = (FROZEN_CLOCK,)

    def test_limiter(self, promise: Promise[LimiterInTime], make_limiter: MakeLimiter) -> None:
        """Check one promise."""
        self.assert_fulfilled(promise, opening_limiter(make_limiter, real_time=FROZEN_CLOCK not in self.has))


LIMITER: Final = ContractSuite[LimiterInTime]("limiter")
LimiterContract.suite = LIMITER


def _minute(requests: int) -> Rate:
    return Rate(requests, 60)


def _near(seconds: float, expected: float) -> bool:
    return abs(seconds - expected) <= _TOLERANCE


def _describe(status: LimitStatus) -> str:
    return f"allowed={status.allowed}, limit={status.limit}, remaining={status.remaining}, reset_at={status.reset_at}"


@LIMITER.promise("it has every method of Limiter", fix="add the methods that pressroom.sdk.Limiter names")
async def _protocol(subject: LimiterInTime) -> None:
    expect(isinstance(subject.limiter, Limiter), f"{type(subject.limiter).__name__} without some of them")


@LIMITER.promise(
    "an unused window is full and resets now",
    fix="return remaining=limit, allowed=True and the current Unix time if nothing was counted",
)
async def _unused(subject: LimiterInTime) -> None:
    before = subject.seconds()
    status = await subject.limiter.peek(_minute(60), subject.key)
    expect((status.allowed, status.limit, status.remaining) == (True, 60, 60), _describe(status))
    expect(before - 1 <= status.reset_at <= subject.seconds() + 1, _describe(status))


@LIMITER.promise(
    "each request takes one until none is left, and then requests are refused",
    fix="in take(), only count requests that fit, and return allowed=False for those that do not",
)
async def _taken(subject: LimiterInTime) -> None:
    statuses = [await subject.take(_minute(3)) for _ in range(5)]
    states = [(status.allowed, status.remaining) for status in statuses]
    expect(states == [(True, 2), (True, 1), (True, 0), (False, 0), (False, 0)], states)


@LIMITER.promise(
    "a refused request is allowed at reset_at", fix="return the Unix time in seconds at which one more request is free"
)
async def _reset(subject: LimiterInTime) -> None:
    rate = Rate(1, 2)
    await subject.take(rate)
    refused = await subject.take(rate)
    expect(not refused.allowed and refused.reset_at <= subject.seconds() + 2 + _TOLERANCE, _describe(refused))
    await subject.advance_to(refused.reset_at)
    status = await subject.take(rate)
    expect(status.allowed, f"at reset_at: {_describe(status)}")


@LIMITER.promise(
    "one more request is free at reset_at and not before",
    fix="count in a sliding window: a request leaves it exactly window_seconds after it arrived",
    needs=[FROZEN_CLOCK],
)
async def _moving(subject: LimiterInTime) -> None:
    clock = subject.frozen
    rate, start = _minute(2), subject.seconds()
    await subject.take(rate)
    clock.advance(10)
    last = await subject.take(rate)
    expect(_near(last.reset_at, start + 60), f"{last.reset_at - start:g} s after the first request, which is 60 s")
    clock.advance(49.999999)
    refused = await subject.take(rate)
    expect(not refused.allowed, "a request allowed before the first one had left the window")
    expect(_near(refused.reset_at, start + 60), _describe(refused))
    clock.advance_to(refused.reset_at)
    expect((await subject.take(rate)).allowed, "the request at reset_at refused")
    expect(not (await subject.take(rate)).allowed, "two requests allowed where one had left the window")


@LIMITER.promise(
    "refused requests are not counted",
    fix="do not add to the window in take() if the request is refused",
    needs=[FROZEN_CLOCK],
)
async def _refused_count_nothing(subject: LimiterInTime) -> None:
    clock = subject.frozen
    first = await subject.take(_minute(1))
    for _ in range(50):
        clock.advance(1)
        expect(not (await subject.take(_minute(1))).allowed, "a second request allowed within the minute")
    clock.advance_to(first.reset_at)
    expect((await subject.take(_minute(1))).allowed, "no request allowed after the window of the only one that counted")


@LIMITER.promise(
    "costs add up in hundredths without rounding errors", fix="count hundredths as integers, not requests as floats"
)
async def _costs(subject: LimiterInTime) -> None:
    for number, parts in enumerate(
        ((0.1,) * 10, (0.29, 0.57, 0.14), (0.07, 0.93), (0.55, 0.45), (1 / 3, 0.67), (0.01, 0.99))
    ):
        key = f"{subject.key}/{number}"
        for cost in parts:
            status = await subject.limiter.take(_minute(1), key, cost)
            expect(status.allowed, f"{cost:g} refused, although {parts} are one request")
        expect(not (await subject.limiter.take(_minute(1), key, 0.01)).allowed, f"0.01 more than {parts} allowed")


@LIMITER.promise("remaining counts whole requests", fix="round what is left down to whole requests")
async def _whole_requests(subject: LimiterInTime) -> None:
    for _ in range(10):
        status = await subject.take(_minute(300), 0.1)
        expect(status.remaining == 299, f"remaining={status.remaining} of 300 while at most one is used")
    status = await subject.take(_minute(300))
    expect(status.remaining == 298, f"remaining={status.remaining} of 300 after two")


@LIMITER.promise(
    "a small request may fit when a whole one does not", fix="compare the cost of the request with what is left"
)
async def _small(subject: LimiterInTime) -> None:
    await subject.take(_minute(1), 0.5)
    status = await subject.limiter.peek(_minute(1), subject.key)
    expect(not status.allowed, "peek() allows a whole request where half of one is left")
    expect(not (await subject.take(_minute(1))).allowed, "a whole request allowed where half of one was left")
    status = await subject.take(_minute(1), 0.5)
    expect((status.allowed, status.remaining) == (True, 0), _describe(status))


@LIMITER.promise(
    "reset_at waits until enough small requests have left for one more whole request",
    fix="add up the costs that leave the window, oldest first, until one more whole request is free",
    needs=[FROZEN_CLOCK],
)
async def _small_reset(subject: LimiterInTime) -> None:
    clock = subject.frozen
    rate, start = _minute(2), subject.seconds()
    status = await subject.take(rate, 0.1)
    for _ in range(9):
        clock.advance(1)
        status = await subject.take(rate, 0.1)
    expect(status.remaining == 1 and _near(status.reset_at, start + 69), _describe(status))
    clock.advance(1)
    status = await subject.take(
        rate, 0.1
    )  # 1.1 are used: a whole request is free once the first tenth leaves the window
    expect(status.remaining == 0 and _near(status.reset_at, start + 60), _describe(status))


@LIMITER.promise(
    "a request that is given back no longer counts", fix="remove the request from the window in give_back()"
)
async def _given_back(subject: LimiterInTime) -> None:
    await subject.take(_minute(2))
    status = await subject.limiter.give_back(_minute(2), subject.key, 1)
    expect((status.allowed, status.remaining) == (True, 2), _describe(status))
    expect(abs(status.reset_at - subject.seconds()) < 1, _describe(status))


@LIMITER.promise(
    "the newest request with the given cost is given back",
    fix="search for the cost from the newest request backwards, and remove that request",
    needs=[FROZEN_CLOCK],
)
async def _newest_given_back(subject: LimiterInTime) -> None:
    clock = subject.frozen
    rate, start = _minute(2), subject.seconds()
    for cost in (1, 0.5, 0.1, 0.1):
        await subject.take(rate, cost)
        clock.advance(5)
    for cost, remaining, reset_at in ((0.5, 0, start + 60), (1, 1, start + 75), (0.1, 1, start + 70)):
        status = await subject.limiter.give_back(rate, subject.key, cost)
        seen = f"after {cost:g} was given back: {_describe(status)}"
        expect(status.remaining == remaining and _near(status.reset_at, reset_at), seen)


@LIMITER.promise(
    "a request that was never counted cannot be given back",
    fix="do not change anything in give_back() if no request has that cost",
)
async def _never_counted(subject: LimiterInTime) -> None:
    status = await subject.limiter.give_back(_minute(2), subject.key, 1)
    expect(status.remaining == 2, _describe(status))
    await subject.take(_minute(2), 0.5)
    status = await subject.limiter.give_back(_minute(2), subject.key, 1)
    expect(status.remaining == 1, _describe(status))


@LIMITER.promise(
    "requests that are always given back leave nothing behind", fix="let give_back() remove all that take() added"
)
async def _nothing_left(subject: LimiterInTime) -> None:
    await subject.take(_minute(3))
    for _ in range(200):
        await subject.take(_minute(3), 0.1)
        status = await subject.limiter.give_back(_minute(3), subject.key, 0.1)
        expect(status.remaining == 2, _describe(status))


@LIMITER.promise("peek does not count", fix="only read the window in peek()")
async def _peeked(subject: LimiterInTime) -> None:
    for _ in range(5):
        status = await subject.limiter.peek(_minute(1), subject.key)
        expect(status.allowed, _describe(status))
    await subject.take(_minute(1))
    for _ in range(5):
        status = await subject.limiter.peek(_minute(1), subject.key)
        expect((status.allowed, status.remaining) == (False, 0), _describe(status))


@LIMITER.promise(
    "keys are counted separately, whatever they contain",
    fix="hash the key, or escape it, before it becomes a part of another name",
)
async def _keys(subject: LimiterInTime) -> None:
    names = [f"{subject.key}{key}" for key in _KEYS]
    for expected in (True, False):
        for name in names:
            status = await subject.limiter.take(_minute(1), name, 1)
            seen = f"allowed={status.allowed} for the key {name[:80]!r}"
            expect(status.allowed is expected, seen)


@LIMITER.promise(
    "different rates on one key are counted separately",
    fix="make the number and the seconds of the rate part of the key",
)
async def _rates(subject: LimiterInTime) -> None:
    for rate in (Rate(1, 60), Rate(1, 600), Rate(2, 60), Rate(16, 1), Rate(1, 61)):
        status = await subject.take(rate)
        seen = f"remaining={status.remaining} after the first request of {rate}"
        expect(status.remaining == rate.requests - 1, seen)


@LIMITER.promise(
    "simultaneous requests do not exceed the limit", fix="make take() atomic: one command or one transaction"
)
async def _at_once(subject: LimiterInTime) -> None:
    for cost, limit, attempts in ((1, 100, 400), (0.1, 10, 250)):
        key = f"{subject.key}/{cost}"
        statuses = await asyncio.gather(*(subject.limiter.take(_minute(limit), key, cost) for _ in range(attempts)))
        allowed = sum(status.allowed for status in statuses)
        expect(allowed == 100, f"{allowed} of {attempts} requests that cost {cost:g} allowed, by a limit of {limit}")


@LIMITER.promise(
    "if simultaneous requests are all given back, the window is full again",
    fix="make take() and give_back() atomic, and give back each request once",
)
async def _given_back_at_once(subject: LimiterInTime) -> None:
    async def fail(cost: float) -> None:
        if (await subject.take(_minute(50), cost)).allowed:
            await subject.limiter.give_back(_minute(50), subject.key, cost)

    await asyncio.gather(*(fail(cost) for cost in (1, 0.1, 0.01) * 100))
    status = await subject.limiter.peek(_minute(50), subject.key)
    expect(status.remaining == 50, _describe(status))


@LIMITER.promise(
    "a window that has been in use for long only counts the latest requests",
    fix="drop requests from the window when they are older than window_seconds",
    needs=[FROZEN_CLOCK],
)
async def _long_use(subject: LimiterInTime) -> None:
    clock = subject.frozen
    for _ in range(300):
        expect((await subject.take(_minute(20))).allowed, "a request refused that came as rarely as the limit allows")
        clock.advance(3)
    status = await subject.limiter.peek(_minute(20), subject.key)
    expect(status.remaining == 1, _describe(status))
    clock.advance(3600)
    status = await subject.limiter.peek(_minute(20), subject.key)
    expect(status.remaining == 20, _describe(status))


@LIMITER.promise("costs outside 0.01 to 1 raise ValueError", fix="check the cost in take() and give_back()")
async def _wrong_costs(subject: LimiterInTime) -> None:
    for cost in (0, -1, 0.001, 1.01, 100, math.nan, math.inf):
        for refuse in (subject.limiter.take, subject.limiter.give_back):
            try:
                await expect_error(ValueError, refuse(_minute(10), subject.key, cost))
            except PromiseBroken as broken:
                raise PromiseBroken(f"{broken} for a cost of {cost}") from broken
