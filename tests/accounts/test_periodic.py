"""Periodic background tasks: rounds at an interval, and a final one when the server stops."""

from __future__ import annotations

import asyncio

from pressroom.accounts.periodic import PeriodicTask

HOUR = 3600.0


async def rounds_until_the_end(seconds: float, at_least: int, *, end_after: float = 0.0) -> int:
    """Return how many rounds a task ran before it was stopped, which is after `at_least` rounds."""
    count = 0
    enough = asyncio.Event()

    async def action() -> None:
        nonlocal count
        count += 1
        if count >= at_least:
            enough.set()

    task = PeriodicTask("a test", seconds, action, end_after=end_after)
    task.start()
    if at_least:
        await enough.wait()
    await task.stop()
    return count


async def test_pending_writes_are_written_at_the_end() -> None:
    assert await rounds_until_the_end(HOUR, 0) == 1


async def test_a_server_that_ends_soon_prunes_nothing() -> None:
    assert await rounds_until_the_end(HOUR, 0, end_after=HOUR) == 0


async def test_rounds_repeat() -> None:
    assert await rounds_until_the_end(0.001, 3, end_after=HOUR) >= 3
