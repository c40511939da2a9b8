"""Worker processes for plugin work outside tools: limits, and fairness between users."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.errors import CallTimeout, InternalError, InvalidInput, Overloaded
from pressroom.fetch.shares import Share
from pressroom.gate import PluginGate
from pressroom.pipeline.executors.workers import WorkerPool
from support.worker_functions import (
    doubled,
    endless,
    failing,
    large,
    leaving,
    loaded_by,
    noted,
    process_id,
    refused,
    until,
)

pytestmark = pytest.mark.services


@contextmanager
def released(path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        path.touch()


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    pool = WorkerPool(ExecutorsSettings(plugin_processes=2, niceness=0))
    try:
        yield pool
    finally:
        await pool.close()


async def test_a_function_runs_in_another_process(pool: WorkerPool) -> None:
    assert await pool.run(doubled, 21) == 42
    assert await pool.run(partial(doubled, number=4)) == 8
    assert await pool.run(process_id) != os.getpid()


FAILING_SETUP = ("acme", "support.worker_functions:failing")
HANGING_SETUP = ("acme", "support.worker_functions:endless")


async def test_plugin_modules_are_loaded_before_the_first_work() -> None:
    setup = (FAILING_SETUP, ("acme", "support.worker_functions:load"))
    pool = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0), setup=setup)
    try:
        pool.start()
        assert await pool.run(loaded_by) == [await pool.run(process_id)]
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("reference", "error"),
    [
        ("support.worker_functions:failing", "RuntimeError: no (worker_functions.py, line "),
        ("support.worker_functions:refused", "body: is too long (worker_functions.py, line "),
        ("support.worker_functions:leaving", "ProcessExit: it called os._exit(3) (worker_functions.py, line "),
        ("support.no_such_module:load", "ModuleNotFoundError: No module named 'support.no_such_module'"),
    ],
)
async def test_what_plugins_fail_to_load_is_reported_before_the_first_work(
    reference: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gate, failed = PluginGate(), asyncio.Event()
    gate.on_failure = failed.set
    settings = ExecutorsSettings(plugin_processes=1, niceness=0)
    pool = WorkerPool(settings, setup=(("acme", reference),), gate=gate)
    try:
        pool.start()
        async with asyncio.timeout(60):
            await failed.wait()
        assert await pool.run(doubled, 1) == 2
    finally:
        await pool.close()
    assert gate.failures == {("acme", "worker setup", "failed"): 1}
    failure = gate.latest["acme"]
    assert str(failure.call) == f"the worker setup {reference}"
    assert failure.error.startswith(error)
    assert "a plugin failed" in capsys.readouterr().out


async def test_a_setup_that_ends_its_process_is_blamed_for_the_work_that_is_lost() -> None:
    gate = PluginGate()
    setup = (("acme", "support.worker_functions:dying"),)
    pool = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0), setup=setup, gate=gate)
    try:
        with pytest.raises(InternalError):
            await pool.run(doubled, 1, seconds=0.1)
        assert gate.failures == {("acme", "worker setup", "failed"): 1}
        assert await pool.run(doubled, 1) == 2
    finally:
        await pool.close()


async def test_a_setup_that_hangs_is_interrupted_reported_and_not_run_again() -> None:
    gate, setup = PluginGate(), (HANGING_SETUP, ("acme", "support.worker_functions:load"))
    settings = ExecutorsSettings(plugin_processes=1, niceness=0, recycle_after=1)
    pool = WorkerPool(settings, setup=setup, gate=gate, setup_seconds=0.5)
    try:
        loaded = [await pool.run(loaded_by), await pool.run(loaded_by)]
    finally:
        await pool.close()
    assert [len(processes) for processes in loaded] == [1, 1]
    assert gate.failures == {("acme", "worker setup", "timeout"): 1}
    assert gate.latest["acme"].error == "it did not end within 0.5 s"


async def test_work_goes_to_the_most_recently_used_process(pool: WorkerPool) -> None:
    pool.start()
    assert len({await pool.run(process_id) for _ in range(5)}) == 1


async def test_a_deliberate_error_is_raised_unchanged(pool: WorkerPool) -> None:
    with pytest.raises(InvalidInput, match="body: is too long"):
        await pool.run(refused)


async def test_any_other_error_is_reported_only_in_the_log(
    pool: WorkerPool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InternalError, match="internal error") as caught:
        await pool.run(failing)
    assert "no" not in caught.value.message.split()
    assert "RuntimeError: no" in capsys.readouterr().out


async def test_work_that_takes_too_long_is_ended_and_the_next_served(pool: WorkerPool) -> None:
    with pytest.raises(CallTimeout, match=r"The page took longer than 0\.2 s to process"):
        await pool.run(endless, what="the page", seconds=0.2)
    assert await pool.run(doubled, 1) == 2


async def test_work_that_needs_too_much_memory_is_ended(pool: WorkerPool) -> None:
    with pytest.raises(InternalError, match="The image needs more than 64 MiB"):
        await pool.run(large, what="the image", memory_mib=64)
    assert await pool.run(doubled, 1) == 2


async def test_a_process_that_ends_affects_no_other_work(pool: WorkerPool) -> None:
    with pytest.raises(InternalError, match="internal error"):
        await pool.run(leaving)
    assert await pool.run(doubled, 1) == 2


async def test_one_owner_cannot_take_every_slot(pool: WorkerPool, tmp_path: Path) -> None:
    with released(tmp_path / "go"):
        tasks = [asyncio.create_task(pool.run(until, tmp_path / "go", owner="ann")) for _ in range(4)]
        assert await pool.run(doubled, 3, owner="bob") == 6
        assert not any(task.done() for task in tasks)
    assert await asyncio.gather(*tasks) == ["go"] * 4


async def test_work_of_a_call_or_job_belongs_to_its_owner(pool: WorkerPool, tmp_path: Path) -> None:
    with released(tmp_path / "go"):
        with Share("ann", "call"):
            tasks = [asyncio.create_task(pool.run(until, tmp_path / "go")) for _ in range(4)]
        assert await pool.run(doubled, 3) == 6
        assert not any(task.done() for task in tasks)
    await asyncio.gather(*tasks)


async def test_an_owner_with_too_much_work_is_refused(pool: WorkerPool, tmp_path: Path) -> None:
    with released(tmp_path / "go"):
        tasks = [asyncio.create_task(pool.run(until, tmp_path / "go", owner="ann")) for _ in range(16)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="Too much work of this caller is already waiting"):
            await pool.run(doubled, 1, owner="ann")
        assert await pool.run(doubled, 1, owner="bob") == 2
    await asyncio.gather(*tasks)


async def test_queued_work_is_dropped_when_its_caller_is_cancelled(pool: WorkerPool, tmp_path: Path) -> None:
    with released(tmp_path / "go"):
        first = asyncio.create_task(pool.run(until, tmp_path / "go", owner="ann"))
        waiting = asyncio.create_task(pool.run(noted, tmp_path / "notes", "waited", owner="ann"))
        assert await pool.run(doubled, 1, owner="bob") == 2
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert await first == "go"
    await pool.run(noted, tmp_path / "notes", "later", owner="ann")
    assert (tmp_path / "notes").read_text() == "later\n"


async def test_closing_ends_running_and_queued_work(tmp_path: Path) -> None:
    pool = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0))
    assert await pool.run(doubled, 1) == 2
    tasks = [asyncio.create_task(pool.run(until, tmp_path / "never", owner=name)) for name in ("ann", "bob")]
    await asyncio.sleep(0)
    await pool.close()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Overloaded, Overloaded]
    with pytest.raises(Overloaded, match="shutting down"):
        await pool.run(doubled, 1)
