"""Validate the targets of fetches: the grammar of URLs, public IP addresses, and connections pinned to checked ones.

`ipaddress.is_global` follows IANA's special-purpose registries, but accepts multicast, forms that wrap another IP
address, and IP addresses that a cloud serves inside its own network. The lists here exclude these too.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Literal, Protocol, TypeVar

from httpcore import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream, ConnectError

from pressroom.errors import FetchFailed, FetchRefused

IPAddress = IPv4Address | IPv6Address

_DENIED_V4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by carriers (RFC 6598)
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's virtual host, with metadata
            "169.254.0.0/16",  # link-local, with most clouds' metadata
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments (RFC 6890), with a cloud's metadata
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT relays
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, with the broadcast address
        ),
    )
)

_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""All unicast IP addresses assigned so far (RFC 4291); anything else is local, wrapped or multicast."""

_DENIED_V6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # AS112
            "3ffe::/16",  # the former 6bone
            "3fff::/20",  # documentation
        ),
    )
)

_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)

MAX_URL_LENGTH: Final = 2048
"""The maximum length of a URL in characters."""

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
_MAX_TRIES = 4


def is_public(ip: IPAddress) -> bool:
    """Return whether an IP address belongs to a host on the public internet.

    An IPv4 address in IPv6 form (`::ffff:…`) or behind NAT64 (`64:ff9b::…`, RFC 6052) counts as the one that it wraps.
    6to4, Teredo and IPv4-compatible addresses are never public: they are not needed, and can lead anywhere.
    """
    if isinstance(ip, IPv4Address):
        return ip.is_global and not _within(ip, _DENIED_V4)
    if ip.scope_id is not None:
        return False
    wrapped = ip.ipv4_mapped or _translated(ip)
    if wrapped is not None:
        return is_public(wrapped)
    return (
        ip in _GLOBAL_UNICAST
        and ip.is_global
        and not any(ip in network for network in _DENIED_V6)
        and _tunnel_end_is_public(ip)
    )


def _within(ip: IPv4Address, networks: tuple[IPv4Network, ...]) -> bool:
    return any(ip in network for network in networks)


def _translated(ip: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in _NAT64 else None


def _tunnel_end_is_public(ip: IPv6Address) -> bool:
    """Check the IPv4 address at the end of an ISATAP address (RFC 5214, section 6.1)."""
    if int(ip) >> 32 & 0xFFFF_FFFF not in _ISATAP:
        return True
    return is_public(IPv4Address(int(ip) & 0xFFFF_FFFF))


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL. `host` is a lower-case name or an IP address without brackets."""

    scheme: Literal["https", "http"]
    host: str
    port: int
    path: str
    """The path and the query, as sent."""

    address: IPAddress | None
    """The IP address if the host is written as one, otherwise `None`."""

    @property
    def authority(self) -> str:
        """The value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The full URL, without the fragment."""
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_target(url: str) -> Target:
    """Parse a URL.

    Names are letters, digits and hyphens in at least two labels, international ones in their `xn--` form. An IPv4
    address is four decimal numbers; any other spelling of one (`127.1`, `0x7f000001`, `2130706433`) is refused.

    Raises:
        FetchRefused: it is not a valid URL, or is ambiguous.
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


def parse_host(host: str) -> tuple[str, IPAddress | None]:
    """Return a host's normalised name, and its IP address if it is written as one; the rules are those of URLs.

    Raises:
        FetchRefused: it is not a full domain name or IP address, or is ambiguous.
    """
    bracketed = f"[{host}]" if ":" in host else host
    name, _ = _host_and_port(bracketed, 0)
    return name, _ip_address(name)


def _host_and_port(authority: str, default: int) -> tuple[str, int]:
    if "@" in authority:
        raise FetchRefused("the URL must not contain a user name or password")
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


class Resolver(Protocol):
    """Resolves names to IP addresses."""

    async def resolve(self, name: str) -> Sequence[IPAddress]:
        """Return all IP addresses of a name, the best first. Raises `OSError` if it has none."""

    def close(self) -> None:
        """Release the resources of look-ups."""


class SystemResolver:
    """Resolves names with the system's resolver.

    It has its own threads: the system's look-up cannot be cancelled, and a malicious name server can stall it. That
    must not block the process's other threads.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolve")

    async def resolve(self, name: str) -> Sequence[IPAddress]:
        """Return all IP addresses of a name, in the system's order."""
        texts = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, name)
        return [ip_address(text) for text in dict.fromkeys(texts)]

    def close(self) -> None:
        """Drop look-ups that have not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(name: str) -> list[str]:
    # The trailing dot keeps the system from trying the name in the domains of its search list.
    entries = socket.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in entries]


T = TypeVar("T")


async def connect_first(
    name: str, ips: Sequence[IPAddress], seconds: float, connect: Callable[[str], Awaitable[T]]
) -> T:
    """Return a connection to the first IP address that responds, each within its share of the time.

    At most 4 IP addresses are tried.

    Raises:
        FetchFailed: none of them responds.
    """
    candidates = ips[:_MAX_TRIES]
    for ip in candidates:
        try:
            async with asyncio.timeout(seconds / len(candidates)):
                return await connect(str(ip))
        except (ConnectError, OSError):
            continue
    raise FetchFailed(f"could not connect to {name}")


class PinnedBackend(AsyncNetworkBackend):
    """Makes the single connection of one request, to the first of the given IP addresses that responds.

    The host name from httpcore is not resolved again; it is only used to verify the certificate.
    """

    def __init__(self, name: str, ips: Sequence[IPAddress], seconds: float) -> None:
        self._name = name
        self._ips = ips
        self._seconds = seconds
        self._stream: AsyncNetworkStream | None = None

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Return a connection. Raises `FetchFailed` if no IP address responds."""

        async def connect(ip: str) -> AsyncNetworkStream:
            return await AnyIOBackend().connect_tcp(
                ip, port, local_address=local_address, socket_options=socket_options
            )

        self._stream = await connect_first(self._name, self._ips, self._seconds, connect)
        return self._stream

    async def close(self) -> None:
        """Close the connection, which httpcore leaves open if it is cancelled during the TLS handshake."""
        if self._stream is not None:
            await self._stream.aclose()
