"""Comparing a post of a site with what is known of it, so that a long one keeps nobody else waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from pressroom.sdk import PluginContext

from pressroom_content.contract import Post, RemotePost, work_beside

T = TypeVar("T")

_LONG: Final = 50_000
"""Characters of a body from which on it is not compared on the event loop."""


async def compared(plugin: PluginContext, function: Callable[..., T], *arguments: Any) -> T:
    """Return what a function of `comparing` makes of posts; those with a long body are sent to a worker process.

    Raises:
        SiteRefused: it takes too long, or too much memory.
        SiteUnavailable: too much work waits at the moment.
    """
    if not any(isinstance(one, Post | RemotePost) and len(one.html) > _LONG for one in arguments):
        return function(*arguments)
    return await work_beside(plugin.services.workers, function, *map(_as_compared, arguments))


def _as_compared(argument: Any) -> Any:
    """Return a post without the forms of its body that are not compared."""
    if isinstance(argument, RemotePost):
        return replace(argument, raw="")
    return replace(argument, raw="", markdown="") if isinstance(argument, Post) else argument
