"""Pages that list posts, and sitemaps (sitemaps.org)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape
from zoneinfo import ZoneInfo

from pressroom.sdk import HttpResponse, NotFound
from sqlalchemy import func, select

from pressroom_content.builtin_site.frame import PER_PAGE, LinkPreviews, PostView, SiteFrame, date_of, url_of, words_of
from pressroom_content.builtin_site.post_lists import BlogTermKind, PostLists
from pressroom_content.builtin_site.store import BuiltinSite, is_live
from pressroom_content.builtin_site.summaries import json_script, list_description, list_title
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings

PER_ARCHIVE_PAGE: Final = 100
"""Posts per page of the archive."""

_MAX_PAGES: Final = 10_000
_MAX_QUERY: Final = 200
_SEGMENTS: Final[dict[BlogTermKind, str]] = {"tag": "tags", "category": "categories", "author": "authors"}


def term_url(website: Website, kind: BlogTermKind, slug: str) -> str:
    """Return the URL of the list of posts that have a term."""
    return f"{website.url}/{_SEGMENTS[kind]}/{quote(slug)}"


class ListPages(SiteFrame):
    """Serves lists of posts."""

    async def home(self, site_key: str, page: int = 1) -> HttpResponse:
        """Return a page of the list of all posts. Raises `NotFound`."""
        website = await self.website(site_key)
        posts = PostLists(self._plugin, website)
        if not 1 <= page <= _MAX_PAGES:
            return await self.missing(website)
        entries = list(await posts.page(limit=PER_PAGE + 1, offset=(page - 1) * PER_PAGE))
        if not entries and page > 1:
            return await self.missing(website)
        settings = site_settings.read(website.settings)
        shown = await self.listed(website, entries[:PER_PAGE])
        description = list_description(settings.description if page == 1 else "", _contents(shown))
        words = words_of(website)
        name = website.name if page == 1 else words.say("page", name=website.name, n=page)
        linked_data = {
            "@context": "https://schema.org",
            "@type": "Blog",
            "name": website.name,
            "url": website.url,
            **({"description": description} if description else {}),
            **({"inLanguage": settings.language} if settings.language else {}),
        }
        return await self.page(
            website,
            "home.html",
            title=list_title(name, *([settings.description] if page == 1 else []), words["all_posts"]),
            og_title=name,
            heading=name,
            description=description,
            canonical=_numbered(website.url, page),
            is_home=True,
            image=await LinkPreviews(self._plugin).of_site(website),
            posts=shown,
            linked_data=json_script(linked_data),
            **_pager(website.url, page, more=len(entries) > PER_PAGE),
        )

    async def term(self, site_key: str, kind: BlogTermKind, slug: str, page: int = 1) -> HttpResponse:
        """Return a page of the posts of a tag, a category or an author. Raises `NotFound`."""
        website = await self.website(site_key)
        lists, words = PostLists(self._plugin, website), words_of(website)
        name = await lists.term_name(kind, slug)
        if not name or not 1 <= page <= _MAX_PAGES:
            return await self.missing(website)
        entries = list(await lists.page(limit=PER_PAGE + 1, offset=(page - 1) * PER_PAGE, term=(kind, slug)))
        if not entries:
            return await self.missing(website)
        url = term_url(website, kind, slug)
        heading = name if page == 1 else words.say("page", name=name, n=page)
        shown = await self.listed(website, entries[:PER_PAGE])
        # A list of all posts duplicates the home page.
        is_all = await lists.count() == await lists.count((kind, slug))
        return await self.page(
            website,
            "list.html",
            eyebrow=words[kind],
            **await self._described(website, heading, f"{words[kind]}: {heading}", _contents(shown)),
            canonical=_numbered(website.url if is_all else url, page),
            posts=shown,
            **_pager(url, page, more=len(entries) > PER_PAGE),
        )

    async def archive(self, site_key: str, page: int = 1) -> HttpResponse:
        """Return a page of all posts by month. Raises `NotFound`."""
        website = await self.website(site_key)
        words, zone = words_of(website), ZoneInfo(site_settings.read(website.settings).timezone)
        offset = (page - 1) * PER_ARCHIVE_PAGE
        if not 1 <= page <= _MAX_PAGES:
            return await self.missing(website)
        rows = await PostLists(self._plugin, website).months(limit=PER_ARCHIVE_PAGE + 1, offset=offset)
        if not rows and page > 1:
            return await self.missing(website)
        months: list[tuple[str, list[dict[str, str]]]] = []
        for row in rows[:PER_ARCHIVE_PAGE]:
            month = words.month(date_of(row), zone)
            if not months or months[-1][0] != month:
                months.append((month, []))
            at = date_of(row)
            entry = {"title": row.title, "url": url_of(website, row), "iso": at.isoformat(timespec="seconds")}
            months[-1][1].append(entry | {"date": words.date(at, zone)})
        # A short list of titles duplicates the first home page.
        is_all = page == 1 and len(rows) <= PER_PAGE
        url = f"{website.url}/archive"
        heading = words["archive"] if page == 1 else words.say("page", name=words["archive"], n=page)
        return await self.page(
            website,
            "archive.html",
            **await self._described(website, heading, heading, [(row.title, "") for row in rows[:20]]),
            canonical=_numbered(website.url if is_all else url, page),
            months=months,
            **_pager(url, page, more=len(rows) > PER_ARCHIVE_PAGE),
        )

    async def _described(
        self, website: Website, heading: str, about: str, posts: Sequence[tuple[str, str]]
    ) -> dict[str, Any]:
        """Return the metadata of a list of posts for search engines and link previews."""
        settings = site_settings.read(website.settings)
        title = f"{heading} · {website.name}"
        description = list_description(f"{about}.", posts)
        linked_data = {
            "@context": "https://schema.org",
            "@type": "CollectionPage",
            "name": heading,
            "description": description,
            "isPartOf": {"@type": "Blog", "name": website.name, "url": website.url},
            **({"inLanguage": settings.language} if settings.language else {}),
        }
        return {
            "title": list_title(title, settings.description, words_of(website)["all_posts"]),
            "og_title": title,
            "heading": heading,
            "description": description,
            "image": await LinkPreviews(self._plugin).of_site(website),
            "linked_data": json_script(linked_data),
        }

    async def search(self, site_key: str, query: str, page: int = 1) -> HttpResponse:
        """Return a page of the posts that contain every word of a query. Raises `NotFound`."""
        website = await self.website(site_key)
        words, query = words_of(website), " ".join(query[:_MAX_QUERY].split())
        if not 1 <= page <= _MAX_PAGES:
            return await self.missing(website)
        total, entries = 0, []
        if query:
            total, matches = await PostLists(self._plugin, website).search(
                query, limit=PER_PAGE, offset=(page - 1) * PER_PAGE
            )
            entries = list(matches)
        if not entries and page > 1:
            return await self.missing(website)
        return await self.page(
            website,
            "search.html",
            title=f"{words['search']} · {website.name}",
            heading=words["search"],
            query=query,
            results=words.say("results", n=total, query=query) if query else "",
            posts=await self.listed(website, entries),
            **_pager(f"{website.url}/search?{urlencode({'q': query})}", page, more=total > page * PER_PAGE),
        )


def _contents(posts: Sequence[PostView]) -> Sequence[tuple[str, str]]:
    """Return the titles and excerpts from which the description of a list is made."""
    return [(post.title, post.excerpt) for post in posts]


def _pager(url: str, page: int, *, more: bool) -> dict[str, Any]:
    """Return the URLs of the previous and next page of a list; empty at either end."""
    return {
        "newer": "" if page == 1 else _numbered(url, page - 1),
        "older": _numbered(url, page + 1) if more else "",
    }


def _numbered(url: str, page: int) -> str:
    return url if page == 1 else f"{url}{'&' if '?' in url else '?'}page={page}"


def further_pages(url: str, posts: int, per_page: int = PER_PAGE) -> Sequence[str]:
    """Return the URLs of the pages of a list of posts after the first one."""
    return [_numbered(url, page) for page in range(2, -(-posts // per_page) + 1)]


MAX_POSTS: Final = 2_000
"""The maximum number of posts and pages in one sitemap: building it blocks the event loop for tens of milliseconds."""

_MAX_URLS: Final = 50_000
"""The protocol's limit on URLs and on sitemaps of an index."""

