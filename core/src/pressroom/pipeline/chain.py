"""The order of the pipeline's stages, and calls that the server makes to its own tools on behalf of plugins."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

import structlog

from pressroom.catalog.tool import PlanTool
from pressroom.errors import CallError, ClientLeft, InternalError
from pressroom.gate import PluginCall
from pressroom.gate.failures import one_line, raised_in
from pressroom.pipeline.context import (
    CallContext,
    CallRequest,
    IdentifiedCall,
    Interface,
    Outcome,
    ReceivedCall,
    RefusedCall,
    ResolvedCall,
    Services,
    ValidatedCall,
)
from pressroom.pipeline.stages.base import CallStage
from pressroom.pipeline.stages.cache import Cache, Join
from pressroom.pipeline.stages.checks import Admit, Authenticate, Authorize, Plan, Validate
from pressroom.pipeline.stages.limit import Limit
from pressroom.pipeline.stages.middleware import Middleware
from pressroom.pipeline.stages.observe import Observe
from pressroom.pipeline.stages.quota import Quota
from pressroom.pipeline.stages.repeat import Claim, Recall
from pressroom.pipeline.stages.respond import Respond
from pressroom.pipeline.stages.run import Run
from pressroom.sdk import Artifact, Caller, FileMissing, FileStore, McpTool
from pressroom.sdk.declaration import REQUEST_ID
from pressroom.storage.files.local import LocalFileStore

log = structlog.get_logger()

STAGES: Final[tuple[type[CallStage[Any, Any]], ...]] = (
    Admit,
    Authenticate,
    Plan,
    Authorize,
    Middleware,
    Validate,
    Recall,
    Cache,
    Limit,
    Claim,
    Quota,
    Join,
    Run,
    Respond,
    Observe,
)
"""The pipeline's stages, in the order in which a call passes through them.

