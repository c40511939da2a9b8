"""Fetch single URLs safely, within limits."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from ipaddress import IPv4Network, IPv6Network, ip_address
from types import TracebackType
from typing import Final, Literal, Self, get_args
from urllib.parse import urljoin

import certifi
from httpcore import URL, AsyncHTTPConnection, ConnectError, NetworkError, Origin, ProtocolError, Response

from pressroom.errors import FetchFailed, FetchRefused, FetchUnknown
from pressroom.fetch.responses import REDIRECTS, examined, fetched
from pressroom.fetch.shares import ByteBudget, FairSlots, Purpose, current_purpose, current_share
from pressroom.fetch.target import (
    IPAddress,
    PinnedBackend,
    Resolver,
    SystemResolver,
    Target,
    connect_first,
    is_public,
    parse_host,
    parse_target,
)
from pressroom.sdk import Fetched, FetchResponse
from pressroom.version import VERSION

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_STREAM_PORTS: Final = (22, 443)
"""Ports of the public internet that protocols other than HTTP can use: SSH servers listen on both."""


@cache
def _public_authorities() -> ssl.SSLContext:
    """Return the TLS context with the public certificate authorities. Loading them takes tens of milliseconds."""
    return ssl.create_default_context(cafile=certifi.where())


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """The method, headers and content of a request."""

    method: str
    headers: Mapping[str, str]
    content: bytes = b""

    @property
    def harmless(self) -> bool:
        """Whether the method is safe (RFC 9110, section 9.2.1), so that the request can be sent again."""
        return self.method in _SAFE

    def for_another_origin(self) -> OutgoingRequest:
        """Return the request without headers that are only for the original host, such as its credential."""
        return replace(self, headers={name: text for name, text in self.headers.items() if name.lower() in _HARMLESS})


_HARMLESS: Final = frozenset({"accept", "accept-language", "user-agent"})


class GuardedFetcher:
    """Fetches untrusted URLs, over https and from the public internet only.

    Every name is resolved once, and the connection goes to the IP address that was checked, so that a name server
    cannot return another one the second time (DNS rebinding). Redirects go through the same checks. Only the URL and
    the accepted types are sent: no cookies and no credentials. Proxies from the environment are not used. Compressed
    content is refused.

    Use it as an asynchronous context manager, or call `open` and `close`.

    Args:
        concurrency: how many URLs are fetched at once; further ones wait, within their timeout.
        fair: whether owners and purposes have shares of these; see `FairSlots`.
        anonymous_bytes: how many fetched bytes are held at once for anonymous clients; 0 means no limit.
        tls: the TLS context that verifies certificates; by default, with the public authorities.
        resolver: resolves names; by default, the system's resolver. It is closed with the fetcher.
        exempt: pairs of IP address and port that are allowed although they are not public or not on port 443, also
            with plain http. For tests.
        private_networks: networks where the operator allows any port and plain http.
    """

    def __init__(
        self,
        *,
        concurrency: int = 8,
        fair: bool = False,
        anonymous_bytes: int = 0,
        tls: ssl.SSLContext | None = None,
        resolver: Resolver | None = None,
        exempt: Collection[tuple[str, int]] = (),
        private_networks: Collection[IPv4Network | IPv6Network] = (),
    ) -> None:
        self._concurrency = concurrency
        self._fair = fair
        self._budget = ByteBudget(anonymous_bytes)
        self._tls = tls or _public_authorities()
        self._resolver = resolver
        self._exempt = frozenset((ip_address(ip), port) for ip, port in exempt)
        self._private = tuple(private_networks)

    async def open(self) -> None:
        """Prepare for fetching, without connecting to anything yet."""
        self._slots = FairSlots(self._concurrency, fair=self._fair)
        # A look-up cannot be cancelled, and a malicious name server can stall it: each purpose has its own threads.
        self._names = {purpose: self._resolver or SystemResolver(self._concurrency) for purpose in get_args(Purpose)}

    async def close(self) -> None:
        """Drop look-ups that have not begun. Connections never outlast their request."""
        for names in self._names.values():
            names.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """Return the response of a URL, whatever its status.

        Args:
            url: an https URL.
            accept: the `Accept` header, such as `image/png, image/jpeg`.
            max_bytes: the maximum size of the content.
            seconds: timeout in seconds for everything: waiting, resolving, redirects and content.
            redirects: how many redirects are followed.

        Raises:
            FetchRefused: the URL is not allowed, or the response exceeds a limit.
            FetchFailed: there was no complete response in time.
        """
        outgoing = OutgoingRequest("GET", {"Accept": accept})
        target, response = await self._within(seconds, outgoing, parse_target(url), max_bytes, redirects)
        if _redirect(target, response) is not None:
            raise FetchRefused(f"the URL redirects more than {redirects} times")
        return response

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int,
        seconds: float,
        redirects: int = 0,
    ) -> Fetched:
        """Send a request and return its response, whatever its status; see `pressroom.sdk.Fetcher.request`.

        Raises:
            FetchRefused: the URL is not allowed, or the response to a safe method exceeds a limit.
            FetchFailed: the request had no effect: nothing was sent, or the method is safe (RFC 9110, section 9.2.1).
            FetchUnknown: the request may have had its effect, but there was no complete response within the limits.
            ValueError: `redirects` is set for a method that is not safe, or a header cannot be sent.
        """
        if redirects and method not in _SAFE:
            raise ValueError(f"{method} is not redirected: it would be sent twice")
        outgoing = OutgoingRequest(method, headers or {}, content)
        _, response = await self._within(seconds, outgoing, parse_target(url), max_bytes, redirects)
        return response

    async def _within(
        self, seconds: float, outgoing: OutgoingRequest, target: Target, max_bytes: int, redirects: int
    ) -> tuple[Target, Fetched]:
        """Send a request and follow its redirects; return the last response and its target."""
        followed: tuple[str, ...] = ()
        try:
            async with asyncio.timeout(seconds), self._slots.one():
                while True:
                    response = replace(await self._exchange(target, outgoing, max_bytes, seconds), redirects=followed)
                    next_target = _redirect(target, response) if len(followed) < redirects else None
                    if next_target is None:
                        return target, response
                    followed += (target.url,)
                    if (next_target.scheme, next_target.authority) != (target.scheme, target.authority):
                        outgoing = outgoing.for_another_origin()
                    target = next_target
        except TimeoutError:
            message = f"{target.host} did not respond within {seconds:g} s"
            raise (FetchFailed(message) if outgoing.harmless else FetchUnknown(message)) from None

    async def exchange(
        self,
        url: str,
        *,
        accept: str,
        max_bytes: int,
        seconds: float,
        method: Literal["GET", "HEAD"] = "GET",
        encodings: str = "identity",
        plain_http: bool = False,
    ) -> FetchResponse:
        """Return the unprocessed response to one request; see `pressroom.sdk.Fetcher.exchange`.

        Raises:
            FetchRefused: the URL is not allowed, or the headers of the response are too large.
            FetchFailed: there was no response in time.
            Overloaded: callers without an account already hold too many fetched bytes.
        """
        target = parse_target(url)
        outgoing = OutgoingRequest(method, {"Accept": accept, "Accept-Encoding": encodings})
        try:
            async with asyncio.timeout(seconds), self._slots.one():
                started_at = time.monotonic()
                async with self._response(target, outgoing, seconds, plain_http=plain_http) as response:
                    return await examined(target, response, max_bytes, started_at, self._budget)
        except TimeoutError:
            raise FetchFailed(f"{target.host} did not respond within {seconds:g} s") from None

    async def _exchange(self, target: Target, outgoing: OutgoingRequest, max_bytes: int, seconds: float) -> Fetched:
        """Make one request and return its response."""
        async with self._response(target, outgoing, seconds) as response:
            try:
                return await fetched(target, response, max_bytes, self._budget)
            except FetchRefused as error:
                if outgoing.harmless:
                    raise
                raise FetchUnknown(error.message) from None  # the request has taken effect by now

    @asynccontextmanager
    async def _response(
        self, target: Target, outgoing: OutgoingRequest, seconds: float, *, plain_http: bool = False
    ) -> AsyncIterator[Response]:
        """Make one request on a new connection, and yield its response."""
        backend = PinnedBackend(target.host, await self._checked(target, plain_http=plain_http), seconds)
        current_share().requests += 1
        connection = AsyncHTTPConnection(
            Origin(target.scheme.encode(), target.host.encode(), target.port),
            ssl_context=self._tls,
            network_backend=backend,
        )
        headers = _headers(target, outgoing)
        try:
            async with connection.stream(
                outgoing.method, _url(target), headers=headers, content=outgoing.content or None
            ) as response:
                yield response
        except ConnectError:
            raise FetchFailed(
                f"{target.host}: no secure connection could be made",
                hint="Its certificate must be valid and issued for this name by a public authority.",
            ) from None
        except (NetworkError, ProtocolError):
            message = f"{target.host} closed the connection early, or did not respond with HTTP"
            raise (FetchFailed(message) if outgoing.harmless else FetchUnknown(message)) from None
        finally:
            await backend.close()

    @asynccontextmanager
    async def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect to a host with a protocol other than HTTP; see `pressroom.sdk.Fetcher.connect`.

        Raises:
            FetchRefused: the host or the port is not allowed.
            FetchFailed: there was no connection in time.
            FetchUnknown: the block exceeded the timeout after connecting.
        """
        name, ip = parse_host(host)
        ports = " and ".join(map(str, _STREAM_PORTS))
        refusal = FetchRefused(f"{name}: port {port} is not allowed, only {ports} are")
        connected = False
        deadline = asyncio.timeout(seconds)
        try:
            async with deadline, self._slots.one():
                ips = await self._allowed(name, port, ip, refusal, usual=port in _STREAM_PORTS)
                current_share().requests += 1
                open_connection = partial(asyncio.open_connection, port=port)
                reader, writer = await connect_first(name, ips, seconds, open_connection)
                connected = True
                try:
                    yield reader, writer
                finally:
                    writer.transport.abort()  # discards unsent data instead of waiting for it
                    with suppress(OSError):
                        await writer.wait_closed()
        except TimeoutError:
            if not deadline.expired():
                raise
            message = f"{name} did not respond within {seconds:g} s"
            raise (FetchUnknown(message) if connected else FetchFailed(message)) from None

    async def _checked(self, target: Target, *, plain_http: bool = False) -> Sequence[IPAddress]:
        """Return the IP addresses of a target, after checking that a connection to each is allowed."""
        usual = (target.scheme, target.port) in ((("https", 443), ("http", 80)) if plain_http else (("https", 443),))
        return await self._allowed(target.host, target.port, target.address, _unusual(target), usual=usual)

    async def _allowed(
        self, host: str, port: int, literal: IPAddress | None, refusal: FetchRefused, *, usual: bool
    ) -> Sequence[IPAddress]:
        """Return the IP addresses of a host, after checking that a connection to each is allowed at that port.

        `literal` is the IP address if the host is written as one. `usual` is whether the port is allowed for every
        public host; if it is not allowed, `refusal` is raised.
        """
        if not usual and not self._private and port not in {port for _, port in self._exempt}:
            raise refusal
        ips = [literal] if literal is not None else await self._look_up(host)
        ips = [getattr(ip, "ipv4_mapped", None) or ip for ip in ips]
        for ip in ips:
            if self._is_allowed(ip, port) or (usual and is_public(ip)):
                continue
            raise refusal if is_public(ip) else FetchRefused(f"{host} is not on the public internet")
        return ips

    def _is_allowed(self, ip: IPAddress, port: int) -> bool:
        return (ip, port) in self._exempt or any(ip in network for network in self._private)

    async def _look_up(self, name: str) -> Sequence[IPAddress]:
        try:
            ips = await self._names[current_purpose()].resolve(name)
        except (OSError, UnicodeError):
            ips = ()
        if not ips:
            raise FetchFailed(f"{name} has no IP address", hint="Check how the name is spelt.")
        return ips


