"""Whether the caller may use the tool."""

from __future__ import annotations

from pressroom.errors import Forbidden
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services


class Authorize:
    """Asks every authorizer, and the connection's own switches. Fails closed."""

    name = "authorize"

    def __init__(self, services: Services) -> None:
        self._authorizers = services.authorizers

    async def __call__(self, exchange: Exchange) -> None:
        """Let the call pass. Raises `Forbidden`."""
        caller, tool = exchange.known_caller, exchange.known_tool.tool
        if caller.disabled_tools and caller.disabled_tools & {tool.name, tool.mcp_name}:
            raise Forbidden(f"{tool.mcp_name or tool.name} is switched off for this connection")
        for authorizer in self._authorizers:
            reason = await authorizer.authorize(caller, tool.info)
            if reason is not None:
                raise Forbidden(reason)
