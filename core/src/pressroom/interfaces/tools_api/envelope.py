"""The envelopes of the Tools API (interface contract, sections 2.6, 2.7 and 2.9)."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from pressroom.errors import CallError, CallTimeout, Overloaded, RateLimited
from pressroom.pipeline.context import RenderedFile, ValidatedCall
from pressroom.pipeline.file_data import file_data, iso_time
from pressroom.sdk import LimitStatus

if TYPE_CHECKING:  # it brings Sanic, which `pressroom openapi` does without
    from pressroom.http.responses import EncodedHeaders

VERSION: Final = "1.0"

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
"""The HTTP status of each error code."""

_MAX_WARNING_LENGTH: Final = 300
_MAX_WARNINGS_LENGTH: Final = 4000

_NO_LIMIT = LimitStatus(allowed=True, limit=0, remaining=0, reset_at=0)


class Envelopes:
    """Builds the JSON bodies of one host. `brand` is the promotional block, under the operator's `brand_key`."""

    def __init__(self, brand_key: str, brand: Mapping[str, Any]) -> None:
        self._brand_key = brand_key
        self._brand = orjson.Fragment(orjson.dumps(brand))

    def success(self, call: ValidatedCall, file: RenderedFile, endpoint: str) -> bytes:
        """Return the envelope of a file that can be fetched from `call.url`."""
        meta = self._meta(call.request.tool_name, endpoint, call.cached, call.limit_status)
        return orjson.dumps({"ok": True, "data": file_data(call, file), "meta": meta, self._brand_key: self._brand})

    def failure(self, error: CallError, tool: str, endpoint: str, status: LimitStatus | None = None) -> bytes:
        """Return the envelope of an error."""
        shown: dict[str, Any] = {"code": error.code, "message": error.message}
        if isinstance(error, RateLimited | Overloaded | CallTimeout):
            shown["retryAfter"] = error.retry_after
        return orjson.dumps(
            {
                "ok": False,
                "error": shown,
                "meta": self._meta(tool, endpoint, False, status),
                self._brand_key: self._brand,
            }
        )

    def document(self, data: Mapping[str, Any]) -> bytes:
        """Return the envelope of a single descriptor (interface contract, section 2.10)."""
        return orjson.dumps({"ok": True, "data": data, self._brand_key: self._brand})

    def branded(self, document: Mapping[str, Any]) -> bytes:
        """Return a document with the promotional block beside its own members."""
        return orjson.dumps({**document, self._brand_key: self._brand})

    @staticmethod
    def _meta(tool: str, endpoint: str, cached: bool, status: LimitStatus | None) -> dict[str, Any]:
        now = time.time()
        known = status or _NO_LIMIT
        return {
            "tool": tool,
            "endpoint": endpoint,
            "version": VERSION,
            "cached": cached,
            "timestamp": iso_time(now),
            "rateLimit": {
                "limit": known.limit,
                "remaining": known.remaining,
                "resetAt": iso_time(math.ceil(max(known.reset_at, now))),
            },
        }


def rate_limit_headers(status: LimitStatus | None) -> EncodedHeaders:
    """Return the `RateLimit-*` headers; `RateLimit-Reset` is in whole seconds from now."""
    known = status or _NO_LIMIT
    return (
        (b"RateLimit-Limit", b"%d" % known.limit),
        (b"RateLimit-Remaining", b"%d" % known.remaining),
        (b"RateLimit-Reset", b"%d" % max(0, math.ceil(known.reset_at - time.time()))),
    )


def warning_headers(warnings: Sequence[str]) -> EncodedHeaders:
    """Return the header `X-Warnings`, a JSON array in US-ASCII; none where there is nothing to warn of.

    Proxies bound headers: a long sentence is cut, and what does not fit is left to `data.warnings`.
    """
    value = ""
    for count in range(1, len(warnings) + 1):
        longer = json.dumps([_cut(warning) for warning in warnings[:count]])
        if len(longer) > _MAX_WARNINGS_LENGTH:
            break
        value = longer
    return ((b"X-Warnings", value.encode("ascii")),) if value else ()


def _cut(warning: str) -> str:
    return warning if len(warning) <= _MAX_WARNING_LENGTH else f"{warning[: _MAX_WARNING_LENGTH - 1]}…"
