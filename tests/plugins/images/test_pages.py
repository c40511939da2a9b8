"""The media library in the dashboard."""

import io
import json
from collections.abc import Iterator

import httpx
import pytest
from pressroom.config.models import LoggingSettings
from pressroom.observability.logs import configure_logging
from pressroom.testing import RunningHost
from support.people import HOSTILE, BrowserWithoutScreen, Page
from support.tool_client import ToolClient

from .providers import image_bytes

PATH = "/dashboard/media"


@pytest.fixture
def browser(host: RunningHost, ada: ToolClient) -> Iterator[BrowserWithoutScreen]:
    with BrowserWithoutScreen(host) as fresh:
        fresh.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        yield fresh


def upload(client: ToolClient, filename: str = "harbour.jpg") -> str:
    link = client.data("create_upload_url", content_type="image/jpeg", filename=filename)
    assert httpx.put(link["upload_url"], content=image_bytes(64, 48)).status_code == 201
    return str(link["media_id"])


def test_an_image_is_uploaded_shown_and_described(ada: ToolClient, browser: BrowserWithoutScreen) -> None:
    empty = browser.get(PATH)
    assert "No images yet" in empty.text
    form = browser.submit(empty, PATH, do="upload").tree.css_first("form[enctype]")
    assert form is not None
    uploaded = Page(
        browser.client.post(str(form.attributes["action"]), files={"file": ("tea.jpg", image_bytes(64, 48))})
    )
    assert uploaded.status == 200, uploaded.text
    assert uploaded.one("h1") == "Image uploaded"
    back = uploaded.tree.css_first("main a")
    assert back is not None

    page = browser.get(str(back.attributes["href"]))
    assert page.path == PATH
    assert "64 × 48 pixels" in page.text
    assert "no alt text" in page.text
    thumb = page.tree.css_first(".rows img")
    assert thumb is not None
    assert browser.client.get(str(thumb.attributes["src"])).content == image_bytes(64, 48)

    (media,) = ada.data("list_media")["media"]
    action = f"{PATH}?q=&cursor="
    fields = {"csrf": page.fields(PATH)["csrf"], "media_id": media["id"], "do": "alt"}
    saved = browser.post(action, {**fields, "alt_text": HOSTILE})
    assert "The alt text is saved." in saved.text
    assert ada.data("list_media")["media"][0]["alt_text"] == HOSTILE
    assert not saved.tree.css("img[onerror]")

    long = browser.post(action, {**fields, "alt_text": "x" * 501})
    assert long.status == 400
    assert "at most 500" in long.one(".field-error")
    assert ada.data("list_media")["media"][0]["alt_text"] == HOSTILE


def test_images_are_found_by_words_and_older_ones_are_on_later_pages(
    ada: ToolClient, browser: BrowserWithoutScreen
) -> None:
    for number in range(26):
        upload(ada, f"number-{number}.jpg")
    first = browser.get(PATH)
    assert len(first.tree.css(".rows li")) == 24
    more = first.tree.css_first("a[rel=next]")
    assert more is not None
    assert len(browser.get(str(more.attributes["href"])).tree.css(".rows li")) == 2
    assert len(browser.get(f"{PATH}?q=number-25").tree.css(".rows li")) == 1
    assert "No images match" in browser.get(f"{PATH}?q=%25").text
    assert browser.get(f"{PATH}?cursor=nonsense").status == 400


def test_an_image_of_another_account_is_not_found(eve: ToolClient, browser: BrowserWithoutScreen) -> None:
    media_id = upload(eve)
    page = browser.get(PATH)
    assert "No images yet" in page.text
    fields = {"csrf": page.fields(PATH)["csrf"], "media_id": media_id, "do": "alt", "alt_text": "mine"}
    assert browser.post(PATH, fields).status == 404
    assert browser.post(PATH, {**fields, "csrf": "no"}).status == 403
    assert eve.data("list_media")["media"][0]["alt_text"] == ""


def test_the_articles_that_use_an_image_are_linked(ada: ToolClient, browser: BrowserWithoutScreen) -> None:
    media_id = upload(ada)
    content_id = ada.data("create_content", title="Tea & cake", body="Some text.")["content_id"]
    ada.data("import_image", image_ref=media_id, content_id=content_id, role="featured", alt_text="Tea")
    link = browser.get(PATH).tree.css_first(f'a[href="/dashboard/articles/{content_id}"]')
    assert link is not None
    assert link.text() == "Tea & cake"


def test_upload_links_are_not_logged(ada: ToolClient) -> None:
    output = io.BytesIO()
    configure_logging(LoggingSettings(format="json"), stream=io.TextIOWrapper(output, write_through=True))
    link = ada.data("create_upload_url", content_type="image/jpeg", filename="harbour.jpg")["upload_url"]
    assert httpx.get(link).status_code == 200
    assert httpx.delete(link).status_code == 405
    assert httpx.put(link, content=image_bytes(64, 48)).status_code == 201
    assert link.rpartition("/")[2] not in output.getvalue().decode()
    logged = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [line["status"] for line in logged if line.get("path") == "/media/upload/***"] == [200, 405, 201]
