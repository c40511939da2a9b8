"""Functions on threads that never keep the server from ending."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from pressroom.gate.wording import one_line

T = TypeVar("T")


async def on_daemon_thread(name: str, function: Callable[..., T], *arguments: object) -> T:
    """Run a function on a thread of its own, with the caller's context variables, and return what it returns.

    The thread is a daemon: those of an executor are joined when the interpreter ends, which then waits for the one
    that never returns. It continues when the awaiting task is cancelled; its result is dropped then.

    Raises:
        Exception: whatever the function raises.
        RuntimeError: the function raised what means something else to an event loop, such as `SystemExit`.
    """
    loop = asyncio.get_running_loop()
    outcome: Future[T] = Future()
    over = asyncio.Event()
    context = contextvars.copy_context()

    def body() -> None:
        try:
            outcome.set_result(context.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001  # it is raised again below
            outcome.set_exception(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(over.set)

    threading.Thread(target=body, name=name, daemon=True).start()
    await over.wait()
    error = outcome.exception()
    if error is None or isinstance(error, Exception):
        return outcome.result()
    raise RuntimeError(f"the function raised {one_line(error)}") from error
