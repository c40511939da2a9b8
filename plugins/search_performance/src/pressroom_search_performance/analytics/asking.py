"""Reading the answers of analytics, and the URLs of their servers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pressroom.sdk import BackendError, InvalidInput

_MAX_INTEGER = 2**53
_DEFAULT_PORTS = {"http": 80, "https": 443}


def counted(value: Any) -> int | None:
    """Return a number of an answer as a whole one that is not negative, or `None` if it is invalid."""
    number = fraction(value)
    return None if number is None else int(number)


def fraction(value: Any) -> float | None:
    """Return a number of an answer that is not negative, also where it is written as a text, or `None`."""
    if isinstance(value, str) and len(value) < 20:
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):  # an integer may be larger than any float
        return None
    return float(min(max(value, 0), _MAX_INTEGER))


def share(part: float | None, whole: float | None) -> float | None:
    """Return what part of a whole something is, 0 to 1, or `None` where that cannot be told."""
    return None if part is None or not whole else round(min(part / whole, 1.0), 4)


def mean(total: float | None, count: float | None) -> float | None:
    """Return a mean, or `None` where it cannot be told."""
    return None if total is None or not count else round(total / count, 1)


def unreadable(title: str) -> BackendError:
    """Return the error for an answer that is JSON, and not what the documentation says."""
    return BackendError(f"{title} answered with something that cannot be read")


def server_of(credential: Mapping[str, str], usual: str = "") -> str:
    """Return the URL of the server that a person typed, without a slash at its end, or the usual one.

    Raises `InvalidInput`.
    """
    typed = credential.get("server", "").strip().rstrip("/")
    if not typed:
        return usual.rstrip("/")
    try:
        parts = urlsplit(typed)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    wrong = parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment
    if wrong or not typed.isascii() or not typed.isprintable() or " " in typed:
        raise InvalidInput("server", "must be a URL such as https://analytics.example.com")
    ending = f":{port}" if port is not None and port != _DEFAULT_PORTS[parts.scheme] else ""
    return f"{parts.scheme}://{host}{ending}{parts.path}"


def path_of(url: str) -> str:
    """Return the path of a page, as analytics name pages."""
    return urlsplit(url).path or "/"
