"""Request ids: what a log line, an answer and a report have in common."""

from __future__ import annotations

import random
import re
import time

_random = random.Random()  # noqa: S311 - an id names a request; it is not a secret

_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)


def new_request_id() -> str:
    """Return a new id of 32 lower-case hex digits, the form of a trace id in W3C Trace Context.

    The first 12 digits are the time in milliseconds, so that ids sort by age; the other 80 bits are random.
    """
    return (time.time_ns() // 1_000_000).to_bytes(6, "big").hex() + _random.randbytes(10).hex()


def accept_request_id(header: str | None) -> str | None:
    """Return the id that a client sent as `X-Request-Id`, or `None` where it is not 8 to 64 of `[A-Za-z0-9._-]`."""
    return header if header and _ACCEPTED.fullmatch(header) else None
