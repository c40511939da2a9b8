"""The state of one call on its way through the stages: each type adds what the previous stages found.

`ReceivedCall` → `AdmittedCall` → `IdentifiedCall` → `ResolvedCall` → `ValidatedCall`; any of them can turn into a
`RefusedCall`. `Services` holds the services that the stages use.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from pressroom.accounts.client_requests import ClientRequests, RequestKey
from pressroom.accounts.quotas import Quotas
from pressroom.catalog.tool import Catalog, PlanTool
from pressroom.config.models import Settings
from pressroom.errors import CallError
from pressroom.gate import PluginGate
from pressroom.observability.metrics import Metrics
from pressroom.pipeline.executors import Executors
from pressroom.plugins.contributions import Contribution
from pressroom.sdk import (
    Authenticator,
    Authorizer,
    CacheEntry,
    CacheIndex,
    Call,
    Caller,
    CallMiddleware,
    CallRecord,
    ContentBlock,
    FileStore,
    Limiter,
    LimitStatus,
    Observer,
    Params,
    ToolResult,
)
from pressroom.validation.client_ip import Headers

Delivery = Literal["url", "binary"]
"""How the caller wants a file: as a URL, or as bytes."""

Interface = Literal["http", "mcp"]
"""The origin of a call: the Tools API, which uses tool slugs, or MCP, which uses MCP names."""

EnteredMiddleware = tuple[Callable[[Any, CallRecord], Awaitable[None]], Any]
"""A middleware's exit function, and the value that its entry returned."""


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """A file in the store. `content` is set if its bytes are already in memory."""

    entry: CacheEntry
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The stored result of an earlier call of an MCP tool: the fields of a `ToolResult`, with `data` as JSON."""

    text: str
    data: str
    images: tuple[tuple[str, bytes], ...] = ()
    content: tuple[ContentBlock, ...] = ()


@dataclass(slots=True)
class RepeatableCall:
    """A call with a `client_request_id`. While it runs, `token` proves that it holds the claim.

    `resumed` is true if an earlier call was cut off and this one continues it.
    """

    key: RequestKey
    fingerprint: str
    resumed: bool = False
    token: str = ""


@dataclass(slots=True)
class CallRequest:
    """A client's request, as parsed by an interface.

    `arguments` are the tool's arguments as the client sent them. If the interface refuses the call, such as for
    arguments that cannot be parsed, `arguments` is the error instead; the caller gets it once they are known to be
    allowed to use the tool. `started` is a `time.perf_counter` reading. `headers` are those of the HTTP request, if
    any.
    """

    tool_name: str
    arguments: dict[str, Any] | CallError
    request_id: str
    interface: Interface
    delivery: Delivery = "url"
    started: float = field(default_factory=time.perf_counter)
    headers: Headers | None = None


@dataclass(slots=True)
class CallContext:
    """The base of every state of a call."""

    request: CallRequest


@dataclass(slots=True)
class ReceivedCall(CallContext):
    """A call as received. `connection_ip` is the other end of the connection, which can be a proxy."""

    connection_ip: str
    headers: Headers


@dataclass(slots=True)
class AdmittedCall(CallContext):
    """A call from a known client IP address. Its credential has not been checked: the caller is anonymous."""

    caller: Caller
    headers: Headers


@dataclass(slots=True)
class IdentifiedCall(CallContext):
    """A call whose caller is known, or anonymous if there was no credential."""

    caller: Caller


@dataclass(slots=True)
class ResolvedCall(IdentifiedCall):
    """A call of a tool that the caller's plan includes.

    `limit_status` is the status of the strictest limit so far. `entered_middleware` lists the middleware to exit at
    the end.
    """

    plan_tool: PlanTool
    limit_status: LimitStatus | None = field(default=None, kw_only=True)
    entered_middleware: list[EnteredMiddleware] | None = field(default=None, kw_only=True)

    def for_tool(self, base_url: str) -> Call:
        """Return the `Call` that the tool's functions get."""
        tool = self.plan_tool.tool
        return Call(
            tool=tool.name,
            request_id=self.request.request_id,
            caller=self.caller,
            base_url=base_url,
            timeout=tool.timeout,
            config=tool.context.config,
            plugin=tool.context,
        )


