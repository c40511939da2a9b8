"""How plugins work on untrusted input: in processes that can be limited and killed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

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
