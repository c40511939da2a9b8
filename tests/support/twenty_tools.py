"""A plugin for the benchmark: twenty tools that do next to nothing."""

from __future__ import annotations

from pressroom.sdk import Annotations, Call, McpTool, Params, Plugin, hookimpl, mcp_tool
from pydantic import BaseModel, Field

PLUGIN = Plugin(id="twenty_tools", title="Twenty tools", summary="Tools for the benchmark.")


class Pair(Params):
    a: int = Field(description="The first number.")
    b: int = Field(description="The second number.")


class Total(BaseModel):
    total: int = Field(description="Both together.")


def adding(number: int) -> McpTool:
    """Return one of the tools."""

    @mcp_tool(name=f"add_{number}", title=f"Add, number {number}", annotations=Annotations(read_only=True))
    async def add(params: Pair, call: Call) -> Total:
        """Adds two numbers. Use it where the sum of two whole numbers is wanted. Returns the total."""
        return Total(total=params.a + params.b)

    return add


@hookimpl
def pressroom_mcp_tools() -> list[McpTool]:
    return [adding(number) for number in range(1, 21)]
