"""For authors of plugins that add analytics or keyword data: executable contracts of their records.

`check_analytics_source(source)` and `check_keyword_source(source)` return findings, each with the broken promise, the
observed behaviour and the fix. `pressroom plugins check` and `assert_plugin_conforms` run them on every record that a
plugin yields from the hooks of this one.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, Final, get_args

from pressroom.testing import RunningHost
from pressroom.testing.contracts import ContractSuite, Finding, expect
from pressroom.testing.contracts.suite import run_apart
from pressroom.testing.fake_site import Trouble
from pressroom_content.testing.sources import (
    SEARCH_ERRORS,
    call_with_trouble,
    expect_away,
    expect_refused_in_words,
)
from pressroom_content.testing.troubled import RedirectedFetcher, made_up_credential, troubled_fetcher

from pressroom_search_performance.contract import (
    AnalyticsSource,
    By,
    Competition,
    KeywordQuestion,
    KeywordResult,
    KeywordSource,
    Traffic,
    TrafficQuestion,
    Visits,
)

__all__ = ["CHECKS", "SUITES", "check_analytics_source", "check_keyword_source"]

_WORKING_STATES: Final[tuple[Trouble | None, ...]] = (None, "odd")
_SITE: Final = "https://site.example/"
_DAYS: Final = (date(2024, 2, 1), date(2024, 2, 29))
_QUESTIONS: Final = (
    *(TrafficQuestion(*_DAYS, by=by, limit=2) for by in get_args(By)),
    TrafficQuestion(*_DAYS, by="date", monthly=True),
)


@dataclass(frozen=True, slots=True)
class AnalyticsAtService:
    """An analytics service, a made-up credential, and a fetcher that sends everything to a fake site."""

    source: AnalyticsSource
    credential: Mapping[str, str]
    fetcher: RedirectedFetcher

    def traffic(self, question: TrafficQuestion) -> Awaitable[Traffic]:
        """Query the visits of a site."""
        return self.source.analytics.traffic(_SITE, self.credential, question, self.fetcher)

    def page(self) -> Awaitable[Visits]:
        """Query the visits of a page."""
        return self.source.analytics.page(_SITE, self.credential, f"{_SITE}bread?a=\u00fc", *_DAYS, self.fetcher)

    def check(self) -> Awaitable[None]:
        """Check whether the credential gives access to the site."""
        return self.source.analytics.check(_SITE, self.credential, self.fetcher)


ANALYTICS_SOURCE: Final = ContractSuite[AnalyticsAtService]("analytics source")


def check_analytics_source(source: AnalyticsSource, credential: Mapping[str, str] | None = None) -> list[Finding]:
    """Check an analytics service, and return the broken promises. No request leaves this machine.

    `credential` is what users would enter; by default, values are made up that match the patterns of the fields.
    """
    entered = made_up_credential(source.fields) if credential is None else dict(credential)

    @asynccontextmanager
    async def opening() -> AsyncIterator[AnalyticsAtService]:
        async with troubled_fetcher() as fetcher:
            yield AnalyticsAtService(source, entered, fetcher)

    return run_apart(lambda: ANALYTICS_SOURCE.check(opening, where=f"analytics source {source.name}"))


@ANALYTICS_SOURCE.promise(
    "a query raises BackendError, SearchLimited or Rejected if the service has a problem",
    fix="raise SearchLimited for 429, Rejected for 401, and BackendError for missing or foreign responses",
)
async def _errors(service: AnalyticsAtService) -> None:
    for question in (_QUESTIONS[0], _QUESTIONS[-1]):
        await expect_away(service.fetcher, lambda question=question: service.traffic(question), SEARCH_ERRORS)  # type: ignore[misc]
    await expect_away(service.fetcher, service.page, SEARCH_ERRORS)


@ANALYTICS_SOURCE.promise(
    "a check raises the same, and InvalidInput for a credential that does not read the site",
    fix="ask the service for some data of the site, and check the status and the structure of the response",
)
async def _check(service: AnalyticsAtService) -> None:
    await expect_away(service.fetcher, service.check, SEARCH_ERRORS)


@ANALYTICS_SOURCE.promise(
    "a response has plausible figures, and at most `limit` rows in the right order",
    fix="return None for what is unknown; sort by visitors, or by date, with the highest first; keep `limit` rows",
)
async def _figures(service: AnalyticsAtService) -> None:
    for question in _QUESTIONS:
        results = await _results(service.fetcher, lambda question=question: service.traffic(question))  # type: ignore[misc]
        for result in results:
            expect(type(result) is Traffic, f"{result!r:.100} as traffic")
            _expect_visits(result.totals)
            expect(len(result.rows) <= question.limit, f"{len(result.rows)} rows where {question.limit} were asked for")
            for key, visits in result.rows:
                expect(type(key) is str, f"{key!r:.60} as a key")
                _expect_visits(visits)
            order = [key if question.by == "date" else visits.visitors or 0 for key, visits in result.rows]
            expect(order == sorted(order, reverse=True), f"the order {order[:5]} by {question.by}")
    for visits in await _results(service.fetcher, service.page):
        _expect_visits(visits)


@ANALYTICS_SOURCE.promise(
    "invalid input is refused with an explanation, and no error reveals a secret",
    fix="raise Rejected or InvalidInput for an invalid credential; leave headers and tokens out of messages",
)
async def _credentials(service: AnalyticsAtService) -> None:
    await expect_refused_in_words(
        service.source.fields,
        service.credential,
        service.fetcher,
        lambda entered: AnalyticsAtService(service.source, entered, service.fetcher).traffic(_QUESTIONS[0]),
    )


@dataclass(frozen=True, slots=True)
class KeywordsAtService:
    """A provider of keyword data, and a fetcher that sends everything to a fake site."""

    source: KeywordSource
    fetcher: RedirectedFetcher

    def ask(self, *phrases: str, country: str = "US", language: str = "en") -> Awaitable[KeywordResult]:
        """Query the data for phrases."""
        return self.source.ask(KeywordQuestion(phrases, country, language), self.fetcher)


KEYWORD_SOURCE: Final = ContractSuite[KeywordsAtService]("keyword source")


def check_keyword_source(source: KeywordSource) -> list[Finding]:
    """Check a provider of keyword data, and return the broken promises. No request leaves this machine."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[KeywordsAtService]:
        async with troubled_fetcher() as fetcher:
            yield KeywordsAtService(source, fetcher)

    return run_apart(lambda: KEYWORD_SOURCE.check(opening, where=f"keyword source {source.name}"))


