"""Publishing on DEV through the content plugin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.records import Publication
from pressroom_content.websites.connecting import check_website
from pressroom_content.websites.store import Websites
from support.installing import on_path
from support.publishing_world import ADA, configuration, world, write
from support.standin_forem import KEY, Forem
from support.standin_plugin import distribution


@pytest.fixture
async def plugin(forem: Forem, tmp_path: Path) -> AsyncIterator[PluginContext]:
    config = configuration({"database_url": f"sqlite:///{tmp_path}/content.sqlite"})
    config.pop("storage")
    config["plugins"]["devto"] = {"config": {"api_url": forem.url, "write_interval": 0}}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path)) as context:
            yield context


async def ended(plugin: PluginContext, publication: Publication) -> Publication:
    current = publication
    for _ in range(400):
        current = await Publications(plugin).wait(current, 0.1)
        if current.status not in ("queued", "publishing", "unknown"):
            break
        await asyncio.sleep(0.05)
    return current


@pytest.mark.parametrize("lose", ["", "before", "after"])
async def test_an_article_is_published_updated_and_taken_down(plugin: PluginContext, forem: Forem, lose: Any) -> None:
    website = await Websites(plugin).add(ADA, "devto", name="DEV", url="", credential={"api_key": KEY}, finding=None)
    _, finding = await check_website(plugin, ADA, website.id)
    assert finding.ok
    article = await write(plugin)
    forem.lose = lose
    publication = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))
    assert publication.status == "published", publication
    assert len(forem.articles) == 1, (forem.requests, forem.articles)
    (stored,) = forem.articles.values()
    assert (stored["published"], stored["tags"]) == (True, ["news", "tools"])
    assert stored["main_image"].startswith("https://library.example/")
    assert publication.url.endswith(f"/ada/{stored['slug']}")
    assert publication.verified["title_found"] is True
    assert not [
        warning for warning in publication.warnings if "dropped" in warning or "words of the body" in warning
    ], publication.warnings
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    assert (await ended(plugin, await Publications(plugin).update(ADA, publication.id))).error == ""
    assert [stored_article["title"] for stored_article in forem.articles.values()] == ["Another title"]
    assert (await unpublish(plugin, ADA, publication.id, "draft")).publication.status == "unpublished"
    assert [stored_article["published"] for stored_article in forem.articles.values()] == [False]
