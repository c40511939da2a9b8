"""What the host itself registers, through the same hooks as any plugin.

Its context's `config` is the whole `Settings`. An operator replaces a part by naming another in the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pressroom.config.models import Settings
from pressroom.config.values import parse_rate
from pressroom.limits import create_limiter
from pressroom.sdk import (
    Backend,
    Brander,
    Branding,
    CachePolicy,
    CacheRule,
    PluginContext,
    Rate,
    RateLimit,
    ToolInfo,
    hookimpl,
)
from pressroom.storage.cache import create_cache_index
from pressroom.storage.files import create_file_store


@hookimpl
def pressroom_rate_limits(plugin: PluginContext) -> Iterable[RateLimit]:
    """Apply the plan's limit of a tool, else the tool's own, to each client address."""
    settings: Settings = plugin.config

    def rate_for(tool: ToolInfo, plan: str) -> Rate | None:
        plan_settings = settings.plans.get(plan)
        if plan_settings and tool.name in plan_settings.rate_limits:
            return parse_rate(plan_settings.rate_limits[tool.name])
        return tool.rate_limit

    return [RateLimit("default", rate_for)]


@hookimpl
def pressroom_cache_rules(plugin: PluginContext) -> Iterable[CacheRule]:
    """Keep the results of generators as long as the operator says, for everyone."""
    settings: Settings = plugin.config

    def policy_for(tool: ToolInfo, plan: str) -> CachePolicy | None:
        tool_settings = settings.tools.get(tool.name)
        if tool_settings and tool_settings.cache_seconds is not None:
            return CachePolicy(int(tool_settings.cache_seconds))
        return CachePolicy(int(settings.cache.seconds))

    return [CacheRule("default", policy_for)]


@hookimpl
def pressroom_branding() -> Iterable[Brander]:
    """Make the promotional block from `[branding]`."""
    return [Brander("default", _promotional_block)]


def _promotional_block(branding: Branding) -> Mapping[str, Any]:
    return {
        "name": branding.name,
        "tagline": branding.tagline,
        "url": branding.url,
        "mcpUrl": branding.mcp_url,
        "docsUrl": branding.docs_url,
    }


@hookimpl
def pressroom_backends() -> Iterable[Backend]:
    """Offer the embedded stores, and those that many hosts share. Which one it is, each factory reads for itself."""
    return [
        *(Backend("files", name, create_file_store) for name in ("local", "s3")),
        *(Backend("limits", name, create_limiter) for name in ("memory", "redis")),
        *(Backend("cache", name, create_cache_index) for name in ("memory", "redis")),
    ]
