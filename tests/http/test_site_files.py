"""Site files that browsers, search engines and chat apps request: fonts, icon, cards, robots.txt, sitemap."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import third_party

ROBOTS = (
    third_party.HEAD
    + """
async def robots(request):
    return HttpResponse(b"User-agent: *", media_type="text/plain")


@hookimpl
def pressroom_routes():
    return [Route("/robots.txt", robots)]
"""
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def site(data: Path) -> Iterator[httpx.Client]:
    """Return a client of a server with all built-in plugins."""
    with (
        RunningHost(settings_for_test({"branding": {"name": "Acme"}}, data)) as host,
        httpx.Client(base_url=host.url, timeout=60) as client,
    ):
        yield client


def base(site: httpx.Client) -> str:
    return str(site.base_url).rstrip("/")


def test_pages_load_small_cacheable_fonts_that_are_built_once(site: httpx.Client, data: Path) -> None:
    page = site.get("/tools").text
    style = site.get(re.findall(r'href="([^"]*pressroom\.css[^"]*)"', page)[0]).text
    urls = [f"/tools/static/{url}" for url in re.findall(r'src: url\("([^"]*)"\)', style)]
    assert len(urls) == 14
    preloaded = re.findall(r'<link rel="preload" href="([^"]*)" as="font"', page)
    assert preloaded == [urls[0], urls[2]]
    weight: dict[bool, int] = {False: 0, True: 0}
    for url in urls:
        font = site.get(url)
        assert font.headers["content-type"] == "font/woff2"
        assert font.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert font.content[:4] == b"wOF2"
        assert site.get(url, headers={"If-None-Match": font.headers["etag"]}).status_code == 304
        assert site.get(url.partition("?")[0]).headers["cache-control"] == "no-cache"
        weight["-extended." in url] += len(font.content)
    assert weight[False] < 110_000
    assert weight[True] < 55_000
    assert len(list((data / "fonts").glob("*.woff2"))) == 14
    assert site.get("/tools/static/fonts/comic.woff2").status_code == 404


def test_a_stored_font_is_reused(site: httpx.Client, data: Path) -> None:
    url = re.findall(r'<link rel="preload" href="([^"]*)" as="font"', site.get("/tools").text)[0]
    name, version = re.fullmatch(r".*/([^/?]*)\?v=(\w+)", url).groups()  # type: ignore[union-attr]
    site.get(url)
    (data / "fonts" / f"{version}-{name}").write_bytes(b"as it was kept")
    with RunningHost(settings_for_test({}, data)) as restarted:
        assert httpx.get(f"{restarted.url}{url}").content == b"as it was kept"


@pytest.mark.parametrize("path", ["/tools", "/tools/qr-code-generator"])
def test_links_to_public_pages_have_a_cacheable_image(site: httpx.Client, path: str) -> None:
    page = site.get(path).text
    (url,) = re.findall(r'<meta property="og:image" content="([^"]*)">', page)
    assert url == f"{base(site)}{path}/card.png"
    response = site.get(url)
    assert Image.open(io.BytesIO(response.content)).size == (1200, 630)
    assert response.headers["cache-control"] == "public, max-age=86400"
    assert site.get(url, headers={"If-None-Match": response.headers["etag"]}).status_code == 304


def test_only_public_pages_have_cards(site: httpx.Client) -> None:
    assert site.get("/tools/create-content/card.png").status_code == 404
    assert "og:image" not in site.get("/sign-in").text


def test_the_icon_is_the_first_letter_of_the_brand(site: httpx.Client) -> None:
    response = site.get("/favicon.ico")
    assert response.headers["content-type"] == "image/vnd.microsoft.icon"
    icon = Image.open(io.BytesIO(response.content))
    assert icon.info["sizes"] == {(16, 16), (32, 32), (48, 48)}
    assert '<link rel="icon" href="/favicon.ico" sizes="32x32">' in site.get("/tools").text


def test_search_engines_find_the_public_pages(site: httpx.Client) -> None:
    assert f"Sitemap: {base(site)}/sitemap.xml" in site.get("/robots.txt").text.splitlines()
    urls = re.findall(r"<loc>([^<]*)</loc>", site.get("/sitemap.xml").text)
    assert f"{base(site)}/tools" in urls
    assert f"{base(site)}/tools/qr-code-generator" in urls
    for url in urls:
        assert site.get(url).status_code == 200


def test_a_server_without_plugins_has_robots_txt_and_an_icon_too(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({"builtin_plugins": False}, tmp_path)) as host:
        robots = httpx.get(f"{host.url}/robots.txt").text
        assert robots == f"User-agent: *\nAllow: /\n\nSitemap: {host.url}/sitemap.xml\n"
        assert httpx.get(f"{host.url}/favicon.ico", follow_redirects=True).headers["content-type"] == "image/svg+xml"
        assert "og:image" not in httpx.get(f"{host.url}/tools").text
        assert httpx.get(f"{host.url}/tools/card.png").status_code == 404


def test_a_plugin_may_serve_robots_txt_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = third_party.write_plugin(tmp_path, ROBOTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    config = {"plugins": {plugin: {}}, "builtin_plugins": False}
    with RunningHost(settings_for_test(config, tmp_path / "data")) as host:
        assert httpx.get(f"{host.url}/robots.txt").text == "User-agent: *"
