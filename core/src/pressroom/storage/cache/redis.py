"""The cache index shared by several hosts."""

from __future__ import annotations

import orjson
from redis.exceptions import ResponseError

from pressroom.sdk.backends import CacheEntry
from pressroom.storage.redis import RedisConnection

FORMAT = 2
"""Part of every key: entries that an older host wrote in another format are not found, rather than misread."""


class RedisCacheIndex:
    """Keeps cache entries in Redis, each as a JSON object; implements `pressroom.sdk.CacheIndex`."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._redis = connection.client

    async def open(self) -> None:
        """Connect. An unreachable server is not an error, since it may come back."""
        await self._connection.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def get(self, content_id: str) -> CacheEntry | None:
        """Return the entry, or `None`. An invalid entry is removed.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        return await self._connection.call("cache.get", lambda: self._get(self._key(content_id)))

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        """Store an entry for at most `seconds`; 0 removes it.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        if seconds <= 0:
            await self.delete(content_id)
            return
        key, value = self._key(content_id), encode(entry)
        await self._connection.call("cache.put", lambda: self._redis.set(key, value, px=seconds * 1000))

    async def delete(self, content_id: str) -> None:
        """Remove an entry; a missing one is not an error.

        Raises:
            BackendError: the server is down, did not respond in time, or refused the command.
        """
        await self._connection.call("cache.delete", lambda: self._redis.delete(self._key(content_id)))

    def _key(self, content_id: str) -> str:
        return f"{self._connection.prefix}:cache:{FORMAT}:{content_id}"

    async def _get(self, key: str) -> CacheEntry | None:
        try:
            value = await self._redis.get(key)
        except ResponseError as error:
            if not str(error).startswith("WRONGTYPE"):
                raise
            value = ""
        if value is None:
            return None
        entry = decode(value)
        if entry is None:
            await self._redis.delete(key)
        return entry


def encode(entry: CacheEntry) -> bytes:
    """Serialise an entry as a JSON object. Its details become a string, which preserves them byte for byte.

    Raises:
        ValueError: the details are not UTF-8.
    """
    return orjson.dumps(
        {
            "key": entry.key,
            "media_type": entry.media_type,
            "size": entry.size,
            "details": entry.details.decode(),
            "warnings": entry.warnings,
            "preview": entry.preview,
        }
    )


def decode(value: bytes | str) -> CacheEntry | None:
    """Parse an entry written by `encode`, or return `None` if it is not valid."""
    try:
        match orjson.loads(value):
            case {
                "key": str(key),
                "media_type": str(media_type),
                "size": int(size),
                "details": str(details),
                "warnings": [*warnings],
                "preview": str(preview),
            } if (
                size >= 0
                and all(isinstance(warning, str) for warning in warnings)
                and isinstance(orjson.loads(details), dict)
            ):
                return CacheEntry(key, media_type, size, details.encode(), tuple(warnings), preview)
    except orjson.JSONDecodeError:
        pass
    return None
