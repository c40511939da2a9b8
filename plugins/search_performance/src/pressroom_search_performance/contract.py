"""What other plugins can add: analytics services and providers of keyword data.

`CONTRACT_VERSION` is the version of this contract. It changes by the same rules as `pressroom_content.contract`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, Protocol

import pluggy
from pressroom.sdk import Fetcher, PluginContext
from pressroom_content.contract import CheckSite, CredentialField

__all__ = [
    "CONTRACT_VERSION",
    "Analytics",
    "AnalyticsSource",
    "By",
    "Competition",
    "KeywordFigures",
    "KeywordQuestion",
    "KeywordResult",
    "KeywordSource",
    "QueryKeywords",
    "SearchPerformanceHooks",
    "Traffic",
    "TrafficQuestion",
    "Visits",
    "analytics_sources",
    "keyword_sources",
]

CONTRACT_VERSION: Final = "1"
"""The version of this contract. It increases when plugins have to be changed."""

hookspec = pluggy.HookspecMarker("pressroom")

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)

By = Literal["page", "source", "country", "device", "date"]
"""How the visits of a website are broken down."""


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r} must be 1 to 32 lower-case letters, digits and _, with a letter first")


@dataclass(frozen=True, slots=True)
class Visits:
    """The figures of an analytics service. Figures that it does not provide are `None`.

    `bounce_rate` is the share of visits with only one page, from 0 to 1; `seconds` is the average length of a visit.
    """

    visitors: int | None = None
    visits: int | None = None
    pageviews: int | None = None
    bounce_rate: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TrafficQuestion:
    """A period, including both days, and how its visits are broken down. If `monthly`, dates stand for months."""

    start: date
    end: date
    by: By = "page"
    limit: int = 50
    monthly: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """Totals, and rows as pairs of key and visits: most visitors first, or newest date first.

    `truncated` means that there are more rows.
    """

    totals: Visits
    rows: tuple[tuple[str, Visits], ...]
    truncated: bool = False


class Analytics(Protocol):
    """A client of one analytics service. All methods raise `Rejected`, `SearchLimited` and `BackendError`."""

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        """Check whether the credential gives access to the site. Raises `InvalidInput` if it does not."""

    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        """Return the visits of a site."""

    async def page(
        self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
    ) -> Visits:
        """Return the visits of one page; `url` is its full URL."""


@dataclass(frozen=True, slots=True)
class AnalyticsSource:
    """An analytics service. Offer it through the hook `pressroom_analytics_sources`.

    `name` is stored with the connections of websites, `title` is for people. `label` and `hint` describe how the
    service identifies a site; `fields` are what users enter to give access.
    """

    name: str
    title: str
    label: str
    hint: str
    fields: tuple[CredentialField, ...]
    analytics: Analytics

    def __post_init__(self) -> None:
        """Raise `ValueError` if the name is invalid."""
        _check_name(self.name)

    @property
    def check(self) -> CheckSite:
        """The function that checks whether a credential gives access to a site."""
        return self.analytics.check


Competition = Literal["low", "medium", "high"]
"""Competition among advertisers for a phrase."""


@dataclass(frozen=True, slots=True)
class KeywordQuestion:
    """The phrases to look up: unique, in lower case and with single spaces.

    `country` is an ISO 3166-1 alpha-2 code in upper case, `language` an ISO 639-1 code in lower case.
    """

    phrases: tuple[str, ...]
    country: str
    language: str


@dataclass(frozen=True, slots=True)
class KeywordFigures:
    """A provider's data for a phrase. Unknown figures are `None`.

    `volume` is the mean number of searches per month over a year, `difficulty` is how hard it is to reach the first ten
    results, from 0 to 100, and `cpc` is the cost of a click on an advertisement, in US dollars.
    """

    phrase: str
    volume: int | None = None
    difficulty: int | None = None
    cpc: float | None = None
    competition: Competition | None = None


@dataclass(frozen=True, slots=True)
class KeywordResult:
    """The figures for the phrases that a provider has data for, and the cost to the operator in US dollars."""

    figures: tuple[KeywordFigures, ...]
    cost: float = 0.0


class QueryKeywords(Protocol):
    """Sends a query to a provider."""

    def __call__(self, question: KeywordQuestion, fetcher: Fetcher) -> Awaitable[KeywordResult]:
        """Return the figures for a question.

        Raises `InvalidInput` for input that the provider does not accept, `Rejected` if it refuses the operator's
        credential, `SearchLimited` when a limit is reached, and `BackendError` while the provider is unavailable.
        """


@dataclass(frozen=True, slots=True)
class KeywordSource:
    """A configured provider of keyword data. `name` is stored with its figures, `title` is for people."""

    name: str
    title: str
    ask: QueryKeywords

    def __post_init__(self) -> None:
        """Raise `ValueError` if the name is invalid."""
        _check_name(self.name)


def analytics_sources(plugin: PluginContext) -> tuple[tuple[str, AnalyticsSource], ...]:
    """Return the analytics sources from the hook `pressroom_analytics_sources`, as pairs of plugin ID and record.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return plugin.extensions.of("pressroom_analytics_sources")


