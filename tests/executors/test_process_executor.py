"""The process executor: what tools return and raise, and how misbehaving ones are handled."""

import asyncio
import os
import pickle
import signal
import threading
from pathlib import Path

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.errors import BackendError, CallTimeout, InternalError, InvalidInput, Overloaded
from pressroom.pipeline.executors import child
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.executors import Executors
from pressroom.pipeline.executors.process import ProcessExecutor, usable_cores
from pressroom.sdk import Artifact
from structlog.testing import capture_logs
from support import executor_tools
from support.executor_tools import Tool, assert_timeout_is_logged, ended, work
from support.polling import until


async def workers(executors: Executors) -> set[int]:
    """Return the process IDs of the two workers: they take turns."""
    return {await executors.by_name["process"].run(work(executor_tools.process_id)) for _ in range(2)}


async def test_a_tool_runs_in_another_process_and_its_result_is_returned(executors: Executors) -> None:
    assert await executors.by_name["process"].run(work(executor_tools.echo, text="ἀρχή")) == "ἀρχή"
    assert os.getpid() not in await workers(executors)


async def test_a_declared_tool_is_found_by_its_reference(executors: Executors) -> None:
    result = await executors.by_name["process"].run(work(executor_tools.shout, text="hello"))
    assert result == Artifact(b"HELLO", "text/plain")


async def test_large_results_are_returned_completely(executors: Executors) -> None:
    results = await asyncio.gather(
        *(executors.by_name["process"].run(work(executor_tools.return_much, number=5_000_000)) for _ in range(3))
    )
    assert [len(result) for result in results] == [5_000_000] * 3


async def test_a_hundred_quick_calls_each_get_their_own_result() -> None:
    executors = Executors(ExecutorsSettings(processes=2, process_queue=100, recycle_after=0))
    results = await asyncio.gather(
        *(executors.by_name["process"].run(work(executor_tools.echo, text=str(number))) for number in range(100))
    )
    await executors.close(0)
    assert results == [str(number) for number in range(100)]


async def test_a_refusal_by_a_tool_is_returned_unchanged(executors: Executors) -> None:
    with pytest.raises(InvalidInput) as caught:
        await executors.by_name["process"].run(work(executor_tools.refuse))
    assert (caught.value.field, caught.value.message) == ("text", "text: must not be empty")


@pytest.mark.parametrize(
    "tool",
    [
        executor_tools.fail,
        executor_tools.fail_with_a_lock,
        executor_tools.fail_one_way,
        executor_tools.refuse_unpicklably,
        executor_tools.exit_politely,
        executor_tools.return_a_lock,
        executor_tools.return_a_local_class,
        executor_tools.return_explosive,
        executor_tools.return_one_way,
    ],
)
async def test_a_failing_tool_is_logged_but_not_explained_to_the_client(executors: Executors, tool: Tool) -> None:
    before = await workers(executors)
    with capture_logs() as logs, pytest.raises(InternalError) as caught:
        await executors.by_name["process"].run(work(tool))
    assert "req-1" in caught.value.message
    assert "secret" not in caught.value.message
    (entry,) = logs
    assert (entry["tool"], entry["request_id"], entry["executor"]) == (tool.__name__, "req-1", "process")
    if "exception" in entry:
        assert "executor_tools.py" in entry["exception"] or "pickle" in entry["exception"]
        cause = str(caught.value.__cause__)
        assert cause
        assert entry["exception"].strip().endswith(cause)
    else:
        assert isinstance(entry["exc_info"], LookupError)
    assert await workers(executors) == before


async def test_the_log_has_the_traceback_of_a_tool_that_fails(executors: Executors) -> None:
    with capture_logs() as logs, pytest.raises(InternalError):
        await executors.by_name["process"].run(work(executor_tools.fail))
    assert "in fail\n" in logs[0]["exception"]
    assert "ValueError: secret path /srv/private" in logs[0]["exception"]


@pytest.mark.parametrize("reference", ["support.nowhere:echo", "support.executor_tools:nobody"])
async def test_a_tool_the_worker_cannot_import_affects_no_other_call(executors: Executors, reference: str) -> None:
    template = work(executor_tools.echo)
    lost = ExecutionRequest(reference, template.function, template.params, template.call, 5, 512)
    with capture_logs() as logs, pytest.raises(InternalError):
        await executors.by_name["process"].run(lost)
    assert "Error" in logs[0]["exception"]
    assert await executors.by_name["process"].run(work(executor_tools.echo, text="on")) == "on"


async def test_a_call_that_cannot_be_sent_to_a_worker_affects_no_other_call(executors: Executors) -> None:
    with capture_logs() as logs, pytest.raises(InternalError):
        await executors.by_name["process"].run(work(executor_tools.echo, config=executor_tools.Unsendable()))
    assert isinstance(logs[0]["exc_info"], TypeError)
    assert await executors.by_name["process"].run(work(executor_tools.echo, text="on")) == "on"


