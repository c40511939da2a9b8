"""Opportunities list the articles of their pages, and explain how pages without an article are handled."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.tables import PublicationRow, WebsiteRow
from support.tool_client import ToolClient

from .conftest import CREDENTIALS, Site, day, new_site

KINDS = ("quick_wins", "declining", "cannibalisation")
TAKES_OVER = "import_content takes over a page that is not an article yet; then publish_content updates it."
COPIES = "import_content only copies a page that is not an article yet: publishing the copy makes another post."
ADVICE = {"wordpress": TAKES_OVER, "webhook": COPIES, "builtin": ""}
"""How pages without an article are handled, by platform."""


@pytest.fixture
def site(site_with_weeks: Site) -> Site:
    return site_with_weeks


def publish(site: Site, path: str, client: ToolClient | None = None) -> str:
    """Record an article of the site's client, or of another, as published at a page; return the article's ID."""
    client = client or site.client
    content = client.host.host.compiled.plugins.contexts["content"]
    draft = Draft(title="A post of ours", body="Some words.")
    article = client.host.run(Articles(content).create(client.user_id, draft)).article
    at = datetime.now(UTC)
    row = PublicationRow(
        id=f"p{article.id}", user_id=client.user_id, article_id=article.id, website_id=site.website.id,
        marker=f"pr-{article.id}", status="published", mode="publish", article_version=1, url=f"{site.page(path)}/",
        created_at=at, updated_at=at,
    )  # fmt: skip

    async def add() -> None:
        async with content.services.database.writing() as session:
            session.add(row)

    client.host.run(add())
    return article.id


def fill(site: Site, *paths: str) -> None:
    """Give the site figures that make each of these pages an opportunity of every kind."""
    for path in paths:
        site.google.add(day(), "shared", site.page(path), 1, 1000, 6.0)
        site.google.add(day(8), "shared", site.page(path), 20, 1000, 6.0)
    site.google.add(day(13), "shared", site.page(paths[0]), 0, 1, 6.0)
    site.fetch(site.connect())


def opportunities(site: Site, kind: str) -> tuple[dict[str, str], str, str]:
    """Return the article IDs in a response, its text, and its items as a string."""
    result = site.client.call("find_content_opportunities", website_id=site.website.id, kind=kind, days=7)
    assert not result.get("isError"), result["content"][0]["text"]
    structured = result["structuredContent"]
    return structured["content_ids"], result["content"][0]["text"], str(structured["items"])


@pytest.mark.parametrize("platform", CREDENTIALS)
def test_pages_are_named_by_their_articles(site: Site, platform: str) -> None:
    site = site.other(platform)
    article = publish(site, "ours")
    fill(site, "ours", "theirs")
    for kind in KINDS:
        content_ids, text, items = opportunities(site, kind)
        assert (site.page("ours") in items, site.page("theirs") in items) == (True, True), kind
        assert content_ids == {site.page("ours"): article}, kind
        assert f"Article {article}: {site.page('ours')}" in text, kind
        lines = [line for line in text.splitlines() if "import_content" in line]
        assert lines == [line for line in [ADVICE[platform]] if line], kind


def test_nothing_is_suggested_if_every_page_is_an_article(site: Site) -> None:
    site = site.other("wordpress")
    articles = {site.page(path): publish(site, path) for path in ("ours", "another")}
    fill(site, "ours", "another")
    for kind in KINDS:
        content_ids, text, _ = opportunities(site, kind)
        assert content_ids == articles, kind
        assert "import_content" not in text, kind


def test_articles_of_another_account_are_not_named(site: Site) -> None:
    site, eve = site.other("wordpress"), new_site(site.client.host, site.google)
    publish(site, "theirs", eve.client)
    fill(site, "theirs")
    content_ids, text, _ = opportunities(site, "quick_wins")
    assert (content_ids, TAKES_OVER in text) == ({}, True)


def test_a_website_that_cannot_be_opened_is_reported(site: Site) -> None:
    site = site.other("wordpress")
    content = site.client.host.host.compiled.plugins.contexts["content"]

    async def break_credential() -> None:
        async with content.services.database.writing() as session:
            (await session.get_one(WebsiteRow, site.website.id)).credential = "not a credential"

    site.client.host.run(break_credential())
    fill(site, "theirs")
    _, text, _ = opportunities(site, "quick_wins")
    assert f"import_content cannot take over pages of {site.website.name} now: " in text
    assert TAKES_OVER not in text


def test_a_measured_page_is_improved_and_published_in_one_chain_of_calls(site: Site) -> None:
    ada, where = site.client, {"website_id": site.website.id}
    draft = ada.data("create_content", title="Bees in winter", slug="bees", body="Bees rest in winter.", **where)
    url = ada.data("publish_content", content_id=draft["content_id"], **where)["url"]
    assert url == site.page("bees")
    fill(site, "bees")

    result = ada.data("find_content_opportunities", kind="quick_wins", days=7, **where)
    [content_id] = result["content_ids"].values()
    article = ada.data("get_content", content_id=content_id)["content"]
    edits = [{"find": "rest in winter", "replace": "keep warm in winter, wing to wing"}]
    ada.data("update_content", content_id=content_id, expected_version=article["version"], edits=edits)
    publication = ada.data("publish_content", content_id=content_id, **where)

    assert (content_id, publication["url"], publication["status"]) == (draft["content_id"], url, "published")
    assert "keep warm in winter, wing to wing" in httpx.get(url).text
