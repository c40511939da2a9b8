"""Middleware of plugins around tool calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pressroom.sdk.call import Caller, CallRecord
from pressroom.sdk.shared import ToolInfo


@dataclass(frozen=True, slots=True)
class CallInfo:
    """A call that is about to start, as middleware sees it.

    `interface` is where the call came from: the Tools API or the MCP endpoint. `trace` has the request's headers
    `traceparent`, `tracestate` and `baggage` (W3C Trace Context and Baggage), if they were sent, unchanged: do not
    trust them, since anybody can set them. Other headers, such as credentials, are only available to an
    `Authenticator`.
    """

    tool: ToolInfo
    caller: Caller
    request_id: str
    interface: Literal["http", "mcp"]
    trace: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallMiddleware:
    """Runs before and after each call of a tool, for example to trace, audit or time it.

    `enter` takes the call, after its tool was found and the caller was allowed to use it. `exit` takes what `enter`
    returned (`None` without an `enter`) and the outcome: the code, the duration, and whether it came from the cache. It
    runs for every call for which `enter` returned, including calls that failed or whose client disconnected. Neither
    can change the response; use an `Authorizer` to refuse calls. Context variables that `enter` sets apply to the call,
    and tools in the executor `async` see them.

    Both are either synchronous functions that return at once, since the response waits for them, or coroutine
    functions. If they take longer than `[middleware] timeout`, they are cancelled. Exceptions are logged and counted,
    and the call continues; if `enter` fails, `exit` does not run.

    The first middleware in the operator's `[middleware] order` is the outermost: it is entered first and exited last.
    Any others follow, ordered by plugin id.
    """

    name: str
    enter: Callable[[CallInfo], Any] | None = None
    exit: Callable[[Any, CallRecord], Awaitable[None] | None] | None = None
