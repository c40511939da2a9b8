"""Who is at the other end of the connection."""

from __future__ import annotations

from functools import lru_cache

from pressroom.pipeline.exchange import Exchange, Headers
from pressroom.pipeline.services import Services
from pressroom.sdk import Caller
from pressroom.validation.client_ip import client_address


class Admit:
    """Finds the client's address, past the proxies that the operator trusts."""

    name = "admit"

    def __init__(self, services: Services) -> None:
        server = services.settings.server
        self._trusted_proxies = server.trusted_proxies
        self._secret = server.forwarded_secret.get_secret_value() if server.forwarded_secret else None

    async def __call__(self, exchange: Exchange) -> None:
        """Set the exchange's caller to a stranger at that address."""
        exchange.caller = self.stranger(exchange.peer, exchange.headers)

    def stranger(self, peer: str, headers: Headers) -> Caller:
        """Return a caller of whom nothing is known but the address."""
        return _stranger(client_address(peer, headers, self._trusted_proxies, self._secret))


@lru_cache(maxsize=4096)
def _stranger(address: str) -> Caller:
    return Caller(address)
