"""The contracts of analytics and keyword data providers report each violation with its fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

import pytest
from pressroom.sdk import BackendError, Fetched, Fetcher, FetchFailed, FetchUnknown, InvalidInput, Rejected
from pressroom_content.contract import CredentialField
from pressroom_search_performance.contract import (
    AnalyticsSource,
    KeywordFigures,
    KeywordQuestion,
    KeywordResult,
    KeywordSource,
    Traffic,
    TrafficQuestion,
    Visits,
)
from pressroom_search_performance.testing import (
    ANALYTICS_SOURCE,
    KEYWORD_SOURCE,
    check_analytics_source,
    check_keyword_source,
)
from support.contracts import assert_broken

FIELDS: Final = (CredentialField("token", "Token", pattern=r"tok_[a-f0-9]{12}"),)


async def send_request(fetcher: Fetcher, method: str = "GET") -> Fetched:
    """Send a request to a service, and raise the errors that the contracts allow if the service is in trouble."""
    try:
        response = await fetcher.request(method, "https://api.example/figures", max_bytes=10_000, seconds=5)
    except (FetchFailed, FetchUnknown) as error:
        raise BackendError("the service is away") from error
    if response.status == 401:
        raise Rejected("the service does not accept this")
    if response.status >= 429 or response.media_type != "application/json":
        raise BackendError("the service is away")
    return response


class Counter:
    """Analytics that fulfil the contract; each class below breaks one promise."""

    def figures_for(self, question: TrafficQuestion) -> Traffic:
        keys = ("2024-02-02", "2024-02-01") if question.by == "date" else ("/a", "/b")
        counts = (1, 2) if question.by == "date" else (2, 1)
        return Traffic(
            Visits(3, bounce_rate=0.5), tuple((key, Visits(count)) for key, count in zip(keys, counts, strict=True))
        )

    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        await send_request(fetcher)

    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        await send_request(fetcher)
        return self.figures_for(question)

    async def page(
        self, site: str, credential: Mapping[str, str], url: str, start: date, end: date, fetcher: Fetcher
    ) -> Visits:
        await send_request(fetcher)
        return Visits(1)


class Forgiving(Counter):
    async def page(self, *arguments: Any) -> Visits:
        await arguments[-1].request("GET", "https://api.example/page", max_bytes=10_000, seconds=5)
        return Visits(1)


class Unchecked(Counter):
    async def check(self, site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        await fetcher.get("https://api.example/me", accept="*/*", max_bytes=1000, seconds=5)


class Unsorted(Counter):
    def figures_for(self, question: TrafficQuestion) -> Traffic:
        traffic = super().figures_for(question)
        return replace(traffic, rows=traffic.rows[::-1])


class Endless(Counter):
    def figures_for(self, question: TrafficQuestion) -> Traffic:
        return Traffic(Visits(3), tuple((f"/{number}", Visits(1)) for number in range(question.limit + 1)))


class Percent(Counter):
    def figures_for(self, question: TrafficQuestion) -> Traffic:
        return Traffic(Visits(3, bounce_rate=50.0), ())


class Telling(Counter):
    async def traffic(
        self, site: str, credential: Mapping[str, str], question: TrafficQuestion, fetcher: Fetcher
    ) -> Traffic:
        raise BackendError(f"no figures for {credential['token']}")


def analytics(counter: Counter) -> AnalyticsSource:
    return AnalyticsSource("counter", "Counter", "Domain", "As Counter lists it.", FIELDS, counter)


def test_analytics_that_keep_their_promises_get_no_findings() -> None:
    assert check_analytics_source(analytics(Counter())) == []


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (Forgiving, "errors"),
        (Unchecked, "check"),
        (Unsorted, "figures"),
        (Endless, "figures"),
        (Percent, "figures"),
        (Telling, "credentials"),
    ],
)
def test_analytics_that_break_a_promise_get_a_finding(make: Callable[[], Counter], name: str) -> None:
    [promise] = [promise for promise in ANALYTICS_SOURCE.promises if promise.name == name]
    assert_broken(promise, check_analytics_source(analytics(make())), contract="analytics source")


def keywords(*figures: KeywordFigures, cost: float = 0.01, again: bool = False, strict: bool = False) -> KeywordSource:
    async def ask(question: KeywordQuestion, fetcher: Fetcher) -> KeywordResult:
        if strict and max(map(len, question.phrases), default=0) > 80:
            raise ValueError("a phrase is too long")
        if not question.phrases:
            raise InvalidInput("phrases", "must not be empty")
        try:
            await send_request(fetcher, "POST")
        except BackendError:
            if not again:
                raise
            await send_request(fetcher, "POST")
        return KeywordResult(figures, cost)

    return KeywordSource("volumes", "Volumes", ask)


BREAD: Final = KeywordFigures("bread", volume=90_500, difficulty=40, cpc=0.2, competition="low")


def test_keyword_data_that_keeps_its_promises_gets_no_findings() -> None:
    assert check_keyword_source(keywords(BREAD)) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (keywords(BREAD, again=True), "outage"),
        (keywords(BREAD, strict=True), "questions"),
        (keywords(KeywordFigures("cake")), "keyword_figures"),
        (keywords(BREAD, BREAD), "keyword_figures"),
        (keywords(replace(BREAD, difficulty=400)), "keyword_figures"),
        (keywords(BREAD, cost=-1.0), "keyword_figures"),
    ],
    ids=["asks again", "raises", "not asked about", "twice", "too difficult", "pays"],
)
def test_keyword_data_that_breaks_a_promise_gets_a_finding(source: KeywordSource, name: str) -> None:
    [promise] = [promise for promise in KEYWORD_SOURCE.promises if promise.name == name]
    assert_broken(promise, check_keyword_source(source), contract="keyword source")
