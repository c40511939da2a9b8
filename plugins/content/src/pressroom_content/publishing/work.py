"""The state of a publication that its steps share, and sending exactly once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import structlog
from pressroom.sdk import PluginContext

from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    BUILTIN,
    BlockSite,
    BodyCodec,
    Capabilities,
    Post,
    RemoteChanged,
    RemoteMedia,
    RemotePost,
    Site,
    SiteConnector,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    TermKind,
    UnknownOutcome,
)
from pressroom_content.publishing.bodies import ComposedBody, SiteBody, compose, remembered
from pressroom_content.publishing.known import KnownBody
from pressroom_content.publishing.posts import Manuscript, canonical_url_of, equals_sent, manuscript
from pressroom_content.publishing.store import LeasedPublication, PublicationStep, StepState
from pressroom_content.records import Article, PublicationStatus, Website
from pressroom_content.tables import PublicationRow

log = structlog.get_logger()

Result = TypeVar("Result")

_NO_EFFECT_ERRORS: Final = (SiteUnavailable, SiteRejected, SiteRefused, SiteGone, RemoteChanged)
_FAILURE_KEYS: Final = frozenset({"error_code", "remote_state", "remote_at"})
"""Keys of a step's detail that describe a failure, until the step is done."""

_MIN_POLL_SECONDS: Final = 0.2
_MAX_POLL_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Postponement:
    """The result of a step that has to wait: the publication has `status` until `due_at`."""

    status: PublicationStatus
    due_at: datetime
    error: str = ""


