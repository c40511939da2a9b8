"""Tools on the event loop."""

import asyncio

import pytest
from pressroom.errors import CallTimeout, InternalError, InvalidInput, Overloaded
from pressroom.lanes.lanes import Lanes
from structlog.testing import capture_logs
from support import lane_tools
from support.lane_tools import until, work


async def test_the_result_of_a_coroutine_comes_back(lanes: Lanes) -> None:
    assert await lanes.run("async", work(lane_tools.echo_soon, text="hello")) == "hello"


async def test_a_tool_that_runs_out_of_time_is_cancelled(lanes: Lanes) -> None:
    with pytest.raises(CallTimeout, match=r"0\.05 s"):
        await lanes.run("async", work(lane_tools.wait_for_ever, timeout=0.05))
    assert lanes.running("async") == 0


async def test_a_tool_whose_caller_is_cancelled_is_cancelled(lanes: Lanes) -> None:
    call = asyncio.create_task(lanes.run("async", work(lane_tools.wait_for_ever)))
    await until(lambda: lanes.running("async") == 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert lanes.running("async") == 0


async def test_a_call_that_is_cancelled_before_its_first_step_gives_its_place_back(lanes: Lanes) -> None:
    for _ in range(5):
        call = asyncio.create_task(lanes.run("async", work(lane_tools.echo_soon)))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await lanes.run("async", work(lane_tools.echo_soon, text="still")) == "still"
    assert lanes.running("async") == 0


async def test_what_a_tool_refuses_comes_back_as_it_was(lanes: Lanes) -> None:
    with pytest.raises(InvalidInput, match="text: must not be empty"):
        await lanes.run("async", work(lane_tools.refuse_soon))


@pytest.mark.parametrize("tool", [lane_tools.time_out_inside, lane_tools.cancel_itself, lane_tools.exit_from_coroutine])
async def test_a_tool_that_fails_inside_fails_alone(lanes: Lanes, tool: lane_tools.Tool) -> None:
    with capture_logs() as logs, pytest.raises(InternalError):
        await lanes.run("async", work(tool))
    (entry,) = logs
    assert (entry["tool"], entry["lane"]) == (tool.__name__, "async")
    assert lanes.running("async") == 0


async def test_calls_beyond_the_queue_are_turned_away_at_once(lanes: Lanes) -> None:
    calls = [asyncio.create_task(lanes.run("async", work(lane_tools.wait_for_ever))) for _ in range(4)]
    await until(lambda: lanes.queue_length("async") == 2)
    with pytest.raises(Overloaded):
        await lanes.run("async", work(lane_tools.echo_soon))
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert (lanes.running("async"), lanes.queue_length("async")) == (0, 0)
