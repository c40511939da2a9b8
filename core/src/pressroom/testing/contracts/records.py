"""A record that a plugin contributed, in a host that runs: what the contracts of records are checked on."""

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
    """A record of a plugin, the host that runs with it, and an HTTP client of that host."""

    running: RunningHost
    plugin: str
    record: R
    http: httpx.AsyncClient

    async def on_host(self, call: Callable[[], Awaitable[T]], *, seconds: float) -> T:
        """Await something on the host's event loop, as the host itself does.

        Raises:
            PromiseBroken: it did not end within this many seconds, or did not end when it was cancelled.
            Exception: whatever it raises.
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
        """Send a request to the MCP endpoint, and return the answer's `result`.

        Raises:
            PromiseBroken: the answer is an error of the protocol.
        """
        key = await asyncio.to_thread(self.running.account().api_key)
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"authorization": f"Bearer {key}", "mcp-protocol-version": MCP_VERSION, "x-mcp-toolsets": "all"}
        answer = await self.http.post("/api/mcp", json=body, headers=headers)
        found = answer.json() if answer.status_code == 200 else {}
        if "result" not in found:
            raise PromiseBroken(f"{answer.status_code} {answer.text[:200]}")
        result: dict[str, Any] = found["result"]
        return result


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


def opening_record(
    running: RunningHost, plugin: str, record: R
) -> Callable[[], AbstractAsyncContextManager[RecordInHost[R]]]:
    """Return what opens the subject of a contract of records."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[RecordInHost[R]]:
        async with httpx.AsyncClient(base_url=running.url, timeout=_HTTP_SECONDS, verify=LOOPBACK_TLS) as http:
            yield RecordInHost(running, plugin, record, http)

    return opening


def check_record(
    suite: ContractSuite[RecordInHost[R]], running: RunningHost, plugin: str, record: R, where: str
) -> list[Finding]:
    """Check one record of a plugin against its contract, in a host that runs with it, and return what it breaks."""
    opening = opening_record(running, plugin, record)
    return run_apart(lambda: suite.check(opening, where=where))


ANONYMOUS: Final = Caller("203.0.113.7")
SOMEBODY: Final = Caller("203.0.113.8", plan="free", subject="u_contract", connection="c_contract")
"""Callers that the functions of plugins are asked about; no account has these ids."""
