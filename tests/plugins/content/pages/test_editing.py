"""Writing an article in the dashboard: the form without JavaScript, and the preview requested by scripts."""

from __future__ import annotations

import html
import re

import pytest
from pressroom.testing import RunningHost
from support.people import BrowserWithoutScreen, Page
from support.written_articles import Work

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import ARTICLES, browser_of

NEW = f"{ARTICLES}/new/edit"


def form_of(page: Page) -> dict[str, str]:
    """Return all fields of the form as a browser would submit them, without a button."""
    (form,) = page.tree.css("form.writing")
    values: dict[str, str] = {}
    for control in form.css("input, textarea, select"):
        name, type_ = control.attributes.get("name"), control.attributes.get("type")
        if not name or (type_ == "radio" and "checked" not in control.attributes):
            continue
        if control.tag == "select":
            option = control.css_first("option[selected]") or control.css_first("option")
            values[name] = str(option.attributes["value"] or "") if option else ""
        elif control.tag == "textarea":
            values[name] = control.text(deep=True).removeprefix("\n")
        else:
            values[name] = control.attributes.get("value") or ""
    return values


def sent(browser: BrowserWithoutScreen, page: Page, path: str, do: str = "save", **typed: str) -> Page:
    return browser.post(path, form_of(page) | typed | {"do": do})


def made(client: Client, title: str = "Soup of the day", body: str = "Hot soup.", **fields: object) -> str:
    id_: str = client.data("create_content", title=title, body=body, **fields)["content_id"]
    return id_


def content(client: Client, id_: str) -> dict[str, object]:
    article = client.data("get_content", content_id=id_)
    return {**article["content"], "body": article["body"]}


def test_an_article_is_written_with_all_its_fields(reader: BrowserWithoutScreen, work: Work) -> None:
    page = reader.get(NEW)
    typed = {
        "title": "  Rye   bread ",
        "body": "Rye is dark.\r\n\r\n## Why\r\n\r\nIt *is*.",
        "slug": "Rye Bread!",
        "excerpt": "All about rye.",
        "keyphrase": "rye bread",
        "meta_title": "Rye",
        "meta_description": "What rye bread is.",
        "tags": "bread, rye,  bread ,",
        "categories": "Baking",
        "author": "Ada",
        "language": "en_GB",
        "website_id": work.site,
    }
    stored = sent(reader, page, NEW, "create", **typed)
    assert "stored as a draft" in stored.one("p.notice[role=status]")
    article = content(work.client, stored.path.split("/")[3])
    assert article["title"] == "Rye bread"
    assert article["body"] == "Rye is dark.\n\n## Why\n\nIt *is*."
    assert (article["slug"], article["tags"], article["categories"]) == ("rye-bread", ["bread", "rye"], ["Baking"])
    assert (article["language"], article["website_id"], article["status"]) == ("en-GB", work.site, "draft")
    repeated = sent(reader, page, NEW, "create", **typed)
    assert repeated.path == stored.path


def test_saving_a_published_article_explains_that_its_post_is_unchanged(
    reader: BrowserWithoutScreen, work: Work
) -> None:
    id_ = made(work.client, title="Soup, live")
    work.client.data("publish_content", content_id=id_, website_id=work.site)
    path = f"{ARTICLES}/{id_}/edit"
    saved = sent(reader, reader.get(path), path, title="Soup, still live")
    assert saved.one("p.notice[role=status]") == (
        "Saved as version 2. The live post shows the changes once you update it."
    )


