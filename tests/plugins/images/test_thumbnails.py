"""Thumbnails on the media page: small, upright, and generated once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_images.library.files import EDGE, display_size, make
from pressroom_images.tables import BytesRow, ThumbnailRow
from sqlalchemy import delete, func, select, update
from support.people import BrowserWithoutScreen
from support.tool_client import ToolClient, client_of

PATH = "/dashboard/media"
MAX_EDGE = 2 * EDGE
"""Longest side of a thumbnail, in pixels."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"builtin_plugins": False, "plugins": {"content": {}, "images": {}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def ada(host: RunningHost) -> ToolClient:
    return client_of(host, "ada@example.com")


def noise(width: int, height: int, kind: str = "PNG", mode: str = "RGB", **more: object) -> bytes:
    """Return the bytes of an image that compresses poorly."""
    buffer = io.BytesIO()
    Image.effect_noise((width, height), 90).convert(mode).save(buffer, kind, **more)
    return buffer.getvalue()


def upload(client: ToolClient, content: bytes, filename: str = "harbour.png") -> str:
    link = client.data("create_upload_url", filename=filename, content_type=f"image/{filename.rpartition('.')[2]}")
    assert httpx.put(link["upload_url"], content=content).status_code == 201
    return str(link["media_id"])


def kept(host: RunningHost, media_id: str) -> int:
    async def count() -> int:
        async with host.host.database.reading() as session:
            query = select(func.count()).select_from(ThumbnailRow).where(ThumbnailRow.media_id == media_id)
            return int(await session.scalar(query) or 0)

    return host.run(count())


def test_the_page_loads_small_images_with_known_sizes(host: RunningHost, ada: ToolClient) -> None:
    media_id = upload(ada, noise(1600, 900))
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        thumbnail = browser.get(PATH).tree.css_first(f'.rows img[src$="{media_id}"]')
        assert thumbnail is not None
        assert (thumbnail.attributes["width"], thumbnail.attributes["height"]) == ("120", "68")
        assert thumbnail.attributes["loading"] == "lazy"
        small = browser.client.get(str(thumbnail.attributes["src"]))
    assert small.headers["content-type"] == "image/webp"
    assert "immutable" in small.headers["cache-control"]
    assert len(small.content) < 40_000
    assert Image.open(io.BytesIO(small.content)).size == (MAX_EDGE, 135)
    revalidated = httpx.get(small.url, headers={"if-none-match": small.headers["etag"]})
    assert revalidated.status_code == 304


def test_a_thumbnail_is_created_once_and_deleted_with_the_image(host: RunningHost, ada: ToolClient) -> None:
    media_id = upload(ada, noise(800, 600))
    url = f"{host.url}/media/thumbnails/{media_id}"
    with ThreadPoolExecutor(6) as threads:
        contents = {response.content for response in threads.map(httpx.get, [url] * 6)}
    assert len(contents) == 1
    assert kept(host, media_id) == 1

    async def lose() -> None:
        async with host.host.database.writing() as session:
            await session.execute(update(BytesRow).where(BytesRow.media_id == media_id).values(content=b"gone"))

    host.run(lose())
    assert httpx.get(url).content in contents
    image = ada.data("list_media")["media"][0]["url"]
    tags = {path: {"if-none-match": httpx.get(path).headers["etag"]} for path in (url, image)}
    assert [httpx.get(path, headers=headers).status_code for path, headers in tags.items()] == [304, 304]
    ada.data("delete_media", media_id=media_id, confirm=True)
    assert httpx.get(url).status_code == 404
    assert [httpx.get(path, headers=headers).status_code for path, headers in tags.items()] == [404, 404]
    assert kept(host, media_id) == 0


def test_a_small_file_is_its_own_thumbnail(host: RunningHost, ada: ToolClient) -> None:
    content = noise(40, 40)
    media_id = upload(ada, content)
    response = httpx.get(f"{host.url}/media/thumbnails/{media_id}")
    assert response.content == content
    assert response.headers["content-type"] == "image/png"
    assert kept(host, media_id) == 0


def test_the_thumbnail_of_a_missing_or_damaged_image_is_not_found(host: RunningHost, ada: ToolClient) -> None:
    assert httpx.get(f"{host.url}/media/thumbnails/m_nothing").status_code == 404
    media_id = upload(ada, noise(400, 400))

    async def spoil() -> None:
        async with host.host.database.writing() as session:
            damaged = noise(400, 400)[:20_000]
            await session.execute(update(BytesRow).where(BytesRow.media_id == media_id).values(content=damaged))
            await session.execute(delete(ThumbnailRow).where(ThumbnailRow.media_id == media_id))

    host.run(spoil())
    response = httpx.get(f"{host.url}/media/thumbnails/{media_id}")
    assert response.status_code == 404
    assert kept(host, media_id) == 0


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("JPEG", "RGB"),
        ("JPEG", "CMYK"),
        ("JPEG", "L"),
        ("PNG", "P"),
        ("PNG", "I;16"),
        ("PNG", "LA"),
        ("GIF", "P"),
        ("WEBP", "RGBA"),
        ("AVIF", "RGB"),
    ],
)
def test_every_kind_of_image_has_a_thumbnail(kind: str, mode: str) -> None:
    with Image.open(io.BytesIO(make(noise(300, 500, kind, mode)))) as thumbnail:
        assert thumbnail.format == "WEBP"
        assert thumbnail.size == (144, MAX_EDGE)


def test_transparency_and_exif_orientation_are_preserved() -> None:
    clear = io.BytesIO()
    Image.new("RGBA", (500, 400), (0, 0, 0, 0)).save(clear, "PNG")
    with Image.open(io.BytesIO(make(clear.getvalue()))) as thumbnail:
        assert thumbnail.convert("RGBA").getpixel((10, 10))[3] == 0  # type: ignore[index]
    exif = Image.Exif()
    exif[0x0112] = 6
    with Image.open(io.BytesIO(make(noise(600, 300, "JPEG", exif=exif)))) as thumbnail:
        assert thumbnail.size == (120, MAX_EDGE)
        assert not thumbnail.getexif()


def test_the_thumbnail_of_an_animated_image_is_its_first_frame() -> None:
    frames = [Image.new("RGB", (300, 300), colour) for colour in ("red", "blue")]
    moving = io.BytesIO()
    frames[0].save(moving, "GIF", save_all=True, append_images=frames[1:])
    with Image.open(io.BytesIO(make(moving.getvalue()))) as thumbnail:
        red, _, blue = thumbnail.convert("RGB").getpixel((5, 5))  # type: ignore[misc]
        assert red > 200
        assert blue < 60
        assert getattr(thumbnail, "n_frames", 1) == 1


@given(st.integers(0, 60_000), st.integers(0, 60_000))
def test_an_image_is_shown_within_its_place_and_never_larger_than_it_is(width: int, height: int) -> None:
    shown = display_size(width, height)
    assert all(1 <= side <= EDGE for side in shown)
    if width and height:
        assert shown[0] <= width
        assert shown[1] <= height
