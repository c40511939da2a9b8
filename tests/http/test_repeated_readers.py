"""Repeated requests for the same large documents."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import HEAD, install_plugin

SOURCE = (
    HEAD
    + '''
import asyncio
from pathlib import Path

from pressroom.sdk import IndexEntries, IndexEntry

FOLDER = Path(__file__).parent


async def read():
    """Take a moment, and note that it was asked."""
    with (FOLDER / "reads").open("a") as log:
        log.write("read\\n")
    await asyncio.sleep(0.2)
    return (FOLDER / "text").read_text()


async def entries():
    version = (FOLDER / "version").read_text()
    return [IndexEntry("Long", "/long", version=version, read=read)]


@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Articles", entries)]
'''
)


def test_many_readers_of_the_index_render_each_text_once(tmp_path: Path) -> None:
    site = tmp_path / "site"
    installed = install_plugin(site, "library", SOURCE)
    folder = site / installed.packages[0]

    def write(text: str, version: str) -> None:
        (folder / "text").write_text(text)
        (folder / "version").write_text(version)

    def reads() -> int:
        return len((folder / "reads").read_text().splitlines())

    write("The first text.", "1")
    with on_path(site), RunningHost(settings_for_test({"plugins": installed.plugins}, tmp_path / "data")) as host:
        url = f"{host.url}/llms-full.txt"
        with ThreadPoolExecutor(8) as pool:
            texts = list(pool.map(lambda _: httpx.get(url, timeout=30).text, range(16)))
        assert len(set(texts)) == 1
        assert "The first text." in texts[0]
        assert reads() == 1
        write("The second text.", "2")
        assert "The second text." in httpx.get(url, timeout=30).text
        assert reads() == 2
        write("x" * 20_000_000, "3")
        assert len(httpx.get(url, timeout=30).content) < 1_000_000
        write("The last text.", "")
        assert "The last text." in httpx.get(url, timeout=30).text
        assert "The last text." in httpx.get(url, timeout=30).text
        assert reads() == 4


def test_the_size_of_a_feed_is_limited_however_long_its_posts(tmp_path: Path) -> None:
    config = {"builtin_plugins": False, "plugins": {"content": {}}}
    with RunningHost(settings_for_test(config, tmp_path / "data")) as host:
        host.call_tool("connect_website", {"platform": "builtin", "name": "Long"})
        [website] = host.call_tool("list_websites")["websites"]
        for number in range(4):
            article = host.call_tool(
                "create_content",
                {"title": f"Post {number}", "body": f"{number} " + "word " * 300_000, "website_id": website["id"]},
            )
            ids = {"content_id": article["content_id"], "website_id": website["id"]}
            host.call_tool("publish_content", ids)
        url = f"{website['url']}/feed.xml"
        with ThreadPoolExecutor(4) as pool:
            responses = list(pool.map(lambda _: httpx.get(url, timeout=60), range(4)))
        feed = ET.fromstring(responses[0].content)
        repeated = httpx.get(url, headers={"if-none-match": responses[0].headers["etag"]}, timeout=60)
        host.call_tool(
            "create_content",
            {"title": "Draft", "body": "Not live.", "website_id": website["id"]},
        )
        current = httpx.get(url, timeout=60)
        article = host.call_tool("create_content", {"title": "New", "body": "Short.", "website_id": website["id"]})
        host.call_tool("publish_content", {"content_id": article["content_id"], "website_id": website["id"]})
        newer = httpx.get(url, timeout=60)

    assert len({response.content for response in responses}) == 1
    assert len(responses[0].content) < 5_000_000
    assert [item.findtext("title") for item in feed.iter("item")] == ["Post 3", "Post 2", "Post 1", "Post 0"]
    assert sum("encoded" in child.tag for child in feed.iter()) == 2
    assert (repeated.status_code, repeated.content) == (304, b"")
    # A compressed response has a weak ETag; whether it is compressed depends on the number of concurrent requests.
    assert current.headers["etag"].removeprefix("W/") == responses[0].headers["etag"].removeprefix("W/")
    assert next(ET.fromstring(newer.content).iter("item")).findtext("title") == "New"
