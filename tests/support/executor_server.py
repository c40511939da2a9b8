"""A minimal server, run as a program by the tests. The first argument names the function to run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable

from pressroom.config.models import ExecutorsSettings
from pressroom.errors import CallTimeout
from pressroom.pipeline.executors.executors import Executors
from pressroom.pipeline.executors.workers import WorkerPool

from support import executor_tools, slow_plugin

PATHS = sys.argv[2:]


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  # the test reads it


async def describe(executors: Executors) -> None:
    """Print the surroundings of a worker whose server is already listening."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        await executors.start()
        say(json.dumps(await executors.by_name["process"].run(executor_tools.work(executor_tools.surroundings))))


async def be_busy(executors: Executors) -> None:
    """Keep one worker busy in C, another in Python, and a third idle, until this process is killed."""
    await executors.start()
    await executors.ready()
    first = asyncio.create_task(
        executors.by_name["process"].run(executor_tools.work(executor_tools.loop_in_c, path=PATHS[0]))
    )
    second = asyncio.create_task(
        executors.by_name["process"].run(executor_tools.work(executor_tools.touch_and_wait, path=PATHS[1]))
    )
    third = await executors.by_name["process"].run(executor_tools.work(executor_tools.process_id))
    say(str(third))
    await asyncio.gather(first, second)


async def end_on_signal(executors: Executors) -> None:
    """Run one call, and finish it when a signal asks this process to end."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    await executors.start()
    call = asyncio.create_task(
        executors.by_name["process"].run(executor_tools.work(executor_tools.touch_and_wait, path=PATHS[0]))
    )
    await stopping.wait()
    closing = asyncio.create_task(executors.close(30))
    say("closing")
    say(await call)
    await closing


async def leave_a_thread(executors: Executors) -> None:
    """End while a thread is stuck."""
    try:
        await executors.by_name["thread"].run(executor_tools.work(executor_tools.loop_for_ever, timeout=0.05))
    except CallTimeout:
        say("timed out")


async def start_anyway(executors: Executors) -> None:
    """Run a call even though a module cannot be preloaded."""
    await executors.start()
    say(await executors.by_name["process"].run(executor_tools.work(executor_tools.echo, text="here")))


async def load_a_slow_plugin(executors: Executors) -> None:
    """Run a tool while the plugin processes are still importing a slow module."""
    os.environ["SLOW_PLUGIN"] = PATHS[0]
    open(PATHS[0], "w").close()  # noqa: ASYNC230, PTH123  # one empty file
    pool = WorkerPool(ExecutorsSettings(plugin_processes=2), preload=("support.slow_plugin",))
    pool.start()
    of_plugin = asyncio.create_task(pool.run(slow_plugin.loaded_by, seconds=60))
    await executors.start()
    say(await executors.by_name["process"].run(executor_tools.work(executor_tools.echo, text="the tool is done")))
    tool = await executors.by_name["process"].run(executor_tools.work(executor_tools.surroundings))
    say(f"the tool has the plugin's module: {'support.slow_plugin' in tool['modules']}")
    say(f"the plugin is done: {of_plugin.done()}")
    say(f"the plugin has its module by {await of_plugin}")
    await pool.close()


async def main(act: Callable[[Executors], Awaitable[None]]) -> None:
    preload = ("support.broken_plugin",) if act is start_anyway else ("support.executor_tools",)
    executors = Executors(ExecutorsSettings(processes=3), preload=preload)
    await act(executors)
    await executors.close(0)


if __name__ == "__main__":
    os.environ["EXECUTORS_SERVER"] = str(os.getpid())
    asyncio.run(main(globals()[sys.argv[1]]))
else:
    say("the main script was imported")
