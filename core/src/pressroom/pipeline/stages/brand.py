"""The promotional block."""

from __future__ import annotations

from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services


class Brand:
    """Hands the promotional block to the face. It was made once, at start-up."""

    name = "brand"

    def __init__(self, services: Services) -> None:
        self._brand = services.brand

    async def __call__(self, exchange: Exchange) -> None:
        """Set the block."""
        exchange.brand = self._brand
