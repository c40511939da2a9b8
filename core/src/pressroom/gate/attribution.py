"""Attribution of failures when a plugin calls code that other plugins contributed to its hooks.

For example, a connector runs within a job of the content plugin. The host knows that it called that job, and the
traceback shows whose code failed.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class PluginCode:
    """Maps code to plugins, and plugins to their contributors.

    `packages` maps each top-level package to the plugin that owns it. `contributors` maps a plugin to the plugins that
    contribute to the hooks that it reads, or that are connected to it by a wrapper, in either direction.
    """

    packages: Mapping[str, str] = field(default_factory=dict)
    contributors: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        modules: Mapping[str, str],
        extensions: Mapping[str, Mapping[str, Iterable[tuple[str, Any]]]],
        requires: Mapping[str, Iterable[str]],
        wrapped_by: Mapping[str, frozenset[str]],
    ) -> Self:
        """Return the mapping for the active plugins.

        Args:
            modules: The module of each plugin, by plugin ID. A package shared by several plugins is attributed to none.
            extensions: Contributions to the hooks that each plugin offers, as pairs of plugin ID and record.
            requires: The plugins that each plugin requires, whose hooks it reads besides its own.
            wrapped_by: The plugins whose wrappers changed the contributions of each plugin.
        """
        tops = {id_: module.partition(".")[0] for id_, module in modules.items()}
        taken = Counter(tops.values())
        offering = {owner: {id_ for pairs in hooks.values() for id_, _ in pairs} for owner, hooks in extensions.items()}
        contributors = {}
        for id_ in modules:
            owners = {id_, *requires.get(id_, ())}
            # To a plugin, the plugins that it requires are libraries, even if they contribute to their own hooks.
            contributors[id_] = frozenset().union(*(offering.get(owner, ()) for owner in owners)) - owners
            # A wrapper receives the record that it wraps, and calls it in turn.
            wrapped = {owner for owner, wrappers in wrapped_by.items() if id_ in wrappers}
            contributors[id_] |= wrapped_by.get(id_, frozenset()) | wrapped
        return cls({top: id_ for id_, top in tops.items() if taken[top] == 1}, contributors)

    def plugin_of(self, frame: FrameType) -> str:
        """Return the plugin whose code a frame runs, or an empty string."""
        return self.packages.get(str(frame.f_globals.get("__name__", "")).partition(".")[0], "")

    def culprit(self, called: str, frames: Iterable[FrameType]) -> str:
        """Return the plugin responsible for a failed call; `frames` lead to the failure, outermost first.

        A plugin called for its contribution is responsible for what it does, even if it uses a library of another
        plugin. A plugin that merely calls a library, such as the one it requires, stays responsible itself.
        """
        culprit = before = called
        for plugin in filter(None, map(self.plugin_of, frames)):
            if plugin != before and plugin in self.contributors.get(before, ()):
                culprit = plugin
            before = plugin
        return culprit


def raised_in(error: BaseException) -> Iterator[FrameType]:
    """Yield the frames of an exception's traceback, outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def awaited_by(awaitable: object) -> Iterator[FrameType]:
    """Yield the frames of a suspended coroutine and of everything it awaits, outermost first.

    The host's `within` hides one link of the await chain, which is followed through its local variable.
    """
    waiting: Any = awaitable
    while waiting is not None:
        frame = getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)
        if frame is not None:
            yield frame
        own = frame.f_locals.get("coroutine") if frame is not None and inspect.isgenerator(waiting) else None
        waiting = own or getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
