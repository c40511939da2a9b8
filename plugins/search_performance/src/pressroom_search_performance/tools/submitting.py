"""Tools for submitting changes (IndexNow and sitemaps), and for the index status of single pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pressroom.sdk import Annotations, Call, CallError, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import Website, content_services
from pydantic import BaseModel, Field

from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.host import plugin_of, website_of
from pressroom_search_performance.indexnow import MAX_URLS, submit
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.requesting import number, text
from pressroom_search_performance.tools.common import NotConnected, WebsiteId, check_is_own_url, connected, spoken

INDEXNOW: Final = "IndexNow"
_MEMBERS: Final = "Bing, Yandex, Seznam, Naver and others"
_CHECKING: Final = 202
_MAX_SITEMAPS: Final = 200


class SubmitParams(Params):
    """What changed."""

    website_id: WebsiteId
    urls: tuple[Annotated[str, Field(min_length=8, max_length=2048)], ...] = Field(
        default=(),
        max_length=MAX_URLS,
        strict=False,
        description="Full URLs that are new, changed or gone.",
    )
    content_id: str | None = Field(
        default=None, min_length=1, max_length=64, description="An article, for its URL on the website."
    )
    sitemap_url: str | None = Field(default=None, min_length=8, max_length=2048, description="A sitemap, for Google.")


class EngineOut(BaseModel):
    """What a search engine was told."""

    engine: str
    told: str | None = Field(description="What it was told; null if nothing, and problem says why.")
    problem: str | None


class SitemapOut(BaseModel):
    """A sitemap that Google knows."""

    path: str
    last_submitted: str | None
    last_downloaded: str | None = Field(description="null: Google has not read it yet.")
    is_pending: bool
    warnings: int
    errors: int
    submitted_urls: int


class SubmitResult(BaseModel):
    """The result of `submit_urls`."""

    engines: list[EngineOut]
    submitted: int = Field(description="URLs that IndexNow accepted.")
    key_url: str | None = Field(description="Where the website's IndexNow key is.")
    sitemaps: list[SitemapOut] | None = Field(description="Those that Google knows; null if it was not asked.")


@mcp_tool(
    name="submit_urls",
    title="Tell search engines",
    description=(
        "Tells search engines about new, changed or removed pages of a website: urls or content_id through IndexNow "
        "to Bing, Yandex, Seznam and Naver; sitemap_url to Google, which takes no single URLs. With neither it "
        "lists the sitemaps that Google knows, with errors. Use it after publishing or unpublishing. Returns what "
        "each engine was told. It does not guarantee indexing."
    ),
    result=SubmitResult,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("performance", "seo"),
    timeout=150,
)
async def submit_urls(params: SubmitParams, call: Call) -> ToolResult:
    """Tell search engines, or list what Google knows."""
    website = await website_of(call, params.website_id)
    urls = await _urls(params, call, website)
    if urls and params.sitemap_url is None:
        return _result(await _submit_to_indexnow(call, website, urls))
    if not urls:
        return _result(await _google_alone(params, call))
    results, errors = [], []
    for engine in (INDEXNOW, google.TITLE):
        try:
            submission = (
                _submit_to_indexnow(call, website, urls) if engine == INDEXNOW else _submit_to_google(params, call)
            )
            results.append(await submission)
        except CallError as error:
            errors.append(error)
            results.append(_failed_submission(engine, error))
    if len(errors) == len(results):
        raise errors[0]
    return _result(_merged(results))


async def _urls(params: SubmitParams, call: Call, website: Website) -> list[str]:
    urls = list(params.urls)
    if params.content_id is not None:
        content, user_id = content_services(plugin_of(call)), call.caller.subject
        article = await content.articles.get(user_id, params.content_id)
        posts = await content.publications.of_article(user_id, article.id)
        post_url = next((post.url for post in posts if post.website_id == website.id and post.url), None)
        if post_url is None:
            raise InvalidInput(
                "content_id", "the article was never published on this website; publish it with publish_content"
            )
        urls.append(post_url)
    return urls


async def _submit_to_indexnow(call: Call, website: Website, urls: Sequence[str]) -> SubmitResult:
    submission = await submit(plugin_of(call), website, urls)
    text = f"{submission.count} URL{'' if submission.count == 1 else 's'} (HTTP {submission.status})"
    if submission.status == _CHECKING:
        text += ", and its key is still being checked"
    engine = EngineOut(engine=f"{INDEXNOW} ({_MEMBERS})", told=text, problem=None)
    return SubmitResult(engines=[engine], submitted=submission.count, key_url=submission.key_url, sitemaps=None)


async def _submit_to_google(params: SubmitParams, call: Call) -> SubmitResult:
    website, connection = await connected(call, params.website_id, google.NAME)
    if params.sitemap_url is not None:
        check_is_own_url("sitemap_url", params.sitemap_url, website.url, connection)
    plugin = plugin_of(call)
    fetcher, console = plugin.services.fetcher, google.console_of(plugin.config)
    with spoken(plugin, website):
        credential = await SourceConnections(plugin).credential(connection)
        if params.sitemap_url is not None:
            await console.submit_sitemap(connection.property, params.sitemap_url, credential, fetcher)
        entries = await console.sitemaps(connection.property, credential, fetcher)
    message = f"the sitemap {params.sitemap_url}" if params.sitemap_url is not None else None
    engines = [EngineOut(engine=google.TITLE, told=message, problem=None)] if message else []
    sitemaps = [_sitemap(entry) for entry in entries[:_MAX_SITEMAPS]]
    return SubmitResult(engines=engines, submitted=0, key_url=None, sitemaps=sitemaps)


async def _google_alone(params: SubmitParams, call: Call) -> SubmitResult:
    try:
        return await _submit_to_google(params, call)
    except NotConnected as error:
        raise NotConnected(f"{error.message}. IndexNow needs no connection: give urls or content_id") from None


def _failed_submission(engine: str, error: CallError) -> SubmitResult:
    engine_out = EngineOut(engine=engine, told=None, problem=error.message)
    return SubmitResult(engines=[engine_out], submitted=0, key_url=None, sitemaps=None)


def _merged(results: Sequence[SubmitResult]) -> SubmitResult:
    return SubmitResult(
        engines=[engine for result in results for engine in result.engines],
        submitted=sum(result.submitted for result in results),
        key_url=next((result.key_url for result in results if result.key_url), None),
        sitemaps=next((result.sitemaps for result in results if result.sitemaps is not None), None),
    )


def _result(result: SubmitResult) -> ToolResult:
    lines = [
        f"{engine.engine} was told: {engine.told}."
        if engine.told
        else f"{engine.engine} was not told anything: {engine.problem}"
        for engine in result.engines
    ]
    if result.sitemaps is not None:
        lines += [
            f"{sitemap.path}: {sitemap.submitted_urls} URLs, {sitemap.errors} errors, {sitemap.warnings} warnings, "
            f"read {sitemap.last_downloaded or 'not yet'}"
            for sitemap in result.sitemaps
        ] or ["Google does not know any sitemap of this website; give sitemap_url."]
    elif all(engine.engine != google.TITLE for engine in result.engines):
        lines.append("Nothing was sent to Google: it does not accept single URLs. Pass sitemap_url instead.")
    return ToolResult("\n".join(lines), result)


def _sitemap(entry: Mapping[str, Any]) -> SitemapOut:
    contents = entry.get("contents")
    entries = [content for content in contents if isinstance(content, dict)] if isinstance(contents, list) else []
    return SitemapOut(
        path=text(entry.get("path")),
        last_submitted=text(entry.get("lastSubmitted"), 50) or None,
        last_downloaded=text(entry.get("lastDownloaded"), 50) or None,
        is_pending=entry.get("isPending") is True,
        warnings=_integer(entry.get("warnings")),
        errors=_integer(entry.get("errors")),
        submitted_urls=sum(_integer(content.get("submitted")) for content in entries),
    )


def _integer(value: Any) -> int:
    """Parse a number, which Google sends as a string (`int64` in JSON)."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    return int(number(value))


