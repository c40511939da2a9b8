"""What a page says of itself to search engines, link previews and feed readers."""

from __future__ import annotations

from collections.abc import Sequence

from pressroom.http.page_head import Head, clip
from pressroom.interfaces.tools_api.pages.views import ToolView
from pressroom.sdk import Branding


def index_head(branding: Branding, tools: Sequence[ToolView], origin: str, root: str) -> Head:
    """Return the head of the list of tools."""
    names = ", ".join(tool.name for tool in tools)
    return Head(
        title=f"Tools · {branding.name}",
        description=clip(f"{branding.tagline} {names}." if names else branding.tagline),
        canonical=f"{origin}{root}/tools",
        alternate=f"{root}/tools/api",
        linked_data={
            "@context": "https://schema.org",
            "@type": "CollectionPage",
            "name": f"{branding.name} tools",
            "description": branding.tagline,
            "url": f"{origin}{root}/tools",
            "hasPart": [
                {"@type": "WebApplication", "name": tool.name, "url": origin + tool.href, "description": tool.summary}
                for tool in tools
            ],
        },
    )


def tool_head(branding: Branding, tool: ToolView, origin: str, root: str, *, failed: bool) -> Head:
    """Return the head of a tool's page. The title says so where the last attempt failed."""
    provider = {"@type": "Organization", "name": branding.name, "url": branding.url}
    address = origin + tool.href
    application = {
        "@type": ["WebApplication", "SoftwareApplication"],
        "@id": f"{address}#tool",
        "name": tool.name,
        "description": clip(tool.description, 500),
        "url": address,
        "applicationCategory": "UtilitiesApplication",
        "operatingSystem": "Any",
        "isAccessibleForFree": True,
        "keywords": list(tool.tags),
        "provider": provider,
    }
    interfaces = [
        {
            "@type": "WebAPI",
            "name": f"{tool.name} API",
            "description": endpoint.summary or tool.summary,
            "url": endpoint.url,
            "documentation": address,
            "provider": provider,
        }
        for endpoint in tool.endpoints
    ]
    crumbs = {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": 1, "name": "Tools", "item": f"{origin}{root}/tools"},
            {"@type": "ListItem", "position": 2, "name": tool.name, "item": address},
        ],
    }
    return Head(
        title=f"{'Error: ' if failed else ''}{tool.name} · {branding.name}",
        description=clip(tool.summary),
        canonical=address,
        alternate=tool.descriptor_href,
        linked_data={"@context": "https://schema.org", "@graph": [application, *interfaces, crumbs]},
    )
