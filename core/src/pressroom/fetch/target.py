"""Reads the URL that is to be fetched: one strict grammar, so that nobody else can read it differently."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final, Literal

from pressroom.errors import FetchRefused
from pressroom.fetch.addresses import IPAddress

MAX_URL_LENGTH: Final = 2048
"""How many characters a URL may have."""

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?"
)
_VISIBLE = re.compile(r"[!-\[\]-~]+")  # US-ASCII without space, control characters and the backslash
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]|[A-Za-z0-9.-]+)(?::(?P<port>[1-9][0-9]{0,4}))?")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME_LENGTH = 253
_MAX_PORT = 65_535
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in its parts: `host` is a lower-case name or an IP address without brackets."""

    scheme: Literal["https", "http"]
    host: str
    port: int
    path: str
    """The path and the query, as they are sent."""

    address: IPAddress | None
    """The IP address, where the host is written as one."""

    @property
    def authority(self) -> str:
        """What the `Host` header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The full URL; a fragment is not a part of it."""
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_target(url: str) -> Target:
    """Return the parts of a URL.

    Names are letters, digits and hyphens in at least two labels, international ones in their `xn--` form. An IPv4
    address is four decimal numbers; every other spelling of one (`127.1`, `0x7f000001`, `2130706433`) is refused.

    Raises:
        FetchRefused: it is not a valid URL, or leaves room for two readings.
    """
    if len(url) > MAX_URL_LENGTH:
        raise FetchRefused(f"the URL is longer than {MAX_URL_LENGTH} characters")
    if not _VISIBLE.fullmatch(url):
        raise FetchRefused(
            "the URL has a character that a URL cannot have",
            hint="Write other characters than letters, digits and punctuation as %20 and so on, and names as xn--….",
        )
    match = _URL.fullmatch(url)
    scheme = match["scheme"].lower() if match else ""
    if match is None or scheme not in ("https", "http"):
        raise FetchRefused("the URL must begin with https://")
    host, port = _host_and_port(match["authority"], _DEFAULT_PORTS[scheme])
    path = (match["path"] or "/") + (match["query"] or "")
    return Target("https" if scheme == "https" else "http", host, port, path, _ip_address(host))


def _host_and_port(authority: str, default: int) -> tuple[str, int]:
    if "@" in authority:
        raise FetchRefused("the URL must not hold a user name or password")
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise FetchRefused("the host of the URL cannot be read", hint="Write a name such as www.example.org.")
    port = int(match["port"] or default)
    if port > _MAX_PORT:
        raise FetchRefused(f"the port of the URL must be at most {_MAX_PORT}")
    return match["host"].lower().strip("[]"), port


def _ip_address(host: str) -> IPAddress | None:
    labels = host.split(".")
    try:
        if ":" in host:
            return IPv6Address(host)
        if _NUMBER.fullmatch(labels[-1] or labels[-2 if len(labels) > 1 else -1]):
            return IPv4Address(host)
    except ValueError:
        raise FetchRefused(
            "the host of the URL is a number, but not an IP address", hint="Write four numbers, such as 192.0.2.1."
        ) from None
    if len(host) > _MAX_NAME_LENGTH or len(labels) < 2 or not all(map(_LABEL.fullmatch, labels)):
        raise FetchRefused(
            "the host of the URL is not a full domain name",
            hint="Write a name such as www.example.org, without a dot at its end.",
        )
    return None