@pytest.mark.parametrize("memory_mib", [64, 300])
async def test_a_tool_that_exceeds_its_memory_limit_is_stopped_and_its_worker_replaced(
    executors: Executors, memory_mib: int
) -> None:
    before = await workers(executors)
    with capture_logs() as logs, pytest.raises(InternalError, match="more memory than the tool is allowed"):
        await executors.by_name["process"].run(work(executor_tools.eat_memory, memory_mib=memory_mib))
    assert (logs[0]["event"], logs[0]["memory_mib"]) == ("tool ran out of memory", memory_mib)
    assert "MemoryError" in logs[0]["exception"]
    after = await workers(executors)
    assert len(after) == 2
    assert len(before & after) == 1


async def test_each_call_has_its_own_memory_limit(executors: Executors) -> None:
    before = await workers(executors)
    for _ in range(2):
        for memory_mib, number in ((100, 20), (400, 200)):
            results = [
                await executors.by_name["process"].run(
                    work(executor_tools.allocate, number=number, memory_mib=memory_mib)
                )
                for _ in before
            ]
            assert results == [number * 2**20] * 2
    assert await workers(executors) == before
    with capture_logs(), pytest.raises(InternalError, match="more memory"):
        await executors.by_name["process"].run(work(executor_tools.allocate, number=200, memory_mib=100))


@pytest.mark.parametrize("tool", [executor_tools.loop_for_ever, executor_tools.loop_in_c, executor_tools.loop_deaf])
async def test_a_tool_that_never_returns_is_killed_and_replaced(executors: Executors, tool: Tool) -> None:
    before = await workers(executors)
    with capture_logs() as logs, pytest.raises(CallTimeout) as caught:
        await executors.by_name["process"].run(work(tool, timeout=0.3))
    assert_timeout_is_logged(logs, "process", 0.3)
    assert "0.3 s" in caught.value.message
    assert caught.value.retry_after >= 1
    after = await workers(executors)
    assert len(after) == 2
    assert len(before & after) == 1
    (killed,) = before - after
    assert ended(killed)


async def test_a_suspended_worker_is_killed_when_its_call_times_out(executors: Executors) -> None:
    with pytest.raises(CallTimeout):
        await executors.by_name["process"].run(work(executor_tools.stop_itself, timeout=0.3))
    assert len(await workers(executors)) == 2


@pytest.mark.parametrize(
    ("tool", "number"),
    [
        (executor_tools.kill_itself, 0),
        (executor_tools.segfault, 0),
        (executor_tools.exit_at_once, 1),
        (executor_tools.exit_at_once, 0),
    ],
)
async def test_a_tool_that_ends_its_process_affects_no_other_call(
    executors: Executors, tmp_path: Path, tool: Tool, number: int
) -> None:
    file = tmp_path / "running"
    bystander = asyncio.create_task(
        executors.by_name["process"].run(work(executor_tools.touch_and_wait, path=str(file)))
    )
    await until(file.exists)
    for _ in range(3):
        with capture_logs() as logs, pytest.raises(InternalError, match="ended before it returned a result"):
            await executors.by_name["process"].run(work(tool, number=number))
        assert logs[0]["event"] == "worker process lost"
        assert "exit status" in logs[0]["reason"]
    file.unlink()
    assert await bystander == "finished"
    assert len(await workers(executors)) == 2


async def test_a_worker_that_ends_between_two_calls_is_replaced(executors: Executors) -> None:
    before = await workers(executors)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    with capture_logs():
        results = await asyncio.gather(
            *(executors.by_name["process"].run(work(executor_tools.process_id)) for _ in range(2)),
            return_exceptions=True,
        )
    assert all(isinstance(result, int | InternalError) for result in results)
    after = await workers(executors)
    assert len(after) == 2
    assert not before & after


