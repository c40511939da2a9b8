"""Running servers on SQLite and on PostgreSQL, with a stand-in for Google."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import PluginContext
from pressroom.storage.database.tables import JobRow
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import Capabilities, ConnectionReport
from pressroom_content.records import Website
from pressroom_content.websites.store import Websites
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.figures.fetching import SWEEP
from sqlalchemy import select
from support import databases
from support.fetching_figures import fetch_slice
from support.migrations import migrate
from support.polling import eventually
from support.standin_google import EMAIL, LAG, Google, key_file, serving, today
from support.standin_google_accounts import AUTHORIZE, CLIENT_ID, CLIENT_SECRET, REVOKE
from support.tool_client import ToolClient, client_of

from . import dataforseo
from .analytics import Matomo, Plausible, Umami, Visit
from .bing import Bing
from .standing_in import Apis
from .standing_in import serving as serving_apis

HISTORY = 7
"""Number of days in the first fetch: the last two are not final."""

WEEKS = 17
"""The same on `host_with_weeks`, where a week is compared with the one before."""

CREDENTIALS: Mapping[str, Mapping[str, str]] = {
    "builtin": {},
    "webhook": {"endpoint": "https://hooks.example/in", "secret": f"whsec_{'A' * 43}="},
    "wordpress": {"username": "ada", "application_password": "abcd efgh ijkl mnop qrst uvwx"},
}
"""Credentials of websites by platform; no request is ever sent to them."""

_numbers = count(1)


def config_for(google: Google, **more: Any) -> dict[str, Any]:
    """Return a configuration that uses the stand-in."""
    figures = {
        "google_service_account": key_file(),
        "google_url": google.url,
        "google_token_url": f"{google.url}/token",
        "google_client_id": CLIENT_ID,
        "google_client_secret": CLIENT_SECRET,
        "google_authorization_url": f"{google.url}{AUTHORIZE}",
        "google_revocation_url": f"{google.url}{REVOKE}",
        "history_days": HISTORY,
        "slice_days": 4,
        "max_rows": 1000,
        "sweep_seconds": 86_400,
        **more,
    }
    return {
        "builtin_plugins": False,
        "plugins": {
            "content": {},
            "search_performance": {"config": figures},
            **{platform: {} for platform in CREDENTIALS if platform != "builtin"},
        },
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "accounts": {"connections": 1000},
    }


def started(config: Mapping[str, Any], storage: Mapping[str, Any], folder: Path) -> RunningHost:
    """Return a server that has not started yet, with migrated tables."""
    settings = settings_for_test({**config, "storage": dict(storage)}, folder)
    if "database" in storage:
        asyncio.run(migrate(settings))
    return RunningHost(settings)


def wait_for_first_sweep(running: RunningHost) -> None:
    """Wait until a starting server has swept for due connections, which would fetch what a test has just connected."""
    database = running.host.compiled.plugins.contexts["search_performance"].services.database

    async def looked() -> bool:
        async with database.reading() as session:
            return bool(await session.scalar(select(JobRow.state).where(JobRow.kind == SWEEP)) == "succeeded")

    running.run(eventually(looked, bool, seconds=30))


@pytest.fixture(scope="package")
def shared_google() -> Iterator[Google]:
    with serving(Google()) as running:
        yield running


def empty(google: Google) -> Google:
    """Reset Google to its initial state, without data or faults."""
    vars(google).update({**vars(Google()), "url": google.url, "tokens": google.tokens})
    return google


@pytest.fixture
def google(shared_google: Google) -> Google:
    return empty(shared_google)


@contextmanager
def _shared(kind: str, google: Google, folder: Path, **more: Any) -> Iterator[RunningHost]:
    """Run a server that uses the stand-in, until the block ends."""
    with (
        databases.database_config(kind, folder) as storage,
        started(config_for(google, **more), storage, folder) as running,
    ):
        failed = [record for record in running.host.compiled.plugins.failed if record.id == "search_performance"]
        assert not failed, failed
        wait_for_first_sweep(running)
        yield running


@pytest.fixture(scope="package", params=databases.KINDS)
def host(
    request: pytest.FixtureRequest, shared_google: Google, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningHost]:
    """Return a shared server: one on SQLite, one on PostgreSQL."""
    with _shared(request.param, shared_google, tmp_path_factory.mktemp("search")) as running:
        yield running


@pytest.fixture(scope="package", params=databases.KINDS)
def host_with_weeks(
    request: pytest.FixtureRequest, shared_google: Google, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningHost]:
    """Return a shared server that fetches more days: one on SQLite, one on PostgreSQL.

    Most tests do without, because every day takes several requests.
    """
    folder = tmp_path_factory.mktemp("weeks")
    with _shared(request.param, shared_google, folder, history_days=WEEKS, slice_days=9) as running:
        yield running


@dataclass(frozen=True)
class Site:
    """A website of an account, and its Google property."""

    client: ToolClient
    website: Website
    google: Google

    @property
    def plugin(self) -> PluginContext:
        return self.client.host.host.compiled.plugins.contexts["search_performance"]

    @property
    def property(self) -> str:
        return f"{self.website.url}/"

    def page(self, path: str = "post") -> str:
        """Return the URL of one of the website's pages."""
        return f"{self.website.url}/{path}"

    def connect(self, credential: Mapping[str, str] | None = None) -> SourceConnection:
        """Connect the website with Google, without fetching anything."""
        self.google.properties[EMAIL].add(self.property)
        return self.client.host.run(
            SourceConnections(self.plugin).connect(
                self.client.user_id,
                self.website.id,
                "google",
                site_url=self.property,
                credential=credential or {},
                fetched=True,
            )
        )

    def fetch(self, connection: SourceConnection) -> int:
        """Fetch all due slices, and return the number of days fetched."""
        days, more = 0, True
        while more:
            fetched, more = self.client.host.run(fetch_slice(self.plugin, connection.id))
            days += fetched
        return days

    def state(self) -> SourceConnection:
        """Return the stored state of the Google connection."""
        return self.client.host.run(SourceConnections(self.plugin).of(self.client.user_id, self.website.id))["google"]

    def again(self) -> None:
        """Make the Google connection due."""
        self.client.host.run(SourceConnections(self.plugin).hurry(self.client.user_id, self.website.id, "google"))

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool for this website."""
        return self.client.data(tool, website_id=self.website.id, **arguments)

    def other(self, platform: str = "builtin") -> Site:
        """Return another website of the same account."""
        return replace(self, website=new_website(self.client, platform))


def new_website(client: ToolClient, platform: str = "builtin") -> Website:
    """Return a new website whose URL is verified. Nothing responds at it, unless it is a built-in site."""
    content, number = client.host.host.compiled.plugins.contexts["content"], next(_numbers)
    url = "" if platform == "builtin" else f"https://notes-{number}.example"
    adding = Websites(content).add(
        client.user_id,
        platform,
        name=f"Notes {number}",
        url=url,
        credential=CREDENTIALS[platform],
        finding=ConnectionReport((), Capabilities(), site_url=url) if url else None,
    )
    return client.host.run(adding)


def new_site(host: RunningHost, google: Google) -> Site:
    """Return a website of a new account."""
    client = client_of(host, f"ada.{next(_numbers)}@example.com")
    return Site(client, new_website(client), google)


VISITS: list[Visit] = []
"""The visits that all analytics stand-ins count; each test fills the list."""


@pytest.fixture(scope="package")
def apis() -> Iterator[Apis]:
    """Return stand-ins for all APIs except Google's."""
    stand_ins = Apis(
        {
            "plausible": Plausible(VISITS),
            "cloud": Umami(VISITS, cloud=True),
            "umami": Umami(VISITS, cloud=False),
            "umami2": Umami(VISITS, cloud=False, version=2),
            "matomo": Matomo(VISITS),
            "matomo4": Matomo(VISITS, statuses=False),
            "bing": Bing(),
            "dataforseo": dataforseo.DataForSeo(),
        }
    )
    with serving_apis(stand_ins) as running:
        yield running


@pytest.fixture(scope="package")
def full_host(apis: Apis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a server with every source configured."""
    more = {
        "bing_url": apis.at("bing"),
        "plausible_url": apis.at("plausible"),
        "umami_url": apis.at("cloud"),
        "dataforseo_url": apis.at("dataforseo"),
        "dataforseo_login": dataforseo.LOGIN,
        "dataforseo_password": dataforseo.PASSWORD,
    }
    config = config_for(Google(), history_days=WEEKS, slice_days=9, **more)
    config["plugins"]["account"] = {}
    with started(config, {}, tmp_path_factory.mktemp("full")) as running:
        wait_for_first_sweep(running)
        yield running


@pytest.fixture
def site(host: RunningHost, google: Google) -> Site:
    return new_site(host, google)


@pytest.fixture
def site_with_weeks(host_with_weeks: RunningHost, google: Google) -> Site:
    return new_site(host_with_weeks, google)


def day(before: int = 0) -> date:
    """Return the last final day, or the day `before` days earlier."""
    return today() - LAG - timedelta(days=1 + before)
