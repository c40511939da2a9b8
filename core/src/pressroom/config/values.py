"""Types of settings (durations, sizes, rates, colours, URLs) and the base class of configuration tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from string import punctuation
from typing import Annotated, Any, Final
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetJsonSchemaHandler,
    SecretStr,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from pressroom.sdk.backends import Rate

MIN_SECRET_BYTES: Final = 16
"""Minimum length of `secret_key`."""


class Section(BaseModel):
    """Base class of all configuration tables. Unknown keys are errors, and instances are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables recursively. Values in `above` override values in `below`."""
    merged = dict(below)
    for key, value in above.items():
        existing = merged.get(key)
        if isinstance(existing, Mapping) and isinstance(value, Mapping):
            merged[key] = merge(existing, value)
        else:
            merged[key] = value
    return merged


def nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a table with one value at `path`, which needs at least one part."""
    *outer, last = path
    table = {last: value}
    for part in reversed(outer):
        table = {part: table}
    return table


_NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)"
_DURATION = re.compile(rf"{_NUMBER} *(ms|s|m|h|d)?", re.ASCII)
_DURATION_UNITS: Final[Mapping[str, Fraction]] = {
    "": Fraction(1),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86_400),
}
_MAX_DAYS: Final = 36_500
"""A hundred years. The current time plus a much longer duration has no date."""

_SIZE = re.compile(rf"{_NUMBER} *(b|kb|mb|gb|kib|mib|gib)?", re.ASCII | re.IGNORECASE)
_SIZE_UNITS: Final[Mapping[str, int]] = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_RATE = re.compile(
    r"(\d{1,9}) *(?:/|per) *(\d{0,6}) *(s|seconds?|m|mins?|minutes?|h|hours?|d|days?)", re.ASCII | re.IGNORECASE
)
_RATE_UNITS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_MAX_RATE_LENGTH: Final = 60
_HEX_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)
_DATABASE_DRIVERS: Final[Mapping[str, str]] = {"postgresql": "postgresql+asyncpg", "sqlite": "sqlite+aiosqlite"}
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _OrText:
    """Declares in the JSON Schema that a number can also be written as text matching a pattern.

    The bounds apply to both alternatives; JSON Schema checks them for numbers only.
    """

    pattern: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        number = handler(schema)
        bounds = {name: bound for name, bound in number.items() if name != "type"}
        return {"anyOf": [{"type": number["type"]}, {"type": "string", "pattern": self.pattern}], **bounds}


