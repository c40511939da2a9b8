"""How a search engine's own figures are asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol

from pressroom.sdk import BackendError, Fetcher

from pressroom_content.contract.connectors import CredentialField

SearchType = Literal["web", "image", "video", "news", "discover", "google_news"]
"""Where results were shown."""

Grain = Literal["day", "page", "query", "page_query"]
"""What the rows of a day are split by: countries and devices; pages; queries; or pages and queries.

Rows by query leave out the queries that few people asked, so the coarser ones cannot be computed from the finer ones.
"""


class SearchLimited(BackendError):
    """A quota of the source is used up. `retry_after` is in seconds."""

    code = "search_limited"

    def __init__(self, message: str, *, retry_after: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One day of one site in one grain, as the nightly job asks for it.

    `site_url` is what the source calls the site. At most `most_rows` are wanted, those with the most clicks.
    """

    site_url: str
    day: date
    search_type: SearchType = "web"
    grain: Grain = "page_query"
    most_rows: int = 25_000


@dataclass(frozen=True, slots=True)
class SearchRow:
    """What was counted on one day. What the grain does not split by is empty. `position` is a mean, from 1.

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
    """Reads a source."""

    def __call__(self, query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher) -> AsyncIterator[SearchRow]:
        """Yield the rows of a day, the ones with the most clicks first.

        Raises `BackendError` while the source is away, `SearchLimited` once a quota is used up, and `Rejected` for a
        bad credential.
        """


class FirstIncomplete(Protocol):
    """Asks a source how far its figures are final."""

    def __call__(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> Awaitable[date]:
        """Return the first day whose figures may still change. Raises as `FetchRows` does."""


class CheckSite(Protocol):
    """Finds out if a source gives the figures of a site."""

    def __call__(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> Awaitable[None]:
        """Raise `InvalidInput` where it does not, and else as `FetchRows` does."""


@dataclass(frozen=True, slots=True)
class SearchSource:
    """A source of search figures. Offer it through the hook `pressroom_search_sources`.

    `lag_days` is how old a day must be before its figures are final, unless `first_incomplete` knows better. `grains`
    are those that it can be asked for. `fields` are what people type to give access; `site_hint` tells them how the
    source names sites. `without` names what its rows never tell, such as `country` and `device`; `search_types` are
    those that it knows, all of them where it is empty. `note` is a sentence on how it counts, for whoever reads the
    figures.
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
