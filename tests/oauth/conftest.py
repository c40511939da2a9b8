"""A running host, a person with a browser, and an OAuth client."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.oauth import Flow, Person

Start = Callable[..., RunningHost]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a separate host without plugins; keyword arguments are configuration tables."""
    running: list[RunningHost] = []

    def begin(folder: Path | None = None, **config: Any) -> RunningHost:
        values = {"builtin_plugins": False, **config}
        host = RunningHost(settings_for_test(values, folder or tmp_path / "data"))
        running.append(host.__enter__())
        return host

    yield begin
    for host in reversed(running):
        host.__exit__(None, None, None)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host shared by the tests of a module, with practically no limit on registrations."""
    config = {"oauth": {"registration_rate": "100000/hour"}, "logging": {"requests": False}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture
def http(host: RunningHost) -> Iterator[httpx.Client]:
    """Return an HTTP client without a browser session."""
    with httpx.Client(base_url=host.url, timeout=30) as client:
        yield client


@pytest.fixture
def person(host: RunningHost) -> Iterator[Person]:
    """Return a signed-in person."""
    new_person = Person(host)
    yield new_person
    new_person.browser.close()


@pytest.fixture
def flow(host: RunningHost, http: httpx.Client, person: Person) -> Flow:
    """Return a registered public client, and a person's browser."""
    flow = Flow(host.url, http, person.browser)
    flow.register()
    return flow
