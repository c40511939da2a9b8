"""How many connections one client may have open, and how many requests under way where a proxy is between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sanic import Request
from sanic.compat import Header

from pressroom.config.models import ServerSettings
from pressroom.errors import Overloaded
from pressroom.validation.client_ip import UNKNOWN_IP, client_ip_of

_NO_HEADERS: Final = Header({})


class ClientBounds:
    """Counts by client IP address, with IPv6 addresses grouped by /64.

    A connection has no forwarded address before the head of a request: behind trusted proxies, whose connections are
    many clients', requests are counted instead. A connection without an IP address, such as that of a proxy on a Unix
    socket, has no bound.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._most = settings.connections_per_client
        self._proxies = settings.trusted_proxies
        self._secret = settings.forwarded_secret.get_secret_value() if settings.forwarded_secret else None
        self._counts: Counter[str] = Counter()

    @property
    def behind_proxies(self) -> bool:
        """Whether requests are counted, by the IP address that a proxy names, rather than connections."""
        return bool(self._proxies or self._secret)

    def connect(self, peer: Any) -> str | None:
        """Count a connection, and return whose it is, for `leave`. `None` where that client has as many as it may."""
        if self.behind_proxies or not isinstance(peer, tuple):
            return ""
        return self._enter(client_ip_of(str(peer[0]), _NO_HEADERS, 0, None))

    def leave(self, client: str) -> None:
        """Count one less."""
        if client:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]

    @contextmanager
    def request(self, request: Request) -> Iterator[None]:
        """Count a request that a proxy has passed on while it is under way. Raises `Overloaded`."""
        client = self._enter(client_ip_of(request.ip, request.headers, self._proxies, self._secret))
        if client is None:
            raise Overloaded(
                f"you have {self._most} requests under way, which is as many as one IP address may have at once; "
                "wait until one of them is answered"
            )
        try:
            yield
        finally:
            self.leave(client)

    def _enter(self, client: str) -> str | None:
        if not self._most or client == UNKNOWN_IP:
            return ""
        if self._counts[client] >= self._most:
            return None
        self._counts[client] += 1
        return client
