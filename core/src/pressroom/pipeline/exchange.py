"""The state of one call on its way through the stages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from pressroom.catalog.tool import PlanTool, PlanView
from pressroom.errors import CallError
from pressroom.sdk import CacheEntry, Call, Caller, LimitStatus, Params, ToolResult

Delivery = Literal["url", "binary", "result"]
"""What the caller wants: an address of the file, its bytes, or the answer of an MCP tool."""


class Headers(Protocol):
    """The headers of a request; names are compared without regard to case."""

    def get(self, key: str, /, default: str) -> str:
        """Return the first value of a header, or the default."""

    def getall(self, key: str, /, default: list[str]) -> list[str]:
        """Return all values of a header, or the default."""

    def items(self) -> Any:
        """Return the pairs of name and value."""


@dataclass(frozen=True, slots=True)
class Made:
    """A file that is in the store. `content` is there where its bytes are at hand."""

    entry: CacheEntry
    content: bytes | None = None


@dataclass(slots=True)
class Exchange:
    """One call. The face fills the first group, each stage what it is named after.

    `read_arguments` is called with the exchange and returns the tool's arguments as the client sent them; it may set
    what else the client said, such as `delivery`. It raises a `CallError` where they cannot
    be read. `peer` is the address of the connection. `expires_at` is a Unix time in whole seconds.
    """

    tool_name: str
    read_arguments: Callable[[Exchange], dict[str, Any]]
    peer: str
    headers: Headers
    request_id: str
    delivery: Delivery = "url"
    by_mcp_name: bool = False
    started: float = field(default_factory=time.perf_counter)

    caller: Caller | None = None
    view: PlanView | None = None
    plan_tool: PlanTool | None = None
    params: Params | None = None
    content_id: str = ""
    cached: bool = False
    flight: asyncio.Task[Made] | None = None
    taken: float = 0.0
    quota_use: asyncio.Task[str] | None = None
    limit_status: LimitStatus | None = None
    made: Made | None = None
    result: ToolResult | BaseModel | None = None
    run_seconds: float | None = None
    url: str = ""
    preview_url: str = ""
    expires_at: int = 0
    content: bytes = b""
    brand: Mapping[str, Any] = field(default_factory=dict)
    error: CallError | None = None

    @property
    def known_caller(self) -> Caller:
        """The caller; the stages after `admit` rely on it."""
        if self.caller is None:
            raise RuntimeError("the exchange has not been admitted")
        return self.caller

    @property
    def known_tool(self) -> PlanTool:
        """The tool; the stages after `plan` rely on it."""
        if self.plan_tool is None:
            raise RuntimeError("the exchange has no tool yet")
        return self.plan_tool

    @property
    def known_params(self) -> Params:
        """The validated parameters; the stages after `validate` rely on them."""
        if self.params is None:
            raise RuntimeError("the exchange has not been validated")
        return self.params

    def call(self, base_url: str) -> Call:
        """Return what the tool's functions learn of the call; the stages after `plan` rely on it."""
        tool = self.known_tool.tool
        return Call(
            tool=tool.name,
            request_id=self.request_id,
            caller=self.known_caller,
            base_url=base_url,
            timeout=tool.timeout,
            config=tool.context.config,
            plugin=tool.context,
        )
