"""What a trip through a lane costs, beside the standard library's process pool."""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from pressroom.config.models import LanesSettings
from pressroom.lanes.lanes import Lanes
from support import lane_tools
from support.lane_tools import work

ROUNDS = 8
CALLS = 50


async def microseconds(call: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        await call()
    return (time.perf_counter() - began) / CALLS * 1e6


async def test_a_call_through_the_process_lane_costs_no_more_than_a_few_through_the_standard_pool() -> None:
    small = work(lane_tools.echo, text="hello")
    large = work(lane_tools.return_much, number=1_000_000)
    lanes = Lanes(LanesSettings(processes=2, niceness=0), preload=["support.lane_tools"])
    await lanes.start()
    await lanes.ready()
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as executor:
        ways: dict[str, Callable[[], Awaitable[Any]]] = {
            "standard pool": lambda: loop.run_in_executor(executor, small.function, small.params, small.call),
            "standard pool, 1 MB": lambda: loop.run_in_executor(executor, large.function, large.params, large.call),
            "process lane": lambda: lanes.run("process", small),
            "process lane, 1 MB": lambda: lanes.run("process", large),
            "thread lane": lambda: lanes.run("thread", small),
            "async lane": lambda: lanes.run("async", work(lane_tools.echo_soon)),
        }
        for way in ways.values():
            await microseconds(way)
        rounds = [{name: await microseconds(way) for name, way in ways.items()} for _ in range(ROUNDS)]
    await lanes.close(1)
    costs = {name: statistics.median(figures[name] for figures in rounds) for name in ways}
    for name, cost in costs.items():
        print(f"{name:>20}: {cost:7.0f} µs a call")
    assert costs["process lane"] < 8 * costs["standard pool"]
    assert costs["process lane, 1 MB"] < 8 * costs["standard pool, 1 MB"]
    assert costs["async lane"] < costs["process lane"]
