"""Checks for `pressroom doctor`: the sources that plugins offer, and signing in with Google."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import Check, CheckResult, PluginContext
from pressroom_content.contract import search_sources

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import analytics_sources, keyword_sources
from pressroom_search_performance.host import keyword_source_of, redirect_uri_of
from pressroom_search_performance.sources.google_auth import OAuthClient, redirect_problem

_CLIENT_ID_SUFFIX = ".apps.googleusercontent.com"
_SETTING = "keyword_source in [plugins.search_performance.config]"


def checks(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[Check]:
    """Return the checks of this plugin."""

    async def keywords() -> CheckResult:
        return keyword_result(plugin)

    async def names() -> CheckResult:
        return names_result(plugin)

    async def sign_in() -> CheckResult:
        return sign_in_result(plugin)

    return [
        Check("keyword source", keywords),
        Check("names of sources", names),
        Check("sign in with Google", sign_in),
    ]


def sign_in_result(plugin: PluginContext[SearchPerformanceConfig]) -> CheckResult:
    """Report whether users can sign in with Google, and the redirect URI that the OAuth client needs."""
    client, redirect_uri = OAuthClient.of(plugin.config), redirect_uri_of(plugin)
    if client is None:
        return CheckResult("ok", "people are not offered to sign in with Google: google_client_id is not set")
    if problem := redirect_problem(redirect_uri):
        return CheckResult(
            "error",
            f"people are not offered to sign in with Google: {problem}, and the redirect URI is {redirect_uri}",
            "set base_url to the https URL with which people reach this server",
        )
    if not client.client_id.endswith(_CLIENT_ID_SUFFIX):
        return CheckResult(
            "warning",
            f"google_client_id does not end in {_CLIENT_ID_SUFFIX}, as those of Google do",
            "copy the client ID of an OAuth client of the type web application from the Google Cloud console",
        )
    return CheckResult(
        "ok", f"people can sign in with Google; its OAuth client has to have the redirect URI {redirect_uri}"
    )


def keyword_result(plugin: PluginContext[SearchPerformanceConfig]) -> CheckResult:
    """Report which provider of keyword data is used. Unknown names are errors, an implicit choice a warning."""
    configured, active = plugin.config.keyword_source, keyword_source_of(plugin)
    offered = [f"{source.name} (plugin {owner})" for owner, source in keyword_sources(plugin)]
    if configured and active is None:
        available = ", ".join(offered) or "none"
        return CheckResult(
            "error",
            f"{_SETTING} is {configured!r}, which no plugin offers; there is {available}",
            "correct the name, install the plugin that offers it, or configure the provider's credential",
        )
    if active is None:
        return CheckResult("ok", "no provider of keyword data is configured")
    if not configured and len(offered) > 1:
        return CheckResult(
            "warning",
            f"{active.name} is asked for keyword data, and of {', '.join(offered)} the others are not",
            f"choose one with {_SETTING}",
        )
    return CheckResult("ok", f"{active.title} is asked for keyword data")


def names_result(plugin: PluginContext[SearchPerformanceConfig]) -> CheckResult:
    """Report names that are both an analytics and a search source: connections identify sources by name."""
    search = {source.name: owner for owner, source in search_sources(plugin)}
    names = [
        f"{source.name} (plugins {search[source.name]} and {owner})"
        for owner, source in analytics_sources(plugin)
        if source.name in search
    ]
    if not names:
        return CheckResult("ok", "every source has a name of its own")
    return CheckResult(
        "error",
        f"the same name is offered for search figures and for analytics, which cannot be connected: {', '.join(names)}",
        "remove one of the plugins, and tell its authors to give the source another name",
    )
