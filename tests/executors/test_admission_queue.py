"""Admission to an executor: who runs, who waits, and who is refused."""

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import Overloaded
from pressroom.pipeline.executors.in_process import AdmissionQueue

LONG = 30.0


async def test_calls_are_admitted_until_every_slot_is_taken() -> None:
    gate = AdmissionQueue("process", capacity=2, queue=1)
    await gate.enter(LONG)
    await gate.enter(LONG)
    waiting = asyncio.create_task(gate.enter(LONG))
    await asyncio.sleep(0)
    assert (gate.running, gate.waiting) == (2, 1)
    gate.leave(0.1)
    await waiting
    assert (gate.running, gate.waiting) == (2, 0)


async def test_a_full_queue_refuses_immediately_with_a_retry_after() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=1)
    await gate.enter(LONG)
    waiting = asyncio.create_task(gate.enter(LONG))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as caught:
        await gate.enter(LONG)
    assert caught.value.retry_after == 1
    assert "Try again in 1 s" in caught.value.message
    gate.leave(0.1)
    await waiting


async def test_calls_are_admitted_in_order_of_arrival() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=10)
    await gate.enter(LONG)
    order: list[int] = []

    async def come(number: int) -> None:
        await gate.enter(LONG)
        order.append(number)
        gate.leave(0.1)

    tasks = [asyncio.create_task(come(number)) for number in range(10)]
    await asyncio.sleep(0)
    gate.leave(0.1)
    await asyncio.gather(*tasks)
    assert order == list(range(10))


async def test_a_call_that_waits_too_long_is_refused_and_leaves_the_queue() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=1)
    await gate.enter(LONG)
    with pytest.raises(Overloaded, match="waited"):
        await gate.enter(0.01)
    assert gate.waiting == 0


async def test_a_cancelled_call_leaves_the_queue_and_takes_no_slot() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=2)
    await gate.enter(LONG)
    impatient = asyncio.create_task(gate.enter(LONG))
    patient = asyncio.create_task(gate.enter(LONG))
    await asyncio.sleep(0)
    impatient.cancel()
    gate.leave(0.1)
    await patient
    assert impatient.cancelled()
    assert (gate.running, gate.waiting) == (1, 0)


async def test_a_closed_gate_admits_only_calls_already_waiting() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=1)
    await gate.enter(LONG)
    waiting = asyncio.create_task(gate.enter(LONG))
    await asyncio.sleep(0)
    gate.close()
    with pytest.raises(Overloaded, match="shutting down"):
        await gate.enter(LONG)
    gate.leave(0.1)
    await waiting
    assert gate.running == 1


async def test_a_gate_that_is_cut_off_refuses_waiting_calls() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=2)
    await gate.enter(LONG)
    waiting = [asyncio.create_task(gate.enter(LONG)) for _ in range(2)]
    await asyncio.sleep(0)
    gate.cut_off()
    gate.leave(0.1)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [Overloaded, Overloaded]
    assert (gate.running, gate.waiting) == (0, 0)


async def test_a_gate_is_drained_when_nothing_runs_or_waits() -> None:
    gate = AdmissionQueue("process", capacity=1, queue=1)
    await gate.drained()
    await gate.enter(LONG)
    waiting = asyncio.create_task(gate.enter(LONG))
    drained = asyncio.create_task(gate.drained())
    await asyncio.sleep(0)
    gate.leave(0.1)
    await waiting
    assert not drained.done()
    gate.leave(0.1)
    await drained


@given(st.lists(st.floats(min_value=0, max_value=10_000), max_size=20), st.integers(1, 64))
def test_the_time_to_come_back_is_in_whole_seconds_from_1_to_60(durations: list[float], capacity: int) -> None:
    async def scenario() -> int:
        gate = AdmissionQueue("process", capacity, queue=1)
        for duration in durations:
            await gate.enter(LONG)
            gate.leave(duration)
        return gate.retry_after()

    seconds = asyncio.run(scenario())
    assert 1 <= seconds <= 60
    longest = max(durations, default=0)
    assert seconds <= max(1, math.ceil(longest / capacity))


async def test_retry_after_follows_the_running_and_queued_calls() -> None:
    gate = AdmissionQueue("process", capacity=2, queue=5)
    await gate.enter(LONG)
    gate.leave(4.0)
    assert gate.retry_after() == 2
    for _ in range(2):
        await gate.enter(LONG)
    waiting = [asyncio.create_task(gate.enter(LONG)) for _ in range(3)]
    await asyncio.sleep(0)
    assert gate.retry_after() == 8
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


@given(st.lists(st.sampled_from(["come", "leave", "give up", "lose patience"]), max_size=60), st.integers(1, 3))
def test_no_order_of_events_loses_a_place_or_lends_one_twice(events: list[str], capacity: int) -> None:
    async def scenario() -> None:
        gate = AdmissionQueue("process", capacity, queue=3)
        comers: list[asyncio.Task[None]] = []
        inside = 0

        async def settle() -> int:
            for _ in range(4):
                await asyncio.sleep(0)
            return sum(1 for task in comers if task.done() and not task.cancelled() and not task.exception())

        left = 0
        for event in events:
            if event == "leave" and inside:
                gate.leave(0.1)
                left += 1
            elif event == "give up" and comers:
                comers[-1].cancel()
            else:
                comers.append(asyncio.create_task(gate.enter(0 if event == "lose patience" else LONG)))
            inside = await settle() - left
            assert inside == gate.running <= capacity
            assert gate.waiting <= 3
        for task in comers:
            task.cancel()
        inside = await settle() - left
        for _ in range(inside):
            gate.leave(0.1)
        await gate.drained()
        for _ in range(capacity):
            await gate.enter(LONG)
        assert gate.running == capacity

    asyncio.run(scenario())
