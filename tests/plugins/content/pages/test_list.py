"""The list of articles in the dashboard."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from pressroom.columns import new_id
from support.content_rows import fill
from support.people import BrowserWithoutScreen, Page
from support.written_articles import LONG_TITLE, RIGHT_TO_LEFT, Work

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import ARTICLES


def links(page: Page) -> list[str]:
    return [link.attributes["href"] or "" for link in page.tree.css(".listing tbody th > a")]


def titles(page: Page) -> list[str]:
    return [link.text() for link in page.tree.css(".listing tbody th > a")]


def test_an_empty_account_learns_what_to_ask_for(browser: BrowserWithoutScreen) -> None:
    page = browser.get(ARTICLES)
    assert "No articles yet" in page.text
    assert len(page.tree.css(".prompts li")) == 3
    assert page.tree.css_first('a[href="/dashboard/connections"]') is not None
    assert not page.tree.css("form[role=search]")


def test_articles_are_filtered_by_words_status_and_website(
    browser: BrowserWithoutScreen, ada: Client, eve: Client
) -> None:
    ada.data("connect_website", platform="builtin", name="Tea blog")
    (website,) = ada.data("list_websites")["websites"]
    live = ada.data("create_content", title="<i>Tea</i> & you", body="Leaves.", website_id=website["id"])["content_id"]
    url = ada.data("publish_content", content_id=live, website_id=website["id"])["url"]
    ada.data("create_content", title="Coffee", body="Beans and tea.")
    eve.data("create_content", title="Foreign tea", body="x")
    assert sorted(titles(browser.get(ARTICLES))) == ["<i>Tea</i> & you", "Coffee"]
    assert titles(browser.get(f"{ARTICLES}?q=tea")) == ["<i>Tea</i> & you", "Coffee"]
    assert titles(browser.get(f"{ARTICLES}?q=beans")) == ["Coffee"]
    assert titles(browser.get(f"{ARTICLES}?status=draft")) == ["Coffee"]
    assert titles(browser.get(f"{ARTICLES}?status=published&q=tea")) == ["<i>Tea</i> & you"]
    at_website = browser.get(f"{ARTICLES}?website={website['id']}")
    assert titles(at_website) == ["<i>Tea</i> & you"]
    link = at_website.tree.css_first(f'.listing a[href="{url}"]')
    assert link is not None
    assert link.text().startswith("Tea blog")
    selected = [option.attributes["value"] for option in at_website.tree.css("option[selected]")]
    assert selected == ["", website["id"]]
    nothing = browser.get(f"{ARTICLES}?q={quote('bicycle <b>')}")
    assert "No article matches" in nothing.text
    assert 'value="bicycle &lt;b&gt;"' in nothing.html
    # Unknown filter values are ignored.
    assert len(titles(browser.get(f"{ARTICLES}?status=x&website=w_x"))) == 2


def test_without_a_scorer_no_score_is_shown(browser: BrowserWithoutScreen, ada: Client) -> None:
    ada.data("create_content", title="Tea", body="Leaves.")
    heads = [heading.text() for heading in browser.get(ARTICLES).tree.css(".listing thead th")]
    assert heads == ["Article", "Status", "Words", "Changed"]


def test_older_articles_are_on_later_pages_with_the_same_filter(browser: BrowserWithoutScreen, ada: Client) -> None:
    ids = ada.host.run(fill(ada.plugin.services.database, ada.user_id, 104, new_id("w"), 24))
    drafts = [f"{ARTICLES}/{id_}" for id_ in reversed(ids[1::2])]
    first = browser.get(f"{ARTICLES}?status=draft")
    assert links(first) == drafts[:50]
    older = first.tree.css_first("a[rel=next]")
    assert older is not None
    second = browser.get(str(older.attributes["href"]))
    assert links(second) == drafts[50:]
    assert second.tree.css_first("a[rel=next]") is None
    back = second.tree.css_first(".pager a")
    assert back is not None
    assert links(browser.get(str(back.attributes["href"]))) == drafts[:50]
    assert browser.get(f"{ARTICLES}?cursor=nonsense").status == 400


def test_titles_of_any_length_and_script_are_listed_with_their_scores(reader: BrowserWithoutScreen, work: Work) -> None:
    page = reader.get(ARTICLES)
    all_titles = titles(page)
    assert len(all_titles) >= 6
    assert RIGHT_TO_LEFT in all_titles
    assert LONG_TITLE in all_titles
    assert not page.tree.css("main img")
    link = page.tree.css_first(f'a[href="{ARTICLES}/{work.right_to_left}"]')
    assert link is not None
    assert link.attributes["dir"] == "auto"
    score = work.client.data("get_content", content_id=work.good)["content"]["score"]
    badge = page.tree.css_first(f'a[href="{ARTICLES}/{work.good}/seo"] .score')
    assert badge is not None
    assert " ".join(badge.text().split()) == f"Score {score} of 100"


@pytest.mark.parametrize("tab", ["", "/seo", "/versions", "/versions/1", "/publications"])
def test_an_article_of_another_account_is_not_found(other_reader: BrowserWithoutScreen, work: Work, tab: str) -> None:
    assert other_reader.get(f"{ARTICLES}/{work.good}{tab}").status == 404
    assert other_reader.get(f"{ARTICLES}/a_none{tab}").status == 404
    if tab not in ("/seo", "/versions"):
        fields = other_reader.get("/dashboard/websites").fields("/dashboard/websites")
        fields |= {"do": "trash", "newest": "4"}
        # No page that the other person can see has a token for this form.
        assert other_reader.post(f"{ARTICLES}/{work.good}{tab}", fields).status == 403
        article = work.client.data("get_content", content_id=work.good)["content"]
        assert (article["status"], article["version"]) == ("published", 4)
