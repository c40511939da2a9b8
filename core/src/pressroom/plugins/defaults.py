"""What the host itself registers, through the same hooks as any plugin.

Its context's `config` is the whole `Settings`. An operator replaces a part by naming another in the configuration.
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

if TYPE_CHECKING:  # both bring SQLAlchemy, which commands that only look at plugins do not need
    from pressroom.accounts.service import AccountServices
    from pressroom.oauth.service import AuthorizationServer


@dataclass(frozen=True, slots=True)
class OwnServices(HostServices):
    """The services of a server, with what the host's own hooks use besides."""

    accounts: AccountServices
    authorization_server: AuthorizationServer


def _own(plugin: PluginContext) -> OwnServices:
    services: Any = plugin.services
    return services  # type: ignore[no-any-return]


@hookimpl
def pressroom_authenticators(plugin: PluginContext) -> Iterable[Authenticator]:
    """Recognise API keys and access tokens."""

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
    """Look at the fonts that images are drawn with."""

    async def fonts() -> CheckResult:
        return check_fonts(plugin.config.graphics.fonts)

    return [Check("fonts", fonts)]


@hookimpl
def pressroom_shared_keys(plugin: PluginContext) -> Iterable[SharedKeys]:
    """Name the key that forms, file URLs and the keys of access tokens depend on."""
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
    """Keep the audit trail of calls that accounts make."""

    def activity(record: CallRecord) -> None:
        if record.caller.subject:
            _own(plugin).accounts.activity_log.observe(record)

    return [Observer("activity", activity)]


@hookimpl
def pressroom_rate_limits(plugin: PluginContext) -> Iterable[RateLimit]:
    """Apply the plan's limit of a tool, else the tool's own, to each account, and to each IP address without one.

    Hosted AI clients call for all of their users from a few IP addresses.
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
    """Offer the embedded stores, and those that many hosts share."""
    return [
        Backend("files", "local", local_files),
        Backend("files", "s3", s3_files),
        Backend("limits", "memory", memory_limits),
        Backend("limits", "redis", redis_limits),
        Backend("cache", "memory", memory_cache),
        Backend("cache", "redis", redis_cache),
    ]
