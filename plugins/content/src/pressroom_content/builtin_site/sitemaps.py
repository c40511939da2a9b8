"""Site maps of built-in sites (sitemaps.org): one of a usual site, and one of many parts where there are many posts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import escape

from pressroom.sdk import HttpResponse, NotFound
from sqlalchemy import func, select

from pressroom_content.builtin_site.frame import PER_PAGE, SiteFrame
from pressroom_content.builtin_site.list_pages import PER_ARCHIVE_PAGE, further_pages, term_url
from pressroom_content.builtin_site.post_lists import PostLists
from pressroom_content.builtin_site.store import BuiltinSite, is_live
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.records import Website

MAX_POSTS: Final = 2_000
"""Posts and pages in one site map: it is made on the event loop, within some hundredths of a second."""

_MAX_URLS: Final = 50_000
"""The bound of the protocol, on URLs and on parts."""

_LISTS: Final = "lists"
"""The part that has no posts but everything else."""

_HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>'
_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


class SiteMaps(SiteFrame):
    """Answers requests for site maps."""

    async def answer(self, site_key: str, part: str) -> HttpResponse:
        """Return the site map of a site, or one part of it: a number from 1, or `lists`.

        Raises:
            NotFound: there is no such site, or no such part.
        """
        website = await self.website(site_key)
        shown = (BuiltinPostRow.website_id == website.id, is_live(datetime.now(UTC)))
        counted = select(BuiltinPostRow.kind, func.count()).where(*shown).group_by(BuiltinPostRow.kind)
        async with self._plugin.services.database.reading() as session:
            numbers: dict[str, int] = dict((await session.execute(counted)).all())
        total, posts = sum(numbers.values()), numbers.get("post", 0)
        newest = await BuiltinSite(self._plugin, website.id).changed_at()
        parts = -(-total // MAX_POSTS)
        if part == _LISTS:
            return _urls([(website.url, newest), *await self._lists(website, posts, newest)])
        if part:
            if not (part.isascii() and part.isdecimal() and 1 <= int(part[:6]) <= parts):
                raise NotFound("the site map has no such part")
            # The oldest first, so that a new post changes the last part alone.
            return _urls(await self._posts(website, shown, newest_first=False, offset=(int(part) - 1) * MAX_POSTS))
        if parts <= 1:
            own = await self._posts(website, shown, newest_first=True)
            return _urls([(website.url, newest), *own, *await self._lists(website, posts, newest)])
        names = (str(number) for number in range(1, min(parts, _MAX_URLS - 1) + 1))
        return _index(f"{website.url}/sitemap.xml?part={name}" for name in (*names, _LISTS))

    async def _posts(
        self, website: Website, shown: Sequence[Any], *, newest_first: bool, offset: int = 0
    ) -> Sequence[tuple[str, datetime]]:
        """Return posts and pages: URL and last change. One whose original is elsewhere is not one of the site's."""
        row = BuiltinPostRow
        came_out = func.coalesce(row.published_at, row.publish_at, row.created_at)
        order = (row.published_at.desc(), row.id.desc()) if newest_first else (row.kind, row.published_at, row.id)
        wanted = (
            select(row.slug, row.updated_at, came_out, row.fields["canonical_url"].as_string())
            .where(*shown)
            .order_by(*order)
            .limit(MAX_POSTS)
            .offset(offset)
        )
        async with self._plugin.services.database.reading() as session:
            rows = (await session.execute(wanted)).all()
        found = [(f"{website.url}/{quote(slug)}", max(at, out), original) for slug, at, out, original in rows]
        return [(url, at) for url, at, original in found if self.current(website, original or "") in ("", url)]

    async def _lists(self, website: Website, posts: int, newest: datetime) -> Sequence[tuple[str, datetime]]:
        """Return the lists of posts with their further pages, the archive, and those of terms."""
        urls = [(url, newest) for url in further_pages(website.url, posts)]
        if posts > PER_PAGE:
            archive = f"{website.url}/archive"
            urls += [(url, newest) for url in (archive, *further_pages(archive, posts, PER_ARCHIVE_PAGE))]
        terms = await PostLists(self._plugin, website).terms(MAX_POSTS)
        # A list of all posts has the site's home as its canonical URL.
        for one in terms:
            if one.posts < posts:
                url = term_url(website, one.kind, one.slug)
                urls += [(page, one.changed) for page in (url, *further_pages(url, one.posts))]
        return urls[: _MAX_URLS - 1 - MAX_POSTS]


def _urls(pages: Iterable[tuple[str, datetime]]) -> HttpResponse:
    """Return a site map of pairs of URL and time of the last change."""
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
