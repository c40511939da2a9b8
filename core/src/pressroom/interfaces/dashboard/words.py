"""Times, names and numbers as people say them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_SPANS: Final = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3600, "hour"), (60, "minute"))

_ABBREVIATIONS: Final = frozenset({"ai", "api", "html", "mcp", "pdf", "qr", "seo", "svg", "url"})

_BROWSERS: Final = (
    (re.compile(r"\bEdgA?/"), "Edge"),
    (re.compile(r"\bOPR/"), "Opera"),
    (re.compile(r"\bSamsungBrowser/"), "Samsung Internet"),
    (re.compile(r"\b(Firefox|FxiOS)/"), "Firefox"),
    (re.compile(r"\b(Chrome|Chromium|CriOS|HeadlessChrome)/"), "Chrome"),
    (re.compile(r"\bSafari/"), "Safari"),
)
_SYSTEMS: Final = (
    (re.compile(r"\bAndroid\b"), "Android"),
    (re.compile(r"\b(iPhone|iPad|iPod)\b"), "iOS"),
    (re.compile(r"\bCrOS\b"), "ChromeOS"),
    (re.compile(r"\bWindows\b"), "Windows"),
    (re.compile(r"\bMac OS X\b|\bMacintosh\b"), "macOS"),
    (re.compile(r"\bLinux\b"), "Linux"),
)


def day(moment: datetime) -> str:
    """Return a date: `21 Nov 2026`."""
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y}"


def moment_text(moment: datetime) -> str:
    """Return a date with its time: `21 Nov 2026, 02:03 UTC`."""
    return f"{day(moment)}, {moment.astimezone(UTC):%H:%M} UTC"


def ago(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was, in the largest unit that it fills: `3 hours ago`."""
    seconds = int((now - moment).total_seconds())
    for size, unit in _SPANS:
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def duration(seconds: float) -> str:
    """Return how long something took: `85 ms`, `1.4 s`."""
    return f"{round(seconds * 1000)} ms" if seconds < 1 else f"{seconds:.1f} s"


def title_of(name: str) -> str:
    """Return a name of the configuration as people write it: `seo_reports_made` is `SEO reports made`."""
    words = re.split("[_-]", name)
    shown = " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words)
    return shown[:1].upper() + shown[1:]


def browser_name(user_agent: str) -> str:
    """Return which browser a `User-Agent` seems to be, and on what."""
    browser = next((name for pattern, name in _BROWSERS if pattern.search(user_agent)), "")
    system = next((name for pattern, name in _SYSTEMS if pattern.search(user_agent)), "")
    return " on ".join(part for part in (browser, system) if part) or user_agent[:60] or "Unknown browser"
