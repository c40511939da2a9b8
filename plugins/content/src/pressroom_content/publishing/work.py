"""What the steps of one publication work with, and how something is sent exactly once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import structlog
from pressroom.sdk import PluginContext

from pressroom_content.contract import (
    Capabilities,
    Post,
    RemoteChanged,
    RemoteMedia,
    Site,
    SiteConnector,
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.posts import Manuscript, canonical_url_of, manuscript
from pressroom_content.publishing.store import LeasedPublication, PublicationStep, StepState
from pressroom_content.records import Article, PublicationStatus, Website
from pressroom_content.tables import PublicationRow

log = structlog.get_logger()

Made = TypeVar("Made")

_WITHOUT_EFFECT: Final = (SiteUnavailable, SiteRejected, SiteRefused, SiteGone, RemoteChanged)
_OF_FAILURES: Final = frozenset({"error_code", "remote_state", "remote_at"})
"""What the detail of a step says of a failure, until the step is done."""

_MIN_POLL_SECONDS: Final = 0.2
_MAX_POLL_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Postponement:
    """What a step returns where the publication continues at another time: it has `status` until `due_at`."""

    status: PublicationStatus
    due_at: datetime
    error: str = ""


@dataclass(slots=True)
class PublicationWork:
    """One publication that is being worked on."""

    plugin: PluginContext
    held: LeasedPublication
    website: Website
    connector: SiteConnector
    able: Capabilities
    site: Site
    article: Article
    original_url: str
    current: str = ""
    _manuscript: Manuscript | None = None

    @property
    def row(self) -> PublicationRow:
        """The publication."""
        return self.held.row

    @property
    def step(self) -> PublicationStep:
        """The step that is being worked on."""
        return self.held.steps[self.current]

    @property
    def force(self) -> bool:
        """Whether edits made on the site are to be overwritten."""
        return bool((self.row.options or {}).get("force"))

    def uploaded(self) -> dict[str, RemoteMedia]:
        """Return the images that are on the site by now."""
        kept = self.held.steps["media"].detail.get("uploaded", {})
        return {identifier: RemoteMedia(**values) for identifier, values in kept.items()}

    @property
    def canonical_url(self) -> str:
        """The canonical URL of the post, empty where it is the post's own."""
        return canonical_url_of(self.article, self.row.options or {}, self.original_url)

    async def manuscript(self) -> Manuscript:
        """Return the article as the website will get it, made once. Raises what `posts.manuscript` does."""
        if self._manuscript is None:
            self._manuscript = await manuscript(
                self.plugin,
                self.article,
                self.website,
                self.connector,
                marker=self.row.marker,
                options=self.row.options or {},
                canonical_url=self.original_url,
            )
        return self._manuscript

    async def post(self) -> Post:
        """Return the post with all that is known of the site by now. Raises what `manuscript` does."""
        term_ids = self.held.steps["terms"].detail.get("term_ids", {})
        ids: dict[Any, tuple[str, ...]] = {kind: tuple(values) for kind, values in term_ids.items()}
        return (await self.manuscript()).completed(ids, self.uploaded())

    def note(self, state: StepState, detail: dict[str, Any] | None = None, **values: Any) -> None:
        """Note the state of the current step. `values` are changes of the publication.

        It is written together with what comes next: a step that is not written as done can be done again.
        """
        self.held.note(self.current, state, detail, **values)

    def done(self, detail: dict[str, Any] | None = None, **values: Any) -> None:
        """Note that the current step has ended, and reset the tries for the next."""
        detail = self.step.detail if detail is None else detail
        self.note(
            "done", {name: value for name, value in detail.items() if name not in _OF_FAILURES}, tries=0, **values
        )

    async def once(
        self, key: str, *, look: Callable[[], Awaitable[Made | None]], send: Callable[[], Awaitable[Made]]
    ) -> tuple[Made, bool] | Postponement:
        """Send something that must not be there twice; return the result, and whether it had been there before.

        A postponement is returned where it is not there, and the site may still be acting on an earlier request.

        A note is written before it is sent. If there is a note already, an earlier request went out and its outcome is
        unknown: then it is looked for at the site, and sent again only if it is not there although the site had enough
        time to act. The note stays until the step's end is written together with what was made.

        Raises:
            LeaseLost: somebody else works on the publication by now; it was not sent.
            UnknownOutcome: it was sent, and no whole answer came.
            SiteError: it was not sent, or had no effect.
        """
        sent = dict(self.step.detail.get("sent", {}))
        if key in sent:
            found = await look()
            if found is not None:
                return found, True
            settled = datetime.fromisoformat(sent[key]) + timedelta(seconds=float(self.plugin.config.settle_seconds))
            if datetime.now(UTC) < settled:
                return self._until_settled(settled)
        self.held.lease.check()
        sent[key] = datetime.now(UTC).isoformat()
        self.note("running", self.step.detail | {"sent": sent})
        await self.held.save()
        try:
            return await send(), False
        except _WITHOUT_EFFECT:
            del sent[key]
            self.note("pending", self.step.detail | {"sent": sent})
            raise
        except UnknownOutcome:
            raise
        except Exception as error:
            log.exception("a connector failed while it sent something", publication=self.row.id, step=self.current)
            raise UnknownOutcome("the connector failed while it waited for the site's answer") from error

    def without_note(self, key: str) -> dict[str, Any]:
        """Return the current step's detail without the note that something was sent."""
        sent = {name: at for name, at in self.step.detail.get("sent", {}).items() if name != key}
        return {**self.step.detail, "sent": sent}

    def first_look(self) -> float:
        """Return the seconds after which to look for what was sent just now."""
        settle = float(self.plugin.config.settle_seconds)
        return min(_MAX_POLL_SECONDS, max(_MIN_POLL_SECONDS, settle / 4))

    def _until_settled(self, settled: datetime) -> Postponement:
        return Postponement(
            "unknown",
            min(datetime.now(UTC) + timedelta(seconds=self.first_look()), settled),
            "The site did not answer; it is not there so far. Pressroom looks again before it sends anything.",
        )
