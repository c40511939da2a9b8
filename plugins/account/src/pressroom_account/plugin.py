"""The plugin: three tools that tell a model about its account."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import McpTool, Plugin, hookimpl

from pressroom_account.activity import get_job, list_activity
from pressroom_account.usage import get_account_usage

PLUGIN = Plugin(
    id="account",
    api="1",
    title="Account",
    summary="Shows AI clients their account's plan, usage and activity.",
)


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Offer the tools."""
    return [get_account_usage, get_job, list_activity]
