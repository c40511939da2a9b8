"""Importing the URL of a post that was published from here returns its article instead of a copy."""

from __future__ import annotations

from typing import Any

import pytest
from pressroom_content.articles.store import Articles
from pressroom_content.tables import ArticleRow
from sqlalchemy import delete
from support.content_client import Client
from support.domain_names import DomainNames, prove

from .conftest import Make, publish

BODY = "Tea is a drink made of leaves, which people have hot or cold in most countries."


def connect(client: Client, name: str) -> str:
    """Connect a new built-in site for a client, and return its ID."""
    id_: str = client.data("connect_website", platform="builtin", name=name)["website_id"]
    return id_


def imported(client: Client, url: str, **arguments: Any) -> dict[str, Any]:
    """Import a URL and return the result; check that an article was created unless the result has a publication."""
    before = len(client.data("list_content")["items"])
    result = client.data("import_content", url=url, **arguments)
    after = len(client.data("list_content")["items"])
    assert after - before == (0 if result["publication_id"] else 1)
    return result


@pytest.mark.parametrize("ending", ["", "/", "#leaves", "?utm_source=letter", ".md", "/llms.txt"])
def test_a_post_of_a_built_in_site_resolves_to_its_article(ada: Client, make: Make, website: str, ending: str) -> None:
    article = make("Tea", BODY)
    publication = ada.data("publish_content", content_id=article, website_id=website)
    result = ada.call("import_content", url=f"{publication['url']}{ending}")
    imported_article = result["structuredContent"]
    assert (imported_article["content_id"], imported_article["publication_id"]) == (
        article,
        publication["publication_id"],
    )
    assert len(ada.data("list_content")["items"]) == 1
    text = result["content"][0]["text"]
    assert text.startswith(f"“Tea” is here already as {article}")
    assert "merge_site_edits" not in f"{text}{imported_article['warnings']}"


def test_an_old_url_of_a_post_resolves_to_its_article(ada: Client, make: Make, website: str) -> None:
    article = make("Tea", BODY, slug="tea")
    urls = [publish(ada, article, website)]
    for version, slug in enumerate(("green-tea", "black-tea"), 1):
        ada.host.run(Articles(ada.plugin).update(ada.user_id, article, version, changes={"slug": slug}))
        urls.append(publish(ada, article, website))
    assert len(set(urls)) == 3
    for url in urls:
        assert imported(ada, url)["content_id"] == article


def test_an_old_url_taken_by_another_post_resolves_to_that_post(ada: Client, make: Make, website: str) -> None:
    first = make("Tea", BODY, slug="tea")
    url = publish(ada, first, website)
    ada.host.run(Articles(ada.plugin).update(ada.user_id, first, 1, changes={"slug": "green-tea"}))
    publish(ada, first, website)
    second = make("More tea", BODY, slug="tea")
    assert publish(ada, second, website) == url
    assert imported(ada, url)["content_id"] == second


def test_an_unpublished_post_resolves_to_its_article(ada: Client, make: Make, website: str) -> None:
    article = make("Tea", BODY)
    publication = ada.data("publish_content", content_id=article, website_id=website)
    ada.data("unpublish_content", publication_id=publication["publication_id"], confirm=True)
    assert imported(ada, publication["url"])["content_id"] == article


def test_the_site_is_determined_by_the_url(ada: Client, make: Make) -> None:
    first, second = connect(ada, "First blog"), connect(ada, "Second blog")
    articles = {site: make(f"Tea of {site}", BODY, slug="tea") for site in (first, second)}
    for site, article in articles.items():
        url = publish(ada, article, site)
        assert imported(ada, url)["content_id"] == article
        assert imported(ada, url, website_id=site)["content_id"] == article


def test_a_post_of_a_trashed_article_is_refused(ada: Client, make: Make, website: str) -> None:
    article = make("Tea", BODY)
    url = publish(ada, article, website)
    ada.data("delete_content", content_id=article, confirm=True)
    assert f"is the post of {article}, which is in the trash" in ada.refusal("import_content", url=url)


def test_a_post_of_a_deleted_article_is_imported_as_a_copy(ada: Client, make: Make, website: str) -> None:
    article = make("Tea", BODY)
    url = publish(ada, article, website)

    async def remove() -> None:
        async with ada.plugin.services.database.writing() as session:
            await session.execute(delete(ArticleRow).where(ArticleRow.id == article))

    ada.host.run(remove())
    copy = imported(ada, url)
    assert (copy["title"], copy["publication_id"]) == ("Tea", None)
    assert any("it is a copy" in warning for warning in copy["warnings"])


def test_a_post_of_another_account_is_not_recognised(ada: Client, eve: Client, make: Make, website: str) -> None:
    url = publish(ada, make("Tea", BODY), website)
    assert "must be on a connected website" in eve.refusal("import_content", url=url)
    connect(eve, "Another blog")
    copy = imported(eve, url)
    assert (copy["title"], copy["publication_id"]) == ("Tea", None)


def test_a_page_that_is_not_a_post_does_not_match_an_article(ada: Client, make: Make, website: str) -> None:
    url = publish(ada, make("Tea", BODY, slug="tea"), website)
    home = url.removesuffix("/tea")
    assert "status 404" in ada.refusal("import_content", url=f"{home}/coffee")
    assert "status 404" in ada.refusal("import_content", url=f"{home}/tea/coffee")
    assert imported(ada, home)["publication_id"] is None


def test_a_post_on_a_custom_domain_is_recognised_by_both_urls(ada: Client, make: Make, website: str) -> None:
    names = DomainNames(ada.host)
    article = make("Tea", BODY, slug="tea")
    old = publish(ada, article, website)
    url = prove(names, ada, website, f"tea-{ada.user_id.lower().replace('_', '-')}.example.org")
    for address in (f"{url}/tea", old):
        assert imported(ada, address)["content_id"] == article
