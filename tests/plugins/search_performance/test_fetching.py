"""The nightly job: every day is fetched once, none is lost, and Google's quotas are respected."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from datetime import timedelta
from ipaddress import ip_network

import pytest
from joserfc.jwk import RSAKey
from pressroom.fetch import GuardedFetcher
from pressroom.sdk import LeaseLost
from pressroom.storage.database.tables import JobLockRow
from pressroom.testing import RunningHost
from pressroom_content.contract import Grain, SearchQuery, SearchRow
from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.figures.fetching import fetch_due
from pressroom_search_performance.figures.store import ConnectionGone, begin_round, lock_of, write_day
from pressroom_search_performance.sources import google as google_source
from sqlalchemy import update
from support.fetching_figures import fetch_slice
from support.polling import wait_until
from support.standin_google import Google, key_file, today

from .conftest import HISTORY, Site, day, new_site

TOTALS = ["country", "device"]


def test_missing_days_are_fetched_once_and_the_newest_first(site: Site) -> None:
    site.google.add(day(3), "compost", site.page(), 10, 100, 2.0)
    connection = site.connect()

    assert site.fetch(connection) == HISTORY
    requested = site.google.requested_days(TOTALS)
    assert Counter(requested) == Counter(
        {(today() - timedelta(days=days_ago)).isoformat(): 1 for days_ago in range(1, HISTORY + 1)}
    )
    assert site.state().due_at is not None
    assert site.fetch(connection) == 0, "it is not due again"


def test_days_that_are_not_final_are_fetched_again(site: Site) -> None:
    connection = site.connect()
    site.fetch(connection)
    site.google.queries.clear()
    site.google.add(today() - timedelta(days=1), "late", site.page(), 3, 30, 2.0)
    site.again()

    assert site.fetch(connection) == 2
    assert set(site.google.requested_days(TOTALS)) == {
        (today() - timedelta(days=days_ago)).isoformat() for days_ago in (1, 2)
    }
    assert site.data("get_search_performance", data_state="all")["totals"]["clicks"] == 3


def test_a_used_up_quota_leaves_the_rest_for_a_later_run(site: Site) -> None:
    site.google.per_minute = 20
    site.google.add(day(3), "old", site.page(), 5, 50, 1.0)
    connection = site.connect()

    fetched = site.fetch(connection)
    assert 0 < fetched < HISTORY
    state = site.state()
    assert state.status == "active"
    assert state.due_at is not None
    assert state.due_at > state.created_at + timedelta(minutes=10)
    site.google.per_minute = 1200
    site.again()
    site.google.queries.clear()
    assert site.fetch(connection) == HISTORY - fetched + 2, "the two days that are not final, and what was left"
    assert site.data("get_search_performance")["totals"]["clicks"] == 5


def test_retry_after_is_respected(site: Site) -> None:
    site.google.failing = (429, b'{"error": {"code": 429, "message": "slow down"}}', {"Retry-After": "7200"})
    connection = site.connect()

    assert site.fetch(connection) == 0
    state = site.state()
    assert state.due_at is not None
    assert timedelta(minutes=110) < state.due_at - state.created_at < timedelta(minutes=130)


@pytest.mark.parametrize(
    ("failing", "problem", "status"),
    [
        ((503, b"<html>busy</html>", {}), "is not available right now", "active"),
        ((200, b"<html>hello</html>", {}), "not JSON", "active"),
        ((302, b"", {"Location": "http://169.254.169.254/"}), "HTTP 302", "active"),
        ((200, b'{"rows": [{"keys": 3}, 7, {"clicks": 1e999}]}', {}), "", "active"),
        ((403, b'{"error": {"code": 403, "errors": [{"reason": "forbidden"}]}}', {}), "does not accept", "error"),
    ],
)
def test_a_source_that_misbehaves(
    site: Site, failing: tuple[int, bytes, dict[str, str]], problem: str, status: str
) -> None:
    connection = site.connect()
    site.google.failing = failing
    site.fetch(connection)
    state = site.state()
    assert problem in state.last_error
    assert state.status == status
    site.google.failing = None
    site.again()
    site.fetch(connection)
    assert (site.state().last_error, site.state().status) == ("", "active")


def test_a_revoked_account_is_reported_and_the_figures_stay(site: Site) -> None:
    site.google.add(day(), "compost", site.page(), 10, 100, 2.0)
    connection = site.connect()
    site.fetch(connection)
    site.google.properties.clear()
    site.again()
    site.fetch(connection)

    assert "sufficient permission" in site.state().last_error
    result = site.client.call("get_search_performance", website_id=site.website.id)
    assert "Nothing new is fetched" in result["content"][0]["text"]
    assert result["structuredContent"]["totals"]["clicks"] == 10


def test_an_expired_token_is_replaced(site: Site) -> None:
    connection = site.connect({"service_account": key_file()})
    site.fetch(connection)
    site.google.tokens.clear()
    site.again()
    assert site.fetch(connection) == 2
    assert site.state().status == "active"


def test_a_refresh_token_works_too(site: Site) -> None:
    site.google.refresh_tokens["1//refresh"] = "ada"
    site.google.properties["ada"].add(site.property)
    connection = site.connect({"client_id": "c", "client_secret": "s", "refresh_token": "1//refresh"})
    assert site.fetch(connection) == HISTORY


def test_a_key_unknown_to_google(site: Site) -> None:
    connection = site.connect({"service_account": key_file(RSAKey.generate_key(2048))})
    assert site.fetch(connection) == 0
    assert "Invalid JWT Signature" in site.state().last_error
    assert site.state().status == "error"


def test_concurrent_fetches_get_no_day_twice(site: Site) -> None:
    connection = site.connect()
    other = site.plugin

    async def both() -> list[tuple[int, bool]]:
        return list(await asyncio.gather(*(fetch_slice(other, connection.id) for _ in range(4))))

    outcomes = site.client.host.run(both())
    assert sorted(days for days, _ in outcomes) == [0, 0, 0, 4]
    assert max(Counter(site.google.requested_days(TOTALS)).values()) == 1


def test_writes_of_a_process_that_lost_its_lease_are_discarded(site: Site) -> None:
    connection = site.connect()
    with pytest.raises(LeaseLost):
        site.client.host.run(_written_late(site, connection.id, _taken_over(site, connection.id)))


def test_writes_after_the_site_was_disconnected_are_discarded(site: Site) -> None:
    connection = site.connect()
    with pytest.raises(ConnectionGone):
        site.client.host.run(_written_late(site, connection.id, _disconnected_and_again(site)))


async def _written_late(site: Site, connection_id: str, meanwhile: Awaitable[None]) -> None:
    async with site.plugin.services.jobs.lock(lock_of(connection_id)) as lease:
        assert await begin_round(site.plugin, connection_id, lease) is not None
        assert await fetch_slice(site.plugin, connection_id) == (0, False)
        await meanwhile
        row = SearchRow(day(), "", "", "usa", "desktop", 99, 99, 1.0)
        rows: Mapping[Grain, Sequence[SearchRow]] = {"day": [row]}
        await write_day(site.plugin, connection_id, lease, day(), "web", rows, final=True, truncated=False)


async def _taken_over(site: Site, connection_id: str) -> None:
    async with site.plugin.services.database.writing() as session:
        statement = update(JobLockRow).where(JobLockRow.key == lock_of(connection_id))
        await session.execute(statement.values(token="another"))


async def _disconnected_and_again(site: Site) -> None:
    connections = SourceConnections(site.plugin)
    await connections.disconnect(site.client.user_id, site.website.id, "google")
    await connections.connect(
        site.client.user_id, site.website.id, "google", site_url=site.property, credential={}, fetched=True
    )


def test_cancelled_work_resumes_where_it_stopped(site: Site) -> None:
    connection = site.connect()
    gate = site.google.gate = threading.Event()

    async def interrupted() -> None:
        task = asyncio.create_task(fetch_slice(site.plugin, connection.id))
        assert await asyncio.to_thread(site.google.arrived.wait, 20)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    site.client.host.run(interrupted())
    gate.set()
    site.google.gate = None
    assert site.fetch(connection) == HISTORY


def test_the_sweep_finds_what_is_due_and_the_job_does_it(site: Site) -> None:
    site.google.add(day(), "compost", site.page(), 10, 100, 2.0)
    site.connect()
    assert site.client.host.run(fetch_due(site.plugin)) >= 1

    def waits_again() -> bool:
        state = site.state()
        return state.fetched_at is not None and state.due_at is not None and state.due_at > state.fetched_at

    wait_until(waits_again)
    assert site.data("get_search_performance")["totals"]["clicks"] == 10


@pytest.fixture
def many(google: Google) -> list[SearchRow]:
    """Return the source's rows for a day with more rows than one response holds."""
    google.properties["figures@pressroom.iam.gserviceaccount.com"].add("https://example.com/")
    for number in range(25_003):
        google.add(day(), f"query {number}", "https://example.com/", 1, 2, 1.0)
    config = SearchPerformanceConfig.model_validate(
        {"google_service_account": key_file(), "google_url": google.url, "google_token_url": f"{google.url}/token"}
    )
    source = google_source.source(google_source.GoogleConsole(config))

    async def read() -> list[SearchRow]:
        async with GuardedFetcher(private_networks=[ip_network("127.0.0.0/8")]) as fetcher:
            query = SearchQuery("https://example.com/", day(), "web", "query", 50_000)
            return [row async for row in source.rows(query, {}, fetcher)]

    return asyncio.run(read())


def test_more_rows_than_one_response_holds(many: list[SearchRow], google: Google) -> None:
    assert len({row.query for row in many}) == 25_003
    assert [body["startRow"] for _, body in google.queries] == [0, 25_000]


def test_rows_beyond_the_bound_are_reported(host: RunningHost, google: Google) -> None:
    site = new_site(host, google)
    for number in range(1_001):
        google.add(day(), f"query {number}", site.page(), 1, 2, 1.0)
    site.fetch(site.connect())
    result = site.data("get_search_performance", dimensions=["query"], limit=1)
    assert result["truncated"]
    assert result["totals"]["clicks"] == 1_001
