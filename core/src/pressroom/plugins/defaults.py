"""The host's own records, registered through the same hooks as those of any plugin.

`config` of the context is the whole `Settings`. Operators select alternatives in the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pressroom.config.models import Settings
from pressroom.config.values import parse_rate
from pressroom.graphics.font_check import check_fonts
from pressroom.limits import memory_limits, redis_limits
from pressroom.sdk import (
    Authenticator,
    Backend,
    Brander,
    Branding,
    CachePolicy,
    CacheRule,
    CallRecord,
    Check,
    CheckResult,
    Credentials,
    HostServices,
    Identity,
    Observer,
    PluginContext,
    Rate,
    RateLimit,
    SharedKeys,
    ToolInfo,
    by_subject,
    hookimpl,
)
from pressroom.storage.cache import memory_cache, redis_cache
from pressroom.storage.files import local_files, s3_files, signing_secret

if TYPE_CHECKING:  # both load SQLAlchemy, which commands that only inspect plugins do not need
    from pressroom.accounts.service import AccountServices
    from pressroom.oauth.service import AuthorizationServer


@dataclass(frozen=True, slots=True)
class OwnServices(HostServices):
    """The services for plugins, and those for the host's own hooks."""

    accounts: AccountServices
    authorization_server: AuthorizationServer


def _own(plugin: PluginContext) -> OwnServices:
    services: Any = plugin.services
    return services  # type: ignore[no-any-return]


@hookimpl
def pressroom_authenticators(plugin: PluginContext) -> Iterable[Authenticator]:
    """Authenticate API keys and access tokens."""

    async def api_key(credentials: Credentials) -> Identity | None:
        return await _own(plugin).accounts.api_keys.authenticate(credentials)

    async def access_token(credentials: Credentials) -> Identity | None:
        return await _own(plugin).authorization_server.authenticate(credentials)

    return [
        Authenticator("api_key", api_key, bearer_only=True),
        Authenticator("access_token", access_token, bearer_only=True),
    ]


@hookimpl
def pressroom_checks(plugin: PluginContext) -> Iterable[Check]:
    """Check the fonts for generated images."""

    async def fonts() -> CheckResult:
        return check_fonts(plugin.config.graphics.fonts)

    return [Check("fonts", fonts)]


@hookimpl
def pressroom_shared_keys(plugin: PluginContext) -> Iterable[SharedKeys]:
    """Declare the key that protects forms, signed file URLs and access tokens."""
    settings: Settings = plugin.config
    return [
        SharedKeys(
            "secret_key",
            "secret_key",
            read=lambda: [signing_secret(settings)],
            configured=settings.secret_key is not None,
            lost=(
                "access tokens stop working until clients refresh them, signed URLs of files stop working, and forms "
                "that are open in browsers have to be sent again"
            ),
        )
    ]


@hookimpl
def pressroom_observers(plugin: PluginContext) -> Iterable[Observer]:
    """Record calls by accounts in the audit trail."""

    def activity(record: CallRecord) -> None:
        if record.caller.subject:
            _own(plugin).accounts.activity_log.observe(record)

    return [Observer("activity", activity)]


@hookimpl
def pressroom_rate_limits(plugin: PluginContext) -> Iterable[RateLimit]:
    """Apply the plan's rate limit of a tool, or else the tool's own, per account, or per IP address without one.

    Hosted AI clients call on behalf of all their users from a few IP addresses.
    """
    settings: Settings = plugin.config

    def rate_for(tool: ToolInfo, plan: str) -> Rate | None:
        plan_settings = settings.plans.get(plan)
        if plan_settings and tool.name in plan_settings.rate_limits:
            return parse_rate(plan_settings.rate_limits[tool.name])
        return tool.rate_limit

    return [RateLimit("default", rate_for, by_subject)]


@hookimpl
def pressroom_cache_rules(plugin: PluginContext) -> Iterable[CacheRule]:
    """Cache the results of generators for everyone, for as long as the operator configures."""
    settings: Settings = plugin.config

    def policy_for(tool: ToolInfo, plan: str) -> CachePolicy | None:
        tool_settings = settings.tools.get(tool.name)
        if tool_settings and tool_settings.cache_seconds is not None:
            return CachePolicy(int(tool_settings.cache_seconds))
        return CachePolicy(int(settings.cache.seconds))

    return [CacheRule("default", policy_for)]


@hookimpl
def pressroom_branding() -> Iterable[Brander]:
    """Return the promotional block from `[branding]`."""
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
    """Offer embedded stores, and stores that several hosts can share."""
    return [
        Backend("files", "local", local_files),
        Backend("files", "s3", s3_files),
        Backend("limits", "memory", memory_limits),
        Backend("limits", "redis", redis_limits),
        Backend("cache", "memory", memory_cache),
        Backend("cache", "redis", redis_cache),
    ]
