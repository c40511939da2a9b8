"""Import, duplication, preview and export of articles."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote
from xml.etree import ElementTree as ET

import httpx
import pytest
from pressroom.columns import new_id
from pressroom_content.articles import trash
from pressroom_content.tables import ExportRow, WebsiteRow
from sqlalchemy import update
from support.content_client import Client

from .conftest import Make

PAGE = """<!doctype html><html lang="en-GB"><head><title>Tea | The site</title>
<meta property="og:title" content="All about tea"><meta name="description" content="What tea is.">
<meta name="author" content="Ada"></head><body><nav><a href="/">Home</a> Navigation</nav>
<article><h1>All about tea</h1><p>Tea is a drink made of <a href="/leaves">leaves</a>.</p>
<script>alert(1)</script><p onclick="x()">It is served <b>hot</b>, in cups, in most countries where people know it, and
cold in some of them, with lemon, milk, sugar or nothing at all, as everybody likes best.</p>
<img src="/cup.png" alt="A cup" srcset="javascript:x 1x"><pre><code class="language-sh">boil water
</code></pre><aside>Buy our cups</aside></article><footer>Imprint</footer></body></html>"""
FEED = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY x "y">]><rss version="2.0"><channel><title>Feed</title>
<item><title>Newest &amp; best</title><description>&lt;p&gt;The text of the item.&lt;/p&gt;</description></item>
</channel></rss>"""


class Pages(BaseHTTPRequestHandler):
    """A website with an article, a feed, and pages that are neither."""

    def do_GET(self) -> None:
        pages = {
            "/tea": ("text/html; charset=utf-8", PAGE),
            "/feed": ("application/rss+xml", FEED.replace('<!DOCTYPE rss [<!ENTITY x "y">]>', "")),
            "/bomb": ("application/rss+xml", FEED),
            "/latin": ("text/html; charset=iso-8859-1", PAGE.replace("leaves", "Blätter")),
            "/empty": ("text/html", "<title>x</title><script>document.write('article')</script>"),
            "/image": ("image/png", "\x89PNG"),
            "/large": ("text/html", "x" * 6_000_000),
            "/deep": ("text/html", "<div>" * 30_000),
        }
        leads = {"/inside": "http://169.254.169.254/latest/meta-data", "/moved": "/tea"}
        path, _, target = self.path.partition("?to=")
        if path in leads or target:
            self.send_response(302)
            self.send_header("Location", unquote(target) or leads[path])
            self.end_headers()
            return
        if self.path not in pages:
            self.send_error(404)
            return
        media_type, text = pages[self.path]
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.end_headers()
        self.wfile.write(text.encode("latin-1" if "8859" in media_type else "utf-8"))

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(host: str = "127.0.0.1") -> Iterator[str]:
    server = ThreadingHTTPServer((host, 0), Pages)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    with serving() as url:
        yield url


@pytest.fixture
def site(ada: Client, pages: str) -> str:
    """Return a website of ada's whose URL is the pages' origin."""
    now = datetime.now(UTC)
    row = WebsiteRow(
        id=new_id("w"), user_id=ada.user_id, platform="wordpress", name="Pages", url=pages, status="active",
        credential="", created_at=now, updated_at=now,
    )  # fmt: skip

    async def add() -> None:
        async with ada.plugin.services.database.writing() as session:
            session.add(row)

    ada.host.run(add())
    return row.id


def assert_is_a_copy(client: Client, imported: dict[str, Any]) -> None:
    """Check that an import reports that it is a copy, and that it has no publication."""
    assert imported["publication_id"] is None
    assert "it is a copy: publishing it makes another post, beside the page that is there" in imported["warnings"]
    assert client.data("list_publications", content_id=imported["content_id"])["publications"] == []