@KEYWORD_SOURCE.promise(
    "a query raises BackendError, SearchLimited or Rejected if the provider has a problem, and asks it only once",
    fix="raise SearchLimited for 429, Rejected for 401, BackendError for the rest; do not repeat what may cost money",
)
async def _outage(provider: KeywordsAtService) -> None:
    await expect_away(provider.fetcher, lambda: provider.ask("bread", "sourdough bread"), SEARCH_ERRORS)


@KEYWORD_SOURCE.promise(
    "any phrases, country and language get a result or InvalidInput, and never another error",
    fix="raise InvalidInput for what the provider does not accept; escape what goes into URLs",
)
async def _questions(provider: KeywordsAtService) -> None:
    for phrases in ((), ("\u6771\u4eac", "\u00fc \U0001f600?&#", "it's {a}"), ("x" * 300,), ("a b " * 40,)):
        for country, language in (("US", "en"), ("ZZ", "zz")):
            await _results(
                provider.fetcher,
                lambda phrases=phrases, country=country, language=language: provider.ask(  # type: ignore[misc]
                    *phrases, country=country, language=language
                ),
            )


@KEYWORD_SOURCE.promise(
    "a response has plausible figures, each phrase once, and only phrases that were asked about",
    fix="leave out what was not asked about; return None for what is unknown, and never a negative cost",
)
async def _keyword_figures(provider: KeywordsAtService) -> None:
    phrases = ("bread", "sourdough bread")
    for result in await _results(provider.fetcher, lambda: provider.ask(*phrases)):
        expect(type(result) is KeywordResult, f"{result!r:.100} as a result")
        returned = [figures.phrase for figures in result.figures]
        expect(len(set(returned)) == len(returned) and set(returned) <= set(phrases), f"figures of {returned[:5]}")
        _expect_number(result.cost, "cost")
        for figures in result.figures:
            _expect_number(figures.volume, "volume", integral=True)
            _expect_number(figures.difficulty, "difficulty", integral=True, maximum=100)
            _expect_number(figures.cpc, "cpc")
            allowed = (None, *get_args(Competition))
            expect(figures.competition in allowed, f"{figures.competition!r} as the competition")


async def _results(fetcher: RedirectedFetcher, ask: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Return the successful results for a service with empty responses and for one with odd ones.

    Raises `PromiseBroken` for errors that are not allowed.
    """
    outcomes = [await call_with_trouble(fetcher, trouble, ask, SEARCH_ERRORS) for trouble in _WORKING_STATES]
    return [value for value, error in outcomes if error is None]


def _expect_visits(visits: Any) -> None:
    expect(type(visits) is Visits, f"{visits!r:.100} as visits")
    for field in fields(Visits):
        maximum = 1 if field.name == "bounce_rate" else math.inf
        integral = field.name not in ("bounce_rate", "seconds")
        _expect_number(getattr(visits, field.name), field.name, integral=integral, maximum=maximum)


def _expect_number(value: Any, name: str, *, integral: bool = False, maximum: float = math.inf) -> None:
    kinds = (int,) if integral else (int, float)
    fits = type(value) in kinds and math.isfinite(value) and 0 <= value <= maximum
    expect(value is None or fits, f"{value!r:.60} as {name}")


SUITES: Final[tuple[ContractSuite[Any], ...]] = (ANALYTICS_SOURCE, KEYWORD_SOURCE)
"""Contracts of the records that other plugins contribute."""

CHECKS: Final[Mapping[str, Callable[[RunningHost, Any], list[Finding]]]] = {
    "pressroom_analytics_sources": lambda running, record: check_analytics_source(record),
    "pressroom_keyword_sources": lambda running, record: check_keyword_source(record),
}
"""The check for each hook, given the running host and a record that the plugin yields."""
