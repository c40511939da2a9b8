"""The image library and its uploads."""

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from PIL import ExifTags, Image
from pressroom_images.tables import UploadRow
from selectolax.lexbor import LexborHTMLParser
from sqlalchemy import update
from support.tool_client import ToolClient

from .providers import image_bytes


def upload(client: ToolClient, content: bytes | None = None, **arguments: object) -> str:
    link = client.data("create_upload_url", content_type="image/jpeg", **arguments)
    response = httpx.put(link["upload_url"], content=content or image_bytes(640, 480))
    assert response.status_code == 201, response.text
    return str(link["media_id"])


def test_a_file_is_uploaded_with_curl_or_a_form(ada: ToolClient) -> None:
    media_id = upload(ada, filename="Café au lait.jpeg")
    link = ada.data("create_upload_url", content_type="image/png")
    form = httpx.get(link["upload_url"])
    assert 'enctype="multipart/form-data"' in form.text

    response = httpx.post(
        link["upload_url"], files={"file": ("my shot.png", image_bytes(300, 200, "PNG"), "image/png")}
    )

    assert response.status_code == 200, response.text
    assert "my-shot.png" in response.text
    media = {entry["id"]: entry for entry in ada.data("list_media")["media"]}
    assert media[media_id]["filename"] == "cafe-au-lait.jpg"
    assert (media[link["media_id"]]["width"], media[link["media_id"]]["height"]) == (300, 200)
    assert httpx.get(media[link["media_id"]]["url"]).content == image_bytes(300, 200, "PNG")


def test_a_link_works_once(ada: ToolClient) -> None:
    link = ada.data("create_upload_url", content_type="image/jpeg")["upload_url"]
    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda _: httpx.put(link, content=image_bytes(10, 10)).status_code, range(4)))
    assert sorted(statuses) == [201, 404, 404, 404]
    assert httpx.get(link).status_code == 404
    assert len(ada.data("list_media")["media"]) == 1


def test_an_image_that_is_not_uploaded_yet_is_not_unknown(ada: ToolClient, eve: ToolClient) -> None:
    link = ada.data("create_upload_url", content_type="image/jpeg")
    image = {"image_ref": link["media_id"], "alt_text": "Boats"}
    refusal = ada.refusal("import_image", **image)
    assert "nothing has been uploaded" in refusal
    assert link["expires_at"][:10] in refusal
    assert "no image" in eve.refusal("import_image", **image)

    assert httpx.put(link["upload_url"], content=image_bytes(9, 9)).status_code == 201
    assert ada.data("import_image", **image)["media"]["id"] == link["media_id"]


def test_an_image_whose_link_has_expired_needs_a_new_one(ada: ToolClient) -> None:
    link = ada.data("create_upload_url", content_type="image/jpeg")
    database = ada.host.host.compiled.plugins.contexts["images"].services.database
    expiry = update(UploadRow).where(UploadRow.media_id == link["media_id"])

    async def expire() -> None:
        async with database.writing() as session:
            await session.execute(expiry.values(expires_at=datetime.now(UTC) - timedelta(hours=1)))

    ada.host.run(expire())
    assert "create_upload_url" in ada.refusal("import_image", image_ref=link["media_id"], alt_text="Boats")


def test_a_refused_file_leaves_the_link_usable(ada: ToolClient) -> None:
    link = ada.data("create_upload_url", content_type="image/jpeg")["upload_url"]
    for content, problem in (
        (image_bytes()[:900], "damaged"),
        (image_bytes(9, 9, "PNG"), "That is a PNG file, but this link takes only JPEG (image/jpeg)."),
        (b"no", "not a JPEG"),
    ):
        refused = httpx.put(link, content=content)
        assert refused.status_code == 400
        assert problem in refused.text
    page = httpx.post(link, files={"file": ("x.jpg", b"<script>", "image/jpeg")})
    assert page.status_code == 400
    assert 'role="alert"' in page.text
    assert "<form" in page.text
    assert httpx.put(link, content=image_bytes(9, 9)).status_code == 201


def test_a_body_that_is_too_large_is_refused_early(ada: ToolClient) -> None:
    link = ada.data("create_upload_url", content_type="image/jpeg")["upload_url"]
    assert httpx.put(link, content=bytes(2_000_000)).status_code == 413


