"""Formatting of times, states, scores and messages on the dashboard's pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from pressroom_content.records import Website
from pressroom_content.websites.settings import zone_of

GOOD_SCORE: Final = 80
FAIR_SCORE: Final = 60

_SPANS: Final = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3600, "hour"), (60, "minute"))
_STATES: Final[Mapping[str, tuple[str, str]]] = {
    "draft": ("draft", ""),
    "scheduled": ("scheduled", "soon"),
    "published": ("published", "good"),
    "trashed": ("in the trash", "bad"),
    "queued": ("waiting", "soon"),
    "publishing": ("on its way", "soon"),
    "failed": ("failed", "bad"),
    "unknown": ("no response yet", "careful"),
    "unpublished": ("unpublished", ""),
}

_LITERAL: Final = re.compile(r"\S*[./:@]\S")
"""The beginning of a text that keeps its case: a URL, a host name, an e-mail address, or a file name."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: `iso` for programs, `text` as a date and time, `ago` relative to the present."""

    iso: str
    text: str
    ago: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A state in a word or two; `kind` is the CSS class that colours it."""

    text: str
    kind: str


def moment(at: datetime, now: datetime, zone: tzinfo = UTC) -> Moment:
    """Return a time formatted in a time zone."""
    local = at.astimezone(zone)
    name = "UTC" if zone is UTC else str(zone)
    return Moment(at.isoformat(timespec="seconds"), f"{local.day} {local:%b %Y, %H:%M} {name}", relative(at, now))


def relative(at: datetime, now: datetime) -> str:
    """Return the distance of a time from `now`, in the largest unit that it fills: `3 hours ago`, `in 2 days`."""
    seconds = int((now - at).total_seconds())
    for size, unit in _SPANS:
        count = abs(seconds) // size
        if count:
            span = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"{span} ago" if seconds > 0 else f"in {span}"
    return "just now" if seconds >= 0 else "in a moment"


def state(status: str) -> Badge:
    """Return the badge of an article's or a publication's status."""
    return Badge(*_STATES.get(status, (status, "")))


def score_kind(score: int) -> str:
    """Return the CSS class of a score: `good`, `fair` or `poor`."""
    return "good" if score >= GOOD_SCORE else "fair" if score >= FAIR_SCORE else "poor"


def sentence(text: str) -> str:
    """Return a message with a full stop, and a capital letter unless it begins with a URL, host name or file name."""
    text = text.strip().rstrip(".")
    return f"{text if _LITERAL.match(text) else text[:1].upper() + text[1:]}." if text else ""


def page_zone(requested: str, website: Website | None, websites: Sequence[Website]) -> tuple[ZoneInfo, str]:
    """Return the page's time zone, and the requested name if it is not a time zone.

    By default, use the website's time zone, or the one that all websites with a time zone share, or else UTC.
    """
    requested = requested.strip()[:64]
    if requested in available_timezones():
        return ZoneInfo(requested), ""
    sites = [website] if website else websites
    set_zones = {zone_of(site.settings).key for site in sites if "timezone" in site.settings}
    return ZoneInfo(set_zones.pop() if len(set_zones) == 1 else "UTC"), requested


def zone_note(zone: ZoneInfo, website: Website | None, websites: Sequence[Website]) -> str:
    """Return a note about the default time zone of a page, and where it comes from."""
    if website is not None:
        return f"Times are in {zone.key}, the time zone of {website.name}."
    if zone.key == "UTC":
        return "Times are in UTC. Enter your time zone to see them in yours, such as Europe/Berlin."
    return f"Times are in {zone.key}, the time zone of your website{'' if len(websites) == 1 else 's'}."
