"""Website pages: health information, and navigation."""

from __future__ import annotations

from support.people import BrowserWithoutScreen
from support.written_articles import Work

from .conftest import ARTICLES, CALENDAR

WEBSITES = "/dashboard/websites"


def test_health_shows_when_it_was_checked_and_what_works(reader: BrowserWithoutScreen, work: Work) -> None:
    path = f"{WEBSITES}/{work.other_site}"
    page = reader.get(path)
    assert "Not checked yet" in page.text
    checked = reader.submit(page, path, do="check")
    assert "Checked just now" in checked.one(".panel-head .muted")
    works, lacks = (node.text() for node in checked.tree.css(".pairs dd"))
    assert "drafts" in works
    assert "scheduling" in lacks
    links = [node.attributes["href"] for node in checked.tree.css(".page-head .facts-line a")]
    assert links == [f"{ARTICLES}?website={work.other_site}", f"{CALENDAR}?website={work.other_site}"]
    assert checked.one(".account-nav [aria-current]") == "Websites"


def test_disconnecting_a_website_needs_confirmation_and_keeps_its_publications(
    reader: BrowserWithoutScreen, work: Work
) -> None:
    work.client.data("connect_website", platform="builtin", name="For a day")
    site = next(website for website in work.client.data("list_websites")["websites"] if website["name"] == "For a day")[
        "id"
    ]
    article_id = work.client.data("create_content", title="Soup for a day", body="Hot.")["content_id"]
    work.client.data("publish_content", content_id=article_id, website_id=site)
    page = reader.get(f"{WEBSITES}/{site}")
    summary = page.tree.css_first("details summary.alarm")
    assert summary is not None
    assert summary.text() == "Disconnect For a day"
    confirmation = reader.submit(page, f"{WEBSITES}/{site}", do="disconnect")
    assert confirmation.path == WEBSITES
    assert "is disconnected" in confirmation.text
    assert reader.get(f"{WEBSITES}/{site}").status == 404
    publication = reader.get(f"{ARTICLES}/{article_id}/publications")
    assert publication.one(".publication h2") == "For a day"
    assert not publication.tree.css(".publication form")
