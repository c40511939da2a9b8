"""What the stages work with, and renders that identical calls share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from pressroom.accounts.client_requests import ClientRequests
from pressroom.accounts.quotas import Quotas
from pressroom.catalog.tool import Catalog
from pressroom.config.models import Settings
from pressroom.gate import PluginGate
from pressroom.observability.metrics import Metrics
from pressroom.pipeline.context import RenderedFile
from pressroom.pipeline.executors import Executors
from pressroom.plugins.contributions import Contribution
from pressroom.sdk import Authenticator, Authorizer, CacheIndex, CallMiddleware, FileStore, Limiter, Observer


class SingleFlight:
    """The renders in flight, by content id.

    A render continues when the call that began it is cancelled, since others may be waiting for it, and since its
    result is worth keeping.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[RenderedFile]] = {}
        self._alone: set[asyncio.Task[RenderedFile]] = set()

    def current(self, content_id: str) -> asyncio.Task[RenderedFile] | None:
        """Return the render of that content, if one is in flight."""
        return self._tasks.get(content_id)

    def start(self, content_id: str, render: Coroutine[Any, Any, RenderedFile]) -> asyncio.Task[RenderedFile]:
        """Begin a render that later calls can join."""
        task = asyncio.get_running_loop().create_task(render)
        self._tasks[content_id] = task
        task.add_done_callback(lambda done: self._forget(content_id, done))
        return task

    def start_alone(self, render: Coroutine[Any, Any, RenderedFile]) -> asyncio.Task[RenderedFile]:
        """Begin a render that nobody can join, and which like the others continues when its caller leaves."""
        task = asyncio.get_running_loop().create_task(render)
        self._alone.add(task)
        task.add_done_callback(self._forget_alone)
        return task

    async def settle(self, seconds: float) -> None:
        """Wait at most this long until every render in flight has ended, successfully or not."""
        if in_flight := {*self._tasks.values(), *self._alone}:
            await asyncio.wait(in_flight, timeout=seconds)

    def _forget_alone(self, task: asyncio.Task[RenderedFile]) -> None:
        self._alone.discard(task)
        if not task.cancelled():
            task.exception()

    def _forget(self, content_id: str, task: asyncio.Task[RenderedFile]) -> None:
        if self._tasks.get(content_id) is task:
            del self._tasks[content_id]
        if not task.cancelled():
            task.exception()  # marks it as seen: every call that waited may have gone


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of a running host, as the pipeline's stages see them."""

    settings: Settings
    catalog: Catalog
    authenticators: tuple[Authenticator, ...]
    authorizers: tuple[Authorizer, ...]
    observers: tuple[Observer, ...]
    brand: Mapping[str, Any]
    files: FileStore
    cache: CacheIndex
    limiter: Limiter
    executors: Executors
    metrics: Metrics
    quotas: Quotas
    client_requests: ClientRequests
    gate: PluginGate
    middleware: tuple[Contribution[CallMiddleware], ...] = ()
    single_flight: SingleFlight = field(default_factory=SingleFlight)
