"""One call on its way through the stages: each type has what the stages so far have found out.

`ReceivedCall` → `AdmittedCall` → `IdentifiedCall` → `ResolvedCall` → `ValidatedCall`; from any of them a `RefusedCall`.
Each carries the services that the stages work with.
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
"""What the caller wants of a file: its URL, or its bytes."""

Interface = Literal["http", "mcp"]
"""Where calls come from: the Tools API, which knows tools by their slugs, or MCP, which knows them by MCP names."""

EnteredMiddleware = tuple[Callable[[Any, CallRecord], Awaitable[None]], Any]
"""What a middleware is left with, and what it returned when it was entered."""


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """A file that is in the store. `content` is there where its bytes are at hand."""

    entry: CacheEntry
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What an MCP tool answered to an earlier call: the members of a `ToolResult`, with `data` as JSON."""

    text: str
    data: str
    images: tuple[tuple[str, bytes], ...] = ()
    content: tuple[ContentBlock, ...] = ()


@dataclass(slots=True)
class RepeatableCall:
    """A call with a `client_request_id`. While it runs, `token` proves that it holds the claim.

    `resumed` tells that an earlier call was cut off, and that this one continues it.
    """

    key: RequestKey
    fingerprint: str
    resumed: bool = False
    token: str = ""


@dataclass(slots=True)
class CallRequest:
    """What a client asks for, as an interface has parsed it.

    `arguments` are the tool's, as the client sent them. Where the interface refuses the call, such as for arguments
    that cannot be read, they are the error, which the caller gets once it is known that they may use the tool at all.
    `started` is of `time.perf_counter`. `headers` are those of the HTTP request that the call came with, if any.
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
    """What is known of every call."""

    request: CallRequest


@dataclass(slots=True)
class ReceivedCall(CallContext):
    """A call as it came in. `connection_ip` is the other end of the connection, which may be a proxy."""

    connection_ip: str
    headers: Headers


@dataclass(slots=True)
class AdmittedCall(CallContext):
    """A call of a client at a known IP address, whose credential has not been looked at: the caller is anonymous."""

    caller: Caller
    headers: Headers


@dataclass(slots=True)
class IdentifiedCall(CallContext):
    """A call whose caller is known, be it an anonymous one without a credential."""

    caller: Caller


@dataclass(slots=True)
class ResolvedCall(IdentifiedCall):
    """A call of a tool that the caller's plan has.

    `limit_status` is that of the strictest limit so far. `entered_middleware` is what has to be told of the end.
    """

    plan_tool: PlanTool
    limit_status: LimitStatus | None = field(default=None, kw_only=True)
    entered_middleware: list[EnteredMiddleware] | None = field(default=None, kw_only=True)

    def for_tool(self, base_url: str) -> Call:
        """Return what the tool's functions learn of the call."""
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
    """A call with valid parameters, and what the later stages make of it.

    `content_id` names the result of a generator, `repeatable` a call that its client may repeat. `cached` tells that
    the result was there before: as a `file` in the store, a `render` in flight, or the `result` of an earlier call.
    `when_shared` is what the stages that have counted the call do if it turns out only then that the result is there.
    `limit_cost` and `quota_use` are what was counted.

    At the end a generator has a `file`, delivered as `content` or `url`, and an MCP tool a `result`. `expires_at` is a
    Unix time in whole seconds. `run_seconds` is there where this call ran the tool; `fetched` counts the connections
    that were made for it.
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
    result: ToolResult | BaseModel | StoredAnswer | None = None
    fetched: int = 0
    run_seconds: float | None = None
    content: bytes = b""
    url: str = ""
    preview_url: str = ""
    expires_at: int = 0


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call that was refused, or failed. `context` is what was known of it by then."""

    context: CallContext
    error: CallError

    @property
    def request(self) -> CallRequest:
        """What the client asked for."""
        return self.context.request

    @property
    def caller(self) -> Caller | None:
        """The caller, where it was found out."""
        return self.context.caller if isinstance(self.context, AdmittedCall | IdentifiedCall) else None

    @property
    def limit_status(self) -> LimitStatus | None:
        """The state of the strictest limit of the tool, where there is one and the tool was found."""
        return self.context.limit_status if isinstance(self.context, ResolvedCall) else None


Outcome = ValidatedCall | RefusedCall
"""The outcome of a call."""


class SingleFlight:
    """The renders in flight. `joinable` are those that later calls of the same content can join, by content id.

    A render continues when the call that began it is cancelled, since others may be waiting for it, and since its
    result is worth keeping.
    """

    def __init__(self) -> None:
        self.joinable: dict[str, asyncio.Task[RenderedFile]] = {}
        self._alone: set[asyncio.Task[RenderedFile]] = set()

    def start(self, content_id: str, render: Coroutine[Any, Any, RenderedFile]) -> asyncio.Task[RenderedFile]:
        """Begin a render that later calls can join."""
        task = asyncio.get_running_loop().create_task(render)
        self.joinable[content_id] = task
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
