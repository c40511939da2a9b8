"""A bound on time that costs nothing where a coroutine never waits."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


async def within(seconds: float, awaitable: Awaitable[T]) -> T:
    """Await something for at most this many seconds.

    Its first step runs before any clock is set: most short tools end in that step, and a timer takes longer than they.
    The step cannot be cut off in any case, since nothing else runs meanwhile.

    Raises:
        OutOfTime: it took longer, and was cancelled.
        Exception: whatever the coroutine raises.
    """
    coroutine = awaitable if isinstance(awaitable, types.CoroutineType) else _awaited(awaitable)
    try:
        waits_for = coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await _rest(coroutine, waits_for)
    except TimeoutError:
        if scope.expired():
            raise OutOfTime from None
        raise


class OutOfTime(Exception):
    """A coroutine was cancelled since its time was up; a `TimeoutError` of its own is something else."""


@types.coroutine
def _rest(coroutine: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """Continue with a coroutine that has begun (PEP 380 says how one generator stands for another)."""
    try:
        while True:
            try:
                value = yield waits_for
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine decides what to do about it
                waits_for = coroutine.throw(error)
            else:
                waits_for = coroutine.send(value)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        coroutine.close()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
