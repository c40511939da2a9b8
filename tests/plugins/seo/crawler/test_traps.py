"""Crawler traps: sites with endless URLs or bytes, or with false headers. The crawl ends and reports why."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from datetime import date, timedelta

import pytest
from pressroom_seo.crawler.frontier import Limits
from support.origins import Visit

from .sites import HTML, Handler, Reply, World, crawl, good_site, page, plain, redirect


def home(*links: str) -> dict[str, Reply | Handler]:
    return {**good_site(), "/": page("/", "/bees", "/wood", "/clay", *links)}


def zipped(content: bytes) -> Reply:
    return Reply(content, headers={"Content-Type": HTML, "Content-Encoding": "gzip"}, zipped=False)


async def calendar(visit: Visit) -> None:
    """Respond with a calendar page of a month, and links to others between a month and ten years away."""
    if not visit.target.startswith("/calendar/"):
        await visit.respond(b"", status="404 Not Found")
        return
    year, month = (int(part) for part in visit.target.split("/")[2:4])
    day = date(max(1000, min(9000, year)), month, 15)
    links = [day + timedelta(days=days) for days in (-3653, -365, -31, 31, 365, 3653)]
    anchors = "".join(f"<a href='/calendar/{month.year}/{month.month}'>{month:%B %Y}</a>" for month in links)
    html = f"<title>{day:%B %Y}</title><h1>{day:%B %Y}</h1>{anchors}{'<td>1</td>' * 30}"
    await visit.respond(html.encode(), f"Content-Type: {HTML}")


async def test_an_endless_calendar(world: World) -> None:
    async with world.site({**home("/calendar/2026/11"), "*": calendar}) as site:
        crawled = await crawl(world, site, max_pages=2000)
    months = [path for path in crawled.pages if path.startswith("/calendar/")]
    assert 40 <= len(months) < 200
    assert {"/bees", "/wood", "/clay"} <= crawled.pages.keys()
    assert "crawl_trap" in crawled.found()
    assert crawled.evidence("crawl_trap")[0]["reason"] == "alike"


async def test_numbered_pages_that_differ_are_all_crawled(world: World) -> None:
    paths = [f"/story/{number}" for number in range(120)]
    async with world.site({**home(*paths), **{path: page(path, "/") for path in paths}}) as site:
        crawled = await crawl(world, site)
    assert crawled.pages.keys() >= set(paths)
    assert "crawl_trap" not in crawled.found()


async def test_relative_links_that_grow(world: World) -> None:
    async def growing(visit: Visit) -> None:
        html = f"<title>{visit.target}</title><a href='next/'>further</a> {visit.target}"
        await visit.respond(html.encode(), f"Content-Type: {HTML}")

    async with world.site({**home("/grow/"), "*": growing}) as site:
        crawled = await crawl(world, site, max_pages=500)
    assert crawled.facts.pages < 20
    assert "crawl_trap" in crawled.found()


async def test_combinations_of_filters(world: World) -> None:
    async def shop(visit: Visit) -> None:
        query = visit.target.partition("?")[2]
        links = "".join(f"<a href='/shop?{query}&f{n}={n}'>filter {n}</a>" for n in range(20))
        await visit.respond(f"<title>{query}</title>{links} {query}".encode(), f"Content-Type: {HTML}")

    async with world.site({**home("/shop?a=1"), "*": shop}) as site:
        crawled = await crawl(world, site, max_pages=1000, limits=Limits(1000, queries=50))
    assert len([path for path in crawled.pages if path.startswith("/shop")]) <= 51
    assert "query_explosion" in crawled.found()


async def test_an_endless_redirect(world: World) -> None:
    async def further(visit: Visit) -> None:
        if visit.target.startswith("/go/"):
            at = int(visit.target.rpartition("/")[2])
            await visit.respond(b"", f"Location: /go/{at + 1}", status="302 Found")
        else:
            await visit.respond(b"", status="404 Not Found")

    async with world.site({**home("/go/1", "/loop"), "/loop": redirect("/loop"), "*": further}) as site:
        crawled = await crawl(world, site, max_pages=60)
    assert {"redirect_loop", "redirect_chain"} <= crawled.found()
    assert crawled.facts.pages == 60
    assert not crawled.facts.complete


async def test_a_redirect_with_non_ascii_letters(world: World) -> None:
    async def to_coffee(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 301 Moved\r\nLocation: /caf\xc3\xa9\r\nContent-Length: 0\r\n\r\n")

    async with world.site({**home("/coffee"), "/coffee": to_coffee, "/caf%C3%A9": page("/caf%C3%A9", "/")}) as site:
        crawled = await crawl(world, site)
    assert crawled.pages["/caf%C3%A9"].status == 200


async def test_an_endless_body_is_cut(world: World) -> None:
    async def endless(visit: Visit) -> None:
        await visit.send(f"HTTP/1.1 200 OK\r\nContent-Type: {HTML}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        while True:
            await visit.send(b"400\r\n" + b"<p>more</p>" * 93 + b" \r\n")

    async with world.site({**home("/endless"), "/endless": endless}) as site:
        crawled = await crawl(world, site, max_bytes=100_000)
    record = crawled.pages["/endless"]
    assert not record.whole
    assert record.size == 100_000
    assert "content_cut" in crawled.found()


async def test_a_response_that_drips_is_abandoned(world: World) -> None:
    async def dripping(visit: Visit) -> None:
        await visit.send(f"HTTP/1.1 200 OK\r\nContent-Type: {HTML}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        while True:
            await visit.send(b"1\r\nx\r\n")
            await asyncio.sleep(0.05)

    async with world.site({**home("/drip"), "/drip": dripping}) as site:
        crawled = await crawl(world, site, seconds=2.0)
    assert crawled.pages["/drip"].failure == "failed"
    assert crawled.pages["/bees"].status == 200
    assert "no_answer" in crawled.found()


async def test_a_gzip_bomb_is_not_unpacked_completely(world: World) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    async with world.site({**home("/bomb"), "/bomb": zipped(bomb)}) as site:
        crawled = await crawl(world, site, max_bytes=1_000_000)
    record = crawled.pages["/bomb"]
    assert (record.size, record.whole, record.transferred) == (1_000_000, False, len(bomb))


async def test_a_bomb_in_a_bomb(world: World) -> None:
    twice = gzip.compress(gzip.compress(bytes(50_000_000)))
    reply = zipped(twice)
    reply.headers["Content-Encoding"] = "gzip, gzip"
    async with world.site({**home("/bomb"), "/bomb": reply}) as site:
        crawled = await crawl(world, site, max_bytes=1_000_000)
    assert crawled.pages["/bomb"].size <= 1_000_000


@pytest.mark.parametrize(
    ("content", "coding"),
    [(b"\x1f\x8bnonsense", "gzip"), (b"plain", "gzip"), (b"x", "br"), (b"x", "gzip, gzip, gzip")],
)
async def test_content_with_a_wrong_type(world: World, content: bytes, coding: str) -> None:
    reply = Reply(content, headers={"Content-Type": HTML, "Content-Encoding": coding}, zipped=False)
    async with world.site({**home("/odd"), "/odd": reply}) as site:
        crawled = await crawl(world, site)
    assert "content_damaged" in crawled.found()
    assert crawled.pages["/bees"].status == 200


async def test_deflate_with_and_without_its_wrapper(world: World) -> None:
    html = b"<title>Deflated</title>" + b"word " * 200
    squeezer = zlib.compressobj(wbits=-15)
    forms = {"/zlib": zlib.compress(html), "/raw": squeezer.compress(html) + squeezer.flush()}
    replies = {
        path: Reply(content, headers={"Content-Type": HTML, "Content-Encoding": "deflate"}, zipped=False)
        for path, content in forms.items()
    }
    async with world.site({**home(*forms), **replies}) as site:
        crawled = await crawl(world, site)
    for path in forms:
        facts = crawled.pages[path].page
        assert facts is not None
        assert facts.titles == ("Deflated",)


@pytest.mark.parametrize(
    ("content_type", "content", "title", "encoding"),
    [
        ("text/html; charset=iso-8859-1", "<title>Café</title>".encode("latin-1"), "Café", "windows-1252"),
        ("text/html; charset=utf-8", "<title>Café</title>".encode("latin-1"), "Caf\ufffd", "utf-8"),
        ("text/html; charset=nonsense", "<title>Café</title>".encode(), "Café", "utf-8"),
        ("text/html", '<meta charset="shift_jis"><title>日本</title>'.encode("shift_jis"), "日本", "shift_jis"),
        ("text/html; charset=koi8-r", "\ufeff<title>Мир</title>".encode("utf-16"), "Мир", "utf-16le"),
        ("text/html", "<title>Café</title>".encode("latin-1"), "Café", "windows-1252"),
        ("text/html; charset=iso-2022-kr", b"<title>x</title>", "", "replacement"),
        ("text/html", bytes(range(256)) * 40, "", "windows-1252"),
    ],
)
async def test_charsets_right_and_wrong(
    world: World, content_type: str, content: bytes, title: str, encoding: str
) -> None:
    odd = Reply(content, headers={"Content-Type": content_type}, zipped=False)
    async with world.site({**home("/odd"), "/odd": odd}) as site:
        crawled = await crawl(world, site)
    facts = crawled.pages["/odd"].page
    assert facts is not None
    assert ("".join(facts.titles), facts.encoding) == (title, encoding)


async def test_responses_that_are_not_http(world: World) -> None:
    async def noise(visit: Visit) -> None:
        await visit.send(b"SSH-2.0-OpenSSH_9.2\r\n")

    async def short(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")

    async with world.site({**home("/noise", "/short"), "/noise": noise, "/short": short}) as site:
        crawled = await crawl(world, site)
    assert crawled.pages["/noise"].failure == crawled.pages["/short"].failure == "failed"
    assert site.seen.count("/noise") == 2, "a connection that fails is tried once more"


async def test_redirects_into_private_networks_are_refused(world: World) -> None:
    pages = {
        **home("/meta", "/local", "/port"),
        "/meta": redirect("http://169.254.169.254/latest/meta-data/"),
        "/local": redirect("https://www.example.org:22/"),
        "/port": redirect("http://[::1]:6379/"),
        "/": page("/", "/bees", "/meta", "/local", "/port", "http://10.0.0.1/admin", "https://localhost/"),
    }
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    records = [record for record in crawled.links.values() if not record.image and record.url.startswith("http:")]
    assert [record.failure for record in records] == ["refused"]
    assert all(record.status == 0 for record in records)
    assert "link_private" in crawled.found()


HOSTILE = {
    "nested": "<div>" * 50_000,
    "formatting": "".join(f"<p><font size={n}>" for n in range(30_000)),
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">",
    "hidden attributes": "<p " + " ".join(f'a{n}=">"' for n in range(50_000)) + ">",
    "unclosed": "<a href='" * 5000,
    "comment": "<!--" * 50_000,
    "comments": "<!---->" * 50_000,
    "nul": "\0" * 100_000,
    "script": "<script type='application/ld+json'>" + "[" * 100_000,
    "links": "<a href=/x>x</a>" * 6000,
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_hostile_html_is_parsed_within_bounds(world: World, kind: str) -> None:
    reply = Reply(HOSTILE[kind] + "<title>Odd</title>", headers={"Content-Type": HTML})
    async with world.site({**home("/odd"), "/odd": reply}) as site:
        crawled = await crawl(world, site)
    facts = crawled.pages["/odd"].page
    assert facts is not None
    assert len(facts.links) <= 1000
    assert facts.elements < 40_000


async def test_hostile_sitemaps(world: World) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE urlset [<!ENTITY e0 "ha">{entities}]><urlset><url><loc>&e11;</loc></url></urlset>'
    outside = '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url></urlset>'
    maps = ("/bomb.xml", "/outside.xml", "/deep.xml", "/circle.xml", "/zip.xml.gz", "/none.xml")
    lines = "".join(f"Sitemap: {{origin}}{path}\n" for path in maps)
    pages: dict[str, Reply | Handler] = {
        **good_site(),
        "/robots.txt": plain(f"User-agent: *\nDisallow:\n{lines}"),
        "/bomb.xml": plain(bomb, "application/xml"),
        "/outside.xml": plain(outside, "application/xml"),
        "/deep.xml": plain("<urlset>" + "<a>" * 100_000, "application/xml"),
        "/circle.xml": plain(
            "<sitemapindex><sitemap><loc>/circle.xml</loc></sitemap><sitemap><loc>/sitemap.xml</loc></sitemap>"
            "</sitemapindex>",
            "application/xml",
        ),
        "/zip.xml.gz": Reply(gzip.compress(bytes(60_000_000)), headers={"Content-Type": "application/gzip"}),
        "/none.xml": plain("", status="404 Not Found"),
    }
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
        problems = {sitemap.url.removeprefix(site.origin): sitemap for sitemap in crawled.facts.sitemaps}
    assert problems.keys() == {*maps, "/sitemap.xml"}
    assert all(problems[path].problem for path in ("/bomb.xml", "/outside.xml", "/deep.xml", "/zip.xml.gz"))
    assert len(crawled.facts.listed) == 4
    assert site.seen.count("/circle.xml") == 1
