"""Whether the caller may use the tool: by the plan, the connection's access level and switches, and the authorizers."""

from __future__ import annotations

from pressroom.catalog.tool import BY_NAME, PlanView, Tool, allows
from pressroom.errors import CallError, Forbidden, NotFound
from pressroom.pipeline.context import IdentifiedCall, ResolvedCall, Services
from pressroom.pipeline.stages.base import CallStage
from pressroom.sdk import Caller
from pressroom.validation.echo import nearest


class Plan(CallStage[IdentifiedCall, ResolvedCall]):
    """Resolves the tool through the view of the caller's plan: what is hidden is also refused.

    An MCP client acts for an account, which may change its plan: it learns which plan has the tool. To anyone else a
    hidden tool is an unknown one.
    """

    name = "plan"
    internal = True

    def __init__(self, services: Services) -> None:
        self._catalog = services.catalog

    async def enter(self, call: IdentifiedCall) -> ResolvedCall:
        """Return the call with its tool. Raises `NotFound`, or `Forbidden` for a tool of other plans."""
        view = self._catalog.plans[call.caller.plan]
        by_mcp_name = call.request.interface == "mcp"
        found = (view.mcp_tools if by_mcp_name else view.tools).get(call.request.tool_name)
        if found is None or (not by_mcp_name and found.tool.info.kind != "generator"):
            raise self._refusal(call, view)
        return ResolvedCall(call.request, call.caller, found)

    def _refusal(self, call: IdentifiedCall, view: PlanView) -> CallError:
        name, by_mcp_name = call.request.tool_name, call.request.interface == "mcp"
        if by_mcp_name and name in self._catalog.mcp_tools:
            return Forbidden(self._catalog.why_not(name, call.caller.plan))
        similar = nearest(name, view.mcp_tools if by_mcp_name else view.tools)
        listing = "tools/list" if by_mcp_name else "GET /tools/api"
        return NotFound(
            f"there is no tool {name[:64]!r}"
            + (f"; did you mean {similar}?" if similar else f"; {listing} lists the tools")
        )


class Authorize(CallStage[ResolvedCall, ResolvedCall]):
    """Asks the connection's access level and switches, and every authorizer. Fails closed."""

    name = "authorize"

    def __init__(self, services: Services) -> None:
        self._authorizers = services.authorizers
        self._dashboard = f"{services.settings.public_url}/dashboard/connections"

    async def enter(self, call: ResolvedCall) -> ResolvedCall:
        """Let the call pass. Raises `Forbidden`."""
        caller, tool = call.caller, call.plan_tool.tool
        if caller.access != "full" and not allows(caller.access, tool):
            raise Forbidden(self._beyond(tool, caller))
        if caller.disabled_tools and caller.disabled_tools & {tool.name, tool.mcp_name}:
            raise Forbidden(self._switched_off(tool.mcp_name or tool.name, caller))
        for authorizer in self._authorizers:
            reason = await authorizer.authorize(caller, tool.info)
            if reason is not None:
                raise Forbidden(reason)
        return call

    def _switched_off(self, tool: str, caller: Caller) -> str:
        return f"{tool} is switched off for {_named(caller)}; switch it on at {self._page(caller)}"

    def _beyond(self, tool: Tool, caller: Caller) -> str:
        needed, granted = BY_NAME[tool.access], BY_NAME.get(caller.granted)
        does = f"{tool.mcp_name or tool.name} {needed.adds}"
        if allows(caller.granted, tool):
            return (
                f"{does}, and this request asked for tools that only read (`readonly=true` in the URL or the header "
                f"X-MCP-Readonly); {_named(caller)} itself may use it without that"
            )
        return (
            f"{does}, and the access level of {_named(caller)} is {granted.title if granted else caller.granted!r}; "
            f"its owner can change it to {needed.title!r} at {self._page(caller)}"
        )

    def _page(self, caller: Caller) -> str:
        return f"{self._dashboard}/{caller.connection}" if caller.connection else self._dashboard


def _named(caller: Caller) -> str:
    return f"the connection {caller.connection_name!r}" if caller.connection_name else "this connection"
