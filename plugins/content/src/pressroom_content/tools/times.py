"""Times as tools tell them: in the time zone of a website, with the offset."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, overload
from zoneinfo import ZoneInfo

UTC_ZONE: Final = ZoneInfo("UTC")


def website_zone(zones: Mapping[str, ZoneInfo], website_id: str | None) -> ZoneInfo:
    """Return the time zone of a website, UTC for no website."""
    return zones.get(website_id or "", UTC_ZONE)


@overload
def local_time(at: datetime, zone: ZoneInfo) -> datetime: ...
@overload
def local_time(at: datetime | None, zone: ZoneInfo) -> datetime | None: ...
def local_time(at: datetime | None, zone: ZoneInfo) -> datetime | None:
    """Return a moment in a time zone, without fractions of a second."""
    return None if at is None else at.astimezone(zone).replace(microsecond=0)


def time_text(at: datetime, zone: ZoneInfo) -> str:
    """Return a moment as models read it: `2026-12-24 08:00 +01:00`, or `2026-12-24 07:00 UTC`."""
    local = at.astimezone(zone)
    offset = "UTC" if zone.key == "UTC" else local.isoformat()[-6:]
    return f"{local:%Y-%m-%d %H:%M} {offset}"
