"""How plugins work on untrusted input: in processes that can be limited and killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar, runtime_checkable

from pressroom.errors import PluginError, PressroomError

T = TypeVar("T")


@runtime_checkable
class Workers(Protocol):
    """Worker processes for texts, pages, images and other files of people.

    Do not process them on a thread: one regular expression or parser that does not return keeps the whole server
    waiting, and nothing can end it. A worker process is ended, and replaced.
    """

    async def run(
        self,
        function: Callable[..., T],
        *arguments: Any,
        owner: str = "",
        what: str = "it",
        seconds: float = 20.0,
        memory_mib: int = 512,
    ) -> T:
        """Run a function in a worker process, and return what it returned.

        Args:
            function: one that a module has by its name, or a `functools.partial` of one; it is imported there.
            arguments: what it is called with. They, and what it returns, are pickled.
            owner: who the work is for, such as an account's id; empty means the one whose call or job this is, if it
                is anybody's. No owner holds all places.
            what: what is worked on, in words for messages, such as `the article`.
            seconds: how long it may take, from 0, once its turn has come.
            memory_mib: how much memory it may allocate, in MiB.

        Raises:
            Overloaded: too much work waits already, or the server shuts down.
            CallTimeout: it took longer, and was ended.
            PressroomError: whatever of this tree the function raised, as it was.
            InternalError: it needed more memory, ended its process, or raised anything else. The log has the reason.
        """


def calling_in_worker(plugin: str, what: str, *, seconds: float = 10.0) -> AbstractContextManager[None]:
    """Contain what others contributed, while a function in a worker process calls it in a `with` block.

    It is `Extensions.calling` for functions that `Workers.run` runs: there is no `PluginContext`. Errors of Pressroom's
    own kinds come through. Whatever else is raised, also `SystemExit`, and a call that takes too long, is counted and
    logged by the server as a failure of the plugin, and comes out as `PluginError`. Where the process has to be killed,
    or dies, the plugin is named as well, and the error of `Workers.run` has a `PluginError` as its `__cause__`.

    In the server's own process it contains what is raised, without a bound on time, and counts nothing.

    Args:
        plugin: the id of the plugin that contributed it, as `Extensions.of` gives it.
        what: what is called, for the log and for `pressroom plugins list`, such as `stemmer eo`.
        seconds: how long the block may take.
    """
    return _contain(plugin, what, seconds)


@contextmanager
def _contain_here(_plugin: str, what: str, _seconds: float) -> Iterator[None]:
    try:
        yield
    except PressroomError:
        raise
    except Exception as error:
        raise PluginError(f"{what} failed: {type(error).__name__}: {error}") from error


_contain: Callable[[str, str, float], AbstractContextManager[None]] = _contain_here


def contain_in_worker_with(contain: Callable[[str, str, float], AbstractContextManager[None]]) -> None:
    """Have `calling_in_worker` use this function; worker processes do so."""
    global _contain  # noqa: PLW0603 - one for the whole process
    _contain = contain
