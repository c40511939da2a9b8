"""Code that runs inside a worker process.

Only bytes cross the process boundary, pickled by this module and its counterpart in the server: an object that cannot
be pickled or unpickled then fails one call instead of breaking the channel.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import multiprocessing
import os
import pickle
import resource
import select
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pressroom.errors import PressroomError
from pressroom.graphics.font_sources import use_font_folders
from pressroom.pipeline.executors.contributed import (
    ContributedFailure,
    SharedNote,
    WorkerSetup,
    contain,
    note_in,
    take_failures,
)
from pressroom.sdk import Generator, McpTool
from pressroom.sdk.services import contain_in_worker_with

_MIB = 1024 * 1024
_HOST_SETTINGS = "PRESSROOM_"


class Reply(NamedTuple):
    """A worker's reply.

    `payload` is a pickle of the result (`done`) or of the `PressroomError` that the tool raised (`refused`), and a
    UTF-8 traceback otherwise.
    """

    kind: Literal["done", "refused", "memory", "failed"]
    payload: bytes
    failures: tuple[ContributedFailure, ...] = ()
    """Failures of code that other plugins contributed to the function's plugin."""


def prepare(
    niceness: int,
    font_folders: tuple[Path, ...] = (),
    setup: WorkerSetup | None = None,
    note: SharedNote | None = None,
) -> None:
    """Set up a new worker process before its first call, with the fonts in the operator's folders.

    `setup` runs functions of plugins that load what calls need. If one fails, calls load what they need themselves,
    and the server reads the failure with `take_failures`.
    """
    # A handler rather than SIG_IGN, which subprocesses of a tool would inherit.
    signal.signal(signal.SIGTERM, lambda *_: None)
    os.nice(niceness)
    for name in [name for name in os.environ if name.startswith(_HOST_SETTINGS)]:
        del os.environ[name]
    # When the system runs out of memory, it should kill a worker rather than the server.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    use_font_folders(font_folders)
    if note is not None:
        note_in(note)
    contain_in_worker_with(contain)
    _die_with_server()
    if setup is not None:
        setup.run(resolve)


def execute(reference: str, arguments: bytes, memory_mib: int) -> Reply:
    """Run the function that `reference` points to.

    `arguments` is a pickle of the tuple of its arguments; for a tool, that is (params, call). Never raises, whatever
    the function does.
    """
    return _executed(reference, arguments, memory_mib)._replace(failures=take_failures())


def _executed(reference: str, arguments: bytes, memory_mib: int) -> Reply:
    try:
        function = resolve(reference)
        unpickled = pickle.loads(arguments)  # noqa: S301  # pickled by this server
        with memory_limit(memory_mib):
            return Reply("done", pickle.dumps(function(*unpickled), pickle.HIGHEST_PROTOCOL))
    except MemoryError:
        return Reply("memory", _traceback())
    except PressroomError as error:
        return _refusal(error)
    except BaseException:  # noqa: BLE001  # SystemExit, too, must not end the worker
        return Reply("failed", _traceback())


def applied(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function and return its result; see `pressroom.pipeline.executors.workers`."""
    return function(*arguments)


def resolve(reference: str) -> Callable[..., Any]:
    """Return the function that `package.module:name` refers to. For a declared tool, return the tool's function.

    Raises:
        ImportError: the module does not exist.
        AttributeError: the module has no such name.
    """
    module, _, path = reference.partition(":")
    target: Any = importlib.import_module(module)
    for name in path.split("."):
        target = getattr(target, name)
    return target.function if isinstance(target, Generator | McpTool) else target


@contextlib.contextmanager
def memory_limit(mib: int) -> Iterator[None]:
    """Limit this process to allocating `mib` MiB more than it has; beyond that, `MemoryError` is raised.

    The limit applies to address space (RLIMIT_AS), which includes mapped libraries. Only the soft limit is set, so
    that it can be lifted again. If the size of the process cannot be read (no `/proc`), there is no limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        yield
        return
    requested = pages * resource.getpagesize() + mib * _MIB
    limit = min(bound for bound in (requested, soft, hard) if bound != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _refusal(error: PressroomError) -> Reply:
    try:
        return Reply("refused", pickle.dumps(error, pickle.HIGHEST_PROTOCOL))
    except Exception:  # noqa: BLE001  # reported, with the error that could not be pickled as its context
        return Reply("failed", _traceback())


def _traceback() -> bytes:
    return traceback.format_exc().encode(errors="backslashreplace")


def _die_with_server() -> None:
    """Have the kernel kill this process when the server ends, even during a tool that never returns.

    The sentinel is a pipe whose other end only the server holds. When that end closes, the kernel sends a signal to
    the owner of the asynchronous descriptor (fcntl(2), F_SETSIG). Linux only; elsewhere a worker ends after its
    current call.
    """
    server = multiprocessing.parent_process()
    if server is None or not hasattr(fcntl, "F_SETSIG"):
        return
    sentinel = server.sentinel
    fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(sentinel, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([sentinel], [], [], 0)[0]:
        os.kill(os.getpid(), signal.SIGKILL)
