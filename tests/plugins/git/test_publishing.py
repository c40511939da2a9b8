"""Publishing in a repository as the content plugin does it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.looking import look
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.taking_down import unpublish
from pressroom_content.records import Publication
from pressroom_content.websites.checking import check_website
from pressroom_content.websites.store import Websites
from support.installing import on_path
from support.publishing_world import ADA, configuration, world, write
from support.standin_plugin import distribution

from .conftest import Repo


@pytest.fixture
async def plugin(repo: Repo, tmp_path: Path) -> AsyncIterator[PluginContext]:
    config = configuration({})
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as context:
            yield context


async def ended(plugin: PluginContext, publication: Publication) -> Publication:
    found = publication
    for _ in range(400):
        found = await Publications(plugin).wait(found, 0.1)
        if found.status not in ("queued", "publishing", "unknown"):
            break
        await asyncio.sleep(0.05)
    return found


async def test_an_article_goes_live_is_edited_there_and_taken_down(plugin: PluginContext, repo: Repo) -> None:
    credential = {"repository": "blog", "generator": "hugo"}
    made = await Websites(plugin).add(
        ADA, "git", name="Blog", url="http://127.0.0.1:1", credential=credential, finding=None
    )
    _, finding = await check_website(plugin, ADA, made.id)
    assert finding.ok, finding.checks
    article = await write(plugin)
    done = await ended(plugin, await Publications(plugin).publish(ADA, article, made.id))
    assert (done.status, done.external_id) == ("published", "content/posts/hello-world.md"), done
    assert not [one for one in done.warnings if "dropped" in one or "words of the body" in one], done.warnings
    text = repo.show(done.external_id)
    assert "draft: false" in text
    assert "library.example" not in text
    assert len(list(repo.folder.glob("static/images/*.png"))) == 1
    assert (await look(plugin, done)).edited is False
    repo.edit(done.external_id, text + "An editor's own words, which are many and not ours.\n")
    assert (await look(plugin, done)).edited is True
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    refused = await ended(plugin, await Publications(plugin).update(ADA, done.id))
    assert "edited on the site" in refused.error
    forced = await ended(plugin, await Publications(plugin).update(ADA, done.id, force=True))
    assert (forced.status, forced.error) == ("published", "")
    assert "title: Another title" in repo.show(done.external_id)
    assert (await unpublish(plugin, ADA, done.id, "draft")).status == "unpublished"
    assert "draft: true" in repo.show(done.external_id)
    assert (await unpublish(plugin, ADA, done.id, "delete")).external_id == ""
    assert done.external_id not in repo.git("ls-tree", "-r", "--name-only", "HEAD")