def test_a_page_of_a_connected_site_is_imported_as_an_article(ada: Client, site: str, pages: str) -> None:
    imported = ada.data("import_content", url=f"{pages}/tea")
    assert imported["title"] == "All about tea"
    page = ada.data("get_content", content_id=imported["content_id"])
    assert page["body"].startswith(f"Tea is a drink made of [leaves]({pages}/leaves).\n\nIt is served **hot**")
    assert f"![A cup]({pages}/cup.png)" in page["body"]
    assert "```sh\nboil water\n```" in page["body"]
    for absent in ("Navigation", "Imprint", "Buy our cups", "alert", "onclick"):
        assert absent not in page["body"]
    content = page["content"]
    assert (content["website_id"], content["language"], content["author"]) == (site, "en-GB", "Ada")
    assert content["excerpt"] == "What tea is."
    assert any("import_image" in warning for warning in imported["warnings"])
    assert_is_a_copy(ada, imported)


def test_a_page_in_another_encoding_is_imported(ada: Client, site: str, pages: str) -> None:
    id_ = ada.data("import_content", url=f"{pages}/latin", website_id=site)["content_id"]
    assert "Blätter" in ada.data("get_content", content_id=id_)["body"]


def test_the_first_item_of_a_feed_is_imported(ada: Client, site: str, pages: str) -> None:
    imported = ada.data("import_content", url=f"{pages}/feed", website_id=site)
    assert imported["title"] == "Newest & best"
    assert_is_a_copy(ada, imported)
    assert ada.data("get_content", content_id=imported["content_id"])["body"] == "The text of the item.\n"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/none", "status 404"),
        ("/empty", "no text was found"),
        ("/image", "is not a web page"),
        ("/large", "cannot be fetched"),
        ("/deep", "tags are open"),
        ("/bomb", "cannot be read"),
        ("/inside", "cannot be fetched"),
    ],
)
def test_pages_that_are_not_articles_are_refused(ada: Client, site: str, pages: str, path: str, problem: str) -> None:
    assert problem in ada.refusal("import_content", url=pages + path, website_id=site)
    assert ada.data("list_content")["items"] == []


def test_pages_of_other_sites_are_not_fetched(ada: Client, site: str, pages: str) -> None:
    for url in ("https://example.com/x", "file:///etc/passwd", "http://[", "http://169.254.169.254/"):
        assert f"must be on a connected website ({pages})" in ada.refusal("import_content", url=url)
    assert "only one of them" in ada.refusal("import_content", url=f"{pages}/tea", html="<p>x")
    assert "must be given" in ada.refusal("import_content")


def test_redirects_to_other_sites_are_refused(ada: Client, site: str, pages: str) -> None:
    with serving("127.0.0.2") as other_url:
        url = f"{pages}/out?to={quote(f'{other_url}/tea')}"
        for arguments in ({}, {"website_id": site}):
            message = ada.refusal("import_content", url=url, **arguments)
            assert f"redirects to {other_url}/tea, which is not on a connected website" in message
    assert ada.data("list_content")["items"] == []
    imported = ada.data("import_content", url=f"{pages}/moved")["content_id"]
    assert ada.data("get_content", content_id=imported)["content"]["website_id"] == site


def test_pasted_html_is_imported(ada: Client) -> None:
    imported = ada.data("import_content", html="<h1>Pasted</h1><p>Some <i>text</i>.<script>x</script>")
    assert imported["title"] == "Pasted"
    assert ada.data("get_content", content_id=imported["content_id"])["body"] == "Some *text*.\n"


def test_an_article_is_copied_for_another_language(ada: Client, make: Make, website: str) -> None:
    id_ = make("Tea", "Text.", tags=["a"], canonical_url="https://example.com/tea")
    copy = ada.data("import_content", content_id=id_, website_id=website, language="de")["content_id"]
    content = ada.data("get_content", content_id=copy)["content"]
    assert (content["slug"], content["language"], content["website_id"]) == ("tea", "de", website)
    assert (content["tags"], content["canonical_url"]) == (["a"], "")
    second = ada.data("import_content", content_id=id_)
    assert (second["slug"], second["title"], second["word_count"]) == ("tea-2", "Tea", 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "url: or html or content_id must be given"),
        ({"html": "<p>x</p>", "content_id": "a_1"}, "only one of them"),
        ({"html": "<p>x</p>", "language": "de"}, "language: only goes with content_id"),
        ({"content_id": "a_nobody"}, "no article 'a_nobody'; list_content shows"),
    ],
)
def test_an_import_must_have_one_source(ada: Client, arguments: dict[str, str], expected: str) -> None:
    assert expected in ada.refusal("import_content", **arguments)