def _unusual(target: Target) -> FetchRefused:
    if target.scheme == "http":
        return FetchRefused("the URL must begin with https://")
    return FetchRefused(f"{target.host}: port {target.port} is not allowed, only 443 is")


def _url(target: Target) -> URL:
    return URL(scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode())


def _headers(target: Target, outgoing: OutgoingRequest) -> Mapping[bytes | str, bytes | str]:
    custom = {name.lower() for name in outgoing.headers}
    defaults = {
        "Host": target.authority,
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "User-Agent": f"Pressroom/{VERSION}",
        "Connection": "close",
    }
    if outgoing.content or outgoing.method not in _SAFE:
        defaults["Content-Length"] = str(len(outgoing.content))
    headers: dict[bytes | str, bytes | str] = {
        name: text for name, text in defaults.items() if name.lower() not in custom
    }
    return headers | dict(outgoing.headers)


def _redirect(target: Target, response: Fetched) -> Target | None:
    """Return the target of a redirect, or `None` if the response is not one."""
    if response.status not in REDIRECTS or "location" not in response.headers:
        return None
    location = response.headers["location"].split(", ")[0]
    try:
        return parse_target(urljoin(target.url, location))
    except FetchRefused as error:
        raise FetchRefused(f"{target.host} redirects: {error.message}") from None
    except ValueError:
        raise FetchRefused(f"{target.host} redirects to a URL that cannot be read") from None
