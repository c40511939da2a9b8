"""The survey of a site before its pages are crawled: robots.txt, sitemaps, llms.txt and a few probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from pressroom_seo.crawler.http_client import ANYTHING, MAX_REDIRECTS, Visitor
from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.site_files import (
    MAX_LLMS_TXT_BYTES,
    MAX_URLS,
    Kind,
    LlmsTxt,
)
from pressroom_seo.crawler.site_reader import SAMPLES
from pressroom_seo.urls import SiteScope, host_of, normalise

_XML: Final = "application/xml, text/xml, text/plain;q=0.8, */*;q=0.5"
_PROBED: Final[Mapping[str, Any]] = {"accept": ANYTHING, "max_bytes": 65_536}
_REQUEST_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "sitemap": {"accept": _XML},
    "missing": _PROBED,
    "plain": _PROBED,
    "other_host": _PROBED,
    "llms": {"accept": "text/markdown, text/plain, */*;q=0.5", "max_bytes": MAX_LLMS_TXT_BYTES},
}
_MISSING_PATH: Final = "/pressroom-looks-for-a-page-that-is-not-there"
_MAX_FILES = 50
_MAX_INDEX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """The result of one sitemap request."""

    url: str
    status: int
    kind: Kind
    count: int
    problem: str = ""
    too_large: bool = False
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """The response to a probe: a URL requested only to see how the site responds."""

    url: str
    status: int
    location: str = ""


@dataclass(frozen=True, slots=True)
class SurveyRequest:
    """One URL that a survey requests: a sitemap, a probe, or llms.txt. A probe's `kind` is its field in `SiteFacts`.

    For a sitemap, `named` is the URL that it was listed under, before redirects; `depth` is the number of indexes above
    it.
    """

    kind: Literal["sitemap", "missing", "plain", "other_host", "llms"]
    url: str
    named: str = ""
    depth: int = 0
    hops: int = 0


@dataclass(slots=True)
class SiteFacts:
    """Site-wide facts of a crawl."""

    site: SiteScope
    robots: Robots
    surveyed: bool = False
    """Whether the survey went beyond robots.txt, which may be unreachable or set too long a crawl delay."""

    sitemaps: list[SitemapFile] = field(default_factory=list)
    listed: dict[str, str] = field(default_factory=dict)
    """The site's URLs in its sitemaps, with their `lastmod`."""

    listed_whole: bool = True
    """Whether `listed` is complete; `False` if sitemaps are missing, disallowed, damaged, too large, too many, or too
    deep below indexes."""

    foreign: list[str] = field(default_factory=list)
    """Sample of URLs of other hosts in the sitemaps."""

    bad_dates: list[str] = field(default_factory=list)
    """Sample of URLs whose `lastmod` is invalid or in the future."""

    missing: Probe | None = None
    """Response to a URL that cannot exist."""

    plain: Probe | None = None
    """Response over plain HTTP."""

    other_host: Probe | None = None
    """Response of the host with `www.` added, or removed if it has it."""

    llms: LlmsTxt | None = None
    llms_status: int = 0
    pages: int = 0
    """Number of requested URLs."""

    complete: bool = True
    """Whether every discovered page was requested."""

    todo: list[SurveyRequest] = field(default_factory=list)
    """Pending requests of the survey."""

    stopped: str = ""
    """Why the crawl stopped early: `crawl_delay`, `busy` or `paused`; empty if it did not."""

    retry_after: float = 0.0
    """Seconds after which a paused crawl, or one stopped by a busy host, may continue."""

    refused: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """Number of URLs that the frontier refused, with samples, by reason."""


_SURVEYED: Final = ("surveyed", "listed", "listed_whole", "foreign", "bad_dates", "llms_status")
_PROBES: Final = ("missing", "plain", "other_host")
_SITEMAPS: Final = TypeAdapter(list[SitemapFile])
_PROBE: Final = TypeAdapter(Probe | None)
_LLMS: Final = TypeAdapter(LlmsTxt | None)
_STEPS: Final = TypeAdapter(list[SurveyRequest])


def survey_to_json(facts: SiteFacts) -> dict[str, Any]:
    """Serialise a survey to plain JSON data."""
    robots = facts.robots
    return {
        **{name: getattr(facts, name) for name in _SURVEYED},
        **{name: _PROBE.dump_python(getattr(facts, name), mode="json") for name in _PROBES},
        "sitemaps": _SITEMAPS.dump_python(facts.sitemaps, mode="json"),
        "llms": _LLMS.dump_python(facts.llms, mode="json"),
        "todo": _STEPS.dump_python(facts.todo, mode="json"),
        "robots": [robots.status, robots.text, robots.truncated],
    }


def survey_from_json(site: SiteScope, data: Mapping[str, Any]) -> SiteFacts:
    """Restore a survey from `survey_to_json`. robots.txt has its text, but no parsed rules.

    Raises `ValueError`, `KeyError` or `TypeError` for invalid data.
    """
    status, text, truncated = data["robots"]
    return SiteFacts(
        site,
        Robots(int(status), text=str(text), truncated=bool(truncated)),
        surveyed=bool(data["surveyed"]),
        listed=dict(data["listed"]),
        listed_whole=bool(data["listed_whole"]),
        foreign=list(data["foreign"]),
        bad_dates=list(data["bad_dates"]),
        llms_status=int(data["llms_status"]),
        missing=_PROBE.validate_python(data["missing"]),
        plain=_PROBE.validate_python(data["plain"]),
        other_host=_PROBE.validate_python(data["other_host"]),
        sitemaps=_SITEMAPS.validate_python(data["sitemaps"]),
        llms=_LLMS.validate_python(data["llms"]),
        todo=_STEPS.validate_python(data["todo"]),
    )


