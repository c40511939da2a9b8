"""Images from other servers, in a complete host: fetched by the server, drawn by a worker."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.fetch import GuardedFetcher
from pressroom.testing import RunningHost, settings_for_test
from support.origins import Authority, Origin, StubNames, Visit, origin

NAME = "images.example.org"
API = "/tools/image-generator/api/generate"


def green() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (20, 10), (0, 255, 0)).save(buffer, "PNG")
    return buffer.getvalue()


async def _reply(visit: Visit) -> None:
    if visit.target.endswith("/damaged"):
        await visit.respond(green()[:40])
    elif visit.target.startswith("/green"):
        await visit.respond(green())
    else:
        await visit.respond(b"", status="404 Not Found")


@contextmanager
def serving(authority: Authority, folder: Path) -> Iterator[Origin]:
    """Run the image server in its own thread."""
    started, stop = threading.Event(), asyncio.Event()
    servers: list[tuple[Origin, asyncio.AbstractEventLoop]] = []

    async def run() -> None:
        async with origin(_reply, authority.server_context(folder, NAME)) as server:
            servers.append((server, asyncio.get_running_loop()))
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert started.wait(20)
    server, loop = servers[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)


@pytest.fixture(scope="module")
def image_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Origin, httpx.Client]]:
    """Return an image server, and a client of a host that may fetch from it."""
    authority = Authority()
    config = {"plugins": {"image_generator": {}}, "tools": {"image-generator": {"rate_limit": "10000/hour"}}}
    with (
        serving(authority, tmp_path_factory.mktemp("tls")) as server,
        RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as host,
        httpx.Client(base_url=host.url, timeout=30) as client,
    ):
        fetcher = GuardedFetcher(
            tls=authority.client_context(),
            resolver=StubNames(["127.0.0.1"]),
            exempt=[("127.0.0.1", server.port)],
        )
        host.run(fetcher.open())
        with host.host.compiled.plugins.provider.replaced(fetcher=fetcher):
            yield server, client
        host.run(fetcher.close())


def made(client: httpx.Client, **body: Any) -> tuple[Image.Image, list[str]]:
    response = client.post(API, json=body)
    assert response.status_code == 200, response.text
    data = response.json()["data"]
    return Image.open(io.BytesIO(client.get(data["url"]).content)).convert("RGB"), data.get("warnings", [])


def at(server: Origin, path: str) -> str:
    return f"https://{NAME}:{server.port}{path}"


def test_an_image_in_html_is_drawn(image_server: tuple[Origin, httpx.Client]) -> None:
    server, client = image_server
    html = f'<img src="{at(server, "/green?html")}" style="width:400px;height:200px">'
    image, warnings = made(client, html=html, width=400, height=200)
    assert image.getpixel((200, 100)) == (0, 255, 0)
    assert warnings == []


def test_a_cached_result_fetches_nothing(image_server: tuple[Origin, httpx.Client]) -> None:
    server, client = image_server
    html = f'<img src="{at(server, "/green?cached")}">'
    for _ in range(3):
        made(client, html=html)
    assert [visit.target for visit in server.visits].count("/green?cached") == 1


def test_a_missing_image_has_a_placeholder_and_a_warning(image_server: tuple[Origin, httpx.Client]) -> None:
    server, client = image_server
    url = at(server, "/gone")
    html = f'<img src="{url}" style="width:400px;height:200px">'
    _, warnings = made(client, html=html, width=400, height=200)
    assert warnings == [f"The image {url} is missing: its server returned status 404."]


def test_a_missing_image_does_not_hide_a_warning_about_another(image_server: tuple[Origin, httpx.Client]) -> None:
    server, client = image_server
    folder = at(server, f"/{'a' * 60}")

    html = f"<div><img src='{folder}/gone'><img src='{folder}/damaged'></div>"
    _, warnings = made(client, html=html, width=400, height=200)
    assert len(warnings) == 2
    assert "returned status 404" in warnings[0]
    assert "cannot be read" in warnings[1]


@pytest.mark.parametrize("template", ["og", "twitter-header", "linkedin-banner", "square", "story"])
def test_a_template_shows_its_images(image_server: tuple[Origin, httpx.Client], template: str) -> None:
    server, client = image_server
    props = {
        "title": "A title",
        "imageUrl": at(server, "/green?image"),
        "logoUrl": at(server, "/green?logo"),
        "avatarUrl": at(server, "/green?avatar"),
        "siteName": "example.com",
    }
    image, warnings = made(client, template=template, props=props)
    assert warnings == []
    greens = sum(count for count, color in image.getcolors(2**24) or () if color == (0, 255, 0))
    assert greens > 0.2 * image.width * image.height


def test_a_template_looks_as_if_a_missing_image_had_not_been_requested(
    image_server: tuple[Origin, httpx.Client],
) -> None:
    server, client = image_server
    props = {"title": "A title"}
    plain, _ = made(client, template="og", props=props)
    image, warnings = made(client, template="og", props={**props, "imageUrl": at(server, "/gone")})
    assert len(warnings) == 1
    assert image.tobytes() == plain.tobytes()
