"""A host with an account, and headless browsers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import PLANS, BrowserWithoutScreen, add_person


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host shared by the tests of a module."""
    accounts = {"sign_in_rate_account": "1000/hour", "sign_in_rate_ip": "1000/hour", "sign_up": True}
    config = {"plugins": {"content": {"enabled": False}}, "plans": PLANS, "accounts": accounts}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    """Return the account shared by the module."""
    return add_person(host)


@pytest.fixture
def browser(host: RunningHost) -> Iterator[BrowserWithoutScreen]:
    """Return a fresh browser."""
    with BrowserWithoutScreen(host) as fresh:
        yield fresh


@pytest.fixture
def signed_in(host: RunningHost, browser: BrowserWithoutScreen, person: User) -> BrowserWithoutScreen:
    """Return a browser in which the person is signed in."""
    browser.enter(host, person)
    return browser


@pytest.fixture
def second(host: RunningHost) -> Iterator[BrowserWithoutScreen]:
    """Return a second browser."""
    with BrowserWithoutScreen(host) as fresh:
        yield fresh
