"""Days as Search Console counts them: from midnight to midnight in California."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

PACIFIC: Final = ZoneInfo("America/Los_Angeles")
_NIGHT: Final = time(3, 0)
_SPREAD_SECONDS: Final = 3 * 3600


def today(now: datetime | None = None) -> date:
    """Return the day that it is in California."""
    return (now or datetime.now(UTC)).astimezone(PACIFIC).date()


def next_night(connection_id: str, now: datetime) -> datetime:
    """Return when figures are fetched next: between 3 and 6 o'clock in California, each connection at its own time."""
    offset = int.from_bytes(hashlib.sha256(connection_id.encode()).digest()[:4]) % _SPREAD_SECONDS
    local = now.astimezone(PACIFIC)
    for day in (local.date(), local.date() + timedelta(days=1)):
        at = datetime.combine(day, _NIGHT, PACIFIC).astimezone(UTC) + timedelta(seconds=offset)
        if at > now:
            return at
    return now + timedelta(days=1)


def span(start: date, end: date) -> list[date]:
    """Return the days from `start` to `end`, both included; none where `end` is earlier."""
    return [start + timedelta(days=number) for number in range((end - start).days + 1)]


def year_before(day: date) -> date:
    """Return the same day of the year before; the 28th for the 29th of February."""
    try:
        return day.replace(year=day.year - 1)
    except ValueError:
        return day.replace(year=day.year - 1, day=28)
