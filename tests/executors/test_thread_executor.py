"""The thread executor."""

import asyncio
import gc
import threading
from pathlib import Path

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.errors import CallTimeout, InternalError, InvalidInput, Overloaded
from pressroom.pipeline.executors import daemon
from pressroom.pipeline.executors.executors import Executors
from structlog.testing import capture_logs
from support import executor_tools
from support.executor_tools import assert_timeout_is_logged, work
from support.polling import until


async def test_a_tool_runs_beside_the_event_loop_and_its_result_is_returned(
    executors: Executors, tmp_path: Path
) -> None:
    file = tmp_path / "running"
    call = asyncio.create_task(executors.by_name["thread"].run(work(executor_tools.touch_and_wait, path=str(file))))
    await until(file.exists)
    file.unlink()
    assert await call == "finished"


async def test_a_tool_sees_the_context_variables_of_its_call(executors: Executors) -> None:
    executor_tools.REQUEST.set("req-7")
    assert await executors.by_name["thread"].run(work(executor_tools.request_in_context)) == "req-7"


async def test_a_refusal_by_a_tool_is_returned_unchanged(executors: Executors) -> None:
    with pytest.raises(InvalidInput, match="text: must not be empty"):
        await executors.by_name["thread"].run(work(executor_tools.refuse))


@pytest.mark.parametrize("tool", [executor_tools.fail, executor_tools.exit_politely, executor_tools.raise_odd_things])
async def test_a_failing_tool_is_logged_but_not_explained_to_the_client(
    executors: Executors, tool: executor_tools.Tool
) -> None:
    with capture_logs() as logs, pytest.raises(InternalError) as caught:
        await executors.by_name["thread"].run(work(tool))
    assert "secret" not in caught.value.message
    (entry,) = logs
    assert (entry["tool"], entry["executor"]) == (tool.__name__, "thread")
    assert isinstance(entry["exc_info"], BaseException)
    assert executors.running("thread") == 0


async def test_a_tool_that_times_out_keeps_its_slot_until_it_returns(executors: Executors, tmp_path: Path) -> None:
    file = tmp_path / "running"
    with pytest.raises(CallTimeout, match=r"0\.2 s"):
        await executors.by_name["thread"].run(work(executor_tools.touch_and_wait, path=str(file), timeout=0.2))
    assert executors.running("thread") == 1
    await until(file.exists)
    file.unlink()
    await until(lambda: executors.running("thread") == 0)


async def test_a_failure_after_the_timeout_is_logged_once(
    executors: Executors, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "running"
    with capture_logs() as logs:
        with pytest.raises(CallTimeout):
            await executors.by_name["thread"].run(work(executor_tools.wait_and_fail, path=str(file), timeout=0.2))
        await until(file.exists)
        file.unlink()
        await until(lambda: executors.running("thread") == 0)
    gc.collect()
    assert_timeout_is_logged(logs[:1], "thread", 0.2)
    assert [entry["event"] for entry in logs[1:]] == ["tool failed"]
    assert caplog.records == []


async def test_a_cancelled_call_keeps_its_slot_until_the_thread_is_done(executors: Executors, tmp_path: Path) -> None:
    file = tmp_path / "running"
    call = asyncio.create_task(executors.by_name["thread"].run(work(executor_tools.touch_and_wait, path=str(file))))
    await until(file.exists)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert executors.running("thread") == 1
    file.unlink()
    await until(lambda: executors.running("thread") == 0)


async def test_calls_beyond_the_queue_are_refused_immediately(executors: Executors, tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(4)]
    calls = [
        asyncio.create_task(executors.by_name["thread"].run(work(executor_tools.touch_and_wait, path=str(file))))
        for file in files
    ]
    await until(lambda: executors.queue_length("thread") == 2)
    with pytest.raises(Overloaded):
        await executors.by_name["thread"].run(work(executor_tools.echo))
    for file in files:
        await until(file.exists)
        file.unlink()
    assert await asyncio.gather(*calls) == ["finished"] * 4


async def test_no_thread_is_left_when_the_calls_are_done(executors: Executors) -> None:
    await asyncio.gather(*(executors.by_name["thread"].run(work(executor_tools.echo)) for _ in range(4)))
    await until(lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("thread executor")])


async def test_sequential_calls_share_a_thread_with_the_tools_name(executors: Executors) -> None:
    threads = [await executors.by_name["thread"].run(work(executor_tools.name_its_thread)) for _ in range(3)]
    assert len({number for number, _ in threads}) == 1
    assert {name for _, name in threads} == {"thread executor: name_its_thread"}


async def test_a_thread_that_is_busy_gets_no_other_call(executors: Executors, tmp_path: Path) -> None:
    file = tmp_path / "running"
    busy = asyncio.create_task(executors.by_name["thread"].run(work(executor_tools.touch_and_wait, path=str(file))))
    await until(file.exists)
    assert await executors.by_name["thread"].run(work(executor_tools.name_its_thread))
    assert await executors.by_name["thread"].run(work(executor_tools.name_its_thread))
    file.unlink()
    assert await busy == "finished"


async def test_an_idle_thread_ends_with_the_server() -> None:
    before = set(threading.enumerate())
    executors = Executors(ExecutorsSettings(processes=1))
    await executors.by_name["thread"].run(work(executor_tools.echo))
    assert set(threading.enumerate()) - before
    await executors.close(0)
    await until(lambda: not set(threading.enumerate()) - before)


async def test_a_long_idle_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "IDLE_SECONDS", 0.01)
    executors, before = Executors(ExecutorsSettings(processes=1)), set(threading.enumerate())
    for _ in range(20):
        await executors.by_name["thread"].run(work(executor_tools.echo))
        await until(lambda: not set(threading.enumerate()) - before)
    await executors.close(0)