def test_only_changed_fields_are_written(reader: BrowserWithoutScreen, work: Work) -> None:
    body = "Line one  \r\nLine two\n\n\tcode"
    id_ = made(work.client, body=body, tags=["one, two", "three"], synonyms=["broth"])
    path = f"{ARTICLES}/{id_}/edit"
    same = sent(reader, reader.get(path), path)
    assert "Nothing changed" in same.one("p.notice[role=status]")
    saved = sent(reader, same, path, title="Soup of tomorrow")
    assert saved.one("p.notice[role=status]") == "Saved as version 2."
    article = content(work.client, id_)
    assert (article["title"], article["body"], article["tags"]) == ("Soup of tomorrow", body, ["one, two", "three"])
    assert article["synonyms"] == ["broth"]
    version = work.client.data("get_content", content_id=id_, versions=True)["versions"][0]
    assert (version["changed"], version["client"]) == (["title"], "the dashboard")


@pytest.mark.parametrize(
    ("field", "typed", "expected"),
    [
        ("title", " ", "Must not be empty."),
        ("title", "x" * 501, "at most 500 characters"),
        ("slug", "!!!", "Must contain letters or digits"),
        ("language", "English please", "Must be a language tag such as en, de-CH"),
        ("website_id", "w_gone", "Is no longer connected"),
        ("featured_media_id", "m_" + "0" * 22, "Is no longer in your media library"),
        ("body", "x" * 2_100_000, "Has 2,100,000 bytes; an article may have 2,097,152."),
    ],
)
def test_what_cannot_be_stored_is_reported_beside_the_field_and_nothing_is_lost(
    reader: BrowserWithoutScreen, work: Work, field: str, typed: str, expected: str
) -> None:
    id_ = made(work.client)
    path = f"{ARTICLES}/{id_}/edit"
    page = sent(reader, reader.get(path), path, excerpt='My "own" </textarea><b>', **{field: typed})
    assert page.status == 400
    assert expected in page.one(f"#f-{field}-error")
    assert form_of(page) | {"csrf": "", "request_id": ""} == form_of(page) | {
        "csrf": "",
        "request_id": "",
        "excerpt": 'My "own" </textarea><b>',
        **({field: typed} if field != "featured_media_id" else {}),
    }
    assert work.client.data("get_content", content_id=id_)["content"]["version"] == 1


def test_ten_megabytes_are_refused_with_the_limit_and_stay_in_the_form(
    reader: BrowserWithoutScreen, work: Work
) -> None:
    path = f"{ARTICLES}/{made(work.client)}/edit"
    text = "word " * 2_000_000
    page = sent(reader, reader.get(path), path, body=text)
    assert page.status == 400
    assert "an article may have 2,097,152" in page.one("#f-body-error")
    assert form_of(page)["body"] == text


def test_changes_by_an_ai_client_are_shown_and_not_overwritten(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work.client, "Soup", "First line.\n\nSecond line.", excerpt="Short.")
    path = f"{ARTICLES}/{id_}/edit"
    page = reader.get(path)
    fields = {"body": "First line by the client.\n\nSecond line.", "keyphrase": "hot soup"}
    work.client.data("update_content", content_id=id_, expected_version=1, fields=fields)

    text = "First line by me.\n\nSecond line."
    conflict = sent(reader, page, path, body=text, excerpt="Mine.")
    assert conflict.status == 409
    assert "changed the article in the meantime" in conflict.one("#conflict")
    assert "You both changed: Text." in conflict.one(".conflict [role=alert]")
    assert "by the client" in conflict.one(".conflict > .diff .added")
    form = form_of(conflict)
    assert (form["body"], form["excerpt"], form["keyphrase"], form["version"]) == (text, "Mine.", "hot soup", "2")
    assert content(work.client, id_)["version"] == 2

    assert "Saved as version 3" in sent(reader, conflict, path).text
    article = content(work.client, id_)
    assert (article["body"], article["excerpt"], article["keyphrase"]) == (text, "Mine.", "hot soup")


