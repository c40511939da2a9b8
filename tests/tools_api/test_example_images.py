"""Example images on a tool's page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from pressroom_image_generator.guidance import EXAMPLES
from selectolax.lexbor import LexborHTMLParser

IMAGE = "/tools/image-generator"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"tools": {"image-generator": {"rate_limit": "2/hour", "timeout": 60}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("host"))) as running:
        yield running


@pytest.fixture
def client(host: RunningHost) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=host.url, timeout=90) as http:
        yield http


def test_every_example_has_a_small_image_whatever_the_limit_is(client: httpx.Client) -> None:
    names = ["examples/0/tile", *(f"examples/{number}" for number in range(1, len(EXAMPLES)))]
    responses = [client.get(f"{IMAGE}/{name}") for name in names]
    assert {response.status_code for response in responses} == {200}
    assert {response.headers["content-type"] for response in responses} == {"image/webp"}
    assert sum(len(response.content) for response in responses) < 3_000 * len(EXAMPLES)
    sizes = [Image.open(io.BytesIO(response.content)).size for response in responses]
    assert all(width <= 256 and height <= 132 for width, height in sizes)
    card = Image.open(io.BytesIO(client.get(f"{IMAGE}/examples/0").content))
    assert max(card.size) == 480


def test_concurrent_requests_for_an_image_create_it_once(client: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(client.get, [f"{IMAGE}/examples/3"] * 16))
    assert len({response.content for response in responses}) == 1


def test_images_cost_no_request_and_are_not_stored(client: httpx.Client) -> None:
    client.get(f"{IMAGE}/examples/4")
    body = client.post(f"{IMAGE}/api/generate", json=dict(EXAMPLES[4].params)).json()
    assert body["data"]["cached"] is False
    assert body["meta"]["rateLimit"] | {"resetAt": ""} == {"limit": 2, "remaining": 1, "resetAt": ""}


def test_the_first_example_has_full_size_and_choices_are_thumbnails(client: httpx.Client) -> None:
    large = client.get(f"{IMAGE}/examples/0/large")
    assert Image.open(io.BytesIO(large.content)).size == (1200, 630)
    medium = client.get(f"{IMAGE}/examples/0/medium")
    assert Image.open(io.BytesIO(medium.content)).size == (800, 420)
    story = client.get(f"{IMAGE}/choices/template/story")
    assert Image.open(io.BytesIO(story.content)).height == 120
    dark, light = (client.get(f"{IMAGE}/choices/props.theme/{name}").content for name in ("dark", "light"))
    assert dark != light
    assert client.get(f"{IMAGE}/choices/template/none").status_code == 404
    assert client.get(f"{IMAGE}/examples/1/large").status_code == 404


def test_a_page_knows_the_size_of_its_image_once_it_exists(client: httpx.Client) -> None:
    client.get(f"{IMAGE}/examples/0/large")
    page = LexborHTMLParser(client.get(IMAGE).text)
    image, canvas_room = page.css_first("[data-canvas]"), page.css_first(".canvas-room")
    assert image is not None
    assert canvas_room is not None
    for node in (image, canvas_room):
        assert (node.attributes["width"], node.attributes["height"]) == ("1200", "630")
    sources = (image.attributes["srcset"] or "").split(", ")
    assert [source.split()[1] for source in sources] == ["800w", "1200w"]
    assert {client.get(source.split()[0]).status_code for source in sources} == {200}


@pytest.mark.parametrize("number", [len(EXAMPLES), -1, "x", "0x1", 10**9, "1.0", "%31%30"])
def test_other_urls_are_not_found(client: httpx.Client, number: object) -> None:
    assert client.get(f"{IMAGE}/examples/{number}").status_code == 404


def test_every_tool_that_produces_images_has_example_images_by_default(client: httpx.Client) -> None:
    assert client.get("/tools/qr-code-generator/examples/0").status_code == 200
    assert client.get("/tools/none-such/examples/0").status_code == 404


def test_image_urls_of_the_page_may_be_cached_for_ever(client: httpx.Client) -> None:
    page = client.get(IMAGE).text
    url = unescape(re.findall(r'src="([^"]*/examples/0/large\?[^"]*)"', page)[0])
    assert "immutable" in client.get(url).headers["cache-control"]
    assert client.get(f"{IMAGE}/examples/0/large?v=old").headers["cache-control"] == "no-cache"
    assert client.get(url).headers["x-content-type-options"] == "nosniff"
