"""Site checks: the good site passes each, and a site with the fault fails it. All sites are really crawled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pressroom_seo.crawler.frontier import Limits
from pressroom_seo.crawler.http_client import Politeness
from pressroom_seo.site_checks.report import OF_SITES
from support.origins import Visit

from .sites import DEAF, Handler, Reply, World, crawl, good_site, page, plain, redirect, sitemap

Pages = dict[str, Reply | Handler]
Change = Callable[[Pages], None]

PATHS = ("/", "/bees", "/wood", "/clay")


def home(*links: str, **change: Any) -> Pages:
    """Return a home page with additional links."""
    return {"/": page("/", *PATHS, *links, **change)}


def listed(*paths: str) -> Pages:
    return {"/sitemap.xml": sitemap(*PATHS, *paths)}


def with_pages(*pages: Mapping[str, Reply | Handler]) -> Change:
    def change(site: Pages) -> None:
        for overlay in pages:
            site.update(overlay)

    return change


def gone(path: str) -> Change:
    def change(site: Pages) -> None:
        del site[path]

    return change


def robots(text: str) -> Pages:
    return {"/robots.txt": plain(text)}


def canonical(path: str, to: str) -> Pages:
    change = {f'<link rel="canonical" href="{{origin}}{path}">': f'<link rel="canonical" href="{{origin}}{to}">'}
    return {path: page(path, *PATHS, replace=change)}


def alternates(path: str, **languages: str) -> Pages:
    links = "".join(
        f'<link rel="alternate" hreflang="{language}" href="{{origin}}{to}">' for language, to in languages.items()
    )
    default = f'<link rel="alternate" hreflang="x-default" href="{{origin}}{path}">'
    return {path: page(path, *PATHS, head=links + default)}


def twin(path: str, **same: str) -> Pages:
    """Return a page that shares some parts with `/bees`."""
    bees = page("/bees").body
    body = page(path).body
    assert isinstance(bees, str)
    assert isinstance(body, str)
    between = {
        "title": ("<title>", "</title>"),
        "description": ('name="description" content="', '"'),
        "h1": ("<h1>", "</h1>"),
        "main": ("<main>", "</main>"),
    }
    changes = {}
    for part in same:
        begin, end = between[part]
        changes[body.partition(begin)[2].partition(end)[0]] = bees.partition(begin)[2].partition(end)[0]
    return {path: page(path, *PATHS, replace=changes)}


def similar(path: str) -> Pages:
    """Return a page that differs from `/bees` in one word."""
    first = page("/bees").body
    assert isinstance(first, str)
    main = first.partition("<main>")[2].partition("</main>")[0]
    body = page(path).body
    assert isinstance(body, str)
    words = main.replace("</p>", " zebra</p>", 1)
    return {path: page(path, *PATHS, replace={body.partition("<main>")[2].partition("</main>")[0]: words})}


NOINDEX = '<meta name="robots" content="noindex">'
MANY = [f"/list?page={number}" for number in range(8)]

FAULTS: dict[str, Change] = {
    "redirect_chain": with_pages(home("/a"), {"/a": redirect("/b"), "/b": redirect("/bees")}),
    "redirect_loop": with_pages(home("/a"), {"/a": redirect("/b"), "/b": redirect("/a")}),
    "redirect_to_error": with_pages(home("/a"), {"/a": redirect("/nothing")}),
    "broken_link": with_pages(home("/nothing")),
    "broken_external_link": with_pages(home(f"https://other.example.net:{DEAF}/")),
    "link_to_redirect": with_pages(home("/a"), {"/a": redirect("/bees")}),
    "orphan_page": with_pages(listed("/alone"), {"/alone": page("/alone", *PATHS)}),
    "page_too_deep": with_pages(
        home("/d1"),
        *({f"/d{at}": page(f"/d{at}", "/", f"/d{at + 1}")} for at in range(1, 5)),
        {"/d5": page("/d5", "/")},
        listed("/d1", "/d2", "/d3", "/d4", "/d5"),
    ),
    "linked_but_blocked": with_pages(home("/private/a")),
    "image_broken": gone("/image.png"),
    "image_heavy": with_pages(
        {"/image.png": Reply(b"\x89PNG" + bytes(200_000), headers={"Content-Type": "image/png"}, zipped=False)}
    ),
    "title_duplicate": with_pages(home("/x"), listed("/x"), twin("/x", title="")),
    "description_duplicate": with_pages(home("/x"), listed("/x"), twin("/x", description="")),
    "h1_duplicate": with_pages(home("/x"), listed("/x"), twin("/x", h1="")),
    "content_duplicate": with_pages(home("/x"), listed("/x"), twin("/x", main="")),
    "content_similar": with_pages(home("/x"), listed("/x"), similar("/x")),
    "slash_variants": with_pages(
        home("/bees/"), listed("/bees/"), {"/bees/": page("/bees/", *PATHS, replace={"story": "telling"})}
    ),
    "hreflang_no_return": with_pages(
        home("/de"), listed("/de"), alternates("/bees", en="/bees", de="/de"), {"/de": page("/de", *PATHS)}
    ),
    "hreflang_target": with_pages(
        home("/de"), alternates("/bees", en="/bees", de="/de"), {"/de": plain("", status="404 Not Found")}
    ),
    "canonical_to_redirect": with_pages(home("/a"), canonical("/bees", "/a"), {"/a": redirect("/wood")}),
    "canonical_to_error": with_pages(home("/a"), canonical("/bees", "/a")),
    "canonical_to_noindex": with_pages(home("/a"), canonical("/bees", "/a"), {"/a": page("/a", *PATHS, head=NOINDEX)}),
    "canonical_chain": with_pages(canonical("/bees", "/wood"), canonical("/wood", "/clay")),
    "sitemap_missing": with_pages(
        robots("User-agent: *\nDisallow: /private/\n"), {"/sitemap.xml": plain("", status="404 Not Found")}
    ),
    "sitemap_invalid": with_pages({"/sitemap.xml": plain("<urlset><url><loc>{origin}/</loc></url>", "text/xml")}),
    "sitemap_url_unreadable": with_pages(listed("https://[")),
    "sitemap_too_large": with_pages(
        {"/sitemap.xml": sitemap(*PATHS, *(f"/more-{number}" for number in range(200)))},
    ),
    "sitemap_not_in_robots": with_pages(robots("User-agent: *\nDisallow: /private/\n")),
    "sitemap_other_site": with_pages(listed("https://other.example.net/")),
    "sitemap_dates": with_pages({"/sitemap.xml": sitemap(*PATHS, lastmod="2031-01-01")}),
    "sitemap_error": with_pages(listed("/nothing")),
    "sitemap_redirect": with_pages(listed("/a"), {"/a": redirect("/bees")}),
    "sitemap_noindex": with_pages({"/bees": page("/bees", *PATHS, head=NOINDEX)}),
    "sitemap_not_canonical": with_pages(canonical("/bees", "/wood")),
    "sitemap_blocked": with_pages(listed("/private/a")),
    "not_in_sitemap": with_pages(home("/x"), {"/x": page("/x", *PATHS)}),
    "home_unreachable": with_pages({"/": plain("", status="500 Internal Server Error")}),
    "home_noindex": with_pages(home(head=NOINDEX)),
    "robots_txt_missing": gone("/robots.txt"),
    "robots_txt_failing": with_pages({"/robots.txt": plain("", status="500 Internal Server Error")}),
    "robots_txt_invalid": with_pages(robots("User-agent: *\nNo entry: /private/\nSitemap: {origin}/sitemap.xml\n")),
    "robots_txt_too_large": with_pages(robots("Sitemap: {origin}/sitemap.xml\n" + "# more\n" * 80_000)),
    "robots_blocks_site": with_pages(robots("User-agent: Googlebot\nDisallow: /\nSitemap: {origin}/sitemap.xml\n")),
    "crawl_delay_too_long": with_pages(
        robots("User-agent: *\nCrawl-delay: 3600\nSitemap: {origin}/sitemap.xml\n"),
    ),
    "missing_page_found": with_pages({"*": plain("Welcome", "text/plain")}),
    "http_not_redirected": with_pages(),
    "host_variants": with_pages(),
    "llms_txt_missing": gone("/llms.txt"),
    "llms_txt_invalid": with_pages({"/llms.txt": plain("Example\n", "text/plain")}),
    "llms_txt_link_broken": with_pages(
        home("/nothing"), {"/llms.txt": plain("# E\n\n## P\n\n- [N]({origin}/nothing)\n", "text/plain")}
    ),
    "crawl_trap": with_pages(home("/a/a/a/a/a")),
    "query_explosion": with_pages(home(*MANY), {path: page(path, *PATHS) for path in MANY}),
}

ELSEWHERE = {"http_not_redirected", "host_variants"}
"""These need another server or a site on port 443; they are tested separately."""


def test_every_check_has_a_fault_here() -> None:
    assert set(FAULTS) == {check.id for check in OF_SITES}


@pytest.mark.parametrize("check_id", sorted(FAULTS.keys() - ELSEWHERE))
async def test_a_site_with_the_fault_is_reported(world: World, check_id: str) -> None:
    pages = good_site()
    FAULTS[check_id](pages)
    polite = check_id == "crawl_delay_too_long"
    async with world.site(pages) as site:
        crawled = await crawl(
            world,
            site,
            politeness=Politeness(interval=0) if polite else Politeness.own_site(),
            elsewhere=Politeness(interval=0),
            limits=Limits(60, queries=5),
            max_pages=60,
            max_bytes=10_000 if check_id == "sitemap_too_large" else 1_000_000,
        )
    assert check_id in crawled.found()
    assert crawled.evidence(check_id)


ALONE = {
    "link_to_redirect",
    "orphan_page",
    "image_broken",
    "title_duplicate",
    "robots_txt_missing",
    "sitemap_dates",
    "llms_txt_missing",
    "not_in_sitemap",
    "broken_external_link",
}


@pytest.mark.parametrize("check_id", sorted(ALONE))
async def test_one_fault_is_one_issue(world: World, check_id: str) -> None:
    pages = good_site()
    FAULTS[check_id](pages)
    async with world.site(pages) as site:
        crawled = await crawl(world, site, elsewhere=Politeness(interval=0))
    assert crawled.found() == {check_id}


async def test_plain_http_must_redirect(world: World) -> None:
    async with (
        world.site(good_site()) as site,
        world.site({"/": plain("hello")}, secure=False) as insecure,
        world.site({"/": redirect(site.url())}, secure=False) as closed,
    ):
        crawled = await crawl(world, site, others=(insecure,), plain_url=insecure.url())
        assert crawled.found() == {"http_not_redirected"}
        assert (await crawl(world, site, others=(closed,), plain_url=closed.url())).found() == set()


async def test_evidence_names_the_page_that_links(world: World) -> None:
    pages = good_site()
    FAULTS["broken_link"](pages)
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
        assert crawled.urls("broken_link") == [site.url()]
        assert crawled.evidence("broken_link") == [{"link": site.url("/nothing"), "status": 404}]


async def test_a_canonical_url_without_links_is_fetched(world: World) -> None:
    async with world.site(good_site() | canonical("/bees", "/nowhere")) as site:
        crawled = await crawl(world, site)
    assert "canonical_to_error" in crawled.found()
    assert "orphan_page" not in crawled.found()


async def test_a_page_with_parameters_repeats_the_languages_of_its_canonical_page(world: World) -> None:
    own = '<link rel="alternate" hreflang="{}" href="{{origin}}{}">'
    head = own.format("en", "/bees") + own.format("de", "/de") + own.format("x-default", "/bees")
    canonical = '<link rel="canonical" href="{origin}/bees?sort=up">'
    pages = {
        **good_site(),
        **home("/de", "/bees?sort=up"),
        **listed("/de"),
        "/bees": page("/bees", *PATHS, head=head),
        "/bees?sort=up": page(
            "/bees?sort=up", *PATHS, head=head, replace={canonical: canonical.replace("?sort=up", "")}
        ),
        "/de": page("/de", *PATHS, head=head),
    }
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    assert not {"hreflang_no_return", "hreflang_no_self", "hreflang_target"} & crawled.found()


@pytest.mark.parametrize(("path", "dead"), [("/there", False), ("/nowhere", True)])
async def test_a_canonical_url_on_another_site_is_fetched(world: World, path: str, dead: bool) -> None:
    async with world.site({"/there": plain("Bees"), "/robots.txt": plain("")}) as other:
        canonical = '<link rel="canonical" href="{origin}/bees">'
        copy = page("/bees", *PATHS, replace={canonical: f'<link rel="canonical" href="{other.url(path)}">'})
        async with world.site({**good_site(), "/bees": copy}) as site:
            crawled = await crawl(world, site, others=(other,), elsewhere=Politeness(interval=0))
            url = site.url("/bees")
    assert crawled.urls("canonical_to_error") == ([url] if dead else [])
    assert "broken_external_link" not in crawled.found()


async def test_the_target_of_a_meta_refresh_is_not_an_orphan(world: World) -> None:
    moved = page("/moved", head='<meta http-equiv="refresh" content="0; url=/alone">')
    pages = {**good_site(), **home("/moved"), **listed("/alone"), "/moved": moved, "/alone": page("/alone", *PATHS)}
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
        assert crawled.report.index.depths[site.url("/alone")] == 1
    assert "meta_refresh" in crawled.found()
    assert "orphan_page" not in crawled.found()


async def test_an_incomplete_crawl_reports_no_orphans(world: World) -> None:
    pages = good_site()
    FAULTS["orphan_page"](pages)
    async with world.site(pages) as site:
        crawled = await crawl(world, site, max_pages=4)
    assert not crawled.facts.complete
    assert "orphan_page" not in crawled.found()


async def test_a_damaged_sitemap_does_not_count_against_the_pages(world: World) -> None:
    pages = good_site()
    FAULTS["sitemap_invalid"](pages)
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    assert crawled.found() == {"sitemap_invalid"}


def index_of(path: str) -> Reply:
    return plain(f"<sitemapindex><sitemap><loc>{path}</loc></sitemap></sitemapindex>", "application/xml")


UNREAD: dict[str, Mapping[str, Reply | Handler]] = {
    "missing": {},
    "failing": {"/more.xml": plain("", status="500 Internal Server Error")},
    "redirected to nothing": {"/more.xml": redirect("/nothing.xml")},
    "disallowed": {"/more.xml": redirect("/private/more.xml"), "/private/more.xml": sitemap("/x")},
    "too deep": {
        "/more.xml": index_of("/1.xml"),
        **{f"/{at}.xml": index_of(f"/{at + 1}.xml") for at in range(1, 4)},
        "/4.xml": sitemap("/x"),
    },
}


@pytest.mark.parametrize("kind", UNREAD)
async def test_an_unread_sitemap_does_not_count_against_the_pages(world: World, kind: str) -> None:
    rules = "User-agent: *\nDisallow: /private/\nSitemap: {origin}/sitemap.xml\nSitemap: {origin}/more.xml\n"
    pages = {**good_site(), **home("/x"), "/x": page("/x", *PATHS), **robots(rules), **UNREAD[kind]}
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    assert "/x" in crawled.pages
    assert "not_in_sitemap" not in crawled.found()


@pytest.mark.parametrize("written", ["{origin}/nothing.xml", "{origin}/a/../nothing.xml", "/nothing.xml"])
async def test_a_sitemap_of_robots_txt_that_is_missing_is_reported(world: World, written: str) -> None:
    pages = {**good_site(), **robots(f"User-agent: *\nSitemap: {written}\nSitemap: {{origin}}/sitemap.xml\n")}
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
        assert crawled.urls("sitemap_invalid") == [site.url("/nothing.xml")]
    assert crawled.evidence("sitemap_invalid") == [{"status": 404}]


async def test_orphans_and_deep_pages_are_listed_with_their_figures(world: World) -> None:
    pages = good_site()
    FAULTS["page_too_deep"](pages)
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    index = crawled.report.index
    assert index.depths[site.url("/d5")] == 5
    assert index.inlinks(site.url("/d5")) == 1
    assert crawled.pages["/d5"].depth == 5


async def test_redirects_are_listed_with_their_targets(world: World) -> None:
    pages = {
        **good_site(),
        **home("/a", "/c", "/e"),
        "/a": redirect("/b"),
        "/b": redirect("/bees", "302 Found"),
        "/c": redirect("/nothing"),
        "/e": redirect("/e"),
    }
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
        paths = {path.source.removeprefix(site.origin): path for path in crawled.report.index.redirects()}
        assert paths["/a"].hops == (site.url("/b"), site.url("/bees"))
        assert (paths["/a"].status, paths["/a"].end_status, paths["/a"].dead) == (301, 200, False)
        assert paths["/c"].dead
        assert paths["/e"].loop


async def test_a_first_page_that_redirects_to_another_site_is_not_followed(world: World) -> None:
    async def never(_visit: Visit) -> None:
        raise AssertionError("it was asked for")

    async with world.site({"*": never}) as other:
        pages = {**good_site(), "/": redirect(other.url())}
        other_site = other.url()
        async with world.site(pages) as site:
            crawled = await crawl(world, site)
        assert "home_unreachable" in crawled.found()
        assert crawled.evidence("home_unreachable") == [{"to": other_site}]
        assert not other.seen
