"""Whether the account has some of its month's quota left."""

from __future__ import annotations

import asyncio

import structlog

from pressroom.errors import BackendError, CallError, Forbidden, NotFound, Overloaded, QuotaExceeded
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.pipeline.stages.cache import Cache
from pressroom.pipeline.stages.limit import Limit
from pressroom.sdk import McpTool, ToolResult

log = structlog.get_logger()


class Quota:
    """Counts an account's MCP call against the quota class of the tool. What comes from the cache is free.

    Counting takes long enough for an identical call to make the same result meanwhile, so the cache is asked again.
    Fails closed: a call that cannot be counted is refused.
    """

    name = "quota"

    def __init__(self, services: Services, cache: Cache, limit: Limit) -> None:
        self._quotas = services.quotas
        self._base_url = services.settings.public_url
        self._cache = cache
        self._limit = limit
        self._returns: set[asyncio.Task[None]] = set()

    async def __call__(self, exchange: Exchange) -> None:
        """Count the call. Raises `QuotaExceeded`, `Overloaded` or `Forbidden`."""
        subject, quota = exchange.known_caller.subject, exchange.known_tool.tool.quota
        if not quota or not subject or not exchange.by_mcp_name or exchange.cached or not _counts(exchange):
            return
        bound = exchange.known_tool.quota_limit
        # A task of its own: a call that is cancelled here must still learn whether it was counted, to give it back.
        exchange.quota_use = asyncio.create_task(self._quotas.take(subject, quota, bound))
        try:
            await asyncio.shield(exchange.quota_use)
        except QuotaExceeded:
            if not await self._repeats(exchange):
                raise
        except NotFound:
            # Authenticators of plugins know people who have no account here: there is nothing to count with.
            if bound is not None:
                raise Forbidden(f"the quota {quota} of this plan can be used with an account only") from None
        except BackendError as error:
            raise Overloaded("quotas cannot be counted at the moment; try again shortly") from error
        if await self._cache.look(exchange):
            await self._give_back(exchange)
            await self._limit.discount(exchange)

    async def _repeats(self, exchange: Exchange) -> bool:
        """Tell whether the call was made before. Its outcome is owed to a client that never learnt it."""
        declaration = exchange.known_tool.tool.declaration
        if not isinstance(declaration, McpTool) or declaration.repeats is None:
            return False
        try:
            return await declaration.repeats(exchange.known_params, exchange.call(self._base_url))
        except BackendError as error:
            raise Overloaded("earlier calls cannot be looked up at the moment; try again shortly") from error

    async def settle(self, exchange: Exchange) -> None:
        """Give back what a call took that was refused, or did nothing, even if the call is cancelled meanwhile."""
        idle = isinstance(exchange.result, ToolResult) and not exchange.result.counts
        if exchange.quota_use is None or not (exchange.error or idle):
            return
        task = asyncio.create_task(self._give_back(exchange))
        self._returns.add(task)
        task.add_done_callback(self._returns.discard)
        await asyncio.shield(task)

    async def _give_back(self, exchange: Exchange) -> None:
        use, exchange.quota_use = exchange.quota_use, None
        if use is None:
            return
        try:
            month = await use
        except (CallError, BackendError):
            return
        quota = exchange.known_tool.tool.quota
        try:
            await self._quotas.give_back(exchange.known_caller.subject, quota, month)
        except BackendError as error:
            log.warning("a quota could not be given back", quota=quota, error=error.message)


def _counts(exchange: Exchange) -> bool:
    declaration = exchange.known_tool.tool.declaration
    counts = declaration.counts if isinstance(declaration, McpTool) else None
    return counts is None or counts(exchange.known_params)
