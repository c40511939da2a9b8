"""Protocols of the host's replaceable backends, and rates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a store. `size` is in bytes, `modified` in UTC."""

    key: str
    size: int
    media_type: str
    modified: datetime


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The number of files and bytes that pruning removed and kept."""

    removed_files: int
    removed_bytes: int
    kept_files: int
    kept_bytes: int


@runtime_checkable
class FileStore(Protocol):
    """Stores generated files. Keys are `<tool>/<id>.<extension>`, with at most 200 characters of `[a-z0-9./-]`.

    Every method raises `BackendError` if the store fails or does not respond in time.
    """

    async def open(self) -> None:
        """Connect and check that the store can be used."""

    async def close(self) -> None:
        """Close all connections."""

    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        """Store a file completely or not at all. A file with the same key is replaced."""

    async def read(self, key: str) -> bytes:
        """Return a file's bytes. Raises `FileMissing`."""

    async def stat(self, key: str) -> StoredFile:
        """Return information about a file. Raises `FileMissing`."""

    async def has(self, key: str) -> bool:
        """Return whether the file exists. It must be cheap enough to call for every cached request."""

    async def url(self, key: str, *, expires: datetime) -> str:
        """Return a URL at which anyone can fetch the file until `expires` (UTC, whole seconds)."""

    async def delete(self, key: str) -> None:
        """Remove a file. It is not an error if it does not exist."""

    async def prune(self, *, older_than: datetime, max_bytes: int) -> PruneResult:
        """Remove files last written before `older_than`, then the oldest ones above `max_bytes` (0: no limit)."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """The cached metadata of a generated file: everything that a response needs, except the content.

    `details` is the JSON object with the generator's own fields. `preview` is the key of the file's preview image, if
    it has one.
    """

    key: str
    media_type: str
    size: int
    details: bytes
    warnings: tuple[str, ...] = ()
    preview: str = ""


@runtime_checkable
class CacheIndex(Protocol):
    """An index of existing results by content id. Raises `BackendError` on an outage."""

    async def open(self) -> None:
        """Connect. An unreachable server is not an error, since it may come back."""

    async def close(self) -> None:
        """Close all connections."""

    async def get(self, content_id: str) -> CacheEntry | None:
        """Return the entry, or `None`."""

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        """Store an entry for at most `seconds`."""

    async def delete(self, content_id: str) -> None:
        """Remove an entry. It is not an error if it does not exist."""


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """The state of a limit after a request was counted or refused.

    `remaining` is the number of whole requests that are left. `reset_at` is the Unix time in seconds at which at least
    one more request becomes available. `allowed` is false if the request did not fit and was not counted.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_at: float


@runtime_checkable
class Limiter(Protocol):
    """Counts requests in sliding windows. Raises `BackendError` on an outage.

    `cost` is in requests, from 0.01 to 1, and is rounded to whole hundredths. Any other value raises `ValueError`.
    """

    async def open(self) -> None:
        """Connect. An unreachable server is not an error, since it may come back."""

    async def close(self) -> None:
        """Close all connections."""

    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        """Atomically count a request if it fits within the limit."""

    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        """Uncount the newest request with this cost, because it ended with an internal error."""

    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        """Return the state without counting anything; `allowed` is true if one whole request would fit."""


_WINDOWS: Final = {1: "second", 60: "minute", 3600: "hour", 86_400: "day"}


@dataclass(frozen=True, slots=True)
class Rate:
    """`requests` (at least 1) in any sliding window of `window_seconds` (at least 1)."""

    requests: int
    window_seconds: int

    def __post_init__(self) -> None:
        if self.requests < 1 or self.window_seconds < 1:
            raise ValueError(f"a rate needs at least 1 request and 1 second, got {self!r}")

    def __str__(self) -> str:
        return f"{self.requests} per {_WINDOWS.get(self.window_seconds) or f'{self.window_seconds} s'}"


def per_minute(requests: int) -> Rate:
    """Return the rate of `requests` in any 60 seconds."""
    return Rate(requests, 60)


def per_hour(requests: int) -> Rate:
    """Return the rate of `requests` in any 3600 seconds."""
    return Rate(requests, 3600)


def per_day(requests: int) -> Rate:
    """Return the rate of `requests` in any 86400 seconds."""
    return Rate(requests, 86400)
