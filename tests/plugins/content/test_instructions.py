"""Instructions for models when they connect: the workflow from a website to a published and measured article."""

from __future__ import annotations

import httpx
from support.content_client import Client

WAY = (
    "list_websites",
    "connect_website",
    "list_site_taxonomies",
    "create_content",
    "check_blog_seo",
    "update_content",
    "preview_url",
    "publish_content",
    "list_publications",
    "get_search_performance",
)


def test_models_learn_the_steps_from_a_website_to_a_live_article(ada: Client) -> None:
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    response = httpx.post(
        f"{ada.host.url}/api/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        headers={"authorization": f"Bearer {ada.key}"},
        timeout=60,
    )
    instructions = response.json()["result"]["instructions"]

    positions = [instructions.find(name) for name in WAY]
    assert -1 not in positions, instructions
    assert positions == sorted(positions)
    assert "Never ask for passwords, keys or tokens in the chat." in instructions
