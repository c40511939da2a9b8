"""Live previews of a generator's form, rendered without counting or storing anything.

Previews have their own budget and a few places in the executors, so that they never hold up real calls. Each client has
one preview running and at most one waiting; a newer one replaces the waiting one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from pressroom.config.values import parse_rate
from pressroom.errors import BackendError, NotFound, Overloaded
from pressroom.pipeline.chain import Pipeline
from pressroom.pipeline.context import CallRequest, IdentifiedCall, Services, ValidatedCall
from pressroom.pipeline.executors.process import default_processes
from pressroom.pipeline.stages.limit import limit_refusal
from pressroom.sdk import Artifact, Caller, LimitStatus
from pressroom.sdk.declaration import Params

MAX_WAITING: Final = 64
"""The maximum number of previews waiting in one process."""

MAX_PER_IP: Final = 6
"""The maximum number of previews running and waiting for one IP address, which several people may share."""

FETCHING_COST: Final = 10
"""How many previews count against the budget for one that made requests to other servers."""

SECOND_COST: Final = 4
"""How many more previews count for each second beyond the free ones."""

_FREE_SECONDS: Final = 5.0
_FREE_SECONDS_OF_FAILURES: Final = 0.5
_RETRY_SECONDS: Final = 2
_AS_IT_IS: Final = frozenset({"image/svg+xml"})

Client = tuple[str, str]
"""The client of a preview: an IP address, and the page that is open there."""

SERVER: Final = ""
"""Replaces the IP address for the server itself, which renders samples for its own pages."""


@dataclass(frozen=True, slots=True)
class PreviewImage:
    """A preview image of a generator's result. `whole` is true if it has all pixels of the result."""

    artifact: Artifact
    media_type: str
    content: bytes
    whole: bool


class PreviewQueue:
    """Lets `slots` previews render at once, at most one for each client, first come, first served."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._drawing: set[Client] = set()
        self._waiting: dict[Client, asyncio.Future[None]] = {}

    async def enter(self, client: Client) -> None:
        """Take a place, or wait for one. A caller that gets in must call `leave` once.

        Raises:
            Overloaded: too many previews are waiting, or a newer one of the same client has replaced this one.
        """
        older = self._waiting.get(client)
        if older is not None and not older.done():
            older.set_exception(Overloaded("a newer preview was asked for", retry_after=1))
        elif client[0] != SERVER:
            self._check_capacity(client[0])
        turn = asyncio.get_running_loop().create_future()
        # Assigning to an existing key keeps its position: a client that types on keeps its place in the queue.
        self._waiting[client] = turn
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave(client)
            elif self._waiting.get(client) is turn:
                del self._waiting[client]
            raise

    def leave(self, client: Client) -> None:
        """Give a place back."""
        self._drawing.discard(client)
        self._free += 1
        self._admit()

    def _check_capacity(self, client_ip: str) -> None:
        active = sum(client[0] == client_ip for client in (*self._waiting, *self._drawing))
        if active >= MAX_PER_IP or len(self._waiting) >= MAX_WAITING:
            raise Overloaded("too many previews are under way; try again in a moment", retry_after=_RETRY_SECONDS)

    def _admit(self) -> None:
        """Admit the next previews: people first, then the samples of the server's own pages."""
        for of_server in (False, True):
            for client, turn in list(self._waiting.items()):
                if not self._free:
                    return
                if (client[0] == SERVER) is of_server and client not in self._drawing:
                    del self._waiting[client]
                    if not turn.done():
                        self._free -= 1
                        self._drawing.add(client)
                        turn.set_result(None)


