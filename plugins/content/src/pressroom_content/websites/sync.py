"""Background jobs of websites: indexing posts, renewing proofs and re-encrypting credentials; also listing terms.

A pass over all posts of a website may take several calls: its cursor records where the last one ended.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, Final, Self

from pressroom.columns import new_id
from pressroom.sdk import CallError, InvalidInput, Job, JobRun, PluginContext
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract import RemotePost, SiteError, SiteRefused, Term, TermKind
from pressroom_content.contract.control import is_below, web_url
from pressroom_content.contract.site_errors import storable
from pressroom_content.language import run_with_languages
from pressroom_content.records import Website
from pressroom_content.rendering.from_html import text_of
from pressroom_content.tables import PageRow, PublicationRow
from pressroom_content.text_index.corpus import fingerprint_of, forget, remember
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connectors import require_term_kind
from pressroom_content.websites.control import Controls
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites

SECONDS: Final = 600.0
MAX_TERMS: Final = 200
_MAX_CACHED: Final = 1000

_Key = tuple[str, int, str, str]

JOB: Final = "content.sync_website"
_MAX_TEXT_LENGTH: Final = 2_000_000
_MAX_EXCERPT_LENGTH: Final = 1000
MAX_PAGES: Final = 20_000
"""The maximum number of indexed pages per site: a site may return new ones forever."""

_BATCH: Final = 500

RESEAL: Final = "content.reseal"
RENEW: Final = "content.renew_control"
DOMAINS: Final = "content.check_domains"
_QUARTER_HOUR: Final = 900.0
_DAY: Final = 86_400.0


class Taxonomies:
    """Reads terms from sites, with a cache."""

    _cache: ClassVar[OrderedDict[_Key, tuple[float, Sequence[Term]]]] = OrderedDict()

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def terms(self, user_id: str, website_id: str, kind: TermKind, query: str) -> Sequence[Term]:
        """Return the terms of a kind, at most 200. Raises `NotFound`, `InvalidInput` and `SiteError`."""
        websites = Websites(self._plugin)
        website = await websites.get(user_id, website_id)
        require_term_kind(self._plugin, website.platform, kind)
        key = (website.id, website.version, kind, query.casefold())
        cached = self._cache.get(key)
        if cached is not None and time.monotonic() - cached[0] < SECONDS:
            return cached[1]
        _, site = await websites.open(user_id, website_id)
        try:
            terms = tuple(await site.terms(kind, query, MAX_TERMS))
        except SiteRefused:
            raise  # the platform does not have terms of that kind, which is not an error of the site
        except SiteError as error:
            await websites.note_error(website.id, error)
            raise
        self._cache[key] = (time.monotonic(), terms)
        while len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)
        return terms


async def sync(plugin: PluginContext, run: JobRun) -> Mapping[str, Any]:
    """Index a site's posts, and return how many are new, changed, unchanged and gone.

    Safe to repeat: pages are identified by URL, and unchanged ones are skipped. If the site has more posts than
    requested, `next_cursor` continues after them. Once a pass is complete, in however many jobs, pages that it did not
    see are deleted from the index.

    Raises `CallError` if the site cannot be read.
    """
    payload = run.payload
    website_id, max_items = str(payload["website_id"]), int(payload["max_items"])
    if payload.get("cursor"):
        sync_pass = SyncPass.of_cursor(payload["cursor"])
    else:
        sync_pass = SyncPass(datetime.now(UTC), since=payload.get("since") or "")
    end = min(sync_pass.read + max_items, MAX_PAGES)
    websites = Websites(plugin)
    website = await websites.get(run.subject, website_id)
    fingerprints = await _seen(plugin, website, sync_pass) if sync_pass.read else {}
    counts, read, more = {"new": 0, "changed": 0, "unchanged": 0}, 0, False
    try:
        _, site = await websites.open(run.subject, website_id)
        # Sites have no cursor of their own: posts that earlier jobs of the pass read are listed again and skipped.
        async for post in site.posts(sync_pass.changed_since, end + 1):
            if read >= end:
                more = True
                break
            read += 1
            if not _own(website, post.url) or fingerprints.get(_url(post)) == _digest(post):
                continue
            counts[await keep(plugin, website, post)] += 1
            done = sum(counts.values())
            await run.progress(min(0.99, done / max_items), f"{done} posts")
    except SiteError as error:
        await websites.note_error(website_id, error)
        raise CallError(error.message, hint=error.hint) from error
    deleted = 0 if more or sync_pass.since else await _forget_unseen(plugin, website, sync_pass)
    next_cursor = sync_pass.cursor(read) if more and end < MAX_PAGES else None
    return {
        "website_id": website_id,
        "posts": sum(counts.values()),
        **counts,
        "gone": deleted,
        "next_cursor": next_cursor,
        "note": _note(next_cursor, more=more),
    }


def _note(next_cursor: str | None, *, more: bool) -> str:
    if next_cursor is not None:
        return f"The website has more posts: call sync_website_content again with cursor {next_cursor}."
    if more:
        return f"The website has more posts, but {MAX_PAGES:,} of a website are read at most."
    return "All posts were read."


async def _seen(plugin: PluginContext, website: Website, sync_pass: SyncPass) -> Mapping[str, bytes]:
    """Return the fingerprints of the pages that earlier jobs of a pass read, by URL."""
    query = select(PageRow.url, PageRow.fingerprint).where(
        PageRow.website_id == website.id, PageRow.seen_at >= sync_pass.started_at
    )
    async with plugin.services.database.reading() as session:
        return {row.url: row.fingerprint for row in await session.execute(query)}


async def _forget_unseen(plugin: PluginContext, website: Website, sync_pass: SyncPass) -> int:
    """Delete the pages that a complete pass did not see, and return their number."""
    unseen = select(PageRow.id).where(PageRow.website_id == website.id, PageRow.seen_at < sync_pass.started_at)
    forgotten = 0
    while True:
        async with plugin.services.database.writing() as session:
            ids = (await session.scalars(unseen.limit(_BATCH))).all()
            if not ids:
                return forgotten
            await forget(session, *ids)
            await session.execute(delete(PageRow).where(PageRow.id.in_(ids)))
        forgotten += len(ids)


def _own(website: Website, url: str) -> bool:
    """Return whether a post's URL is below the site's own: a site cannot claim URLs of other sites."""
    return is_below(url, website.url) if website.url else bool(web_url(url))


def _title(post: RemotePost) -> str:
    return storable(str(post.fields.get("title", "")))[:500]


def _url(post: RemotePost) -> str:
    return storable(post.url)[:2048]


def _digest(post: RemotePost) -> bytes:
    return hashlib.sha256(f"{_title(post)}\0{post.html}".encode("utf-8", "replace")).digest()


async def keep(plugin: PluginContext, website: Website, post: RemotePost) -> str:
    """Index a post of a site as a page. Return whether it is `new`, `changed` or `unchanged`."""
    title, digest, url, now = _title(post), _digest(post), _url(post), datetime.now(UTC)
    same_page = select(PageRow).where(PageRow.website_id == website.id, PageRow.url == url)
    async with plugin.services.database.writing() as session:
        row = await session.scalar(same_page)
        if row is not None and row.fingerprint == digest:
            row.seen_at = now
            return "unchanged"
    workers, owner = plugin.services.workers, website.user_id
    text = await workers.run(text_of, storable(post.html[:_MAX_TEXT_LENGTH]), owner=owner, what="a post")
    language = str(post.fields.get("language") or site_settings.read(website.settings).language)
    text_fingerprint = await run_with_languages(
        workers, fingerprint_of, title, text, language, owner=owner, what="a post"
    )
    async with plugin.services.database.writing() as session:
        article_id = await session.scalar(
            select(PublicationRow.article_id).where(
                PublicationRow.website_id == website.id, PublicationRow.external_id == storable(post.id)
            )
        )
        row = await session.scalar(same_page)
        new = row is None
        if row is None:
            row = PageRow(id=new_id("g"), user_id=website.user_id, website_id=website.id, url=url)
            session.add(row)
        row.article_id = article_id
        row.external_id, row.title, row.fingerprint = storable(post.id)[:200], title, digest
        row.excerpt = storable(str(post.fields.get("excerpt", "")) or text)[:_MAX_EXCERPT_LENGTH]
        row.length, row.updated_at, row.seen_at = text_fingerprint.length, post.updated_at, now
        await session.flush()
        await remember(session, website.user_id, row.id, text_fingerprint)
        if new:
            await _forget_oldest(session, website.id)
    return "new" if new else "changed"


async def _forget_oldest(session: AsyncSession, website_id: str) -> None:
    """Delete the pages of a site above the limit, least recently seen first."""
    condition = PageRow.website_id == website_id
    count = int(await session.scalar(select(func.count()).where(condition)) or 0)
    if count > MAX_PAGES:
        oldest = select(PageRow.id).where(condition).order_by(PageRow.seen_at).limit(count - MAX_PAGES)
        ids = (await session.scalars(oldest)).all()
        await forget(session, *ids)
        await session.execute(delete(PageRow).where(PageRow.id.in_(ids)))


def jobs(plugin: PluginContext) -> Sequence[Job]:
    """Return the jobs: indexing sites, re-encrypting credentials, renewing proofs and checking domains."""

    async def read_site(run: JobRun) -> Mapping[str, Any]:
        return await sync(plugin, run)

    async def reseal(_run: JobRun) -> Mapping[str, Any]:
        return {"encrypted_anew": await Websites(plugin).reseal()}

    async def renew(_run: JobRun) -> Mapping[str, Any]:
        return {"looked_at": await Controls(plugin).renew()}

    async def check_domains(_run: JobRun) -> Mapping[str, Any]:
        return {"looked_at": await Domains(plugin).renew()}

    return [
        Job(JOB, read_site, timeout=3600),
        Job(RESEAL, reseal, every=_DAY),
        Job(RENEW, renew, every=_DAY, timeout=3600),
        Job(DOMAINS, check_domains, every=_QUARTER_HOUR, timeout=3600),
    ]


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = re.compile(r"(\d{1,18})-(\d{1,6})(?:-(\d{4}-\d{2}-\d{2}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SyncPass:
    """A pass over the posts of a website. Pages that were seen after `started_at` belong to it.

    `read` is the number of posts that earlier calls read. `since` is the day that the first call was given, such as
    `2026-11-21`; empty if all posts are read.
    """

    started_at: datetime
    read: int = 0
    since: str = ""

    @property
    def changed_since(self) -> datetime | None:
        """The time since which posts of the pass have changed; `None` if all are read."""
        return datetime.fromisoformat(self.since).replace(tzinfo=UTC) if self.since else None

    def cursor(self, read: int) -> str:
        """Return the cursor with which the next call continues after this many posts."""
        micros = (self.started_at - _EPOCH) // timedelta(microseconds=1)
        return f"{micros}-{read}" + (f"-{self.since}" if self.since else "")

    @classmethod
    def of_cursor(cls, cursor: str) -> Self:
        """Return the pass that a cursor continues. Raises `InvalidInput` if the cursor is malformed."""
        with suppress(ValueError, OverflowError):  # no such time or day
            match = _CURSOR.fullmatch(cursor)
            if match is not None:
                started_at = _EPOCH + timedelta(microseconds=int(match[1]))
                since = date.fromisoformat(match[3]).isoformat() if match[3] else ""
                if started_at <= datetime.now(UTC):
                    return cls(started_at, int(match[2]), since)
        raise InvalidInput(
            "cursor", "must be the next_cursor of an earlier job of this tool; leave it out to start over"
        )
