"""What happens inside a worker process.

Everything that crosses the process boundary is bytes that this module and its counterpart pickle themselves: an
object that cannot be pickled, or not be read back, then fails one call and not the channel.
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

    `payload` is a pickle of the result (`done`) or of the error that the tool raised on purpose (`refused`), and a
    traceback in UTF-8 otherwise.
    """

    kind: Literal["done", "refused", "memory", "failed"]
    payload: bytes
    failures: tuple[ContributedFailure, ...] = ()
    """What failed of what others contributed to the plugin whose function it was."""


def prepare(
    niceness: int,
    font_folders: tuple[Path, ...] = (),
    setup: tuple[str, ...] = (),
    note: SharedNote | None = None,
) -> None:
    """Set a new worker process up, before its first call. It draws with the fonts of the operator's folders.

    `setup` names functions of plugins that load what calls need. One that fails is named in the log of the server, and
    calls load it themselves.
    """
    # A handler and not SIG_IGN, which programs that a tool starts would inherit.
    signal.signal(signal.SIGTERM, lambda *_: None)
    os.nice(niceness)
    for name in [name for name in os.environ if name.startswith(_HOST_SETTINGS)]:
        del os.environ[name]
    # Where the system runs out of memory, it should end a worker rather than the server.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    use_font_folders(font_folders)
    if note is not None:
        note_in(note)
    contain_in_worker_with(contain)
    _die_with_server()
    for reference in setup:
        try:
            resolve(reference)()
        except BaseException:  # noqa: BLE001  # it is a plugin's
            traceback.print_exc()


def execute(reference: str, arguments: bytes, memory_mib: int) -> Reply:
    """Run the function that `reference` names.

    `arguments` is a pickle of the tuple of its arguments; for a tool, that is (params, call). Nothing is raised,
    whatever the function does.
    """
    return _executed(reference, arguments, memory_mib)._replace(failures=take_failures())


def _executed(reference: str, arguments: bytes, memory_mib: int) -> Reply:
    try:
        function = resolve(reference)
        given = pickle.loads(arguments)  # noqa: S301  # pickled by this server
        with memory_limit(memory_mib):
            return Reply("done", pickle.dumps(function(*given), pickle.HIGHEST_PROTOCOL))
    except MemoryError:
        return Reply("memory", _traceback())
    except PressroomError as error:
        return _refusal(error)
    except BaseException:  # noqa: BLE001  # SystemExit, too, must not end the worker
        return Reply("failed", _traceback())


def applied(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what a function returns; see `pressroom.pipeline.executors.workers`."""
    return function(*arguments)


def resolve(reference: str) -> Callable[..., Any]:
    """Return the function that `package.module:name` refers to: the function itself, or that of a declared tool.

    Raises:
        ImportError: there is no such module.
        AttributeError: the module has no such name.
    """
    module, _, path = reference.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found.function if isinstance(found, Generator | McpTool) else found


@contextlib.contextmanager
def memory_limit(mib: int) -> Iterator[None]:
    """Bound what this process may allocate to `mib` MiB on top of what it has; more raises `MemoryError`.

    The bound is on address space (RLIMIT_AS), which mapped libraries count towards as well. It is the soft limit
    only, so that it can be lifted again. Where the size of the process cannot be read (no `/proc`) there is no bound.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        yield
        return
    wanted = pages * resource.getpagesize() + mib * _MIB
    limit = min(bound for bound in (wanted, soft, hard) if bound != resource.RLIM_INFINITY)
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
    """Have the kernel kill this process when the server ends, even in the midst of a tool that never returns.

    The sentinel is a pipe whose other end only the server holds: when that closes, an asynchronous descriptor sends
    its owner a signal (fcntl(2), F_SETSIG). It is Linux only; elsewhere a worker ends after the call it is busy with.
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
