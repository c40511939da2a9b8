"""Mask secrets in logs: fields by name, credentials by form, and segments of paths.

A one-time link has its token in the path, and the log outlives the link. The names of a route's segments show which are
secret: `/media/upload/<token>` is logged as `/media/upload/***`.

There are two safety nets: fields whose name implies a secret, and credentials inside any text, such as the query of a
signed URL or the header of a failed request in a traceback. Masking too much costs less than a leak.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from typing import Any, Final

MASK: Final = "***"

_MAX_NAME_LENGTH = 64
_MAX_LEVELS = 8

_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_SECRET_WORDS = frozenset(
    {"authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password", "pwd"}
    | {"secret", "signature", "token", "apikey", "setcookie", "verifier"}
)
_KEY_OWNERS = frozenset({"access", "api", "private", "secret", "signing", "encryption"})

# A name and the separator before its value, in queries, in the repr of records and dicts, in JSON (even inside a
# string) and in header lines. The value is matched separately: it can contain further names.
_FIELD = re.compile(r"(?<![\w-])(?P<name>[A-Za-z_][\w-]*+)(?:(?P<joint>\\*['\"]\s?[:,=]\s?|\s?=\s?)|:\s?)")
_VALUE = re.compile(r"\\*(?:'[^']*'|\"[^\"]*\")|[^\s&'\",;)}\]]*")
_LINE = re.compile(r"\\*(?:'[^']*'|\"[^\"]*\")|[^\r\n]*")
_HEADER = re.compile(r"(?:proxy-)?authorization|(?:set-)?cookie", re.IGNORECASE)

_BEARER = re.compile(r"(\bbearer\s+)[\w.~+/=-]{6,}", re.IGNORECASE)
_USER_INFO = re.compile(r"(://)[^/\s@:'\"]*+:[^/\s@'\"]*+(?=@)")
_OWN_KEY = re.compile(r"(\b[a-z0-9]+_(?:key|oat|ort)_)[\w.-]{16,}")


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Return whether a field's name implies a secret: `password`, `api_key`, `clientSecret`, `Set-Cookie`."""
    words = [word.lower() for word in _WORD.findall(name[:_MAX_NAME_LENGTH])]
    return any(
        word in _SECRET_WORDS or (word == "key" and position > 0 and words[position - 1] in _KEY_OWNERS)
        for position, word in enumerate(words)
    )


def masked_text(text: str) -> str:
    """Mask the credentials in a text: secret fields, bearer tokens, passwords in URLs, keys of this server."""
    if "=" in text or ":" in text or "'" in text or '"' in text:
        text = _masked_fields(text)
        if "@" in text:
            text = _USER_INFO.sub(rf"\1{MASK}", text)
    if " " in text:
        text = _BEARER.sub(rf"\1{MASK}", text)
    return _OWN_KEY.sub(rf"\1{MASK}", text) if "_key_" in text or "_oat_" in text or "_ort_" in text else text


def _masked_fields(text: str) -> str:
    parts: list[str] = []
    position = 0
    for match in _FIELD.finditer(text):
        name = match["name"]
        header = _HEADER.fullmatch(name)
        if match.start() >= position and (header or (match["joint"] and is_secret_name(name))):
            value = (_LINE if header else _VALUE).match(text, match.end())
            parts += [text[position : match.end()], MASK]
            position = value.end() if value else match.end()
    return "".join([*parts, text[position:]]) if parts else text


def mask_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Mask the secrets of a log event (a structlog processor)."""
    for name, value in event.items():
        if is_secret_name(name):
            event[name] = MASK
        elif type(value) is str:
            event[name] = masked_text(value)
        elif type(value) is not int and type(value) is not float:
            event[name] = _masked(value, _MAX_LEVELS)
    return event


def _masked(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return masked_text(value)
    if not levels and isinstance(value, Mapping | list | tuple | set | frozenset):
        return MASK
    if isinstance(value, Mapping):
        return {
            key: MASK if isinstance(key, str) and is_secret_name(key) else _masked(item, levels - 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_masked(item, levels - 1) for item in value]
    return value


class SecretPaths:
    """Masks the secret segments of paths, based on the registered routes."""

    def __init__(self) -> None:
        self._routes: set[tuple[str, ...]] = set()
        self._prefixes: tuple[str, ...] = ()

    def add(self, route: str) -> None:
        """Register a route such as `/media/upload/<token>`; one without a secret is ignored."""
        segments = route.split("/")
        secret = [number for number, segment in enumerate(segments) if is_secret_segment(segment)]
        if secret:
            self._routes.add(tuple(segments[: secret[-1] + 1]))
            self._prefixes = tuple(sorted({"/".join(prefix).partition("<")[0] for prefix in self._routes}))

    def masked(self, path: str) -> str:
        """Return a path with its secrets masked, including any longer path, whether or not a handler serves it."""
        if not path.startswith(self._prefixes):
            return path
        parts = path.split("/")
        for route in self._routes:
            if len(parts) >= len(route) and all(
                segment.startswith("<") or segment == part for segment, part in zip(route, parts, strict=False)
            ):
                for number, segment in enumerate(route):
                    if is_secret_segment(segment):
                        parts[number] = MASK
        return "/".join(parts)


def is_secret_segment(segment: str) -> bool:
    """Return whether a segment of a route holds a secret, by its name."""
    return segment.startswith("<") and is_secret_name(segment.strip("<>").partition(":")[0])
