"""Whether the caller may use the tool."""

from __future__ import annotations

from pressroom.errors import Forbidden
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.sdk import Caller


class Authorize:
    """Asks every authorizer, and the connection's own switches. Fails closed."""

    name = "authorize"

    def __init__(self, services: Services) -> None:
        self._authorizers = services.authorizers
        self._dashboard = f"{services.settings.public_url}/dashboard/connections"

    async def __call__(self, exchange: Exchange) -> None:
        """Let the call pass. Raises `Forbidden`."""
        caller, tool = exchange.known_caller, exchange.known_tool.tool
        if caller.disabled_tools and caller.disabled_tools & {tool.name, tool.mcp_name}:
            raise Forbidden(self._switched_off(tool.mcp_name or tool.name, caller))
        for authorizer in self._authorizers:
            reason = await authorizer.authorize(caller, tool.info)
            if reason is not None:
                raise Forbidden(reason)

    def _switched_off(self, tool: str, caller: Caller) -> str:
        which = f"the connection {caller.connection_name!r}" if caller.connection_name else "this connection"
        return f"{tool} is switched off for {which}; switch it on at {self._dashboard}/{caller.connection}"
