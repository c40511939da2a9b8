"""The cost of a round trip through an executor, against the standard library's process pool."""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from pressroom.config.models import ExecutorsSettings
from pressroom.pipeline.executors.executors import Executors
from support import executor_tools
from support.executor_tools import work

ROUNDS = 8
CALLS = 50


async def microseconds(call: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        await call()
    return (time.perf_counter() - began) / CALLS * 1e6


async def test_a_process_executor_call_costs_at_most_8_standard_pool_calls() -> None:
    small = work(executor_tools.echo, text="hello")
    large = work(executor_tools.return_much, number=1_000_000)
    executors = Executors(ExecutorsSettings(processes=2, niceness=0), preload=["support.executor_tools"])
    await executors.start()
    await executors.ready()
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as executor:
        ways: dict[str, Callable[[], Awaitable[Any]]] = {
            "standard pool": lambda: loop.run_in_executor(executor, small.function, small.params, small.call),
            "standard pool, 1 MB": lambda: loop.run_in_executor(executor, large.function, large.params, large.call),
            "process executor": lambda: executors.by_name["process"].run(small),
            "process executor, 1 MB": lambda: executors.by_name["process"].run(large),
            "thread executor": lambda: executors.by_name["thread"].run(small),
            "async executor": lambda: executors.by_name["async"].run(work(executor_tools.echo_soon)),
        }
        for way in ways.values():
            await microseconds(way)
        rounds = [{name: await microseconds(way) for name, way in ways.items()} for _ in range(ROUNDS)]
    await executors.close(1)
    costs = {name: statistics.median(figures[name] for figures in rounds) for name in ways}
    for name, cost in costs.items():
        print(f"{name:>20}: {cost:7.0f} µs a call")
    assert costs["process executor"] < 8 * costs["standard pool"]
    assert costs["process executor, 1 MB"] < 8 * costs["standard pool, 1 MB"]
    assert costs["async executor"] < costs["process executor"]
