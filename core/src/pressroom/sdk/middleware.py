"""What plugins run around calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pressroom.sdk.call import Caller, CallRecord
from pressroom.sdk.shared import ToolInfo


@dataclass(frozen=True, slots=True)
class CallInfo:
    """What middleware is told of a call that begins.

    `interface` is what the call came through: the Tools API or the MCP endpoint. `trace` has the request's headers
    `traceparent`, `tracestate` and `baggage` (W3C Trace Context and Baggage), as far as it sent them, as they came:
    anybody can write them. Other headers, such as credentials, are for an `Authenticator`.
    """

    tool: ToolInfo
    caller: Caller
    request_id: str
    interface: Literal["http", "mcp"]
    trace: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallMiddleware:
    """Runs before and after each call of a tool, such as to trace, audit or time it.

    `enter` is given the call once its tool is found and the caller may use it. `exit` is given what `enter` returned
    (`None` without an `enter`) and the outcome: the code, the time it took, whether it came from the cache. It runs for
    every call that `enter` returned for, also for one that failed, or whose client left. Neither can change the answer;
    to refuse calls is for an `Authorizer`. Context variables that `enter` sets are those of the call: tools in the
    executor `async` see them.

    Both are plain functions that return at once, since the answer waits for them, or coroutine functions. What takes
    longer than `[middleware] timeout` is cut off. What they raise is logged and counted, and the call continues; where
    `enter` fails there is no `exit`.

    The one whose `name` the operator puts first in `[middleware] order` is the outermost: it enters first and exits
    last. Those not named follow in the order of plugin id.
    """

    name: str
    enter: Callable[[CallInfo], Any] | None = None
    exit: Callable[[Any, CallRecord], Awaitable[None] | None] | None = None
