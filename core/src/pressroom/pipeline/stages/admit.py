"""Who is at the other end of the connection."""

from __future__ import annotations

from functools import lru_cache

from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.sdk import Caller
from pressroom.wire.address import client_address


class Admit:
    """Finds the client's address, past the proxies that the operator trusts."""

    name = "admit"

    def __init__(self, services: Services) -> None:
        server = services.settings.server
        self._trusted_proxies = server.trusted_proxies
        self._secret = server.forwarded_secret.get_secret_value() if server.forwarded_secret else None

    async def __call__(self, exchange: Exchange) -> None:
        """Set the exchange's caller to a stranger at that address."""
        address = client_address(exchange.peer, exchange.headers, self._trusted_proxies, self._secret)
        exchange.caller = _stranger(address)


@lru_cache(maxsize=4096)
def _stranger(address: str) -> Caller:
    return Caller(address)
