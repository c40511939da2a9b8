"""Whose fault it is: a plugin calls what others contributed to its hooks, and the code of one of them fails.

A connector runs within a job of the content plugin. The host knows that it called that job, and the traceback knows
whose code it led to.
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
    """Where the code of the plugins is, and who contributes to whom.

    `packages` maps the top-level packages to the plugin that each belongs to. `contributors` maps a plugin to those
    that contribute to the hooks that it reads, or change its records with wrappers.
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
        """Return that of the active plugins.

        Args:
            modules: the module of each plugin, by its id. Code of a package that several share is nobody's.
            extensions: what others contributed to the hooks that each plugin offers, as pairs of plugin id and record.
            requires: the plugins that each one requires, whose hooks it reads besides its own.
            wrapped_by: the plugins whose wrappers changed what each one contributes.
        """
        tops = {id_: module.partition(".")[0] for id_, module in modules.items()}
        taken = Counter(tops.values())
        offering = {owner: {id_ for pairs in hooks.values() for id_, _ in pairs} for owner, hooks in extensions.items()}
        contributors = {}
        for id_ in modules:
            owners = {id_, *requires.get(id_, ())}
            # What a plugin requires is a library to it, which may contribute to its own hooks besides.
            contributors[id_] = frozenset().union(*(offering.get(owner, ()) for owner in owners)) - owners
            # A wrapper is called with the record that it is around, and calls it in turn.
            wrapped = {owner for owner, wrappers in wrapped_by.items() if id_ in wrappers}
            contributors[id_] |= wrapped_by.get(id_, frozenset()) | wrapped
        return cls({top: id_ for id_, top in tops.items() if taken[top] == 1}, contributors)

    def plugin_of(self, frame: FrameType) -> str:
        """Return the plugin whose code a frame runs, or an empty text."""
        return self.packages.get(str(frame.f_globals.get("__name__", "")).partition(".")[0], "")

    def culprit(self, called: str, frames: Iterable[FrameType]) -> str:
        """Return whose fault it is that a call into a plugin failed; `frames` lead to the failure, the outermost first.

        Whoever was called for its contribution answers for what it does, also where it then uses a library of another
        plugin. A plugin that only calls a library, such as the one it requires, answers for that itself.
        """
        culprit = before = called
        for plugin in filter(None, map(self.plugin_of, frames)):
            if plugin != before and plugin in self.contributors.get(before, ()):
                culprit = plugin
            before = plugin
        return culprit


def raised_in(error: BaseException) -> Iterator[FrameType]:
    """Yield the frames of an exception's traceback, the outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def awaited_by(awaitable: object) -> Iterator[FrameType]:
    """Yield the frames of a coroutine that waits, and of what it waits for, the outermost first.

    The host's `within` hides a link of the chain.
    """
    waiting: Any = awaitable
    while waiting is not None:
        frame = getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)
        if frame is not None:
            yield frame
        own = frame.f_locals.get("coroutine") if frame is not None and inspect.isgenerator(waiting) else None
        waiting = own or getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