@dataclass(slots=True)
class ValidatedCall(ResolvedCall):
    """A call with valid parameters, to which the later stages add their results.

    `content_id` identifies the result of a generator. `repeatable` is set if the client can repeat the call. `cached`
    is true if the result already existed: as a `file` in the store, a `render` in flight, or the `result` of an earlier
    call. The stages that count the call add to `when_shared` the functions that revert their count if the result turns
    out to exist after all. `limit_cost` and `quota_use` are the amounts counted.

    At the end a generator's call has a `file`, delivered as `content` or `url`, and an MCP tool's call a `result`,
    whose data is `data` as JSON if this call ran the tool.
    `expires_at` is a Unix time in whole seconds. `run_seconds` is set if this call ran the tool. `fetched` counts the
    connections made for it.
    """

    params: Params
    content_id: str = ""
    repeatable: RepeatableCall | None = None

    cached: bool = False
    render: asyncio.Task[RenderedFile] | None = None
    limit_cost: float = 0.0
    quota_use: asyncio.Task[str] | None = None
    when_shared: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    file: RenderedFile | None = None
    result: ToolResult | BaseModel | StoredResult | None = None
    data: str = ""
    fetched: int = 0
    run_seconds: float | None = None
    content: bytes = b""
    url: str = ""
    preview_url: str = ""
    expires_at: int = 0


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that was refused or failed. `context` is its state at that point."""

    context: CallContext
    error: CallError

    @property
    def request(self) -> CallRequest:
        """The client's request."""
        return self.context.request

    @property
    def caller(self) -> Caller | None:
        """The caller, or None if the call failed before it was admitted."""
        return self.context.caller if isinstance(self.context, AdmittedCall | IdentifiedCall) else None

    @property
    def limit_status(self) -> LimitStatus | None:
        """The status of the tool's strictest limit, or None if it has no limit or the tool was not resolved."""
        return self.context.limit_status if isinstance(self.context, ResolvedCall) else None


Outcome = ValidatedCall | RefusedCall
"""The outcome of a call."""


class SingleFlight:
    """The renders in flight. `joinable` maps content ids to the renders that later calls can join.

    A render continues when the call that started it is cancelled: others may be waiting for it, and its result is
    worth keeping.
    """

    def __init__(self) -> None:
        self.joinable: dict[str, asyncio.Task[RenderedFile]] = {}
        self._alone: set[asyncio.Task[RenderedFile]] = set()

    def start(self, content_id: str, render: Coroutine[Any, Any, RenderedFile]) -> asyncio.Task[RenderedFile]:
        """Start a render that later calls can join."""
        task = asyncio.get_running_loop().create_task(render)
        self.joinable[content_id] = task
        task.add_done_callback(lambda done: self._forget(content_id, done))
        return task

    def start_alone(self, render: Coroutine[Any, Any, RenderedFile]) -> asyncio.Task[RenderedFile]:
        """Start a render that no other call can join. It also continues when its caller leaves."""
        task = asyncio.get_running_loop().create_task(render)
        self._alone.add(task)
        task.add_done_callback(self._forget_alone)
        return task

    async def settle(self, seconds: float) -> None:
        """Wait until every render in flight has ended, successfully or not, for at most `seconds`."""
        if in_flight := {*self.joinable.values(), *self._alone}:
            await asyncio.wait(in_flight, timeout=seconds)

    def _forget_alone(self, task: asyncio.Task[RenderedFile]) -> None:
        self._alone.discard(task)
        if not task.cancelled():
            task.exception()

    def _forget(self, content_id: str, task: asyncio.Task[RenderedFile]) -> None:
        if self.joinable.get(content_id) is task:
            del self.joinable[content_id]
        if not task.cancelled():
            task.exception()  # marks it as retrieved: every waiting call may be gone


@dataclass(frozen=True, slots=True)
class Services:
    """The components of a running host that the pipeline's stages use."""

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