def test_a_preview_shows_the_payload_for_the_platform(ada: Client, make: Make, website: str) -> None:
    id_ = make("Tea", "Hi <b onclick=x>there</b><script>x</script>", tags=["a"], meta_title="M")
    result = ada.call("preview_content", content_id=id_, website_id=website)
    assert "\nslug: tea\nmeta_title: M\ntags: a\nRemoved: " in result["content"][0]["text"]
    preview = result["structuredContent"]
    assert preview["html"] == "<p>Hi <b>there</b></p>\n"
    assert set(preview["removed"]) == {"<script>", "the attribute onclick of <b>"}
    assert (preview["payload"]["platform"], preview["payload"]["title"], preview["payload"]["slug"]) == (
        "builtin",
        "Tea",
        "tea",
    )
    assert preview["preview_url"].endswith(f"/dashboard/articles/{id_}")
    assert ada.data("preview_content", content_id=id_)["payload"] == {}


def test_articles_are_exported_in_each_format(ada: Client, make: Make) -> None:
    id_ = make("Tea & “more” ]]>", "Some *text*.\n\n]]>", tags=["Drinks"], keyphrase="tea: the drink")
    make("Tea & “more” ]]>", "<p>Other</p>", body_format="html")
    files = {
        form: httpx.get(ada.data("export_content", format=form)["download_url"]) for form in ("markdown", "json", "wxr")
    }
    assert all(response.status_code == 200 for response in files.values())
    assert "attachment" in files["json"].headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(files["markdown"].content)) as archive:
        assert sorted(archive.namelist()) == ["tea-more-2.md", "tea-more.md"]
        text = archive.read("tea-more.md").decode()
    assert 'title: "Tea & “more” ]]>"' in text
    assert 'keyphrase: "tea: the drink"' in text
    assert text.endswith("---\n\nSome *text*.\n\n]]>")
    articles = json.loads(files["json"].content)["articles"]
    assert {article["body"] for article in articles} == {"Some *text*.\n\n]]>", "<p>Other</p>"}
    items = list(ET.fromstring(files["wxr"].content).iter("item"))
    encoded = "{http://purl.org/rss/1.0/modules/content/}encoded"
    bodies = {item.findtext(encoded) for item in items}
    assert bodies == {"<p>Some <em>text</em>.</p>\n<p>]]&gt;</p>\n", "<p>Other</p>"}
    partial = ada.data("export_content", content_ids=[id_])
    assert partial["items"] == 1


def test_terms_of_an_export_for_wordpress_have_their_own_slugs(ada: Client, make: Make) -> None:
    make("One", tags=["C#", "C++", "🎉"], categories=["C"])
    make("Two", tags=["c++", "C", "🚀"])
    document = ET.fromstring(httpx.get(ada.data("export_content", format="wxr")["download_url"]).content)
    nodes = document.iter("category")
    terms = {(node.get("domain"), (node.text or "").lower(), node.get("nicename")) for node in nodes}
    slugs = {(domain, slug) for domain, _, slug in terms}
    assert len(terms) == len(slugs) == 6
    assert all(slug for _, slug in slugs)


def test_invalid_exports_are_refused(ada: Client, eve: Client, make: Make) -> None:
    assert "no articles to export" in ada.refusal("export_content")
    id_ = make("Tea")
    assert "has no article" in eve.refusal("export_content", content_ids=[id_])
    website = ada.data("connect_website", platform="builtin", name="Tea blog")["website_id"]
    refusal = ada.refusal("export_content", content_ids=[id_], website_id=website)
    assert f"content_ids: names the article {id_}, which is not of that website" in refusal
    assert "no articles to export" in ada.refusal("export_content", website_id=website)
    assert httpx.get(f"{ada.host.url}/content/exports/nothing").status_code == 404
    url = ada.data("export_content")["download_url"]
    plugin = ada.plugin

    async def expire() -> None:
        async with plugin.services.database.writing() as session:
            await session.execute(update(ExportRow).values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))

    ada.host.run(expire())
    assert httpx.get(url).status_code == 404
    assert ada.host.run(trash.remove_exports(plugin)) >= 1