async def test_an_unresponsive_worker_is_abandoned_and_killed(
    executors: Executors, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await workers(executors)
    for pid in before:
        os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr("pressroom.pipeline.executors.process._STUCK_AFTER", 0.1)
    with capture_logs() as logs, pytest.raises(InternalError):
        await executors.by_name["process"].run(work(executor_tools.echo, timeout=0.1))
    monkeypatch.undo()
    assert logs[0]["reason"] == "it stopped responding"
    await until(lambda: sum(ended(pid) for pid in before) == 1)
    for pid in before:
        if not ended(pid):
            os.kill(pid, signal.SIGCONT)
    assert len(await workers(executors) & before) == 1


async def test_calls_beyond_the_queue_are_refused_immediately(executors: Executors, tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(4)]
    calls = [
        asyncio.create_task(executors.by_name["process"].run(work(executor_tools.touch_and_wait, path=str(file))))
        for file in files
    ]
    await until(lambda: executors.queue_length("process") == 2)
    with pytest.raises(Overloaded) as caught:
        await executors.by_name["process"].run(work(executor_tools.echo))
    assert caught.value.retry_after == 1
    for file in files:
        await until(file.exists)
        file.unlink()
    assert await asyncio.gather(*calls) == ["finished"] * 4
    assert (executors.running("process"), executors.queue_length("process")) == (0, 0)


async def test_a_call_cancelled_in_the_queue_never_starts(executors: Executors, tmp_path: Path) -> None:
    files = [tmp_path / "first", tmp_path / "second", tmp_path / "cancelled"]
    calls = []
    for file in files:
        calls.append(
            asyncio.create_task(executors.by_name["process"].run(work(executor_tools.touch_and_wait, path=str(file))))
        )
        await asyncio.sleep(0)
    await until(lambda: files[0].exists() and files[1].exists())
    calls[2].cancel()
    for file in files[:2]:
        file.unlink()
    assert await asyncio.gather(*calls[:2]) == ["finished"] * 2
    await workers(executors)
    assert calls[2].cancelled()
    assert not files[2].exists()


async def test_a_call_cancelled_while_running_continues_and_keeps_its_slot(
    executors: Executors, tmp_path: Path
) -> None:
    file = tmp_path / "running"
    before = await workers(executors)
    call = asyncio.create_task(executors.by_name["process"].run(work(executor_tools.touch_and_wait, path=str(file))))
    await until(file.exists)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert executors.running("process") == 1
    file.unlink()
    await until(lambda: executors.running("process") == 0)
    assert await workers(executors) == before


async def test_a_worker_is_replaced_after_the_configured_number_of_calls() -> None:
    executors = Executors(ExecutorsSettings(processes=1, recycle_after=2))
    pids = [await executors.by_name["process"].run(work(executor_tools.process_id)) for _ in range(6)]
    await executors.close(0)
    assert pids[0::2] == pids[1::2]
    assert len(set(pids)) == 3


async def test_replaced_workers_leave_nothing_behind() -> None:
    await run_and_crash(1)
    descriptors = open_descriptors()
    threads = threading.active_count()
    pids = await run_and_crash(6)
    assert open_descriptors() == descriptors
    await until(lambda: threading.active_count() <= threads)
    assert all(ended(pid) for pid in pids)


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def run_and_crash(times: int) -> set[int]:
    executors = Executors(ExecutorsSettings(processes=1, recycle_after=2))
    pids = set()
    with capture_logs():
        for _ in range(times):
            for tool in (
                executor_tools.process_id,
                executor_tools.process_id,
                executor_tools.process_id,
                executor_tools.kill_itself,
            ):
                try:
                    pids.add(await executors.by_name["process"].run(work(tool)))
                except InternalError:
                    continue
    await executors.close(0)
    return pids


async def test_two_servers_in_one_process_do_not_interfere(executors: Executors, tmp_path: Path) -> None:
    other = Executors(ExecutorsSettings(processes=1), preload=["support.executor_tools"])
    file = tmp_path / "running"
    call = asyncio.create_task(executors.by_name["process"].run(work(executor_tools.touch_and_wait, path=str(file))))
    await until(file.exists)
    pid = await other.by_name["process"].run(work(executor_tools.process_id))
    await other.close(0)
    assert ended(pid)
    file.unlink()
    assert await call == "finished"


async def test_a_failure_to_start_processes_is_reported_and_retried(
    executors: Executors, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_pipe(*_: object) -> None:
        raise OSError(24, "Too many open files")

    broken = Executors(ExecutorsSettings(processes=1))
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr("pebble.pool.process.channels", no_pipe)
        patch.setattr("pressroom.pipeline.executors.process._START_PAUSES", (0.0,))
        with pytest.raises(InternalError):
            await broken.by_name["process"].run(work(executor_tools.echo))
        with pytest.raises(OSError, match="Too many open files"):
            await broken.ready()
    assert all("Too many open files" in entry["reason"] for entry in logs)
    assert "worker process lost" in [entry["event"] for entry in logs]
    assert await broken.by_name["process"].run(work(executor_tools.echo, text="again")) == "again"
    await broken.close(0)


async def test_calls_may_arrive_before_the_workers_are_ready() -> None:
    executors = Executors(ExecutorsSettings(processes=2))
    await executors.start()
    early = asyncio.create_task(executors.by_name["process"].run(work(executor_tools.echo, text="early")))
    await executors.ready()
    assert await early == "early"
    await executors.close(0)


def test_a_server_starts_one_worker_per_core_up_to_eight_by_default() -> None:
    executor = ProcessExecutor(0, 4, niceness=0, recycle_after=0)
    assert len(executor._workers) == min(8, usable_cores())


def test_backend_errors_survive_the_return_to_the_server() -> None:
    reply = child._refusal(BackendError("the store is away", hint="wait"))
    error = pickle.loads(reply.payload)
    assert (reply.kind, error.message, error.hint) == ("refused", "the store is away", "wait")
