"""The dashboard overview: a person's articles come before the plan and the calls."""

from __future__ import annotations

from pressroom.testing import RunningHost
from pressroom_content.pages.overview import SHOWN
from support.people import BrowserWithoutScreen, Page
from support.written_articles import Work

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import browser_of


def sections(page: Page) -> list[str]:
    return [heading.text(strip=True) for heading in page.tree.css(".account-main h2")]


def rows(page: Page, section: str) -> list[str]:
    rows = page.tree.css(f'section[aria-labelledby="content-{section}"] li')
    return [" ".join(row.text(separator=" ").split()) for row in rows]


def test_tasks_come_before_the_plan_and_show_what_needs_attention(full_host: RunningHost, work: Work) -> None:
    with browser_of(full_host, work.client) as browser:
        page = browser.get("/dashboard")
        assert sections(page)[-6:] == [
            "Needs your attention",
            "Up next",
            "Drafts",
            "Published in the last 30 days",
            "Free plan",
            "Latest calls",
        ]
        assert "Seven soups for a cold week could not be published look at it" in rows(page, "problems")
        (first, *_) = rows(page, "next")
        assert "Rye or wheat" in first
        assert f"{work.at.day} " in first
        assert "Europe/Berlin" in first
        assert "The kitchen table" in first
        assert 0 < len(rows(page, "drafts")) <= 4
        heads = page.tree.css('section[aria-labelledby="content-drafts"] .panel-head a')
        leads = [str(link.attributes["href"]).rpartition("/articles")[2] for link in heads]
        assert leads == ["/new/edit", "?status=draft"]
        assert "&lt;" in page.html or "<script>alert" not in page.html
        assert rows(page, "live")
        for link in page.tree.css('.account-main section[aria-labelledby^="content-"] a'):
            assert browser.get(str(link.attributes["href"])).status == 200
        older = browser.get("/dashboard?show=errors")
        assert not rows(older, "drafts")


def test_with_a_website_but_no_drafts_a_draft_can_be_started_for_it(browser: BrowserWithoutScreen, ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="Teas")["website_id"]
    page = browser.get("/dashboard")
    link = page.tree.css_first('section[aria-labelledby="content-drafts"] .panel-head a')
    assert link is not None
    editor = browser.get(str(link.attributes["href"]))
    assert editor.tree.css_first(f'#f-website_id option[selected][value="{website}"]') is not None
    ada.data("connect_website", platform="builtin", name="Coffees")
    assert browser.get(editor.path).tree.css("#f-website_id [selected]") == []


def test_a_new_account_is_guided_to_its_first_website(browser: BrowserWithoutScreen, ada: Client, eve: Client) -> None:
    eve.data("create_content", title="Foreign tea", body="x")
    page = browser.get("/dashboard")
    assert "Publish something" in sections(page)
    assert "Foreign tea" not in page.text
    groups = [title.text() for title in page.tree.css(".account-nav .nav-title")]
    assert groups[0] == "Content"
    assert groups[-1] == "Settings"


def test_of_many_posts_the_newest_are_shown_and_the_rest_counted(browser: BrowserWithoutScreen, ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="Teas")["website_id"]
    titles = [f"Post {number}" for number in range(SHOWN + 2)]
    for title in titles:
        article = ada.data("create_content", title=title, body="Tea.")["content_id"]
        ada.data("publish_content", content_id=article, website_id=website)
    page = browser.get("/dashboard")
    assert [row[:6] for row in rows(page, "live")] == titles[:1:-1]
    assert "and 2 more" in page.text