def _never(_url: str, _wait: float | None) -> bool:
    return False


def begin_survey(visitor: Visitor, site: SiteScope, robots: Robots, *, plain_url: str | None = None) -> SiteFacts:
    """Start a survey from a site's robots.txt and queue its requests in `todo`.

    Args:
        visitor: the HTTP client.
        site: the site.
        robots: the site's robots.txt.
        plain_url: the site's home page over plain HTTP; by default the http URL of an https site without a port.
    """
    facts = SiteFacts(site, robots)
    if visitor.delays(robots, site.origin):
        facts.stopped, facts.complete = "crawl_delay", False
        return facts
    if robots.unreachable:
        return facts
    facts.surveyed = True
    sitemap_urls = [url for url in (normalise(text, site.home) for text in robots.sitemaps) if url is not None]
    facts.todo = [
        SurveyRequest("sitemap", url, url) for url in dict.fromkeys(sitemap_urls or [f"{site.home}sitemap.xml"])
    ]
    default_port = ":" not in host_of(site.origin)
    if plain_url is None and default_port and site.origin.startswith("https:"):
        plain_url = f"http://{host_of(site.origin)}/"
    probes = [SurveyRequest("missing", f"{site.origin}{_MISSING_PATH}")]
    if plain_url is not None:
        probes.append(SurveyRequest("plain", plain_url))
    if default_port:
        probes.append(SurveyRequest("other_host", f"https://{_other(host_of(site.origin))}/"))
    probes.append(SurveyRequest("llms", f"{site.origin}/llms.txt"))
    facts.todo += [probe for probe in probes if robots.allows(probe.url)]
    return facts


async def survey(
    visitor: Visitor,
    facts: SiteFacts,
    *,
    now: float,
    most_urls: int,
    postpone: Callable[[str, float | None], bool] = _never,
) -> bool:
    """Send the pending requests of a survey. Return whether all of them were sent.

    Args:
        visitor: the HTTP client.
        facts: the survey; updated in place.
        now: current time in seconds since 1970, to recognise dates in the future.
        most_urls: maximum number of sitemap URLs to keep.
        postpone: called with the URL and `None` before each request, and with the URL and the requested wait in seconds
            after a busy response. Return true to stop the survey and leave the URL pending. By default, none is left.
    """
    most_urls = min(most_urls, MAX_URLS)
    while facts.todo:
        step = facts.todo[0]
        if step.kind == "sitemap" and (
            len(facts.sitemaps) >= _MAX_FILES or len(facts.listed) >= most_urls or not await visitor.allowed(step.url)
        ):
            facts.listed_whole = False
            facts.todo.pop(0)
            continue
        if postpone(step.url, None):
            return False
        response = await visitor.visit(step.url, **_REQUEST_OPTIONS[step.kind])
        if response.busy is not None and postpone(step.url, response.busy):
            return False
        facts.todo.pop(0)
        if step.kind == "sitemap":
            await _take_sitemap(visitor, facts, step, response, now=now, most_urls=most_urls)
        elif step.kind == "llms":
            facts.llms_status = response.status
            if response.status == 200 and response.media_type != "text/html":
                facts.llms = await visitor.reader.llms_txt(response)
        elif not response.failure:
            setattr(facts, step.kind, Probe(step.url, response.status, response.location or ""))
    damaged = any(sitemap.status != 200 or sitemap.problem or sitemap.too_large for sitemap in facts.sitemaps)
    facts.listed_whole = facts.listed_whole and not (damaged or len(facts.listed) >= most_urls)
    return True


def _other(host: str) -> str:
    return host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"


async def _take_sitemap(
    visitor: Visitor, facts: SiteFacts, step: SurveyRequest, response: CrawlResponse, *, now: float, most_urls: int
) -> None:
    """Record the response for a sitemap and queue the files of an index, or the target of a redirect."""
    if response.location is not None and step.hops < MAX_REDIRECTS and response.location != step.url:
        facts.todo.insert(0, replace(step, url=response.location, hops=step.hops + 1))
        return
    if response.status != 200:
        facts.sitemaps.append(SitemapFile(step.named, response.status, "unknown", 0, response.message))
        return
    reading = await visitor.reader.sitemap(response, facts.site, now, most_urls)
    sitemap = reading.sitemap
    facts.sitemaps.append(
        SitemapFile(
            step.named,
            response.status,
            sitemap.kind,
            reading.count,
            sitemap.problem,
            sitemap.too_large,
            sitemap.unreadable,
        )
    )
    facts.foreign += reading.foreign[: SAMPLES - len(facts.foreign)]
    facts.bad_dates += reading.bad_dates[: SAMPLES - len(facts.bad_dates)]
    for url, changed in reading.listed.items():
        if len(facts.listed) >= most_urls:
            break
        facts.listed.setdefault(url, changed)
    if sitemap.kind != "index":
        return
    known_urls = {entry.url for entry in facts.sitemaps} | {entry.named for entry in facts.todo}
    new = [url for url in reading.files if url not in known_urls]
    if new and step.depth >= _MAX_INDEX_DEPTH:
        facts.listed_whole = False
        return
    steps = [SurveyRequest("sitemap", url, url, step.depth + 1) for url in new]
    probes = [request for request in facts.todo if request.kind != "sitemap"]
    waiting = [request for request in facts.todo if request.kind == "sitemap"]
    available = max(0, _MAX_FILES - len(facts.sitemaps) - len(waiting))
    facts.listed_whole = facts.listed_whole and len(steps) <= available
    facts.todo = [*waiting, *steps[:available], *probes]
