"""The pages of one article: text, assessment, versions and publications."""

from __future__ import annotations

import io
import zipfile

import pytest
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from support.people import BrowserWithoutScreen, Page
from support.standin_platform import StandInPlatform
from support.standin_plugin import PHOTO
from support.written_articles import Work

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import ARTICLES


def texts(page: Page, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ").split()) for node in page.tree.css(selector)]


def framed_text(page: Page) -> str:
    """Return the visible text of the article."""
    body = page.framed.body
    assert body is not None
    return " ".join(body.text(separator=" ").split())


def made(work: Work, title: str = "Soup of the day", body: str = "Hot soup.") -> str:
    """Create an article and return its ID."""
    id_: str = work.client.data("create_content", title=title, body=body)["content_id"]
    return id_


def failed(work: Work, platform: StandInPlatform, title: str) -> str:
    """Create an article that failed to be published, and return its ID."""
    id_ = made(work, title)
    platform.fault("POST /api/posts", response=(422, "application/json", b'{"error": "no"}', {}))
    work.client.refusal("publish_content", content_id=id_, website_id=work.other_site)
    return id_


def test_the_preview_is_safe_and_loads_nothing_external(reader: BrowserWithoutScreen, work: Work) -> None:
    page = reader.get(f"{ARTICLES}/{work.hostile}")
    assert page.one("h1") == "<img src=x onerror=alert(1)>\"'&{{7*7}}"
    assert framed_text(page) == "Hi you"
    assert "<script>" in page.one("details.notice")
    assert "alert(1)</script>" not in page.html
    assert not page.tree.css("[onclick], [onerror]")
    assert not page.framed.css("[onclick], [onerror], script")
    elsewhere = reader.get(f"{ARTICLES}/{work.failed}")
    assert not elsewhere.framed.css("img")
    assert [node.text() for node in elsewhere.framed.css(".outside")] == ["Image from elsewhere.example: A bowl"]


def test_the_cover_is_shown_with_its_alt_text(reader: BrowserWithoutScreen, work: Work) -> None:
    page = reader.get(f"{ARTICLES}/{work.good}")
    cover = page.framed.css_first(".cover img")
    assert cover is not None
    assert cover.attributes["alt"] == "A jar on a table"
    assert reader.client.get(str(cover.attributes["src"])).headers["content-type"] == "image/png"
    assert page.one(".account-nav [aria-current]") == "Articles"
    assert ("Keyphrase", "sourdough starter") in zip(texts(page, ".pairs dt"), texts(page, ".pairs dd"), strict=True)


def test_credits_are_next_to_images_and_missing_covers_are_reported(reader: BrowserWithoutScreen, work: Work) -> None:
    body = f"One.\n\n![A photo](https://library.example/{PHOTO}.png)\n\nTwo."
    page = reader.get(f"{ARTICLES}/{made(work, 'Photos', body)}")
    assert "Photo: Ada , CC BY 4.0" in framed_text(page)
    assert not page.framed.css("script")
    draft = Draft("Gone", "x", featured_media_id="m_" + "0" * 22)
    article_id = work.client.host.run(Articles(work.client.plugin).create(work.client.user_id, draft)).article.id
    assert "no longer in the media library" in reader.get(f"{ARTICLES}/{article_id}").text


@pytest.mark.parametrize("form", ["markdown", "json", "wxr"])
def test_an_article_is_exported(reader: BrowserWithoutScreen, work: Work, form: str) -> None:
    path = f"{ARTICLES}/{work.good}"
    page = reader.get(path)
    sent = reader.client.post(path, data={**page.fields(path), "do": "export", "format": form})
    assert sent.status_code == 200
    assert "attachment" in sent.headers["content-disposition"]
    content = sent.content
    if form == "markdown":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(archive.namelist()[0])
    assert b"Carefully drop a spoonful" in content


def test_an_article_is_trashed_and_restored(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work)
    path = f"{ARTICLES}/{id_}"
    trashed = reader.post(path, reader.get(path).fields(path) | {"do": "trash"})
    assert "in the trash" in trashed.text
    assert work.client.data("get_content", content_id=id_)["content"]["status"] == "trashed"
    restored = reader.submit(trashed, path, do="restore")
    assert "back from the trash" in restored.text
    assert work.client.data("get_content", content_id=id_)["content"]["status"] == "draft"
    waiting = f"{ARTICLES}/{work.scheduled}"
    refused = reader.post(waiting, reader.get(waiting).fields(waiting) | {"do": "trash"})
    assert refused.status == 400
    assert "publication that is scheduled" in refused.one("[role=alert]")
    assert reader.post(waiting, reader.get(waiting).fields(waiting) | {"do": "nonsense"}).status == 400


def test_articles_with_the_same_keyphrase_are_linked_by_title(reader: BrowserWithoutScreen, work: Work) -> None:
    first, second = (
        work.client.data("create_content", title=title, body="Rye is dark.", keyphrase="dark rye")["content_id"]
        for title in ("Rye <b>at dawn</b>", "Rye at dusk")
    )
    (link,) = reader.get(f"{ARTICLES}/{second}/seo").tree.css(".evidence a")
    assert link.text() == "Rye <b>at dawn</b>"
    assert link.attributes["href"] == f"{ARTICLES}/{first}"


def test_an_article_with_one_version_has_nothing_to_compare(reader: BrowserWithoutScreen, work: Work) -> None:
    page = reader.get(f"{ARTICLES}/{made(work)}/versions")
    assert "There is only one version so far." in page.text
    assert not page.tree.css("main form select")


def test_the_seo_panel_matches_the_tools(reader: BrowserWithoutScreen, work: Work) -> None:
    page = reader.get(f"{ARTICLES}/{work.long}/seo")
    report = work.client.data("check_blog_seo", content_id=work.long)
    assert page.one(".dial") == str(report["score"])
    bad = [check for check in report["checks"] if check["status"] == "bad"]
    assert bad
    messages = texts(page, ".checks.bad .row-title")
    assert sorted(messages) == sorted(" ".join(check["message"].split()) for check in bad)
    for check in bad:
        assert check["fix"] in page.text
    assert len(page.tree.css(".checks.good li .row-title")) == sum(c["status"] == "good" for c in report["checks"])
    assert report["gates"][0].rstrip(".") in page.one(".notice.careful")
    snippet = work.client.data("check_blog_seo", content_id=work.long, include=["snippet"])["snippet"]
    widths = texts(page, ".widths dd span")
    for device, at in (("desktop", 0), ("mobile", 2)):
        line = snippet[device]["title"]
        assert widths[at].startswith(f"{line['width']} of {line['limit']} px")
    assert widths[0].endswith(", cut")
    assert page.tree.css(".widths .over")


def test_the_panel_and_the_list_show_the_same_score_and_word_count(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work, "Bread and numbers", "Flour, water.\n\n```\nbake(bread, 40)\n```\n\nPatience is all it takes.")
    made(work, "Something else", "Other words.")  # the set of articles to compare with keeps changing

    panel = reader.get(f"{ARTICLES}/{id_}/seo")
    row = next(node for node in reader.get(ARTICLES).tree.css("tr") if f"{ARTICLES}/{id_}" in (node.html or ""))

    score = panel.one(".dial")
    badge = row.css_first(".score")
    assert badge is not None
    assert " ".join(badge.text().split()) == f"Score {score} of 100"
    assert f"{work.client.data('check_blog_seo', content_id=id_)['words']} words" in panel.text
    assert "7 words" in panel.text


@pytest.mark.parametrize(
    ("body_format", "body"),
    [
        (
            "markdown",
            "# Bread\n\nFlour, [water](https://example.org/w).[^1]\n\n| a | b |\n|---|---|\n| 1 | two |\n\n[^1]: Cold.",
        ),
        ("html", "<p>Flour&nbsp;and <b>wa</b>ter</p><pre><code>bake()</code></pre><ul><li>Salt<li>Yeast</ul>"),
        ("markdown", "パンを焼く。小麦粉と水が必要です。"),
        ("markdown", ""),
    ],
    ids=["markdown", "html", "japanese", "empty"],
)
def test_the_word_count_of_a_version_is_the_same_everywhere(
    reader: BrowserWithoutScreen, work: Work, body_format: str, body: str
) -> None:
    client = work.client
    article = client.data("create_content", title="Bread once more", body=body, body_format=body_format)
    id_, count = article["content_id"], article["word_count"]

    def everywhere() -> set[int]:
        items = client.data("list_content", limit=100)["items"]
        return {
            client.data("check_blog_seo", content_id=id_)["words"],
            client.data("get_content", content_id=id_)["content"]["word_count"],
            client.data("import_content", content_id=id_)["word_count"],
            next(item["word_count"] for item in items if item["content_id"] == id_),
        }

    assert everywhere() == {count}
    assert f"{count} word" in reader.get(f"{ARTICLES}/{id_}").text
    longer = {"body": "One two three four five six seven eight nine ten.", "body_format": "markdown"}
    client.data("update_content", content_id=id_, expected_version=1, fields=longer)
    assert everywhere() == {10}
    older = client.data("get_content", content_id=id_, version=1)["content"]
    assert (older["version"], older["word_count"]) == (1, count)
    assert older["score"] == article["seo"]["score"]


def test_without_a_scorer_the_panel_explains_what_to_do(browser: BrowserWithoutScreen, ada: Client) -> None:
    id_ = ada.data("create_content", title="Tea", body="Leaves.")["content_id"]
    assert "No SEO scores on this server" in browser.get(f"{ARTICLES}/{id_}/seo").text


def test_versions_are_listed_with_their_authors_and_compared(reader: BrowserWithoutScreen, work: Work) -> None:
    path = f"{ARTICLES}/{work.good}/versions"
    page = reader.get(path)
    assert [title.split()[1] for title in texts(page, ".rows .row-title")] == ["4", "3", "2", "1"]
    assert "by Claude on the laptop" in page.text
    # The newest version is compared word by word with the one before it.
    assert texts(page, ".diff del") == ["Drop"]
    assert texts(page, ".diff ins") == ["Carefully drop"]
    assert texts(page, ".diff tr.removed .sign .visually-hidden") == ["removed"]
    wider = reader.get(f"{path}?a=4&b=1")
    assert texts(wider, ".changes dt") == [
        "Title in search results",
        "Featured image",
        "Alt text of the featured image",
    ]
    assert "clean" in " ".join(texts(wider, ".diff ins"))
    assert "Choose two different versions" in reader.get(f"{path}?a=2&b=2").text
    assert reader.get(f"{path}?a=99&b=x").status == 200
    assert reader.get(f"{path}/99").status == 404


def test_a_version_is_restored_after_a_preview(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work, body="Hot soup.")
    fields = {"body": "Cold soup.", "meta_title": "Soup", "slug": "cold-soup"}
    work.client.data("update_content", content_id=id_, expected_version=1, fields=fields)
    path = f"{ARTICLES}/{id_}/versions/1"
    page = reader.get(path)
    assert "Restore version 1?" in page.text
    assert "Slug and website stay the same." in page.text
    assert texts(page, ".changes dt") == ["Title in search results"]
    assert texts(page, ".diff ins") == ["Hot"]
    assert reader.post(path, {"newest": "2", "csrf": "no"}).status == 403
    work.client.data("update_content", content_id=id_, expected_version=2, fields={"excerpt": "New."})
    refused = reader.submit(page, path)
    assert refused.status == 400
    assert "changed in the meantime" in refused.one("[role=alert]")
    confirmation = reader.submit(refused, path)
    assert "Version 1 is back as version 4" in confirmation.one("[role=status]")
    for other in ("4", "99", "0", "x"):
        assert "is back" not in reader.get(f"{ARTICLES}/{id_}/versions?restored={other}").text
    content = work.client.data("get_content", content_id=id_)
    assert (content["content"]["version"], content["content"]["meta_title"]) == (4, "")
    assert content["content"]["slug"] == "cold-soup"
    assert content["body"] == "Hot soup."
    newest = work.client.data("get_content", content_id=id_, versions=True)["versions"][0]
    assert newest["client"] == "the dashboard"


def test_a_failed_publication_is_retried_and_taken_down(
    reader: BrowserWithoutScreen, work: Work, platform: StandInPlatform
) -> None:
    id_ = failed(work, platform, "Soup to try again")
    path = f"{ARTICLES}/{id_}/publications"
    page = reader.get(path)
    assert page.one(".publication .panel-head .badge") == "failed"
    assert page.one(".publication .notice.wrong") == "The stand-in refused it."
    assert "Draft failed" in texts(page, ".steps li")
    tried = reader.submit(page, path, do="retry")
    assert tried.one(".publication .panel-head .badge") == "published"
    assert texts(tried, ".steps li")[-1] == "Live page checked done"
    (url,) = work.client.data("list_content", query="try again")["items"][0]["urls"]
    assert tried.tree.css_first(f'a[href="{url}"]') is not None
    (post,) = [post for post in platform.posts.values() if post["title"] == "Soup to try again"]
    assert post["state"] == "live"
    repeated = reader.submit(tried, path, do="retry")
    assert repeated.status == 400
    assert "nothing to retry" in repeated.one("[role=alert]")
    down = reader.submit(tried, path, do="down", mode="trash")
    assert down.one(".publication .panel-head .badge") == "unpublished"
    assert post["state"] == "trashed"
    assert work.client.data("get_content", content_id=id_)["content"]["status"] == "draft"


def test_the_newest_version_is_sent_unless_the_site_was_edited(
    reader: BrowserWithoutScreen, work: Work, platform: StandInPlatform
) -> None:
    id_ = made(work, "Soup to send again")
    work.client.data("publish_content", content_id=id_, website_id=work.other_site)
    work.client.data("update_content", content_id=id_, expected_version=1, fields={"body": "Cold soup."})
    path = f"{ARTICLES}/{id_}/publications"
    page = reader.get(path)
    assert "1, the newest is 2" in page.text
    (post_id,) = [key for key, post in platform.posts.items() if post["title"] == "Soup to send again"]
    platform.edit(post_id, html="<p>Somebody else wrote this.</p>")
    conflict = reader.submit(page, path, do="update")
    assert conflict.tree.css_first("input[name=force]") is not None
    assert "Somebody else" in platform.posts[post_id]["html"]
    sent = reader.submit(conflict, path, do="update", force="yes")
    assert sent.tree.css_first("input[name=force]") is None
    assert "Cold soup." in platform.posts[post_id]["html"]


def test_a_schedule_is_cancelled(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work)
    work.client.data(
        "publish_content", content_id=id_, website_id=work.site, mode="schedule", publish_at=work.at.isoformat()
    )
    path = f"{ARTICLES}/{id_}/publications"
    page = reader.get(path)
    assert page.one(".publication .panel-head .badge") == "scheduled"
    assert "Europe/Berlin" in page.one(".facts")
    assert "Take it down" not in page.text
    assert "Unpublish" not in page.text
    confirmation = reader.submit(page, path, do="cancel")
    assert "The schedule is cancelled" in confirmation.text
    assert confirmation.one(".publication .panel-head .badge") == "draft"
    assert work.client.data("get_content", content_id=id_)["content"]["status"] == "draft"


def test_a_publication_of_another_article_cannot_be_changed_here(reader: BrowserWithoutScreen, work: Work) -> None:
    good, scheduled = (f"{ARTICLES}/{id_}/publications" for id_ in (work.good, work.scheduled))
    fields = reader.get(scheduled).fields(scheduled)
    elsewhere = fields | {"csrf": reader.get(good).fields(good)["csrf"], "do": "cancel"}
    assert reader.post(good, elsewhere).status == 404
    assert work.client.data("get_content", content_id=work.scheduled)["content"]["status"] == "scheduled"
    assert reader.post(scheduled, fields | {"do": "nonsense"}).status == 400
    unpublished = reader.get(f"{ARTICLES}/{work.hostile}/publications")
    assert "Not published yet" in unpublished.text


def test_an_article_of_two_megabytes_works_on_every_page(reader: BrowserWithoutScreen, work: Work) -> None:
    words = "Tea is a drink that people like to make at home. " * 12
    body = "\n\n".join(f"{words}{number}" for number in range(3_300))
    id_ = made(work, "All about tea", body)
    assert 1_900_000 < len(body) < 2_097_152
    changed = body.replace("home. 1700", "work. 1700")
    work.client.data("update_content", content_id=id_, expected_version=1, fields={"body": changed + "\n\nThe end."})
    for tab in ("", "/seo", "/versions", "/versions/1", "/publications"):
        assert reader.get(f"{ARTICLES}/{id_}{tab}").status == 200, tab
    versions = reader.get(f"{ARTICLES}/{id_}/versions")
    assert "The end." in texts(versions, ".diff tr.added .text")
    assert len(versions.html) < 100_000


@pytest.mark.parametrize("tail", ["", "/seo", "/versions", "/publications"])
def test_a_missing_article_is_explained_to_the_user(reader: BrowserWithoutScreen, work: Work, tail: str) -> None:
    page = reader.get(f"{ARTICLES}/a_nothing{tail}")
    assert page.status == 404
    assert "is not in your account" in page.text
    assert "list_content" not in page.text
