"""Latency of a trivial request while the server renders: on its event loop, and in the process executor."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from support.needs import free_port

SERVER = Path(__file__).parent / "render_server.py"
TESTS = Path(__file__).parents[2]
RENDERS = 8
PINGING_CLIENTS = 4
SECONDS_BETWEEN_PINGS = 0.01
SECONDS = 6


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of the trivial request's latency in milliseconds, and the number of renders in the meantime."""

    p50: float
    p99: float
    renders: int


class Connection:
    """A minimal keep-alive HTTP connection for generating load."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def get(self, path: str) -> bytes:
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        assert head.startswith(b"http/1.1 200"), head
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        return await self._reader.readexactly(length)


@asynccontextmanager
async def server(place: str) -> AsyncIterator[int]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, SERVER, place, str(port), env={**os.environ, "PYTHONPATH": str(TESTS)}
    )
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    async with Connection(port) as connection:
                        await connection.get("/ping")
                    break
                except OSError:
                    await asyncio.sleep(0.05)
        yield port
    finally:
        process.terminate()
        await process.wait()


async def measure(place: str, renders: int) -> Latency:
    """Ping the server while `renders` clients render without a pause.

    Each client sends its next ping only after the previous response, which flatters a stalling server: it gets fewer
    pings.
    """
    async with server(place) as port:
        done = 0
        latencies: list[float] = []

        async def render() -> None:
            nonlocal done
            async with Connection(port) as connection:
                while True:
                    await connection.get("/render")
                    done += 1

        async def ping(until: float) -> None:
            async with Connection(port) as connection:
                while (began := time.perf_counter()) < until:
                    await connection.get("/ping")
                    latencies.append((time.perf_counter() - began) * 1000)
                    await asyncio.sleep(SECONDS_BETWEEN_PINGS)

        load = [asyncio.create_task(render()) for _ in range(renders)]
        try:
            await asyncio.gather(*(ping(time.perf_counter() + SECONDS) for _ in range(PINGING_CLIENTS)))
            assert [task.exception() for task in load if task.done()] == []
        finally:
            for task in load:
                task.cancel()
            await asyncio.gather(*load, return_exceptions=True)
    latencies.sort()
    return Latency(latencies[len(latencies) // 2], latencies[math.ceil(len(latencies) * 0.99) - 1], done)


async def test_renders_in_the_process_executor_leave_the_server_responsive() -> None:
    results = {
        "no renders": await measure("process", 0),
        "inline": await measure("inline", RENDERS),
        "process executor": await measure("process", RENDERS),
    }
    for place, latency in results.items():
        print(f"{place:>14}: p50 {latency.p50:8.1f} ms, p99 {latency.p99:8.1f} ms, {latency.renders:4} renders")
    assert results["process executor"].p99 < results["inline"].p99 / 10
    assert results["process executor"].renders > 0
