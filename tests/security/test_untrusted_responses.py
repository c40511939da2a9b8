"""Untrusted responses of sites, providers and analytics: they cost little, break nothing, and receive no secret."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom.sdk import BackendError, Fetched, Fetcher, PluginContext
from pressroom_content.contract import (
    ImageQuery,
    SearchLimited,
    SiteApi,
    SiteRefused,
    SiteUnavailable,
    UnknownOutcome,
    UnreadableJson,
    read_json,
)
from pressroom_content.publishing import verifying
from pressroom_content.publishing.verifying import ExpectedPage, verify
from pressroom_devto.site import post_of
from pressroom_images.config import ImagesConfig
from pressroom_images.sources import unsplash
from pressroom_images.sources.requesting import ImageProviderUnavailable, ProviderApi, number
from pressroom_search_performance.sources import requesting
from pressroom_search_performance.sources.requesting import fraction
from pressroom_seo.crawler.site_files import read_sitemap
from pressroom_webhook.site import Receiver
from pressroom_wordpress.client import discover
from support.webhook_receiver import SECRET

MIB = 1 << 20
HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "deep": lambda: b"[" * MIB,
    "deep objects": lambda: b'{"a":' * (MIB // 5),
    "many lists": lambda: b"[" + b"[]," * (16 * MIB // 3) + b"0]",
    "many keys": lambda: b"{" + b",".join(b'"%d":0' % index for index in range(600_000)) + b"}",
    "not a number": lambda: b'{"namespaces": [], "a": NaN}',
    "digits": lambda: b"[" + b"1" * MIB + b"]",
    "many strings": lambda: b"[" + b'"",' * (16 * MIB // 3) + b'""]',
    "many lists in UTF-16": lambda: ("\u2200[" + "[]," * 600_000 + "0]").encode("utf-16-le"),
    "lists behind a quote": lambda: b'["\\\\","\\"",' + b"[]," * 600_000 + b"0]",
    "half": lambda: b'{"a": "',
    "bytes": lambda: b"\xff\xfe\x00\xd8" * 1000,
}


class CannedFetcher:
    """A fetcher that gives every request the same response, and records what was sent."""

    def __init__(
        self,
        content: bytes,
        headers: Mapping[str, str] | None = None,
        status: int = 200,
        media_type: str = "application/json",
    ) -> None:
        self._content, self._status, self._headers = content, status, dict(headers or {})
        self._media_type = media_type
        self.sent: list[tuple[str, Mapping[str, str]]] = []

    async def request(self, method: str, url: str, *, headers: Mapping[str, str], **_: Any) -> Fetched:
        self.sent.append((url, headers))
        return Fetched(url, self._status, self._media_type, self._content, self._headers)

    async def get(self, url: str, **_: Any) -> Fetched:
        return await self.request("GET", url, headers={})

    @property
    def fetcher(self) -> Fetcher:
        return cast("Fetcher", self)

    @property
    def plugin(self) -> PluginContext:
        return cast("PluginContext", SimpleNamespace(services=SimpleNamespace(fetcher=self)))


@pytest.mark.parametrize("name", HOSTILE)
async def test_no_untrusted_response_is_parsed_beyond_its_bounds(name: str) -> None:
    untrusted = CannedFetcher(HOSTILE[name]())
    with pytest.raises(UnreadableJson):
        read_json(HOSTILE[name]())
    api = SiteApi(untrusted.fetcher, "The site", "https://site.example", {})
    with pytest.raises(SiteUnavailable):
        await api.get("/")
    with pytest.raises(UnknownOutcome):
        await api.send("POST", "/", document={})
    with pytest.raises(SiteRefused):
        await discover("https://site.example", untrusted.fetcher)
    assert await Receiver("https://site.example/hook", SECRET, untrusted.fetcher).deliver("evt_1", "ping", {}) == {}
    with pytest.raises(ImageProviderUnavailable):
        await ProviderApi("Provider", "https://provider.example", {}, remember=60).get(untrusted.plugin, "/", {})


@pytest.mark.parametrize("name", ["deep", "digits", "half", "not a number"])
async def test_no_response_of_analytics_is_parsed_in_the_server_itself(name: str) -> None:
    with pytest.raises(BackendError, match="not JSON"):
        await requesting.ask(CannedFetcher(HOSTILE[name]()).fetcher, "Analytics", "GET", "https://a.example/")


def test_many_values_cost_no_more_than_counting_them() -> None:
    text = json.dumps({"content": "a" * (16 * MIB)}).encode()

    def seconds(content: bytes) -> float:
        started = time.process_time()
        with suppress(UnreadableJson):
            read_json(content)
        return time.process_time() - started

    assert seconds(HOSTILE["many lists"]()) < 5 * max(seconds(text), 0.02)


def test_honest_responses_are_read() -> None:
    words = 'Some "words", with commas: and \\ colons. ' * 5_000
    posts = [{"id": index, "content": {"rendered": f"<p>{words}</p>"}, "tags": list(range(20))} for index in range(50)]
    assert read_json(json.dumps(posts).encode()) == posts
    assert read_json('{"title": "Über \\ud83d\\ude00"}'.encode("utf-16")) == {"title": "Über 😀"}


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), 1e999, float("nan"), "1e999", "9" * 19, True, None, [], {}, "²", "-0"]
)
def test_no_number_breaks_the_figures(value: Any) -> None:
    assert 0 <= requesting.number(value) <= 2**31
    assert (fraction(value) or 0) <= 2**53
    assert 0 <= number(value) < 2**31


@pytest.mark.parametrize(
    "date",
    [
        "Mon, 20 Nov 99999999999999999999 08:00:00 GMT",
        "Mon, 20 Nov 2026 08:00:00 +99999999999999999999",
        "Mon, 20 Nov 2026 08:00:00 -0000",
        "²" * 1000,
        "1" * 30_000,
        "Mon, " * 6_000,
    ],
)
async def test_no_date_from_a_site_breaks_a_request(date: str) -> None:
    untrusted = CannedFetcher(b"{}", {"retry-after": date}, 429)
    with pytest.raises(SearchLimited) as limited:
        await requesting.ask(untrusted.fetcher, "Analytics", "GET", "https://a.example/")
    assert 1 <= limited.value.retry_after <= 86_400
    discovered = await discover("https://site.example", CannedFetcher(b'{"namespaces": []}', {"date": date}).fetcher)
    assert discovered.skew == 0.0


@pytest.mark.parametrize("row", [{}, {"id": None}, {"id": 1, "tag_list": 5}, {"id": 1, "tag_list": {"a": 1}}])
def test_rows_that_are_not_posts_do_not_break_reading(row: dict[str, Any]) -> None:
    assert post_of(row).state == "draft"


def _photo(location: str) -> bytes:
    return json.dumps(
        {
            "id": "x",
            "urls": {"regular": "https://images.unsplash.com/x"},
            "links": {"download_location": location, "html": "https://unsplash.com/x"},
        }
    ).encode()


@pytest.mark.parametrize(
    ("location", "pinged"),
    [
        ("https://api.unsplash.com/photos/x/download?ixid=1", True),
        ("https://evil.example/photos/x/download", False),
        ("https://api.unsplash.com.evil.example/photos", False),
        ("https://api.unsplash.com@evil.example/photos", False),
        ("http://api.unsplash.com/photos/x/download", False),
        ("https://API.unsplash.com/photos/x/download", False),
        ("//evil.example/", False),
        ("", False),
    ],
)
async def test_the_providers_response_does_not_choose_who_gets_the_key(location: str, pinged: bool) -> None:
    untrusted = CannedFetcher(_photo(location))
    source = unsplash.source(ImagesConfig(), "KEY")
    photo = await source.get(untrusted.plugin, "x")
    assert source.used is not None
    await source.used(untrusted.plugin, photo)
    urls = [url for url, _ in untrusted.sent]
    assert (location in urls) is pinged
    assert all(url.startswith("https://api.unsplash.com/") for url in urls)


async def test_large_responses_of_providers_are_not_kept_in_memory() -> None:
    api = ProviderApi("Provider", "https://provider.example", {}, remember=600)
    untrusted = CannedFetcher(json.dumps({"results": ["a" * MIB]}).encode())
    tracemalloc.start()
    try:
        for page in range(30):
            await api.get(untrusted.plugin, "/", {"page": page})
        memory, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert memory < 5 * MIB
    small = CannedFetcher(b'{"results": []}')
    for _ in range(2):
        await api.get(small.plugin, "/", {"query": ImageQuery("tea").text})
    assert len(small.sent) == 1


def _attributes(size: int) -> Iterator[bytes]:
    yield b"<urlset "
    for index in range(size // 12):
        yield b'a%d=">" ' % index
    yield b"></urlset>"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"".join(_attributes(2 * MIB)), "more than 65536 bytes"),
        (b"<urlset><a " + b"a" * 2 * MIB, "more than 65536 bytes"),
        (b"<urlset>" + b"<a>" * 100_000, "nested too deep"),
        (b'<!DOCTYPE u [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><urlset>&c;</urlset>', "document type"),
        (b'<!DOCTYPE u SYSTEM "http://127.0.0.1/x.dtd"><urlset/>', "document type"),
        (b'<?xml version="1.0" encoding="punycode"?><urlset/>', ""),
    ],
)
def test_no_sitemap_delays_the_server(content: bytes, problem: str) -> None:
    started = time.process_time()
    sitemap = read_sitemap("https://site.example/sitemap.xml", content)
    assert problem in sitemap.problem
    assert sitemap.problem
    assert time.process_time() - started < 2


def test_an_ordinary_sitemap_is_read() -> None:
    rows = b"".join(b"<url><loc>https://site.example/%d</loc></url>\n" % index for index in range(20_000))
    assert len(read_sitemap("https://site.example/sitemap.xml", b"<urlset>" + rows + b"</urlset>").entries) == 20_000


@pytest.mark.parametrize(
    ("part", "count", "seconds", "problem"),
    [
        # All elements are open within the last one. A busy machine may take longer than usual to detect that.
        ("<p><b id=%d></p>", 25_000, 100.0, "its HTML is nested too deep to be read"),
        (" a%d=1", 100_000, None, "The page took longer than 5 s to process;"),  # compared with all previous ones
    ],
)
async def test_a_live_page_that_keeps_a_parser_busy_is_parsed_in_another_process(
    part: str, count: int, seconds: float | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seconds is not None:
        monkeypatch.setattr(verifying, "_READ_SECONDS", seconds)
    page = f"<p{''.join(part % index for index in range(count))}>".encode()
    workers = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0))
    services = SimpleNamespace(fetcher=CannedFetcher(page, media_type="text/html"), workers=workers, database=None)
    # With https, the page's host could be the domain of a built-in site, which would need the database.
    plugin = SimpleNamespace(base_url="http://press.example", services=services)
    try:
        verification = await verify(cast("PluginContext", plugin), ExpectedPage("https://site.example/post", "A title"))
    finally:
        await workers.close()
    assert verification.facts["http_status"] == 200
    [warning] = verification.warnings
    assert warning.startswith(f"the page could not be checked: {problem}")
