"""What is asked for when an article is published: whatever is left out stays as it is on the website."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from pressroom.sdk import InvalidInput

from pressroom_content.records import Publication
from pressroom_content.tables import PublicationRow

Mode = Literal["publish", "draft", "schedule"]

UNDER_WAY: Final = ("queued", "publishing", "unknown")


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """What somebody asks for.

    What is `None` stays as it is on the website; where nothing is there yet, `mode` is the website's own, `schedule`
    with a `publish_at`. `force` writes over edits made on the site. `again` sends what is there already.
    """

    mode: Mode | None = None
    publish_at: datetime | None = None
    options: Mapping[str, Any] | None = None
    canonical_of: str | None = None
    force: bool = False
    again: bool = False
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class BegunPublication:
    """A publication; whether work on it `begun` now, and whether it is `new`. `repeated`: this request made it."""

    publication: Publication
    begun: bool
    new: bool
    repeated: bool = False


def resolved(row: PublicationRow | None, request: PublishRequest, version: int, default_mode: Mode) -> dict[str, Any]:
    """Return the columns of the publication that is asked for, given the one that is there."""
    mode, at = request.mode, request.publish_at
    if mode is None and at is not None:
        mode = "schedule"
    elif row is not None and row.status == "published" and mode in (None, "publish"):
        # It is live: when that was planned for stays known.
        mode, at = (row.mode, row.publish_at) if row.mode == "schedule" else ("publish", None)  # type: ignore[assignment]
    elif mode is None and row is not None and row.status != "unpublished":
        mode, at = row.mode, row.publish_at  # type: ignore[assignment]
    options = dict((row.options if row is not None and request.options is None else request.options) or {})
    options.pop("force", None)
    canonical_of = request.canonical_of
    if canonical_of is None and row is not None and "canonical_url" not in (request.options or {}):
        canonical_of = row.canonical_of
    return {
        "mode": mode or default_mode,
        "publish_at": at,
        "options": options,
        "canonical_of": canonical_of,
        "article_version": version,
    }


def is_same(row: PublicationRow, asked: Mapping[str, Any]) -> bool:
    """Tell whether a publication is what is asked for."""
    there = {name: getattr(row, name) for name in asked}
    there["options"] = {name: value for name, value in (row.options or {}).items() if name != "force"}
    return there == dict(asked)


def is_repeated(row: PublicationRow, request: PublishRequest) -> bool:
    """Tell whether this very request was made before, so that only its outcome is owed."""
    stalled = row.status == "failed" or (row.status == "unknown" and row.due_at is None)
    same = request.request_id is not None and row.request_id == request.request_id
    return same and not stalled and not request.force and not request.again


def is_news(row: PublicationRow, asked: Mapping[str, Any], request: PublishRequest) -> bool:
    """Tell whether there is something to do for a request. Raises `InvalidInput` where it cannot be done."""
    same = is_same(row, asked) and not request.force and not request.again
    if same and row.status in ("published", "draft", "scheduled") and not row.error:
        return False
    if row.status == "publishing" and same:
        return False
    if row.status == "publishing" or (row.status == "queued" and not row.tries and not same):
        raise busy(row.id, row.status)
    if row.status == "published" and asked["mode"] == "draft":
        raise InvalidInput(
            "mode", f"it is live on this website; unpublish_content with {row.id} takes it down to a draft"
        )
    if row.status == "published" and asked["mode"] == "schedule" and asked["publish_at"] != row.publish_at:
        raise InvalidInput(
            "publish_at",
            "it is live on this website, and a live post cannot be scheduled; leave out publish_at and mode to update "
            f"it now, or take it down with unpublish_content ({row.id}) first",
        )
    return True


def busy(publication_id: str, status: str) -> InvalidInput:
    """Return the error for a publication that is under way, so that nothing else can be asked of it."""
    return InvalidInput(
        "content_id",
        f"its publication {publication_id} is {status}; repeat this call in a few seconds "
        "(list_publications with publication_id shows its status)",
    )