def keyword_sources(plugin: PluginContext) -> tuple[tuple[str, KeywordSource], ...]:
    """Return the keyword sources from the hook `pressroom_keyword_sources`, as pairs of plugin ID and record.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return plugin.extensions.of("pressroom_keyword_sources")


class SearchPerformanceHooks:
    """Hooks through which plugins extend search performance."""

    @hookspec
    def pressroom_analytics_sources(self, plugin: PluginContext) -> Iterable[AnalyticsSource]:
        """Offer analytics services that websites can be connected with, for `get_traffic_stats` and the dashboard.

        Example:
            ```python
            from collections.abc import Iterable, Mapping
            from datetime import date

            from pressroom.sdk import Fetcher, InvalidInput, Plugin, hookimpl
            from pressroom_content.contract import CredentialField
            from pressroom_search_performance.contract import AnalyticsSource, Traffic, TrafficQuestion, Visits

            PLUGIN = Plugin(
                id="counter", api="1", title="Counter", summary="Our counter.", requires=("search_performance",)
            )
            FIELDS = (CredentialField("token", "Token", "In Counter under Settings."),)


            class Counter:
                async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
                    if not credential["token"].startswith("count_"):
                        raise InvalidInput("token", "is not one of Counter's; make a new one")

                async def traffic(
                    self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
                ) -> Traffic:
                    return Traffic(Visits(visitors=7, visits=9), (("/bread", Visits(visitors=7, visits=9)),))

                async def page(
                    self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
                ) -> Visits:
                    return Visits(visitors=7, visits=9)


            @hookimpl
            def pressroom_analytics_sources() -> Iterable[AnalyticsSource]:
                return [AnalyticsSource("counter", "Counter", "Domain", "As Counter lists it.", FIELDS, Counter())]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_keyword_sources(self, plugin: PluginContext) -> Iterable[KeywordSource]:
        """Offer a provider of keyword data, if the operator has configured it.

        Only one provider is used: the one that the operator names in `keyword_source`, or otherwise the first by plugin
        id.

        Example:
            ```python
            from collections.abc import Iterable

            from pressroom.sdk import Fetcher, Plugin, hookimpl
            from pressroom_search_performance.contract import (
                KeywordResult,
                KeywordFigures,
                KeywordQuestion,
                KeywordSource,
            )

            PLUGIN = Plugin(
                id="volumes", api="1", title="Volumes", summary="Our figures.", requires=("search_performance",)
            )
            VOLUMES = {"bread": 90_500, "sourdough": 33_100}


            async def ask(question: KeywordQuestion, fetcher: Fetcher) -> KeywordResult:
                known = [phrase for phrase in question.phrases if phrase in VOLUMES]
                return KeywordResult(tuple(KeywordFigures(phrase, volume=VOLUMES[phrase]) for phrase in known))


            @hookimpl
            def pressroom_keyword_sources() -> Iterable[KeywordSource]:
                return [KeywordSource("volumes", "Volumes", ask)]
            ```
        """
        raise NotImplementedError
