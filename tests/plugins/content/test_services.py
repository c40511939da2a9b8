"""The services that the contract gives other plugins: only the account's own data."""

from __future__ import annotations

from typing import Any

import pytest
from pressroom.sdk import InvalidInput, NotFound
from pressroom_content.contract import ContentServices, SiteRejected, content_services
from support.content_client import Client
from support.domain_names import DomainNames, prove


def services(client: Client) -> ContentServices:
    """Return the services as a plugin that requires the content plugin receives them."""
    return content_services(client.host.host.compiled.plugins.contexts["search_performance"])


def article(client: Client, **fields: Any) -> str:
    content_id: str = client.data("create_content", **{"title": "Good tea", "body": "Boil it.", **fields})["content_id"]
    return content_id


def site(client: Client) -> str:
    website_id: str = client.data("connect_website", platform="builtin", name="Tea")["website_id"]
    return website_id


def test_an_article_is_changed_only_at_the_version_that_was_read(ada: Client) -> None:
    articles, id_ = services(ada).articles, article(ada)
    before = ada.host.run(articles.get(ada.user_id, id_))
    after = ada.host.run(articles.change(before, {"featured_alt": "A cup"}, origin="laptop"))
    assert (after.version, after.featured_alt, after.body) == (2, "A cup", "Boil it.")
    assert [change.changed for change in ada.host.run(articles.changes(ada.user_id, id_))] == [("featured_alt",), ()]
    with pytest.raises(InvalidInput, match="now at version 2, not 1"):
        ada.host.run(articles.change(before, {"featured_alt": "Another cup"}))
    with pytest.raises(InvalidInput, match="must not be empty"):
        ada.host.run(articles.change(after, {"title": " "}))


def test_summaries_exclude_the_trash_and_other_websites(ada: Client) -> None:
    articles, website = services(ada).articles, site(ada)
    ids = [article(ada, title=title, website_id=website) for title in ("One", "Two", "Three", "Four")]
    article(ada, title="Elsewhere")
    ada.data("delete_content", content_id=ids[3], confirm=True)
    oldest = ada.host.run(articles.summaries(ada.user_id, website, limit=9, order="created", excluding=ids[0]))
    assert [summary.title for summary in oldest] == ["Two", "Three"]
    changed = ada.host.run(articles.get(ada.user_id, ids[0]))
    ada.host.run(articles.change(changed, {"keyphrase": "first"}))
    newest = ada.host.run(articles.summaries(ada.user_id, website, limit=2))
    assert [(summary.title, summary.keyphrase) for summary in newest] == [("One", "first"), ("Three", "")]
    assert [summary.title for summary in ada.host.run(articles.summaries(ada.user_id, None, limit=9))] == ["Elsewhere"]


def test_publications_belong_to_the_account(ada: Client, eve: Client) -> None:
    website = site(ada)
    id_ = article(ada, website_id=website)
    ada.data("publish_content", content_id=id_, website_id=website)
    posts = ada.host.run(services(ada).publications.of_article(ada.user_id, id_))
    assert [(post.website_id, post.status, post.article_version) for post in posts] == [(website, "published", 1)]
    assert posts[0].url.endswith("/good-tea")
    assert posts[0].published_at is not None
    assert ada.host.run(services(ada).publications.of_article(eve.user_id, id_)) == []
    assert ada.host.run(services(ada).websites.is_builtin(website))
    assert not ada.host.run(services(ada).websites.is_builtin("w_0000000000000000000000"))


def test_the_text_of_a_post_is_listed_with_and_without_a_domain(ada: Client) -> None:
    website = site(ada)
    id_ = article(ada, website_id=website)
    ada.data("publish_content", content_id=id_, website_id=website)

    def is_listed() -> bool:
        article_row = ada.host.run(services(ada).articles.get(ada.user_id, id_))
        twin = ada.host.run(services(ada).text_twins.of_article(article_row, website))
        assert twin is not None
        assert twin.markdown.startswith("# Good tea")
        return twin.listed

    assert is_listed()
    prove(DomainNames(ada.host), ada, website, "tea.example.org")
    assert is_listed()


def test_content_of_another_account_is_not_found(ada: Client, eve: Client) -> None:
    website = site(ada)
    id_ = article(ada, website_id=website)
    content = services(ada)
    assert ada.host.run(content.articles.titles(ada.user_id, [id_, "a_0"])) == {id_: "Good tea"}
    assert ada.host.run(content.articles.titles(eve.user_id, [id_])) == {}
    assert ada.host.run(content.articles.changes(eve.user_id, id_)) == []
    assert ada.host.run(content.articles.summaries(eve.user_id, website, limit=9)) == []
    assert ada.host.run(content.websites.site_pages(eve.user_id, website, limit=9)) == []
    with pytest.raises(NotFound):
        ada.host.run(content.articles.get(eve.user_id, id_))
    with pytest.raises(NotFound):
        ada.host.run(content.websites.get(eve.user_id, website))


def test_a_credential_can_be_decrypted_only_for_its_website(ada: Client) -> None:
    vault = services(ada).credentials
    sealed = vault.seal({"key": "secret"}, "w_1")
    assert vault.open(sealed, "w_1") == {"key": "secret"}
    assert vault.reseal(sealed, "w_1") is None
    assert vault.reseal("no credential", "w_1") is None
    with pytest.raises(SiteRejected):
        vault.open(sealed, "w_2")
