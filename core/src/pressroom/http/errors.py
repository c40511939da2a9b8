"""Map errors to HTTP: the status of each error code, and headers such as `Retry-After`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pressroom.errors import CallError, CallTimeout, MethodNotAllowed, Overloaded, RateLimited, Rejected

STATUS: Final[Mapping[str, int]] = {
    "invalid_json": 400,
    "validation_error": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "rate_limited": 429,
    "internal_error": 500,
    "overloaded": 503,
    "timeout": 503,
}
"""The HTTP status of each error code of the Tools API (interface contract, section 2.9)."""


def status_of(error: CallError) -> int:
    """Return the HTTP status of an error."""
    return STATUS.get(error.code, error.http_status)


def error_headers(error: CallError) -> dict[str, str]:
    """Return the `Retry-After`, `Allow` or `WWW-Authenticate` (RFC 6750, section 3) header of an error, if it has one.

    A rejected API key has no challenge, because authorizing again would not help.
    """
    if isinstance(error, RateLimited | Overloaded | CallTimeout):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, MethodNotAllowed):
        return {"Allow": ", ".join(error.allowed)}
    if isinstance(error, Rejected) and error.reauthorize:
        return {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    return {}
