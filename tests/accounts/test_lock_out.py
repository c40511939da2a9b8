"""Repeated sign-ins with wrong passwords, to lock an owner out or to guess the password."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from argon2 import PasswordHasher
from pressroom.accounts.passwords import PasswordHashes
from pressroom.errors import Overloaded
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import PASSWORD, BrowserWithoutScreen, Page, add_person

WRONG = "violet harbour lantern mist"

_numbers = count(1)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a shared host behind one trusted proxy."""
    accounts = {"sign_in_rate_account": "3/hour", "sign_in_rate_account_total": "6/hour"}
    config = {"server": {"trusted_proxies": 1}, "accounts": accounts}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("lock-out"))) as running:
        yield running


@pytest.fixture
def ada(host: RunningHost) -> str:
    """Return the e-mail address of an account that no other test uses: failures are counted for each account."""
    return add_person(host, f"ada.{next(_numbers)}@example.org").email


def sign_in(browser: BrowserWithoutScreen, email: str, password: str, address: str) -> Page:
    """Submit the sign-in form from a client IP address."""
    fields = browser.get("/sign-in").fields("/sign-in")
    return browser.post("/sign-in", {**fields, "email": email, "password": password}, **{"X-Forwarded-For": address})


def test_an_attacker_cannot_lock_the_owner_out(host: RunningHost, ada: str) -> None:
    with BrowserWithoutScreen(host) as attacker, BrowserWithoutScreen(host) as owner:
        statuses = [sign_in(attacker, ada, WRONG, "203.0.113.66").status for _ in range(5)]
        assert statuses == [400, 400, 400, 429, 429]
        assert sign_in(attacker, ada, PASSWORD, "203.0.113.66").status == 429
        assert sign_in(owner, ada, PASSWORD, "198.51.100.7").path == "/dashboard"


def test_many_ip_addresses_cannot_lock_out_the_owners_known_browser(host: RunningHost, ada: str) -> None:
    with BrowserWithoutScreen(host) as attacker, BrowserWithoutScreen(host) as owner:
        page = sign_in(owner, ada, PASSWORD, "198.51.100.7")
        owner.submit(page, "/sign-out")
        for number in range(8):
            sign_in(attacker, ada, WRONG, f"203.0.113.{number}")
        # Guesses are limited, even from an unknown browser of the owner …
        assert sign_in(attacker, ada, PASSWORD, "192.0.2.1").status == 429
        # … but the owner's known browser gets in, even from an IP address that the attacker uses.
        assert sign_in(owner, ada, PASSWORD, "203.0.113.1").path == "/dashboard"


def test_a_browser_known_for_one_account_is_not_known_for_another(host: RunningHost, ada: str) -> None:
    mallory = add_person(host, "mallory@example.net")
    with BrowserWithoutScreen(host) as browser:
        page = sign_in(browser, mallory.email, PASSWORD, "203.0.113.66")
        browser.submit(page, "/sign-out")
        assert [sign_in(browser, ada, WRONG, "203.0.113.66").status for _ in range(4)] == [400, 400, 400, 429]


@pytest.mark.parametrize(
    "cookie", ["", "x", "a.b.c.d.e", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..AA.AA.AA", "." * 3000]
)
def test_a_forged_cookie_does_not_make_a_known_browser(host: RunningHost, ada: str, cookie: str) -> None:
    with BrowserWithoutScreen(host) as attacker:
        attacker.client.cookies.set("pressroom_known", cookie, domain="127.0.0.1", path="/")
        statuses = [sign_in(attacker, ada, WRONG, "203.0.113.66").status for _ in range(4)]
    assert statuses == [400, 400, 400, 429]


def test_a_known_browser_has_the_same_guess_limit(host: RunningHost, ada: str) -> None:
    with BrowserWithoutScreen(host) as browser:
        page = sign_in(browser, ada, PASSWORD, "198.51.100.7")
        browser.submit(page, "/sign-out")
        assert [sign_in(browser, ada, WRONG, f"198.51.100.{n}").status for n in range(5)] == [400, 400, 400, 429, 429]


def test_an_attacker_cannot_prevent_a_password_change(host: RunningHost, ada: str) -> None:
    with BrowserWithoutScreen(host) as attacker, BrowserWithoutScreen(host) as owner:
        sign_in(owner, ada, PASSWORD, "198.51.100.7")
        for number in range(8):
            sign_in(attacker, ada, WRONG, f"203.0.113.{number}")
        page = owner.get("/dashboard/account")
        new = "copper meadow whistle tide"
        confirmation = owner.submit(page, "/dashboard/account", action="password", current=PASSWORD, password=new)
        assert "Your password is changed, and all your other browsers are signed out." in confirmation.text


async def test_a_flood_of_sign_ins_is_hashed_a_few_at_a_time() -> None:
    hashes = PasswordHashes(PasswordHasher(time_cost=1, memory_cost=65_536, parallelism=1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flood = [asyncio.create_task(hashes.matches("", WRONG)) for _ in range(260)]
    ended, _ = await asyncio.wait(flood, return_when=asyncio.FIRST_COMPLETED)
    # Calls that find 200 waiting are refused immediately; nobody waits for more than 200 others.
    assert sum(type(task.exception()) is Overloaded for task in ended) == 60
    await asyncio.wait([task for task in flood if task not in ended], return_when=asyncio.FIRST_COMPLETED)
    for task in flood:
        task.cancel()
    await asyncio.gather(*flood, return_exceptions=True)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    half = max(1, min(4, (os.cpu_count() or 1) // 2))
    assert grown < 65_536 * (half + 1)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no priorities of threads")
async def test_hashing_runs_at_a_lower_priority() -> None:
    priorities: list[int] = []

    class Hasher(PasswordHasher):
        def hash(self, *arguments: Any, **options: Any) -> str:
            priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            return super().hash(*arguments, **options)

    await PasswordHashes(Hasher(time_cost=1, memory_cost=64, parallelism=1)).make(PASSWORD)
    priority = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert priorities == [min(19, priority + 10)]
