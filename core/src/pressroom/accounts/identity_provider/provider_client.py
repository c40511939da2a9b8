"""Requests to the provider: bounded in size and time; its documents are kept for a while."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

import httpx
import orjson
import structlog

from pressroom.validation.echo import quoted

MAX_BYTES: Final = 262_144

_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}


class ProviderError(Exception):
    """The provider did not answer, or not with what the standards ask for. The text is for the operator's log."""


class ProviderClient:
    """Sends requests to one provider.

    Args:
        http: the client; redirects are not followed, whatever it is set to.
        seconds: how long one request may take, from the connection to the last byte.
    """

    def __init__(self, http: httpx.AsyncClient, seconds: float) -> None:
        self._http = http
        self._seconds = seconds

    async def json(
        self,
        method: str,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        error_statuses: tuple[int, ...] = (),
    ) -> dict[str, Any]:
        """Return the JSON object that a request is answered with.

        Args:
            method: `GET` or `POST`.
            url: an https URL, or one on loopback.
            form: fields of the body.
            headers: headers besides our own.
            error_statuses: statuses other than 200 whose body the caller wants to see.

        Raises:
            ProviderError: there was no such answer; the reason holds nothing that was sent.
        """
        check_url(url)
        try:
            async with asyncio.timeout(self._seconds):
                status, body = await self._exchange(method, url, form, headers)
        except TimeoutError:
            raise ProviderError(f"no answer within {self._seconds:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ProviderError(f"cannot be reached ({type(error).__name__})") from None
        if status != 200 and status not in error_statuses:
            raise ProviderError(f"answered with status {status}")
        return json_object(body)

    async def _exchange(
        self, method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        request = self._http.build_request(method, url, data=form, headers={**_HEADERS, **(headers or {})})
        response = await self._http.send(request, stream=True, follow_redirects=False)
        try:
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise ProviderError("compressed an answer that was asked for as it is")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ProviderError(f"answered with more than {MAX_BYTES} bytes")
            return response.status_code, bytes(body)
        finally:
            await response.aclose()


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body. Raises `ProviderError`."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise ProviderError("answered with something that is not JSON") from None
    if not isinstance(found, dict):
        raise ProviderError("answered with JSON that is not an object")
    return found


def check_url(url: str) -> None:
    """Make sure that a URL is safe to send secrets to: https, or this machine. Raises `ProviderError`."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        raise ProviderError(f"{quoted(url)} is not a URL") from None
    if not host or parts.scheme not in ("https", "http") or (parts.scheme == "http" and not _is_loopback(host)):
        raise ProviderError(f"{quoted(url, 200)} is not an https URL")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


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
