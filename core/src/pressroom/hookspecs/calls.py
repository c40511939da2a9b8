"""Hooks for tool calls: authentication, authorization, rate limits, caching, branding, middleware and observers."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Brander,
    CacheRule,
    CallMiddleware,
    Observer,
    PluginContext,
    RateLimit,
)

hookspec = pluggy.HookspecMarker("pressroom")


@hookspec
def pressroom_authenticators(plugin: PluginContext) -> Iterable[Authenticator]:
    """Recognise credentials.

    Authenticators are tried in the order of `[auth] authenticators`, then by name. The first identity wins. `Rejected`
    is final. They are called for every call, including calls without `Authorization`, whose `bearer` is empty: a
    credential may be any header, such as `credentials.headers.get("x-company-key")`, or a cookie, such as
    `credentials.cookies.get("badge")`.

    Example:
        ```python
        async def badge(credentials: Credentials) -> Identity | None:
            if not credentials.bearer.startswith("badge_"):
                return None
            if credentials.bearer not in KNOWN_BADGES:
                raise Rejected("This badge is no longer valid; ask the front desk for a new one.")
            return Identity(subject=credentials.bearer, plan="staff")


        @hookimpl
        def pressroom_authenticators():
            return [Authenticator("badge", badge)]
        ```
    """


@hookspec
def pressroom_authorizers(plugin: PluginContext) -> Iterable[Authorizer]:
    """Refuse calls that the plan would allow. A call runs only if all authorizers allow it.

    Example:
        ```python
        async def office_network_only(caller: Caller, tool: ToolInfo) -> str | None:
            return None if caller.client_ip.startswith("10.") else "This tool only works from the office network."


        @hookimpl
        def pressroom_authorizers():
            return [Authorizer("office network", office_network_only)]
        ```
    """


@hookspec
def pressroom_rate_limits(plugin: PluginContext) -> Iterable[RateLimit]:
    """Limit how often tools are used. All limits apply; the one with the least left is reported.

    If the operator selects one of your limits as `[limits] default_limit`, it replaces the host's own limit, which
    applies the limits of tools and plans. In that case, return `tool.rate_limit` for tools that keep their limit.

    Example:
        ```python
        def thousand_a_day(tool: ToolInfo, plan: str) -> Rate | None:
            return per_day(1000) if plan == "anonymous" else None


        @hookimpl
        def pressroom_rate_limits():
            return [RateLimit("daily", thousand_a_day)]
        ```
    """


@hookspec
def pressroom_cache_rules(plugin: PluginContext) -> Iterable[CacheRule]:
    """Decide how long results are served from the cache. The shortest time and the narrowest sharing win.

    So a rule can only shorten the host's own time, `[cache] seconds`, unless the operator selects the rule as
    `[cache] default_rule`, which makes it replace the host's own.

    Example:
        ```python
        def never_for_secrets(tool: ToolInfo, plan: str) -> CachePolicy | None:
            return CachePolicy(0) if "secret" in tool.toolsets else None


        @hookimpl
        def pressroom_cache_rules():
            return [CacheRule("no secrets", never_for_secrets)]
        ```
    """


@hookspec
def pressroom_branding(plugin: PluginContext) -> Iterable[Brander]:
    """Create the promotional block of responses. The operator selects a brander with `[branding] brander`.

    Example:
        ```python
        def short_block(branding: Branding) -> Mapping[str, str]:
            return {"name": branding.name, "mcpUrl": branding.mcp_url}


        @hookimpl
        def pressroom_branding():
            return [Brander("short", short_block)]
        ```
    """


@hookspec
def pressroom_call_middleware(plugin: PluginContext) -> Iterable[CallMiddleware]:
    """Run something before and after each call of a tool, for example to trace, audit or time it.

    Middleware is entered in the order of `[middleware] order`, then by plugin id, and exited in reverse. It cannot
    change a response: a failure is logged and counted, and middleware that takes longer than `[middleware] timeout` is
    cancelled. If you only need to know about finished calls, use an observer, which is cheaper: it does not delay the
    response.

    Example:
        ```python
        async def begin(call: CallInfo) -> float:
            IN_FLIGHT[call.tool.name] += 1
            return time.monotonic()


        async def end(began: float, record: CallRecord) -> None:
            IN_FLIGHT[record.tool] -= 1
            SECONDS[record.tool, record.code] += time.monotonic() - began


        @hookimpl
        def pressroom_call_middleware():
            return [CallMiddleware("stopwatch", begin, end)]
        ```
    """


@hookspec
def pressroom_observers(plugin: PluginContext) -> Iterable[Observer]:
    """Watch finished calls. Failures are counted and never reach a client.

    An observer that waits for something, such as a request, must be a coroutine function, so that it does not delay the
    response.

    Example:
        ```python
        def count(record: CallRecord) -> None:
            TOTALS[record.tool] += 1


        @hookimpl
        def pressroom_observers():
            return [Observer("totals", count)]
        ```
    """
