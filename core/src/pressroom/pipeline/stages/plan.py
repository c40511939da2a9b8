"""What the caller's plan can see."""

from __future__ import annotations

from pressroom.errors import NotFound
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.wire.nearest import nearest


class Plan:
    """Resolves the tool through the view of the caller's plan: what is hidden is refused as unknown."""

    name = "plan"

    def __init__(self, services: Services) -> None:
        self._catalog = services.catalog

    async def __call__(self, exchange: Exchange) -> None:
        """Set the view and the tool. Raises `NotFound`."""
        view = exchange.view = self._catalog.plan(exchange.known_caller.plan)
        tools = view.mcp_tools if exchange.by_mcp_name else view.tools
        found = tools.get(exchange.tool_name)
        if found is None or (found.tool.kind != "generator" and not exchange.by_mcp_name):
            similar = nearest(exchange.tool_name, tools)
            raise NotFound(
                f"there is no tool {exchange.tool_name[:64]!r}"
                + (f"; did you mean {similar}?" if similar else "; GET /tools/api lists the tools")
            )
        exchange.plan_tool = found
