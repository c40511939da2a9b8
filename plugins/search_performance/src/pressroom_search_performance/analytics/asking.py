"""What is asked of analytics, and what is answered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from pressroom.sdk import BackendError, Fetcher, InvalidInput
from pressroom_content.contract import CheckSite, CredentialField

By = Literal["page", "source", "country", "device", "date"]

_MAX_INTEGER = 2**53
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Visits:
    """What was counted; what the analytics does not tell is `None`.

    `bounce_rate` is the share of visits with one page, 0 to 1; `seconds` is how long a visit took on average.
    """

    visitors: int | None = None
    visits: int | None = None
    pageviews: int | None = None
    bounce_rate: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TrafficQuestion:
    """Days, both included, and what their visits are split by. Dates are months where it is `monthly`."""

    start: date
    end: date
    by: By = "page"
    limit: int = 50
    monthly: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """Totals, and rows as pairs of key and visits: those with the most visitors first, dates with the newest first.

    `truncated` tells whether there are more rows.
    """

    totals: Visits
    rows: tuple[tuple[str, Visits], ...]
    truncated: bool = False


class Analytics(Protocol):
    """Speaks to one kind of analytics. All methods raise `Rejected`, `SearchLimited` and `BackendError`."""

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """Find out if the credential reads the site. Raises `InvalidInput` where it does not."""

    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        """Return the visits of a site."""

    async def page(
        self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
    ) -> Visits:
        """Return the visits of one page, which `url` is the full URL of."""


@dataclass(frozen=True, slots=True)
class AnalyticsSource:
    """A kind of analytics. `label` and `hint` say what names a site there."""

    name: str
    title: str
    label: str
    hint: str
    fields: tuple[CredentialField, ...]
    analytics: Analytics

    @property
    def check(self) -> CheckSite:
        """What finds out if a credential reads a site."""
        return self.analytics.check


def counted(value: Any) -> int | None:
    """Return a number of an answer as a whole one that is not negative, or `None` if it is invalid."""
    number = fraction(value)
    return None if number is None else int(number)


def fraction(value: Any) -> float | None:
    """Return a number of an answer that is not negative, also where it is written as a text, or `None`."""
    if isinstance(value, str) and len(value) < 20:
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):  # an integer may be larger than any float
        return None
    return float(min(max(value, 0), _MAX_INTEGER))


def share(part: float | None, whole: float | None) -> float | None:
    """Return what part of a whole something is, 0 to 1, or `None` where that cannot be told."""
    return None if part is None or not whole else round(min(part / whole, 1.0), 4)


def mean(total: float | None, count: float | None) -> float | None:
    """Return a mean, or `None` where it cannot be told."""
    return None if total is None or not count else round(total / count, 1)


def unreadable(title: str) -> BackendError:
    """Return the error for an answer that is JSON, and not what the documentation says."""
    return BackendError(f"{title} answered with something that cannot be read")


def server_of(credential: Mapping[str, str], usual: str = "") -> str:
    """Return the URL of the server that a person typed, without a slash at its end, or the usual one.

    Raises `InvalidInput`.
    """
    typed = credential.get("server", "").strip().rstrip("/")
    if not typed:
        return usual.rstrip("/")
    try:
        parts = urlsplit(typed)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    wrong = parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment
    if wrong or not typed.isascii() or not typed.isprintable() or " " in typed:
        raise InvalidInput("server", "must be a URL such as https://analytics.example.com")
    ending = f":{port}" if port is not None and port != _DEFAULT_PORTS[parts.scheme] else ""
    return f"{parts.scheme}://{host}{ending}{parts.path}"


def path_of(url: str) -> str:
    """Return the path of a page, as analytics name pages."""
    return urlsplit(url).path or "/"
