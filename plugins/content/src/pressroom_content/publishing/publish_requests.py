"""Publish requests: how they are resolved against an existing publication, when it runs and when it is retried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from pressroom.sdk import InvalidInput

from pressroom_content.records import Publication
from pressroom_content.tables import PublicationRow

Mode = Literal["publish", "draft", "schedule"]

UNDER_WAY: Final = ("queued", "publishing", "unknown")


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """A request to publish an article.

    A field that is `None` keeps the value of the existing publication. If only `publish_at` is set, `mode` is
    `schedule`; without an existing publication it is the website's default. `force` overwrites edits made on the site.
    `again` resends even if nothing changed.
    """

    mode: Mode | None = None
    publish_at: datetime | None = None
    options: Mapping[str, Any] | None = None
    canonical_of: str | None = None
    force: bool = False
    again: bool = False
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class PublicationStart:
    """A publication, whether work on it has `started`, and whether it is `new`.

    `repeated` is true if an earlier call with the same request ID made it.
    """

    publication: Publication
    started: bool
    new: bool
    repeated: bool = False


def resolved(row: PublicationRow | None, request: PublishRequest, version: int, default_mode: Mode) -> dict[str, Any]:
    """Return the columns that a publication gets from a request, given its current row."""
    mode, at = request.mode, request.publish_at
    if mode is None and at is not None:
        mode = "schedule"
    elif row is not None and row.status == "published" and mode in (None, "publish"):
        # It is live already: keep the time that it was scheduled for.
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


def is_same(row: PublicationRow, columns: Mapping[str, Any]) -> bool:
    """Check whether a publication already has the requested columns."""
    current = {name: getattr(row, name) for name in columns}
    current["options"] = {name: value for name, value in (row.options or {}).items() if name != "force"}
    return current == dict(columns)


def is_repeated(row: PublicationRow, request: PublishRequest) -> bool:
    """Check whether a request with the same ID was made before, so that only its outcome has to be returned."""
    stalled = row.status == "failed" or (row.status == "unknown" and row.due_at is None)
    same_request = request.request_id is not None and row.request_id == request.request_id
    return same_request and not stalled and not request.force and not request.again


def needs_work(row: PublicationRow, columns: Mapping[str, Any], request: PublishRequest) -> bool:
    """Check whether a request requires any work. Raises `InvalidInput` if it cannot be fulfilled."""
    same = is_same(row, columns) and not request.force and not request.again
    if same and row.status in ("published", "draft", "scheduled") and not row.error:
        return False
    if row.status == "publishing" and same:
        return False
    if row.status == "publishing" or (row.status == "queued" and not row.tries and not same):
        raise busy(row.id, row.status)
    if row.status == "published" and columns["mode"] == "draft":
        raise InvalidInput(
            "mode", f"it is live on this website; unpublish_content with {row.id} takes it down to a draft"
        )
    if row.status == "published" and columns["mode"] == "schedule" and columns["publish_at"] != row.publish_at:
        raise InvalidInput(
            "publish_at",
            "it is live on this website, and a live post cannot be scheduled; leave out publish_at and mode to update "
            f"it now, or take it down with unpublish_content ({row.id}) first",
        )
    return True


def busy(publication_id: str, status: str) -> InvalidInput:
    """Return the error for a publication that is in progress and cannot take another request."""
    return InvalidInput(
        "content_id",
        f"its publication {publication_id} is {status}; repeat this call in a few seconds "
        "(list_publications with publication_id shows its status)",
    )


LATEST: Final = timedelta(days=5 * 366)
"""The maximum time that a post can be scheduled ahead."""


def moment(text: str, zone: ZoneInfo, *, now: datetime, name: str = "publish_at") -> datetime:
    """Parse a date and time and return it in UTC.

    `text` is in ISO 8601 format (RFC 3339). Without an offset it is local time in `zone`. A local time that occurs
    twice, when clocks go back, means the first occurrence.

    Raises:
        InvalidInput: it is not a time, is skipped when clocks go forward, or is in the past or too far ahead.
    """
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(name, f"must be a time such as 2026-12-24T08:00:00+01:00 (got {text[:40]!r})") from None
    if len(text) <= len("2026-12-24"):
        raise InvalidInput(name, "needs a time of day, such as 2026-12-24T08:00:00+01:00")
    if not 1000 < parsed.year < 9000:
        raise InvalidInput(name, "is out of range")
    at = (parsed if parsed.tzinfo is not None else _local(parsed, zone, name)).astimezone(UTC)
    if at <= now:
        requested, current = (instant.astimezone(zone).isoformat(timespec="seconds") for instant in (at, now))
        raise InvalidInput(
            name,
            f"is in the past: {requested}, while it is {current} in the website's time zone, {zone.key}. Give "
            "a later time, or publish it now",
        )
    if at - now > LATEST:
        raise InvalidInput(name, "may be five years ahead at most")
    return at


def _local(parsed: datetime, zone: ZoneInfo, name: str) -> datetime:
    at = parsed.replace(tzinfo=zone)
    if at.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != parsed:
        raise InvalidInput(name, f"does not exist in {zone.key}: clocks go forward then; give another time")
    return at


WAIT_SECONDS: Final = (5.0, 30.0, 120.0, 600.0, 1800.0)
"""The delays between attempts, in seconds. After the last delay there is one more attempt."""

MAX_RETRY_AFTER_SECONDS: Final = 3600.0
"""The maximum `Retry-After` of a site that is honoured, in seconds."""

SPREAD: Final = 0.25
"""The jitter, as a share of the delay, that keeps simultaneous failures from retrying simultaneously."""


def pause(tries: int, chance: float) -> float | None:
    """Return the seconds to wait after this number of earlier attempts, or `None` if this one was the last.

    `chance`, from 0 to 1, scales the jitter.
    """
    if tries >= len(WAIT_SECONDS):
        return None
    return WAIT_SECONDS[tries] * (1 + SPREAD * chance)


CLASH: Final = timedelta(hours=1)
"""Publications of one website that are closer together than this compete for readers."""

MAX_CLASHES: Final = 10

GAP_DAYS: Final = 7
"""The minimum number of days without a post that counts as a gap."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of days, both inclusive, on which nothing is published."""

    begin: date
    end: date

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.end - self.begin).days + 1


def clashes(publications: Sequence[Publication]) -> dict[str, list[str]]:
    """Return, by ID, the publications of the same website that go out within an hour of it, in their order.

    At most the nearest `MAX_CLASHES` before and after each are named.
    """
    clashing: dict[str, list[str]] = defaultdict(list)
    by_site: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for publication in publications:
        if publication.publish_at is not None:
            by_site[publication.website_id].append((publication.publish_at, publication.id))
    for moments in by_site.values():
        moments.sort()
        for index, (at, first) in enumerate(moments):
            for following, second in moments[index + 1 : index + 1 + MAX_CLASHES]:
                if following - at < CLASH:
                    clashing[first].append(second)
                    clashing[second].append(first)
    return dict(clashing)


def gaps(days: Sequence[date], begin: date, end: date) -> list[Gap]:
    """Return the stretches of `GAP_DAYS` or more days from `begin` to `end`, inclusive, without a publication."""
    ranges: list[Gap] = []
    free_from = begin
    for day in [*sorted(set(days)), end + timedelta(days=1)]:
        if (day - free_from).days >= GAP_DAYS:
            ranges.append(Gap(free_from, day - timedelta(days=1)))
        free_from = max(free_from, day + timedelta(days=1))
    return ranges
