"""Look results up in the store and among the renders in flight."""

from __future__ import annotations

from pressroom.catalog.tool import PlanTool
from pressroom.errors import BackendError, FileMissing, Unavailable
from pressroom.pipeline.context import Interface, RenderedFile, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage


class _ResultStage(CallStage[ValidatedCall, ValidatedCall]):
    """A stage that looks up results of tools that are cached."""

    def __init__(self, services: Services) -> None:
        self._index = services.cache
        self._files = services.files
        self._joinable = services.single_flight.joinable
        self._metrics = services.metrics

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether the plan caches the tool's results."""
        del interface
        return plan_tool.cache.seconds > 0

    async def _look_up(self, call: ValidatedCall) -> None:
        """Set `file` if the file is in the store, or `render` if it is being rendered.

        A file that has vanished is a cache miss, and so is a failing index. While the store is unavailable, a file in
        the index is assumed to exist if only its URL is wanted.
        """
        call.file = await self._stored(call)
        if call.file is None:
            call.render = self._joinable.get(call.content_id)
        call.cached = call.file is not None or call.render is not None

    async def _stored(self, call: ValidatedCall) -> RenderedFile | None:
        binary = call.request.delivery == "binary"
        try:
            entry = await self._index.get(call.content_id)
        except BackendError:
            self._metrics.backend_failure("cache")
            return None
        if entry is None:
            return None
        try:
            if binary:
                return RenderedFile(entry, await self._files.read(entry.key))
            if await self._files.has(entry.key):
                return RenderedFile(entry)
        except FileMissing:
            pass
        except BackendError as error:
            self._metrics.backend_failure("files")
            if isinstance(error, Unavailable) and not binary:
                return RenderedFile(entry)  # it was stored, and a URL is signed without asking the store
        return None


class Cache(_ResultStage):
    """Looks up the content in the index and among the renders in flight."""

    name = "cache"
    internal = True

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Set `file` if the file is in the store, or `render` if it is being rendered, and count the hit or miss."""
        await self._look_up(call)
        self._metrics.cache(call.plan_tool.tool.name, hit=call.cached)
        return call


class Join(_ResultStage):
    """Joins a render of the same content that began while the call was being counted, like a cache hit.

    Such a render can end while a quota is being counted, so the index is checked again after that.
    """

    name = "join"

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Set `render` or `file` if available by now, and have the previous stages give back their counts."""
        if call.cached:
            return call
        if call.quota_use is not None:
            await self._look_up(call)
        else:
            call.render = self._joinable.get(call.content_id)
            call.cached = call.render is not None
        if call.cached:
            for give_back in reversed(call.when_shared):
                await give_back()
        return call
