"""Schema promises: every enum value and every default is sent in a real call."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import Peer, account

INVALID = "The arguments of "


@dataclass(frozen=True)
class World:
    """A host with all tools, an account with a website, articles, a publication and an image, and their IDs."""

    peer: Peer
    ids: dict[str, str]

    def arguments(self, tool: str) -> dict[str, Any]:
        return {name: self.filled(value) for name, value in ARGUMENTS.get(tool, {}).items()}

    def filled(self, value: Any) -> Any:
        if value == "$new":
            result = self.peer.call("create_content", {"title": "New", "body": "Some text."})
            return result["structuredContent"]["content_id"]
        if isinstance(value, str) and value.startswith("$"):
            return self.ids[value[1:]]
        if isinstance(value, dict):
            return {name: self.filled(member) for name, member in value.items()}
        return [self.filled(member) for member in value] if isinstance(value, list) else value


SOON = (datetime.now(UTC) + timedelta(days=2)).isoformat(timespec="seconds")

ARGUMENTS: dict[str, dict[str, Any]] = {
    "apply_internal_links": {"content_id": "$article", "expected_version": 1, "links": []},
    "check_blog_seo": {"content_id": "$article"},
    "check_page_seo": {"url": "https://example.org/"},
    "connect_website": {"platform": "builtin"},
    "create_content": {"title": "Another", "body": "Some text."},
    "create_upload_url": {"content_type": "image/png"},
    "delete_content": {"content_id": "$spare", "confirm": False},
    "delete_media": {"media_id": "$media", "confirm": False},
    "disconnect_website": {"website_id": "$website", "confirm": False},
    "export_content": {"content_ids": ["$article"]},
    "find_content_opportunities": {"website_id": "$website", "kind": "quick_wins"},
    "generate_code_image": {"code": "print(1)"},
    "generate_favicon": {"content": "A"},
    "generate_image": {"template": "og", "props": {"title": "A title"}},
    "generate_qr_code": {"text": "https://example.org"},
    "generate_structured_data": {"content_id": "$article"},
    "get_content": {"content_id": "$article"},
    "get_content_performance": {"content_id": "$article"},
    "get_job": {"job_id": "j_1"},
    "get_keyword_data": {"phrases": ["coffee"]},
    "get_search_performance": {"website_id": "$website"},
    "get_seo_report": {"website_id": "$website"},
    "get_traffic_stats": {"website_id": "$website"},
    "get_website": {"website_id": "$website"},
    "import_content": {"html": "<h1>Title</h1><p>Text.</p>"},
    "import_image": {"image_ref": "$media", "alt_text": "A square"},
    "inspect_url_index": {"website_id": "$website", "url": "https://example.org/"},
    "list_redirects": {"website_id": "$website"},
    "list_site_taxonomies": {"website_id": "$website", "kind": "tag"},
    "list_tracked_keywords": {"website_id": "$website"},
    "merge_site_edits": {"publication_id": "$publication"},
    "preview_content": {"content_id": "$article"},
    "publish_content": {"content_id": "$new", "website_id": "$website"},
    "restore_content": {"content_id": "$article"},
    "save_content_idea": {"title": "An idea"},
    "search_images": {"query": "coffee"},
    "set_brand_voice": {"website_id": "$website", "tone": "Calm."},
    "set_redirect": {"website_id": "$website", "from_path": "/old", "to": "/new"},
    "set_seo_issue_status": {"issue_id": "i_1", "status": "open"},
    "submit_urls": {"website_id": "$website", "urls": ["https://example.org/"]},
    "suggest_internal_links": {"content_id": "$article"},
    "suggest_keywords": {"website_id": "$website"},
    "sync_website_content": {"website_id": "$website"},
    "track_keyword": {"website_id": "$website", "phrase": "coffee"},
    "unpublish_content": {"publication_id": "$publication", "confirm": False},
    "update_content": {"content_id": "$article", "expected_version": 1, "fields": {"excerpt": "A summary."}},
    "update_media": {"media_id": "$media", "alt_text": "A square"},
    "update_website_settings": {"website_id": "$website", "settings": {}},
}
"""The minimal arguments of each tool that requires some; `$website` is the website's ID, `$new` a new article's."""

COMPANIONS: dict[tuple[str, str, Any], dict[str, Any]] = {
    ("publish_content", "mode", "schedule"): {"publish_at": SOON},
    ("generate_favicon", "source", "emoji"): {"content": "😀"},
    ("import_image", "role", "featured"): {"content_id": "$article"},
    ("import_image", "role", "inline"): {"content_id": "$article"},
}
"""Other arguments that a value requires, according to its description."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    config = {"mcp": {"toolsets": ["all"]}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as host:
        peer = Peer(host, account(host))

        def made(tool: str, **arguments: Any) -> dict[str, Any]:
            result = peer.call(tool, arguments)
            assert not result.get("isError"), result
            data: dict[str, Any] = result["structuredContent"]
            return data

        made("connect_website", platform="builtin", name="Blog")
        website = made("list_websites")["websites"][0]["id"]
        article = made("create_content", title="A title", body="Some text.", website_id=website)["content_id"]
        spare = made("create_content", title="Spare", body="Some text.")["content_id"]
        publication = made("publish_content", content_id=article, website_id=website)["publication_id"]
        image = made("generate_qr_code", text="https://example.org")["url"]
        media = made("import_image", image_ref=image, alt_text="A code")["media"]["id"]
        ids = {"website": website, "article": article, "spare": spare, "publication": publication, "media": media}
        yield World(peer, ids)


def promises(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every value in a tool's top-level argument schema: enum values and defaults."""
    for name, field in schema["properties"].items():
        for value in field.get("enum", ()):
            yield name, value
        for value in field.get("items", {}).get("enum", ()):
            yield name, [value]
        if "default" in field and field["default"] not in field.get("enum", ()):
            yield name, field["default"]


def test_every_required_argument_is_known_to_these_tests(world: World) -> None:
    for tool in world.peer.tools():
        assert set(tool["inputSchema"].get("required", ())) <= set(ARGUMENTS.get(tool["name"], {})), tool["name"]
    assert set(ARGUMENTS) <= set(world.peer.host.host.services.catalog.tools) | {
        tool["name"] for tool in world.peer.tools()
    } | set(world.peer.host.host.services.catalog.unavailable)


def test_every_value_that_a_schema_offers_is_accepted(world: World) -> None:
    tried, refused = 0, []
    for tool in world.peer.tools():
        name = tool["name"]
        for parameter, value in promises(tool["inputSchema"]):
            key = (name, parameter, value[0] if isinstance(value, list) and value else value)
            companions = {name: world.filled(other) for name, other in COMPANIONS.get(key, {}).items()}
            arguments = {**world.arguments(name), **companions, parameter: value}
            result = world.peer.call(name, arguments)
            text = result["content"][0]["text"]
            tried += 1
            if result.get("isError") and text.startswith(INVALID) and parameter in text:
                refused.append(f"{name}({parameter}={value!r}): {text}")
            assert "internal error" not in text, (name, parameter, value)
    assert tried > 150
    assert not refused, "\n".join(refused)
