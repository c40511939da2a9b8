"""Tools for the tests of the executors: one that works, and one for every way to misbehave."""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pressroom.errors import InvalidInput, PressroomError
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.sdk import Artifact, Call, Caller, Generator, Integer, Params, generator, per_hour

Tool = Callable[..., Any]
REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("REQUEST", default="none")


class ToolParams(Params):
    """Parameters of the tools below; each uses a subset."""

    text: str = ""
    number: Integer = 0
    path: str = ""


class ClientMistake(PressroomError):
    """A plugin-defined error that cannot be pickled."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.lock = threading.Lock()


class OneWayError(Exception):
    """An exception that can be pickled, but not unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


class OneWayResult:
    """A result that can be pickled, but not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return explode, ("while it was read back",)


class ExplosiveResult:
    """A result that raises while it is pickled."""

    def __reduce__(self) -> NoReturn:
        raise KeyError("while it was pickled")


class Unsendable:
    """A plugin configuration that cannot be pickled."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("it stays here")


def work(
    tool: Tool | Generator, *, timeout: float = 30, memory_mib: int = 512, config: Any = None, **params: Any
) -> ExecutionRequest:
    """Return the request to run one of the tools below."""
    function = tool.function if isinstance(tool, Generator) else tool
    call = Call(function.__name__, "req-1", Caller("192.0.2.1"), "https://example.com", timeout, config)
    reference = f"{__name__}:{function.__name__}"
    return ExecutionRequest(reference, function, ToolParams(**params), call, timeout, memory_mib)


def assert_timeout_is_logged(logs: Sequence[Mapping[str, Any]], executor: str, seconds: float) -> None:
    """Check that the log has exactly one line, which reports the tool's timeout with executor and request id."""
    (line,) = logs
    assert (line["event"], line["log_level"], line["executor"]) == ("tool timed out", "warning", executor)
    assert (line["plugin"], line["request_id"], line["seconds"]) == ("", "req-1", seconds)
    assert line["tool"]


def ended(pid: int) -> bool:
    """Return whether a process is gone or is a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def explode(message: str) -> NoReturn:
    raise LookupError(message)


def echo(params: ToolParams, call: Call) -> str:
    return params.text


def process_id(params: ToolParams, call: Call) -> int:
    return os.getpid()


@generator(slug="shout", name="Shout", summary="Text in capitals.", rate_limit=per_hour(60), produces=("text/plain",))
def shout(params: ToolParams, call: Call) -> Artifact:
    return Artifact(params.text.upper().encode(), "text/plain")


def surroundings(params: ToolParams, call: Call) -> dict[str, Any]:
    """Return a description of the process that the tool runs in."""
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(descriptor.readlink()))
        except OSError:
            continue  # the one that listed the folder
    return {
        "process": os.getpid(),
        "niceness": os.nice(0),
        "environment": dict(os.environ),
        "modules": sorted(sys.modules),
        "descriptors": links,
    }


def burn(params: ToolParams, call: Call) -> str:
    """Use `number` milliseconds of CPU time, regardless of the core's speed and load."""
    end = time.thread_time() + params.number / 1000
    while time.thread_time() < end:
        sum(range(1000))
    return "done"


def touch_and_wait(params: ToolParams, call: Call) -> str:
    """Create the file `path` to signal the start, and return once the file is deleted."""
    path = Path(params.path)
    path.write_text(str(os.getpid()))
    while path.exists():
        time.sleep(0.005)
    return "finished"


def wait_and_fail(params: ToolParams, call: Call) -> NoReturn:
    touch_and_wait(params, call)
    raise ValueError("too late")


def raise_odd_things(params: ToolParams, call: Call) -> NoReturn:
    """Raise an exception with a special meaning to event loops."""
    raise asyncio.CancelledError("secret")


def name_its_thread(params: ToolParams, call: Call) -> tuple[int, str]:
    """Return the id and name of the thread that it runs on."""
    return threading.get_ident(), threading.current_thread().name


def request_in_context(params: ToolParams, call: Call) -> str:
    return REQUEST.get()


def allocate(params: ToolParams, call: Call) -> int:
    """Allocate `number` MiB, and return the number of bytes."""
    return len(bytearray(params.number * 1024 * 1024))


def eat_memory(params: ToolParams, call: Call) -> NoReturn:
    hoard = []
    while True:
        hoard.append("x" * 1_000_000)


def loop_for_ever(params: ToolParams, call: Call) -> NoReturn:
    while True:
        pass


def stop_itself(params: ToolParams, call: Call) -> None:
    """Suspend the process with SIGSTOP, so that it neither works nor ends."""
    os.kill(os.getpid(), signal.SIGSTOP)


def loop_in_c(params: ToolParams, call: Call) -> None:
    """Never return to the interpreter: no Python signal handler or other thread can run."""
    if params.path:
        Path(params.path).write_text(str(os.getpid()))
    re.match(r"(a+)+$", "a" * 60 + "b")


def loop_deaf(params: ToolParams, call: Call) -> NoReturn:
    """Loop for ever, ignoring every signal that can be ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGIO):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def kill_itself(params: ToolParams, call: Call) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exit_at_once(params: ToolParams, call: Call) -> NoReturn:
    os._exit(params.number)


def exit_politely(params: ToolParams, call: Call) -> NoReturn:
    sys.exit(params.number)


def segfault(params: ToolParams, call: Call) -> None:
    ctypes.string_at(0)


def refuse(params: ToolParams, call: Call) -> NoReturn:
    raise InvalidInput("text", "must not be empty")


def refuse_unpicklably(params: ToolParams, call: Call) -> NoReturn:
    raise ClientMistake("secret path /srv/private")


def fail(params: ToolParams, call: Call) -> NoReturn:
    raise ValueError("secret path /srv/private")


def fail_with_a_lock(params: ToolParams, call: Call) -> NoReturn:
    raise ValueError("secret path /srv/private", threading.Lock())


def fail_one_way(params: ToolParams, call: Call) -> NoReturn:
    raise OneWayError("secret path", "/srv/private")


def return_a_lock(params: ToolParams, call: Call) -> object:
    return threading.Lock()


def return_a_local_class(params: ToolParams, call: Call) -> object:
    class Local: ...

    return Local()


def return_one_way(params: ToolParams, call: Call) -> object:
    return OneWayResult()


def return_explosive(params: ToolParams, call: Call) -> object:
    return ExplosiveResult()


def return_much(params: ToolParams, call: Call) -> bytes:
    return os.urandom(params.number)


async def echo_soon(params: ToolParams, call: Call) -> str:
    await asyncio.sleep(0)
    return params.text


async def wait_for_ever(params: ToolParams, call: Call) -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


async def cancel_itself(params: ToolParams, call: Call) -> NoReturn:
    raise asyncio.CancelledError


async def exit_from_coroutine(params: ToolParams, call: Call) -> NoReturn:
    raise SystemExit(3)


async def time_out_inside(params: ToolParams, call: Call) -> None:
    async with asyncio.timeout(0):
        await asyncio.sleep(60)


async def refuse_soon(params: ToolParams, call: Call) -> NoReturn:
    raise InvalidInput("text", "must not be empty")