class InspectParams(Params):
    """Which page."""

    website_id: WebsiteId
    url: str = Field(min_length=8, max_length=2048, description="Full URL of a page of the website.")


class InspectResult(BaseModel):
    """The result of `inspect_url_index`."""

    verdict: str = Field(description="PASS is indexed, NEUTRAL is left out, FAIL is an error.")
    coverage_state: str = Field(description="Google's explanation.")
    google_canonical: str | None = Field(description="The URL that Google considers the original.")
    user_canonical: str | None = Field(description="The URL that the page itself names.")
    last_crawl_time: str | None
    robots: str = Field(description="Whether robots.txt allows it.")
    sitemaps: list[str] = Field(description="Sitemaps that name the page.")


@mcp_tool(
    name="inspect_url_index",
    title="Index status of a page",
    description=(
        "Asks Google whether a page is in its index, why not, which URL it considers the original, and when it last "
        "crawled it. Use it when a page gets no impressions a week after it was published. Google allows 2,000 "
        "requests a day per property. submit_urls tells search engines about the page."
    ),
    result=InspectResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance", "seo"),
    timeout=70,
)
async def inspect_url_index(params: InspectParams, call: Call) -> ToolResult:
    """Inspect a page."""
    website, connection = await connected(call, params.website_id, google.NAME)
    check_is_own_url("url", params.url, website.url, connection)
    plugin = plugin_of(call)
    with spoken(plugin, website):
        credential = await SourceConnections(plugin).credential(connection)
        console = google.console_of(plugin.config)
        inspection = await console.inspect(connection.property, params.url, credential, plugin.services.fetcher)
    sitemaps = inspection.get("sitemap")
    result = InspectResult(
        verdict=text(inspection.get("verdict"), 50) or "VERDICT_UNSPECIFIED",
        coverage_state=text(inspection.get("coverageState"), 200),
        google_canonical=text(inspection.get("googleCanonical")) or None,
        user_canonical=text(inspection.get("userCanonical")) or None,
        last_crawl_time=text(inspection.get("lastCrawlTime"), 50) or None,
        robots=text(inspection.get("robotsTxtState"), 50) or "ROBOTS_TXT_STATE_UNSPECIFIED",
        sitemaps=[text(url) for url in sitemaps[:_MAX_SITEMAPS]] if isinstance(sitemaps, list) else [],
    )
    summary = (
        f"{params.url}: {result.verdict}, {result.coverage_state}; last crawled {result.last_crawl_time or 'never'}"
    )
    summary += f"; robots.txt: {result.robots}"
    if result.google_canonical and result.google_canonical != params.url:
        summary += f"; Google takes {result.google_canonical} for the original"
    summary += f"; in the sitemaps {', '.join(result.sitemaps)}" if result.sitemaps else "; in no known sitemap"
    return ToolResult(summary, result)


TOOLS: Final = (inspect_url_index, submit_urls)
