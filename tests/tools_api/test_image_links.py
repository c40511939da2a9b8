"""Permanent image URLs: created, fetched without stored files, tampered with, revoked, and counted."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.interfaces.tools_api.image_links import DesignSigner
from pressroom.storage.files.signing import signing_secret
from pressroom.testing import RunningHost
from support.http_fixtures import Start

Client = Callable[[RunningHost], httpx.Client]

QR = "/tools/qr-code-generator"
MENU: dict[str, Any] = {"text": "https://example.com/menu", "size": 256}


def link(http: httpx.Client, body: dict[str, Any] = MENU, tool: str = QR) -> str:
    response = http.post(f"{tool}/link", json=body)
    assert response.status_code == 200, response.text
    return str(response.json()["data"]["url"])


def test_a_permanent_url_is_the_image_and_does_not_expire(api: httpx.Client) -> None:
    response = api.post(f"{QR}/link", json=MENU)
    data = response.json()["data"]
    assert data["expiresAt"] is None
    assert (data["size"], data["format"]) == (256, "png")
    assert response.headers["access-control-allow-origin"] == "*"
    assert int(response.headers["ratelimit-remaining"]) < int(response.headers["ratelimit-limit"])
    image = api.get(data["url"])
    assert image.headers["content-type"] == "image/png"
    assert image.headers["cache-control"] == "public, max-age=86400"
    assert image.headers["content-disposition"] == 'inline; filename="qr-code-generator.png"'
    assert image.headers["cross-origin-resource-policy"] == "cross-origin"
    assert Image.open(io.BytesIO(image.content)).size == (256, 256)
    assert api.get(data["url"], headers={"If-None-Match": image.headers["etag"]}).status_code == 304
    assert api.head(data["url"]).headers["content-type"] == "image/png"


def test_equal_designs_have_one_url(api: httpx.Client) -> None:
    assert link(api, {"size": 256, "text": "https://example.com/menu"}) == link(api)


def test_an_image_is_drawn_again_by_another_server_with_the_same_key(start: Start, client: Client) -> None:
    first = client(start(builtin_plugins=True, secret_key="0123456789abcdef" * 2))
    url = httpx.URL(link(first))
    second = client(start(builtin_plugins=True, secret_key="0123456789abcdef" * 2))
    assert second.get(url.raw_path.decode()).content == first.get(url.raw_path.decode()).content
    third = client(start(builtin_plugins=True, secret_key="fedcba9876543210" * 2))
    assert third.get(url.raw_path.decode()).status_code == 403


@pytest.mark.parametrize(
    "alter",
    [
        lambda url: url[:-2] + ("AA" if url[-2:] != "AA" else "BB"),
        lambda url: url.replace("design=", "design=x"),
        lambda url: url.replace("/qr-code-generator/", "/code-to-image/"),
        lambda url: url.partition("&signature")[0],
        lambda url: url.partition("?")[0],
        lambda url: url.partition("?")[0] + "?design=%FF%00&signature=ü",
    ],
)
def test_an_altered_url_is_refused(api: httpx.Client, alter: Callable[[str], str]) -> None:
    response = api.get(alter(link(api)))
    assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")
    assert "create the link again" in response.json()["error"]["message"]
    assert response.headers["cache-control"] == "no-store"


def test_a_design_that_cannot_be_rendered_gets_no_link(api: httpx.Client) -> None:
    refused = api.post(f"{QR}/link", json={"text": "hi", "size": 9})
    assert refused.json()["error"] == api.post(f"{QR}/api/generate", json={"text": "hi", "size": 9}).json()["error"]
    assert api.post("/tools/none-such/link", json={}).status_code == 404
    assert api.post(f"{QR}/link", content=b"x").status_code == 415
    favicons = api.post("/tools/favicon-generator/link", json={"content": "P"})
    assert "does not make images that pages can show" in favicons.json()["error"]["message"]


def test_a_design_that_is_too_long_says_what_to_do_instead(api: httpx.Client) -> None:
    code = "".join(f"{number * number * 7919 % 99991:x}" for number in range(1500))
    response = api.post("/tools/code-to-image/link", json={"code": code, "language": "plaintext"})
    assert response.status_code == 400
    assert "of at most 1,800. Shorten its texts, or download the image" in response.json()["error"]["message"]


def test_the_operator_withdraws_an_image(start: Start, client: Client) -> None:
    key = "0123456789abcdef" * 2
    url = httpx.URL(link(client(start(builtin_plugins=True, secret_key=key))))
    host = start(builtin_plugins=True, secret_key=key, image_links={"blocked": [url.params["signature"]]})
    response = client(host).get(url.raw_path.decode())
    assert (response.status_code, response.json()["error"]["message"]) == (
        403,
        "the operator of this server has withdrawn this image",
    )


@pytest.mark.parametrize(
    "again",
    [
        pytest.param({**MENU, "margin": 2}, id="a default that is spelled out"),
        pytest.param({**MENU, "size": 256.0}, id="a number that is written otherwise"),
        pytest.param({**MENU, "fgColor": "#000"}, id="a colour that is written otherwise"),
    ],
)
def test_a_withdrawn_image_cannot_get_another_url(start: Start, client: Client, again: dict[str, object]) -> None:
    key = "0123456789abcdef" * 2
    before = client(start(builtin_plugins=True, secret_key=key))
    url = link(before, MENU)
    assert link(before, again) == url
    host = start(builtin_plugins=True, secret_key=key, image_links={"blocked": [httpx.URL(url).params["signature"]]})
    other = link(client(host), again)
    assert client(host).get(other).status_code == 403


def test_the_operator_switches_permanent_urls_off(start: Start, client: Client) -> None:
    http = client(start(builtin_plugins=True, image_links={"enabled": False}))
    assert http.post(f"{QR}/link", json=MENU).status_code == 404
    assert "Permanent link" not in http.get(QR).text


def test_only_images_that_are_rendered_again_are_counted(start: Start, client: Client) -> None:
    http = client(start(builtin_plugins=True, image_links={"rate_limit": "1/hour"}, cache={"seconds": 0}))
    urls = [link(http, {"text": str(number)}) for number in range(2)]
    assert [http.get(url).status_code for url in urls] == [200, 429]
    assert 0 < int(http.get(urls[1]).headers["retry-after"]) <= 3600
    cached = client(start(builtin_plugins=True, image_links={"rate_limit": "1/hour"}))
    url = link(cached)
    assert [cached.get(url).status_code for _ in range(3)] == [200, 200, 200]


def test_a_design_that_the_tool_no_longer_accepts_is_refused_as_documented(start: Start, client: Client) -> None:
    host = start(builtin_plugins=True)
    http = client(host)
    before_an_update = DesignSigner(signing_secret(host.host.settings)).query("qr-code-generator", {**MENU, "size": 9})
    response = http.get(f"{QR}/image", params=before_an_update)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "validation_error")
    paths = http.get("/openapi.json").json()["paths"]
    assert "400" in paths[f"{QR}/image"]["get"]["responses"]


def test_without_javascript_the_result_has_the_permanent_url(api: httpx.Client) -> None:
    page = api.post(QR, data={"text": "https://example.com/menu", "size": "256"})
    assert page.status_code == 200
    start = page.text.index("/tools/qr-code-generator/image?design=")
    url = page.text[start : page.text.index("<", start)].replace("&amp;", "&")
    assert Image.open(io.BytesIO(api.get(url).content)).size == (256, 256)
    assert "&lt;img src=" in page.text
    assert "![](http" in page.text
