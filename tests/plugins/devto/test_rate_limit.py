"""Pacing: at most one write a second, and none while DEV asks clients to wait."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pressroom_content.contract import SiteUnavailable
from pressroom_devto.rate_limit import Pace, Paces


class Clock:
    """A clock that advances when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_concurrent_writes_are_a_second_apart() -> None:
    clock = Clock()
    pace = Pace(1.0, clock=clock, sleep=clock.sleep)
    await asyncio.gather(*(pace.turn(writes=True) for _ in range(4)))
    await pace.turn(writes=False)
    assert clock.slept == [1.0, 2.0, 3.0]


async def test_the_queue_is_limited() -> None:
    clock = Clock()
    pace = Pace(2.5, clock=clock, sleep=clock.sleep)
    for _ in range(9):
        await pace.turn(writes=True)
    with pytest.raises(SiteUnavailable, match=r"one every 2\.5 s"):
        await pace.turn(writes=True)
    clock.now += 21
    await pace.turn(writes=True)


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("", 30),
        ("soon", 30),
        ("9" * 40, 30),
        ("999999999", 3600),
        ("-5", 30),
        (format_datetime(datetime.now(UTC) - timedelta(hours=1)), 0),
        (format_datetime(datetime.now(UTC) + timedelta(days=400)), 3600),
    ],
    ids=["seconds", "none", "empty", "words", "digits", "years", "negative", "a past date", "a far date"],
)
async def test_a_retry_after_is_respected(retry_after: str, seconds: float) -> None:
    clock = Clock()
    pace = Pace(1.0, clock=clock, sleep=clock.sleep)
    pace.hold(retry_after)
    if seconds:
        clock.now += seconds - 0.5
        with pytest.raises(SiteUnavailable) as error:
            await pace.turn(writes=False)
        assert error.value.retry_after == 1
        clock.now += 0.5
    await pace.turn(writes=False)


async def test_a_shorter_retry_after_does_not_shorten_a_longer_one() -> None:
    clock = Clock()
    pace = Pace(1.0, clock=clock, sleep=clock.sleep)
    pace.hold("120")
    pace.hold("1")
    clock.now += 60
    with pytest.raises(SiteUnavailable, match="another 60 seconds"):
        await pace.turn(writes=False)


def test_each_key_is_rate_limited_separately() -> None:
    paces = Paces(1.0)
    assert paces.of("a") is paces.of("a")
    assert paces.of("a") is not paces.of("b")
    paces.of("held").hold("60")
    pace = paces.of("held")
    for number in range(1500):
        paces.of(str(number))
    assert paces.of("held") is pace
