"""The contract of tools while a service that they use fails or does not respond."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import httpx

from pressroom.errors import BackendError, CallError, FetchFailed
from pressroom.sdk import Database, Fetched, Fetcher, FetchResponse, Jobs
from pressroom.testing.accounts import LOOPBACK_TLS
from pressroom.testing.contracts.mcp_tool import example_arguments
from pressroom.testing.contracts.suite import ContractSuite, Finding, PromiseBroken, expect, run_apart
from pressroom.testing.running import RunningHost, ToolFailed

_GRACE_SECONDS: Final = 5.0
"""How many seconds a call may take in addition to its timeout."""


@dataclass(frozen=True, slots=True)
class ToolInOutage:
    """A tool of a running host, by its MCP name, with its timeout in seconds."""

    running: RunningHost
    name: str
    arguments: dict[str, Any]
    timeout: float

    async def call(self) -> ToolFailed | None:
        """Call the tool, and return the error, or `None` if the call succeeded.

        Raises:
            PromiseBroken: the call did not end in time.
        """
        calling = asyncio.to_thread(self.running.call_tool, self.name, self.arguments)
        try:
            async with asyncio.timeout(self.timeout + _GRACE_SECONDS):
                await calling
        except ToolFailed as refused:
            return refused
        except TimeoutError:
            raise PromiseBroken(f"no end within {self.timeout:g} s") from None
        return None


OUTAGE: Final = ContractSuite[ToolInOutage]("outage")


@OUTAGE.promise(
    "a call gets an explanation while the database is unavailable",
    fix="let BackendError pass: the server tells clients when to try again; the log has the traceback",
)
async def _database(subject: ToolInOutage) -> None:
    with (
        _fetching_nothing_real(subject.running),
        failing(subject.running, Database, BackendError("the database is away")),
    ):
        await _expect_words(subject)


@OUTAGE.promise(
    "a call gets an explanation while nothing can be fetched",
    fix="catch FetchFailed, FetchRefused and FetchUnknown, and raise a CallError with its own code that says what "
    "users can do",
)
async def _fetching(subject: ToolInOutage) -> None:
    with failing(subject.running, Fetcher, FetchFailed("https://example.org/ does not respond")):
        await _expect_words(subject)


@OUTAGE.promise(
    "a call gets an explanation while no job can be enqueued",
    fix="let BackendError pass: the server tells clients when to try again; the log has the traceback",
)
async def _jobs(subject: ToolInOutage) -> None:
    with _fetching_nothing_real(subject.running), failing(subject.running, Jobs, BackendError("the queue is away")):
        await _expect_words(subject)


@OUTAGE.promise(
    "a call ends within its timeout while a server never responds, and does not hold up other calls",
    fix="await what you fetch, and let CancelledError pass",
)
async def _hanging(subject: ToolInOutage) -> None:
    with failing(subject.running, Fetcher, None):
        await subject.call()
    async with httpx.AsyncClient(base_url=subject.running.url, timeout=_GRACE_SECONDS, verify=LOOPBACK_TLS) as http:
        alive = await http.get("/healthz")
    expect(alive.status_code == 200, f"/healthz returns {alive.status_code}")


async def _expect_words(subject: ToolInOutage) -> None:
    failure = await subject.call()
    plain = failure is not None and type(failure.__cause__) is CallError
    note = "; a CallError itself has the code of faults of the server: derive a class with a `code`" if plain else ""
    expect(failure is None or failure.code != "internal_error", f"{failure}{note}")


def check_outages(running: RunningHost, plugin: str) -> Iterator[Finding]:
    """Check each tool of a plugin that has an MCP name while services fail, and yield the findings.

    Tools that also fail without an outage are skipped, since the contract of tools reports them.
    """
    for name, tool in running.host.compiled.catalog.mcp_tools.items():
        if tool.info.plugin != plugin:
            continue
        subject = ToolInOutage(running, name, _arguments_of(tool), tool.timeout)
        if run_apart(lambda subject=subject: _fails_anyway(subject)):  # type: ignore[misc]
            continue
        yield from run_apart(lambda subject=subject: OUTAGE.check(_opening(subject), where=subject.name))  # type: ignore[misc]


async def _fails_anyway(subject: ToolInOutage) -> bool:
    with _fetching_nothing_real(subject.running):
        try:
            failure = await subject.call()
        except PromiseBroken:
            return True
    return failure is not None and failure.code == "internal_error" and type(failure.__cause__) is not CallError


def _arguments_of(tool: Any) -> dict[str, Any]:
    examples = getattr(tool.declaration, "examples", ())
    return dict(examples[0].params) if examples else example_arguments(tool.mcp_schema)


def _opening(subject: ToolInOutage) -> Callable[[], Any]:
    @asynccontextmanager
    async def opening() -> AsyncIterator[ToolInOutage]:
        yield subject

    return opening


@contextmanager
def failing(running: RunningHost, part: type[Any], error: Exception | None) -> Iterator[None]:
    """Make a service, such as `pressroom.sdk.Fetcher`, raise an error for plugins, or with `None` never respond.

    The server itself keeps using the real service.
    """
    with running.host.compiled.plugins.provider.replaced(**{part.__name__.lower(): _FailingPart(error)}):
        yield


def _fetching_nothing_real(running: RunningHost) -> AbstractContextManager[None]:
    """Serve a small page or document for all fetches of plugins, so that the check does not use the internet."""
    canned: Fetcher = _CannedFetcher()
    return running.host.compiled.plugins.provider.replaced(fetcher=canned)


class _CannedFetcher:
    """A `Fetcher` whose responses all have status 200, with JSON if it is accepted, and otherwise with an HTML page."""

    async def get(self, url: str, *, accept: str, **_bounds: Any) -> Fetched:
        media_type, content = _canned(accept)
        return Fetched(url, 200, media_type, content)

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, **_bounds: Any
    ) -> Fetched:
        del method
        accept = next((value for name, value in (headers or {}).items() if name.lower() == "accept"), "json")
        return await self.get(url, accept=accept)

    async def exchange(self, url: str, *, accept: str, **_bounds: Any) -> FetchResponse:
        media_type, content = _canned(accept)
        return FetchResponse(url, 200, (("content-type", media_type),), content, True, 0.0, 0.0)

    def connect(self, host: str, port: int, **_bounds: Any) -> AbstractAsyncContextManager[Any]:
        del port
        raise FetchFailed(f"could not connect to {host}")


def _canned(accept: str) -> tuple[str, bytes]:
    if "json" in accept:
        return "application/json", b"{}"
    return "text/html", b"<!doctype html><title>Example</title><p>Example."


class _FailingPart:
    """A service whose methods fail when they are awaited or entered."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def __getattr__(self, _name: str) -> Callable[..., _FailingCall]:
        return lambda *_given, **_named: _FailingCall(self._error)


class _FailingCall:
    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def __await__(self) -> Generator[Any, None, Any]:
        return self._fail().__await__()

    async def __aenter__(self) -> Any:
        await self._fail()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Do nothing, since `__aenter__` always fails."""

    async def _fail(self) -> Any:
        if self._error is None:
            await asyncio.Event().wait()
        raise self._error or RuntimeError("it never responds")