_LISTS: Final = "lists"
"""The part of the sitemap that has everything except posts."""

_HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>'
_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


class SiteMaps(SiteFrame):
    """Serves sitemaps."""

    async def respond(self, site_key: str, part: str) -> HttpResponse:
        """Return the sitemap of a site, or one part of it: a number from 1, or `lists`.

        Raises:
            NotFound: the site or the part does not exist.
        """
        website = await self.website(site_key)
        conditions = (BuiltinPostRow.website_id == website.id, is_live(datetime.now(UTC)))
        statement = select(BuiltinPostRow.kind, func.count()).where(*conditions).group_by(BuiltinPostRow.kind)
        async with self._plugin.services.database.reading() as session:
            numbers: dict[str, int] = dict((await session.execute(statement)).all())
        total, posts = sum(numbers.values()), numbers.get("post", 0)
        newest = await BuiltinSite(self._plugin, website.id).changed_at()
        parts = -(-total // MAX_POSTS)
        if part == _LISTS:
            return _urls([(website.url, newest), *await self._lists(website, posts, newest)])
        if part:
            if not (part.isascii() and part.isdecimal() and len(part) <= 6 and 1 <= int(part) <= parts):
                raise NotFound("the site map has no such part")
            # Oldest first, so that a new post changes only the last part.
            return _urls(await self._posts(website, conditions, newest_first=False, offset=(int(part) - 1) * MAX_POSTS))
        if parts <= 1:
            post_urls = await self._posts(website, conditions, newest_first=True)
            return _urls([(website.url, newest), *post_urls, *await self._lists(website, posts, newest)])
        names = (str(number) for number in range(1, min(parts, _MAX_URLS - 1) + 1))
        return _index(f"{website.url}/sitemap.xml?part={name}" for name in (*names, _LISTS))

    async def _posts(
        self, website: Website, conditions: Sequence[Any], *, newest_first: bool, offset: int = 0
    ) -> Sequence[tuple[str, datetime]]:
        """Return URL and last change of posts and pages, without those whose canonical URL is elsewhere."""
        row = BuiltinPostRow
        published = func.coalesce(row.published_at, row.publish_at, row.created_at)
        order = (row.published_at.desc(), row.id.desc()) if newest_first else (row.kind, row.published_at, row.id)
        statement = (
            select(row.slug, row.updated_at, published, row.fields["canonical_url"].as_string())
            .where(*conditions)
            .order_by(*order)
            .limit(MAX_POSTS)
            .offset(offset)
        )
        async with self._plugin.services.database.reading() as session:
            rows = (await session.execute(statement)).all()
        entries = [
            (f"{website.url}/{quote(slug)}", max(at, published), original) for slug, at, published, original in rows
        ]
        return [(url, at) for url, at, original in entries if self.current(website, original or "") in ("", url)]

    async def _lists(self, website: Website, posts: int, newest: datetime) -> Sequence[tuple[str, datetime]]:
        """Return the lists of posts including further pages, the archive, and the lists of terms."""
        urls = [(url, newest) for url in further_pages(website.url, posts)]
        if posts > PER_PAGE:
            archive = f"{website.url}/archive"
            urls += [(url, newest) for url in (archive, *further_pages(archive, posts, PER_ARCHIVE_PAGE))]
        terms = await PostLists(self._plugin, website).terms(MAX_POSTS)
        # A list of all posts has the home page as its canonical URL.
        for term in terms:
            if term.posts < posts:
                url = term_url(website, term.kind, term.slug)
                urls += [(page, term.changed) for page in (url, *further_pages(url, term.posts))]
        return urls[: _MAX_URLS - 1 - MAX_POSTS]


def _urls(pages: Iterable[tuple[str, datetime]]) -> HttpResponse:
    """Return a sitemap of pairs of URL and time of the last change."""
    lines = (
        f"<url><loc>{escape(url)}</loc><lastmod>{changed.isoformat(timespec='seconds')}</lastmod></url>"
        for url, changed in pages
    )
    return _xml("urlset", lines)


def _index(urls: Iterable[str]) -> HttpResponse:
    return _xml("sitemapindex", (f"<sitemap><loc>{escape(url)}</loc></sitemap>" for url in urls))


def _xml(root: str, lines: Iterable[str]) -> HttpResponse:
    text = "\n".join([_HEAD, f'<{root} xmlns="{_NAMESPACE}">', *lines, f"</{root}>", ""])
    return HttpResponse(text.encode("utf-8", "replace"), media_type="application/xml; charset=utf-8")
