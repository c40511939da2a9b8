"""No data of an account grows without bound, however many requests are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pressroom.config import Settings
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.builtin_site.store import MAX_REDIRECTS
from pressroom_content.builtin_site.tables import BuiltinRedirectRow
from pressroom_content.contract import RemotePost, SiteRefused
from pressroom_content.tables import PageRow
from pressroom_content.websites import sync
from pressroom_content.websites.store import Websites
from pressroom_images.library.uploads import MAX_OPEN, Uploads
from pressroom_images.tables import UploadRow
from sqlalchemy import func, insert, select
from support import databases
from support.publishing_world import services

BOB = "u_bob"


@pytest.fixture(params=databases.KINDS)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    with databases.database_config(request.param, tmp_path) as storage:
        yield settings_for_test({"plugins": {"content": {}, "images": {}}, "storage": storage}, tmp_path)


@pytest.fixture
async def contexts(settings: Settings) -> AsyncIterator[Mapping[str, PluginContext]]:
    """Yield the plugins' contexts in a process that runs no jobs."""
    async with services(LoadedApp(settings), works=False) as opened:
        yield opened


@pytest.fixture
def plugin(contexts: Mapping[str, PluginContext]) -> PluginContext:
    """Return the content plugin's context."""
    return contexts["content"]


async def stored(plugin: PluginContext, table: type[PageRow | BuiltinRedirectRow | UploadRow]) -> int:
    async with plugin.services.database.reading() as session:
        return int(await session.scalar(select(func.count()).select_from(table)) or 0)


async def test_a_site_that_invents_pages_cannot_fill_the_index(plugin: PluginContext) -> None:
    websites = Websites(plugin)
    website = await websites.add(BOB, "webhook", name="Endless", url="https://bob.example", credential={})
    now = datetime.now(UTC)
    rows = [
        {
            "id": f"g_{number}",
            "user_id": BOB,
            "website_id": website.id,
            "url": f"https://bob.example/{number}",
            "seen_at": datetime.fromtimestamp(number, UTC),
        }
        for number in range(sync.MAX_PAGES)
    ]
    async with plugin.services.database.writing() as session:
        for begin in range(0, len(rows), 2000):
            await session.execute(insert(PageRow), rows[begin : begin + 2000])
    post = RemotePost("p_new", "https://bob.example/new", "live", "1", html="<p>New words</p>", updated_at=now)
    assert await sync.keep(plugin, website, post) == "new"
    assert await stored(plugin, PageRow) == sync.MAX_PAGES
    async with plugin.services.database.reading() as session:
        assert await session.get(PageRow, "g_0") is None, "the page that was seen longest ago is gone"
        assert await session.scalar(select(PageRow.id).where(PageRow.url == post.url)) is not None


async def test_the_number_of_redirects_is_limited(plugin: PluginContext) -> None:
    websites = Websites(plugin)
    website = await websites.add(BOB, "builtin", name="Blog", url="", credential={})
    rows = [
        {
            "id": f"r_{number}",
            "website_id": website.id,
            "source": f"/old-{number}",
            "target": "/new",
            "permanent": True,
            "created_at": datetime.now(UTC),
        }
        for number in range(MAX_REDIRECTS)
    ]
    async with plugin.services.database.writing() as session:
        for begin in range(0, len(rows), 2000):
            await session.execute(insert(BuiltinRedirectRow), rows[begin : begin + 2000])
    _, site = await websites.open(BOB, website.id)
    with pytest.raises(SiteRefused, match="10,000 redirects"):
        await site.add_redirect("/one-more", "/new", permanent=True)
    changed = await site.add_redirect("/old-1", "/other", permanent=True)
    assert changed.target == "/other", "one that is there can be changed"
    assert await stored(plugin, BuiltinRedirectRow) == MAX_REDIRECTS


async def test_unused_upload_links_are_limited(contexts: Mapping[str, PluginContext]) -> None:
    plugin = contexts["images"]
    uploads = Uploads(plugin)
    links = [await uploads.link(BOB, content_id=None, filename="", media_type="") for _ in range(MAX_OPEN + 5)]
    await uploads.link("u_alice", content_id=None, filename="", media_type="")
    assert await stored(plugin, UploadRow) == MAX_OPEN + 1
    newest = await uploads.open(links[-1].url.rpartition("/")[2])
    assert newest.media_id == links[-1].media_id
