"""A host that runs beside a test, on a port of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
from pydantic import BaseModel

from pressroom.config import Settings
from pressroom.errors import CallError
from pressroom.host import Compiled, Host
from pressroom.pipeline.exchange import Exchange
from pressroom.sdk import ToolResult
from pressroom.server.serve import bind, serve

T = TypeVar("T")

START_SECONDS = 60


class ToolFailed(AssertionError):
    """A tool refused a call. `code` is the stable error code."""

    def __init__(self, error: CallError) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.code = error.code
        self.message = error.message


class RunningHost:
    """A server on 127.0.0.1, with its event loop in a thread of its own. Use it as a context manager.

    `settings` are the host's; their port is replaced by a free one. `url` is the server's address.
    """

    def __init__(self, settings: Settings) -> None:
        server = settings.server.model_copy(update={"host": "127.0.0.1", "port": 0})
        self._listener, self.settings = bind(settings.model_copy(update={"server": server}))
        self._thread = threading.Thread(target=self._serve, name="pressroom-host", daemon=True)
        self._started: Future[Host] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self.host = self._started.result(START_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """The server's address, without a slash at the end."""
        return f"http://127.0.0.1:{self.settings.server.port}"

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the host's event loop and return its result."""
        if self._loop is None:
            raise RuntimeError("the host is not running")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a tool by its MCP name, through the whole pipeline, as an AI client would.

        Returns:
            The tool's data as plain values; for a generator, the members of `data` of its answer.

        Raises:
            ToolFailed: the tool refused the call, or failed.
        """
        exchange = Exchange(
            tool_name=name,
            read_arguments=lambda: dict(arguments or {}),
            peer="127.0.0.1",
            headers=_NoHeaders(),
            request_id="test-call",
            delivery="url",
            by_mcp_name=True,
        )
        self.run(self.host.pipeline(exchange))
        if exchange.error is not None:
            raise ToolFailed(exchange.error)
        if exchange.made is not None:
            details = orjson.loads(exchange.made.entry.details)
            return {"id": exchange.content_id, "url": exchange.url, "cached": exchange.cached, **details}
        return plain(exchange.result)

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - it belongs to the test that waits for the start
            if not self._started.done():
                self._started.set_exception(error)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        await serve(Compiled(self.settings), self._listener, self._stop, self._started.set_result)


def plain(result: ToolResult | BaseModel | None) -> Any:
    """Return the data of an MCP tool's result as plain values."""
    data = result.data if isinstance(result, ToolResult) else result
    return data.model_dump(mode="json") if data is not None else None


class _NoHeaders:
    def get(self, _key: str, /, default: str) -> str:
        return default

    def getall(self, _key: str, /, default: list[str]) -> list[str]:
        return default

    def items(self) -> tuple[tuple[str, str], ...]:
        return ()