class Previews:
    """Renders previews for anonymous callers, and samples for the server's own pages."""

    def __init__(self, pipeline: Pipeline, services: Services) -> None:
        settings = services.settings
        self.rate = parse_rate(settings.previews.rate_limit)
        self._pipeline = pipeline
        self._limiter = services.limiter
        self._metrics = services.metrics
        self._refuse_on_outage = settings.limits.on_outage == "refuse"
        self._max_pixels = settings.previews.max_pixels
        processes = settings.executors.processes or default_processes()
        self._queue = PreviewQueue(settings.previews.slots or max(1, processes // 2))
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[PreviewImage]] = set()

    async def preview(self, call: ValidatedCall, page: str) -> tuple[PreviewImage, LimitStatus]:
        """Render a call that `Pipeline.check` returned, for the client's page `page`.

        Returns:
            The image, and the status of the client's budget.

        Raises:
            RateLimited: the client's budget is used up.
            Overloaded: too many previews are running, or a newer one of the same client has replaced this one.
            CallError: rendering failed.
        """
        client_ip = call.caller.client_ip
        call.params = _at_scale_one(call.params)
        status = await self._take(client_ip)
        return await self._draw((client_ip, page), call), status

    async def sample(self, slug: str, arguments: Mapping[str, Any]) -> PreviewImage:
        """Render a sample that the server knows in advance. It counts against no budget, and previews come first.

        Raises:
            CallError: rendering failed.
        """
        request = CallRequest(slug, dict(arguments), "sample", "http", "binary")
        call = await self._pipeline.check(IdentifiedCall(request, Caller("")))
        return await self._draw((SERVER, str(next(self._numbers))), call)

    async def budget(self, client_ip: str) -> LimitStatus:
        """Return the status of a client's budget."""
        try:
            return await self._limiter.peek(self.rate, _key(client_ip))
        except BackendError:
            return _unknown(self)

    async def charge(self, client_ip: str, previews: int) -> None:
        """Count other work of the server for a client's page as `previews` previews.

        Raises:
            RateLimited: the client's budget is used up.
            Overloaded: the budget cannot be counted, and the operator wants such requests refused.
        """
        await self._take(client_ip)
        for _ in range(previews - 1):
            await self._take(client_ip, refuse=False)

    async def _take(self, client_ip: str, *, refuse: bool = True) -> LimitStatus:
        try:
            status = await self._limiter.take(self.rate, _key(client_ip), 1.0)
        except BackendError as error:
            self._metrics.backend_failure("limits")
            if self._refuse_on_outage and refuse:
                raise Overloaded("previews cannot be counted at the moment; try again shortly") from error
            return _unknown(self)
        if refuse and not status.allowed:
            raise limit_refusal(self.rate, status)
        return status

    async def _draw(self, client: Client, call: ValidatedCall) -> PreviewImage:
        await self._queue.enter(client)
        task = asyncio.create_task(self._draw_and_charge(client[0], call))
        self._tasks.add(task)

        # Not before the run itself ends: a client that leaves early must not make room for another run.
        def leave(done: asyncio.Task[PreviewImage]) -> None:
            self._tasks.discard(done)
            self._queue.leave(client)
            if not done.cancelled():
                done.exception()

        task.add_done_callback(leave)
        return await asyncio.shield(task)

    async def _draw_and_charge(self, client_ip: str, call: ValidatedCall) -> PreviewImage:
        """Render and count the time that it took, even if it fails or the client has left."""
        began, free = time.monotonic(), _FREE_SECONDS_OF_FAILURES
        try:
            drawn = await self._drawn(call, self._max_pixels)
            free = _FREE_SECONDS
            return drawn
        finally:
            seconds = max(0.0, time.monotonic() - began - free)
            extra = int(seconds * SECOND_COST) + (FETCHING_COST - 1 if call.fetched else 0)
            for _ in range(extra if client_ip != SERVER else 0):
                await self._take(client_ip, refuse=False)

    async def _drawn(self, call: ValidatedCall, max_pixels: int) -> PreviewImage:
        artifact = await self._pipeline.draw(call)
        media_type, content = artifact.preview or (artifact.media_type, artifact.content)
        if not media_type.startswith("image/"):
            raise NotFound("there is no preview: this tool makes no images")
        smaller = None if media_type in _AS_IT_IS else await asyncio.to_thread(_smaller, content, max_pixels)
        if smaller is None:
            return PreviewImage(artifact, media_type, content, whole=artifact.preview is None)
        return PreviewImage(artifact, "image/webp", smaller, whole=False)


def _smaller(content: bytes, max_pixels: int) -> bytes | None:
    try:
        from pressroom.graphics.thumbnails import within_pixels  # noqa: PLC0415 - Pillow is an extra

        return within_pixels(content, max_pixels)
    except (ImportError, OSError):
        return None


def _at_scale_one(params: Params) -> Params:
    """Set a generator's `scale` to 1 if it is larger, for one pixel of the image per pixel on the page."""
    scale = getattr(params, "scale", None)
    if not isinstance(scale, int | float) or scale <= 1:
        return params
    return params.model_copy(update={"scale": type(scale)(1)})


def _key(client_ip: str) -> str:
    return f"previews\n{client_ip}"


def _unknown(previews: Previews) -> LimitStatus:
    requests = previews.rate.requests
    return LimitStatus(True, requests, requests, 0)
