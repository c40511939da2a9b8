"""Publishing to a receiver that cannot be queried, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import look
from pressroom_content.records import Publication
from pressroom_content.rendering.markdown import html_of_markdown
from pressroom_content.websites.connecting import check_website
from pressroom_content.websites.store import Websites
from selectolax.lexbor import LexborHTMLParser
from support import databases
from support.installing import on_path
from support.publishing_world import ADA, configuration, world, write
from support.standin_plugin import distribution
from support.webhook_receiver import Receiver

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("webhooks")


@pytest.fixture(scope="module", params=databases.KINDS)
def config(request: pytest.FixtureRequest, folder: Path) -> Iterator[dict[str, Any]]:
    with databases.database_config(request.param, folder / request.param) as storage:
        settings = configuration(storage)
        settings["plugins"]["webhook"] = {}
        yield settings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plugin(config: dict[str, Any], folder: Path) -> AsyncIterator[PluginContext]:
    with on_path(distribution(folder / "site")):
        async with world(settings_for_test(config, folder)) as context:
            yield context


async def connect(plugin: PluginContext, receiver: Receiver) -> str:
    website = await Websites(plugin).add(
        ADA, "webhook", name="Hook", url=receiver.site, credential=receiver.credential, finding=None
    )
    _, finding = await check_website(plugin, ADA, website.id)
    assert finding.ok, finding.checks
    receiver.ids.clear()
    receiver.events.clear()
    return website.id


async def ended(plugin: PluginContext, publication: Publication) -> Publication:
    current = publication
    for _ in range(400):
        current = await Publications(plugin).wait(current, 0.1)
        if current.status not in ("queued", "publishing", "unknown"):
            break
        await asyncio.sleep(0.05)
    return current


async def publish(plugin: PluginContext, article: str, website: str, **options: Any) -> Publication:
    return await ended(plugin, await Publications(plugin).publish(ADA, article, website, **options))


async def update(plugin: PluginContext, publication: Publication, **options: Any) -> Publication:
    return await ended(plugin, await Publications(plugin).update(ADA, publication.id, **options))


async def test_neither_form_of_the_text_runs_anything(plugin: PluginContext, receiver: Receiver) -> None:
    parts = ("<script>a()</script>", "<img src=x onerror=a()>", "<form action=/x><input></form>", "[x](javascript:a)")
    body = "\n\n".join(["Good.", *parts])
    website, article = (
        await connect(plugin, receiver),
        await write(plugin, body=body, slug="still", featured_media_id=""),
    )
    assert (await publish(plugin, article, website)).status == "published"
    posts = [event["data"]["post"] for event in receiver.events if "post" in event["data"]]
    assert posts
    for post in posts:
        for html in (post["html"], html_of_markdown(post["markdown"])):
            assert "Good." in html
            assert not LexborHTMLParser(html).css("script, form, input, [onerror], [href^=javascript]"), html


async def test_code_arrives_unchanged(plugin: PluginContext, receiver: Receiver) -> None:
    code = "{{ site.url }} {% include x %} {{< gallery >}} [gallery] ${x} <script>a()</script> {:onclick=x}"
    body = f"Use `{code}`.\n\n```html\n{code}\n```\n"
    website = await connect(plugin, receiver)
    article = await write(plugin, title="Code", slug="code", body=body, featured_media_id="")
    assert (await publish(plugin, article, website)).status == "published"
    (post,) = [event["data"]["post"] for event in receiver.events if event["type"] == "post.created"]
    assert post["markdown"] == body
    assert {"raw", "kept"}.isdisjoint(post)
    assert [node.text().strip() for node in LexborHTMLParser(post["html"]).css("code")] == [code, code]


async def test_a_publication_arrives_completely_and_nothing_is_compared(
    plugin: PluginContext, receiver: Receiver
) -> None:
    website, article = await connect(plugin, receiver), await write(plugin, slug="a-whole-post")
    publication = await publish(plugin, article, website)
    assert (publication.status, publication.url, publication.external_id) == (
        "published",
        f"{receiver.site}/a-whole-post",
        "1",
    )
    assert [kind for kind, _ in receiver.ids] == ["post.created", "post.state_changed"]
    (post,) = receiver.posts.values()
    assert (post["state"], post["tags"], post["meta_description"]) == (
        "live",
        ["news", "tools"],
        "Everything about hello.",
    )
    assert post["featured"]["url"].startswith("https://library.example/")
    assert publication.verified["title_found"] is True
    assert not any("dropped" in warning or "kept nothing" in warning for warning in publication.warnings), (
        publication.warnings
    )
    state = await look(plugin, publication)
    assert state.edited is None
    assert not any("edited" in difference or "not live" in difference for difference in state.drift)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["post.created", "post.state_changed"])
async def test_a_lost_response_leads_to_a_retry_that_the_receiver_recognises(
    plugin: PluginContext, receiver: Receiver, kind: str, when: Any
) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    receiver.fault(kind, when)
    publication = await publish(plugin, article, website)
    assert publication.status == "published", publication
    assert len(receiver.posts) == 1
    assert [event["type"] for event in receiver.events] == ["post.created", "post.state_changed"]
    ids = [identifier for event, identifier in receiver.ids if event == kind]
    assert len(ids) == 2
    assert len(set(ids)) == 1


async def test_an_update_whose_response_is_lost_arrives_once(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    receiver.fault("post.updated", "after")
    updated = await update(plugin, publication)
    assert (updated.status, updated.error) == ("published", "")
    assert [event["type"] for event in receiver.events].count("post.updated") == 1
    assert [(post["title"], post["state"]) for post in receiver.posts.values()] == [("Another title", "live")]


async def test_a_post_is_unpublished_republished_and_deleted(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    for _ in range(2):
        await unpublish(plugin, ADA, publication.id, "draft")
        assert [post["state"] for post in receiver.posts.values()] == ["draft"]
        assert (await publish(plugin, article, website)).status == "published"
        assert [post["state"] for post in receiver.posts.values()] == ["live"]
    for _ in range(2):
        await unpublish(plugin, ADA, publication.id, "delete")
        assert receiver.posts == {}
        repeated = await publish(plugin, article, website)
        assert (repeated.status, repeated.id) == ("published", publication.id)
        assert [post["state"] for post in receiver.posts.values()] == ["live"]
    assert len({identifier for _, identifier in receiver.ids}) == len(receiver.ids)


async def test_a_post_in_the_trash_is_a_draft_again(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    await unpublish(plugin, ADA, publication.id, "trash")
    assert [post["state"] for post in receiver.posts.values()] == ["trashed"]
    assert (await publish(plugin, article, website, mode="draft")).status == "draft"
    assert [post["state"] for post in receiver.posts.values()] == ["draft"]


async def test_a_post_in_the_trash_that_is_scheduled_waits_as_a_draft(
    plugin: PluginContext, receiver: Receiver
) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    await unpublish(plugin, ADA, publication.id, "trash")
    at = datetime.now(UTC) + timedelta(days=1)
    assert (await publish(plugin, article, website, mode="schedule", publish_at=at)).status == "scheduled"
    assert [post["state"] for post in receiver.posts.values()] == ["draft"]


async def test_a_post_deleted_twice_can_be_published_again(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    for _ in range(2):
        assert (await unpublish(plugin, ADA, publication.id, "delete")).publication.status == "unpublished"
    assert receiver.posts == {}
    assert (await publish(plugin, article, website)).status == "published"
    assert [post["state"] for post in receiver.posts.values()] == ["live"]


async def test_a_reverted_change_arrives(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    for version, title in enumerate(("Another title", "Hello world", "Another title"), 1):
        await Articles(plugin).update(ADA, article, expected_version=version, changes={"title": title})
        assert (await update(plugin, publication, force=version == 2)).status == "published"
        assert [post["title"] for post in receiver.posts.values()] == [title]


async def test_a_post_deleted_by_the_receiver_is_recreated(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publication = await publish(plugin, article, website)
    receiver.posts.clear()
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    assert (await update(plugin, publication)).status == "published"
    assert [(post["title"], post["state"]) for post in receiver.posts.values()] == [("Another title", "live")]


async def test_a_receiver_that_is_gone_means_a_website_that_needs_attention(
    plugin: PluginContext, receiver: Receiver
) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    receiver.response = (410, "text/plain", b"")
    publication = await publish(plugin, article, website)
    assert (publication.status, "no longer accepts events" in publication.error) == ("failed", True)
    assert (await Websites(plugin).get(ADA, website)).status == "error"


async def test_eight_concurrent_publishes_create_one_post(plugin: PluginContext, receiver: Receiver) -> None:
    website, article = await connect(plugin, receiver), await write(plugin)
    publications = await asyncio.gather(*(Publications(plugin).publish(ADA, article, website) for _ in range(8)))
    assert len({publication.id for publication in publications}) == 1
    assert (await ended(plugin, publications[0])).status == "published"
    assert [kind for kind, _ in receiver.ids] == ["post.created", "post.state_changed"]
