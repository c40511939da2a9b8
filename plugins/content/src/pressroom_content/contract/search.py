"""Queries for a search engine's own figures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from pressroom.sdk import BackendError, Fetcher

from pressroom_content.contract.connectors import CredentialField

SearchType = Literal["web", "image", "video", "news", "discover", "google_news"]
"""The kind of search results."""

Grain = Literal["day", "page", "query", "page_query"]
"""How the rows of a day are broken down: by country and device; by page; by query; or by page and query.

Rows by query leave out rare queries, so the coarser figures cannot be computed from the finer ones.
"""


class SearchLimited(BackendError):
    """A quota of the source is used up. `retry_after` is in seconds."""

    code = "search_limited"

    def __init__(self, message: str, *, retry_after: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One day of one site in one grain, as the nightly job requests it.

    `site_url` is the source's name for the site. Return at most `most_rows` rows, those with the most clicks.
    """

    site_url: str
    day: date
    search_type: SearchType = "web"
    grain: Grain = "page_query"
    most_rows: int = 25_000


@dataclass(frozen=True, slots=True)
class SearchRow:
    """The figures of one day. Fields that the grain does not break down are empty. `position` is a mean, from 1.

    `country` is an ISO 3166-1 alpha-3 code in lower case, `device` is `desktop`, `mobile` or `tablet`.
    """

    day: date
    page: str
    query: str
    country: str
    device: str
    clicks: int
    impressions: int
    position: float


class FetchRows(Protocol):
    """Reads the figures of a source."""

    def __call__(self, query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher) -> AsyncIterator[SearchRow]:
        """Yield the rows of a day, those with the most clicks first.

        Raises `BackendError` while the source is unavailable, `SearchLimited` when a quota is used up, and `Rejected`
        for an invalid credential.
        """


class FirstIncomplete(Protocol):
    """Asks a source for the first day whose figures are not final."""

    def __call__(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> Awaitable[date]:
        """Return the first day whose figures may still change. Raises the same errors as `FetchRows`."""


class CheckSite(Protocol):
    """Checks whether a source provides the figures of a site."""

    def __call__(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> Awaitable[None]:
        """Raise `InvalidInput` if it does not, or one of the errors of `FetchRows`."""


@dataclass(frozen=True, slots=True)
class SearchSource:
    """A source of search figures. Offer it through the hook `pressroom_search_sources`.

    `lag_days` is the number of days until figures are final, unless `first_incomplete` returns a more exact day.
    `grains` are those that the source supports. `fields` are what users enter to give access; `site_hint` tells them
    how the source names sites. `without` lists fields that its rows never have, such as `country` and `device`.
    `search_types` are those that it supports; empty means all. `note` is a sentence about how it counts, for readers of
    the figures.
    """

    name: str
    title: str
    rows: FetchRows
    lag_days: int = 3
    grains: tuple[Grain, ...] = ("page_query",)
    fields: tuple[CredentialField, ...] = ()
    site_hint: str = ""
    check: CheckSite | None = None
    first_incomplete: FirstIncomplete | None = None
    without: frozenset[str] = frozenset()
    search_types: frozenset[SearchType] = frozenset()
    note: str = ""
