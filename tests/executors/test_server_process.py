"""Server processes: which ones start, what workers inherit, and how they end with the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import support.executor_server
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.executor_tools import ended
from support.polling import until
from support.tool_hosts import tool_host

SCRIPT = Path(support.executor_server.__file__)
HIGHEST_NICENESS = 19
"""Reached if the tests themselves run under `nice`."""


@contextlib.asynccontextmanager
async def server(act: str, *paths: Path, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the miniature server in its own process group, and clean up all of its processes."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        SCRIPT,
        act,
        *paths,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parent.parent), **environment},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


def members(group: int) -> list[int]:
    """Return the IDs of a group's processes that have not ended."""
    pids = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            pids.append(int(entry.name))
    return pids


def outlives(pid: int, number: signal.Signals) -> bool:
    """Return whether a process ignores or handles a signal."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    masks = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigIgn", "SigCgt"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    return (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()


async def test_a_worker_is_nice_and_inherits_neither_sockets_nor_the_hosts_settings() -> None:
    async with server("describe", PRESSROOM_SECRET_KEY="hush", PLUGIN_TOKEN="needed") as process:
        worker = json.loads(await line(process))
        assert worker["process"] != process.pid
    assert worker["niceness"] == min(os.nice(0) + 10, HIGHEST_NICENESS)
    assert "PRESSROOM_SECRET_KEY" not in worker["environment"]
    assert worker["environment"]["PLUGIN_TOKEN"] == "needed"
    assert [name for name in worker["descriptors"] if name.startswith("socket:")] == []


async def test_a_worker_imports_neither_the_main_script_nor_server_modules() -> None:
    async with server("describe") as process:
        output, _ = await process.communicate()
    first, *more = output.decode().splitlines()
    assert more == []
    modules = json.loads(first)["modules"]
    assert "support.executor_tools" in modules
    for unwanted in (
        "support.executor_server",
        "sanic",
        "structlog",
        "pressroom.pipeline.executors.executors",
        "pressroom.config.models",
    ):
        assert unwanted not in modules


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_workers_end_with_their_server_however_it_ends(tmp_path: Path, number: signal.Signals) -> None:
    files = [tmp_path / "c", tmp_path / "python"]
    async with server("be_busy", *files) as process:
        idle = int(await line(process))
        await until(lambda: all(file.exists() and file.read_text() for file in files))
        workers = [idle, *(int(file.read_text()) for file in files)]
        assert not any(ended(pid) for pid in workers)
        process.send_signal(number)
        await process.wait()
        await until(lambda: all(ended(pid) for pid in workers))
        await until(lambda: not members(process.pid))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_to_the_process_group_lets_running_calls_finish(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "running"
    async with server("end_on_signal", file) as process:
        await until(file.exists)
        assert [pid for pid in members(process.pid) if not outlives(pid, number)] == []
        os.killpg(process.pid, number)
        assert await line(process) == "closing"
        file.unlink()
        assert await line(process) == "finished"
        assert await process.wait() == 0
        await until(lambda: not members(process.pid))


async def test_a_thread_that_never_returns_does_not_prevent_shutdown() -> None:
    async with server("leave_a_thread") as process:
        assert "tool timed out" in await line(process)  # a log line
        assert await line(process) == "timed out"
        assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_a_module_that_cannot_be_preloaded_does_not_prevent_worker_start() -> None:
    async with server("start_anyway") as process:
        output = await line(process)
        while output and output != "here":
            output = await line(process)
        assert output == "here"
        assert await process.wait() == 0


async def test_a_tool_does_not_wait_for_plugin_imports(tmp_path: Path) -> None:
    loading = tmp_path / "loading"
    async with server("load_a_slow_plugin", loading) as process:
        assert await line(process) == "the tool is done"
        assert await line(process) == "the tool has the plugin's module: False"
        assert await line(process) == "the plugin is done: False"
        loading.unlink()
        assert await line(process) == "the plugin has its module by fork"
        assert await process.wait() == 0


def test_a_host_without_tools_starts_no_tool_processes(tmp_path: Path) -> None:
    before = {process.pid for process in multiprocessing.active_children()}

    def started() -> set[int | None]:
        return {process.pid for process in multiprocessing.active_children()} - before

    without_tools = settings_for_test({"builtin_plugins": False}, tmp_path / "without tools")
    with RunningHost(without_tools), tool_host(tmp_path / "tools") as with_tools:
        # Its process starts last, so that those of the other host would be there as well.
        with_tools.run(until(lambda: bool(started())))
        assert len(started()) == 1
