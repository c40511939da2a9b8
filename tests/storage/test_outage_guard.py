"""The guard in front of a server that may be down, with a simulated server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import structlog
from pressroom.errors import BackendError
from pressroom.storage.outage import OutageGuard
from pressroom.testing.clock import FrozenClock
from structlog.typing import EventDict


class Refusal(Exception):
    pass


class Server:
    """Returns the reply set by the test, and counts calls."""

    def __init__(self) -> None:
        self.reply: str | Exception = "yes"
        self.call_count = 0
        self.probed = 0

    async def ask(self) -> str:
        self.call_count += 1
        return await self._reply()

    async def probe(self) -> str:
        self.probed += 1
        return await self._reply()

    async def _reply(self) -> str:
        await asyncio.sleep(0)
        if self.reply == "nothing":
            await asyncio.Event().wait()
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def guard(server: Server, clock: FrozenClock) -> OutageGuard:
    return OutageGuard(
        "The server",
        probe=server.probe,
        timeout=0.05,
        concurrency=5,
        refused=(Refusal,),
        unreachable=(OSError,),
        pause=1,
        clock=clock.seconds,
    )


@pytest.fixture
async def log() -> AsyncIterator[list[EventDict]]:
    with structlog.testing.capture_logs() as log:
        yield log


async def outcomes(calls: int, call: Callable[[], Awaitable[str]]) -> list[str]:
    async def outcome() -> str:
        try:
            return await call()
        except BackendError as error:
            return str(error)

    return list(await asyncio.gather(*(outcome() for _ in range(calls))))


async def test_responses_pass_through(server: Server, guard: OutageGuard, log: list[EventDict]) -> None:
    assert await outcomes(100, lambda: guard.call("ask", server.ask)) == ["yes"] * 100
    assert (server.call_count, server.probed, log) == (100, 0, [])


async def test_other_errors_are_passed_on(server: Server, guard: OutageGuard) -> None:
    server.reply = LookupError("a bug")
    with pytest.raises(LookupError):
        await guard.call("ask", server.ask)
    assert guard.available


async def test_during_a_pause_no_call_is_made(server: Server, clock: FrozenClock, guard: OutageGuard) -> None:
    server.reply = OSError("gone")
    with pytest.raises(BackendError, match="The server is unavailable: gone"):
        await guard.call("ask", server.ask)
    clock.advance(0.999)
    assert set(await outcomes(100, lambda: guard.call("ask", server.ask))) == {"The server is unavailable: gone"}
    assert (server.call_count, server.probed) == (1, 0)


async def test_after_a_pause_one_call_probes(server: Server, clock: FrozenClock, guard: OutageGuard) -> None:
    server.reply = "nothing"
    await outcomes(1, lambda: guard.call("ask", server.ask))
    for pauses in range(1, 4):
        clock.advance(1)
        await outcomes(100, lambda: guard.call("ask", server.ask))
        assert (server.call_count, server.probed) == (1, pauses)


async def test_a_failed_probe_starts_another_pause(server: Server, clock: FrozenClock, guard: OutageGuard) -> None:
    server.reply = OSError("gone")
    await outcomes(1, lambda: guard.call("ask", server.ask))
    clock.advance(1)
    for _ in range(10):
        await outcomes(1, lambda: guard.call("ask", server.ask))
    assert (server.call_count, server.probed) == (1, 1)


async def test_the_newest_reason_is_given(server: Server, clock: FrozenClock, guard: OutageGuard) -> None:
    server.reply = OSError("gone")
    await outcomes(1, lambda: guard.call("ask", server.ask))
    server.reply = OSError("refuses the password")
    clock.advance(1)
    messages = [await outcomes(1, lambda: guard.call("ask", server.ask)) for _ in range(2)]
    assert messages == [["The server is unavailable: refuses the password"]] * 2
    assert server.probed == 1


async def test_time_in_which_nobody_could_fetch_the_result_does_not_count(
    server: Server, guard: OutageGuard, log: list[EventDict]
) -> None:
    released = asyncio.Event()

    async def operation() -> str:
        await released.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        return "yes"

    call = asyncio.create_task(guard.call("ask", operation))
    await asyncio.sleep(0)
    time.sleep(0.1)  # noqa: ASYNC251 - the point: this process is busy for longer than the timeout
    released.set()
    assert await call == "yes"
    assert log == []


async def test_waiting_calls_fail_when_the_outage_starts(server: Server, guard: OutageGuard) -> None:
    server.reply = "nothing"
    assert set(await outcomes(100, lambda: guard.call("ask", server.ask))) == {
        "The server is unavailable: no response within 0.05 s"
    }
    assert server.call_count == 5


async def test_the_first_response_ends_the_outage(
    server: Server, clock: FrozenClock, guard: OutageGuard, log: list[EventDict]
) -> None:
    server.reply = OSError("gone")
    await outcomes(1, lambda: guard.call("ask", server.ask))
    await outcomes(7, lambda: guard.call("ask", server.ask))
    server.reply = "yes"
    clock.advance(2.5)
    assert await guard.call("ask", server.ask) == "yes"
    assert guard.available
    assert await outcomes(10, lambda: guard.call("ask", server.ask)) == ["yes"] * 10
    assert [(event["log_level"], event["event"]) for event in log] == [
        ("warning", "server is unavailable"),
        ("info", "server is available again"),
    ]
    assert log[0]["reason"] == "gone"
    assert (log[1]["seconds"], log[1]["failed_calls"]) == (2.5, 8)


async def test_after_a_cancelled_probe_the_next_call_probes(
    server: Server, clock: FrozenClock, guard: OutageGuard
) -> None:
    server.reply = "nothing"
    await outcomes(1, lambda: guard.call("ask", server.ask))
    clock.advance(1)
    probing = asyncio.create_task(guard.call("ask", server.ask))
    await asyncio.sleep(0)
    probing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probing
    server.reply = "yes"
    assert await guard.call("ask", server.ask) == "yes"


async def test_cancelled_calls_give_up_their_turn(server: Server, guard: OutageGuard) -> None:
    server.reply = "nothing"
    tasks = [asyncio.create_task(guard.call("ask", server.ask)) for _ in range(20)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    assert all(isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*tasks, return_exceptions=True))
    assert guard.available
    server.reply = "yes"
    assert await outcomes(20, lambda: guard.call("ask", server.ask)) == ["yes"] * 20


async def test_a_refusal_is_not_an_outage_and_is_logged_once(
    server: Server, guard: OutageGuard, log: list[EventDict]
) -> None:
    server.reply = Refusal("no space")
    messages = await outcomes(100, lambda: guard.call("write", server.ask))
    assert set(messages) == {"The server refused write: no space"}
    assert guard.available
    server.reply = "yes"
    assert await guard.call("read", server.ask) == "yes"
    assert [event["event"] for event in log] == ["server refuses calls"]
    assert await guard.call("write", server.ask) == "yes"
    assert [(event["event"], event["call"]) for event in log] == [
        ("server refuses calls", "write"),
        ("server accepts calls again", "write"),
    ]


async def test_a_server_that_refuses_is_no_longer_down(server: Server, clock: FrozenClock, guard: OutageGuard) -> None:
    server.reply = OSError("gone")
    await outcomes(1, lambda: guard.call("ask", server.ask))
    clock.advance(1)
    server.reply = Refusal("no space")
    await outcomes(1, lambda: guard.call("ask", server.ask))
    assert guard.available
