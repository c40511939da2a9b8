"""Documents of the provider, remembered for a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import structlog

from pressroom.accounts.identity_provider.provider_client import ProviderError

T = TypeVar("T")

log = structlog.get_logger()

FRESH_SECONDS: Final = 3600
RETRY_SECONDS: Final = 5
"""How long a failure is answered from memory, so that a dead provider does not hold up one visitor after another."""
AGE_TO_RENEW: Final = 10
"""How old a document is at least before it is fetched again because it seems to have changed."""


class CachedDocument(Generic[T]):
    """Fetches a document once for all who want it, and again when it is old.

    One that is old is still good while a new one cannot be had.

    Args:
        fetch: gets the document; raises `ProviderError`.
        clock: a monotonic clock in seconds.
    """

    def __init__(self, fetch: Callable[[], Awaitable[T]], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._found: T | None = None
        self._fetched_at = 0.0
        self._failure = ""
        self._failed_at = 0.0

    async def get(self) -> T:
        """Return the document. Raises `ProviderError`."""
        return await self._younger_than(FRESH_SECONDS)

    async def renewed(self) -> T:
        """Return the document as it is now, or as it was a few seconds ago: for one that seems to have changed.

        Raises `ProviderError`.
        """
        return await self._younger_than(AGE_TO_RENEW)

    async def _younger_than(self, seconds: float) -> T:
        if self._found is not None and self._clock() - self._fetched_at < seconds:
            return self._found
        async with self._lock:
            if self._found is not None and self._clock() - self._fetched_at < seconds:
                return self._found
            await self._try()
            if self._found is None:
                raise ProviderError(self._failure)
            return self._found

    async def _try(self) -> None:
        if self._failure and self._clock() - self._failed_at < RETRY_SECONDS:
            return
        try:
            self._found = await self._fetch()
        except ProviderError as error:
            self._failure, self._failed_at = str(error), self._clock()
            log.warning("the identity provider failed", reason=self._failure)
        else:
            self._failure, self._fetched_at = "", self._clock()
