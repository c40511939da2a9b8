"""A timeout that applies only when a coroutine suspends."""

import asyncio
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest
from pressroom.pipeline.executors.in_process import OutOfTime, within

NO_TIME = -1.0


class Three:
    """An awaitable that is not a coroutine."""

    def __await__(self) -> Generator[Any, Any, int]:
        yield from asyncio.sleep(0).__await__()
        return 3


async def two() -> int:
    return 2


async def forever() -> None:
    await asyncio.Event().wait()


async def test_a_coroutine_that_never_waits_ignores_the_timeout() -> None:
    assert await within(NO_TIME, two()) == 2


async def test_a_coroutine_resumes_after_waiting() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def taking() -> list[int]:
        return [await queue.get(), await queue.get()]

    task = asyncio.create_task(within(60, taking()))
    await asyncio.sleep(0)
    queue.put_nowait(1)
    queue.put_nowait(2)
    assert await task == [1, 2]
    assert await within(60, Three()) == 3


async def test_a_future_is_awaited() -> None:
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, 4)
    assert await within(60, future) == 4


async def test_a_coroutine_that_times_out_is_cancelled() -> None:
    cleaned = []

    async def slow() -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    with pytest.raises(OutOfTime):
        await within(0.001, slow())
    assert cleaned


async def test_the_coroutines_own_timeout_is_raised() -> None:
    async def impatient() -> None:
        async with asyncio.timeout(0.001):
            await forever()

    with pytest.raises(TimeoutError):
        await within(60, impatient())


async def test_an_error_after_a_wait_is_raised() -> None:
    async def failing() -> None:
        await asyncio.sleep(0)
        raise LookupError("nutmeg")

    with pytest.raises(LookupError, match="nutmeg"):
        await within(60, failing())


async def test_cancelling_the_caller_cancels_the_coroutine() -> None:
    ended = asyncio.Event()

    async def waiting() -> None:
        try:
            await forever()
        finally:
            ended.set()

    task = asyncio.create_task(within(60, waiting()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_a_coroutine_may_catch_its_own_timeout() -> None:
    async def patient() -> str:
        try:
            async with asyncio.timeout(0.001):
                await forever()
        except TimeoutError:
            await asyncio.sleep(0)
            return "went on"
        return "never"

    assert await within(60, patient()) == "went on"


async def test_an_error_after_a_handled_one_has_no_context() -> None:
    async def stumbling() -> None:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_exception, OSError("handled"))
        with suppress(OSError):
            await future
        raise ValueError("another one")

    with pytest.raises(ValueError, match="another one") as raised:
        await within(1, stumbling())
    assert raised.value.__context__ is None


@pytest.mark.parametrize("pauses", [0, 1])
async def test_a_generator_exit_of_its_own_does_not_end_the_caller(pauses: int) -> None:
    async def closing() -> None:
        for _ in range(pauses):
            await asyncio.sleep(0)
        raise GeneratorExit

    with pytest.raises(RuntimeError, match="GeneratorExit"):
        await within(1, closing())
