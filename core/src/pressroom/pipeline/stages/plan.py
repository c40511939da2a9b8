"""What the caller's plan can see."""

from __future__ import annotations

from pressroom.catalog.tool import PlanTool, PlanView
from pressroom.errors import CallError, Forbidden, NotFound
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.validation.nearest import nearest


class Plan:
    """Resolves the tool through the view of the caller's plan: what is hidden is also refused.

    An MCP client acts for an account, which may change its plan: it learns which plan has the tool. To anyone else a
    hidden tool is an unknown one.
    """

    name = "plan"

    def __init__(self, services: Services) -> None:
        self._catalog = services.catalog

    async def __call__(self, exchange: Exchange) -> PlanTool:
        """Set the view and the tool, and return it. Raises `NotFound`, or `Forbidden` for a tool of other plans."""
        view = exchange.view = self._catalog.plan(exchange.known_caller.plan)
        tools = view.mcp_tools if exchange.by_mcp_name else view.tools
        found = tools.get(exchange.tool_name)
        if found is None or (found.tool.kind != "generator" and not exchange.by_mcp_name):
            raise self._refusal(exchange, view)
        exchange.plan_tool = found
        return found

    def _refusal(self, exchange: Exchange, view: PlanView) -> CallError:
        name = exchange.tool_name
        if exchange.by_mcp_name and name in self._catalog.mcp_tools:
            return Forbidden(self._catalog.why_not(name, exchange.known_caller.plan))
        known = view.mcp_tools if exchange.by_mcp_name else view.tools
        similar = nearest(name, known)
        listing = "tools/list" if exchange.by_mcp_name else "GET /tools/api"
        return NotFound(
            f"there is no tool {name[:64]!r}"
            + (f"; did you mean {similar}?" if similar else f"; {listing} lists the tools")
        )
