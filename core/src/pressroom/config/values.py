"""How single settings are written: durations, sizes, rates, colours, addresses."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr

from pressroom.sdk.rates import Rate

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.ASCII)
_DURATION_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|kib|mib|gib)", re.ASCII | re.IGNORECASE)
_SIZE_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_RATE = re.compile(r"(\d+)\s*(?:/|per)\s*(\d*)\s*(second|minute|hour|day|s|m|min|h|d)s?", re.ASCII | re.IGNORECASE)
_RATE_UNITS = {
    "s": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
}
_HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)


def _duration(value: Any) -> Any:
    if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
        match = _DURATION.fullmatch(value.strip())
        if match is None:
            raise ValueError('must be seconds, or a number with ms, s, m, h or d, such as "90s" or "24h"')
        return float(match[1]) * _DURATION_UNITS[match[2]]
    return value


def _size(value: Any) -> Any:
    if isinstance(value, str) and not value.isdigit():
        match = _SIZE.fullmatch(value.strip())
        if match is None:
            raise ValueError('must be bytes, or a number with KB, MB, GB, KiB, MiB or GiB, such as "5GiB"')
        return int(float(match[1]) * _SIZE_UNITS[match[2].lower()])
    return value


def parse_rate(text: str) -> Rate:
    """Return the rate that `300/hour`, `10 per minute` or `60/10min` writes.

    Raises:
        ValueError: the text is not a rate.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None or not int(match[1]) or match[2] == "0":
        raise ValueError('must be a rate such as "300/hour", "10/minute" or "60/10min"')
    return Rate(int(match[1]), int(match[2] or 1) * _RATE_UNITS[match[3].lower()])


def _rate_text(value: str) -> str:
    parse_rate(value)
    return value


def _hex_colour(value: str) -> str:
    if not _HEX_COLOUR.fullmatch(value):
        raise ValueError("must be a colour of six hex digits, such as #b9502a")
    return value.lower()


def _http_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("must be an address that begins with http:// or https://")
    return value


def without_trailing_slash(value: str) -> str:
    """Return an address without the slashes at its end; clients compare it byte by byte."""
    return value.rstrip("/")


def redis_url(value: SecretStr) -> SecretStr:
    """Return a Redis address unchanged.

    Raises:
        ValueError: it does not begin with `redis://`, `rediss://` or `unix://`.
    """
    if urlsplit(value.get_secret_value()).scheme not in ("redis", "rediss", "unix"):
        raise ValueError("must be an address that begins with redis://, rediss:// or unix://")
    return value


Duration = Annotated[float, BeforeValidator(_duration)]
"""Seconds; written as a number, or with a unit: `"500ms"`, `"90s"`, `"15m"`, `"24h"`, `"7d"`."""

Size = Annotated[int, BeforeValidator(_size)]
"""Bytes; written as a number, or with a unit: `"64KiB"`, `"5GB"`."""

RateText = Annotated[str, AfterValidator(_rate_text)]
"""A rate as operators write it: `"300/hour"`."""

HexColour = Annotated[str, AfterValidator(_hex_colour)]
"""A colour of six hex digits, normalised to lower case."""

HttpUrl = Annotated[str, AfterValidator(_http_url)]
"""An absolute http or https address, kept byte for byte."""