def test_paging_returns_each_image_once(ada: ToolClient) -> None:
    uploaded = [upload(ada, image_bytes(10 + number, 10)) for number in range(5)]
    listed: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = ada.data("list_media", limit=2, **cursor)
        listed += [entry["id"] for entry in page["media"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert listed == uploaded[::-1]
    assert "cursor" in ada.refusal("list_media", cursor="nonsense")


def test_images_are_found_by_words(ada: ToolClient) -> None:
    media_id = upload(ada, filename="harbour.jpg")
    percent = upload(ada, filename="100%.jpg")
    ada.data("update_media", media_id=media_id, alt_text="Boats at DUSK", caption="Später Ärger")
    assert [entry["id"] for entry in ada.data("list_media", query="dusk boats")["media"]] == [media_id]
    assert [entry["id"] for entry in ada.data("list_media", query="ärger SPÄTER")["media"]] == [media_id]
    assert ada.data("search_images", query="winter", provider="library")["images"] == []
    [image] = ada.data("search_images", query="dusk", provider="library")["images"]
    assert image["ref"] == f"library:{media_id}"
    assert [entry["id"] for entry in ada.data("list_media", query="%")["media"]] == [percent]


def test_images_are_found_without_accents_page_by_page(ada: ToolClient) -> None:
    cafes = [upload(ada, image_bytes(20 + number, 10)) for number in range(3)]
    for media_id in cafes:
        ada.data("update_media", media_id=media_id, alt_text="Café in İstanbul")
    upload(ada, image_bytes(30, 10))
    first = ada.data("list_media", query="cafe ISTANBUL", limit=2)
    second = ada.data("list_media", query="cafe ISTANBUL", limit=2, cursor=first["next_cursor"])
    assert [entry["id"] for entry in first["media"] + second["media"]] == cafes[::-1]
    assert second["next_cursor"] is None
    assert [entry["id"] for entry in ada.data("list_media", query="cafe\u0301")["media"]] == cafes[::-1]


def test_a_credit_is_sanitised(ada: ToolClient) -> None:
    media_id = upload(ada)
    credit = (
        '<script>alert(1)</script><a href="javascript:alert(1)" onclick="x">me</a> & <a href="https://me.example">I</a>'
    )
    media = ada.data("update_media", media_id=media_id, credit=credit)["media"]
    assert "script" not in media["credit_html"]
    assert "onclick" not in media["credit_html"]
    assert 'href="https://me.example"' in media["credit_html"]
    assert media["credit_text"] == "me & I"


def test_a_credit_is_available_as_plain_text(ada: ToolClient) -> None:
    media_id = upload(ada)
    credit = 'Photo: Ada Lovelace & "Co" &lt;ada@example.org&gt;'
    media = ada.data("update_media", media_id=media_id, credit=credit)["media"]
    assert media["credit_text"] == 'Photo: Ada Lovelace & "Co" <ada@example.org>'
    assert media["credit_html"] == 'Photo: Ada Lovelace &amp; "Co" &lt;ada@example.org&gt;'
    assert ada.data("list_media")["media"][0]["credit_text"] == media["credit_text"]


def test_a_caption_is_below_the_image_on_the_site(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="A blog with images")["website_id"]
    media_id = upload(ada)
    url = ada.data("update_media", media_id=media_id, caption="Two <boats> & a lake", alt_text="Boats")["media"]["url"]
    body = f"Look:\n\n![Boats]({url})\n\nThey were far out."
    article = ada.data("create_content", title="Boats", body=body)["content_id"]
    ada.data("import_image", image_ref=media_id, content_id=article, role="featured")

    published = ada.data("publish_content", content_id=article, website_id=website)

    page = LexborHTMLParser(httpx.get(published["url"]).text)
    captions = [node.text() for node in page.css("figure > img + figcaption")]
    assert captions == ["Two <boats> & a lake"] * 2
    assert published["warnings"] == []


def test_a_photo_of_a_camera_that_appends_further_images_is_a_jpeg(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="A blog with photos")["website_id"]
    photo, buffer = Image.effect_noise((1000, 400), 50).convert("RGB"), io.BytesIO()
    photo.save(buffer, "MPO", save_all=True, append_images=[photo.resize((120, 48))], quality=75)
    media_id = upload(ada, photo_bytes := buffer.getvalue())
    [media] = ada.data("list_media")["media"]
    assert (media["media_type"], media["width"], media["height"]) == ("image/jpeg", 1000, 400)
    assert httpx.get(media["url"]).content == photo_bytes
    article = ada.data("create_content", title="Boats", body=f"![Boats]({media['url']})")["content_id"]
    ada.data("import_image", image_ref=media_id, alt_text="Boats")

    published = ada.data("publish_content", content_id=article, website_id=website)

    [shown] = LexborHTMLParser(httpx.get(published["url"]).text).css("article img")
    assert "480w" in (shown.attributes["srcset"] or "")


def test_an_upright_photo_has_its_size_as_it_is_shown(ada: ToolClient) -> None:
    exif, buffer = Image.Exif(), io.BytesIO()
    exif[ExifTags.Base.Orientation] = 6
    Image.new("RGB", (400, 300), "green").save(buffer, "JPEG", exif=exif)
    media_id = upload(ada, buffer.getvalue())
    [media] = ada.data("list_media")["media"]
    assert (media["id"], media["width"], media["height"]) == (media_id, 300, 400)


def test_an_image_of_another_account_is_not_found(ada: ToolClient, eve: ToolClient) -> None:
    media_id = upload(ada)
    assert "no image" in eve.refusal("update_media", media_id=media_id, caption="mine")
    assert "no image" in eve.refusal("delete_media", media_id=media_id, confirm=True)
    assert "no image" in eve.refusal("import_image", image_ref=f"library:{media_id}", alt_text="x")
    assert eve.data("list_media")["media"] == []


def test_an_image_is_deleted_only_after_confirmation(ada: ToolClient) -> None:
    media_id = upload(ada)
    url = ada.data("list_media")["media"][0]["url"]
    assert "confirm true" in ada.refusal("delete_media", media_id=media_id, confirm=False)
    assert ada.data("delete_media", media_id=media_id, confirm=True) == {"deleted": True, "used_in": []}
    assert httpx.get(url).status_code == 404


def test_images_of_an_unknown_article_are_an_error(ada: ToolClient) -> None:
    assert "no article 'Tea'" in ada.refusal("list_media", content_id="Tea")
    article = ada.data("create_content", title="Tea", body="Tea.")["content_id"]
    assert ada.data("list_media", content_id=article)["media"] == []


def test_an_image_no_longer_used_by_an_article_can_be_deleted(ada: ToolClient) -> None:
    article = ada.data("create_content", title="Tea", body="Tea.")["content_id"]
    first, second, inline, unplaced = (upload(ada, content_id=article) for _ in range(4))
    for media_id in (first, second):
        ada.data("import_image", image_ref=media_id, alt_text="A cup", content_id=article, role="featured")
    url = ada.data("import_image", image_ref=inline, alt_text="A pot", content_id=article, role="inline")["media"][
        "url"
    ]
    body = {"body": f"Tea.\n\n![A pot]({url})\n"}
    ada.data("update_content", content_id=article, expected_version=3, fields=body)

    listed = {entry["id"]: entry["used_in"] for entry in ada.data("list_media")["media"]}

    assert listed == {first: [], second: [article], inline: [article], unplaced: []}
    for media_id in (second, inline):
        assert ada.data("delete_media", media_id=media_id, confirm=True) == {"deleted": False, "used_in": [article]}
    ada.data("update_content", content_id=article, expected_version=4, fields={"body": "Tea."})
    for media_id in (first, inline, unplaced):
        assert ada.data("delete_media", media_id=media_id, confirm=True) == {"deleted": True, "used_in": []}


def test_an_image_that_was_placed_by_its_url_alone_is_used(ada: ToolClient) -> None:
    first, second = upload(ada), upload(ada, image_bytes(9, 9))
    urls = {entry["id"]: entry["url"] for entry in ada.data("list_media")["media"]}
    article = ada.data("create_content", title="Tea", body=f"Tea.\n\n![A pot]({urls[first]})")["content_id"]
    edit = {"find": "Tea.", "replace": f"Tea.\n\n![A cup]({urls[second]})"}
    ada.data("update_content", content_id=article, expected_version=1, edits=[edit])

    listed = ada.data("list_media", content_id=article)["media"]

    assert {entry["id"]: entry["used_in"] for entry in listed} == {first: [article], second: [article]}
    for media_id in (first, second):
        assert ada.data("delete_media", media_id=media_id, confirm=True) == {"deleted": False, "used_in": [article]}


@pytest.mark.parametrize("body_format", ["markdown", "html"])
@pytest.mark.parametrize("alt_text", ["The key a[0", 'A "close ]" & <b>', "Two\n\nlines *and* `code`", "C:\\[a]"])
def test_the_line_that_places_an_image_fits_the_body(ada: ToolClient, body_format: str, alt_text: str) -> None:
    media_id = upload(ada)
    article = ada.data("create_content", title="Keys", body="Keys.", body_format=body_format)["content_id"]
    result = ada.call("import_image", image_ref=media_id, alt_text=alt_text, content_id=article, role="inline")
    line = result["content"][0]["text"].partition("with update_content: ")[2]
    ada.data("update_content", content_id=article, expected_version=1, fields={"body": f"Keys.\n\n{line}\n\nMore."})

    [image] = LexborHTMLParser(ada.data("get_content", content_id=article, format="html")["body"]).css("img")

    assert image.attributes["alt"] == " ".join(alt_text.split())
    assert media_id in (image.attributes["src"] or "")


def test_an_image_of_a_live_post_is_kept(ada: ToolClient) -> None:
    article = ada.data("create_content", title="Tea", body="Tea.")["content_id"]
    site = ada.data("connect_website", platform="builtin", name="Tea")["website_id"]
    old, new = upload(ada), upload(ada)
    ada.data("import_image", image_ref=old, alt_text="A cup", content_id=article, role="featured")
    ada.data("publish_content", content_id=article, website_id=site)
    ada.data("import_image", image_ref=new, alt_text="A pot", content_id=article, role="featured")
    assert ada.data("delete_media", media_id=old, confirm=True) == {"deleted": False, "used_in": [article]}

    ada.data("publish_content", content_id=article, website_id=site)

    assert ada.data("delete_media", media_id=old, confirm=True) == {"deleted": True, "used_in": []}


@pytest.mark.parametrize("name", ["", "..", "a/b"])
def test_an_unknown_image_is_not_found(ada: ToolClient, name: str) -> None:
    assert httpx.get(f"{ada.host.url}/media/m_{'0' * 22}/{name or 'x.jpg'}").status_code == 404


def test_the_texts_explain_the_next_step(ada: ToolClient) -> None:
    link = ada.call("create_upload_url", content_type="image/jpeg")
    text, data = link["content"][0]["text"], link["structuredContent"]
    assert data["upload_url"] in text
    assert data["media_id"] in text
    assert "+00:00 (UTC)" in text
    assert "create_upload_url" in ada.call("list_media")["content"][0]["text"]

    media_id = upload(ada)
    upload(ada)
    listed = ada.call("list_media", limit=1)
    assert listed["structuredContent"]["next_cursor"] in listed["content"][0]["text"]
    changed = ada.call("update_media", media_id=media_id, alt_text="A cup", caption="Tea at five")["content"][0]["text"]
    assert "A cup" in changed
    assert "Tea at five" in changed
    article = ada.data("create_content", title="Tea", body="Tea.")["content_id"]
    ada.data("import_image", image_ref=media_id, content_id=article, role="featured")
    refusal = ada.call("delete_media", media_id=media_id, confirm=True)
    assert refusal["structuredContent"] == {"deleted": False, "used_in": [article]}
    assert article in refusal["content"][0]["text"]


def test_a_blank_alt_text_is_none(ada: ToolClient) -> None:
    media_id = upload(ada)
    article = ada.data("create_content", title="Tea", body="Text.")["content_id"]
    image = {"image_ref": media_id, "content_id": article, "role": "featured"}

    assert "alt_text: must be between 1 and 500" in ada.refusal("import_image", **image, alt_text=" \n ")
    assert ada.data("update_media", media_id=media_id, alt_text="   ")["media"]["alt_text"] == ""
    assert "alt_text: is missing" in ada.refusal("import_image", **image)
    assert ada.data("get_content", content_id=article)["content"]["version"] == 1
    imported = ada.data("import_image", **image, alt_text=" Boats\nat  dusk ")
    assert (imported["media"]["alt_text"], imported["version"]) == ("Boats at dusk", 2)
