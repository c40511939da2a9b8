"""Callbacks from the identity provider with made-up codes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import oidc_provider
from support.oidc_provider import SECRET, OidcProvider
from support.people import BrowserWithoutScreen

BASE = "http://127.0.0.1:9"
CALLBACK = "/sign-in/callback"

pytestmark = pytest.mark.services


@pytest.fixture
def host(tmp_path: Path) -> Iterator[RunningHost]:
    with OidcProvider(redirect_uri=BASE + CALLBACK) as provider:
        settings = {"issuer": provider.issuer, "client_id": "basic", "client_secret": SECRET}
        accounts = {"identity_provider": settings, "sign_in_rate_ip": "3/hour"}
        config = {"base_url": BASE, "server": {"trusted_proxies": 1}, "accounts": accounts}
        with RunningHost(settings_for_test(config, tmp_path)) as running:
            yield running


def left(browser: BrowserWithoutScreen) -> str:
    """Start a sign-in at the provider and return its authorisation URL."""
    fields = browser.get("/sign-in").fields("/sign-in/provider")
    response = browser.client.post("/sign-in/provider", data=fields, headers={"Origin": BASE}, follow_redirects=False)
    return str(response.headers["Location"])


def test_forwarding_of_forged_codes_is_limited(host: RunningHost) -> None:
    with BrowserWithoutScreen(host, BASE) as attacker, BrowserWithoutScreen(host, BASE) as ada:
        location = left(attacker)
        cookie = attacker.client.cookies["pressroom_provider"]
        state = location.partition("state=")[2].partition("&")[0]
        statuses = [
            attacker.client.get(
                CALLBACK,
                params={"code": f"made-up-{number}", "state": state},
                headers={"Cookie": f"pressroom_provider={cookie}", "X-Forwarded-For": "203.0.113.66"},
            ).status_code
            for number in range(5)
        ]
        assert statuses == [400, 400, 400, 429, 429]
        # Others can still sign in, without limit: successful sign-ins are not counted.
        for _ in range(4):
            query = asyncio.run(oidc_provider.sign_in(left(ada), "ada", BASE + CALLBACK))
            response = ada.client.get(CALLBACK, params=query, headers={"X-Forwarded-For": "198.51.100.7"})
            assert response.url.path == "/dashboard"
            ada.submit(ada.get("/dashboard"), "/sign-out")
