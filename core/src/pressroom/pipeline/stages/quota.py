"""Monthly quotas of accounts."""

from __future__ import annotations

import asyncio
from functools import partial

import structlog

from pressroom.catalog.tool import PlanTool
from pressroom.errors import BackendError, CallError, Forbidden, NotFound, Overloaded, QuotaExceeded
from pressroom.pipeline.context import Interface, ResolvedCall, Services, ValidatedCall
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import McpTool, ToolResult

log = structlog.get_logger()


class Quota(CallStage[ValidatedCall, ValidatedCall]):
    """Counts an account's MCP call against the tool's quota class. A cache hit is free.

    A call that continues one that was cut off is free too, since the earlier call was counted.

    Fails closed: a call that cannot be counted is refused.
    """

    name = "quota"

    def __init__(self, services: Services) -> None:
        self._quotas = services.quotas
        self._base_url = services.settings.public_url
        self._returns: set[asyncio.Task[None]] = set()

    def applies(self, plan_tool: PlanTool, interface: Interface) -> bool:
        """Return whether the tool has a quota class and the call comes over MCP; HTTP calls are not counted."""
        return interface == "mcp" and bool(plan_tool.tool.quota)

    async def enter(self, call: ValidatedCall) -> ValidatedCall:
        """Count the call. Raises `QuotaExceeded`, `Overloaded` or `Forbidden`."""
        subject, quota = call.caller.subject, call.plan_tool.tool.quota
        resumed = call.repeatable is not None and call.repeatable.resumed
        if not subject or call.cached or resumed or not _counts(call):
            return call
        bound = call.plan_tool.quota_limit
        # A separate task: a call cancelled here must still find out whether it was counted, to give it back.
        call.quota_use = asyncio.create_task(self._quotas.take(subject, quota, bound))
        call.when_shared.append(partial(self._give_back, call))
        try:
            await asyncio.shield(call.quota_use)
        except QuotaExceeded:
            if not await self._is_already_counted(call):
                raise
        except NotFound:
            # Authenticators of plugins can identify users without an account here, for whom nothing can be counted.
            if bound is not None:
                raise Forbidden(f"the quota {quota} of this plan can be used with an account only") from None
        except BackendError as error:
            raise Overloaded("quotas are not available right now; try again shortly") from error
        return call

    async def undo(self, call: ResolvedCall, error: CallError | None) -> None:
        """Give back the quota of a call that was refused or did nothing, even if the call is cancelled meanwhile."""
        if not isinstance(call, ValidatedCall) or call.quota_use is None:
            return
        idle = isinstance(call.result, ToolResult) and not call.result.counts
        if error is None and not idle:
            return
        task = asyncio.create_task(self._give_back(call))
        self._returns.add(task)
        task.add_done_callback(self._returns.discard)
        await asyncio.shield(task)

    async def _is_already_counted(self, call: ValidatedCall) -> bool:
        """Return whether the call only continues work that an earlier call was counted for."""
        declaration = call.plan_tool.tool.declaration
        if not isinstance(declaration, McpTool) or declaration.counted_before is None:
            return False
        try:
            return await declaration.counted_before(call.params, call.for_tool(self._base_url))
        except BackendError as error:
            raise Overloaded("earlier calls cannot be looked up at the moment; try again shortly") from error

    async def _give_back(self, call: ValidatedCall) -> None:
        use, call.quota_use = call.quota_use, None
        if use is None:
            return
        try:
            month = await use
        except (CallError, BackendError):
            return
        quota = call.plan_tool.tool.quota
        try:
            await self._quotas.give_back(call.caller.subject, quota, month)
        except BackendError as error:
            log.warning("a quota could not be given back", quota=quota, error=error.message)


def _counts(call: ValidatedCall) -> bool:
    declaration = call.plan_tool.tool.declaration
    counts = declaration.counts if isinstance(declaration, McpTool) else None
    return counts is None or counts(call.params)
