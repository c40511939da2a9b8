"""Publishing from an article's page: the preview, what is sent, and requests that the tools would refuse."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
from pressroom.testing import RunningHost
from pressroom_content.websites.store import Websites
from support.people import BrowserWithoutScreen, Page
from support.standin_platform import StandInPlatform
from support.standin_plugin import BLOCKS, PLATFORM
from support.written_articles import Work

from ..conftest import Client, client_of  # noqa: TID252 - the client of the whole plugin
from .conftest import ARTICLES, browser_of


def made(work: Work, title: str, body: str = "Hot soup.", **fields: object) -> str:
    id_: str = work.client.data("create_content", title=title, body=body, **fields)["content_id"]
    return id_


def publication(client: Client, id_: str) -> dict[str, object]:
    publication: dict[str, object] = client.data("list_publications", content_id=id_)["publications"][0]
    return publication


def used(host: RunningHost, work: Work) -> int:
    usage = host.run(host.host.accounts.quotas.used(work.client.user_id))
    return usage["articles_published"]


def test_an_article_is_published_and_updated_and_counted_once(
    reader: BrowserWithoutScreen, work: Work, platform: StandInPlatform, full_host: RunningHost
) -> None:
    id_ = made(work, "By hand", "Hi <script>x</script> there.")
    before = used(full_host, work)
    tab = reader.get(f"{ARTICLES}/{id_}/publications")
    names = [title.text() for title in tab.tree.css("[aria-labelledby=targets] .row-title")]
    # The tests of website appearance connect additional sites.
    assert sorted(name for name in names if name != "Looks") == ["Bread magazine", "The kitchen table"]
    path = f"{ARTICLES}/{id_}/publications/{work.other_site}"
    page = reader.get(path)
    assert "Removed from the body" in page.one(".notice.careful")
    assert not [post for post in platform.posts.values() if post["title"] == "By hand"]

    confirmation = reader.submit(page, path, do="publish")
    assert confirmation.path == f"{ARTICLES}/{id_}/publications"
    while "data-follow" in confirmation.html:
        assert 'http-equiv="refresh"' in confirmation.html
        confirmation = reader.get(confirmation.path)
    assert confirmation.one(".publication .badge:not(.facts-line .badge)") == "published"
    assert used(full_host, work) == before + 1

    work.client.data("update_content", content_id=id_, expected_version=1, fields={"title": "By hand again"})
    page = reader.get(path)
    assert "Update to version 2" in page.text
    reader.submit(page, path, do="publish")
    assert work.client.data("publish_content", content_id=id_, website_id=work.other_site)["article_version"] == 2
    (post,) = [post for post in platform.posts.values() if post["title"].startswith("By hand")]
    assert post["title"] == "By hand again"
    repeated = reader.submit(reader.get(path), path, do="publish")
    assert "the newest version is there already" in repeated.text
    assert used(full_host, work) == before + 1


def test_a_post_can_be_trashed_only_where_the_platform_has_a_trash(
    full_host: RunningHost, platform: StandInPlatform
) -> None:
    client = client_of(full_host, "tidy@example.net")
    id_ = client.data("create_content", title="Down again", body="Hot soup.")["content_id"]
    sites = Websites(client.plugin)
    for kind, name in ((PLATFORM, "With a trash"), (BLOCKS, "Without")):
        credential = {"token": platform.token}
        website = full_host.run(sites.add(client.user_id, kind, name=name, url=platform.url, credential=credential))
        client.data("publish_content", content_id=id_, website_id=website.id)
    with browser_of(full_host, client) as browser:
        page = browser.get(f"{ARTICLES}/{id_}/publications")
    offered = [
        [radio.attributes["value"] for radio in form.css("[name=mode]")]
        for form in page.tree.css("form")
        if form.css("[name=mode]")
    ]
    assert sorted(offered) == [["draft", "delete"], ["draft", "trash", "delete"]]


def test_a_page_such_as_an_imprint_can_be_published(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work, "Imprint of the kitchen")
    path = f"{ARTICLES}/{id_}/publications/{work.site}"
    page = reader.get(path)
    assert [option.text() for option in page.tree.css("#f-kind option")] == ["a post", "a page, such as an imprint"]
    confirmation = reader.submit(page, path, do="publish", kind="page")
    while "data-follow" in confirmation.html:
        confirmation = reader.get(confirmation.path)
    url = str(publication(work.client, id_)["url"])
    site = url.rpartition("/")[0]
    menu = "header .nav bdi"
    assert "Imprint of the kitchen" in [link.text() for link in Page(httpx.get(site)).tree.css(menu)]
    assert "Imprint of the kitchen" not in httpx.get(f"{site}/feed.xml").text
    reopened = reader.get(path)
    assert reopened.one("#f-kind [selected]") == "a page, such as an imprint"
    confirmation = reader.submit(reopened, path, do="publish", kind="post")
    while "data-follow" in confirmation.html:
        confirmation = reader.get(confirmation.path)
    assert "Imprint of the kitchen" not in [link.text() for link in Page(httpx.get(site)).tree.css(menu)]
    other = reader.get(f"{ARTICLES}/{id_}/publications/{work.other_site}")
    assert other.tree.css("#f-kind") == []


def test_an_article_is_scheduled_in_the_websites_time_zone_and_rescheduled(
    reader: BrowserWithoutScreen, work: Work
) -> None:
    id_ = made(work, "Later")
    path = f"{ARTICLES}/{id_}/publications/{work.site}"
    page = reader.get(path)
    assert "(Europe/Berlin)" in page.text
    summer = datetime.now(UTC).year + 1
    scheduled = reader.submit(page, path, do="schedule", at=f"{summer}-07-14T08:30")
    assert "scheduled" in scheduled.text
    assert publication(work.client, id_)["publish_at"] == f"{summer}-07-14T08:30:00+02:00"
    reopened = reader.get(path)
    at = reopened.tree.css_first("#f-at")
    assert at is not None
    assert at.attributes["value"] == f"{summer}-07-14T08:30"
    moved = reader.submit(reopened, path, do="schedule", at=f"{summer}-07-15T09:00")
    assert moved.status == 200
    assert publication(work.client, id_)["publish_at"] == f"{summer}-07-15T09:00:00+02:00"


def test_refusals_show_the_messages_of_the_tools(
    reader: BrowserWithoutScreen, other_reader: BrowserWithoutScreen, work: Work
) -> None:
    id_ = made(work, "Never")
    path = f"{ARTICLES}/{id_}/publications/{work.site}"
    yesterday = f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%dT%H:%M}"
    for at, message in (
        (yesterday, "Nothing was changed: the time is in the past"),
        (yesterday, "Give a later time, or publish it now."),
        ("", "choose a day and a time"),
        ("soon", "must be a time such as"),
    ):
        page = reader.submit(reader.get(path), path, do="schedule", at=at)
        assert page.status == 400
        assert message in page.one("[role=alert]")
    assert work.client.data("list_publications", content_id=id_)["publications"] == []
    assert other_reader.get(path).status == 404
    assert reader.get(f"{ARTICLES}/{id_}/publications/w_gone").status == 404
