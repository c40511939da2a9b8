"""Website pages: health information, and navigation."""

from __future__ import annotations

from support.people import BrowserWithoutScreen, Page
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


def _settings(page: Page) -> dict[str, str]:
    """Return the version that the settings form was opened with."""
    field = page.tree.css_first("section[aria-labelledby=settings] [name=version]")
    assert field is not None
    return {"do": "settings", "version": str(field.attributes["value"])}


def test_refused_settings_keep_what_was_entered(reader: BrowserWithoutScreen, work: Work) -> None:
    path = f"{WEBSITES}/{work.other_site}"
    page = reader.get(path)
    entered = {"name": "Pies", "indexnow": "true", "timezone": "Nowhere/Town", "description": "About pies."}
    refused = reader.submit(page, path, **_settings(page), **entered)
    assert "time zone such as Europe/Berlin" in refused.one("#f-timezone-error")
    for name in ("name", "description", "timezone"):
        assert refused.tree.css(f"#f-{name}")[0].attributes["value"] == entered[name]
    assert refused.tree.css("#f-indexnow [selected]")[0].attributes["value"] == "true"
    name = work.client.data("get_website", website_id=work.other_site)["website"]["name"]
    assert refused.one("h1") == name != "Pies"


def test_settings_that_were_changed_in_the_meantime_are_not_overwritten(
    reader: BrowserWithoutScreen, work: Work
) -> None:
    path = f"{WEBSITES}/{work.other_site}"
    page = reader.get(path)
    work.client.data("update_website_settings", website_id=work.other_site, settings={"author": "Ada"})
    refused = reader.submit(page, path, **_settings(page), author="Grace")
    assert refused.one(".notice.wrong").startswith("The website was changed in the meantime, so nothing was saved.")
    assert refused.tree.css("#f-author")[0].attributes["value"] == "Grace"
    saved = reader.submit(refused, path, **_settings(refused), author="Grace")
    assert "The settings are saved." in saved.text
    settings = work.client.data("get_website", website_id=work.other_site)["website"]["settings"]
    assert settings["author"] == "Grace"
