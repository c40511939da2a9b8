"""Published articles for programs: their entries in the text index, and the text twins of their pages."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from pressroom.columns import as_id
from pressroom.sdk import (
    CallError,
    HttpRequest,
    HttpResponse,
    IndexEntries,
    IndexEntry,
    InvalidInput,
    NotFound,
    Overloaded,
    PluginContext,
    Route,
)
from sqlalchemy import ColumnElement, Row, case, select

from pressroom_content.articles import versions
from pressroom_content.articles.fields import Draft, article_of, read_as
from pressroom_content.builtin_site.store import PublicSite, public_sites
from pressroom_content.conditional import conditional
from pressroom_content.config import ContentConfig
from pressroom_content.contract import BUILTIN
from pressroom_content.records import Article
from pressroom_content.tables import ArticleRow, PublicationRow, WebsiteRow
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.control import speaks_for
from pressroom_content.websites.domain_names import server_url, site_url, with_current_urls

Twin = Literal["markdown", "text"]
_Key = tuple[str, int, Twin]

MAX_ENTRIES: Final = 1_000
"""Maximum number of articles, and of built-in sites, in the index."""

_MEDIA: Final[Mapping[Twin, str]] = {"markdown": "text/markdown; charset=utf-8", "text": "text/plain; charset=utf-8"}
_MAX_CACHED: Final = 8_000_000
"""Maximum total length of the cached texts, in characters."""

_MAX_WAITING: Final = 16
"""Maximum number of readers that wait for texts of one account: each of them holds an article in memory."""

_TRY_AGAIN: Final = 60.0
"""Seconds until a text whose conversion failed is tried again."""

_NOTE: Final = 300
_PATH: Final = case((WebsiteRow.platform == BUILTIN, PublicationRow.path), else_="").label("path")
"""Only built-in sites have pages on this server."""


@dataclass(frozen=True, slots=True)
class PublishedArticle:
    """An article that is live on a website. `path` is its page on this server, or redirects to it; `url` is the page.

    `site_urls` are the URL of a built-in site and its URL on this server; they are the same without a custom domain,
    and empty on other platforms.
    """

    article: Article
    path: str
    url: str
    published_at: datetime
    site_urls: tuple[str, str] = ("", "")


class TextTwins:
    """The texts of published articles, with a cache of the last ones that were requested."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin
        self._texts: OrderedDict[_Key, str] = OrderedDict()
        self._size = 0
        self._waiting: Counter[str] = Counter()
        self._conversions: dict[_Key, asyncio.Task[str]] = {}
        self._refusals: OrderedDict[_Key, tuple[float, CallError]] = OrderedDict()

    async def at(self, path: str) -> PublishedArticle:
        """Return the article that is published at a path of this server: a built-in site's page, or `/articles/…`.

        Raises:
            NotFound: no article is published there.
        """
        plain = unquote(path)
        parts = plain.split("/")
        if plain.startswith("/articles/") and len(parts) == 4:
            where: tuple[ColumnElement[bool], ...] = (
                PublicationRow.website_id == as_id(parts[2]),
                ArticleRow.slug == parts[3],
            )
        else:
            where = (PublicationRow.path.in_({plain, path, quote(plain)}), WebsiteRow.platform == BUILTIN)
        query = _published().where(*where).order_by(PublicationRow.published_at.desc()).limit(1)
        async with self._plugin.services.database.reading() as session:
            row = (await session.execute(query)).first()
            if row is None:
                raise NotFound("there is no published article at this URL")
            article = article_of(row.ArticleRow)
            if row.article_version != article.version:
                # The page shows the version that was sent, even if the article has a newer one.
                article = await _as_sent(session, article, row.article_version)
        return replace(_published_article(row, article), site_urls=self._site_urls(row))

    def _site_urls(self, row: Row[Any]) -> tuple[str, str]:
        if row.site_key is None:
            return "", ""
        base_url = self._plugin.base_url
        return site_url(row.site_key, row.proven_domain, base_url), server_url(row.site_key, base_url)

    async def text(self, article: Article, twin: Twin) -> str:
        """Return an article as one text that begins with its title. Raises `CallError`."""
        key = (article.id, article.version, twin)
        cached = self._texts.get(key)
        if cached is not None:
            self._texts.move_to_end(key)
            return cached
        if (refusal := self._refused(key)) is not None:
            raise refusal
        if self._waiting[article.user_id] >= _MAX_WAITING:
            raise Overloaded("Many readers wait for texts of this author already. Try again in a few seconds.")
        # One conversion for all readers, since it counts against the limits of the article's owner.
        conversion = self._conversions.get(key)
        if conversion is None:
            conversion = self._conversions[key] = asyncio.create_task(self._convert(key, article))
            conversion.add_done_callback(lambda task: self._ended(key, task))
        self._waiting[article.user_id] += 1
        try:
            return await asyncio.shield(conversion)
        finally:
            self._waiting[article.user_id] -= 1
            if not self._waiting[article.user_id]:
                del self._waiting[article.user_id]

    async def _convert(self, key: _Key, article: Article) -> str:
        twin = key[2]
        try:
            body = await read_as(self._plugin, article, twin)
        except InvalidInput:
            body = article.body  # it was stored when the limits were higher
        text = f"{'# ' if twin == 'markdown' else ''}{article.title}\n\n{body.strip()}\n"
        self._texts[key] = text
        self._size += len(text)
        while self._size > _MAX_CACHED and len(self._texts) > 1:
            _, oldest = self._texts.popitem(last=False)
            self._size -= len(oldest)
        return text

    def _ended(self, key: _Key, task: asyncio.Task[str]) -> None:
        self._conversions.pop(key, None)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, CallError):
            self._refusals[key] = time.monotonic() + _TRY_AGAIN, error
            while len(self._refusals) > MAX_ENTRIES:
                self._refusals.popitem(last=False)

    def _refused(self, key: _Key) -> CallError | None:
        """Return the error of a text whose conversion failed recently, or `None`."""
        until, error = self._refusals.get(key, (0.0, None))
        return error if time.monotonic() < until else None

    async def respond(self, request: HttpRequest, path: str, twin: Twin) -> HttpResponse:
        """Return the text twin of the page at a path, or 304 if the reader already has it. Raises `NotFound`."""
        published = await self.at(path)
        article = published.article
        tag = hashlib.sha256(f"{article.id}/{article.version}/{twin}/{published.url}".encode()).hexdigest()[:24]
        headers = {
            "Cache-Control": "public, max-age=60",
            "Access-Control-Allow-Origin": "*",
            "Link": f'<{published.url}>; rel="canonical"',
        }
        text = with_current_urls(await self.text(article, twin), *published.site_urls)
        response = HttpResponse(text.encode("utf-8", "replace"), media_type=_MEDIA[twin], headers=headers)
        changed = max(article.updated_at, published.published_at)
        return conditional(request, response, changed, etag=f'"{tag}"')

    async def entries(self) -> Sequence[IndexEntry]:
        """Return the published articles, newest first; the first `index_items` of them provide their text."""
        async with self._plugin.services.database.reading() as session:
            rows = (await session.execute(_listed())).all()
        entries: dict[str, IndexEntry] = {}
        for row in rows:
            if row.id in entries or not row.published_at:
                continue
            path = _path(row.path, row.website_id, row.slug)
            url = row.url if row.proven_domain else path
            with_text = len(entries) < self._plugin.config.index_items
            entries[row.id] = IndexEntry(
                title=row.title,
                url=url,
                note=" ".join((row.excerpt or row.meta_description).split())[:_NOTE],
                published_at=row.published_at,
                read=self._reader(path) if with_text else None,
                version=f"{row.id}/{row.article_version}",
            )
        return list(entries.values())

    def _reader(self, path: str) -> Callable[[], Awaitable[str]]:
        async def read() -> str:
            return await self.text((await self.at(path)).article, "markdown")

        return read


