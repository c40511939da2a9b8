"""Whether the database answers, asked beside the calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from pressroom.errors import BackendError

log = structlog.get_logger()

FRESH_SECONDS: Final = 1.0
"""For how long an answer holds: however many ask, the database is asked once in this time."""

ANSWER_SECONDS: Final = 2.0
"""How long the database may take before it counts as down."""

WATCH_SECONDS: Final = 5.0
"""How often it is asked although nobody wants to know, for the metrics."""

_PARTS: Final = 4
"""Parts in which an answer is waited for. While a flood of requests keeps the event loop busy, answers lie unread."""


class DatabaseProbe:
    """Knows whether the database answers. One question is under way at a time, and nobody waits for it for long.

    Args:
        ask: asks the database for a sign of life, ends by itself, and raises `BackendError` if absent.
        name: what the database is called in the log, without credentials.
    """

    def __init__(self, ask: Callable[[], Awaitable[None]], name: str) -> None:
        self._ask = ask
        self._name = name
        self._asking: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._asked_at = -FRESH_SECONDS
        self._up = True

    @property
    def up(self) -> bool:
        """Whether it answered when it was asked last. May be read from any thread."""
        return self._up

    async def open(self) -> None:
        """Begin to ask now and then."""
        self._watching = asyncio.create_task(self._watch(), name="asking the database for a sign of life")

    async def close(self) -> None:
        """Ask no more. A question that is under way gets its time: cut off, it may leave a connection half open."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        asking = self._asking
        if asking is not None:
            await asyncio.wait({asking}, timeout=ANSWER_SECONDS)
            asking.cancel()
            await asyncio.wait({asking})

    async def answers(self) -> bool:
        """Return whether the database answers, within `ANSWER_SECONDS`."""
        now = time.monotonic()
        if self._asking is None and now - self._asked_at >= FRESH_SECONDS:
            self._asked_at = now
            self._asking = asyncio.create_task(self._ask_once())
        asking = self._asking
        if asking is not None:
            part = max(0.0, self._asked_at + ANSWER_SECONDS - now) / _PARTS
            for _ in range(_PARTS):
                # Waiting for it, rather than for its result, leaves the question alone when a caller goes away.
                await asyncio.wait({asking}, timeout=part)
                if asking.done():
                    break
            else:
                self._note(up=False, reason=f"no answer within {ANSWER_SECONDS:g} s")
        return self._up

    async def _watch(self) -> None:
        while True:
            await self.answers()
            await asyncio.sleep(WATCH_SECONDS)

    async def _ask_once(self) -> None:
        try:
            await self._ask()
        except BackendError as error:
            self._note(up=False, reason=error.message)
        else:
            self._note(up=True)
        finally:
            self._asking = None

    def _note(self, *, up: bool, reason: str = "") -> None:
        if up == self._up:
            return
        self._up = up
        if up:
            log.info("the database answers again", server=self._name)
        else:
            log.warning("the database does not answer", server=self._name, reason=reason)
