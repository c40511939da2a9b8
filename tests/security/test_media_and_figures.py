"""Images and search figures: no access by other accounts' IDs, no markup in pages, and no way into private networks."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.sdk import CallError, InvalidInput
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites
from pressroom_images.library.files import InspectedImage
from pressroom_images.library.store import Library
from pressroom_search_performance.connecting.connecting import connect, offers
from pressroom_search_performance.connecting.store import SourceConnections
from support.content_client import Client, client_of, content_of
from support.people import BrowserWithoutScreen
from support.plain_site import PlainSite, plain_site

_numbers = count(1)
MARKUP = "\"><img src=x onerror=alert(1)>'</title></script><script>alert(1)</script>{{7*7}}<svg/onload=alert(1)>"
KEY = "SECRETKEY0123456789abcdef"


@pytest.fixture(scope="module")
def inside() -> Iterator[PlainSite]:
    """Run a site that is reachable only from the operator's machine."""
    with plain_site() as running:
        yield running


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config: dict[str, Any] = {
        "builtin_plugins": False,
        "plugins": {
            "content": {},
            "images": {},
            "seo": {},
            "search_performance": {"config": {"bing_url": "https://bing.invalid/api"}},
        },
        "accounts": {"connections": 1000},
    }
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("figures"))) as running:
        yield running


@pytest.fixture
def alice(host: RunningHost) -> Client:
    return client_of(host, f"alice.{next(_numbers)}@example.com")


@pytest.fixture
def bob(host: RunningHost) -> Client:
    return client_of(host, f"bob.{next(_numbers)}@example.com")


def own_image(client: Client, name: str = "tea.png") -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "#b9502a").save(buffer, "PNG")
    file = InspectedImage("image/png", 4, 4, buffer.getvalue())
    library = Library(client.host.host.compiled.plugins.contexts["images"])
    return client.host.run(library.add_user_image(client.user_id, file, name=name, alt_text=name)).id


def calls(website: str, article: str, media: str) -> list[tuple[str, dict[str, Any]]]:
    """Return calls of all tools of both plugins that take an ID of an account's data."""
    url = "https://example.com/"
    return [
        ("import_image", {"image_ref": media, "content_id": article, "role": "featured", "alt_text": "Tea"}),
        ("check_blog_seo", {"content_id": article, "include": ["images"]}),
        ("create_upload_url", {"filename": "a.png", "content_type": "image/png", "content_id": article}),
        ("update_media", {"media_id": media, "alt_text": "taken"}),
        ("delete_media", {"media_id": media, "confirm": True}),
        ("import_image", {"image_ref": f"library:{media}", "alt_text": "x"}),
        ("import_image", {"image_ref": f"library:{media}", "alt_text": "x", "content_id": article, "role": "inline"}),
        ("get_content_performance", {"content_id": article}),
        ("inspect_url_index", {"website_id": website, "url": url}),
        ("submit_urls", {"website_id": website}),
        ("submit_urls", {"website_id": website, "sitemap_url": url}),
        ("submit_urls", {"website_id": website, "urls": [url]}),
        ("submit_urls", {"website_id": website, "content_id": article}),
        ("suggest_keywords", {"website_id": website, "seed": "tea"}),
        ("track_keyword", {"website_id": website, "phrase": "tea"}),
        ("list_tracked_keywords", {"website_id": website}),
        ("find_content_opportunities", {"website_id": website, "kind": "quick_wins"}),
        ("find_content_opportunities", {"website_id": website, "kind": "declining"}),
        ("find_content_opportunities", {"website_id": website, "kind": "cannibalisation"}),
        ("get_search_performance", {"website_id": website}),
        ("get_traffic_stats", {"website_id": website}),
    ]


def test_another_accounts_images_and_figures_do_not_exist(alice: Client, bob: Client) -> None:
    website = alice.data("connect_website", platform="builtin", name="Alice")["website_id"]
    article = alice.data("create_content", title="Tea", body="Text.", website_id=website)["content_id"]
    media = own_image(alice)
    for tool, arguments in calls(website, article, media):
        message = bob.refusal(tool, **arguments)
        assert "internal" not in message.lower(), (tool, message)
        assert "are not valid" not in message, (tool, message)
    assert "this account has no article" in bob.refusal("list_media", content_id=article)
    [image] = alice.data("list_media")["media"]
    assert (image["id"], image["alt_text"]) == (media, "tea.png")


@pytest.mark.parametrize(
    "hostile", ["\0", "\ud800", "%", "_" * 64, "' OR 1=1 --", "../../etc/passwd", "\r\nX-Evil: 1", "é" * 64, "{{7*7}}"]
)
def test_invalid_ids_are_refused_and_break_nothing(bob: Client, hostile: str) -> None:
    for tool, arguments in calls(hostile, hostile, hostile):
        if hostile == "\ud800":  # JSON can hold it, but HTTP clients do not send it on their own
            continue
        message = bob.refusal(tool, **arguments)
        assert "internal" not in message.lower(), (tool, message)


