"""The toolsets of a plan, and those that are listed where nobody chose any."""

from __future__ import annotations

from pressroom.catalog.tool import PlanView, Tool
from pressroom.config.models import McpSettings
from pressroom.sdk.toolsets import ALL, CORE


def tools_by_set(plan: PlanView) -> dict[str, list[Tool]]:
    """Return the tools of each set that a plan has tools of, by MCP name; the core comes first."""
    found: dict[str, list[Tool]] = {}
    for name in sorted(plan.mcp_tools):
        tool = plan.mcp_tools[name].tool
        for toolset in tool.info.toolsets:
            found.setdefault(toolset, []).append(tool)
    return {name: found[name] for name in sorted(found, key=lambda name: (name != CORE, name))}


def default_toolsets(plan: PlanView, settings: McpSettings) -> frozenset[str]:
    """Return the sets that are listed where neither a request nor the owner of its connection chose any.

    `all` stands for every tool: that is what a small plan lists whole.
    """
    if len(plan.mcp_tools) <= settings.list_all_up_to or ALL in settings.toolsets:
        return frozenset({ALL})
    return frozenset(settings.toolsets).intersection(tools_by_set(plan)) or frozenset({CORE})