def index_entries(plugin: PluginContext[ContentConfig]) -> Sequence[IndexEntries]:
    """Return the index's sections: articles, and built-in sites with published articles."""

    async def sites() -> Sequence[IndexEntry]:
        return [_site_entry(site) for site in (await public_sites(plugin))[:MAX_ENTRIES]]

    return [IndexEntries("Articles", TextTwins(plugin).entries), IndexEntries("Sites", sites)]


def _site_entry(site: PublicSite) -> IndexEntry:
    about = site_settings.read(site.settings).description
    url = f"{site.url}/llms.txt" if site.has_domain else f"/sites/{site.key}.md"
    return IndexEntry(site.name, url, " ".join(about.split())[:_NOTE])


def routes(plugin: PluginContext[ContentConfig]) -> Sequence[Route]:
    """Return the routes of text twins, and of redirects to articles that are published elsewhere.

    The twins of built-in sites are served with their pages.
    """
    twins = TextTwins(plugin)

    async def article(request: HttpRequest) -> HttpResponse:
        if request.path.endswith(".md"):
            return await twins.respond(request, request.path.removesuffix(".md"), "markdown")
        published = await twins.at(request.path)
        headers = {"Location": published.url, "Cache-Control": "public, max-age=60"}
        return HttpResponse(b"", 302, "text/plain; charset=utf-8", headers)

    async def text(request: HttpRequest) -> HttpResponse:
        return await twins.respond(request, request.path.removesuffix("/llms.txt"), "text")

    return [
        Route("/articles/<site>/<slug>", article),
        Route("/articles/<site>/<slug>/llms.txt", text),
    ]


