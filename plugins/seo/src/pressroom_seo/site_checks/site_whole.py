"""Checks of the site as a whole: robots.txt, llms.txt, home page, hosts, crawl traps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pressroom_seo.crawler.robots import SEARCH_ENGINE
from pressroom_seo.site_checks.index import SiteIndex
from pressroom_seo.site_checks.model import Evidence, SiteCheck

Findings = Iterator[tuple[str, Evidence]]


def _robots_url(index: SiteIndex) -> str:
    return f"{index.facts.site.origin}/robots.txt"


def _robots_missing(index: SiteIndex) -> Findings:
    robots = index.facts.robots
    if not robots.unreachable and robots.rules is None:
        yield _robots_url(index), {"status": robots.status}


def _robots_failing(index: SiteIndex) -> Findings:
    if index.facts.robots.unreachable:
        yield _robots_url(index), {"status": index.facts.robots.status}


def _robots_problems(index: SiteIndex) -> Findings:
    problems = index.facts.robots.problems()
    if problems:
        yield _robots_url(index), {"lines": problems}


def _robots_too_large(index: SiteIndex) -> Findings:
    if index.facts.robots.truncated:
        yield _robots_url(index), {}


def _robots_blocks_site(index: SiteIndex) -> Findings:
    robots = index.facts.robots
    if not robots.unreachable and not robots.allows_search_engine(index.start):
        yield index.start, {"agent": SEARCH_ENGINE}


def _crawl_delay(index: SiteIndex) -> Findings:
    if index.facts.stopped == "crawl_delay":
        yield _robots_url(index), {"crawl_delay": index.facts.robots.crawl_delay}


def _missing_page(index: SiteIndex) -> Findings:
    probe = index.facts.missing
    if probe is not None and probe.status == 200:
        yield probe.url, {"status": probe.status}


def _plain_http(index: SiteIndex) -> Findings:
    probe = index.facts.plain
    if probe is not None and not probe.location.startswith("https:") and probe.status < 400:
        yield probe.url, {"status": probe.status, "location": probe.location}


def _two_hosts(index: SiteIndex) -> Findings:
    probe = index.facts.other_host
    if probe is not None and probe.status == 200:
        yield probe.url, {"status": probe.status}


def _llms_missing(index: SiteIndex) -> Findings:
    if index.facts.llms is None and index.facts.surveyed:
        yield f"{index.facts.site.origin}/llms.txt", {"status": index.facts.llms_status}


def _llms_problems(index: SiteIndex) -> Findings:
    llms = index.facts.llms
    if llms is not None and llms.problems:
        yield f"{index.facts.site.origin}/llms.txt", {"problems": list(llms.problems)}


def _llms_links(index: SiteIndex) -> Findings:
    for entry in index.facts.llms.entries if index.facts.llms is not None else ():
        crawled = index.entries.get(entry.url)
        if crawled is not None and crawled.is_error:
            yield entry.url, {"status": crawled.status}


def _home_noindex(index: SiteIndex) -> Findings:
    home = index.entries.get(index.start)
    if home is not None and home.noindex:
        yield home.url, {}


def _home_fails(index: SiteIndex) -> Findings:
    home = index.entries.get(index.start)
    if home is None or home.failure == "disallowed":
        return
    end = next((path for path in index.redirects() if path.source == home.url), None)
    if end is not None and not index.facts.site.contains(end.hops[-1]):
        yield home.url, {"to": end.hops[-1]}
    elif home.is_error or (end is not None and (end.dead or end.loop)):
        yield home.url, {"status": home.status}


def _refused(*reasons: str) -> Callable[[SiteIndex], Findings]:
    def find(index: SiteIndex) -> Findings:
        for reason in reasons:
            count, samples = index.facts.refused.get(reason, (0, ()))
            for url in samples:
                yield url, {"reason": reason, "count": count}

    return find


CHECKS: Final = (
    SiteCheck(
        "home_unreachable",
        "critical",
        "status",
        "The site's home page cannot be reached, or redirects to another site.",
        "Check that the server is up, and where its home page redirects to.",
        _home_fails,
    ),
    SiteCheck(
        "home_noindex",
        "critical",
        "indexing",
        "The site's home page asks search engines not to index it.",
        "Remove noindex from the home page.",
        _home_noindex,
    ),
    SiteCheck(
        "robots_txt_missing",
        "notice",
        "robots",
        "The site has no robots.txt.",
        "Add one that names the sitemap; it may allow everything.",
        _robots_missing,
    ),
    SiteCheck(
        "robots_txt_failing",
        "critical",
        "robots",
        "robots.txt cannot be read; search engines then stay away from the whole site.",
        "Make /robots.txt respond with 200 or 404.",
        _robots_failing,
    ),
    SiteCheck(
        "robots_txt_invalid",
        "notice",
        "robots",
        "robots.txt has lines that crawlers do not understand.",
        "Write lines such as User-agent: *, Disallow: /private/ and Sitemap: https://….",
        _robots_problems,
    ),
    SiteCheck(
        "robots_txt_too_large",
        "notice",
        "robots",
        "robots.txt is larger than 500 kB; the rest is not read.",
        "Combine rules with the wildcard *.",
        _robots_too_large,
    ),
    SiteCheck(
        "robots_blocks_site",
        "critical",
        "robots",
        "robots.txt keeps search engines away from the site's home page.",
        "Remove Disallow: / for the user agents of search engines.",
        _robots_blocks_site,
    ),
    SiteCheck(
        "crawl_delay_too_long",
        "notice",
        "robots",
        "robots.txt asks for such a long pause between requests that the site was not crawled.",
        "Lower Crawl-delay to a few seconds, or crawl it as your own site.",
        _crawl_delay,
    ),
    SiteCheck(
        "missing_page_found",
        "warning",
        "status",
        "The site responds with 200 to a URL that does not exist.",
        "Respond with 404, so that search engines do not collect empty pages.",
        _missing_page,
    ),
    SiteCheck(
        "http_not_redirected",
        "warning",
        "security",
        "The site responds over plain http and does not redirect to https.",
        "Redirect every http URL to https with 301.",
        _plain_http,
    ),
    SiteCheck(
        "host_variants",
        "warning",
        "urls",
        "The site is available with and without www.",
        "Redirect one to the other.",
        _two_hosts,
    ),
    SiteCheck(
        "llms_txt_missing",
        "notice",
        "crawl",
        "The site has no llms.txt.",
        "Add /llms.txt: a title, a summary, and sections of links for language models.",
        _llms_missing,
    ),
    SiteCheck(
        "llms_txt_invalid",
        "notice",
        "crawl",
        "llms.txt does not follow its convention.",
        "Fix the listed lines.",
        _llms_problems,
    ),
    SiteCheck(
        "llms_txt_link_broken",
        "notice",
        "crawl",
        "llms.txt links to a page that does not exist.",
        "Fix or remove the link.",
        _llms_links,
    ),
    SiteCheck(
        "crawl_trap",
        "warning",
        "crawl",
        "The site generates an endless number of URLs.",
        "Link only to pages that exist: a calendar to months with events, relative links from the root.",
        _refused("alike", "deep", "repetitive"),
    ),
    SiteCheck(
        "query_explosion",
        "notice",
        "crawl",
        "A page is available under very many query strings.",
        "Name the page without parameters as canonical, or disallow the parameters in robots.txt.",
        _refused("queries", "parameters"),
    ),
)
