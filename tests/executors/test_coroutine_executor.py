"""The coroutine executor: tools on the event loop."""

import asyncio

import pytest
from pressroom.errors import CallTimeout, InternalError, InvalidInput, Overloaded
from pressroom.pipeline.executors.executors import Executors
from structlog.testing import capture_logs
from support import executor_tools
from support.executor_tools import assert_timeout_is_logged, work
from support.polling import until


async def test_the_result_of_a_coroutine_is_returned(executors: Executors) -> None:
    assert await executors.by_name["async"].run(work(executor_tools.echo_soon, text="hello")) == "hello"


async def test_a_tool_that_times_out_is_cancelled(executors: Executors) -> None:
    with capture_logs() as logs, pytest.raises(CallTimeout, match=r"0\.05 s"):
        await executors.by_name["async"].run(work(executor_tools.wait_for_ever, timeout=0.05))
    assert_timeout_is_logged(logs, "async", 0.05)
    assert executors.running("async") == 0


async def test_a_tool_whose_caller_is_cancelled_is_cancelled(executors: Executors) -> None:
    call = asyncio.create_task(executors.by_name["async"].run(work(executor_tools.wait_for_ever)))
    await until(lambda: executors.running("async") == 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert executors.running("async") == 0


async def test_a_call_cancelled_before_its_first_step_frees_its_slot(executors: Executors) -> None:
    for _ in range(5):
        call = asyncio.create_task(executors.by_name["async"].run(work(executor_tools.echo_soon)))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert await executors.by_name["async"].run(work(executor_tools.echo_soon, text="still")) == "still"
    assert executors.running("async") == 0


async def test_a_refusal_by_a_tool_is_returned_unchanged(executors: Executors) -> None:
    with pytest.raises(InvalidInput, match="text: must not be empty"):
        await executors.by_name["async"].run(work(executor_tools.refuse_soon))


@pytest.mark.parametrize(
    "tool", [executor_tools.time_out_inside, executor_tools.cancel_itself, executor_tools.exit_from_coroutine]
)
async def test_a_failing_tool_affects_no_other_call(executors: Executors, tool: executor_tools.Tool) -> None:
    with capture_logs() as logs, pytest.raises(InternalError):
        await executors.by_name["async"].run(work(tool))
    (entry,) = logs
    assert (entry["tool"], entry["executor"]) == (tool.__name__, "async")
    assert executors.running("async") == 0


async def test_calls_beyond_the_queue_are_refused_immediately(executors: Executors) -> None:
    calls = [asyncio.create_task(executors.by_name["async"].run(work(executor_tools.wait_for_ever))) for _ in range(4)]
    await until(lambda: executors.queue_length("async") == 2)
    with pytest.raises(Overloaded):
        await executors.by_name["async"].run(work(executor_tools.echo_soon))
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert (executors.running("async"), executors.queue_length("async")) == (0, 0)