def _published() -> Any:
    columns = (
        ArticleRow,
        PublicationRow.article_version,
        _PATH,
        PublicationRow.website_id,
        PublicationRow.url,
        PublicationRow.published_at,
        PublicationRow.updated_at,
        WebsiteRow.site_key,
        WebsiteRow.proven_domain,
    )
    return (
        select(*columns)
        .join(PublicationRow, PublicationRow.article_id == ArticleRow.id)
        .join(WebsiteRow, WebsiteRow.id == PublicationRow.website_id)
        .where(PublicationRow.status == "published", PublicationRow.url != "", speaks_for(PublicationRow.url))
    )


def _listed() -> Any:
    columns = (
        ArticleRow.id,
        ArticleRow.title,
        ArticleRow.slug,
        ArticleRow.excerpt,
        ArticleRow.meta_description,
        PublicationRow.article_version,
        _PATH,
        PublicationRow.website_id,
        PublicationRow.url,
        WebsiteRow.proven_domain,
        ArticleRow.published_at,
    )
    return (
        select(*columns)
        .join(PublicationRow, PublicationRow.article_id == ArticleRow.id)
        .join(WebsiteRow, WebsiteRow.id == PublicationRow.website_id)
        .where(
            ArticleRow.status == "published",
            PublicationRow.status == "published",
            PublicationRow.url != "",
            speaks_for(PublicationRow.url),
        )
        .order_by(ArticleRow.published_at.desc(), PublicationRow.path.desc())
        .limit(MAX_ENTRIES)
    )


def _published_article(row: Row[Any], article: Article) -> PublishedArticle:
    at = row.published_at or article.published_at or row.updated_at
    return PublishedArticle(article, _path(row.path, row.website_id, article.slug), row.url, at)


def _path(path: str, website_id: str, slug: str) -> str:
    return path or f"/articles/{website_id}/{quote(slug)}"


async def _as_sent(session: Any, article: Article, version: int) -> Article:
    try:
        draft = await versions.read(session, article.id, version)
    except NotFound:
        return article
    return replace(article, version=version, **{name: getattr(draft, name) for name in Draft.__dataclass_fields__})
