"""The walk of a request through the server: which of Pressroom's functions are called for it, in which order."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import groupby
from types import FrameType
from typing import Any, Final

from pressroom.http.responses import HandlerWrapper
from pressroom.testing import RunningHost

_FIRST: Final = (HandlerWrapper.__module__, f"{HandlerWrapper.wrap.__qualname__}.<locals>.wrapped")
"""Where the walk begins: the handler of a request."""

_SKIPPED_FLAGS: Final = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_COMPREHENSIONS: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_GENERATED: Final = "<string>"

_walking: ContextVar[bool] = ContextVar("walking", default=False)


@dataclass(slots=True)
class Walk:
    """The calls of Pressroom's functions in the order in which they began, each as (module, function).

    Generators, comprehensions and the methods that `dataclass` writes do not count, nor does a coroutine that
    continues. A hop is a call whose module is not the one of the call before it.
    """

    calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def modules(self) -> list[str]:
        """The modules, in the order in which the walk comes to them first."""
        return list(dict.fromkeys(module for module, _ in self.calls))

    @property
    def hops(self) -> int:
        """How often the walk goes on in another module."""
        return max(0, sum(1 for _ in groupby(module for module, _ in self.calls)) - 1)

    def report(self) -> str:
        """Return the figures, and a line for each stay in a module with the functions that are called there."""
        stays = (
            f"  {module}: {', '.join(name for _, name in calls)}"
            for module, calls in groupby(self.calls, key=lambda call: call[0])
        )
        return "\n".join([f"{len(self.calls)} calls, {len(self.modules)} modules, {self.hops} hops", *stays])


@contextmanager
def walked(host: RunningHost) -> Iterator[Walk]:
    """Record what the event loop of a host calls for the requests that are made inside the `with` statement.

    What runs beside them, such as background jobs, is left out, as are other threads and worker processes.
    """
    walk = Walk()
    # Frames are kept, so that one that continues is told from a new one at the same place in memory.
    seen: dict[int, FrameType] = {}

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call":
            return
        module, code = frame.f_globals.get("__name__", ""), frame.f_code
        if module.partition(".")[0].partition("_")[0] != "pressroom" or id(frame) in seen:
            return
        if (module, code.co_qualname) == _FIRST:
            # Tasks and callbacks inherit the context of whoever starts them, so this marks all that follows.
            _walking.set(True)
        if not _walking.get() or code.co_flags & _SKIPPED_FLAGS:
            return
        if code.co_name not in _COMPREHENSIONS and code.co_filename != _GENERATED:
            seen[id(frame)] = frame
            walk.calls.append((module, code.co_qualname))

    async def start() -> None:
        sys.setprofile(note)

    async def stop() -> None:
        sys.setprofile(None)

    host.run(start())
    try:
        yield walk
    finally:
        host.run(stop())