def _browser(client: Client) -> BrowserWithoutScreen:
    browser = BrowserWithoutScreen(client.host)
    browser.enter(client.host, client.host.run(client.host.host.accounts.users.get(client.user_id)))
    return browser


def test_markup_in_names_stays_text_in_the_dashboard(alice: Client) -> None:
    website = alice.data("connect_website", platform="builtin", name="Alice")["website_id"]
    alice.data("update_website_settings", website_id=website, settings={"name": MARKUP[:200]})
    media = own_image(alice, MARKUP)
    alice.data("update_media", media_id=media, alt_text=MARKUP, caption=MARKUP)
    alice.data("track_keyword", website_id=website, phrase=MARKUP[:80])
    plugin = alice.host.host.compiled.plugins.contexts["search_performance"]
    alice.host.run(
        SourceConnections(plugin).connect(
            alice.user_id, website, "plausible", site_url=MARKUP, credential={"api_key": KEY}, fetched=False
        )
    )
    connection = alice.host.run(SourceConnections(plugin).of(alice.user_id, website))["plausible"]
    alice.host.run(SourceConnections(plugin).note(connection, MARKUP))
    with _browser(alice) as browser:
        for path in (
            "/dashboard/media",
            f"/dashboard/media?q={MARKUP[:40]}",
            "/dashboard/search",
            f"/dashboard/search/{website}",
            "/dashboard/performance",
            f"/dashboard/performance/{website}",
            "/dashboard/websites",
            f"/dashboard/websites/{website}",
        ):
            page = browser.get(path)
            assert page.status == 200, path
            for sign in ("<img src=x", "<script>alert", "<svg/onload", KEY):
                assert sign not in page.html, (path, sign)
            assert "49" not in page.html or "{{7*7}}" in page.text


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/a.png",
        "https://127.0.0.1:{port}/a.png",
        "https://127.0.0.1/a.png",
        "https://localhost/a.png",
        "https://[::1]/a.png",
        "https://[::ffff:127.0.0.1]/a.png",
        "https://2130706433/a.png",
        "https://0x7f.1/a.png",
        "https://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/a.png",
        "https://user:pass@127.0.0.1/a.png",
        "https://127.0.0.1\r\nHost: evil/a.png",
        "https://\uff10/a.png",
    ],
)
def test_images_and_analytics_cannot_reach_the_operators_network(alice: Client, inside: PlainSite, url: str) -> None:
    url = url.format(port=inside.port)
    alice.refusal("import_image", image_ref=url, alt_text="Inside")
    website = alice.data("connect_website", platform="builtin", name="Alice")["website_id"]
    plugin = alice.host.host.compiled.plugins.contexts["search_performance"]
    site = alice.host.run(Websites(content_of(alice.host)).get(alice.user_id, website))
    fields = {
        "matomo": {"property": "1", "server": url, "token": KEY},
        "umami": {
            "property": "4fb7fa4c-5b46-438d-94b3-3a8fb9bc2e8b",
            "server": url,
            "username": "ada",
            "password": KEY,
        },
        "plausible": {"property": "example.com", "server": url, "api_key": KEY},
    }
    for name, typed in fields.items():
        with pytest.raises(InvalidInput) as refused:
            alice.host.run(connect(plugin, alice.user_id, site, offers(plugin)[name], typed))
        assert KEY not in str(refused.value)
    assert inside.requests == []


def test_errors_do_not_contain_a_key_of_a_url(alice: Client) -> None:
    website = alice.data("connect_website", platform="builtin", name="Alice")["website_id"]
    plugin = alice.host.host.compiled.plugins.contexts["search_performance"]
    site = alice.host.run(Websites(content_of(alice.host)).get(alice.user_id, website))
    with pytest.raises(CallError) as refused:
        alice.host.run(
            connect(
                plugin,
                alice.user_id,
                site,
                offers(plugin)["bing"],
                {"property": f"{site.url}/", "api_key": KEY},
            )
        )
    assert KEY not in str(refused.value)


def test_an_image_is_served_as_an_image_whatever_it_contains(alice: Client, host: RunningHost) -> None:
    polyglot = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    library = Library(host.host.compiled.plugins.contexts["images"])
    file = InspectedImage("image/png", 1, 1, polyglot + b"<script>alert(1)</script>")
    media = host.run(library.add_user_image(alice.user_id, file, name='x.html";\r\nX-Evil: 1.png', alt_text="x"))
    response = httpx.get(media.url)
    assert (response.status_code, response.headers["content-type"]) == (200, "image/png")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]
    assert "x-evil" not in response.headers
    assert httpx.get(f"{host.url}/media/{media.id}/anything.html").headers["content-type"] == "image/png"
