"""Connecting through the dashboard: credentials are tested, stored encrypted, and never shown again."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Final

import pytest
from joserfc.jwk import RSAKey
from pressroom.sdk import InvalidInput
from pressroom.testing import RunningHost
from pressroom_search_performance.connecting import connecting
from pressroom_search_performance.connecting.ownership import check_property
from pressroom_search_performance.tables import SourceConnectionRow
from sqlalchemy import select
from support.people import BrowserWithoutScreen, Page
from support.standin_google import EMAIL, Google, key_file

from .conftest import Site, new_site

LARGE_PRIME: Final = int(
    "debf53bff9b16fdf1a8284fc399dc38277895f705d0d609ba1803e203fa49d9e2354dcd6af54373c51362e432827bd1c7fe9"
    "08a246b8f5a8f507d42006ac074decf34d8ab0000d7cc051a0ca7be6afd10c2a56af54083070b3618ac52a029bdff45df2f9"
    "b08285f7e122de80b8010c10ab199e6a76dae7084ca46b37fe0e4f812b54d48fe39c3480694172b7f2dbe711340e5ab969de"
    "5d83b0eb958900be835db4656ac5fac69a8db0d79ceb743ebc7ed821477319f2b1386f0410ae5939ddeb17490832a3c68352"
    "3cae4f0eb70ed02bf62bc3f42e6a393573ceb307671bba3726848b7faaf27d0eb6ea2eae784a7069543c82710ef24bf1e1fd"
    "a5d07b80abc13d972fc2b575f",
    16,
)
"""A prime of 2100 bits. Testing one of 4000 bits takes seconds."""


class Person:
    """The owner of a website, in a browser."""

    def __init__(self, site: Site, browser: BrowserWithoutScreen) -> None:
        self.site = site
        self.browser = browser
        user = site.client.host.run(site.client.host.host.accounts.users.get(site.client.user_id))
        browser.enter(site.client.host, user)
        self.path = f"/dashboard/search/{site.website.id}"

    def look(self) -> Page:
        return self.browser.get(self.path)

    def send(self, **typed: str) -> Page:
        return self.browser.submit(self.look(), self.path, **{"source": "google", **typed})

    def connect(self, **typed: str) -> Page:
        return self.send(do="connect", **{"property": self.site.property, **typed})


def test_connecting_with_the_operators_account(site: Site) -> None:
    with BrowserWithoutScreen(site.client.host) as browser:
        person = Person(site, browser)
        assert EMAIL in person.look().text
        refused = person.connect()
        assert (refused.status, "may not read" in refused.text) == (400, True)
        site.google.properties[EMAIL].add(site.property)
        assert "connected" in person.connect().text
        assert f"{site.website.name}" in browser.get("/dashboard/search").text
        person.send(do="disconnect")
        assert "connected" not in person.look().one("#source-google").replace("Connect", "")


def test_an_own_credential_is_stored_encrypted_and_never_shown(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # Worker processes have low priority: on a busy machine, checking a good key is slow as well.
    monkeypatch.setattr(connecting, "_KEY_SECONDS", 100.0)
    site.google.properties[EMAIL].add(site.property)
    secret = json.loads(key_file())["private_key"].split("\n")[3]
    with BrowserWithoutScreen(site.client.host) as browser:
        person = Person(site, browser)
        page = person.connect(service_account=key_file())
        assert page.status == 200, page.text
        assert secret not in page.html + person.look().html

    async def stored() -> str:
        async with site.plugin.services.database.reading() as session:
            query = select(SourceConnectionRow.credential).where(SourceConnectionRow.website_id == site.website.id)
            return str(await session.scalar(query))

    sealed = site.client.host.run(stored())
    assert sealed.count(".") == 4
    assert secret not in sealed


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"property": "https://elsewhere.example/"}, "must be the property of"),
        ({"property": "example"}, "as Search Console names it"),
        ({"property": "https://example.com:99999/"}, "as Search Console names it"),
        ({"property": "https://example.com:abc/"}, "as Search Console names it"),
        ({"property": "https://[x/"}, "as Search Console names it"),
        ({"service_account": "{}"}, "key file"),
        ({"service_account": '{"private_key": "x", "client_email": 3}'}, "key file"),
        ({"refresh_token": "1//x"}, "with its client only"),
        ({"property": "<script>alert(1)</script>"}, "as Search Console names it"),
    ],
)
def test_problems_are_reported_in_the_form(site: Site, typed: dict[str, str], problem: str) -> None:
    with BrowserWithoutScreen(site.client.host) as browser:
        page = Person(site, browser).connect(**typed)
        assert page.status == 400
        assert problem in page.text
        assert "<script>alert" not in page.html


def test_a_key_that_takes_seconds_to_check_is_refused(site: Site) -> None:
    numbers = {"n": 5 * LARGE_PRIME, "e": 65537, "p": LARGE_PRIME, "q": 5}
    private = pow(65537, -1, 4 * (LARGE_PRIME - 1))
    numbers |= {"d": private, "dp": private % (LARGE_PRIME - 1), "dq": private % 4, "qi": pow(5, -1, LARGE_PRIME)}
    made_up = RSAKey.import_key({"kty": "RSA", **{name: _base64url(value) for name, value in numbers.items()}})
    with BrowserWithoutScreen(site.client.host) as browser:
        page = Person(site, browser).connect(service_account=key_file(made_up))
        assert page.status == 400
        # On a busy machine the check may time out before it finds the fault.
        assert "with factors of one size" in page.text or "takes too long to check" in page.text


def _base64url(number: int) -> str:
    content = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def test_a_property_of_the_operators_account_belongs_to_one_account(host: RunningHost, google: Google) -> None:
    first = new_site(host, google)
    first.connect()
    second = replace(new_site(host, google), website=first.website)
    with pytest.raises(InvalidInput, match="another account"):
        second.connect()


def test_another_accounts_website_does_not_exist(host: RunningHost, google: Google) -> None:
    first, second = new_site(host, google), new_site(host, google)
    with BrowserWithoutScreen(host) as browser:
        Person(second, browser)
        missing = browser.get(f"/dashboard/search/{first.website.id}")
        assert missing.status == 404
        assert "That website is no longer connected." in missing.text


@pytest.mark.parametrize(
    ("site_url", "website", "own", "operators"),
    [
        ("sc-domain:example.com", "https://example.com", True, True),
        ("sc-domain:example.com", "https://www.example.com", True, True),
        ("sc-domain:example.com", "https://blog.example.com", True, False),
        ("sc-domain:example.com", "https://example.com/sites/ada", True, False),
        ("sc-domain:example.com", "https://notexample.com", False, False),
        ("https://example.com/", "https://example.com/sites/ada", True, False),
        ("https://example.com/sites/ada/", "https://example.com/sites/ada", True, True),
        ("https://example.com/sites/ad/", "https://example.com/sites/ada", False, False),
        ("https://example.com/sites/adam/", "https://example.com/sites/ada", False, False),
        ("https://example.com/", "https://example.com", True, True),
        ("https://example.com:8443/", "https://example.com", False, False),
    ],
)
def test_properties_are_matched_with_websites(site_url: str, website: str, own: bool, operators: bool) -> None:
    def fits(*, with_operators: bool) -> bool:
        try:
            check_property(site_url, website, operators=with_operators)
        except InvalidInput:
            return False
        return True

    assert (fits(with_operators=False), fits(with_operators=True)) == (own, operators)
