"""Verifying a publication: the state that the platform's API reports, and the page that visitors see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urljoin

from pressroom.sdk import CallError, Fetched, FetchFailed, FetchRefused, PluginContext

from pressroom_content.articles.store import Articles
from pressroom_content.contract import RecallingSite, RemoteMedia, SiteGone
from pressroom_content.publishing.comparing import compared, edits_message, is_unedited, plain
from pressroom_content.publishing.known import original_of
from pressroom_content.publishing.losses import read_losses
from pressroom_content.publishing.posts import (
    Manuscript,
    canonical_url_of,
    capabilities_of,
    manuscript,
)
from pressroom_content.publishing.publications import Publications
from pressroom_content.records import Article, Publication, Website
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.control import read_live_page
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites

_MAX_BYTES: Final = 10_000_000
_SECONDS: Final = 15.0
_READ_SECONDS: Final = 5.0
_COMPARE_SECONDS: Final = 20.0
_FORBIDDEN: Final = 403
_MISSING_STATUSES: Final = (_FORBIDDEN, 404, 410)
"""Status codes of static hosts for a missing page: buckets that do not allow listing return 403."""

_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_BEING_BUILT: Final = (
    "the page is not there yet: the site is being built; Pressroom checks again in some minutes, and "
    "list_publications with verify checks now"
)
_BEING_REBUILT: Final = (
    "the page still shows an older version: the site is being built; Pressroom checks again in some minutes, and "
    "list_publications with verify checks now"
)
_NOT_BUILT: Final = (
    "the page is not there: the site was not built since the post was committed, or the build failed; check the "
    "build log"
)
_NOT_SHOWN: Final = (
    "the URL of the post responds with status 403: the site was not built since the post was committed, the build "
    "failed, or visitors may not see the page; check the build log, and open the page without signing in"
)

PATIENT_SECONDS: Final = 60.0
"""The timeout for a page in background checks, in seconds: a site may be slow to render a long post at first."""

RECHECK_DELAYS: Final = (timedelta(minutes=2), timedelta(minutes=5), timedelta(minutes=15))
"""The delays before the next checks of a page that may still appear. There is no further check after the last."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a page check: entries for `verified`, and warnings of one sentence each.

    With `in_trouble` the site did not return the page, but may do so later.
    """

    facts: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    in_trouble: bool = False

    @property
    def being_built(self) -> bool:
        """Whether this version of the page is missing because its site still has to be built."""
        return bool(self.facts.get("being_built"))

    @property
    def later(self) -> bool:
        """Whether a later check may find more."""
        return self.being_built or self.in_trouble


@dataclass(frozen=True, slots=True)
class ExpectedPage:
    """The expected content of a page. `html` is the body; if it is empty, only the head is checked.

    `built` is true if the site has to be built before a page appears, `waiting` if the build may still be running, and
    `updated` if an older version may be shown meanwhile.
    """

    url: str
    title: str
    canonical_url: str = ""
    html: str = ""
    built: bool = False
    waiting: bool = False
    updated: bool = False


async def verify(plugin: PluginContext, expected: ExpectedPage, seconds: float = _SECONDS) -> Verification:
    """Check a live page within this many seconds. Network failures are reported as warnings, not raised."""
    url = expected.url
    if not url:
        return Verification({}, ("the site gave no URL for the post, so its page was not checked",))
    try:
        if await Domains(plugin).site_path_of(url) is not None:
            page = await _builtin_page(plugin, url)
        else:
            page = await plugin.services.fetcher.get(
                url, accept="text/html", max_bytes=_MAX_BYTES, seconds=seconds, redirects=5
            )
    except (FetchFailed, FetchRefused) as error:
        return Verification(
            {"url": url, "http_status": None, "checked_at": _now()},
            (f"the page could not be checked: {error.message}",),
            in_trouble=isinstance(error, FetchFailed),
        )
    if expected.built and page.status in _MISSING_STATUSES:
        facts = {"url": page.url, "http_status": page.status, "checked_at": _now()}
        if not expected.waiting:
            return Verification(facts, (_NOT_SHOWN if page.status == _FORBIDDEN else _NOT_BUILT,))
        return Verification(facts | {"being_built": True}, (_BEING_BUILT,))
    return await _checked(plugin, page, expected)


async def _builtin_page(plugin: PluginContext, url: str) -> Fetched:
    """Return a page of a built-in site without a network request: this server may be unable to reach itself."""
    from pressroom_content.builtin_site.routes import fetched  # noqa: PLC0415 - loads the templates

    return await fetched(plugin, url)


async def _checked(plugin: PluginContext, page: Fetched, expected: ExpectedPage) -> Verification:
    facts: dict[str, Any] = {"url": page.url, "http_status": page.status, "checked_at": _now()}
    if page.status != 200:
        warning = f"the URL of the post responds with status {page.status}"
        return Verification(facts, (warning,), in_trouble=page.status == _TOO_MANY or page.status >= _SERVER_ERROR)
    if page.media_type not in ("text/html", "application/xhtml+xml"):
        return Verification(facts, (f"the URL of the post is not a web page but {page.media_type or 'of no type'}",))
    try:
        live_page = await plugin.services.workers.run(
            read_live_page, page.content, what="the page", seconds=_READ_SECONDS
        )
    except CallError as error:
        return Verification(facts, (f"the page could not be checked: {error.message}",))
    canonical = urljoin(page.url, live_page.canonical) if live_page.canonical else ""
    robots = f"{live_page.robots},{page.headers.get('x-robots-tag', '')}".lower()
    facts |= {
        "title_found": any(plain(expected.title) in plain(head) for head in live_page.titles),
        "canonical": canonical,
        "indexable": "noindex" not in robots and "none" not in [part.strip() for part in robots.split(",")],
    }
    lost = await _lost(plugin, page, expected)
    if expected.updated and expected.waiting and (lost or not facts["title_found"]):
        return Verification(facts | {"being_built": True}, (_BEING_REBUILT,))
    return Verification(facts, (*_warnings(facts, expected.url, expected.canonical_url), *lost))


async def _lost(plugin: PluginContext, page: Fetched, expected: ExpectedPage) -> tuple[str, ...]:
    """Return the content of the body that the page lost, one sentence each."""
    if not expected.html:
        return ()
    run = plugin.services.workers.run
    try:
        return tuple(
            await run(read_losses, page.content, expected.html, page.url, what="the page", seconds=_COMPARE_SECONDS)
        )
    except CallError as error:
        return (f"the page was not compared with the article: {error.message}",)


def _warnings(facts: Mapping[str, Any], url: str, canonical_url: str) -> list[str]:
    warnings = []
    if not facts["title_found"]:
        warnings.append("the page does not show the title of the article; a cache may still hold an older one")
    if not facts["indexable"]:
        warnings.append("the page tells search engines not to index it (noindex)")
    expected = canonical_url or url
    if facts["canonical"] and facts["canonical"].rstrip("/") != expected.rstrip("/"):
        warnings.append(f"the page's canonical URL is {facts['canonical'][:200]}, not {expected[:200]}")
    if canonical_url and not facts["canonical"]:
        warnings.append("the page does not have the canonical URL that was set")
    return warnings


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class RemoteState:
    """The state of a post and its page.

    `edited` is whether the post was edited on the site, `None` if that is unknown; `edits` describes the edits. With
    `lost` the post no longer exists, or is not in its expected state.
    """

    verified: Mapping[str, Any]
    drift: tuple[str, ...]
    edited: bool | None
    edits: str = ""
    lost: bool = False


async def look(plugin: PluginContext, publication: Publication, seconds: float = _SECONDS) -> RemoteState:
    """Read the post from its site, and its page as a visitor would. What cannot be checked is reported in the result.

    The page is given this many seconds to load.
    """
    if not publication.external_id:
        return RemoteState({}, (), None)
    drift: list[str] = []
    edited: bool | None = None
    edits, lost = "", False
    try:
        _, site = await Websites(plugin).open(publication.user_id, publication.website_id)
        async with plugin.services.database.reading() as session:
            row = await session.get_one(PublicationRow, publication.id)
        if isinstance(site, RecallingSite):
            site.recall(row.external_id, row.url, row.revision)
        remote = await site.read(publication.external_id)
        edited = not await compared(plugin, is_unedited, remote, row.sent_hash) if row.sent_hash else None
        if edited:
            steps = {step.name: step for step in await Publications(plugin).steps(publication.id)}
            baseline = steps["read_back"].detail.get("seen") if "read_back" in steps else None
            edits = await compared(plugin, edits_message, baseline, remote)
            drift.append(edits)
        if publication.status == "published" and remote.state != "live":
            lost = True
            drift.append(f"the post is {remote.state} on the site and not live; publish_content brings it back")
        if publication.status == "draft" and remote.state != "draft":
            lost = remote.state == "trashed"
            drift.append(f"the post is {remote.state} on the site, although it is a draft here")
    except SiteGone:
        lost = True
        drift.append("the post is no longer on the site; publish_content creates it again")
    except CallError as error:
        drift.append(f"the site could not be asked: {error.message}")
    if publication.status != "published":
        return RemoteState({}, tuple(drift), edited, edits, lost)
    website = await Websites(plugin).get(publication.user_id, publication.website_id)
    article = await Articles(plugin).get(publication.user_id, publication.article_id, publication.article_version)
    original = await original_of(plugin, publication.user_id, publication.canonical_of)
    canonical_url = canonical_url_of(article, publication.options, original[0] if original else "")
    built = capabilities_of(website, connector_of(plugin, website.platform)).built
    waiting = built and publication.due_at is not None
    expected = ExpectedPage(
        url=publication.url,
        title=article.title,
        canonical_url=canonical_url,
        html=await sent_body(plugin, publication, article, website, canonical_url),
        built=built,
        waiting=waiting,
        updated=waiting and await _was_there(plugin, publication),
    )
    verification = await verify(plugin, expected, seconds)
    awaited = publication.due_at is not None or bool(publication.verified.get("being_built"))
    if awaited or verification.facts.get("http_status") is not None:  # earlier results outlast an outage
        await Publications(plugin).note_verified(
            publication, verification.facts, verification.warnings, over=not verification.later
        )
    return RemoteState(verification.facts, (*drift, *verification.warnings), edited, edits, lost)


async def sent_body(
    plugin: PluginContext, publication: Publication, article: Article, website: Website, canonical_url: str
) -> str:
    """Return the body as it was sent, or "" if it cannot be reproduced."""
    connector, steps = connector_of(plugin, website.platform), await Publications(plugin).steps(publication.id)
    uploaded: dict[str, dict[str, str]] = next(
        (step.detail.get("uploaded", {}) for step in steps if step.name == "media"), {}
    )
    images = {identifier: RemoteMedia(**values) for identifier, values in uploaded.items()}
    try:
        prepared = await manuscript(
            plugin, article, website, connector, marker="", options=publication.options, canonical_url=canonical_url
        )
    except CallError:
        return ""
    run = plugin.services.workers.run
    post = await run(
        Manuscript.completed, prepared.without_files, {}, images, owner=website.user_id, what="the article"
    )
    return post.html


async def _was_there(plugin: PluginContext, publication: Publication) -> bool:
    """Check whether the page existed before the version that is expected."""
    steps = await Publications(plugin).steps(publication.id)
    return any(step.name == "verify" and step.detail.get("updated") for step in steps)