@dataclass(slots=True)
class PublicationWork:
    """A publication that is being processed.

    `remote` is the post as it was just read back. `current_term_kinds` holds the kinds of terms whose IDs are current.
    `recheck_at` is when to check the page again.
    """

    plugin: PluginContext[ContentConfig]
    leased: LeasedPublication
    website: Website
    connector: SiteConnector
    capabilities: Capabilities
    site: Site
    article: Article
    original_url: str
    known: KnownBody | None = None
    uploaded_media: frozenset[str] = frozenset()
    current: str = ""
    remote: RemotePost | None = None
    current_term_kinds: set[TermKind] = field(default_factory=set)
    recheck_at: datetime | None = None
    _manuscript: Manuscript | None = None
    _composed: tuple[Mapping[str, RemoteMedia], ComposedBody] | None = None

    @property
    def row(self) -> PublicationRow:
        """The publication's row."""
        return self.leased.row

    @property
    def step(self) -> PublicationStep:
        """The step in progress."""
        return self.leased.steps[self.current]

    @property
    def force(self) -> bool:
        """Whether to overwrite edits made on the site."""
        return bool((self.row.options or {}).get("force"))

    @property
    def codec(self) -> BodyCodec | None:
        """The parser of the site's bodies; `None` if the site does not store them in blocks."""
        return self.site.codec if isinstance(self.site, BlockSite) else None

    @property
    def bound(self) -> bool:
        """Whether the post existed on its site before the article did."""
        return self.known is not None and self.known.bound

    @property
    def audience(self) -> str:
        """The audience of the post when it was last read, as its platform names it; empty for everybody."""
        return str(self.known.fields.get("audience") or "") if self.known is not None else ""

    def uploaded(self) -> dict[str, RemoteMedia]:
        """Return the images that are on the site, by their IDs in the library."""
        stored = self.leased.steps["media"].detail.get("uploaded", {})
        return {identifier: RemoteMedia(**values) for identifier, values in stored.items()}

    @property
    def canonical_url(self) -> str:
        """The canonical URL of the post; empty if it is the post's own."""
        return canonical_url_of(self.article, self.row.options or {}, self.original_url)

    async def manuscript(self) -> Manuscript:
        """Return the manuscript, cached after the first call. Raises the same exceptions as `posts.manuscript`."""
        if self._manuscript is None:
            self._manuscript = await manuscript(
                self.plugin,
                self.article,
                self.website,
                self.connector,
                marker="" if self.bound else self.row.marker,
                options=self.row.options or {},
                canonical_url=self.original_url,
                in_pieces=self.codec is not None,
            )
        return self._manuscript

    async def post(self) -> Post:
        """Return the post with the IDs that the site has assigned. Raises the same exceptions as `manuscript`."""
        term_ids = self.leased.steps["terms"].detail.get("term_ids", {})
        ids: dict[Any, tuple[str, ...]] = {kind: tuple(values) for kind, values in term_ids.items()}
        prepared, run = (await self.manuscript()).without_files, self.plugin.services.workers.run
        post = await run(
            Manuscript.completed, prepared, ids, self.uploaded(), owner=self.row.user_id, what="the article"
        )
        codec = self.codec
        if codec is None:
            return post
        kept_fields = await self.kept()
        if self.connector.markdown and not self._has_foreign_blocks():
            return replace(post, kept=kept_fields)  # the connector writes the whole text as one block
        return replace(post, raw=(await self._in_blocks(codec)).body.raw, kept=kept_fields)

    def _has_foreign_blocks(self) -> bool:
        """Check whether the post existed before the article, or has blocks that only its site understands."""
        return self.known is not None and (self.bound or any(segment.key for segment in self.known.body.segments))

    async def kept(self) -> frozenset[str]:
        """Return the names of the fields that stay unchanged on the site.

        For an adopted post, these are the fields that did not change here. For one of ours, they are the fields that
        the site's owner changed and `merge_edits` left to them, until they change here.
        """
        if self.known is None:
            return frozenset()
        now = (await self.manuscript()).sent_fields()
        names = now if self.known.bound else self.known.kept
        return frozenset(name for name in names if equals_sent(name, self.known.sent, now))

    async def sent_fields(self) -> tuple[dict[str, Any], frozenset[str]]:
        """Return the fields to store as sent, and the names of those left to the site's owner."""
        now = (await self.manuscript()).sent_fields()
        if self.known is None or self.known.bound:
            return now, frozenset()
        kept_fields = await self.kept()
        return {
            name: self.known.sent.get(name, value) if name in kept_fields else value for name, value in now.items()
        }, kept_fields

    async def _in_blocks(self, codec: BodyCodec) -> ComposedBody:
        uploaded = self.uploaded()
        if self._composed is None or self._composed[0] != uploaded:
            light = (await self.manuscript()).without_files
            body = self.known.body if self.known is not None else None
            run = self.plugin.services.workers.run
            composed = await run(
                _composed,
                light,
                uploaded,
                body,
                codec,
                self.connector.markdown,
                owner=self.row.user_id,
                what="the article",
            )
            self._composed = (uploaded, composed)
        return self._composed[1]

    async def equals_site_post(self) -> bool:
        """Check whether an adopted post already equals the article, so that nothing has to be written."""
        if self.known is None or not self.bound:
            return False
        post = await self.post()
        return post.raw == self.known.body.raw and post.kept.issuperset((await self.manuscript()).sent_fields())

    def dropped(self) -> tuple[str, ...]:
        """Return the names of the site's blocks that are missing from the article."""
        return self._composed[1].lost if self._composed is not None else ()

    async def remembered(self, raw: str, codec: BodyCodec) -> SiteBody:
        """Return the sent body as the site stores it. Raises the same exceptions as `manuscript`."""
        sent = (await self._in_blocks(codec)).body
        run = self.plugin.services.workers.run
        return await run(remembered, sent, raw, codec, owner=self.row.user_id, what="the post")

    def unbind(self) -> None:
        """Turn an adopted post into one of ours, which is created again."""
        if self.known is not None:
            self.known = replace(self.known, bound=False, kept=frozenset())
            self._manuscript = self._composed = None

    def note(self, state: StepState, detail: dict[str, Any] | None = None, **values: Any) -> None:
        """Record the state of the current step. `values` are columns of the publication.

        It is written with the next save: a step that is not stored as done can be repeated.
        """
        self.leased.note(self.current, state, detail, **values)

    def done(self, detail: dict[str, Any] | None = None, **values: Any) -> None:
        """Mark the current step as done, and reset the number of attempts."""
        detail = self.step.detail if detail is None else detail
        self.note(
            "done", {name: value for name, value in detail.items() if name not in _FAILURE_KEYS}, tries=0, **values
        )

    async def once(
        self, key: str, *, look: Callable[[], Awaitable[Result | None]], send: Callable[[], Awaitable[Result]]
    ) -> tuple[Result, bool] | Postponement:
        """Send something exactly once. Return the result, and whether it existed before.

        A note is stored before sending. If there is a note already, an earlier request has an unknown outcome: the
        result is looked up on the site, and sent again only if it is missing after `settle_seconds`. Until then, a
        postponement is returned. The note remains until the end of the step is stored together with the result.

        Raises:
            LeaseLost: another process has taken over the publication; nothing was sent.
            UnknownOutcome: it was sent, but no complete response arrived.
            SiteError: it was not sent, or had no effect.
        """
        sent = dict(self.step.detail.get("sent", {}))
        if key in sent:
            existing = await look()
            if existing is not None:
                return existing, True
            settled = datetime.fromisoformat(sent[key]) + timedelta(seconds=float(self.plugin.config.settle_seconds))
            if datetime.now(UTC) < settled:
                return self._until_settled(settled)
        self.leased.lease.check()
        sent[key] = datetime.now(UTC).isoformat()
        self.note("running", self.step.detail | {"sent": sent})
        await self.leased.save()
        try:
            called = f"platform {self.connector.platform}"
            with self.plugin.extensions.calling(called, self.connector):
                return await send(), False
        except _NO_EFFECT_ERRORS:
            del sent[key]
            self.note("pending", self.step.detail | {"sent": sent})
            raise
        except UnknownOutcome:
            raise
        except Exception as error:
            log.exception("a connector failed while it sent something", publication=self.row.id, step=self.current)
            raise UnknownOutcome("the connector failed while it waited for the site's response") from error

    def without_note(self, key: str) -> dict[str, Any]:
        """Return the current step's detail without the note that something was sent."""
        sent = {name: at for name, at in self.step.detail.get("sent", {}).items() if name != key}
        return {**self.step.detail, "sent": sent}

    def first_check_seconds(self) -> float:
        """Return the seconds to wait before looking for what was just sent."""
        settle = float(self.plugin.config.settle_seconds)
        return min(_MAX_POLL_SECONDS, max(_MIN_POLL_SECONDS, settle / 4))

    def page_path(self, url: str) -> str:
        """Return the server path of a built-in site's page; empty for other sites, whatever URL they report."""
        if self.website.platform != BUILTIN or not url.startswith(f"{self.website.url}/"):
            return ""
        return f"{self.website.server_url}{url.removeprefix(self.website.url)}".removeprefix(self.plugin.base_url)[:500]

    def _until_settled(self, settled: datetime) -> Postponement:
        return Postponement(
            "unknown",
            min(datetime.now(UTC) + timedelta(seconds=self.first_check_seconds()), settled),
            "The site did not respond, and does not have the post yet. "
            "Pressroom checks again before it sends anything.",
        )


def _composed(
    manuscript: Manuscript,
    uploaded: Mapping[str, RemoteMedia],
    body: SiteBody | None,
    codec: BodyCodec,
    markdown: bool,
) -> ComposedBody:
    """Return the body in the site's blocks, with the uploaded images."""
    pieces, with_images = manuscript.placed_pieces(uploaded)
    return compose(body, pieces, codec, with_images, markdown)
