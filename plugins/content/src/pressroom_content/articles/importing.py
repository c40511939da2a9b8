"""Article imports: from a page of a connected site, the first item of a feed, or pasted HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree as Xml
import webencodings
from defusedxml import DefusedXmlException
from pressroom.sdk import Fetched, FetchFailed, FetchRefused, InvalidInput, PluginContext

from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, ArticleUpdate
from pressroom_content.contract.control import is_below
from pressroom_content.rendering.extraction import ExtractedArticle, extract
from pressroom_content.rendering.from_html import text_of, to_markdown
from pressroom_content.rendering.sanitising import sanitise
from pressroom_content.websites.store import Websites

MAX_PAGE_BYTES: Final = 5_242_880
SECONDS: Final = 20.0
_SITES: Final = 200

_ACCEPT: Final = "text/html, application/xhtml+xml, application/atom+xml, application/rss+xml, application/xml;q=0.9"
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*", re.ASCII)
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_CONTENT: Final = "{http://purl.org/rss/1.0/modules/content/}encoded"


@dataclass(frozen=True, slots=True)
class ArticleImport:
    """The created article, and warnings about what may have been lost."""

    written: ArticleUpdate
    warnings: tuple[str, ...]


async def import_page(
    plugin: PluginContext, user_id: str, url: str, website_id: str | None, *, origin: str = ""
) -> ArticleImport:
    """Create an article from a page, or from the first item of a feed, on a website that the account has connected.

    Raises:
        InvalidInput: the URL is not on such a website, redirects elsewhere, cannot be fetched, or contains no article.
        NotFound: the account has no such website.
    """
    site_id = await site_of(plugin, user_id, url, website_id)
    try:
        response = await plugin.services.fetcher.get(url, accept=_ACCEPT, max_bytes=MAX_PAGE_BYTES, seconds=SECONDS)
    except (FetchRefused, FetchFailed) as error:
        raise InvalidInput("url", f"cannot be fetched: {error.message}") from error
    if response.status != 200:
        raise InvalidInput("url", f"responds with status {response.status}; open it in a browser to see why")
    if response.redirects:
        site_id = await _site_led_to(plugin, user_id, response.url, website_id)
    extracted, warnings = await plugin.services.workers.run(_read, response, owner=user_id, what="the page")
    return await _store(plugin, user_id, extracted, site_id, warnings, origin)


async def import_html(
    plugin: PluginContext, user_id: str, html: str, website_id: str | None, *, origin: str = ""
) -> ArticleImport:
    """Create an article from HTML. Raises the same errors as `import_page`."""
    if website_id is not None:
        await Websites(plugin).get(user_id, website_id)
    extracted = await plugin.services.workers.run(extract, html, owner=user_id, what="the HTML")
    return await _store(plugin, user_id, extracted, website_id, [], origin)


async def _store(
    plugin: PluginContext,
    user_id: str,
    extracted: ExtractedArticle,
    website_id: str | None,
    warnings: list[str],
    origin: str,
) -> ArticleImport:
    markdown, removed = await plugin.services.workers.run(_converted, extracted.html, owner=user_id, what="the page")
    if not markdown.strip():
        raise InvalidInput("", "no text was found in it: the page may need scripts to show its article")
    if not extracted.sure:
        warnings.append(
            "the page does not mark its article, so the part with the most text was taken: check the result"
        )
    if removed:
        warnings.append(f"left out: {', '.join(removed)}")
    if "](http" in markdown and "![" in markdown:
        warnings.append("its images are still on the other site; import them with import_image")
    draft = Draft(
        title=extracted.title or "Imported article",
        body=markdown,
        website_id=website_id,
        excerpt=extracted.description[:5000],
        language=extracted.language
        if _LANGUAGE.fullmatch(extracted.language) and len(extracted.language) <= 35
        else "",
        author=extracted.author[:200],
    )
    created = await Articles(plugin).create(user_id, draft, origin=origin)
    return ArticleImport(created, tuple(warnings))


async def site_of(plugin: PluginContext, user_id: str, url: str, website_id: str | None) -> str:
    """Return the website that a URL is below, the one with the longest URL, or else the first one on the same host.

    Raises `InvalidInput` and `NotFound`.
    """
    websites = Websites(plugin)
    if website_id is not None:
        sites = [await websites.get(user_id, website_id)]
    else:
        sites = [*(await websites.page(user_id, limit=_SITES))[0]]
    host = _host(url)
    candidates = [
        (site_url, site.id)
        for site in sites
        for site_url in (site.url, site.server_url)
        if site_url and is_below(url, site_url)
    ]
    if candidates:
        return max(candidates, key=lambda candidate: len(candidate[0]))[1]
    for site in sites:
        if host and host == _host(site.url):
            return site.id
    names = ", ".join(site.url for site in sites if site.url) or "none is connected"
    raise InvalidInput("url", f"must be on a connected website ({names}); for any other page, paste its html")


async def _site_led_to(plugin: PluginContext, user_id: str, url: str, website_id: str | None) -> str:
    """Return the website of a URL that a website redirects to: an open redirect does not make a page the website's own.

    Raises `InvalidInput` and `NotFound`.
    """
    try:
        return await site_of(plugin, user_id, url, website_id)
    except InvalidInput as error:
        message = f"redirects to {url[:500]}, which is not on a connected website; for any other page, paste its html"
        raise InvalidInput("url", message) from error


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _decoded(response: Fetched) -> str:
    """Decode a response with the charset of its header, or else of its document, or else as UTF-8.

    Only the encodings of the web are supported (WHATWG, Encoding Standard): other Python codecs take quadratic time.
    """
    head = response.content[:2048].decode("ascii", "replace")
    match = _CHARSET.search(response.headers.get("content-type", "")) or _CHARSET.search(head)
    encoding = (webencodings.lookup(match[1]) if match else None) or webencodings.UTF8
    text, _ = webencodings.decode(response.content, encoding, "replace")
    return text.replace("\0", "")


def _read(response: Fetched) -> tuple[ExtractedArticle, list[str]]:
    text = _decoded(response)
    start = text.lstrip("\ufeff \t\r\n")[:1000].lower()
    if "<rss" in start or "<feed" in start or "<rdf:rdf" in start:
        return _from_feed(response.content, response.url), ["this is a feed: its first item was taken"]
    if response.media_type not in ("text/html", "application/xhtml+xml", ""):
        raise InvalidInput("url", f"is not a web page, but {response.media_type[:60]}")
    return extract(text, response.url), []


def _from_feed(content: bytes, url: str) -> ExtractedArticle:
    """Return the first item of a feed (RSS 2.0, RFC 4287). Raises `InvalidInput`."""
    try:
        root: Element = Xml.fromstring(content, forbid_dtd=False)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise InvalidInput("url", f"is a feed that cannot be read: {error}") from error
    item = next((node for node in root.iter() if node.tag in ("item", f"{_ATOM}entry")), None)
    if item is None:
        raise InvalidInput("url", "is a feed without items")
    texts = (item.findtext(name) for name in (_CONTENT, f"{_ATOM}content", f"{_ATOM}summary", "description"))
    html = next((text for text in texts if text), "")
    title = item.findtext("title") or item.findtext(f"{_ATOM}title") or ""
    extracted = extract(f"<article>{html}</article>", url)
    return ExtractedArticle(html=extracted.html, title=" ".join(text_of(title).split())[:500])


def _converted(html: str) -> tuple[str, tuple[str, ...]]:
    return to_markdown(html), sanitise(html).removed
