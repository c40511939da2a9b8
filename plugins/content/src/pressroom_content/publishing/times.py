"""Moments that people name: with an offset, or in the time zone of their website."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from pressroom.sdk import InvalidInput

LATEST: Final = timedelta(days=5 * 366)
"""How far ahead something may be scheduled."""


def moment(text: str, zone: ZoneInfo, *, now: datetime, name: str = "publish_at") -> datetime:
    """Return a moment in UTC.

    `text` is in the form of ISO 8601 (RFC 3339). Without an offset it is a time of day in `zone`; one that comes twice,
    when clocks go back, is the first of the two.

    Raises:
        InvalidInput: it is no moment, is skipped where clocks go forward, lies in the past or too far ahead.
    """
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(name, f"must be a time such as 2026-12-24T08:00:00+01:00 (got {text[:40]!r})") from None
    if len(text) <= len("2026-12-24"):
        raise InvalidInput(name, "needs a time of day, such as 2026-12-24T08:00:00+01:00")
    if not 1000 < read.year < 9000:
        raise InvalidInput(name, "is out of the range of dates")
    at = (read if read.tzinfo is not None else _local(read, zone, name)).astimezone(UTC)
    if at <= now:
        told = "" if read.tzinfo is not None else f" ({zone.key})"
        raise InvalidInput(
            name,
            f"lies in the past: {text[:40]}{told} is {at:%Y-%m-%d %H:%M} UTC, and it is {now:%Y-%m-%d %H:%M} UTC now. "
            "Give a later time, or use the mode publish",
        )
    if at - now > LATEST:
        raise InvalidInput(name, "may be five years ahead at most")
    return at


def _local(read: datetime, zone: ZoneInfo, name: str) -> datetime:
    at = read.replace(tzinfo=zone)
    if at.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != read:
        raise InvalidInput(name, f"does not exist in {zone.key}: clocks go forward then; give another time")
    return at
