"""Shutdown: in-flight calls finish, new ones are refused, and nothing is left behind."""

import asyncio
from pathlib import Path

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.errors import Overloaded
from pressroom.pipeline.executors.executors import Executors
from pressroom.sdk import ExecutorName
from support import executor_tools
from support.executor_tools import ended, work
from support.polling import until

BLOCKING: list[ExecutorName] = ["process", "thread"]


@pytest.mark.parametrize("executor", BLOCKING)
async def test_running_and_queued_calls_finish_and_new_ones_are_refused(
    executors: Executors, tmp_path: Path, executor: ExecutorName
) -> None:
    files = [tmp_path / str(number) for number in range(3)]
    calls = [
        asyncio.create_task(executors.by_name[executor].run(work(executor_tools.touch_and_wait, path=str(file))))
        for file in files
    ]
    await until(lambda: files[0].exists() and files[1].exists())
    closing = asyncio.create_task(executors.close(30))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded, match="shutting down"):
        await executors.by_name[executor].run(work(executor_tools.echo))
    for file in files:
        await until(file.exists)
        file.unlink()
    assert await asyncio.gather(*calls) == ["finished"] * 3
    await closing


async def test_calls_that_outlast_the_grace_period_are_cut_off(executors: Executors, tmp_path: Path) -> None:
    file = tmp_path / "running"
    stuck = [
        asyncio.create_task(executors.by_name["process"].run(work(executor_tools.touch_and_wait, path=str(file)))),
        asyncio.create_task(executors.by_name["process"].run(work(executor_tools.loop_in_c))),
        asyncio.create_task(executors.by_name["process"].run(work(executor_tools.echo))),
        asyncio.create_task(
            executors.by_name["thread"].run(work(executor_tools.touch_and_wait, path=str(tmp_path / "thread")))
        ),
        asyncio.create_task(executors.by_name["async"].run(work(executor_tools.wait_for_ever))),
    ]
    await until(lambda: file.exists() and bool(file.read_text()) and (tmp_path / "thread").exists())
    await executors.close(0.05)
    results = await asyncio.gather(*stuck, return_exceptions=True)
    assert [type(result) for result in results] == [Overloaded] * 5
    assert ended(int(file.read_text()))
    (tmp_path / "thread").unlink()


async def test_a_call_cancelled_before_its_first_step_reports_the_shutdown(executors: Executors) -> None:
    await executors.ready()
    call = asyncio.create_task(executors.by_name["process"].run(work(executor_tools.loop_for_ever)))
    await asyncio.sleep(0)
    await executors.close(0)
    with pytest.raises(Overloaded, match="shutting down"):
        await call


async def test_closing_twice_or_before_starting_is_not_an_error() -> None:
    executors = Executors(ExecutorsSettings(processes=1))
    await executors.close(0)
    await executors.close(0)
    with pytest.raises(Overloaded, match="shutting down"):
        await executors.by_name["process"].run(work(executor_tools.echo))


async def test_closing_while_the_workers_start_leaves_none_behind() -> None:
    executors = Executors(ExecutorsSettings(processes=2))
    await executors.start()
    openings = [worker.open() for worker in executors._process._workers]
    await executors.close(0)
    for opening in openings:
        assert not (await opening).active
