"""An attacker who reaches a new server before its operator, or who finds a setup link for the first account."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pressroom.errors import PressroomError
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import EMAIL, PASSWORD, BrowserWithoutScreen, add_person


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "%00", "a" * 5000, "../../x", "' OR 1=1 --"])
def test_a_setup_link_cannot_be_guessed(tmp_path: Path, token: str) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host, BrowserWithoutScreen(host) as browser:
        host.run(host.host.accounts.setup_links.create())
        response = browser.client.get("/setup", params={"token": token})
        assert response.status_code == 404
        csrf = browser.get("/sign-in").fields("/sign-in")["csrf"]
        form = {"csrf": csrf, "token": token, "email": "mallory@example.net", "password": PASSWORD}
        assert browser.post("/setup", form).status == 403
        assert not host.run(host.host.accounts.users.any())


def test_concurrent_uses_of_a_link_create_one_account(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host:
        links = host.host.accounts.setup_links

        async def race() -> list[object]:
            token = await links.create()
            attempts = (links.redeem(token, email=f"p{n}@example.org", name="", password=PASSWORD) for n in range(8))
            return await asyncio.gather(*attempts, return_exceptions=True)

        outcomes = host.run(race())
        assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 1
        assert all(isinstance(outcome, PressroomError) for outcome in outcomes if isinstance(outcome, BaseException))


def test_a_leftover_link_creates_no_second_account(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host, BrowserWithoutScreen(host) as browser:
        token = host.run(host.host.accounts.setup_links.create())
        page = browser.get(f"/setup?token={token}")
        # The link does not leak to other sites or caches.
        assert page.response.headers["Referrer-Policy"] == "same-origin"
        assert page.response.headers["Cache-Control"] == "no-store"
        add_person(host)
        form = {**page.fields("/setup"), "email": "mallory@example.net", "password": PASSWORD}
        assert browser.post("/setup", form).status == 404
        assert browser.get(f"/setup?token={token}").status == 404
        assert host.run(host.host.accounts.users.by_email("mallory@example.net")) is None
        assert host.run(host.host.accounts.users.by_email(EMAIL)) is not None
    printed = capfd.readouterr()
    assert token not in printed.out + printed.err
