"""The URLs of websites: the dashboard's pages, and the built-in sites."""

from __future__ import annotations

from collections.abc import Sequence

from pressroom.sdk import PluginContext, Route

from pressroom_content.builtin_site.routes import domain_routes
from pressroom_content.builtin_site.routes import routes as builtin_routes
from pressroom_content.pages.connect import ConnectPages
from pressroom_content.pages.connect_websites import WebsitePages


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return them all."""
    return [
        *WebsitePages(plugin).routes(),
        *ConnectPages(plugin).routes(),
        *builtin_routes(plugin),
        *domain_routes(plugin),
    ]
