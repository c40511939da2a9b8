"""The client IP address and host name of a request, behind the proxies that the operator trusts.

Rate limits count by this IP address, so clients must not be able to choose it. Without trusted proxies, it is the IP
address of the connection. Otherwise, exactly one element of a header is read: the one that a trusted proxy wrote.
"""

from __future__ import annotations

import hmac
import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Protocol

UNKNOWN_IP = "unknown"
"""The placeholder for a connection without an IP address, such as from a proxy on a Unix socket."""

_MAX_LENGTH = 64
_MAX_HOST = 260
_PREFIX_LENGTH = 64
_MAX_PORT = 65_535
_MAX_TRIES = 32

_PORT = r"(?::(?P<port>\d{1,5}|_[\w.-]+))"
_BRACKETED = re.compile(rf"\[([^\[\]]*)\]{_PORT}?", re.ASCII)
_PLAIN = re.compile(rf"([^:\[\]]+){_PORT}", re.ASCII)

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_PAIR = re.compile(rf'[ \t;]*+({_WORD})=(?:({_WORD})|"((?>(?:[^"\\]++|\\.)*))")[ \t]*+(?:;[ \t;]*+|\Z)', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Headers(Protocol):
    """The headers of a request, with case-insensitive names."""

    def get(self, key: str, /, default: str) -> str:
        """Return the first value of a header, or the default."""

    def getall(self, key: str, /, default: list[str]) -> list[str]:
        """Return all values of a header in order, or the default."""

    def items(self) -> Any:
        """Return the (name, value) pairs."""


def client_ip_of(peer: str, headers: Headers, trusted_proxies: int, forwarded_secret: str | None) -> str:
    """Return the client's IP address: an IPv4 address, or the /64 network of an IPv6 address (`2001:db8:1:2::/64`).

    `peer` is the IP address of the connection. `trusted_proxies` is the number of proxies in front that append to
    `X-Forwarded-For`: the client is that number of entries from the right, counted over all lines of the header.
    `forwarded_secret` is the secret that a trusted proxy puts into its element of `Forwarded` (RFC 7239, `secret=…`):
    the client is the `for` of the rightmost element with that secret. If a secret is set, `X-Forwarded-For` is ignored.

    Ports, brackets, zones and the IPv6 form of IPv4 addresses are removed. If the element is missing, obfuscated
    (`for=_hidden`, `unknown`) or not an IP address, the result is `peer`, or `unknown` if that is not an IP address
    either.
    """
    if forwarded_secret:
        forwarded = _by_secret(headers.getall("forwarded", []), forwarded_secret).get("for", "")
    elif trusted_proxies > 0:
        forwarded = _by_count(headers.getall("x-forwarded-for", []), trusted_proxies)
    else:
        return _normalised(peer) or UNKNOWN_IP
    return _client_ip(forwarded) or _client_ip(peer) or UNKNOWN_IP


def host_of(headers: Headers, forwarded_secret: str | None) -> str:
    """Return the host name that a client requested: in lower case, without a port or a trailing dot.

    It comes from `Host`, or from the `host` that a trusted proxy wrote into its element of `Forwarded`.
    `X-Forwarded-Host` is ignored, because proxies pass on whatever the client sent. Proxies that are trusted by their
    number pass on `Host` itself.
    """
    forwarded = (
        _by_secret(headers.getall("forwarded", []), forwarded_secret).get("host", "") if forwarded_secret else ""
    )
    host = (forwarded or headers.get("host", ""))[:_MAX_HOST]
    name = host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.removeprefix("[").rstrip(".").lower()


def _by_count(lines: list[str], count: int) -> str:
    entries = ",".join(lines).rsplit(",", count)
    return entries[-count] if len(entries) >= count else ""


def _by_secret(lines: list[str], secret: str) -> dict[str, str]:
    for line in reversed(lines):
        # Search from the right, because the client controls the left: a string that it leaves open cannot swallow the
        # proxy's element. No element matches from inside a quoted string, since the rest has an odd number of quotes.
        end = start = len(line)
        for _ in range(_MAX_TRIES):
            start = line.rfind(",", 0, start)
            element = _element(line[start + 1 : end])
            if element is not None:
                if _same(element.get("secret", ""), secret):
                    return element
                end = start
            if start < 0:
                break
    return {}


def _element(text: str) -> dict[str, str] | None:
    """Return the parameters of one `forwarded-element` (RFC 7239, section 4), or `None` if the text is not one."""
    parameters: dict[str, str] = {}
    position, text = 0, text.rstrip(" \t")
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None or match[1].lower() in parameters:
            return None
        parameters[match[1].lower()] = match[2] if match[3] is None else _ESCAPED.sub(r"\1", match[3])
        position = match.end()
    return parameters


def _same(candidate: str, secret: str) -> bool:
    return hmac.compare_digest(candidate.encode(errors="surrogatepass"), secret.encode(errors="surrogatepass"))


def _client_ip(text: str) -> str:
    # Headers can be as long as the server accepts, so do not cache longer texts.
    text = text.strip(" \t")
    return _normalised(text) if 0 < len(text) <= _MAX_LENGTH else ""


@lru_cache(maxsize=8192)
def _normalised(text: str) -> str:
    bracketed = _BRACKETED.fullmatch(text)
    match = bracketed or _PLAIN.fullmatch(text)
    if match and (match["port"] or "").isdigit() and int(match["port"]) > _MAX_PORT:
        return ""
    try:
        ip: IPv4Address | IPv6Address = (IPv6Address if bracketed else ip_address)(match[1] if match else text)
    except ValueError:
        return ""
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is None:
            prefix = int(ip) >> (128 - _PREFIX_LENGTH) << (128 - _PREFIX_LENGTH)
            return str(IPv6Network((prefix, _PREFIX_LENGTH)))
        ip = ip.ipv4_mapped
    return str(ip)