Results of earlier calls and the cache are checked before the limit, since an existing result costs less. Every call
passes the last stage, refused or not.
"""

STAGE_NAMES: Final = tuple(stage.name for stage in STAGES)

_INTERNAL_CALLER: Final = Caller("")

_CUT_OFF_SECONDS: Final = 1.0
"""How long a cancelled call can take to settle its limit and quota, in seconds."""


@dataclass(frozen=True, slots=True)
class _ToolChain:
    """The stages that a tool's calls through one interface pass after `Plan` has resolved the tool.

    `internal` lists the stages of the server's own calls, `undoing` those that override `undo`, in reverse order.
    """

    stages: tuple[CallStage[Any, Any], ...]
    internal: tuple[CallStage[Any, Any], ...]
    undoing: tuple[CallStage[Any, Any], ...]


class Pipeline:
    """The stages of calls, compiled for one host: each tool of each plan gets only the stages that its calls need.

    Interfaces can use the first two stages without calling a tool: `admit` returns the anonymous caller behind a
    request, and `identify` returns the caller that a credential belongs to.
    """

    def __init__(self, services: Services) -> None:
        self._gate = services.gate
        self._single_flight = services.single_flight
        admit, authenticate, self._observe = Admit(services), Authenticate(services), Observe(services)
        self.admit, self.identify = admit.anonymous, authenticate.identify
        instances: dict[type[CallStage[Any, Any]], CallStage[Any, Any]] = {
            type(stage): stage for stage in (admit, authenticate, self._observe)
        }
        stages = tuple(instances.get(stage) or stage(services) for stage in STAGES)
        self._own = {type(stage): stage for stage in stages}
        self._run = next(stage for stage in stages if isinstance(stage, Run))
        identified, resolved = STAGES.index(Authenticate) + 1, STAGES.index(Plan) + 1
        self._from_received, self._from_identified = stages[:resolved], stages[identified:resolved]
        after_tool = stages[resolved:-1]
        # The catalog never changes, so the identity of an entry is a safe key.
        self._chains: Mapping[Interface, Mapping[int, _ToolChain]] = {
            interface: {
                id(entry): _chain(after_tool, entry, interface)
                for view in services.catalog.plans.values()
                for entry in (*view.tools.values(), *view.mcp_tools.values())
            }
            for interface in get_args(Interface)
        }
        self._repeatable = frozenset(
            name
            for name, tool in services.catalog.mcp_tools.items()
            if isinstance(tool.declaration, McpTool) and tool.declaration.repeatable
        )
        self._detached: set[asyncio.Task[Outcome]] = set()

    async def __call__(self, received: ReceivedCall | IdentifiedCall) -> Outcome:
        """Run one call and return its outcome. Only cancellation is raised.

        An interface that has already called `identify` passes an `IdentifiedCall`, which skips authentication. A
        refused call costs nothing, and its outcome still carries the status of its limit.

        A call with a `client_request_id` continues if the client disconnects, so that a retry gets its result.
        """
        if not self._may_be_repeated(received.request):
            return await self._pass(received)
        task = asyncio.create_task(self._pass(received))
        self._detached.add(task)
        task.add_done_callback(self._detached.discard)
        return await asyncio.shield(task)

    def _may_be_repeated(self, request: CallRequest) -> bool:
        if request.interface != "mcp" or request.tool_name not in self._repeatable:
            return False
        return isinstance(request.arguments, dict) and REQUEST_ID in request.arguments

    async def _pass(self, received: ReceivedCall | IdentifiedCall) -> Outcome:
        call: CallContext = received
        error: CallError | None = None
        try:
            for stage in self._from_identified if isinstance(call, IdentifiedCall) else self._from_received:
                call = await stage.enter(call)
            if isinstance(call, ResolvedCall):
                for stage in self._chains[call.request.interface][id(call.plan_tool)].stages:
                    call = await stage.enter(call)
        except asyncio.CancelledError:
            await self._conclude(call, ClientLeft("the client left before the response"))
            raise
        except CallError as refusal:
            error = refusal
        except GeneratorExit:
            raise
        except BaseException as failure:  # a plugin can raise anything, such as a panic of native code
            plugin = self._count(call, failure)
            log.exception("a call failed", **_about(call), **({"plugin": plugin} if plugin else {}))
            error = InternalError("internal error; quote the request ID to the operator")
        return await self._conclude(call, error)

    def _count(self, call: CallContext, failure: BaseException) -> str:
        """Count an exception for the plugin whose code raised it, such as a validator, and return the plugin's ID.

        Return an empty text if it is the server's own.
        """
        plugins = [self._gate.code.plugin_of(frame) for frame in raised_in(failure)]
        plugin = next(filter(None, reversed(plugins)), "")
        if plugin:
            self._gate.count(PluginCall(plugin, "tool", call.request.tool_name), "failed", one_line(failure))
        return plugin

    async def run_internally(
        self,
        tool_name: str,
        arguments: Mapping[str, Any],
        request_id: str,
        before_run: Callable[[], Awaitable[None]] | None = None,
    ) -> ValidatedCall:
        """Run a generator for the server itself and return the call, which has the file's bytes.

        No limit or quota applies, and no observer counts the call. Use it for content that the server knows in advance,
        such as a generator's examples. `before_run` is awaited if the file is not cached yet: it can wait, or refuse
        the call by raising.

        Raises:
            CallError: the call failed.
        """
        request = CallRequest(tool_name, dict(arguments), request_id, "http", "binary")
        call: CallContext = IdentifiedCall(request, _INTERNAL_CALLER)
        for stage in self._from_identified:
            call = await stage.enter(call)
        if isinstance(call, ResolvedCall):
            stages = self._chains["http"][id(call.plan_tool)].internal
            for stage in stages:
                if before_run is not None and stage.name == Run.name and not _validated(call).cached:
                    await before_run()
                    # Another call may have rendered the file in the meantime.
                    for cache in (cache for cache in stages if isinstance(cache, Cache)):
                        call = await cache.enter(_validated(call))
                call = await stage.enter(call)
        return _validated(call)

    async def check(self, received: ReceivedCall | IdentifiedCall) -> ValidatedCall:
        """Check that a call of a generator is allowed and valid, without running it.

        Credentials are ignored: a `ReceivedCall` is treated as anonymous. An `IdentifiedCall` comes from the server
        itself and skips the authorizers.

        Raises:
            CallError: the call is refused.
        """
        call: CallContext = received
        stages: tuple[type[CallStage[Any, Any]], ...] = (Plan, Validate)
        if isinstance(received, ReceivedCall):
            call = IdentifiedCall(received.request, self.admit(received.connection_ip, received.headers))
            stages = (Plan, Authorize, Validate)
        for stage in stages:
            call = await self._own[stage].enter(call)
        return _validated(call)

    async def draw(self, call: ValidatedCall) -> Artifact:
        """Run the generator of a call that `check` returned, without counting the call or storing the file.

        Raises:
            CallError: the call failed.
        """
        return await self._run.draw(call)

    async def settle(self, seconds: float) -> None:
        """Wait at most `seconds` in all for calls whose client has left, renders in flight and observers.

        Calls that have not ended by then are cancelled.
        """
        end = time.monotonic() + seconds
        if self._detached:
            _, pending = await asyncio.wait(set(self._detached), timeout=seconds)
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending, timeout=_CUT_OFF_SECONDS)
        await self._single_flight.settle(max(0, end - time.monotonic()))
        await self._observe.settle(max(0, end - time.monotonic()))

    async def _conclude(self, call: CallContext, error: CallError | None) -> Outcome:
        outcome = _validated(call) if error is None else RefusedCall(call, error)
        cancelled: asyncio.CancelledError | None = None
        if isinstance(call, ResolvedCall):
            for stage in self._chains[call.request.interface][id(call.plan_tool)].undoing:
                try:
                    await stage.undo(call, error)
                except asyncio.CancelledError as cancellation:
                    cancelled = cancellation  # the client has just left: the other stages settle the call all the same
                except Exception:
                    log.exception("a stage could not settle a call", stage=stage.name, **_about(call))
        outcome = await self._observe.enter(outcome)
        if cancelled is not None:
            raise cancelled
        return outcome


def _chain(stages: Sequence[CallStage[Any, Any]], plan_tool: PlanTool, interface: Interface) -> _ToolChain:
    applicable = tuple(stage for stage in stages if stage.applies(plan_tool, interface))
    return _ToolChain(
        stages=applicable,
        internal=tuple(stage for stage in applicable if stage.internal),
        undoing=tuple(stage for stage in reversed(applicable) if type(stage).undo is not CallStage.undo),
    )


def _validated(call: CallContext) -> ValidatedCall:
    if not isinstance(call, ValidatedCall):
        raise TypeError(f"the stages end with {type(call).__name__}")
    return call


def _about(call: CallContext) -> dict[str, str]:
    return {"tool": call.request.tool_name, "request_id": call.request.request_id}


class InternalCalls:
    """Implements `pressroom.sdk.Tools`; unusable until `begin` has been called."""

    def __init__(self) -> None:
        self._pipeline: Pipeline | None = None
        self._files: FileStore | None = None

    def begin(self, pipeline: Pipeline, files: FileStore) -> None:
        """Set the pipeline that makes the calls, and the store that files are read from."""
        self._pipeline, self._files = pipeline, files

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """See `pressroom.sdk.Tools`. Raises `RuntimeError` if the server is still starting."""
        if self._pipeline is None:
            raise RuntimeError("tools can be used once the server has started, such as in a call or a job")
        call = await self._pipeline.run_internally(slug, params, "internal-call")
        if call.file is None:
            raise InternalError(f"{slug} made no file")
        return call.content, call.file.entry.media_type

    async def read_file(self, url: str) -> bytes | None:
        """See `pressroom.sdk.Tools`."""
        if not isinstance(self._files, LocalFileStore):
            return None
        key = self._files.key_of(url)
        if key is None:
            return None
        try:
            return await self._files.read(key)
        except FileMissing:
            return None
