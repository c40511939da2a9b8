"""The subject of contracts for records: a record of a plugin in a running host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import httpx

from pressroom.sdk import Caller
from pressroom.testing.accounts import LOOPBACK_TLS
from pressroom.testing.contracts.suite import ContractSuite, Finding, PromiseBroken, run_apart
from pressroom.testing.running import RunningHost

R = TypeVar("R")
T = TypeVar("T")

MCP_VERSION: Final = "2025-06-18"
_HTTP_SECONDS: Final = 60.0
_CANCEL_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class RecordInHost(Generic[R]):
    """A record of a plugin, the host that runs it, and an HTTP client of that host."""

    running: RunningHost
    plugin: str
    record: R
    http: httpx.AsyncClient

    async def on_host(self, call: Callable[[], Awaitable[T]], *, seconds: float) -> T:
        """Await a call on the host's event loop, as the host itself does.

        Raises:
            PromiseBroken: the call did not end within `seconds`, and was cancelled.
            Exception: any exception of the call.
        """

        async def bounded() -> T:
            task = asyncio.ensure_future(_awaited(call))
            await asyncio.wait({task}, timeout=seconds)
            if task.done():
                return task.result()
            task.cancel()
            await asyncio.wait({task}, timeout=_CANCEL_SECONDS)
            raise PromiseBroken(f"no end within {seconds:g} s")

        return await asyncio.wrap_future(self.running.submit(bounded()))

    async def mcp(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the MCP endpoint, and return the `result` of the response.

        Raises:
            PromiseBroken: the response is an HTTP or protocol error.
        """
        key = await asyncio.to_thread(self.running.account().api_key)
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"authorization": f"Bearer {key}", "mcp-protocol-version": MCP_VERSION, "x-mcp-toolsets": "all"}
        response = await self.http.post("/api/mcp", json=body, headers=headers)
        message = response.json() if response.status_code == 200 else {}
        if "result" not in message:
            raise PromiseBroken(f"{response.status_code} {response.text[:200]}")
        result: dict[str, Any] = message["result"]
        return result


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


def opening_record(
    running: RunningHost, plugin: str, record: R
) -> Callable[[], AbstractAsyncContextManager[RecordInHost[R]]]:
    """Return a function that opens the subject of a record's contract."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[RecordInHost[R]]:
        async with httpx.AsyncClient(base_url=running.url, timeout=_HTTP_SECONDS, verify=LOOPBACK_TLS) as http:
            yield RecordInHost(running, plugin, record, http)

    return opening


def check_record(
    suite: ContractSuite[RecordInHost[R]], running: RunningHost, plugin: str, record: R, where: str
) -> list[Finding]:
    """Check one record of a plugin against its contract in a running host, and return the findings."""
    opening = opening_record(running, plugin, record)
    return run_apart(lambda: suite.check(opening, where=where))


ANONYMOUS: Final = Caller("203.0.113.7")
SOMEBODY: Final = Caller("203.0.113.8", plan="free", subject="u_contract", connection="c_contract")
"""Callers to pass to functions of plugins; no account has these ids."""