def _duration(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            raise ValueError('must be seconds, or a number with ms, s, m, h or d, such as "90s" or "24h"')
        seconds = float(Fraction(match[1]) * _DURATION_UNITS[match[2] or ""])
    if seconds > _MAX_DAYS * 86_400:
        raise ValueError(f'must be at most "{_MAX_DAYS}d", a hundred years')
    return seconds


def _size(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    size = Fraction(match[1]) * _SIZE_UNITS[(match[2] or "").lower()] if match else None
    if size is None or size.denominator != 1:
        raise ValueError(
            'must be a whole number of bytes, or a number with KB, MB, GB, KiB, MiB or GiB, such as "5GiB"'
        )
    return size.numerator


def _whole(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a whole number")  # noqa: TRY004 - pydantic reports a ValueError, a TypeError escapes
    return value


def parse_rate(text: str) -> Rate:
    """Parse a rate such as `300/hour`, `10 per minute` or `60/10min`.

    Raises:
        ValueError: The text is not a rate.
    """
    match = _RATE.fullmatch(text.strip()) if len(text) <= _MAX_RATE_LENGTH else None
    requests, periods = (int(match[1]), int(match[2] or 1)) if match else (0, 0)
    if match is None or not requests or not periods:
        raise ValueError('must be a rate such as "300/hour", "10/minute" or "60/10min"')
    return Rate(requests, periods * _RATE_UNITS[match[3][0].lower()])


def _rate_text(value: Any) -> Any:
    parse_rate(value if isinstance(value, str) else "")
    return value


def _hex_colour(value: str) -> str:
    if not _HEX_COLOUR.fullmatch(value):
        raise ValueError("must be a colour of six hex digits, such as #b9502a")
    return value.lower()


def _split(value: str) -> SplitResult | None:
    """Return the parts of a URL, or `None` if it is malformed; the parser's own message might quote a password."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 or _NOT_IN_URLS.search(value) else parts


def _http_url(value: str) -> str:
    parts = _split(value)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be a URL that begins with http:// or https://")
    return value


_RESPONSE_MEMBERS: Final = frozenset(
    {
        "ok", "data", "error", "meta",
        "version", "baseUrl", "platform", "mcp", "llmInstructions", "tools", "stats",
    }
)  # fmt: skip
"""Members of the Tools API's envelopes and of the catalog, next to the promotional block."""


def brand_key(key: str) -> str:
    """Return the key of the promotional block, which must not replace another member of a response."""
    if key in _RESPONSE_MEMBERS:
        raise ValueError(
            f"must not be the name of another member of responses ({', '.join(sorted(_RESPONSE_MEMBERS))})"
        )
    return key


def without_trailing_slash(value: str) -> str:
    """Return a URL without trailing slashes, because clients compare it byte by byte.

    Raises:
        ValueError: The URL has user information, a query or a fragment, so no path can be appended.
    """
    if any(mark in value for mark in "?#@"):
        raise ValueError("must be a URL without user name, query and fragment")
    return value.rstrip("/")


def ascii_url(value: str) -> str:
    """Return a URL as clients send it: with the host name as in DNS (IDNA), and other letters percent-encoded.

    Raises:
        ValueError: The host name has no unambiguous ASCII form.
    """
    if value.isascii():
        return value
    parts = urlsplit(value)
    netloc = parts.netloc
    if not netloc.isascii():
        netloc = _ascii_host(parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    return urlunsplit(parts._replace(netloc=netloc, path=quote(parts.path, safe=punctuation)))


def _ascii_host(name: str) -> str:
    try:
        encoded = name.encode("idna")
        decoded = encoded.decode("idna")
    except UnicodeError:
        encoded, decoded = b"", ""
    # They differ if IDNA 2003 replaces a letter that IDNA 2008 keeps, such as ß or a zero-width joiner.
    if decoded != name:
        raise ValueError("its host name has no unambiguous ASCII form; write it as xn--…")
    return encoded.decode("ascii")


def redis_url(value: SecretStr) -> SecretStr:
    """Check a Redis URL and return it unchanged.

    Raises:
        ValueError: The URL does not begin with `redis://`, `rediss://` or `unix://`, or its database is not a number.
    """
    parts = _split(value.get_secret_value())
    if parts is None or parts.scheme not in ("redis", "rediss", "unix"):
        raise ValueError("must be a URL that begins with redis://, rediss:// or unix://")
    if parts.scheme != "unix" and not re.fullmatch(r"/?\d*/?", parts.path, re.ASCII):
        # The client would use database 0, which may belong to another application.
        raise ValueError("must end with the number of a database, such as redis://127.0.0.1:6379/1")
    return value


def signing_key(value: SecretStr) -> SecretStr:
    """Return the value unchanged.

    Raises:
        ValueError: It has fewer than 16 bytes.
    """
    size = len(value.get_secret_value().encode())
    if size < MIN_SECRET_BYTES:
        raise ValueError(
            f"must have at least {MIN_SECRET_BYTES} bytes (got {size}); "
            'make one with: python -c "import secrets; print(secrets.token_hex())"'
        )
    return value


def database_url(value: SecretStr) -> SecretStr:
    """Return a database URL with the driver that SQLAlchemy needs.

    Raises:
        ValueError: The URL does not begin with `postgresql://` or `sqlite:///`, has an invalid port, or names no file.
    """
    text = value.get_secret_value()
    for scheme, driver in _DATABASE_DRIVERS.items():
        for prefix in (f"{scheme}://", f"{driver}://"):
            if text.startswith(prefix):
                remaining = text.removeprefix(prefix)
                if scheme == "sqlite" and remaining.strip("/") in ("", ":memory:"):
                    raise ValueError("must name a file, as sqlite:////var/lib/pressroom/accounts.sqlite")
                if not _has_sound_port(text):
                    raise ValueError("its port is not a number; write @ / : in a password as %40 %2F %3A")
                return SecretStr(f"{driver}://{remaining}")
    raise ValueError("must be a URL that begins with postgresql:// or sqlite:///")


def _has_sound_port(url: str) -> bool:
    try:
        return urlsplit(url).port != 0
    except ValueError:
        return False


def _folder(value: Path) -> Path:
    if not value.parts or "\0" in str(value):
        raise ValueError("must name a folder")
    try:
        return value.expanduser()
    except RuntimeError:
        raise ValueError("must name a folder; the user has no home folder for ~") from None


Duration = Annotated[float, BeforeValidator(_duration), _OrText(r"^\s*\d+(\.\d+)? *(ms|s|m|h|d)?\s*$")]
"""A duration in seconds, written as a number or with a unit: `"500ms"`, `"90s"`, `"15m"`, `"24h"`, `"7d"`.

It is at most 36,500 days.
"""

Size = Annotated[int, BeforeValidator(_size), _OrText(r"^\s*\d+(\.\d+)? *([Bb]|[KkMmGg]([Ii])?[Bb])?\s*$")]
"""A size in bytes, written as a number or with a unit: `"64KiB"`, `"5GB"`."""

WholeNumber = Annotated[int, BeforeValidator(_whole)]
"""A whole number; unlike a plain `int`, it does not accept `true` as 1."""

RateText = Annotated[
    str,
    BeforeValidator(_rate_text),
    WithJsonSchema({"type": "string", "pattern": r"^\s*\d{1,9} *(/|[Pp][Ee][Rr]) *\d* *[A-Za-z]+\s*$"}),
]
"""A rate in its text form: `"300/hour"`."""

HexColour = Annotated[
    str, AfterValidator(_hex_colour), WithJsonSchema({"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"})
]
"""A colour with six hex digits, converted to lower case."""

HttpUrl = Annotated[
    str, AfterValidator(_http_url), WithJsonSchema({"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"})
]
"""An absolute http or https URL, kept unchanged."""

Folder = Annotated[Path, AfterValidator(_folder)]
"""A path to a folder; a leading `~` is expanded to the home folder."""

PluginId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,31}$")]
"""The ID of a plugin: the name of its entry point."""

ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""The slug of a generator, or the name of an MCP tool."""

PlanName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
"""The name of a plan."""

QuotaName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
"""A quota class, such as `articles_created`."""
