"""The engine's other functions: one live page, links, llms.txt, the score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_seo.crawler.http_client import Politeness, Visitor
from pressroom_seo.crawler.links import LinkChecker, check_links
from pressroom_seo.crawler.survey import Probe
from pressroom_seo.site_checks.llms_txt import check_llms_txt
from pressroom_seo.site_checks.model import CAPS, SEVERITIES, Severity, health, score
from pressroom_seo.site_checks.report import CRAWL_CHECKS, OF_SITES, check_page
from pressroom_seo.urls import SiteScope as Scope
from support.origins import Visit

from .sites import DEAF, NAME, TestClock, World, crawl, good_site, page, plain, redirect

FAST = Politeness(interval=0)


async def test_one_live_page(world: World) -> None:
    pages = {**good_site(), "/old": redirect("/older", "302 Found"), "/older": redirect("/bees")}
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        report = await check_page(Visitor(fetcher, FAST), site.url("/old"))
        assert report.redirects == ((site.url("/old"), 302), (site.url("/older"), 301))
        assert (report.record.url, report.record.status) == (site.url("/bees"), 200)
    assert {result.status for result in report.results if result.check.id != "slow_answer"} == {"passed"}
    assert report.score >= 95
    assert report.record.page is not None
    assert report.record.size > report.record.transferred > 0


async def test_one_page_with_faults(world: World) -> None:
    faulty = page("/bees", "/", replace={"<h1>The bees</h1>": "", ' lang="en"': ""})
    async with world.site({**good_site(), "/bees": faulty}) as site, world.fetcher(site) as fetcher:
        report = await check_page(Visitor(fetcher, FAST), site.url("/bees"))
        image = await check_page(Visitor(fetcher, FAST), site.url("/image.png"))
        nothing = await check_page(Visitor(fetcher, FAST), f"https://{NAME}:{DEAF}/")
        refused = await check_page(Visitor(fetcher, FAST), "http://169.254.169.254/latest")
        with pytest.raises(ValueError, match="not an http or https URL"):
            await check_page(Visitor(fetcher, FAST), "file:///etc/passwd")
    failed = {result.check.id for result in report.results if result.status == "failed"} - {"slow_answer"}
    assert failed == {"h1_missing", "language_missing"}
    assert {result.status for result in image.results} == {"passed", "skipped"}
    assert [result.check.id for result in nothing.results if result.status == "failed"] == ["no_answer"]
    assert [result.check.id for result in refused.results if result.status == "failed"] == ["address_refused"]


async def test_a_page_that_cannot_be_read_scores_nothing(world: World) -> None:
    pages = {
        **good_site(),
        "/broken": plain("", status="500 Internal Server Error"),
        "/members": plain("", status="403 Forbidden"),
        "/nowhere": plain("", status="301 Moved Permanently"),
    }
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        visitor = Visitor(fetcher, FAST)
        for path in ("/gone", "/broken", "/members", "/nowhere"):
            assert (await check_page(visitor, site.url(path))).score == 0, path
        assert (await check_page(visitor, f"https://{NAME}:{DEAF}/")).score == 0
        assert (await check_page(visitor, "http://169.254.169.254/latest")).score == 0
        assert (await check_page(visitor, site.url("/image.png"))).score > 90


async def test_a_redirect_loop(world: World) -> None:
    pages = {**good_site(), "/a": redirect("/b"), "/b": redirect("/a")}
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        report = await check_page(Visitor(fetcher, FAST), site.url("/a"))
    assert (report.score, report.loop, len(report.redirects)) == (0, True, 2)


async def no_head(visit: Visit) -> None:
    if visit.head.startswith("HEAD"):
        await visit.respond(b"", status="405 Method Not Allowed")
    else:
        await visit.respond(b"here")


async def test_links_of_an_article(world: World) -> None:
    pages = {
        **good_site(),
        "/moved": redirect("/moved-again"),
        "/moved-again": redirect("/bees"),
        "/circle": redirect("/circle"),
        **{f"/far-{at}": redirect(f"/far-{at + 1}") for at in range(12)},
        "/no-head": no_head,
        "/closed": plain("", status="403 Forbidden"),
    }
    async with (
        world.site(pages) as site,
        world.site({"/": plain("hello")}, secure=False) as insecure,
        world.fetcher(site, insecure) as fetcher,
    ):
        paths = ("/bees", "/nothing", "/moved", "/circle", "/far-0", "/no-head", "/closed", "/private/a")
        links = {site.url(path): ["article"] for path in paths}
        links[f"{site.url('/bees')}#part"] = ["another"]
        links |= {insecure.url(): ["article"], f"https://{NAME}:{DEAF}/": ["article"], "mailto:me@example.org": ["x"]}
        progress: list[float] = []

        async def on_progress(fraction: float, _message: str) -> None:
            progress.append(fraction)

        checker = LinkChecker(Visitor(fetcher, FAST))
        checked = {link.url: link async for link in check_links(checker, links, progress=on_progress)}
        internal = [link.url async for link in check_links(checker, links, site=Scope.at(site.url()), external=False)]
        reports = {url.removeprefix(site.origin): link for url, link in checked.items()}
        assert reports["/moved"].location == site.url("/bees")
    assert (reports["/bees"].status, reports["/bees"].problems) == (200, ())
    assert reports["/bees"].found_in == ("article", "another")
    assert (reports["/nothing"].status, reports["/nothing"].problems) == (404, ("broken",))
    assert (reports["/moved"].status, reports["/moved"].problems) == (200, ("redirected",))
    assert "broken" in reports["/circle"].problems
    assert reports["/circle"].message == "its redirects go round in a circle"
    assert "broken" in reports["/far-0"].problems
    assert reports["/far-0"].message == "it has more than 10 redirects"
    assert (reports["/no-head"].status, reports["/no-head"].problems) == (200, ())
    assert (reports["/closed"].status, reports["/closed"].problems) == (403, ())
    assert not reports["/private/a"].checked
    assert checked[insecure.url()].problems == ("insecure",)
    assert checked[f"https://{NAME}:{DEAF}/"].problems == ("broken",)
    assert len(internal) == len(paths)
    assert progress[-1] == 1.0
    assert site.seen.count("/robots.txt") == 1


async def test_a_site_with_an_llms_txt(world: World) -> None:
    listed = ("/", "/bees", "/wood")
    pages = {
        **good_site(),
        "/llms.txt": plain("# Site\n\n> Things.\n\n## Pages\n\n- [Bees](/bees.md): of bees\n- [Wood](/wood)\n"),
        "/llms-full.txt": plain("# Site\n\nEverything.\n"),
        "/bees.md": plain("# Bees", "text/markdown"),
        "/wood.md": plain("# Wood", "text/markdown"),
    }
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        urls = [site.url(path) for path in listed]
        report = await check_llms_txt(Visitor(fetcher, FAST), Scope.at(site.url()), urls)
        assert {check.id: check.passed for check in report.checks} == {
            "llms_txt_exists": True,
            "llms_txt_parses": True,
            "llms_txt_matches_sitemap": True,
            "llms_txt_links": True,
            "llms_full_txt_exists": True,
            "markdown_twins": True,
        }
        assert (report.entries, report.missing) == (2, (site.url("/"),))
        pages["/index.html.md"] = plain("# Home", "text/markdown")
        pages["/llms.txt"] = plain("# Site\n\n## Pages\n\n- [Home](/)\n- [Bees](/bees)\n- [Wood](/wood)\n- [X](/x)\n")
        report = await check_llms_txt(Visitor(fetcher, FAST), Scope.at(site.url()), urls)
        assert [check.id for check in report.checks if not check.passed] == ["llms_txt_links"]
        assert report.missing == ()
        del pages["/wood.md"]
        report = await check_llms_txt(Visitor(fetcher, FAST), Scope.at(site.url()), urls)
        assert [check.id for check in report.checks if not check.passed] == ["llms_txt_links", "markdown_twins"]
        pages["/llms.txt"] = plain("# Site\n\n## Pages\n\n- [Shop](https://shop.example/)\n")
        report = await check_llms_txt(Visitor(fetcher, FAST), Scope.at(site.url()), urls)
        assert [check.id for check in report.checks if not check.passed] == [
            "llms_txt_matches_sitemap",
            "markdown_twins",
        ]
        assert report.missing == tuple(urls)


async def test_a_site_without_an_llms_txt(world: World) -> None:
    pages = good_site()
    pages["/llms.txt"] = page("/llms.txt")
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        report = await check_llms_txt(Visitor(fetcher, FAST), Scope.at(site.url()), [site.url()])
        assert [(check.id, check.passed) for check in report.checks] == [("llms_txt_exists", False)]
        assert report.checks[0].fix
        assert report.missing == (site.url(),)


async def test_files_for_language_models_that_robots_txt_disallows(world: World) -> None:
    pages = {
        **good_site(),
        "/robots.txt": plain("User-agent: *\nDisallow: /llms-full.txt\nDisallow: /private/\n"),
        "/llms.txt": plain("# Site\n\n## Pages\n\n- [Bees](/bees)\n- [Hidden](/private/a)\n"),
    }
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        report = await check_llms_txt(Visitor(fetcher, FAST), Scope.at(site.url()), [site.url("/bees")])
        outcomes = {check.id: (check.passed, check.message) for check in report.checks}
        assert outcomes["llms_txt_links"] == (True, f"1 links checked; robots.txt disallows {site.url('/private/a')}")
        full = f"{site.url('/llms-full.txt')} could not be read: robots.txt disallows it"
        assert outcomes["llms_full_txt_exists"] == (False, full)


async def test_two_hosts_for_one_site(world: World) -> None:
    async with world.site(good_site()) as site:
        crawled = await crawl(world, site)
    check = next(check for check in OF_SITES if check.id == "host_variants")
    index = crawled.report.index
    for status, location, count in ((200, "", 1), (301, "https://www.example.org/", 0)):
        index.facts.other_host = Probe("https://example.org/", status, location)
        assert len(list(check.find(index))) == count


async def test_robots_txt_of_a_host_is_fetched_once(world: World) -> None:
    clock = TestClock()
    async with world.site(good_site()) as site, world.fetcher(site) as fetcher:
        visitor = Visitor(fetcher, clock=clock)
        assert await visitor.allowed(site.url("/bees"))
        assert not await visitor.allowed(site.url("/private/x"))
    assert site.seen == ["/robots.txt"]


# The score


@given(st.lists(st.sampled_from(SEVERITIES), max_size=20), st.sampled_from(SEVERITIES))
def test_one_more_fault_never_helps(failed: list[Severity], more: Severity) -> None:
    before, after = health(failed), health([*failed, more])
    assert 0 <= after <= before <= 1


@given(st.lists(st.floats(0, 1), max_size=20), st.lists(st.sampled_from([*CAPS, "title_missing"]), max_size=4))
def test_a_score_is_from_0_to_100_and_capped(healths: list[float], failed: list[str]) -> None:
    found = score(healths, failed)
    assert 0 <= found <= min([100, *(CAPS[check] for check in failed if check in CAPS)])


def test_the_formula() -> None:
    assert health(["critical", "warning", "notice"]) == pytest.approx(0.64)
    assert score([1.0, 0.64, 1.0, 1.0], []) == 91
    assert score([1.0], ["home_noindex"]) == 30
    assert score([], []) == 0
    assert CAPS.keys() <= CRAWL_CHECKS.keys()


def test_every_check_has_a_fix() -> None:
    assert len(CRAWL_CHECKS) > 130
    for check in CRAWL_CHECKS.values():
        assert check.severity in SEVERITIES
        assert check.message.endswith(".")
        assert check.fix.endswith(".")
        assert check.id == check.id.lower()