def test_a_form_from_an_expired_session_can_be_sent_after_signing_in_again(full_host: RunningHost, work: Work) -> None:
    id_ = made(work.client)
    path = f"{ARTICLES}/{id_}/edit"
    with browser_of(full_host, work.client) as browser:
        page = browser.get(path)
        browser.client.cookies.clear()
        sign_in = browser.post(path, form_of(page) | {"body": "Written for hours.", "do": "save"})
        assert (sign_in.status, sign_in.one("h1")) == (401, "Sign in to continue")
    with browser_of(full_host, work.client) as browser:
        resumed = browser.submit(sign_in, path)
        assert resumed.one("h1") == "Send it again"
        assert "Saved as version 2" in browser.submit(resumed, path).text
    assert content(work.client, id_)["body"] == "Written for hours."


def test_the_preview_is_safe_and_lists_what_was_removed(reader: BrowserWithoutScreen, work: Work) -> None:
    path = f"{ARTICLES}/new/edit"
    page = reader.get(path)
    hostile = '<script>alert(1)</script><img src=x onerror=alert(1)><form action="/sign-out"><b>Bold</b>\n\n*text*'
    preview = sent(reader, page, path, "preview", body=hostile, title="T")
    assert not preview.framed.css("script, [onerror], form")
    assert preview.framed.body is not None
    assert "Bold" in preview.framed.body.text()
    assert "Left out for safety" in preview.one("[data-preview-notes]")
    assert form_of(preview)["body"] == hostile
    assert form_of(preview)["title"] == "T"

    (form,) = preview.tree.css("form.writing")
    token = {"csrf": form.attributes["data-preview-token"] or ""}
    fields = {**form_of(preview), **token, "body": "One.\n\nTwo " + hostile, "at": "0.9"}
    response = reader.client.post(f"{ARTICLES}/new/preview", data=fields, headers={"Origin": reader.url})
    assert response.headers["content-type"] == "application/json"
    document = response.json()["document"]
    assert re.search(r'<span class="here"></span>\s*<p><em>', document)
    assert "default-src 'none'" in html.unescape(document)
    assert "<script" not in document
    assert reader.client.post(
        f"{ARTICLES}/new/preview", data=fields, headers={"Origin": "https://evil.example"}
    ).is_error


def test_articles_of_other_accounts_or_in_the_trash_cannot_be_edited(
    reader: BrowserWithoutScreen, other_reader: BrowserWithoutScreen, work: Work
) -> None:
    id_ = made(work.client)
    assert other_reader.get(f"{ARTICLES}/{id_}/edit").status == 404
    work.client.data("delete_content", content_id=id_, confirm=True)
    page = reader.get(f"{ARTICLES}/{id_}/edit")
    assert "in the trash" in page.text
    assert not page.tree.css("form.writing")


def test_text_for_an_article_trashed_meanwhile_stays_in_the_form(reader: BrowserWithoutScreen, work: Work) -> None:
    id_ = made(work.client, title="Thrown away")
    path = f"{ARTICLES}/{id_}/edit"
    page = reader.get(path)
    work.client.data("delete_content", content_id=id_, confirm=True)
    refused = sent(reader, page, path, title="Thrown away too early", body="Hours of work.")
    assert refused.status == 409
    assert "moved to the trash in the meantime" in refused.one(".notice.wrong")
    assert (form_of(refused)["title"], form_of(refused)["body"]) == ("Thrown away too early", "Hours of work.")
    work.client.data("restore_content", content_id=id_)
    assert "Saved as version 2" in sent(reader, refused, path).one("p.notice[role=status]")
    assert content(work.client, id_)["body"] == "Hours of work."


def test_a_new_article_counts_against_the_quota_of_the_tool(
    full_host: RunningHost, reader: BrowserWithoutScreen, work: Work
) -> None:
    quotas, user = full_host.host.accounts.quotas, work.client.user_id
    before = full_host.run(quotas.used(user))["articles_created"]
    page = reader.get(NEW)
    assert sent(reader, page, NEW, "create", title="", body="x").status == 400
    for _ in range(2):
        sent(reader, page, NEW, "create", title="Counted", body="Once.")
    assert full_host.run(quotas.used(user))["articles_created"] == before + 1
