"""Index status, sitemaps and IndexNow."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom_content.websites.store import Websites
from support.standin_google import Google

from .conftest import Site, config_for, new_site, started


def test_inspecting_a_page(site: Site) -> None:
    site.connect()
    result = site.data("inspect_url_index", url=site.page())
    assert (result["verdict"], result["google_canonical"]) == ("PASS", site.page())
    assert result["sitemaps"] == [f"{site.property}sitemap.xml"]
    foreign = site.client.refusal("inspect_url_index", website_id=site.website.id, url="https://elsewhere.example/")
    assert "must be a URL of the website" in foreign
    site.google.inspections_a_day = 1
    assert "call again in 3600 seconds" in site.client.refusal(
        "inspect_url_index", website_id=site.website.id, url=site.page()
    )


def test_sitemaps(site: Site) -> None:
    site.connect()
    assert site.data("submit_urls")["sitemaps"] == []
    site.data("submit_urls", sitemap_url=f"{site.property}sitemap.xml")
    result = site.data("submit_urls", sitemap_url=f"{site.property}sitemap.xml")
    message = f"the sitemap {site.property}sitemap.xml"
    assert result["engines"] == [{"engine": "Google Search Console", "told": message, "problem": None}]
    (sitemap,) = result["sitemaps"]
    assert (sitemap["path"], sitemap["submitted_urls"], sitemap["warnings"]) == (f"{site.property}sitemap.xml", 12, 1)
    assert "not connected" in site.client.refusal("submit_urls", website_id=site.other().website.id)


class IndexNow:
    """A stand-in for IndexNow and for the website that it verifies."""

    def __init__(self) -> None:
        self.url = ""
        self.taken: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}

    def take(self, body: bytes, kind: str) -> int:
        if kind != "application/json; charset=utf-8":
            return 400
        sent = json.loads(body)
        if set(sent) != {"host", "key", "keyLocation", "urlList"} or not 1 <= len(sent["urlList"]) <= 10_000:
            return 400
        if not 8 <= len(sent["key"]) <= 128 or not sent["key"].isalnum():
            return 400
        response = httpx.get(sent["keyLocation"])
        if response.status_code != 200 or response.text.strip() != sent["key"]:
            return 403
        folder = sent["keyLocation"].rpartition("/")[0] + "/"
        if not all(url.startswith(folder) for url in sent["urlList"]):
            return 422
        self.taken.append(sent)
        return 200


@pytest.fixture(scope="module")
def indexnow() -> Iterator[IndexNow]:
    standin = IndexNow()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._send(standin.take(body, self.headers["Content-Type"]), b"")

        def do_GET(self) -> None:
            content = standin.files.get(self.path)
            self._send(404 if content is None else 200, content or b"")

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            del args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    standin.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield standin
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def submitting(
    shared_google: Google, indexnow: IndexNow, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningHost]:
    folder: Path = tmp_path_factory.mktemp("indexnow")
    config = config_for(shared_google, indexnow_url=f"{indexnow.url}/indexnow")
    with started(config, {"path": folder}, folder) as running:
        yield running


def test_a_site_of_this_server_already_has_its_key(submitting: RunningHost, google: Google, indexnow: IndexNow) -> None:
    site = new_site(submitting, google)
    result = site.data("submit_urls", urls=[site.page("a"), site.page("b"), site.page("a")])

    assert result["submitted"] == 2
    assert [(engine["told"], engine["problem"]) for engine in result["engines"]] == [("2 URLs (HTTP 200)", None)]
    assert indexnow.taken[-1]["urlList"] == [site.page("a"), site.page("b")]
    text = site.client.call("submit_urls", website_id=site.website.id, urls=[site.page("a")])["content"][0]["text"]
    assert "IndexNow (Bing, Yandex, Seznam, Naver and others) was told: 1 URL (HTTP 200)" in text
    assert "Nothing was sent to Google" in text
    assert site.data("submit_urls", urls=[site.page("c")])["key_url"] == result["key_url"]
    for path in ("nothing-here", f"{'0' * 32}.txt"):
        assert httpx.get(f"{submitting.url}/{path}").status_code == 404


@pytest.mark.parametrize(
    "url",
    ["https://elsewhere.example/a", "{site}/../other/a", "{site}x/a", "{site}/a b", "{site}/ä", "javascript:alert(1)"],
)
def test_urls_of_other_sites_are_refused(submitting: RunningHost, google: Google, indexnow: IndexNow, url: str) -> None:
    site = new_site(submitting, google)
    before = len(indexnow.taken)
    message = site.client.refusal("submit_urls", website_id=site.website.id, urls=[url.format(site=site.website.url)])
    assert "URL below" in message
    assert len(indexnow.taken) == before


def test_an_external_site_must_serve_the_key(submitting: RunningHost, google: Google, indexnow: IndexNow) -> None:
    site = new_site(submitting, google)
    content = submitting.host.compiled.plugins.contexts["content"]
    website = submitting.run(
        Websites(content).add(site.client.user_id, "wordpress", name="Blog", url=indexnow.url, credential={})
    )
    arguments = {"website_id": website.id, "urls": [f"{indexnow.url}/post"]}
    message = site.client.refusal("submit_urls", **arguments)
    key = message.split("nothing but ")[1].split(",")[0]
    assert f"{indexnow.url}/{key}.txt" in message
    indexnow.files[f"/{key}.txt"] = f"{key}\n".encode()
    assert site.client.data("submit_urls", **arguments)["submitted"] == 1


def test_one_engine_that_fails_does_not_hide_the_other(
    submitting: RunningHost, google: Google, indexnow: IndexNow
) -> None:
    site = new_site(submitting, google)
    sitemap = f"{site.property}sitemap.xml"
    arguments = {"urls": [site.page("a")], "sitemap_url": sitemap}

    halved = site.data("submit_urls", **arguments)
    assert [engine["told"] for engine in halved["engines"]] == ["1 URL (HTTP 200)", None]
    assert "is not connected with Google" in halved["engines"][1]["problem"]
    site.connect()
    complete = site.data("submit_urls", **arguments)
    assert [engine["told"] for engine in complete["engines"]] == ["1 URL (HTTP 200)", f"the sitemap {sitemap}"]
    assert [entry["path"] for entry in complete["sitemaps"]] == [sitemap]
    assert "URL below" in site.client.refusal(
        "submit_urls",
        website_id=site.website.id,
        urls=["https://elsewhere.example/a"],
        sitemap_url="https://no.example/s",
    )


def test_an_article_that_was_never_published_has_no_url(submitting: RunningHost, google: Google) -> None:
    site = new_site(submitting, google)
    article = site.client.data("create_content", title="Draft", body="Text.", website_id=site.website.id)
    refused = site.client.refusal("submit_urls", website_id=site.website.id, content_id=article["content_id"])
    assert "publish_content" in refused
    unconnected = site.client.refusal("submit_urls", website_id=site.website.id)
    assert "is not connected with Google" in unconnected
    assert "give urls or content_id" in unconnected
