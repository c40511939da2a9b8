"""What the steps of one publication work with, and how something is sent once and not twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
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
    SiteGone,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.posts import Manuscript
from pressroom_content.publishing.store import Held, PublicationStore, Step
from pressroom_content.records import Article, PublicationStatus, Website
from pressroom_content.tables import PublicationRow

log = structlog.get_logger()

Made = TypeVar("Made")

_WITHOUT_EFFECT: Final = (SiteUnavailable, SiteRejected, SiteRefused, SiteGone, RemoteChanged)
_MIN_POLL_SECONDS: Final = 0.2
_MAX_POLL_SECONDS: Final = 10.0


class Later(Exception):
    """The publication goes on at another time: it stands at `status` until `due_at`."""

    def __init__(self, status: PublicationStatus, due_at: datetime, error: str = "") -> None:
        super().__init__(error)
        self.status = status
        self.due_at = due_at
        self.error = error


@dataclass(slots=True)
class Work:
    """One publication that is being worked on."""

    plugin: PluginContext
    store: PublicationStore
    held: Held
    website: Website
    able: Capabilities
    site: Site
    article: Article
    manuscript: Manuscript
    current: str = ""
    warnings: list[str] = field(default_factory=list)

    @property
    def row(self) -> PublicationRow:
        """The publication."""
        return self.held.row

    @property
    def step(self) -> Step:
        """The step that is being worked on."""
        return self.held.steps[self.current]

    @property
    def force(self) -> bool:
        """Whether edits that were made on the site are to be written over."""
        return bool((self.row.options or {}).get("force"))

    def uploaded(self) -> dict[str, RemoteMedia]:
        """Return the images that are on the site by now."""
        kept = self.held.steps["media"].detail.get("uploaded", {})
        return {identifier: RemoteMedia(**values) for identifier, values in kept.items()}

    def post(self) -> Post:
        """Return the post with all that is known of the site by now."""
        term_ids = self.held.steps["terms"].detail.get("term_ids", {})
        ids: dict[Any, tuple[str, ...]] = {kind: tuple(values) for kind, values in term_ids.items()}
        return self.manuscript.completed(ids, self.uploaded())

    async def done(self, detail: dict[str, Any] | None = None, **values: Any) -> None:
        """End the current step, with new patience for the next. `values` are changes of the publication."""
        await self.store.step(self.held, self.current, "done", detail, tries=0, **values)

    async def once(
        self, key: str, *, look: Callable[[], Awaitable[Made | None]], send: Callable[[], Awaitable[Made]]
    ) -> tuple[Made, bool]:
        """Send something that must not be there twice; return what came of it, and whether it had been there before.

        That it is sent is noted before. Where a note is found, an earlier request went out and nobody knows what
        became of it: then it is looked for at the site, and sent again only if it is not there although the site had
        time enough to act. The note stays until the step's end is written together with what was made.

        Raises:
            Later: it is not there, and the site may still be acting on the earlier request.
            UnknownOutcome: it was sent, and no whole answer came.
            SiteError: it was not sent, or had no effect.
        """
        sent = dict(self.step.detail.get("sent", {}))
        if key in sent:
            found = await look()
            if found is not None:
                return found, True
            self._wait_until_settled(datetime.fromisoformat(sent[key]))
        self.held.check()
        sent[key] = datetime.now(UTC).isoformat()
        await self.store.step(self.held, self.current, "running", self.step.detail | {"sent": sent})
        try:
            return await send(), False
        except _WITHOUT_EFFECT:
            del sent[key]
            await self.store.step(self.held, self.current, "pending", self.step.detail | {"sent": sent})
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

    def _wait_until_settled(self, since: datetime) -> None:
        settled = since + timedelta(seconds=float(self.plugin.config.settle_seconds))
        if datetime.now(UTC) < settled:
            raise Later(
                "unknown",
                min(datetime.now(UTC) + timedelta(seconds=self.first_look()), settled),
                "the site did not answer; it is not there so far, and is looked for again before anything is sent",
            )
