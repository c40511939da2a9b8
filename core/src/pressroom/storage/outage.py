"""Keep an outage of one server from costing every request its timeout."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from pressroom.errors import BackendError, Unavailable

T = TypeVar("T")

_log = structlog.get_logger()


class _LoopAwareTimeout:
    """Ends a timeout scope after `seconds` in which the event loop had time to notice a response.

    The time is split into parts, each of which begins only after the loop has noticed the end of the previous one.
    While a flood of requests keeps the loop busy, responses wait unread and the parts grow longer. A plain timeout
    would take that for an outage of the server, just when its limits are needed most.
    """

    PARTS = 4

    def __init__(self, scope: asyncio.Timeout, seconds: float) -> None:
        self._scope = scope
        self._part = seconds / self.PARTS
        self._left = self.PARTS
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._part, self._next)

    def _next(self) -> None:
        self._left -= 1
        if self._left:
            self._timer = self._loop.call_later(self._part, self._next)
        else:
            self._scope.reschedule(self._loop.time())

    def end(self) -> None:
        self._timer.cancel()


@dataclass(slots=True)
class _Outage:
    """An outage in progress. `began` and `retry_at` are readings of the guard's clock."""

    reason: str
    began: float
    retry_at: float
    failed_calls: int = 0
    probing: bool = False


class OutageGuard:
    """Limits every call to one server, and stops calling it while it is down (a circuit breaker).

    A call without a response begins an outage. From then on calls fail at once; after each `pause` a single one
    of them tries the server again, and the first response to any call ends the outage. The beginning and the end are
    logged, not every call.

    Calls beyond `concurrency` wait for their turn, and their timeout starts only then: a long queue is not an outage,
    however long it takes to serve. When an outage begins, waiting calls fail at once too.

    A server that responds with an error is not down, so only that call fails. This is logged once for each kind
    of call, until one of that kind succeeds again.

    Args:
        server: the server's name in messages and logs, without credentials.
        probe: checks that the server responds, without changing anything. The one call after a pause begins
            with it, so that commands which a frozen server finds in its sockets later are harmless.
        timeout: seconds that one call can take in all, from connecting to the response; time in which this process
            was too busy to read the response does not count.
        concurrency: how many calls run at once; the probe can be one more.
        refused: exceptions for a response that is an error.
        unreachable: exceptions for no response. `refused` takes precedence.
        reason: describes in one line why there was no response; an empty string stands for a timeout.
        pause: seconds between two attempts while the server is down.
        clock: returns seconds from a monotonic clock.
    """

    def __init__(
        self,
        server: str,
        *,
        probe: Callable[[], Awaitable[object]],
        timeout: float,
        concurrency: int,
        refused: tuple[type[Exception], ...],
        unreachable: tuple[type[Exception], ...],
        reason: Callable[[Exception], str] = str,
        pause: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.server = server
        self._probe = probe
        self._timeout = timeout
        self._slots = asyncio.Semaphore(concurrency)
        self._refused = refused
        self._unreachable: tuple[type[Exception], ...] = (TimeoutError, *unreachable)
        self._reason = reason
        self._pause = pause
        self._clock = clock
        self._outage: _Outage | None = None
        self._refusing: set[str] = set()

    @property
    def available(self) -> bool:
        """Whether the server responded to the last call."""
        return self._outage is None

    async def call(self, name: str, operation: Callable[[], Awaitable[T]]) -> T:
        """Return the result of an operation on the server. `name` is the kind of call in the log.

        Raises:
            Unavailable: the server is down, or did not respond in time.
            BackendError: it responded with an error.
        """
        while (outage := self._outage) is None:
            async with self._slots:
                if self.available:
                    return await self._attempt(name, operation)
        if outage.probing or self._clock() < outage.retry_at:
            outage.failed_calls += 1
            raise self._unavailable(outage.reason)
        outage.probing = True
        try:
            return await self._attempt(name, operation, probe=True)
        finally:
            outage.probing = False

    async def _attempt(self, name: str, operation: Callable[[], Awaitable[T]], *, probe: bool = False) -> T:
        try:
            async with asyncio.timeout(None) as scope:
                patience = _LoopAwareTimeout(scope, self._timeout)
                try:
                    if probe:
                        await self._probe()
                    result = await operation()
                finally:
                    patience.end()
        except self._refused as error:
            self._note_success()
            self._note_refusal(name, error)
            raise BackendError(f"{self.server} refused {name}: {error}") from error
        except self._unreachable as error:
            reason = self._reason(error) or f"no response within {self._timeout:g} s"
            self._failed(reason)
            raise self._unavailable(reason) from error
        self._note_success()
        if name in self._refusing:
            self._refusing.discard(name)
            _log.info("server accepts calls again", server=self.server, call=name)
        return result

    def _unavailable(self, reason: str) -> Unavailable:
        return Unavailable(
            f"{self.server} is unavailable: {reason}",
            hint="Check that the server runs and that this host can reach it.",
        )

    def _note_success(self) -> None:
        outage, self._outage = self._outage, None
        if outage is not None:
            _log.info(
                "server is available again",
                server=self.server,
                seconds=round(self._clock() - outage.began, 3),
                failed_calls=outage.failed_calls,
            )

    def _failed(self, reason: str) -> None:
        now = self._clock()
        if self._outage is not None:
            self._outage.reason = reason
            self._outage.failed_calls += 1
            self._outage.retry_at = now + self._pause
        else:
            self._outage = _Outage(reason, began=now, retry_at=now + self._pause, failed_calls=1)
            _log.warning("server is unavailable", server=self.server, reason=reason)

    def _note_refusal(self, name: str, error: Exception) -> None:
        if name not in self._refusing:
            self._refusing.add(name)
            _log.warning("server refuses calls", server=self.server, call=name, reason=str(error))
