"""Read responses of other servers, within limits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from httpcore import Response

from pressroom.errors import FetchRefused
from pressroom.fetch.shares import ByteBudget, current_share
from pressroom.fetch.target import Target
from pressroom.sdk import Fetched, FetchResponse

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_HEADER_BYTES: Final = 32_768


async def fetched(target: Target, response: Response, max_bytes: int, budget: ByteBudget) -> Fetched:
    """Return a response with its content. Raises `FetchRefused` if it exceeds a limit, or `Overloaded`."""
    _check_head(target, response)
    if any(coding.lower() not in ("", "identity") for coding in _values(response, b"content-encoding")):
        raise FetchRefused(f"{target.host} sends compressed content, which was not requested")
    content = bytearray()
    redirects = response.status in REDIRECTS and bool(_values(response, b"location"))
    if not redirects:  # the body of a redirect is never used
        async for chunk in response.aiter_stream():
            content += chunk
            if len(content) > max_bytes:
                raise FetchRefused(f"{target.host} sends more than {max_bytes} bytes")
            _hold(budget, len(chunk))
    kinds = _values(response, b"content-type")
    media_type = kinds[0].partition(";")[0].strip().lower() if len(kinds) == 1 else ""
    return Fetched(target.url, response.status, media_type, bytes(content), _gathered(response))


def _gathered(response: Response) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def examined(
    target: Target, response: Response, max_bytes: int, started_at: float, budget: ByteBudget
) -> FetchResponse:
    """Return a response unprocessed, with its content truncated at `max_bytes`.

    Raises `FetchRefused` if its headers are too large, or `Overloaded`.
    """
    first_byte = time.monotonic() - started_at
    _check_head(target, response)
    content = bytearray()
    async for chunk in response.aiter_stream():
        content += chunk
        _hold(budget, len(chunk))
        if len(content) > max_bytes:
            break
    headers = tuple((name.lower().decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
    return FetchResponse(
        url=target.url,
        status=response.status,
        headers=headers,
        content=bytes(content[:max_bytes]),
        whole=len(content) <= max_bytes,
        first_byte=first_byte,
        seconds=time.monotonic() - started_at,
    )


def _hold(budget: ByteBudget, size: int) -> None:
    share = current_share()
    if share.purpose == "anonymous":
        share.hold(budget, size)


def _check_head(target: Target, response: Response) -> None:
    if sum(len(name) + len(value) for name, value in response.headers) > _MAX_HEADER_BYTES:
        raise FetchRefused(f"{target.host} sends more than {_MAX_HEADER_BYTES} bytes of headers")


def _values(response: Response, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in response.headers if key.lower() == name]
